"""Learning curves: a metric at each step with its band.

Numbers about whole curves are in :mod:`gnomon.stats.curve_summaries`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.results import Results, Row, SeriesRecord, generator, made_by, recorded
from gnomon.scores.plausibility import check_scales
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.steps import Grid, early_ends, on_grid
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import name_dependent_runs, shared_tasks, warn
from gnomon.stats.curve_summaries import CurveSummary, Summary, interval_at, summarized
from gnomon.stats.estimates import Estimates, on_tasks
from gnomon.stats.intervals import Method, Noise, Rule, checked, shared_effects, variances_to_use
from gnomon.stats.metrics import Metric, Metrics, metrics_for
from gnomon.stats.samples import Strata
from gnomon.tables import percent

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
    number = Summary(summary, threshold, higher)
    with recorded() as notes:
        number.check(scores)
        along = _strata_by_step(on_grid(scores, grid), complete=True)
        found = [
            summarized(name, *of, metric, number, rule)
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
    shown, fault = checked(interval_at(strata, noise, metric, rule))
    return value, shown.low, shown.high, fault


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
