"""Learning curves: a metric at each step with its band, and numbers about whole curves.

A run is drawn with its whole curve: one index for all its steps. So bands at different steps come
from the same resamples, and what is computed across steps (an area, a time to a threshold, the best
so far) has a valid interval, which it has not if every step draws its own runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, overload

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, check_word
from gnomon.results import Results, Row, finite_or_none, generator, made_by, recorded
from gnomon.scores.steps import Grid, early_ends, on_grid, refuse_unequal_lengths
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import draw_key
from gnomon.stats.cautions import shared_tasks, warn
from gnomon.stats.estimates import Estimates, interval_of
from gnomon.stats.intervals import Method, checked, moderated_variances
from gnomon.stats.learning_curves.curve_summaries import (
    OF_LENGTH,
    CurveSummary,
    SummaryOptions,
    summarized,
)
from gnomon.stats.metrics import Metric, Metrics, metrics_for
from gnomon.stats.samples import Strata

#: Steps that people see of a curve.
MOST_STEPS = 12

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

    drawn_by = "gnomon.plot.lines:curve_figure"

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
    grid: Grid = ...,
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
    method: Method = ...,
    n_resamples: int = ...,
    gamma: float | None = ...,
    grid: Grid = ...,
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
        by the trapezoidal rule), ``best``, ``best_corrected`` (the same number, with an interval
        that holds over the choice of the step), ``final``, or ``time_to_threshold`` (the first step
        that reaches it); see :mod:`gnomon.stats.learning_curves.curve_summaries`.
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
    check_word("method", method, get_args(Method))
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
    settings["method"] = method
    if summary is None:
        with recorded() as notes:
            scores = on_grid(scores, grid)
            drawn = tuple(_aggregate(scores, wanted, level, method, n_resamples, draws))
        return Curves(drawn, settings | {"step": step}, tuple(notes))
    options = SummaryOptions(
        summary, threshold, scores.higher_is_better, level, method, n_resamples
    )
    with recorded() as notes:
        if summary in OF_LENGTH:
            refuse_unequal_lengths(scores, OF_LENGTH[summary])
        along = _strata_by_step(on_grid(scores, grid), complete=True)
        found = [one for metric in wanted for one in summarized(along, metric, options, draws)]
    settings |= {
        "title": f"{summary} of the aggregate curve, which is not that of each run's own",
        "summary": summary,
        "threshold": threshold,
    }
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
    key, found = draw_key(rng), _strata_by_step(table)
    variances = _moderated(found)
    for algorithm, (steps, at_steps) in found.items():
        for metric in metrics:
            rows = [
                _banded(x, variances[algorithm, step], metric, method, level, n_resamples, key)
                for step, x in zip(steps.tolist(), at_steps, strict=True)
            ]
            faults = Counter(fault for *_, fault in rows if fault is not None)
            for fault, n in faults.items():
                where = "" if n == len(rows) else f" at {n} of {len(rows)} steps"
                warn(f"{metric.name} of {algorithm}{where}: {fault}")
            value, low, high = np.array([ends for *ends, _ in rows]).T
            yield Curve(algorithm, metric.name, steps, value, low, high, level)


def _moderated(
    found: Mapping[str, tuple[FloatArray, Sequence[Strata]]],
) -> dict[tuple[str, float], FloatArray]:
    """Return the variances of each algorithm at each step, moderated as those of a table."""
    at_step: dict[float, dict[str, Strata]] = {}
    for name, (steps, at_steps) in found.items():
        for step, strata in zip(steps.tolist(), at_steps, strict=True):
            at_step.setdefault(step, {})[name] = strata
    variances = {}
    for step, samples in at_step.items():
        own = np.stack([one.task_variances for one in samples.values()])
        dfs = np.stack([one.counts - 1 for one in samples.values()])
        rows = moderated_variances(own, np.where(np.isfinite(own), dfs, 0))
        for name, row, plain in zip(samples, rows, own, strict=True):
            variances[name, step] = np.where(np.isnan(row), plain, row)
    return variances


def _banded(
    strata: Strata,
    variances: FloatArray,
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
    options: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "key": key}
    found = interval_of(metric, value, strata, variances, method=method, **options)
    shown, fault = checked(found)
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
        at_common = [scores[~np.isnan(scores).all(axis=1)] for scores in at_common]
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
        strata = [Strata.from_runs([x[~np.isnan(x[:, i]), i] for x in at_common]) for i in kept]
        found[algorithm] = (common[kept], strata)
    return found


def _shown(scores: FloatArray, *, complete: bool) -> npt.NDArray[np.bool_]:
    """Return at which steps the runs of a task, (runs, steps), are to be shown."""
    there = ~np.isnan(scores)
    if complete:
        return np.asarray(there.all(axis=0))
    goes_on = there[:, ::-1].cumsum(axis=1)[:, ::-1] > 0
    return np.asarray((there | ~goes_on).all(axis=0) & (2 * there.sum(axis=0) >= len(there)))
