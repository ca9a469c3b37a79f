"""Procedures: how tasks are chosen, and how a model of them is fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from gnomon.distillation.branch_and_bound import least_variance_subsets
from gnomon.distillation.factor import (
    DEGREES_OF_FREEDOM,
    SHRINKAGE,
    FactorFits,
    SuiteModel,
    fit_factors,
)
from gnomon.distillation.forecasts import Forecaster, Moments, non_negative
from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation import PreparedScores
from gnomon.distillation.search import Progress, Subsets, folds_of, free_tasks, search_subsets
from gnomon.errors import ScoreDataError, check_word
from gnomon.scores.table import FloatArray

#: Resampled training papers, which show how much the line depends on them.
_N_RESAMPLED = 25
#: Subsets of the paper's code that are cross-validated.
_N_CHECKED = 20


class Procedure(ABC):
    """Chooses subsets of tasks, and fits a model to one; derive your own from it.

    Examples
    --------
    >>> from gnomon.distillation import distill, fit_least_squares
    >>> from gnomon.scores import load_scores
    >>> class Alphabetic(Procedure):
    ...     name = "alphabetic"
    ...
    ...     def choose(self, data, size, *, forced=(), n_best=1):
    ...         return (data.candidates[:size],)
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
        self, data: PreparedScores, size: int, *, forced: Sequence[str] = (), n_best: int = 1
    ) -> Subsets:
        """Return the best subsets of a size that contain the forced tasks, best first."""

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
    criterion : {"cv", "in_sample"}
        ``cv`` is the rule that the paper states. ``in_sample`` is what its code does: rank all by
        the in-sample error, cross-validate the best 20, take the least.
    n_folds : int
    progress : function of (done, all), optional
        Called with the number of subsets searched.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> PaperProcedure().choose(data, 2)
    (('clockwise-from-b0', 'where-the-last-piece-lay'),)
    """

    criterion: Literal["cv", "in_sample"] = "cv"
    n_folds: int = 10
    progress: Progress | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """``paper``, or ``paper-code``."""
        return "paper" if self.criterion == "cv" else "paper-code"

    def choose(
        self, data: PreparedScores, size: int, *, forced: Sequence[str] = (), n_best: int = 1
    ) -> Subsets:
        """Return the best subsets of a size, best first."""
        found = search_subsets(
            data,
            size,
            n_folds=self.n_folds,
            criterion=self.criterion,
            n_best=n_best if self.criterion == "cv" else max(_N_CHECKED, n_best),
            forced=forced,
            progress=self.progress,
        ).subsets
        if self.criterion == "in_sample":
            found = tuple(sorted(found, key=lambda tasks: self._error(data, tasks)))
        return found[:n_best]

    def _error(self, data: PreparedScores, tasks: Sequence[str]) -> float:
        """Return the cross-validated error of a subset."""
        x = data.x[:, data.columns(tasks)]
        whole = ~np.isnan(x).any(axis=1) & ~np.isnan(data.target)
        x, y = x[whole], data.target[whole]
        fold, errors = folds_of(len(y), self.n_folds), []
        for k in range(self.n_folds):
            held = fold == k
            w = np.linalg.lstsq(x[~held], y[~held], rcond=None)[0]
            errors.append(np.mean((y[held] - x[held] @ w) ** 2))
        return float(np.mean(errors))

    def fit(
        self, data: PreparedScores, tasks: Sequence[str], *, spread: bool = False
    ) -> SubsetModel:
        """Return the model of a subset."""
        return fit_least_squares(data, tasks, weights="any")


@dataclass(frozen=True)
class FactorProcedure(Procedure):
    """Least variance that a subset leaves under a covariance shrunk towards one factor.

    Tasks and weights are those for the smoothed summary, which depends less on single tasks than a
    median does; errors are those of the summary itself. No cross-validation is needed, and rows
    with gaps are used as far as possible.

    Parameters
    ----------
    shrinkage : float
        Towards the one-factor model, between 0 and 1.
    degrees_of_freedom : float
        Of the t distribution of a row: fewer give unusual algorithms less weight.
    smoothed : bool
        Predict the mean summary of random halves of the tasks.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> FactorProcedure().choose(data, 2)
    (('bottommost-first', 'two-a-bucket'),)
    """

    shrinkage: float = SHRINKAGE
    degrees_of_freedom: float = DEGREES_OF_FREEDOM
    smoothed: bool = True

    @property
    def name(self) -> str:
        """``factor``."""
        return "factor"

    def choose(
        self, data: PreparedScores, size: int, *, forced: Sequence[str] = (), n_best: int = 1
    ) -> Subsets:
        """Return the best subsets of a size, best first."""
        free_tasks(data, size, forced)
        names, moments = self.moments(data)
        self._check(forced, names)
        return least_variance_subsets(moments.covariance, names, size, forced=forced, n_best=n_best)

    def fit(
        self, data: PreparedScores, tasks: Sequence[str], *, spread: bool = False
    ) -> SubsetModel:
        """Return the model of a subset, which simulates the suite.

        With `spread` it is also fitted to resampled training papers, for its intervals.
        """
        data.columns(tasks)
        names, every = self.moments(data)
        self._check(tasks, names)
        chosen = [*map(names.index, tasks), len(names)]
        moments = Moments(every.mean[chosen], every.covariance[np.ix_(chosen, chosen)])
        seen = np.ones(len(tasks), dtype=bool)
        rows = np.ones(len(data.algorithms), dtype=bool)
        weights, intercept = moments.weights(seen), moments.intercept(seen)
        fitted = SubsetModel.of_fit(data, tasks, weights, intercept, rows)
        return replace(fitted, forecaster=self._forecaster(data, tasks, moments, spread=spread))

    def moments(self, data: PreparedScores) -> tuple[tuple[str, ...], Moments]:
        """Return the candidates that vary, and the moments of these and the target."""
        return _fitted(self, data)

    def suite(self, data: PreparedScores) -> SuiteModel:
        """Return the distribution of all tasks that the summary counts, candidates or not."""
        return _fitted_suite(self, data)

    def _check(self, tasks: Sequence[str], names: Sequence[str]) -> None:
        for task in tasks:
            if task not in names:
                raise ScoreDataError(f"{task} is excluded, or all its scores are the same")

    def _columns(self, data: PreparedScores, tasks: Sequence[str]) -> FloatArray:
        target = data.smoothed if self.smoothed else data.target
        return np.column_stack([data.x[:, data.columns(tasks)], target])

    def _fits(
        self, x: FloatArray, counts: FloatArray | None = None, chosen: Sequence[int] | None = None
    ) -> FactorFits:
        return fit_factors(
            x,
            counts,
            chosen,
            shrinkage=self.shrinkage,
            degrees_of_freedom=self.degrees_of_freedom,
        )

    def _forecaster(
        self, data: PreparedScores, tasks: Sequence[str], moments: Moments, *, spread: bool
    ) -> Forecaster:
        columns = data.columns(tasks)
        x = data.x[:, columns]
        variance = np.zeros(len(tasks))
        if data.run_variances is not None:
            variance = data.run_variances[columns]
        return Forecaster(
            tasks=tuple(tasks),
            suite=self.suite(data),
            moments=moments,
            low=np.nanmin(x, axis=0),
            high=np.nanmax(x, axis=0),
            spread=np.nanstd(x, axis=0),
            resampled=self._resampled(data, tasks) if spread else (),
            run_variance=variance,
            runs=data.n_runs,
            n_groups=len({*data.groups}),
        )

    def _resampled(self, data: PreparedScores, tasks: Sequence[str]) -> tuple[Moments, ...]:
        """Return the moments of a subset from training papers drawn again."""
        labels, groups = np.unique(data.groups, return_inverse=True)
        rng = np.random.default_rng(0)
        draws = (rng.integers(0, labels.size, labels.size) for _ in range(_N_RESAMPLED))
        # A paper that is drawn several times counts several times.
        counts = np.array([np.bincount(drawn, minlength=labels.size)[groups] for drawn in draws])
        names, _ = self.moments(data)
        x, chosen = self._columns(data, names), [*map(names.index, tasks), len(names)]
        usable = [self._usable(x[row > 0][:, chosen], data.target[row > 0]) for row in counts]
        if not any(usable):
            return ()
        fits = self._fits(x, counts[usable].astype(np.float64), chosen)
        return tuple(map(Moments, fits.mean, fits.covariance))

    def _usable(self, x: FloatArray, target: FloatArray) -> bool:
        """Return whether a draw has three rows, and the tasks and the target vary in it."""
        known = [column[~np.isnan(column)] for column in (*x.T, target)]
        return len(x) >= 3 and all(c.size and np.ptp(c) ** 2 > 0.0 for c in known)


@lru_cache(maxsize=4)
def _fitted(procedure: FactorProcedure, data: PreparedScores) -> tuple[tuple[str, ...], Moments]:
    """Return the moments of a table, which a choice and the fit after it both need."""
    data.check_target()
    varies = data.varies(data.candidates)
    names = tuple(t for t, v in zip(data.candidates, varies, strict=True) if v)
    x = procedure._columns(data, names)
    if len(x) < 3 or not np.ptp(x[:, -1]):
        raise ScoreDataError(
            f"expected at least 3 algorithms whose summaries differ; found {len(x)}, "
            f"from {x[:, -1].min():.4g} to {x[:, -1].max():.4g}"
        )
    fits = procedure._fits(x)
    return names, Moments(fits.mean[0], fits.covariance[0])


@lru_cache(maxsize=4)
def _fitted_suite(procedure: FactorProcedure, data: PreparedScores) -> SuiteModel:
    """Return the suite of a table, which all subsets of its tasks share."""
    return SuiteModel.fit(
        data.tasks,
        procedure._columns(data, data.tasks),
        data.summary,
        data.transform.name,
        shrinkage=procedure.shrinkage,
        degrees_of_freedom=procedure.degrees_of_freedom,
    )


def procedure_of(
    name: str | Procedure, n_folds: int = 10, progress: Progress | None = None
) -> Procedure:
    """Return the procedure of a name, or the one given."""
    if isinstance(name, Procedure):
        return name
    found: dict[str, Procedure] = {
        "factor": FactorProcedure(),
        "paper": PaperProcedure("cv", n_folds, progress),
        "paper-code": PaperProcedure("in_sample", n_folds, progress),
    }
    check_word("procedure", name, found)
    return found[name]
