"""Numbers about whole learning curves: area, best and last value, time to a threshold.

A summary *of the aggregate curve* (here: the area under the curve of interquartile means, say) is
another number than an aggregate *of each run's summary*; the second is that of a table like any
other (:func:`summarize_runs`).

The area is linear in the curve, so that its influences are the steps' influences with the weights
of the trapezoidal rule, and its interval is delta-t; that of the last value is the interval at the
last step. The best value is lucky where several steps are nearly as good: its interval is that of
the step where the curve is best, with the lower end farther off by what luck is worth
(:func:`luck_of_the_best`). ``best_corrected`` holds over the choice of the step for certain, and is
wide. A time to a threshold has resamples of whole runs, and so too short an interval with
few runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.steps import refuse_unequal_lengths
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap.resamples import Resamples, draw_key
from gnomon.stats.cautions import warn
from gnomon.stats.estimate_records import Estimate
from gnomon.stats.intervals import (
    FEW_RUNS,
    Interval,
    Method,
    checked,
    interval_of,
    percentile,
    resolved_method,
)
from gnomon.stats.metrics import Metric
from gnomon.stats.small_samples.small_sample import Influences, delta_interval, task_variances
from gnomon.stats.strata import Strata

CurveSummary = Literal["area", "best", "best_corrected", "final", "time_to_threshold"]

#: Summaries that depend on how long a curve is, in the plural.
OF_LENGTH: Mapping[str, str] = {
    "area": "areas",
    "best": "best scores",
    "best_corrected": "best scores",
    "final": "final scores",
}

#: From steps and curves, (..., steps), to one number about each curve.
Reduce = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class SummaryOptions:
    """What is asked of every curve of one call."""

    summary: CurveSummary
    threshold: float | None
    higher_is_better: bool
    level: float
    method: Method
    n_resamples: int

    def __post_init__(self) -> None:
        if self.method not in ("auto", "small_sample", "percentile"):
            raise ScoreDataError(
                "a summary of a curve has intervals by auto, small_sample or percentile, found "
                f"{self.method}"
            )


def summarized(
    curves: Mapping[str, tuple[FloatArray, Sequence[Strata]]],
    metric: Metric,
    options: SummaryOptions,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Yield one number about each algorithm's aggregate curve.

    Parameters
    ----------
    curves : mapping
        Of each algorithm the steps and the scores at each, of the same runs in the same order.
    """
    reduce = _reducing(options.summary, options.threshold, options.higher_is_better)
    for algorithm, (steps, at_steps) in curves.items():
        values = np.array([metric.value(strata) for strata in at_steps])
        value = float(reduce(steps, values[None, :])[0])
        strata = at_steps[0]
        key = draw_key(rng)  # one and the same, so that every step draws the same runs
        resamples = [Resamples(one, n_resamples=options.n_resamples, key=key) for one in at_steps]
        found = _closed_form(steps, resamples, metric, values, options)
        if found is not None and options.summary == "best":
            draws = np.random.default_rng(int(key))
            found = _without_luck(found, at_steps, metric, values, options.higher_is_better, draws)
        if found is None:
            drawn = np.stack([one.of(metric) for one in resamples], axis=1)
            found = percentile(reduce(steps, drawn), options.level)
        interval, fault = _checked(options, found)
        if strata.counts.max() == 1:
            fault = "interval not estimable from one run per task"
        elif fault is None and _short(found, strata, options):
            fault = "the interval is from resamples, and too short with few runs"
        if fault is not None:
            warn(f"{options.summary} of {algorithm}: {fault}")
        yield Estimate(
            algorithm,
            f"{options.summary}({metric.name})",
            value,
            interval.low,
            interval.high,
            options.level,
            interval.method,
            strata.n_runs,
            strata.n_tasks,
            interval.n_resamples,
            interval.mc_error,
        )


def _short(found: Interval, strata: Strata, options: SummaryOptions) -> bool:
    """Return whether few runs have an interval from resamples for want of a better one."""
    unasked = options.method != "percentile" or options.summary == "time_to_threshold"
    return unasked and found.method == "percentile" and bool(strata.counts.min() < FEW_RUNS)


def _closed_form(
    steps: FloatArray,
    resamples: Sequence[Resamples],
    metric: Metric,
    values: FloatArray,
    options: SummaryOptions,
) -> Interval | None:
    """Return the interval that holds with few runs, None where there is none or many runs."""
    at_steps = [one.strata for one in resamples]
    resolved = resolved_method(options.method, at_steps[0])
    if options.method == "auto" and options.summary in ("best", "best_corrected"):
        resolved = "small_sample"  # resamples have the luck of the best twice, with any runs
    if resolved != "small_sample" or options.summary == "time_to_threshold":
        return None
    if at_steps[0].counts.max() == 1 or not np.isfinite(values).all():
        return None
    if options.summary == "area":
        influences = area_influences(steps, at_steps, metric)
        if influences is None:
            return None
        value = float(_weights(steps) @ values)
        return Interval(*delta_interval(value, influences, options.level), "delta_t")

    def at(place: int, level: float) -> Interval:
        value = float(values[place])
        return interval_of(metric, value, resamples[place], method="small_sample", level=level)

    if options.summary == "final":
        return at(-1, options.level)
    best = values.argmax() if options.higher_is_better else values.argmin()
    found = at(int(best), options.level)
    if options.summary == "best":
        return found
    return _over_steps(at, values.size, options, found.method)


#: Draws of noise from which luck is known, and how many times it counts: where steps are equal,
#: noise added to noise raises the best of them by two fifths of what the first noise did.
LUCK_DRAWS, LUCK_FACTOR = 1000, 2.0


def _without_luck(
    found: Interval,
    at_steps: Sequence[Strata],
    metric: Metric,
    values: FloatArray,
    higher_is_better: bool,
    rng: np.random.Generator,
) -> Interval:
    """Return the interval with the end towards worse scores farther off by what luck is worth."""
    sign = 1.0 if higher_is_better else -1.0
    luck, error = luck_of_the_best(at_steps, metric, sign * values, rng=rng)
    if luck == 0.0:
        return found
    ends = (LUCK_FACTOR * luck, 0.0) if higher_is_better else (0.0, LUCK_FACTOR * luck)
    return Interval(
        found.low - ends[0],
        found.high + ends[1],
        found.method,
        LUCK_DRAWS,
        max(found.mc_error, LUCK_FACTOR * error),
    )


def luck_of_the_best(
    at_steps: Sequence[Strata], metric: Metric, values: FloatArray, *, rng: np.random.Generator
) -> tuple[float, float]:
    """Return by how much the highest point of a curve rises when its noise is added once more.

    The noise is normal, with the covariance over steps that the influences of the runs have: each
    run's deviations along all steps, times a normal number of its own (multiplier bootstrap).

    Parameters
    ----------
    at_steps : sequence of Strata
        The same runs at each step.
    metric : Metric
    values : ndarray of float, shape (steps,)
        The curve, higher being better.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    luck, error : float
        And its Monte Carlo error; 0 for a metric without influences.

    Examples
    --------
    A curve whose last step is far above the others needs no luck:

    >>> from gnomon.stats import metric_named
    >>> at_steps = [Strata.from_runs([[0.0, 2.0]]), Strata.from_runs([[8.0, 9.0]])]
    >>> rng = np.random.default_rng(0)
    >>> luck, _ = luck_of_the_best(at_steps, metric_named("mean"), np.array([1.0, 8.5]), rng=rng)
    >>> round(luck, 3)
    0.0
    """
    parts = [metric.influences(strata) for strata in at_steps]
    influences = [part.values for part in parts if part is not None]
    if len(influences) < len(at_steps):
        return 0.0, 0.0
    counts, begins = at_steps[0].counts, at_steps[0].starts[:-1]
    along = np.stack(influences)
    means = np.add.reduceat(along, begins, axis=1) / counts
    weights = 1.0 / (counts.size * np.sqrt(counts * np.maximum(counts - 1.0, 1.0)))
    deviations = (along - np.repeat(means, counts, axis=1)) * np.repeat(weights, counts)
    noise = rng.normal(size=(LUCK_DRAWS // 2, deviations.shape[1])) @ deviations.T
    highest = [np.max(values + one, axis=1) for one in (noise, -noise)]
    pairs = np.mean(highest, axis=0) - values.max()  # one draw and its mirror image
    return float(pairs.mean()), float(pairs.std() / np.sqrt(pairs.size))


def _over_steps(
    at: Callable[[int, float], Interval], n: int, options: SummaryOptions, method: str
) -> Interval:
    """Return the interval of the best of all steps, whichever it is.

    The true best is at least what every step's lower end says, at a level corrected for their
    number (Bonferroni), and at most what the most hopeful step says.
    """
    strict = 1.0 - (1.0 - options.level) / n
    wide = [at(place, strict) for place in range(n)]
    plain = [at(place, options.level) for place in range(n)]
    if options.higher_is_better:
        return Interval(max(x.low for x in wide), max(x.high for x in plain), method)
    return Interval(min(x.low for x in plain), min(x.high for x in wide), method)


def area_influences(
    steps: FloatArray, at_steps: Sequence[Strata], metric: Metric
) -> Influences | None:
    """Return the influences of a metric's area, None if some step has none.

    Parameters
    ----------
    steps : ndarray of float, shape (steps,)
    at_steps : sequence of Strata
        The same runs at each step.
    metric : Metric

    Examples
    --------
    >>> from gnomon.stats import metric_named
    >>> at_steps = [Strata.from_runs([[0.0, 2.0]]), Strata.from_runs([[4.0, 8.0]])]
    >>> found = area_influences(np.array([0.0, 1.0]), at_steps, metric_named("mean"))
    >>> found.values
    array([2., 5.])
    """
    found = [metric.influences(strata) for strata in at_steps]
    parts = [one for one in found if one is not None]
    if len(parts) < len(at_steps):
        return None
    weights = _weights(steps)
    with np.errstate(invalid="ignore"):  # infinite scores that a metric cuts off
        raw = weights @ np.stack([strata.values for strata in at_steps])
    strata = Strata(raw, at_steps[0].starts)
    return Influences(
        strata,
        weights @ np.stack([part.values for part in parts]),
        _floor(weights, at_steps, parts, strata),
        float(weights @ [part.shift for part in parts]),
        metric.bounds,
    )


def _floor(
    weights: FloatArray, at_steps: Sequence[Strata], parts: Sequence[Influences], area: Strata
) -> FloatArray | None:
    """Return the least variance to believe in of the influences of an area.

    That of the steps, as correlated as the scores themselves are along the steps.
    """
    floors = [part.floor for part in parts if part.floor is not None]
    if not floors:
        return None
    spreads = [np.sqrt(task_variances(strata, strata.values)) for strata in at_steps]
    with np.errstate(invalid="ignore", divide="ignore"):
        common = task_variances(area, area.values) / np.square(weights @ np.stack(spreads))
    return np.asarray(
        np.square(weights @ np.sqrt(np.stack(floors))) * np.nan_to_num(common, nan=1.0, posinf=1.0)
    )


def _weights(steps: FloatArray) -> FloatArray:
    """Return the weight of each step in a mean height by the trapezoidal rule."""
    if steps.size == 1:
        return np.ones(1)
    widths = np.diff(steps)
    weights = np.zeros(steps.size)
    weights[:-1] += widths / 2.0
    weights[1:] += widths / 2.0
    return np.asarray(weights / (steps[-1] - steps[0]))


def _checked(options: SummaryOptions, interval: Interval) -> tuple[Interval, str | None]:
    """Return an interval and what is wrong with it; an infinite time is that of no arrival."""
    if options.summary == "time_to_threshold" and np.isinf(interval.high):
        often = "not always" if np.isfinite(interval.low) else "seldom or never"
        reached = f"the threshold {options.threshold:g} is {often} reached by the resampled curves"
        return interval, reached
    return checked(interval)


def summarize_runs(
    table: ScoreTable, summary: CurveSummary, *, threshold: float | None = None
) -> ScoreTable:
    """Return the table of one number about each run's own curve.

    It is a table of scores like any other, so every estimate and comparison takes it.

    Parameters
    ----------
    table : ScoreTable
        With a column ``step``; steps that a run lacks are passed over.
    summary, threshold
        As in :func:`curves`. For ``time_to_threshold`` lower is better, and a run that
        never gets there is censored.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[[1, 5]], [[2, 3]]]})
    >>> summarize_runs(table, "time_to_threshold", threshold=4).runs("dqn", "task_0")
    array([ 1., inf])
    """
    reduce = _reducing(summary, threshold, table.higher_is_better)
    if summary in OF_LENGTH:
        refuse_unequal_lengths(table, OF_LENGTH[summary])
    records = []
    for algorithm in table.algorithms:
        for task in table.tasks:
            steps, scores = table.curves(algorithm, task)
            for run, row in enumerate(scores):
                seen = ~np.isnan(row)
                score = float(reduce(steps[seen], row[None, seen])[0]) if seen.any() else None
                never = score is not None and np.isinf(score)
                key = {"algorithm": algorithm, "task": task, "run": run}
                records.append(key | {"score": score, "censored": never})
    is_time = summary == "time_to_threshold"
    return ScoreTable.from_records(
        records,
        metric=f"{summary}({table.metric})",
        unit="steps" if is_time else table.unit,
        higher_is_better=table.higher_is_better and not is_time,
        provenance=(*table.provenance, f"{summary} of each run's curve"),
    )


def _reducing(summary: CurveSummary, threshold: float | None, higher_is_better: bool) -> Reduce:
    """Return the function of (steps, curves) that reduces the last axis."""
    if summary not in get_args(CurveSummary):
        raise UnknownNameError("summary", summary, get_args(CurveSummary))
    if summary == "time_to_threshold":
        if threshold is None:
            raise ScoreDataError("time_to_threshold: expected a threshold; found none")
        return lambda steps, x: _first_time(steps, x, threshold, higher_is_better)
    if summary == "area":
        return _mean_height
    if summary in ("best", "best_corrected"):
        return lambda steps, x: x.max(axis=-1) if higher_is_better else x.min(axis=-1)
    return lambda steps, x: x[..., -1]


def _mean_height(steps: FloatArray, curves: FloatArray) -> FloatArray:
    """Return the area under each curve over the range of its steps."""
    if steps.size == 1:
        return curves[..., 0]
    return np.asarray(np.trapezoid(curves, steps, axis=-1) / (steps[-1] - steps[0]))


def _first_time(
    steps: FloatArray, curves: FloatArray, threshold: float, higher_is_better: bool
) -> FloatArray:
    """Return the first step at which each curve is at the threshold or better, else infinity."""
    reached = curves >= threshold if higher_is_better else curves <= threshold
    return np.where(reached.any(axis=-1), steps[np.argmax(reached, axis=-1)], np.inf)
