"""The scores of one algorithm, task by task, which every estimator takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.columns import IntArray
from gnomon.scores.table import FloatArray, ScoreTable

#: Of one table a float, of a batch of tables an array: one number for each.
Number: TypeAlias = Any
#: Tasks from which on runs in order of their scores were sorted, and not so by chance.
SORTED_TASKS = 5


@dataclass(frozen=True, eq=False)
class Strata:
    """The scores of one algorithm as one flat array, the runs of the first task first.

    Tasks are the strata of the bootstrap: runs are drawn inside a task, never across. Every task
    has at least one run, and numbers of runs may differ.

    A batch is many tables, one in each row of `values`, such as simulated studies, with the same
    number of runs on every task. All arrays then have leading axes.

    Parameters
    ----------
    values : ndarray of float, shape (scores,) or (..., scores)
        All scores; may be infinite, not NaN.
    starts : ndarray of int, shape (tasks + 1,)
        Task ``t`` owns ``values[starts[t]:starts[t + 1]]``.
    same_runs : bool
        Whether the r-th runs of all tasks have one label, as where one agent is run on all tasks.

    Examples
    --------
    >>> strata = Strata.from_runs([[1.0, 2.0, 3.0], [5.0]])
    >>> strata.counts, strata.task_means
    (array([3, 1]), array([2., 5.]))
    """

    values: FloatArray
    starts: IntArray
    same_runs: bool = False

    @classmethod
    def from_runs(cls, runs: Iterable[npt.ArrayLike]) -> Strata:
        """Build from one array of runs for each task; NaN is a missing run, left out."""
        arrays = [np.asarray(x, dtype=np.float64).ravel() for x in runs]
        arrays = [x[~np.isnan(x)] for x in arrays]
        values = np.concatenate(arrays) if arrays else np.empty(0)
        return cls._of_counts(values, [x.size for x in arrays])

    @classmethod
    def _of_counts(cls, values: FloatArray, counts: npt.ArrayLike) -> Strata:
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        if starts.size == 1 or (starts[1:] == starts[:-1]).any():
            raise ValueError("expected at least one task, each with at least one score")
        return cls(values, starts)

    @classmethod
    def from_matrix(cls, scores: npt.ArrayLike) -> Strata:
        """Build from an array of shape (runs, tasks), or (runs,) for a single task."""
        x = np.asarray(scores, dtype=np.float64)
        if x.ndim not in (1, 2):
            raise ValueError(f"expected scores of shape (runs, tasks), found {x.shape}")
        found = cls.from_runs(np.atleast_2d(x.T))
        return replace(found, same_runs=not np.isnan(x).any() and found.n_tasks > 1)

    @classmethod
    def from_table(
        cls, table: ScoreTable, algorithm: str, tasks: Iterable[str] | None = None
    ) -> Strata:
        """Build from the rows of one algorithm, on the given tasks or on all that it has."""
        names = table.tasks_of(algorithm) if tasks is None else tuple(tasks)
        if not names:
            raise ScoreDataError(f"{algorithm}: expected at least one score, found none")
        found = cls._of_counts(*table.strata(algorithm, names))
        if found.n_tasks == 1 or found.counts.max() == 1:
            return found
        return found.labelled(table.strata_labels(algorithm, names))

    def labelled(self, labels: npt.ArrayLike) -> Strata:
        """Return the runs in the order of the first task's labels, if all tasks have these.

        `labels` has one label for each score, in the order of `values`.
        """
        n_runs = self.n_runs
        if self.n_tasks == 1 or not isinstance(n_runs, int) or n_runs == 1:
            return self
        table = np.asarray(labels, dtype=object).reshape(self.n_tasks, n_runs)
        if (table == table[0]).all():
            return replace(self, same_runs=True)
        labels = table.tolist()
        if any(set(one) != set(labels[0]) for one in labels):
            return self
        places = [[one.index(label) for label in labels[0]] for one in labels]
        rows = self.values.reshape(self.n_tasks, n_runs)
        values = np.take_along_axis(rows, np.array(places), 1).ravel()
        return replace(self, values=values, same_runs=True)

    def with_single_runs_twice(self) -> Strata:
        """Return the scores with the only run of a task repeated, so that every task has two."""
        copies = np.repeat(np.where(self.counts == 1, 2, 1), self.counts)
        return self._of_counts(np.repeat(self.values, copies), np.maximum(self.counts, 2))

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return self.starts.size - 1

    @property
    def n_scores(self) -> int:
        """Number of scores of a table."""
        return int(self.starts[-1])

    @cached_property
    def counts(self) -> IntArray:
        """Number of runs of each task, shape (tasks,)."""
        return np.diff(self.starts)

    @property
    def n_runs(self) -> int | tuple[int, int]:
        """Number of runs per task: one number, or the least and the most."""
        least, most = int(self.counts.min()), int(self.counts.max())
        return least if least == most else (least, most)

    @property
    def mean_runs(self) -> float:
        """Harmonic mean of the numbers of runs."""
        return 1.0 / float(np.mean(1.0 / self.counts))

    @property
    def is_finite(self) -> bool:
        """Whether no score is infinite (censored)."""
        return bool(np.isfinite(self.values).all())

    @cached_property
    def units(self) -> FloatArray:
        """Weight of a score of each task, shape (tasks,): every task has the same in all.

        The weights of all scores sum to their number N, so that each is exactly 1 where all tasks
        have the same number of runs.
        """
        return self.n_scores / (self.n_tasks * self.counts)

    @cached_property
    def pooled(self) -> tuple[FloatArray, FloatArray]:
        """All scores of a table in ascending order, and the weight of each."""
        if self.counts.min() == self.counts.max():
            return np.sort(self.values), np.ones(self.n_scores)
        order = np.argsort(self.values, kind="stable")
        return self.values[order], np.repeat(self.units, self.counts)[order]

    @cached_property
    def task_means(self) -> FloatArray:
        """Mean score of each task, shape (tasks,)."""
        with np.errstate(invalid="ignore"):
            return np.add.reduceat(self.values, self.starts[:-1], axis=-1) / self.counts

    @cached_property
    def task_variances(self) -> FloatArray:
        """Unbiased variance of the scores of each task, 0 for a single run."""
        return self.variances_of(self.values)

    def variances_of(self, values: FloatArray) -> FloatArray:
        """Return the unbiased variance inside each task of `values`, one for each score."""
        begins = self.starts[:-1]
        with np.errstate(invalid="ignore"):
            means = np.add.reduceat(values, begins, axis=-1) / self.counts
            squares = np.square(values - self._of_each_run(means))
            variances = np.add.reduceat(squares, begins, axis=-1) / np.maximum(self.counts - 1, 1)
            rounding = np.square(4.0 * np.finfo(np.float64).eps * self.counts * means)
        # Equal runs do not vary, whatever rounding makes of their mean.
        if (variances > rounding).all():
            return np.asarray(variances)
        least, most = (of.reduceat(values, begins, axis=-1) for of in (np.minimum, np.maximum))
        return np.where(least == most, 0.0, variances)

    def _of_each_run(self, of_tasks: FloatArray) -> FloatArray:
        """Return what is known of a task for each of its runs."""
        n = int(self.counts[0])
        repeats = n if (self.counts == n).all() else self.counts
        return np.repeat(of_tasks, repeats, axis=-1)

    def per_task(self) -> list[FloatArray]:
        """Return the scores of each task."""
        return [self.values[..., a:b] for a, b in pairwise(self.starts.tolist())]

    @cached_property
    def sorted_runs(self) -> bool:
        """Whether the runs of every task are in order of their scores, so that labels lie."""
        if not self.same_runs or self.counts[0] < 3 or not self.is_finite:
            return False
        steps = np.diff(self.values.reshape(self.n_tasks, -1), axis=1)
        varied = np.any(steps != 0.0, axis=1)
        up, down = (np.all(sign * steps >= 0.0) for sign in (1.0, -1.0))
        return bool(varied.sum() >= SORTED_TASKS and (up or down))

    @cached_property
    def shared_noise(self) -> tuple[float, float, float] | None:
        """What runs with one label show of an effect that they share over tasks.

        A run label often stands for one agent, checkpoint or person on all tasks. The standardised
        means of the runs are then more spread than those of independent tasks: a chi-squared
        statistic, its degrees of freedom, and the variance of the means of runs over that of
        independent tasks. None where labels do not identify runs.
        """
        if not self.same_runs or self.sorted_runs:
            return None
        x, variances = self.values.reshape(self.n_tasks, -1), self.task_variances
        varied = np.isfinite(x).all(axis=1) & (variances > 0.0)
        n = int(varied.sum())
        if n < 2:
            return None
        x, variances = x[varied], variances[varied, None]
        standardised = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(variances)
        statistic = n * float(np.sum(np.square(standardised.mean(axis=0))))
        ratio = float(x.mean(axis=0).var(ddof=1) * n**2 / variances.sum())
        return statistic, x.shape[1] - 1.0, ratio

    def tables(self) -> list[Strata]:
        """Return the tables of a batch with one leading axis."""
        return [Strata(values, self.starts) for values in self.values]

    def averaged(self, values: FloatArray) -> Number:
        """Return the mean over tasks of the mean over runs of `values`, one for each score."""
        with np.errstate(invalid="ignore"):
            means = np.add.reduceat(values, self.starts[:-1], axis=-1) / self.counts
            return number(np.mean(means, axis=-1))


def number(found: Any) -> Number:
    """Return an array as it is, and one without axes as a float."""
    return found if np.ndim(found) else float(found)


def as_strata(scores: Strata | npt.ArrayLike) -> Strata:
    """Return strata as they are, and anything else as an array of shape (runs, tasks)."""
    return scores if isinstance(scores, Strata) else Strata.from_matrix(scores)
