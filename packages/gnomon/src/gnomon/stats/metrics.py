"""Metrics: summaries of the scores of one algorithm over runs and tasks, one number each.

On a complete table (the same number of runs on every task) the definitions are those of rliable
(Agarwal et al. 2021, *Deep reinforcement learning at the edge of the statistical precipice*). On a
ragged one every task has the same weight: with T tasks, a score of a task with R_t runs weighs
1 / (T R_t).

Infinite scores (censored runs) are allowed: a result that is infinite or NaN means that the metric
is not estimable. :class:`Metric` makes a user's own function take part everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, check_word
from gnomon.scores.table import FloatArray
from gnomon.scores.tidy import LARGEST
from gnomon.stats.strata import Number, Strata, as_strata, number

#: The metrics that are estimated if none is named.
METRICS = ("mean", "median", "iqm", "optimality_gap")


@dataclass(frozen=True)
class Metric:
    """A summary of the scores of one algorithm.

    Parameters
    ----------
    name : str
        The name in estimates.
    value : function
        From :class:`~gnomon.stats.Strata` to the number.
    each : function, optional
        If the metric is the mean over tasks of the mean over runs of some function of the
        score: that function, element by element.
    cut : function, optional
        If the metric is a mean of the pooled scores without the lowest and the highest: from
        strata to the weight that is cut from each end.
    bounds : (float, float)
        Lowest and highest value of the metric, whatever the scores.
    of_batch : bool
        Whether `value` takes a batch of tables too; else it is called table by table.

    Examples
    --------
    A metric takes an array (runs, tasks), NaN where a run is missing, or
    :class:`~gnomon.stats.Strata`:

    >>> worst = Metric.of_matrix("worst_run", lambda x: x.mean(axis=1).min())
    >>> worst([[1, 2], [3, 4]])
    1.5
    """

    name: str
    value: Callable[[Strata], Number]
    each: Callable[[FloatArray], FloatArray] | None = None
    cut: Callable[[Strata], float] | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)
    of_batch: bool = False

    def __call__(self, scores: Strata | npt.ArrayLike) -> Number:
        """Return the metric of an array of shape (runs, tasks), or of strata."""
        return self.value(as_strata(scores))

    def values(self, strata: Strata) -> Number:
        """Return the value, or that of every table of a batch."""
        if self.of_batch or strata.values.ndim == 1:
            return self.value(strata)
        return np.array([self.value(table) for table in strata.tables()])

    @classmethod
    def of_matrix(cls, name: str, function: Callable[[FloatArray], float]) -> Metric:
        """Make a metric of a function of an array (runs, tasks).

        It can be estimated on complete tables only; on others it raises ScoreDataError.
        """
        return cls(name, lambda strata: float(function(_matrix(strata, name))))


#: One metric or several, by name or made by hand.
Metrics = str | Metric | Sequence[str | Metric]


def metric_list(metrics: Metrics) -> list[str | Metric]:
    """Return metrics as a list, also if it is one."""
    found: list[Any] = [metrics]
    if isinstance(metrics, Iterable) and not isinstance(metrics, str):
        found = list(metrics)
    for one in found:
        if not isinstance(one, str | Metric):
            raise TypeError(f"metrics: expected names or instances of Metric, found {one!r}")
    return found


def metrics_for(
    wanted: Metrics | None, *, gamma: float | None, higher_is_better: bool
) -> list[Metric]:
    """Return the metrics of these names, or all default ones that are defined."""
    if wanted is None:
        has_target = higher_is_better or gamma is not None
        wanted = [name for name in METRICS if name != "optimality_gap" or has_target]
    return [
        metric_named(one, gamma=gamma, higher_is_better=higher_is_better)
        if isinstance(one, str)
        else one
        for one in metric_list(wanted)
    ]


def metric_named(name: str, *, gamma: float | None = None, higher_is_better: bool = True) -> Metric:
    """Return a metric by its name.

    Parameters
    ----------
    name : str
        * ``mean``: mean over tasks of the mean over runs;
        * ``median``: median over tasks of the mean over runs;
        * ``iqm``: mean of the middle half of all scores, runs and tasks pooled;
        * ``optimality_gap``: mean of max(gamma - score, 0), or of max(score - gamma, 0) where lower
          is better.
    gamma : float, optional
        Target of the optimality gap; 1 if higher is better, otherwise required.
    higher_is_better : bool
        Direction of the scores.

    Raises
    ------
    UnknownNameError
        There is no such metric.
    ScoreDataError
        The gap has no target.

    Examples
    --------
    >>> metric_named("iqm")([[0, 1, 2, 100]])
    1.5
    """
    check_word("metric", name, METRICS)
    if name == "median":
        return Metric(name, median, of_batch=True)
    if name == "iqm":
        return Metric(name, _interquartile_mean, cut=_quarter, of_batch=True)
    if name == "mean":
        return Metric(name, lambda s: s.averaged(s.values), each=np.asarray, of_batch=True)
    if gamma is None and not higher_is_better:
        raise ScoreDataError(
            "optimality_gap: expected a target gamma, since lower scores are better; found none"
        )
    if gamma is not None and not abs(gamma) <= LARGEST:
        raise ScoreDataError(
            f"optimality_gap: expected a target gamma from {-LARGEST:g} to {LARGEST:g}, found "
            f"{gamma:g}"
        )
    target, sign = 1.0 if gamma is None else gamma, 1.0 if higher_is_better else -1.0

    def each(x: FloatArray) -> FloatArray:
        return np.maximum(sign * (target - x), 0.0)

    return Metric(
        name, lambda s: s.averaged(each(s.values)), each=each, bounds=(0.0, np.inf), of_batch=True
    )


def median(strata: Strata) -> Number:
    """Return the median over tasks of the mean over runs."""
    with np.errstate(invalid="ignore"):
        return number(np.median(strata.task_means, axis=-1))


def _quarter(strata: Strata) -> float:
    """Return the quarter of the scores that is cut from each end, in whole scores as in SciPy."""
    return float(strata.n_scores // 4)


def _interquartile_mean(strata: Strata) -> Number:
    """Return the mean of the pooled scores between the quarters."""
    (values, mass), n, cut = strata.pooled, strata.n_scores, _quarter(strata)
    above = np.cumsum(mass)
    kept = np.minimum(above, n - cut) - np.maximum(above - mass, cut)
    # A weight that only rounding keeps is none.
    first, last = np.flatnonzero(kept > 1e-9)[[0, -1]]
    inside = slice(first, last + 1)
    with np.errstate(invalid="ignore"):
        return number(values[..., inside] @ kept[inside] / (n - 2.0 * cut))


def _matrix(strata: Strata, name: str) -> FloatArray:
    """Return complete scores as (runs, tasks)."""
    least, most = strata.counts.min(), strata.counts.max()
    if least != most:
        raise ScoreDataError(
            f"{name}: expected the same number of runs on every task, found {least} to {most}"
        )
    return strata.values.reshape(strata.n_tasks, int(least)).T
