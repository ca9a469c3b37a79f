"""Metrics by name: how each is computed, and how much each score moves it.

A :class:`Metric` is all that intervals, comparisons and planning know of a summary, so a user's own
function takes part everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.table import FloatArray
from gnomon.stats import aggregates
from gnomon.stats.small_samples.small_sample import (
    Influences,
    Response,
    has_many_scores,
    noise_floor,
)
from gnomon.stats.strata import Number, Strata, number

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
        As it stands in estimates.
    value : function
        From :class:`~gnomon.stats.strata.Strata` to the number.
    influence : function, optional
        From strata to one number per score, shape (scores,): how the metric moves with each score,
        up to a constant for each task. With it, closed-form intervals exist.
    additive : bool
        Whether the metric is exactly the mean over tasks of the mean over runs of its influence.
    response : function, optional
        From strata to a function of scores, element by element and along the last axis, which gives
        the influence of any score, for metrics that cut scores off.
    shift : function, optional
        From strata to what to add to the value for an estimate of what infinitely many runs would
        give, for metrics whose definition depends on their number.
    bounds : (float, float)
        Between which the metric lies, whatever the scores.
    of_batch : bool
        Whether these functions take a batch of tables too; else they are called table by table.

    Examples
    --------
    >>> worst = Metric.of_matrix("worst_run", lambda x: x.mean(axis=1).min())
    >>> worst.value(Strata.from_matrix([[1, 2], [3, 4]]))
    1.5
    """

    name: str
    value: Callable[[Strata], float]
    influence: Callable[[Strata], FloatArray] | None = None
    additive: bool = False
    response: Callable[[Strata], Response] | None = None
    shift: Callable[[Strata], float] | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)
    of_batch: bool = False

    @classmethod
    def cutting(
        cls,
        name: str,
        value: Callable[[Strata], float],
        response: Callable[[Strata], Response],
        *,
        additive: bool = False,
        shift: Callable[[Strata], float] | None = None,
        bounds: tuple[float, float] = (-np.inf, np.inf),
        of_batch: bool = False,
    ) -> Metric:
        """Make a metric of its response, which gives the influence too."""

        def influence(strata: Strata) -> FloatArray:
            return response(strata)(strata.values)

        return cls(name, value, influence, additive, response, shift, bounds, of_batch)

    def values(self, strata: Strata) -> Number:
        """Return the value, or that of every table of a batch."""
        if self.of_batch or strata.values.ndim == 1:
            return self.value(strata)
        return np.array([self.value(table) for table in strata.tables()])

    def influences(self, strata: Strata) -> Influences | None:
        """Return the influence of every score; None without a formula or with infinite ones."""
        if self.influence is None:
            return None
        if not self.of_batch and strata.values.ndim > 1:
            return Influences.of_tables(strata, map(self.influences, strata.tables()))
        response = self.response(strata) if self.response is not None else None
        values = self.influence(strata) if response is None else response(strata.values)
        if not np.isfinite(values).all():
            return None
        has_floor = not has_many_scores(strata)
        floor = noise_floor(strata, response) if response is not None and has_floor else None
        shift = 0.0 if self.shift is None else self.shift(strata)
        return Influences(strata, values, floor, shift, self.bounds)

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


def _matrix(strata: Strata, name: str) -> FloatArray:
    """Return complete scores as (runs, tasks)."""
    least, most = strata.counts.min(), strata.counts.max()
    if least != most:
        raise ScoreDataError(
            f"{name}: expected the same number of runs on every task, found {least} to {most}"
        )
    return strata.values.reshape(strata.n_tasks, int(least)).T


def metrics_for(
    wanted: Metrics | None, *, gamma: float | None, higher_is_better: bool
) -> list[Metric]:
    """Return the metrics of these names, or all default ones that can be had.

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
        ``mean``, ``median`` (of task means), ``iqm``, ``optimality_gap``, ``task_iqm``,
        ``trimmed_mean:0.1`` (share cut from each end), ``share_above:1`` (threshold),
        ``difficulty_progress:0.25`` (share of worst scores).
    gamma : float, optional
        Target of the optimality gap; 1 if higher is better, else there is no default.
    higher_is_better : bool
        Direction of the scores.

    Raises
    ------
    UnknownNameError
        There is no such metric.
    ScoreDataError
        The number after the colon is none, or the gap has no target.

    Examples
    --------
    >>> metric_named("trimmed_mean:0.25").value(Strata.from_runs([[0.0, 1.0, 2.0, 90.0]]))
    1.5
    """
    base, _, text = name.partition(":")
    if base not in NAMES or (text and base not in PARAMETERS):
        raise UnknownNameError("metric", name, NAMES)
    if base == "optimality_gap":
        return _gap(gamma, higher_is_better)
    parameter = threshold = _parameter(base, text)
    match base:
        case "mean":
            return Metric(name, aggregates.mean, lambda s: s.values, additive=True, of_batch=True)
        case "median":
            return Metric(name, aggregates.median, of_batch=True)
        case "iqm" | "trimmed_mean":
            return _trimmed(name, 0.25 if base == "iqm" else parameter)
        case "task_iqm":
            return Metric(name, aggregates.task_iqm, _task_iqm_influence, of_batch=True)
        case "share_above":
            return Metric.cutting(
                name,
                lambda s: aggregates.share_above(s, threshold),
                lambda s: lambda x: (x > threshold).astype(np.float64),
                additive=True,
                bounds=(0.0, 1.0),
                of_batch=True,
            )
        case _:
            return _worst(name, parameter, higher_is_better)


def _parameter(base: str, text: str) -> float:
    """Return the number after the colon, or the default."""
    try:
        return float(text) if text else PARAMETERS.get(base, 0.0)
    except ValueError:
        raise ScoreDataError(
            f"metric {base}: expected a number after ':', found {text!r}"
        ) from None


def _gap(gamma: float | None, higher_is_better: bool) -> Metric:
    if gamma is None and not higher_is_better:
        raise ScoreDataError(
            "optimality_gap: expected a target gamma, since lower scores are better; found none"
        )
    target = 1.0 if gamma is None else gamma

    def gaps(x: FloatArray) -> FloatArray:
        return aggregates.shortfalls(x, target, higher_is_better=higher_is_better)

    def response(strata: Strata) -> Response:
        # Noise of heavy tails would else put gaps of any depth below a bounded score. Where no run
        # misses the target, there is nothing to cut at.
        worst = gaps(strata.values).max(axis=-1, keepdims=True)
        worst[worst == 0.0] = np.inf
        return lambda x: np.minimum(gaps(x), worst)

    return Metric.cutting(
        "optimality_gap",
        lambda s: aggregates.optimality_gap(s, target, higher_is_better=higher_is_better),
        response,
        additive=True,
        bounds=(0.0, np.inf),
        of_batch=True,
    )


def _pooled(name: str, cuts: Cuts, exact: Cuts) -> Metric:
    """Make a mean of the pooled scores between two cuts; beyond them a score has no influence.

    The cuts are of whole scores, as is the custom; `exact` are those of the share that is meant.
    """

    def response(strata: Strata) -> Response:
        low, high = cuts(strata)
        _, least, most = aggregates.pooled_mean(strata, low, high)
        n = strata.n_scores
        lower = np.expand_dims(least if low > 0 else -np.inf, -1)
        upper = np.expand_dims(most if high > 0 else np.inf, -1)
        scale = n / (n - low - high)

        def influence(x: FloatArray) -> FloatArray:
            found = np.clip(x, lower, upper)
            return np.multiply(found, scale, out=found)

        return influence

    def value(strata: Strata) -> Number:
        return aggregates.pooled_mean(strata, *cuts(strata))[0]

    def shift(strata: Strata) -> Number:
        if not any(cuts(strata)):
            return 0.0  # too few scores to cut any: it is a plain mean
        with np.errstate(invalid="ignore"):
            found = aggregates.pooled_mean(strata, *exact(strata))[0] - value(strata)
        return number(np.where(np.isfinite(found), found, 0.0))

    return Metric.cutting(name, value, response, shift=shift, of_batch=True)


def _trimmed(name: str, proportion: float) -> Metric:
    aggregates.n_trimmed(1, proportion)  # refuses a wrong proportion now

    def exact(strata: Strata) -> tuple[float, float]:
        cut = proportion * strata.n_scores
        return cut, cut

    return _pooled(name, lambda s: aggregates.trimmed_cuts(s, proportion), exact)


def _worst(name: str, proportion: float, higher_is_better: bool) -> Metric:
    def exact(strata: Strata) -> tuple[float, float]:
        n_scores = strata.n_scores
        better = n_scores - max(1.0, proportion * n_scores)
        return (0.0, better) if higher_is_better else (better, 0.0)

    return _pooled(name, lambda s: aggregates.worst_cuts(s, proportion, higher_is_better), exact)


def _task_iqm_influence(strata: Strata) -> FloatArray:
    """Return the influence inside each task, clipped where its runs are cut."""
    parts = []
    for runs in strata.per_task():
        n = runs.shape[-1]
        cut = aggregates.n_trimmed(n, 0.25)
        ordered = np.sort(runs)
        clipped = np.clip(runs, ordered[..., [cut]], ordered[..., [n - 1 - cut]])
        parts.append(clipped * (n / (n - 2 * cut)))
    return np.concatenate(parts, axis=-1)
