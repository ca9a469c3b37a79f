"""Procedures: how tasks are chosen, and how a model of them is fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from gnomon.distillation.factor import Moments, fit_factor, fit_factors, non_negative
from gnomon.distillation.models import Forecaster, SubsetModel
from gnomon.distillation.preparation import PreparedScores
from gnomon.distillation.search import Progress, free_tasks, least_variance_subset, search_subsets
from gnomon.errors import ScoreDataError, check_word
from gnomon.scores.table import FloatArray

#: Resampled training papers, which show how much the line depends on them.
_N_RESAMPLED = 25


class Procedure(ABC):
    """Chooses subsets of tasks, and fits a model to one; derive your own from it.

    Examples
    --------
    >>> from gnomon.distillation import distill, fit_least_squares
    >>> from gnomon.scores import load_scores
    >>> class Alphabetic(Procedure):
    ...     name = "alphabetic"
    ...
    ...     def choose(self, data, size, *, forced=()):
    ...         return data.candidates[:size]
    ...
    ...     def fit(self, data, tasks, *, spread=False):
    ...         return fit_least_squares(data, tasks)
    >>> options = {"transform": "identity", "summary": "mean"}
    >>> found = distill(load_scores("gohr-full"), procedure=Alphabetic(), **options)
    >>> found[0].procedure, round(found[0].r2, 2)
    ('alphabetic', 0.9)
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """How results call the procedure."""

    @abstractmethod
    def choose(
        self, data: PreparedScores, size: int, *, forced: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Return the best subset of a size that contains the forced tasks."""

    @abstractmethod
    def fit(
        self, data: PreparedScores, tasks: Sequence[str], *, spread: bool = False
    ) -> SubsetModel:
        """Return the model of a subset; with `spread` it knows its uncertainty, if it can."""


def fit_least_squares(
    data: PreparedScores,
    tasks: Sequence[str],
    *,
    target: FloatArray | None = None,
    intercept: bool = False,
    weights: Literal["non-negative", "any"] = "non-negative",
) -> SubsetModel:
    """Fit the summary (or another target) to a few tasks by least squares, on complete rows.

    Parameters
    ----------
    data : PreparedScores
    tasks : sequence of str
    target : ndarray of float, shape (algorithms,), optional
        What to predict; the summary if not given.
    intercept : bool
        Without one, an algorithm that equals random on every task gets a summary of zero.
    weights : {"non-negative", "any"}
        Non-negative by default, so that a model never ranks an algorithm below one that it beats
        on every task (Aitchison et al. 2022, proposition 2).

    Raises
    ------
    ScoreDataError
        There are fewer complete rows than coefficients.
    UnknownNameError
        A task is not in the table.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import ScoreTable
    >>> table = ScoreTable.from_arrays({"a": [[1, 3]], "b": [[2, 6]]}, tasks=["u", "v"])
    >>> data = prepare(table, transform="identity", summary="mean")
    >>> fit_least_squares(data, ["u"]).formula
    'identity summary = 0 + 2 u'
    """
    check_word("weights", weights, ("non-negative", "any"))
    wanted = data if target is None else replace(data, target=target)
    x_all = data.x[:, data.columns(tasks)]
    whole = ~np.isnan(x_all).any(axis=1) & ~np.isnan(wanted.target)
    x, y = x_all[whole], wanted.target[whole]
    if len(y) < len(tasks) + intercept:
        raise ScoreDataError(
            f"expected at least {len(tasks) + intercept} algorithms with scores on "
            f"{', '.join(tasks)}; found {len(y)}"
        )
    shift_x, shift_y = (x.mean(axis=0), y.mean()) if intercept else (np.zeros(len(tasks)), 0.0)
    cx, cy = x - shift_x, y - shift_y
    w = np.linalg.lstsq(cx, cy, rcond=None)[0]
    if weights == "non-negative" and (w < 0).any():
        w = non_negative(cx.T @ cx, cx.T @ cy)
    return SubsetModel.of_fit(wanted, tasks, w, float(shift_y - w @ shift_x), whole)


@dataclass(frozen=True)
class PaperProcedure(Procedure):
    """The Atari-5 paper's: least cross-validated error of least squares without intercept.

    Parameters
    ----------
    n_folds : int
    progress : function of (done, all), optional
        Called with the number of subsets searched.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> PaperProcedure().choose(data, 2)
    ('clockwise-from-b0', 'where-the-last-piece-lay')
    """

    name = "paper"
    n_folds: int = 10
    progress: Progress | None = field(default=None, repr=False, compare=False)

    def choose(
        self, data: PreparedScores, size: int, *, forced: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Return the best subset of a size."""
        found = search_subsets(
            data, size, n_folds=self.n_folds, n_best=1, forced=forced, progress=self.progress
        )
        return found.subsets[0]

    def fit(
        self, data: PreparedScores, tasks: Sequence[str], *, spread: bool = False
    ) -> SubsetModel:
        """Return the model of a subset."""
        return fit_least_squares(data, tasks, weights="any")


class FactorProcedure(Procedure):
    """Least variance that a subset leaves under a covariance shrunk towards one factor.

    Tasks and weights are those for the smoothed summary, which depends less on single tasks than a
    median does; errors are those of the summary itself. No cross-validation is needed, and rows
    with gaps are used as far as possible.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> FactorProcedure().choose(data, 2)
    ('bottommost-first', 'two-a-bucket')
    """

    name = "factor"

    def choose(
        self, data: PreparedScores, size: int, *, forced: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Return the best subset of a size."""
        free_tasks(data, size, forced)
        names, moments = factor_moments(data)
        _check(forced, names)
        return least_variance_subset(moments.covariance, names, size, forced=forced)

    def fit(
        self, data: PreparedScores, tasks: Sequence[str], *, spread: bool = False
    ) -> SubsetModel:
        """Return the model of a subset, which knows the distribution of its error.

        With `spread` it is also fitted to resampled training papers, for its intervals.
        """
        columns = data.columns(tasks)
        names, every = factor_moments(data)
        _check(tasks, names)
        chosen = [*map(names.index, tasks), len(names)]
        moments = every.of(chosen)
        rows = np.ones(len(data.algorithms), dtype=bool)
        variances = np.zeros(len(data.tasks)) if data.run_variances is None else data.run_variances
        return replace(
            SubsetModel.of_fit(data, tasks, *moments.line, rows),
            forecaster=Forecaster(
                moments=moments,
                resampled=_resampled(data, names, chosen) if spread else (),
                run_variance=tuple(variances[columns].tolist()),
                runs=data.n_runs,
                n_groups=len({*data.groups}),
                n_rows=len(data.algorithms),
            ),
        )


def _check(tasks: Sequence[str], names: Sequence[str]) -> None:
    for task in tasks:
        if task not in names:
            raise ScoreDataError(f"{task} is excluded, or all its scores are the same")


@lru_cache(maxsize=4)
def factor_moments(data: PreparedScores) -> tuple[tuple[str, ...], Moments]:
    """Return the candidates that vary, and the moments of these and the smoothed summary."""
    data.check_target()
    varies = data.varies(data.candidates)
    names = tuple(t for t, v in zip(data.candidates, varies, strict=True) if v)
    y = data.smoothed
    if len(y) < 3 or not np.ptp(y):
        raise ScoreDataError(
            f"expected at least 3 algorithms whose summaries differ; found {len(y)}, "
            f"from {y.min():.4g} to {y.max():.4g}"
        )
    return names, fit_factor(_columns(data, names))


def _columns(data: PreparedScores, names: Sequence[str]) -> FloatArray:
    return np.column_stack([data.x[:, data.columns(names)], data.smoothed])


def _resampled(
    data: PreparedScores, names: Sequence[str], chosen: Sequence[int]
) -> tuple[Moments, ...]:
    """Return the moments of a subset from training papers drawn again."""
    labels, groups = np.unique(data.groups, return_inverse=True)
    draws = np.random.default_rng(0).integers(0, labels.size, (_N_RESAMPLED, labels.size))
    # A paper that is drawn several times counts several times.
    counts = np.array([np.bincount(drawn, minlength=labels.size)[groups] for drawn in draws])
    fits = fit_factors(_columns(data, names), counts.astype(np.float64))
    return tuple(one.of(chosen) for one in fits)


def procedure_of(
    name: str | Procedure, n_folds: int = 10, progress: Progress | None = None
) -> Procedure:
    """Return the procedure of a name, or the one given."""
    if isinstance(name, Procedure):
        return name
    found: dict[str, Procedure] = {
        "factor": FactorProcedure(),
        "paper": PaperProcedure(n_folds, progress),
    }
    check_word("procedure", name, found)
    return found[name]
