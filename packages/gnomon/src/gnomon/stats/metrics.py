"""Metrics: summaries of the scores of one algorithm over runs and tasks, one number each.

On a complete table (the same number of runs on every task) the definitions are those of rliable
(Agarwal et al. 2021, *Deep reinforcement learning at the edge of the statistical precipice*). On a
ragged one every task has the same weight: with T tasks, a score of a task with R_t runs weighs
1 / (T R_t).

Every function takes an array of shape (runs, tasks), NaN where a run is missing, or
:class:`~gnomon.stats.samples.Strata`; of a batch of tables it returns one number for each. Infinite
scores (censored runs) are allowed: a result that is infinite or NaN means that the metric is not
estimable. :class:`Metric` makes a user's own function take part everywhere.
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


def mean(scores: Strata | npt.ArrayLike) -> Number:
    """Return the mean over tasks of the mean over runs.

    Examples
    --------
    >>> mean([[1, 10], [3, 20]])
    8.5
    """
    strata = as_strata(scores)
    return strata.averaged(strata.values)


def median(scores: Strata | npt.ArrayLike) -> Number:
    """Return the median over tasks of the mean over runs.

    With an even number of tasks it is the average of the middle two.

    Examples
    --------
    >>> median([[1, 10, 7], [3, 20, 7]])
    7.0
    """
    with np.errstate(invalid="ignore"):
        return number(np.median(as_strata(scores).task_means, axis=-1))


def interquartile_mean(scores: Strata | npt.ArrayLike) -> Number:
    """Return the mean of the middle half of all scores, runs and tasks pooled.

    This is :func:`trimmed_mean` with a quarter cut from each end. Like the median it ignores
    outliers, and it needs fewer runs for the same precision.

    Examples
    --------
    >>> interquartile_mean([[0, 1, 2, 100]])
    1.5
    """
    return trimmed_mean(scores, 0.25)


def trimmed_mean(scores: Strata | npt.ArrayLike, proportion: float) -> Number:
    """Return the mean of all scores, pooled, without the lowest and the highest ones.

    Of N scores, ``k = floor(proportion * N)`` are cut from each end: the share k/N of the *weight*.
    A score of a task with R_t runs weighs 1 / (T R_t), and a score at the edge may be cut in part.
    Where all tasks have equally many runs, these are exactly the k lowest and the k highest scores,
    as in rliable and `scipy.stats.trim_mean`.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
    proportion : float
        Share to cut from each end, at least 0 and below 0.5.

    Returns
    -------
    float
        Infinite, or NaN, if an infinite score is not cut.

    Examples
    --------
    Two tasks, the second with a single run, which therefore weighs as much as the other four:

    >>> trimmed_mean([[1, 9], [2, np.nan], [3, np.nan], [4, np.nan]], 0.2)
    6.125
    """
    strata = as_strata(scores)
    return _pooled_mean(strata, *_both_ends(proportion)(strata))


def optimality_gap(
    scores: Strata | npt.ArrayLike, gamma: float = 1.0, *, higher_is_better: bool = True
) -> Number:
    """Return by how much scores fall short of the target `gamma` on average.

    The gap is the mean of ``max(gamma - score, 0)``; lower is better. Where lower scores are
    better, it is the mean of ``max(score - gamma, 0)``.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
    gamma : float
        The target, by convention 1 for normalised scores.
    higher_is_better : bool
        Direction of the scores.

    Examples
    --------
    >>> optimality_gap([[0.5, 3.0], [0.7, 0.8]])
    0.25
    """
    strata = as_strata(scores)
    return strata.averaged(_shortfalls(gamma, higher_is_better)(strata.values))


def share_above(scores: Strata | npt.ArrayLike, threshold: float) -> Number:
    """Return the share of runs that score strictly above a threshold, averaged over tasks.

    With a normalised human score of 1 as the threshold this is rliable's "superhuman probability".

    Examples
    --------
    >>> share_above([[0.5, 3.0], [2.0, 4.0]], 1.0)
    0.75
    """
    strata = as_strata(scores)
    return strata.averaged((strata.values > threshold).astype(np.float64))


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
    >>> worst = Metric.of_matrix("worst_run", lambda x: x.mean(axis=1).min())
    >>> worst.value(Strata.from_matrix([[1, 2], [3, 4]]))
    1.5
    """

    name: str
    value: Callable[[Strata], Number]
    each: Callable[[FloatArray], FloatArray] | None = None
    cuts: Cuts | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)
    of_batch: bool = False

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
    """Return metrics as a list, also if it is one.

    Examples
    --------
    >>> metric_list("iqm"), metric_list(["mean", "iqm"])
    (['iqm'], ['mean', 'iqm'])
    """
    return [metrics] if isinstance(metrics, str | Metric) else list(metrics)


def metrics_for(
    wanted: Metrics | None, *, gamma: float | None, higher_is_better: bool
) -> list[Metric]:
    """Return the metrics of these names, or all default ones that are defined.

    Raises
    ------
    UnknownNameError
        There is no such metric.
    ScoreDataError
        The optimality gap is wanted and has no target.
    """
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
        ``mean``, ``median`` (of task means), ``iqm``, ``optimality_gap``, ``task_iqm`` (mean over
        tasks of the interquartile mean of each task's runs), ``trimmed_mean:0.1`` (share cut from
        each end), ``share_above:1`` (threshold), ``difficulty_progress:0.25`` (mean of that share
        of the scores that is worst).
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
    >>> metric_named("trimmed_mean:0.25").value(Strata.from_runs([[0.0, 1.0, 2.0, 90.0]]))
    1.5
    """
    base, _, text = name.partition(":")
    if base not in NAMES or (text and base not in PARAMETERS):
        raise UnknownNameError("metric", name, NAMES)
    parameter = _parameter(base, text)
    match base:
        case "mean":
            return Metric(name, mean, each=np.asarray, of_batch=True)
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
    target = 1.0 if gamma is None else gamma
    return _additive(name, _shortfalls(target, higher_is_better), (0.0, np.inf))


def _parameter(base: str, text: str) -> float:
    """Return the number after the colon, or the default."""
    try:
        return float(text) if text else PARAMETERS.get(base, 0.0)
    except ValueError:
        raise ScoreDataError(
            f"metric {base}: expected a number after ':', found {text!r}"
        ) from None


def _additive(
    name: str, each: Callable[[FloatArray], FloatArray], bounds: tuple[float, float]
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


def _shortfalls(target: float, higher_is_better: bool) -> Callable[[FloatArray], FloatArray]:
    """Return the function from scores to how much each misses the target."""
    return lambda x: np.maximum(target - x if higher_is_better else x - target, 0.0)


def _task_iqm(strata: Strata) -> Number:
    tasks = [Strata(runs, np.array([0, runs.shape[-1]])) for runs in strata.per_task()]
    return number(np.mean([interquartile_mean(one) for one in tasks], axis=0))


def _matrix(strata: Strata, name: str) -> FloatArray:
    """Return complete scores as (runs, tasks)."""
    least, most = strata.counts.min(), strata.counts.max()
    if least != most:
        raise ScoreDataError(
            f"{name}: expected the same number of runs on every task, found {least} to {most}"
        )
    return strata.values.reshape(strata.n_tasks, int(least)).T
