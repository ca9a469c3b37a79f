"""One-factor procedure: least variance that a subset leaves under a shrunk covariance.

With 62 algorithms and 57 tasks a sample covariance fits chance. One factor (how good an algorithm
is) explains most of the Atari scores, so the covariance is shrunk towards that of a one-factor
model, fitted by expectation-maximisation where scores are missing. Rows are taken to be of a
multivariate t, not a normal distribution (Rubin 1983; Liu and Rubin 1995), so that an algorithm of
another kind (a planner, an evolved network) counts less. It is positive definite always, and the
error that a subset leaves follows from it in closed form, without cross-validation.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb
from typing import Unpack

import numpy as np

from gnomon.distillation.forecasts.covariance import FactorCovariance, shrunk_covariance
from gnomon.distillation.forecasts.forecast import Forecaster
from gnomon.distillation.forecasts.moments import Moments
from gnomon.distillation.forecasts.simulation import SuiteModel
from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation.prepared import PreparedScores, check_target, check_tasks
from gnomon.distillation.procedures.least_squares import Weights
from gnomon.distillation.procedures.procedure import (
    ChoiceOptions,
    ChoiceSettings,
    Procedure,
    Subsets,
)
from gnomon.distillation.search.plan import free_tasks
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores.table import FloatArray


@dataclass(frozen=True)
class FactorProcedure(Procedure):
    """Ours: least variance that a subset leaves under a covariance shrunk towards one factor.

    Tasks and weights are those for the smoothed summary, which depends less on single tasks than a
    median does; errors are those of the summary itself. No cross-validation is needed, and rows
    with gaps serve as far as they go.

    Parameters
    ----------
    shrinkage : float
        Towards the one-factor model, between 0 and 1.
    degrees_of_freedom : float
        Of the t distribution of a row: fewer make it forget strange algorithms more.
    smoothed : bool
        Predict the mean of the summaries over random halves of the tasks instead.
    weights : {"non-negative", "any"}
    most_subsets : int
        Above so many, tasks are added and exchanged instead of comparing all.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> FactorProcedure().choose(data, 2)
    (('bottommost-first', 'two-a-bucket'),)
    """

    shrinkage: float = 0.25
    degrees_of_freedom: float = 4.0
    smoothed: bool = True
    weights: Weights = "non-negative"
    most_subsets: int = 100_000_000

    @property
    def name(self) -> str:
        """What it is called."""
        return "factor"

    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        """Return the best subsets, best first."""
        how = ChoiceSettings(**options)
        names, covariance = self.covariance(data)
        for task in how.forced:
            if task in data.tasks and task not in names:
                raise ScoreDataError(f"{task} is forced, but excluded or without different scores")
        return least_variance_subsets(
            covariance.covariance,
            names,
            size,
            forced=how.forced,
            n_best=how.n_best,
            most_subsets=self.most_subsets,
        )

    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the model of a subset."""
        moments = self._moments(data, tasks)
        w, intercept = moments.weights(np.ones(len(tasks), dtype=bool))
        x = data.x[:, data.columns(tasks)]
        whole = ~np.isnan(x).any(axis=1)
        fitted = SubsetModel(
            tasks=tuple(tasks),
            weights=tuple(w.tolist()),
            intercept=intercept,
            transform=data.transform.name,
            n_rows=len(x),
            ranges=tuple(
                zip(np.nanmin(x, axis=0).tolist(), np.nanmax(x, axis=0).tolist(), strict=True)
            ),
            residuals=tuple(np.sort(data.target[whole] - x[whole] @ w - intercept).tolist()),
            moments=moments,
        )
        return replace(fitted, forecaster=self._forecaster(data, tasks, moments))

    def with_spread(self, data: PreparedScores, model: SubsetModel) -> SubsetModel:
        """Return the model with what other training papers, drawn again, would have said."""
        if model.forecaster is None or model.forecaster.resampled:
            return model
        labels, groups = np.unique(data.groups, return_inverse=True)
        rng = np.random.default_rng(0)
        resampled = []
        for _ in range(_N_RESAMPLED):
            drawn = rng.integers(0, labels.size, labels.size)
            # A paper that is drawn several times counts several times.
            times = np.bincount(drawn, minlength=labels.size)[groups].astype(np.float64)
            there = times > 0
            try:
                moments = self._moments(data.rows(there), model.tasks, times[there])
            except (ScoreDataError, UnknownNameError):
                continue  # A draw in which a task of the subset, or the target, does not vary.
            resampled.append(moments)
        wider = replace(model.forecaster, resampled=tuple(resampled))
        return replace(model, forecaster=wider)

    def _moments(
        self, data: PreparedScores, tasks: Sequence[str], counts: FloatArray | None = None
    ) -> Moments:
        """Return means and covariance of some tasks and the target, fitted to all tasks."""
        fitted = self.covariance(data) if counts is None else self._fit_covariance(data, counts)
        names, every = fitted
        check_tasks(tasks, names)
        chosen = np.array([*map(names.index, tasks), len(names)])
        rows = every.covariance[np.ix_(chosen, chosen)].tolist()
        positive = self.weights == "non-negative"
        mean = tuple(every.mean[chosen].tolist())
        return Moments(mean, tuple(map(tuple, rows)), positive=positive)

    def _forecaster(
        self, data: PreparedScores, tasks: Sequence[str], moments: Moments
    ) -> Forecaster | None:
        """Return what predicts with an interval; None of more tasks than can be simulated."""
        if len(data.tasks) > _MOST_SIMULATED:
            return None
        x = data.x[:, data.columns(tasks)]
        base = data.transform.log_base
        noise = data.run_noise
        spread = np.nanstd(x, axis=0)
        assumed = np.full(len(tasks), _LOG_RUN_VARIANCE) if base else _RUN_SHARE * spread**2
        own = np.array(noise.variances)[data.columns(tasks)] if noise else assumed
        return Forecaster(
            tasks=tuple(tasks),
            suite=self.suite(data),
            moments=moments,
            low=tuple(np.nanmin(x, axis=0).tolist()),
            high=tuple(np.nanmax(x, axis=0).tolist()),
            spread=tuple(spread.tolist()),
            resampled=(),
            run_variance=tuple(own.tolist()),
            runs=noise.n_runs if noise else None,
            unit=float(1.0 / np.log(base)) if base else float(np.std(data.target)),
            n_groups=len({*data.groups}),
        )

    def suite(self, data: PreparedScores) -> SuiteModel:
        """Return the distribution of all tasks that the summary counts, candidates or not."""
        return _fitted_suite(self, data)

    def _fit_suite(self, data: PreparedScores) -> SuiteModel:
        varies = data.varies(data.tasks)
        names = tuple(t for t, v in zip(data.tasks, varies, strict=True) if v)
        fixed = [column[~np.isnan(column)][:1] for column in data.x[:, ~varies].T]
        target = data.smoothed if self.smoothed else data.target
        fitted = shrunk_covariance(
            np.column_stack([data.x[:, varies], target]),
            shrinkage=self.shrinkage,
            degrees_of_freedom=self.degrees_of_freedom,
        )
        scale = np.sqrt(np.diag(fitted.covariance)[:-1])
        return SuiteModel(
            tasks=names,
            mean=fitted.mean[:-1],
            covariance=fitted.covariance[:-1, :-1],
            loadings=fitted.loadings[:-1] * scale,
            fixed=tuple(float(v[0]) for v in fixed if v.size),
            summary=data.summary,
            transform=data.transform.name,
        )

    def covariance(self, data: PreparedScores) -> tuple[tuple[str, ...], FactorCovariance]:
        """Return the names of the tasks that vary, and the covariance of them and the target."""
        return _fitted(self, data)

    def _fit_covariance(
        self, data: PreparedScores, counts: FloatArray | None = None
    ) -> tuple[tuple[str, ...], FactorCovariance]:
        check_target(data)
        target = data.smoothed if self.smoothed else data.target
        columns, varies = data.columns(data.candidates), data.varies(data.candidates)
        names = tuple(t for t, v in zip(data.candidates, varies, strict=True) if v)
        z = np.column_stack([data.x[:, columns[varies]], target])
        if len(z) < 3 or not np.ptp(target):
            raise ScoreDataError(
                f"expected at least 3 algorithms whose summaries differ; found {len(z)}, "
                f"from {target.min():.4g} to {target.max():.4g}"
            )
        return names, shrunk_covariance(
            z,
            shrinkage=self.shrinkage,
            degrees_of_freedom=self.degrees_of_freedom,
            counts=counts,
        )


@lru_cache(maxsize=4)
def _fitted(
    procedure: FactorProcedure, data: PreparedScores
) -> tuple[tuple[str, ...], FactorCovariance]:
    """Return the covariance of a table, which a choice and the fit after it both need."""
    return procedure._fit_covariance(data)


@lru_cache(maxsize=4)
def _fitted_suite(procedure: FactorProcedure, data: PreparedScores) -> SuiteModel:
    """Return the suite of a table, which all subsets of its tasks share."""
    return procedure._fit_suite(data)


#: So many draws of the training papers show how much the line hangs on them.
_N_RESAMPLED = 25
#: The bound of an exact search keeps the cube of so many tasks: 16 MB.
_MOST_BOUNDED = 128
#: The whole suite is simulated up to so many tasks: its covariance has their square.
_MOST_SIMULATED = 1000
#: Variance between runs where the table has none: of log10(1 + z) on Atari, the median of games
#: and algorithms; and of other transforms as a share of a task's variance between algorithms.
#: Assumed, and said to be. The pooled standard deviation, 0.19, is due to a few games on which
#: runs fail altogether; with it single runs were covered 0.99 where 0.90 is meant.
_LOG_RUN_VARIANCE, _RUN_SHARE = 0.11**2, 0.1


def least_variance_subsets(
    covariance: FloatArray,
    names: Sequence[str],
    size: int,
    *,
    forced: Sequence[str] = (),
    n_best: int = 1,
    most_subsets: int = 100_000_000,
) -> Subsets:
    """Return the subsets whose linear prediction leaves the least variance of the last column.

    All subsets are compared, unless there are too many: then tasks are added one by
    one and exchanged while that helps, and only the best that this finds is returned.

    Parameters
    ----------
    covariance : ndarray of float, shape (tasks + 1, tasks + 1)
        Positive definite, the target last.
    names : sequence of str
        The tasks.
    size : int
        Number of tasks, forced ones included.
    forced : sequence of str
        Tasks that every subset has.
    n_best : int
        How many to return.
    most_subsets : int
        How many are compared at most.

    Raises
    ------
    ScoreDataError
        The size does not fit, or a task is forced twice.

    Warns
    -----
    DegenerateScoresWarning
        There are too many subsets to compare them all.

    Examples
    --------
    >>> covariance = np.array([[1.0, 0.0, 0.8], [0.0, 1.0, 0.5], [0.8, 0.5, 1.0]])
    >>> least_variance_subsets(covariance, ["u", "v"], 1, n_best=2)
    (('u',), ('v',))
    """
    place = {name: i for i, name in enumerate(names)}
    free = [place[name] for name in free_tasks(names, names, size, forced=forced)]
    n_free = size - len(forced)
    gram = _given(covariance, [place[f] for f in forced], free)
    if comb(len(free), n_free) > most_subsets:
        text = (
            f"more than {most_subsets:,} subsets: tasks are added and exchanged while that helps, "
            "which may miss the best"
        )
        warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
        picks = [_exchange(gram, _greedy(gram, n_free))]
    else:
        picks = _enumerate(gram, n_free, n_best)
    return tuple((*forced, *(names[free[i]] for i in sorted(p))) for p in picks)


def residual_variance(gram: FloatArray, picks: Sequence[int]) -> float:
    """Return the variance of the last column that some columns leave."""
    index = np.asarray(picks)
    inside, cross = gram[np.ix_(index, index)], gram[index, -1]
    return float(gram[-1, -1] - cross @ np.linalg.solve(inside, cross))


def _given(covariance: FloatArray, forced: list[int], free: list[int]) -> FloatArray:
    """Return the covariance of the free tasks and the target, given the forced ones, scaled."""
    keep = [*free, len(covariance) - 1]
    gram = covariance[np.ix_(keep, keep)]
    if forced:
        cross = covariance[np.ix_(forced, keep)]
        gram = gram - cross.T @ np.linalg.solve(covariance[np.ix_(forced, forced)], cross)
    scale = np.sqrt(np.diag(gram))
    scale[-1] = 1.0
    return np.ascontiguousarray(gram / np.outer(scale, scale))


def _enumerate(gram: FloatArray, size: int, n_best: int) -> list[list[int]]:
    from gnomon.distillation.search.subset_kernels import gram_search, residuals_after

    n = len(gram) - 1
    # The tasks that tell most come first: what the others leave is then soon too much.
    order = np.argsort(-np.abs(gram[:-1, -1]) / np.sqrt(np.diag(gram)[:-1]), kind="stable")
    place = [*order, n]
    ordered = np.ascontiguousarray(gram[np.ix_(place, place)])
    bound = size > 3 and n <= _MOST_BOUNDED
    after = residuals_after(ordered) if bound else np.empty((0, 0, 0))
    n_best = min(n_best, comb(n, size))
    values, picks = np.empty(n_best), np.empty((n_best, size), dtype=np.int32)
    no_class, no_step = np.zeros(n, dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    where = (no_class, no_step, no_step, 0, 0, 0, size, 0, n, values, picks, 0)
    count = gram_search(ordered, gram[-1, -1], 1.0, np.inf, after, where)
    best = np.argsort(values[:count], kind="stable")
    return [order[picks[i]].tolist() for i in best]


def _greedy(gram: FloatArray, size: int) -> list[int]:
    chosen: list[int] = []
    for _ in range(size):
        rest = [j for j in range(len(gram) - 1) if j not in chosen]
        chosen.append(min(rest, key=lambda j: residual_variance(gram, [*chosen, j])))
    return chosen


def _exchange(gram: FloatArray, chosen: list[int]) -> list[int]:
    """Exchange one task for another while that leaves less variance."""
    best = residual_variance(gram, chosen)
    while True:
        rest = [j for j in range(len(gram) - 1) if j not in chosen]
        tries = [[*chosen[:i], *chosen[i + 1 :], j] for i in range(len(chosen)) for j in rest]
        if not tries:
            return chosen
        values = [residual_variance(gram, t) for t in tries]
        least = int(np.argmin(values))
        if values[least] >= best * (1 - 1e-12):
            return chosen
        best, chosen = values[least], tries[least]
