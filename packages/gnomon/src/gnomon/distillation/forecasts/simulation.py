"""Simulated suite: the tasks that an algorithm lacks, drawn from their conditional distribution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.distillation.preparation.prepared import Summary, transform_of
from gnomon.distillation.preparation.summaries import summarize_complete
from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

I64 = npt.NDArray[np.int64]

#: How many times the variance of the level the tails may have, and the prior weight of each.
LEVEL_VARIANCES = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
_PRIOR = np.exp(-1.5 * np.log(LEVEL_VARIANCES) - 1.5 / LEVEL_VARIANCES)
_N_DRAWS = 300


@lru_cache(maxsize=2)
def _standard_normals(n_tasks: int) -> tuple[FloatArray, FloatArray]:
    """Return the normal numbers of all suites with so many tasks, and of their level."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((_N_DRAWS, n_tasks)), rng.standard_normal(_N_DRAWS)


@dataclass(frozen=True, eq=False)
class SuiteModel:
    """Normal distribution of the transformed scores of a whole suite, with a level of heavy tails.

    The covariance is Sigma + (g - 1) l l', with g drawn from 1, 2, 4, ... 32: an algorithm may be
    much better or worse than all before, on all tasks together. An algorithm's other tasks are
    simulated given the ones that it has, and the summary is taken of each simulated suite.

    Parameters
    ----------
    tasks : tuple of str
        Whose scores differ between algorithms.
    mean : ndarray of float, shape (tasks,)
    covariance : ndarray of float, shape (tasks, tasks)
        Positive definite.
    loadings : ndarray of float, shape (tasks,)
        l: the change of each task by one standard deviation of the level.
    fixed : tuple of float
        Transformed scores that all algorithms have alike, which the summary counts too.
    summary : str or function
        See :class:`gnomon.distillation.preparation.preparation.Preparation`.
    transform : str

    Examples
    --------
    >>> suite = SuiteModel(
    ...     ("u", "v", "w"), np.zeros(3), np.eye(3) * 0.2 + 0.8, np.full(3, 0.9), (), "mean",
    ...     "identity",
    ... )
    >>> drawn = suite.summaries(np.array([0]), np.array([1.0]))
    >>> drawn.shape, round(float(drawn.mean()), 1)
    ((300,), 0.9)
    >>> float(suite.summaries(np.array([0, 1, 2]), np.array([1.0, 2.0, 6.0])).std())
    0.0
    """

    tasks: tuple[str, ...]
    mean: FloatArray
    covariance: FloatArray
    loadings: FloatArray
    fixed: tuple[float, ...]
    summary: str | Summary
    transform: str

    @cached_property
    def _normals(self) -> tuple[FloatArray, FloatArray]:
        """Return draws of the suite about 0 for g = 1, and of the level; the same always."""
        tasks, level = _standard_normals(len(self.tasks))
        return tasks @ np.linalg.cholesky(self.covariance).T, level

    def suites(
        self, seen: I64, x: FloatArray, *, heavy: bool = True, n_draws: int = _N_DRAWS
    ) -> FloatArray:
        """Return simulated transformed scores, shape (draws, tasks); what is seen is as it is.

        Parameters
        ----------
        seen : ndarray of int
            Columns of the tasks that are known; may be empty.
        x : ndarray of float
            Their transformed scores.
        heavy : bool
            Whether the level has heavy tails; else g = 1.
        n_draws : int
            At most 300; they are the same numbers always, so that an answer can be repeated.
        """
        base, level = self._normals
        base, level = base[:n_draws], level[:n_draws]
        counts = self._shares(seen, x, n_draws) if heavy else np.array([n_draws])
        drawn = np.empty_like(base)
        start = 0
        for g, count in zip(LEVEL_VARIANCES, counts, strict=False):
            part = slice(start, start + int(count))
            start += int(count)
            z = base[part] + np.sqrt(g - 1.0) * np.outer(level[part], self.loadings)
            drawn[part] = self.mean + z + self._pulled(seen, x - self.mean[seen] - z[:, seen], g)
        drawn[:, seen] = x
        transform = transform_of(self.transform)
        low = transform.forward(np.array(transform.low)) if np.isfinite(transform.low) else -np.inf
        return np.maximum(drawn, low)

    def summaries(
        self, seen: I64, x: FloatArray, *, heavy: bool = True, n_draws: int = _N_DRAWS
    ) -> FloatArray:
        """Return the transformed summary of each simulated suite, shape (draws,)."""
        return self.summarized(self.suites(seen, x, heavy=heavy, n_draws=n_draws))

    def summarized(self, suites: FloatArray) -> FloatArray:
        """Return the transformed summary of transformed scores, shape (..., tasks)."""
        if self.fixed:
            alike = np.broadcast_to(self.fixed, (*suites.shape[:-1], len(self.fixed)))
            suites = np.concatenate([suites, alike], axis=-1)
        return summarize_complete(suites, self.summary, transform_of(self.transform))

    def columns(self, tasks: tuple[str, ...]) -> I64:
        """Return the columns of some tasks."""
        place = {task: j for j, task in enumerate(self.tasks)}
        return np.array([place[task] for task in tasks], dtype=np.int64)

    def _covariance(self, rows: I64 | slice, seen: I64, g: float) -> FloatArray:
        l_rows, l_seen = self.loadings[rows], self.loadings[seen]
        return np.asarray(self.covariance[rows][:, seen] + (g - 1.0) * np.outer(l_rows, l_seen))

    def _pulled(self, seen: I64, off: FloatArray, g: float) -> FloatArray:
        """Return what the scores seen change of all tasks, shape (draws, tasks)."""
        if not seen.size:
            return np.zeros((len(off), len(self.tasks)))
        inside, cross = self._covariance(seen, seen, g), self._covariance(slice(None), seen, g)
        return np.asarray(off @ np.linalg.solve(inside, cross.T))

    def _shares(self, seen: I64, x: FloatArray, n_draws: int) -> I64:
        """Return how many draws each variance of the level has, by its posterior weight."""
        log_weight = np.log(_PRIOR)
        if seen.size:
            off = x - self.mean[seen]
            for i, g in enumerate(LEVEL_VARIANCES):
                inside = self._covariance(seen, seen, g)
                _, log_det = np.linalg.slogdet(inside)
                log_weight[i] -= 0.5 * (log_det + off @ np.linalg.solve(inside, off))
        weight = np.exp(log_weight - log_weight.max())
        edges = np.round(n_draws * np.cumsum(weight) / weight.sum()).astype(np.int64)
        return np.asarray(np.diff(edges, prepend=0), dtype=np.int64)

    def as_record(self) -> dict[str, Any]:
        """Return the model as a mapping fit for JSON.

        Raises
        ------
        ScoreDataError
            The summary is a function of one's own, which no file can hold.
        """
        if not isinstance(self.summary, str):
            raise ScoreDataError("a summary that is a function of one's own cannot be kept")
        lower = [row[: j + 1].tolist() for j, row in enumerate(self.covariance)]
        numbers = {"mean": self.mean.tolist(), "covariance": lower}
        numbers |= {"loadings": self.loadings.tolist(), "fixed": list(self.fixed)}
        names = {"tasks": list(self.tasks), "summary": self.summary, "transform": self.transform}
        return names | numbers

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> SuiteModel:
        """Return the model of such a mapping."""
        covariance = np.zeros((len(record["tasks"]),) * 2)
        for j, row in enumerate(record["covariance"]):
            covariance[j, : j + 1] = covariance[: j + 1, j] = row
        mean, loadings = np.array(record["mean"]), np.array(record["loadings"])
        tasks, fixed = tuple(record["tasks"]), tuple(record["fixed"])
        return cls(tasks, mean, covariance, loadings, fixed, record["summary"], record["transform"])
