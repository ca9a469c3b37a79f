"""Numbers about whole learning curves: area, best and last value, time to a threshold.

A summary *of the aggregate curve* (here: the area under the curve of interquartile means, say) is
another number than an aggregate *of each run's summary*; the second is that of a table like any
other (:func:`summarize_runs`).

The standard error of the area is that of resamples of whole runs; the interval of the last value is
that at the last step. The best value is lucky where several steps are nearly as good: its interval
is that of the step where the curve is best, with the lower end moved by what luck is worth.
``best_corrected`` holds whichever step is best, and is wide. A time to a threshold has the
percentile interval, which is too short with few runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from gnomon.errors import ScoreDataError, check_word
from gnomon.scores.steps import refuse_unequal_lengths
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import Resamples, draw_key
from gnomon.stats.cautions import warn
from gnomon.stats.estimates import Estimate, interval_of
from gnomon.stats.intervals import (
    Interval,
    Method,
    StandardError,
    checked,
    percentile,
    satterthwaite,
    standard_error,
)
from gnomon.stats.metrics import Metric, metric_named
from gnomon.stats.samples import Strata

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
        check_word("method", self.method, get_args(Method))


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
        strata, key = at_steps[0], draw_key(rng)
        found = Interval(math.nan, math.nan, "none", 0, math.nan)
        fault: str | None = "interval not estimable from one run per task"
        if strata.counts.max() > 1:
            found = _interval(steps, at_steps, metric, values, reduce, options, key)
            found, fault = _checked(options, found)
            by_choice = options.method == "percentile" and options.summary != "time_to_threshold"
            if fault is None and found.method == "percentile" and not by_choice:
                fault = "the interval is from resamples, and too short with few runs"
        if fault is not None:
            warn(f"{options.summary} of {algorithm}: {fault}")
        yield Estimate(
            algorithm,
            f"{options.summary}({metric.name})",
            value,
            found.low,
            found.high,
            options.level,
            found.method,
            strata.n_runs,
            strata.n_tasks,
            found.n_resamples,
            found.mc_error,
        )


def _interval(
    steps: FloatArray,
    at_steps: Sequence[Strata],
    metric: Metric,
    values: FloatArray,
    reduce: Reduce,
    options: SummaryOptions,
    key: np.uint64,
) -> Interval:
    """Return the interval of one number about a curve; runs are drawn as whole curves."""
    how: dict[str, Any] = {
        "n_resamples": options.n_resamples,
        "key": key,
    }  # the same runs at every step

    def at(place: int, level: float) -> Interval:
        strata, value = at_steps[place], float(values[place])
        return interval_of(metric, value, strata, strata.task_variances, level=level, **how)

    students = options.method == "auto" and bool(np.isfinite(values).all())
    if students and options.summary == "final":
        return at(-1, options.level)
    if students and options.summary == "best_corrected":
        return _over_steps(at, values.size, options, at(0, options.level).method)
    weights = _weights(steps)
    if students and options.summary == "area" and metric.each is not None:
        of_runs = weights @ np.stack([metric.each(one.values) for one in at_steps])
        areas = Strata(of_runs, at_steps[0].starts, at_steps[0].same_runs)
        exact = standard_error(areas, metric_named("mean"), areas.task_variances, **how)
        return exact.interval(float(weights @ values), options.level, metric.bounds)
    drawn = np.stack([Resamples(one, **how).of(metric) for one in at_steps], axis=1)
    if not students or options.summary == "time_to_threshold" or not np.isfinite(drawn).all():
        return percentile(reduce(steps, drawn), options.level)
    # The variance of resamples is (R - 1)/R of the unbiased one.
    runs = 1.0 / float(np.mean(1.0 / at_steps[0].counts))
    noise = (drawn - values) * math.sqrt(runs / max(runs - 1.0, 1.0))
    if options.summary == "best":
        best = int(values.argmax() if options.higher_is_better else values.argmin())
        return _without_luck(at(best, options.level), noise, values, options.higher_is_better)
    area = Strata(weights @ np.stack([one.values for one in at_steps]), at_steps[0].starts)
    df = satterthwaite(area.task_variances / area.counts, np.maximum(area.counts - 1.0, 1.0))
    spread = float((noise @ weights).std(ddof=1))
    error = StandardError(spread, float(df), options.n_resamples)
    return error.interval(float(weights @ values), options.level, metric.bounds)


#: How many times luck counts: where steps are equal, noise added to noise raises the best of them
#: by two fifths of what the first noise did.
LUCK_FACTOR = 2.0


def _without_luck(
    found: Interval, noise: FloatArray, values: FloatArray, higher_is_better: bool
) -> Interval:
    """Return the interval with the end towards worse scores farther off by what luck is worth.

    Luck is by how much the highest point of a curve rises when its noise is added once more.
    """
    sign = 1.0 if higher_is_better else -1.0
    centred = sign * (noise - noise.mean(axis=0))
    highest = [np.max(sign * values + one, axis=1) for one in (centred, -centred)]
    rise = np.mean(highest, axis=0) - np.max(sign * values)
    luck = LUCK_FACTOR * float(rise.mean())
    error = LUCK_FACTOR * float(rise.std() / math.sqrt(rise.size))
    low, high = (luck, 0.0) if higher_is_better else (0.0, luck)
    return Interval(
        found.low - low, found.high + high, found.method, rise.size, max(found.mc_error, error)
    )


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
    check_word("summary", summary, get_args(CurveSummary))
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
