"""Learning curves: a metric at each step with its band, and numbers about whole curves.

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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args, overload

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, check_word
from gnomon.results import Results, Row, SeriesRecord, generator, made_by, recorded
from gnomon.scores.plausibility import check_scales
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.steps import Grid, early_ends, on_grid, refuse_unequal_lengths
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import median_interval
from gnomon.stats.cautions import name_dependent_runs, shared_tasks, warn
from gnomon.stats.estimates import Estimate, Estimates, drawn_of, on_tasks, spread_of
from gnomon.stats.intervals import (
    NO_INTERVAL,
    Drawn,
    Interval,
    Method,
    Noise,
    Rule,
    Student,
    checked,
    satterthwaite,
    shared_effects,
    standard_error,
    variances_to_use,
)
from gnomon.stats.metrics import Metric, Metrics, median, metric_named, metrics_for
from gnomon.stats.samples import Strata
from gnomon.tables import percent

CurveSummary = Literal["area", "best", "final", "time_to_threshold"]

#: Summaries that depend on how long a curve is, in the plural.
OF_LENGTH: Mapping[str, str] = {
    "area": "areas",
    "best": "best scores",
    "final": "final scores",
}

#: From steps and curves, (..., steps), to one number about each curve.
Reduce = Callable[[FloatArray, FloatArray], FloatArray]

#: Steps that people see of a curve.
MOST_STEPS = 12


@dataclass(frozen=True, eq=False)
class Curve(SeriesRecord):
    """One metric of one algorithm along its steps.

    Parameters
    ----------
    algorithm, metric : str
        What is shown.
    step : ndarray of float, shape (steps,)
        Ascending.
    value, low, high : ndarray of float, shape (steps,)
        The metric and its pointwise band; NaN where not estimable.
    level : float
        Confidence level at each step.
    task : str or None
        The task, or None for all together.
    """

    algorithm: str
    metric: str
    step: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    task: str | None = None

    key = ("algorithm", "metric", "task")
    series = ("step", "value", "low", "high")


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Results[Curve]):
    """Metrics of every algorithm along the steps; see :func:`curves`.

    The printed table has the first step, the last and some between.
    """

    columns = ("algorithm", "metric", "step", "value", "low", "high")
    drawn_by = "gnomon.plot.lines:curve_figure"

    @property
    def title(self) -> str | None:
        """The confidence level of the bands."""
        return f"{percent(self[0].level)} intervals" if self.records else None

    def rows(self) -> Sequence[Row]:
        """Return as many steps of each curve as a reader takes in."""
        return [record for one in self for record in _some(one.as_records())]


def _some(records: Sequence[Row]) -> list[Row]:
    """Return first, last and evenly chosen records between."""
    n = len(records)
    count = min(n, MOST_STEPS)
    return [records[round(i * (n - 1) / max(count - 1, 1))] for i in range(count)]


@overload
def curves(
    scores: Scores,
    metrics: Metrics = ...,
    *,
    summary: None = None,
    level: float = ...,
    method: Method = ...,
    n_resamples: int = ...,
    gamma: float | None = ...,
    grid: Grid = ...,
    step: str = ...,
    rng: np.random.Generator | int | None = ...,
) -> Curves: ...
@overload
def curves(
    scores: Scores,
    metrics: Metrics = ...,
    *,
    summary: CurveSummary,
    threshold: float | None = ...,
    level: float = ...,
    method: Method = ...,
    n_resamples: int = ...,
    gamma: float | None = ...,
    grid: Grid = ...,
    rng: np.random.Generator | int | None = ...,
) -> Estimates: ...
def curves(
    scores: Scores,
    metrics: Metrics = "iqm",
    *,
    summary: CurveSummary | None = None,
    threshold: float | None = None,
    level: float = 0.95,
    method: Method = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    grid: Grid = None,
    step: str = "step",
    rng: np.random.Generator | int | None = None,
) -> Curves | Estimates:
    """Return metrics at every step that the runs of an algorithm share, or a number on the curve.

    A run that ends early is part of the curve as far as it goes; a step is shown while at least
    half of the runs on each task go on.

    Parameters
    ----------
    scores : ScoreTable
        With a column ``step``.
    metrics : str, Metric or sequence of them
        As in :func:`~gnomon.stats.estimates.estimate`.
    summary : str, optional
        One number about the curve of the metric instead: ``area`` (its mean over the steps' range,
        by the trapezoidal rule), ``best``, ``final``, or ``time_to_threshold`` (the first step
        that reaches it); see below.
    threshold : float, optional
        For ``time_to_threshold``.
    level : float
        Confidence level at each step.
    method : str
        Of the bands, as in :func:`~gnomon.stats.estimates.estimate`; of a summary ``auto``
        or ``percentile``.
    n_resamples : int
        Number of resamples.
    gamma : float, optional
        Target of the optimality gap.
    grid : int or "shared", optional
        As many evenly spaced steps, or those that runs share, as in
        :func:`gnomon.scores.on_grid`; if not given, a grid where runs do not share steps.
    step : str
        What a step is called in a figure.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 if not given.

    Returns
    -------
    Curves or Estimates
        For each algorithm the metrics in order; or, with `summary`, estimates of the metric
        ``area(iqm)`` and so on. A time is infinite if never reached.

    Raises
    ------
    ScoreDataError
        The table has no steps, an algorithm has no step that all its runs share, a threshold is
        missing, or runs on a task end at different steps and their areas, best or final scores are
        wanted.

    Warns
    -----
    DegenerateScoresWarning
        Runs do not share steps, and a grid is used; runs end early; tasks or steps are left out
        because some run lacks them; or something is not estimable at
        some steps: a band from one run per task or from scores that do not vary, a metric of
        infinite scores.

    Examples
    --------
    >>> from gnomon.stats import curves
    >>> scores = ScoreTable.from_arrays({"dqn": [[[1, 2], [3, 4]], [[2, 3], [4, 5]]]})
    >>> (curve,) = curves(scores, "mean")
    >>> curve.step, curve.value
    (array([0., 1.]), array([2.5, 3.5]))
    >>> (area,) = curves(scores, "mean", summary="area")
    >>> area.metric, area.value
    ('area(mean)', 3.0)
    """
    scores = table_of(scores, curves=True)
    rule = Rule.of(generator(rng), level=level, method=method, n_resamples=n_resamples)
    higher = scores.higher_is_better
    wanted = metrics_for(metrics, gamma=gamma, higher_is_better=higher)
    names, last = [metric.name for metric in wanted], scores.last_step()
    check_scales(last, names, tasks=shared_tasks(last), gamma=gamma)
    settings = made_by(
        rng,
        scale=scores.scale,
        higher_is_better=higher,
        level=level,
        method=method,
        n_resamples=n_resamples,
        gamma=gamma,
    )
    if summary is None:
        with recorded() as notes:
            along = _strata_by_step(on_grid(scores, grid))
            drawn = tuple(_aggregate(along, wanted, rule))
        return Curves(drawn, settings | {"step": step}, tuple(notes))
    reduce = _reducing(summary, threshold, higher)
    with recorded() as notes:
        if summary in OF_LENGTH:
            refuse_unequal_lengths(scores, OF_LENGTH[summary])
        along = _strata_by_step(on_grid(scores, grid), complete=True)
        found = [
            _summarized(name, *of, metric, _Summary(summary, threshold, higher, reduce), rule)
            for metric in wanted
            for name, of in along.items()
        ]
    settings |= {
        "title": f"{summary} of the curve of the metric, not the mean over the curves of the runs",
        "summary": summary,
        "threshold": threshold,
    }
    return Estimates(tuple(found), settings, tuple(notes))


def _aggregate(
    along: Mapping[str, tuple[FloatArray, Sequence[Strata]]], metrics: Sequence[Metric], rule: Rule
) -> Iterator[Curve]:
    """Yield the metrics of each algorithm along its steps."""
    noise = _noise(along)
    for algorithm, (steps, at_steps) in along.items():
        if rule.method == "auto":
            name_dependent_runs(at_steps[-1], noise[algorithm, steps[-1]].effect, algorithm)
        for metric in metrics:
            rows = [
                _banded(strata, noise[algorithm, step], metric, rule)
                for step, strata in zip(steps.tolist(), at_steps, strict=True)
            ]
            faults = Counter(fault for *_, fault in rows if fault is not None)
            for fault, n in faults.items():
                where = "" if n == len(rows) else f" at {n} of {len(rows)} steps"
                warn(f"{metric.name} of {algorithm}{where}: {fault}")
            value, low, high = np.array([ends for *ends, _ in rows]).T
            yield Curve(algorithm, metric.name, steps, value, low, high, rule.level)


def _noise(
    along: Mapping[str, tuple[FloatArray, Sequence[Strata]]],
) -> dict[tuple[str, float], Noise]:
    """Return the noise of each algorithm at each step, moderated as that of a table."""
    at_step: dict[float, dict[str, Strata]] = {}
    for name, (steps, at_steps) in along.items():
        for step, strata in zip(steps.tolist(), at_steps, strict=True):
            at_step.setdefault(step, {})[name] = strata
    noise = {}
    for step, samples in at_step.items():
        own = np.stack([one.task_variances for one in samples.values()])
        dfs = np.stack([one.counts - 1.0 for one in samples.values()])
        effects = shared_effects(samples, "moderated")
        for name, row in zip(samples, variances_to_use(own, dfs, "moderated"), strict=True):
            noise[name, step] = Noise(row, effects.get(name))
    return noise


def _banded(
    strata: Strata, noise: Noise, metric: Metric, rule: Rule
) -> tuple[float, float, float, str | None]:
    """Return the metric at one step, the ends of its interval, and what is wrong with them."""
    value = float(on_tasks(metric, strata.n_tasks).value(strata))
    if not np.isfinite(value):
        return np.nan, np.nan, np.nan, "not estimable, some runs are infinite (censored)"
    if strata.counts.max() == 1:
        return value, np.nan, np.nan, "band not estimable from one run per task"
    shown, fault = checked(_interval_at(strata, noise, metric, rule))
    return value, shown.low, shown.high, fault


def _interval_at(strata: Strata, noise: Noise, metric: Metric, rule: Rule) -> Interval:
    """Return the interval of a metric at one step, as that of an estimate."""
    if metric.value is median and strata.n_tasks == 1:
        _, low, high = median_interval(strata.values, level=rule.level)
        return Interval(low, high, "percentile")
    return spread_of(strata, metric, noise, rule).interval(rule.level)


def _strata_by_step(
    table: ScoreTable, *, complete: bool = False
) -> dict[str, tuple[FloatArray, list[Strata]]]:
    """Return for each algorithm its common steps and its scores at each of them.

    With `complete` only steps that every run has; else those that all runs have which have not
    ended, as long as half of each task's runs go on.
    """
    if table.n_steps < 2:
        raise ScoreDataError("expected a table with several steps for curves; found one")
    tasks = shared_tasks(table.last_step())
    found = {}
    for algorithm in table.algorithms:
        curves = [table.curves(algorithm, task) for task in tasks]
        common = curves[0][0]
        for steps, _ in curves[1:]:
            common = np.intersect1d(common, steps)
        at_common = [scores[:, np.isin(steps, common)] for steps, scores in curves]
        # A run without any of these scores is a missing run.
        known = [~np.isnan(scores).all(axis=1) for scores in at_common]
        at_common = [scores[rows] for scores, rows in zip(at_common, known, strict=True)]
        labels = [
            np.array(table.curve_labels(algorithm, task), dtype=object)[rows]
            for task, rows in zip(tasks, known, strict=True)
        ]
        shown = np.all([_shown(scores, complete=complete) for scores in at_common], axis=0)
        n_all = np.unique(np.concatenate([steps for steps, _ in curves])).size
        if not shown.any():
            raise ScoreDataError(f"{algorithm}: expected a step that all runs have; found none")
        if shown.sum() < n_all:
            warn(f"{algorithm}: {n_all - shown.sum()} of {n_all} steps left out, not all runs "
                 "have them")  # fmt: skip
        kept = np.flatnonzero(shown)
        if not complete and (early := early_ends(table, algorithm, common[kept[-1]])):
            warn(early)
        strata = []
        for i in kept:
            there = [~np.isnan(x[:, i]) for x in at_common]
            runs = [x[rows, i] for x, rows in zip(at_common, there, strict=True)]
            own = [one[rows] for one, rows in zip(labels, there, strict=True)]
            strata.append(Strata.from_runs(runs).labelled(np.concatenate(own)))
        found[algorithm] = (common[kept], strata)
    return found


def _shown(scores: FloatArray, *, complete: bool) -> npt.NDArray[np.bool_]:
    """Return at which steps the runs of a task, (runs, steps), are to be shown."""
    there = ~np.isnan(scores)
    if complete:
        return np.asarray(there.all(axis=0))
    goes_on = there[:, ::-1].cumsum(axis=1)[:, ::-1] > 0
    return np.asarray((there | ~goes_on).all(axis=0) & (2 * there.sum(axis=0) >= len(there)))


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


@dataclass(frozen=True)
class _Summary:
    """A number about a curve, and the function that reduces curves, (..., steps), to it."""

    name: CurveSummary
    threshold: float | None
    higher_is_better: bool
    reduce: Reduce


def _summarized(
    algorithm: str,
    steps: FloatArray,
    at_steps: Sequence[Strata],
    metric: Metric,
    summary: _Summary,
    rule: Rule,
) -> Estimate:
    """Return one number about an algorithm's aggregate curve."""
    strata, of_tasks = at_steps[0], on_tasks(metric, at_steps[0].n_tasks)
    values = np.array([float(of_tasks.value(one)) for one in at_steps])
    value = float(summary.reduce(steps, values[None, :])[0])
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
    summary: _Summary,
    rule: Rule,
) -> Interval:
    """Return the interval of one number about a curve; runs are drawn as whole curves."""

    def at(place: int) -> Interval:
        strata, auto = at_steps[place], replace(rule, method="auto")
        return _interval_at(strata, Noise.of(strata), metric, auto)

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
        return Drawn(math.nan, summary.reduce(steps, drawn)).interval(rule.level)
    # The variance of resamples is (R - 1)/R of the unbiased one.
    noise = (drawn - values) * math.sqrt(first.mean_runs / max(first.mean_runs - 1.0, 1.0))
    if summary.name == "best":
        best = int(values.argmax() if summary.higher_is_better else values.argmin())
        return _without_luck(at(best), noise, values, summary.higher_is_better)
    area = Strata(weights @ np.stack([one.values for one in at_steps]), first.starts)
    df = satterthwaite(area.task_variances / area.counts, np.maximum(area.counts - 1.0, 1.0))
    error = float((noise @ weights).std(ddof=1))
    return Student(value, error, float(df), metric.bounds).interval(rule.level)


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


def _reducing(summary: CurveSummary, threshold: float | None, higher_is_better: bool) -> Reduce:
    """Return the function of (steps, curves) that reduces the last axis."""
    check_word("summary", summary, get_args(CurveSummary))
    if summary == "time_to_threshold":
        if threshold is None:
            raise ScoreDataError("time_to_threshold: expected a threshold; found none")
        return lambda steps, x: _first_time(steps, x, threshold, higher_is_better)
    if summary == "area":
        return lambda steps, x: np.asarray(x @ _weights(steps))
    if summary == "best":
        return lambda steps, x: x.max(axis=-1) if higher_is_better else x.min(axis=-1)
    return lambda steps, x: x[..., -1]


def _first_time(
    steps: FloatArray, curves: FloatArray, threshold: float, higher_is_better: bool
) -> FloatArray:
    """Return the first step at which each curve is at the threshold or better, else infinity."""
    reached = curves >= threshold if higher_is_better else curves <= threshold
    return np.where(reached.any(axis=-1), steps[np.argmax(reached, axis=-1)], np.inf)
