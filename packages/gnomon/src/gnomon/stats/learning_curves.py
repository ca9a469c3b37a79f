"""Learning curves: a metric at each step with its band, and one number about each run's curve."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, check_word, note
from gnomon.printing import percent
from gnomon.results import Results, Row, SeriesRecord, generator, made_by, recorded
from gnomon.scores.checks import check_scales
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.steps import early_ends, on_grid, refuse_unequal_lengths
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import draw_key
from gnomon.stats.cautions import shared_tasks, warn_of_dependent_runs
from gnomon.stats.estimates import on_tasks, spread_of
from gnomon.stats.intervals import (
    Interval,
    Method,
    Noise,
    Rule,
    checked,
    shared_effects,
    variances_to_use,
)
from gnomon.stats.medians import median_interval
from gnomon.stats.metrics import Metric, Metrics, median, metrics_for
from gnomon.stats.strata import Strata

CurveSummary = Literal["area", "best", "final", "time_to_threshold"]

#: Steps that people see of a curve.
MOST_STEPS = 12
#: Summaries that depend on how long a curve is, in the plural.
OF_LENGTH = {"area": "areas", "best": "best scores", "final": "final scores"}


@dataclass(frozen=True, eq=False)
class Curve(SeriesRecord):
    """One metric of one algorithm along its steps; see :class:`Curves`."""

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

    A record has the fields `algorithm`, `metric`, `task` (None for all together), `level`, and
    arrays of shape (steps,): `step`, ascending, and `value, low, high`, the metric and its
    pointwise band, NaN where not estimable. The printed table has the first step, the last and some
    between.
    """

    columns = ("algorithm", "metric", "step", "value", "low", "high")
    drawn_by = "gnomon.plot.lines:curve_figure"

    @property
    def title(self) -> str | None:
        """The confidence level of the bands."""
        return f"{percent(self[0].level)} intervals" if self.records else None

    def rows(self) -> Sequence[Row]:
        """Return the first step of each curve, the last and some between."""
        return [record for one in self for record in _some(one.as_records())]


def _some(records: Sequence[Row]) -> list[Row]:
    """Return first, last and evenly chosen records between."""
    n = len(records)
    count = min(n, MOST_STEPS)
    return [records[round(i * (n - 1) / max(count - 1, 1))] for i in range(count)]


def curves(
    scores: Scores,
    metrics: Metrics = "iqm",
    *,
    level: float = 0.95,
    method: Method = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    grid: int | None = None,
    step: str = "step",
    rng: np.random.Generator | int | None = None,
) -> Curves:
    """Return metrics at every step that the runs of an algorithm share.

    A run that ends early is part of the curve up to its end; a step is shown while at least half
    of the runs on each task continue.

    Parameters
    ----------
    scores : ScoreTable
        With a column ``step``.
    metrics : str, Metric or sequence of them
        As in :func:`~gnomon.stats.estimates.estimate`.
    level : float
        Confidence level at each step.
    method : str
        Method of the bands, as in :func:`~gnomon.stats.estimates.estimate`.
    n_resamples : int
        Number of resamples.
    gamma : float, optional
        Target of the optimality gap.
    grid : int, optional
        A number of evenly spaced steps, as in :func:`gnomon.scores.on_grid`; if not given, a grid
        where runs do not share steps.
    step : str
        Name of a step in figures.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 if not given.

    Returns
    -------
    Curves
        For each algorithm the metrics in order.

    Raises
    ------
    ScoreDataError
        The table has no steps, or an algorithm has no step that all its runs share.

    Warns
    -----
    DegenerateScoresWarning
        Runs do not share steps, and a grid is used; runs end early; tasks or steps are left out
        because some run lacks them; or something is not estimable at some steps: a band from one
        run per task or from scores that do not vary, a metric of infinite scores.

    Examples
    --------
    >>> from gnomon.stats import curves
    >>> scores = ScoreTable.from_arrays({"dqn": [[[1, 2], [3, 4]], [[2, 3], [4, 5]]]})
    >>> (curve,) = curves(scores, "mean")
    >>> curve.step, curve.value
    (array([0., 1.]), array([2.5, 3.5]))
    """
    scores = table_of(scores, curves=True)
    rule = Rule(level, method, n_resamples, draw_key(generator(rng)))
    higher = scores.higher_is_better
    wanted = metrics_for(metrics, gamma=gamma, higher_is_better=higher)
    names, last = [metric.name for metric in wanted], scores.last_step()
    check_scales(last, names, tasks=shared_tasks(last), gamma=gamma)
    with recorded() as notes:
        drawn = tuple(_aggregate(_strata_by_step(on_grid(scores, grid)), wanted, rule))
    settings = made_by(
        rng,
        scale=scores.scale,
        higher_is_better=higher,
        level=level,
        method=method,
        n_resamples=n_resamples,
        gamma=gamma,
        step=step,
    )
    return Curves(drawn, settings, tuple(notes))


def _aggregate(
    along: Mapping[str, tuple[FloatArray, Sequence[Strata]]], metrics: Sequence[Metric], rule: Rule
) -> Iterator[Curve]:
    """Yield the metrics of each algorithm along its steps."""
    noise = _noise(along)
    for algorithm, (steps, at_steps) in along.items():
        if rule.method == "auto":
            warn_of_dependent_runs(at_steps[-1], noise[algorithm, steps[-1]].effect, algorithm)
        for metric in metrics:
            rows = [
                _banded(strata, noise[algorithm, step], metric, rule)
                for step, strata in zip(steps.tolist(), at_steps, strict=True)
            ]
            faults = Counter(fault for *_, fault in rows if fault is not None)
            for fault, n in faults.items():
                where = "" if n == len(rows) else f" at {n} of {len(rows)} steps"
                note(f"{metric.name} of {algorithm}{where}: {fault}")
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
    if metric.value is median and strata.n_tasks == 1:
        interval = Interval(*median_interval(strata.values, level=rule.level)[1:], "percentile")
    else:
        interval = spread_of(strata, metric, noise, rule).interval(rule.level)
    shown, fault = checked(interval)
    return value, shown.low, shown.high, fault


def _strata_by_step(table: ScoreTable) -> dict[str, tuple[FloatArray, list[Strata]]]:
    """Return for each algorithm the steps that are shown, and its scores at each of them."""
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
        shown = np.all([_shown(scores) for scores in at_common], axis=0)
        n_all = np.unique(np.concatenate([steps for steps, _ in curves])).size
        if not shown.any():
            raise ScoreDataError(f"{algorithm}: expected a step that all runs have; found none")
        if shown.sum() < n_all:
            note(f"{algorithm}: {n_all - shown.sum()} of {n_all} steps left out, not all runs "
                 "have them")  # fmt: skip
        kept = np.flatnonzero(shown)
        if early := early_ends(table, algorithm, common[kept[-1]]):
            note(early)
        strata = []
        for i in kept:
            there = [~np.isnan(x[:, i]) for x in at_common]
            runs = [x[rows, i] for x, rows in zip(at_common, there, strict=True)]
            own = [one[rows] for one, rows in zip(labels, there, strict=True)]
            strata.append(Strata.from_runs(runs).labelled(np.concatenate(own)))
        found[algorithm] = (common[kept], strata)
    return found


def _shown(scores: FloatArray) -> npt.NDArray[np.bool_]:
    """Return at which steps the runs of a task are shown: half go on, all of these have scores."""
    there = ~np.isnan(scores)
    goes_on = there[:, ::-1].cumsum(axis=1)[:, ::-1] > 0
    return np.asarray((there | ~goes_on).all(axis=0) & (2 * there.sum(axis=0) >= len(there)))


def summarize_runs(
    scores: Scores, summary: CurveSummary, *, threshold: float | None = None
) -> ScoreTable:
    """Return the table of one number about each run's own curve.

    It is a table of scores like any other, which every estimate and comparison takes.

    Parameters
    ----------
    scores : ScoreTable
        With a column ``step``; steps that a run lacks are passed over.
    summary : str
        ``area`` (the mean over the steps' range, by the trapezoidal rule), ``best``, ``final``, or
        ``time_to_threshold`` (the first step that reaches it), of which lower is better; a run that
        never reaches it is censored.
    threshold : float, optional
        For ``time_to_threshold``.

    Raises
    ------
    ScoreDataError
        A threshold is missing, or runs on a task end at different steps and their areas, best or
        final scores are wanted.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[[1, 5]], [[2, 3]]]})
    >>> summarize_runs(table, "time_to_threshold", threshold=4).runs("dqn", "task_0")
    array([ 1., inf])
    """
    check_word("summary", summary, get_args(CurveSummary))
    is_time, table = summary == "time_to_threshold", table_of(scores, curves=True)
    if is_time and threshold is None:
        raise ScoreDataError("time_to_threshold: expected a threshold; found none")
    if threshold is not None and not math.isfinite(threshold):
        raise ScoreDataError(f"expected a finite threshold, found {threshold}")
    if not is_time:
        refuse_unequal_lengths(table, OF_LENGTH[summary])
    sign, limit = 1.0 if table.higher_is_better else -1.0, float(threshold or 0.0)

    def number(steps: FloatArray, curve: FloatArray) -> float:
        if summary == "final":
            return float(curve[-1])
        if summary == "best":
            return float(sign * np.max(sign * curve))
        if summary == "area":
            length = steps[-1] - steps[0]
            return float(np.trapezoid(curve, steps) / length if length else curve[0])
        reached = np.flatnonzero(sign * curve >= sign * limit)
        return float(steps[reached[0]]) if reached.size else np.inf

    records = []
    for algorithm in table.algorithms:
        for task in table.tasks:
            steps, curves_of_runs = table.curves(algorithm, task)
            labels = table.curve_labels(algorithm, task)
            for run, row in zip(labels, curves_of_runs, strict=True):
                seen = ~np.isnan(row)
                score = number(steps[seen], row[seen]) if seen.any() else None
                key = {"algorithm": algorithm, "task": task, "run": run}
                records.append(key | {"score": score, "censored": score == np.inf})
    return ScoreTable(
        records,
        metric=f"{summary}({table.metric})",
        unit="steps" if is_time else table.unit,
        higher_is_better=table.higher_is_better and not is_time,
        provenance=(*table.provenance, f"{summary} of each run's curve"),
    )
