"""Numbers about whole learning curves: area, best, final, and the time to a threshold.

A run is drawn with its whole curve: the same runs at all steps. A summary *of the aggregate curve*
(the area under the mean curve, for example) is not an aggregate *of each run's summary*;
the second is that of a table like any other (:func:`summarize_runs`).

The standard error of the area is that of resamples of whole runs; the interval of the last value is
that at the last step. The best value is lucky where several steps are nearly as good: its interval
is that of the step where the curve is best, with the lower end moved by what luck is worth. A time
to a threshold has the percentile interval, which is too short with few runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from gnomon.errors import ScoreDataError, check_word
from gnomon.scores.steps import refuse_unequal_lengths
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import median_interval
from gnomon.stats.cautions import warn
from gnomon.stats.estimates import Estimate, drawn_of, on_tasks, spread_of
from gnomon.stats.intervals import (
    NO_INTERVAL,
    Drawn,
    Interval,
    Noise,
    Rule,
    Student,
    checked,
    satterthwaite,
    standard_error,
)
from gnomon.stats.metrics import Metric, median, metric_named
from gnomon.stats.samples import Strata

CurveSummary = Literal["area", "best", "final", "time_to_threshold"]

#: Summaries that depend on how long a curve is, in the plural.
OF_LENGTH: Mapping[str, str] = {
    "area": "areas",
    "best": "best scores",
    "final": "final scores",
}
#: How many times luck counts: where steps are equal, noise added to noise raises the best of them
#: by two fifths of what the first noise did.
LUCK_FACTOR = 2.0


@dataclass(frozen=True)
class Summary:
    """A number about a curve; the threshold is that of a time."""

    name: CurveSummary
    threshold: float | None
    higher_is_better: bool

    def __post_init__(self) -> None:
        check_word("summary", self.name, get_args(CurveSummary))
        if self.name == "time_to_threshold" and self.threshold is None:
            raise ScoreDataError("time_to_threshold: expected a threshold; found none")

    def check(self, table: ScoreTable) -> None:
        """Refuse runs that end at different steps, if the number depends on how long they are."""
        if self.name in OF_LENGTH:
            refuse_unequal_lengths(table, OF_LENGTH[self.name])

    def of(self, steps: FloatArray, curves: FloatArray) -> FloatArray:
        """Return the number of each curve, (..., steps); a time may be infinite."""
        if self.name == "area":
            return np.asarray(curves @ _weights(steps))
        if self.name == "final":
            return curves[..., -1]
        if self.name == "best":
            return np.asarray((np.max if self.higher_is_better else np.min)(curves, axis=-1))
        sign = 1.0 if self.higher_is_better else -1.0
        reached = sign * curves >= sign * float(self.threshold or 0.0)
        return np.where(reached.any(axis=-1), steps[np.argmax(reached, axis=-1)], np.inf)


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
    number = Summary(summary, threshold, table.higher_is_better)
    number.check(table)
    records = []
    for algorithm in table.algorithms:
        for task in table.tasks:
            steps, scores = table.curves(algorithm, task)
            for run, row in enumerate(scores):
                seen = ~np.isnan(row)
                score = float(number.of(steps[seen], row[None, seen])[0]) if seen.any() else None
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


def summarized(
    algorithm: str,
    steps: FloatArray,
    at_steps: Sequence[Strata],
    metric: Metric,
    summary: Summary,
    rule: Rule,
) -> Estimate:
    """Return one number about an algorithm's aggregate curve."""
    strata, of_tasks = at_steps[0], on_tasks(metric, at_steps[0].n_tasks)
    values = np.array([float(of_tasks.value(one)) for one in at_steps])
    value = float(summary.of(steps, values[None, :])[0])
    found, fault = NO_INTERVAL, None
    if strata.counts.max() == 1:
        fault = "interval not estimable from one run per task"
    else:
        found = _summary_interval(steps, at_steps, metric, values, summary, rule)
        is_time = summary.name == "time_to_threshold"
        if is_time and np.isinf(found.high):
            often = "not always" if np.isfinite(found.low) else "seldom or never"
            shown = f"the threshold {summary.threshold:g}"
            fault = f"{shown} is {often} reached by the resampled curves"
        else:
            found, fault = checked(found)
        if fault is None and found.method == "percentile" and (is_time or rule.method == "auto"):
            fault = "the interval is from resamples, and too short with few runs"
    if fault is not None:
        warn(f"{summary.name} of {algorithm}: {fault}")
    ends = found.low, found.high, rule.level, found.method
    name = f"{summary.name}({metric.name})"
    return Estimate(algorithm, name, None, value, *ends, strata.n_runs, strata.n_tasks)


def _summary_interval(
    steps: FloatArray,
    at_steps: Sequence[Strata],
    metric: Metric,
    values: FloatArray,
    summary: Summary,
    rule: Rule,
) -> Interval:
    """Return the interval of one number about a curve; runs are drawn as whole curves."""

    def at(place: int) -> Interval:
        strata, auto = at_steps[place], replace(rule, method="auto")
        return interval_at(strata, Noise.of(strata), metric, auto)

    first, of_tasks = at_steps[0], on_tasks(metric, at_steps[0].n_tasks)
    students = rule.method == "auto" and bool(np.isfinite(values).all())
    if students and summary.name == "final":
        return at(-1)
    weights = _weights(steps)
    value = float(weights @ values)
    if students and summary.name == "area" and metric.each is not None:
        of_runs = weights @ np.stack([metric.each(one.values) for one in at_steps])
        areas = Strata(of_runs, first.starts, first.same_runs)
        exact = standard_error(areas, metric_named("mean"), Noise.of(areas), rule)
        return replace(exact, value=value, bounds=metric.bounds).interval(rule.level)
    # The same key: the same runs at every step.
    drawn = np.stack([drawn_of(one, of_tasks, rule).values for one in at_steps], axis=1)
    if not students or summary.name == "time_to_threshold" or not np.isfinite(drawn).all():
        return Drawn(math.nan, summary.of(steps, drawn)).interval(rule.level)
    # The variance of resamples is (R - 1)/R of the unbiased one.
    noise = (drawn - values) * math.sqrt(first.mean_runs / max(first.mean_runs - 1.0, 1.0))
    if summary.name == "best":
        best = int(values.argmax() if summary.higher_is_better else values.argmin())
        return _without_luck(at(best), noise, values, summary.higher_is_better)
    area = Strata(weights @ np.stack([one.values for one in at_steps]), first.starts)
    df = satterthwaite(area.task_variances / area.counts, np.maximum(area.counts - 1.0, 1.0))
    error = float((noise @ weights).std(ddof=1))
    return Student(value, error, float(df), metric.bounds).interval(rule.level)


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
    low, high = (luck, 0.0) if higher_is_better else (0.0, luck)
    return Interval(found.low - low, found.high + high, found.method)


def _weights(steps: FloatArray) -> FloatArray:
    """Return the weight of each step in a mean height by the trapezoidal rule."""
    if steps.size == 1:
        return np.ones(1)
    widths = np.diff(steps)
    weights = np.zeros(steps.size)
    weights[:-1] += widths / 2.0
    weights[1:] += widths / 2.0
    return np.asarray(weights / (steps[-1] - steps[0]))


def interval_at(strata: Strata, noise: Noise, metric: Metric, rule: Rule) -> Interval:
    """Return the interval of a metric at one step, as that of an estimate."""
    if metric.value is median and strata.n_tasks == 1:
        _, low, high = median_interval(strata.values, level=rule.level)
        return Interval(low, high, "percentile")
    return spread_of(strata, metric, noise, rule).interval(rule.level)
