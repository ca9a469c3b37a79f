"""Learning curves: a metric at each step with its band, and numbers about whole curves.

A run is drawn with its whole curve: one index for all its steps. So bands at different steps come
from the same resamples, and what is computed across steps (an area, a time to a threshold, the best
so far) has a valid interval, which it has not if every step draws its own runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.results import Results, Row, generator, made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap.resamples import Resamples, draw_key
from gnomon.stats.estimates import Estimate, Estimates, finite_or_none, shared_tasks, warn
from gnomon.stats.intervals import Interval, Method, checked, interval_of, percentile
from gnomon.stats.metrics import Metric, Metrics, metrics_for
from gnomon.stats.strata import Strata

__all__ = ["Curve", "CurveSummary", "Curves", "curves", "summarize_runs"]

CurveSummary = Literal["area", "best", "final", "time_to_threshold"]

#: Steps that people see of a curve.
MOST_STEPS = 12

#: From steps and curves, (..., steps), to one number about each curve.
Reduce = Callable[[FloatArray, FloatArray], FloatArray]

_COLUMNS = ("step", "value", "low", "high")


@dataclass(frozen=True, eq=False)
class Curve:
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

    Examples
    --------
    >>> x = np.array([0.0, 1.0])
    >>> Curve("dqn", "iqm", x, x, x - 1, x + 1, 0.95).as_records()[0]
    {'algorithm': 'dqn', 'metric': 'iqm', 'step': 0.0, 'value': 0.0, 'low': -1.0, 'high': 1.0}
    """

    algorithm: str
    metric: str
    step: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    level: float

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON, steps and values as lists."""
        columns = {name: getattr(self, name).tolist() for name in _COLUMNS}
        lists = {name: [finite_or_none(x) for x in column] for name, column in columns.items()}
        return {"algorithm": self.algorithm, "metric": self.metric, **lists}

    def as_records(self) -> list[dict[str, Any]]:
        """Return one mapping for each step, fit for JSON."""
        key, lists = {"algorithm": self.algorithm, "metric": self.metric}, self.as_record()
        rows = zip(*(lists[name] for name in _COLUMNS), strict=True)
        return [key | dict(zip(_COLUMNS, row, strict=True)) for row in rows]


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Results[Curve]):
    """Metrics of every algorithm along the steps; see :func:`curves`.

    People see the first step, the last and some between.

    Examples
    --------
    >>> x = np.arange(100.0)
    >>> found = Curves((Curve("dqn", "iqm", x, x, x - 1, x + 1, 0.95),))
    >>> len(found.as_records()), len(found.rows())
    (100, 12)
    """

    drawn_by = "gnomon.plot.statistics:draw_curves"

    @property
    def title(self) -> str | None:
        """The confidence level of the bands."""
        return f"level {self[0].level:.0%}" if self.records else None

    def as_records(self) -> list[dict[str, Any]]:
        """Return a mapping for each step of each curve."""
        return [record for one in self for record in one.as_records()]

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
    scores: ScoreTable,
    metrics: Metrics = ...,
    *,
    summary: None = None,
    level: float = ...,
    method: Method = ...,
    n_resamples: int = ...,
    gamma: float | None = ...,
    step: str = ...,
    rng: np.random.Generator | int | None = ...,
) -> Curves: ...
@overload
def curves(
    scores: ScoreTable,
    metrics: Metrics = ...,
    *,
    summary: CurveSummary,
    threshold: float | None = ...,
    level: float = ...,
    n_resamples: int = ...,
    gamma: float | None = ...,
    rng: np.random.Generator | int | None = ...,
) -> Estimates: ...
def curves(
    scores: ScoreTable,
    metrics: Metrics = "iqm",
    *,
    summary: CurveSummary | None = None,
    threshold: float | None = None,
    level: float = 0.95,
    method: Method = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    step: str = "step",
    rng: np.random.Generator | int | None = None,
) -> Curves | Estimates:
    """Return metrics at every step that all runs of an algorithm have, or a number about the curve.

    Parameters
    ----------
    scores : ScoreTable
        With a column ``step``.
    metrics : str, Metric or sequence of them
        As in :func:`~gnomon.stats.estimates.estimate`.
    summary : str, optional
        One number about the curve of the metric instead, with a percentile interval from whole runs
        resampled: ``area`` (its mean over the steps' range, by the trapezoidal rule), ``best``,
        ``final``, or ``time_to_threshold`` (the first step that reaches it).
    threshold : float, optional
        For ``time_to_threshold``.
    level : float
        Confidence level at each step.
    method : str
        Of the bands, as in :func:`~gnomon.stats.estimates.estimate`.
    n_resamples : int
        Number of resamples.
    gamma : float, optional
        Target of the optimality gap.
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
        The table has no steps, an algorithm has no step that all its runs share, or a threshold is
        missing.

    Warns
    -----
    DegenerateScoresWarning
        Tasks or steps are left out because some run lacks them; or something is not estimable at
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
    wanted = metrics_for(metrics, gamma=gamma, higher_is_better=scores.higher_is_better)
    draws = generator(rng)
    settings = made_by(
        rng,
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        level=level,
        n_resamples=n_resamples,
        gamma=gamma,
    )
    with recorded() as notes:
        if summary is None:
            drawn = tuple(_aggregate(scores, wanted, level, method, n_resamples, draws))
        else:
            reduce = _summary(summary, threshold, scores.higher_is_better)
            found = [
                one
                for metric in wanted
                for one in _summarized(
                    scores, summary, reduce, metric, threshold, level, n_resamples, draws
                )
            ]
    if summary is None:
        return Curves(drawn, settings | {"method": method, "step": step}, tuple(notes))
    settings |= {"method": "percentile", "summary": summary, "threshold": threshold}
    return Estimates(tuple(found), settings, tuple(notes))


def _aggregate(
    table: ScoreTable,
    metrics: Sequence[Metric],
    level: float,
    method: Method,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[Curve]:
    """Yield the metrics of each algorithm along its steps."""
    for algorithm, (steps, at_steps) in _strata_by_step(table).items():
        key = draw_key(rng)
        for metric in metrics:
            rows = [_banded(x, metric, method, level, n_resamples, key) for x in at_steps]
            faults = Counter(fault for *_, fault in rows if fault is not None)
            for fault, n in faults.items():
                where = "" if n == len(rows) else f" at {n} of {len(rows)} steps"
                warn(f"{metric.name} of {algorithm}{where}: {fault}")
            value, low, high = np.array([ends for *ends, _ in rows]).T
            yield Curve(algorithm, metric.name, steps, value, low, high, level)


def _banded(
    strata: Strata,
    metric: Metric,
    method: Method,
    level: float,
    n_resamples: int,
    key: np.uint64,
) -> tuple[float, float, float, str | None]:
    """Return the metric at one step, the ends of its interval, and what is wrong with them."""
    value = metric.value(strata)
    if not np.isfinite(value):
        return np.nan, np.nan, np.nan, "not estimable, some runs are infinite (censored)"
    if strata.counts.max() == 1:
        return value, np.nan, np.nan, "band not estimable from one run per task"
    resamples = Resamples(strata, n_resamples=n_resamples, key=key)
    found = interval_of(metric, value, resamples, method=method, level=level)
    shown, fault = checked(found)
    return value, shown.low, shown.high, fault


def _along(
    at_steps: Sequence[Strata], metric: Metric, n_resamples: int, key: np.uint64
) -> tuple[FloatArray, FloatArray]:
    """Return the metric at each step, and in every resample, (n_resamples, steps)."""
    values = np.array([metric.value(strata) for strata in at_steps])
    # One key and one shape: every step draws the same runs.
    drawn = [Resamples(strata, n_resamples=n_resamples, key=key).of(metric) for strata in at_steps]
    return values, np.stack(drawn, axis=1)


def _strata_by_step(table: ScoreTable) -> dict[str, tuple[FloatArray, list[Strata]]]:
    """Return for each algorithm its common steps and its scores at each of them."""
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
        # A run without any of these scores is a missing run; a step that some run lacks goes.
        at_common = [scores[~np.isnan(scores).all(axis=1)] for scores in at_common]
        complete = ~np.any([np.isnan(scores).any(axis=0) for scores in at_common], axis=0)
        n_all = np.unique(np.concatenate([steps for steps, _ in curves])).size
        if not complete.any():
            raise ScoreDataError(f"{algorithm}: expected a step that all runs have; found none")
        if complete.sum() < n_all:
            warn(f"{algorithm}: {n_all - complete.sum()} of {n_all} steps left out, not all runs "
                 "have them")  # fmt: skip
        kept = np.flatnonzero(complete)
        strata = [Strata.from_runs([scores[:, i] for scores in at_common]) for i in kept]
        found[algorithm] = (common[kept], strata)
    return found


def _summarized(
    table: ScoreTable,
    summary: CurveSummary,
    reduce: Reduce,
    metric: Metric,
    threshold: float | None,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[Estimate]:
    """Yield one number about each algorithm's aggregate curve, whole runs resampled."""
    for algorithm, (steps, at_steps) in _strata_by_step(table).items():
        value, replicates = _along(at_steps, metric, n_resamples, draw_key(rng))
        drawn = percentile(reduce(steps, replicates), level)
        interval, fault = _checked(summary, threshold, drawn)
        strata = at_steps[0]
        if strata.counts.max() == 1:
            fault = "interval not estimable from one run per task"
        if fault is not None:
            warn(f"{summary} of {algorithm}: {fault}")
        yield Estimate(
            algorithm,
            f"{summary}({metric.name})",
            float(reduce(steps, value[None, :])[0]),
            interval.low,
            interval.high,
            level,
            interval.method,
            strata.n_runs,
            strata.n_tasks,
            n_resamples,
            interval.mc_error,
        )


def _checked(
    summary: CurveSummary, threshold: float | None, interval: Interval
) -> tuple[Interval, str | None]:
    """Return an interval and what is wrong with it; an infinite time is that of no arrival."""
    if summary == "time_to_threshold" and np.isinf(interval.high):
        often = "not always" if np.isfinite(interval.low) else "seldom or never"
        return interval, f"the threshold {threshold:g} is {often} reached by the resampled curves"
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
    reduce = _summary(summary, threshold, table.higher_is_better)
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


def _summary(summary: CurveSummary, threshold: float | None, higher_is_better: bool) -> Reduce:
    """Return the function of (steps, curves) that reduces the last axis."""
    if summary == "time_to_threshold":
        if threshold is None:
            raise ScoreDataError("time_to_threshold: expected a threshold; found none")
        return lambda steps, x: _first_time(steps, x, threshold, higher_is_better)
    if summary == "area":
        return _mean_height
    if summary == "best":
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
