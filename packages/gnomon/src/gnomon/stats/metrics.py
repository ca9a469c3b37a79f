"""Metrics: summaries of the scores of one algorithm over runs and tasks, one number each.

On a complete table (the same number of runs on every task) the definitions are those of rliable
(Agarwal et al. 2021, *Deep reinforcement learning at the edge of the statistical precipice*). On a
ragged one every task has the same weight: with T tasks, a score of a task with R_t runs weighs
1 / (T R_t).

Infinite scores (censored runs) are allowed: a result that is infinite or NaN means that the metric
is not estimable. :class:`Metric` makes a user's own function take part everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.table import FloatArray
from gnomon.stats.samples import Number, Strata, as_strata, number

#: From strata to the weights that are cut from the low and from the high end.
Cuts = Callable[[Strata], tuple[float, float]]

#: The metrics that are estimated if none is named.
METRICS = ("mean", "median", "iqm", "optimality_gap")
#: The others; a number after a colon, as in ``trimmed_mean:0.1``, replaces the default.
PARAMETERS = {"trimmed_mean": 0.1, "share_above": 1.0, "difficulty_progress": 0.25}
NAMES = (*METRICS, "task_iqm", *PARAMETERS)


@dataclass(frozen=True)
class Metric:
    """A summary of the scores of one algorithm.

    Parameters
    ----------
    name : str
        As it appears in estimates.
    value : function
        From :class:`~gnomon.stats.Strata` to the number.
    each : function, optional
        Of a metric that is the mean over tasks of the mean over runs of some function of the
        score: that function, element by element.
    cuts : function, optional
        Of a metric that is a mean of the pooled scores without the lowest and the highest: from
        strata to the weights that are cut from the low and from the high end.
    bounds : (float, float)
        Between which the metric lies, whatever the scores.
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
    cuts: Cuts | None = None
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
    return [metrics] if isinstance(metrics, str | Metric) else list(metrics)


def metrics_for(
    wanted: Metrics | None, *, gamma: float | None, higher_is_better: bool
) -> list[Metric]:
    """Return the metrics of these names, or all default ones that are defined."""
    if wanted is None:
        wanted = METRICS if higher_is_better or gamma is not None else METRICS[:-1]
    try:
        return [
            metric_named(one, gamma=gamma, higher_is_better=higher_is_better)
            if isinstance(one, str)
            else one
            for one in metric_list(wanted)
        ]
    except ValueError as error:  # a number after the colon that the metric cannot have
        raise ScoreDataError(
            f"metrics {', '.join(map(str, metric_list(wanted)))}: {error}"
        ) from None


def metric_named(name: str, *, gamma: float | None = None, higher_is_better: bool = True) -> Metric:
    """Return a metric by its name.

    Parameters
    ----------
    name : str
        * ``mean``: mean over tasks of the mean over runs;
        * ``median``: median over tasks of the mean over runs;
        * ``iqm``: mean of the middle half of all scores, runs and tasks pooled;
        * ``optimality_gap``: mean of max(gamma - score, 0), or of max(score - gamma, 0) where lower
          is better;
        * ``task_iqm``: mean over tasks of the interquartile mean of each task's runs;
        * ``trimmed_mean:0.1``: mean of the pooled scores without this share at each end. Of N
          scores floor(0.1 N) are cut, as in `scipy.stats.trim_mean`; where tasks have unlike
          numbers of runs, as much of their weight, so that a score at the edge may be cut in part;
        * ``share_above:1``: share of runs strictly above the threshold, averaged over tasks;
        * ``difficulty_progress:0.25``: mean of that share of the scores that is worst.
    gamma : float, optional
        Target of the optimality gap; 1 if higher is better, otherwise required.
    higher_is_better : bool
        Direction of the scores.

    Raises
    ------
    UnknownNameError
        There is no such metric.
    ScoreDataError
        What follows the colon is not a number, or the gap has no target.

    Examples
    --------
    >>> metric_named("iqm")([[0, 1, 2, 100]])
    1.5
    """
    base, _, text = name.partition(":")
    if base not in NAMES or (text and base not in PARAMETERS):
        raise UnknownNameError("metric", name, NAMES)
    parameter = _parameter(base, text)
    match base:
        case "mean":
            return _additive(name, np.asarray)
        case "median":
            return Metric(name, median, of_batch=True)
        case "iqm" | "trimmed_mean":
            return _cutting(name, _both_ends(0.25 if base == "iqm" else parameter))
        case "difficulty_progress":
            return _cutting(name, _all_but_the_worst(parameter, higher_is_better))
        case "task_iqm":
            return Metric(name, _task_iqm, of_batch=True)
        case "share_above":
            return _additive(name, lambda x: (x > parameter).astype(np.float64), (0.0, 1.0))
    if gamma is None and not higher_is_better:
        raise ScoreDataError(
            "optimality_gap: expected a target gamma, since lower scores are better; found none"
        )
    target, sign = 1.0 if gamma is None else gamma, 1.0 if higher_is_better else -1.0
    return _additive(name, lambda x: np.maximum(sign * (target - x), 0.0), (0.0, np.inf))


def median(strata: Strata) -> Number:
    """Return the median over tasks of the mean over runs."""
    with np.errstate(invalid="ignore"):
        return number(np.median(strata.task_means, axis=-1))


def _parameter(base: str, text: str) -> float:
    """Return the number after the colon, or the default."""
    try:
        return float(text) if text else PARAMETERS.get(base, 0.0)
    except ValueError:
        raise ScoreDataError(
            f"metric {base}: expected a number after ':', found {text!r}"
        ) from None


def _additive(
    name: str,
    each: Callable[[FloatArray], FloatArray],
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Metric:
    return Metric(
        name, lambda s: s.averaged(each(s.values)), each=each, bounds=bounds, of_batch=True
    )


def _cutting(name: str, cuts: Cuts) -> Metric:
    return Metric(name, lambda s: _pooled_mean(s, *cuts(s)), cuts=cuts, of_batch=True)


def _both_ends(proportion: float) -> Cuts:
    """Return the cuts of a trimmed mean: whole scores from each end, as in SciPy."""
    if not 0.0 <= proportion < 0.5:
        raise ValueError(f"expected a proportion from 0 to below 0.5, found {proportion}")

    def cuts(strata: Strata) -> tuple[float, float]:
        cut = float(int(proportion * strata.n_scores))
        return cut, cut

    return cuts


def _all_but_the_worst(proportion: float, higher_is_better: bool) -> Cuts:
    """Return the cuts that leave the worst scores, at least one."""
    if not 0.0 < proportion <= 1.0:
        raise ValueError(f"expected a proportion above 0 and up to 1, found {proportion}")

    def cuts(strata: Strata) -> tuple[float, float]:
        better = float(strata.n_scores - max(1, int(proportion * strata.n_scores)))
        return (0.0, better) if higher_is_better else (better, 0.0)

    return cuts


def _pooled_mean(strata: Strata, cut_low: float, cut_high: float) -> Number:
    """Return the mean of the pooled scores between two cuts; the weights of all N sum to N."""
    (values, mass), n = strata.pooled, strata.n_scores
    above = np.cumsum(mass)
    kept = np.minimum(above, n - cut_high) - np.maximum(above - mass, cut_low)
    # A weight that only rounding keeps is none.
    first, last = np.flatnonzero(kept > 1e-9)[[0, -1]]
    inside = slice(first, last + 1)
    with np.errstate(invalid="ignore"):
        return number(values[..., inside] @ kept[inside] / (n - cut_low - cut_high))


def _task_iqm(strata: Strata) -> Number:
    tasks = [Strata(runs, np.array([0, runs.shape[-1]])) for runs in strata.per_task()]
    return number(np.mean([metric_named("iqm").value(one) for one in tasks], axis=0))


def _matrix(strata: Strata, name: str) -> FloatArray:
    """Return complete scores as (runs, tasks)."""
    least, most = strata.counts.min(), strata.counts.max()
    if least != most:
        raise ScoreDataError(
            f"{name}: expected the same number of runs on every task, found {least} to {most}"
        )
    return strata.values.reshape(strata.n_tasks, int(least)).T
