"""Estimates of metrics of every algorithm, over all tasks or for each, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, get_args

import numpy as np

from gnomon.errors import ScoreDataError, check_word, listed, note, option
from gnomon.printing import p_value
from gnomon.results import FieldRecord, Results, Row, generator, if_known, made_by, recorded
from gnomon.scores.checks import check_scales
from gnomon.scores.reading import Scores
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import draw_key, replicates
from gnomon.stats.cautions import (
    SHARED_FOUND,
    check_target,
    check_tasks,
    dominant_task,
    shared_tasks,
    warn_of_dependent_runs,
    warn_of_missing_runs,
    warn_of_uneven_runs,
)
from gnomon.stats.intervals import (
    NO_INTERVAL,
    Drawn,
    Interval,
    Method,
    Noise,
    Resampling,
    Rule,
    Student,
    Variances,
    checked,
    standard_error,
    table_noise,
)
from gnomon.stats.items import refuse_options, votes_of
from gnomon.stats.medians import MedianProfile, median_interval
from gnomon.stats.metrics import Metric, Metrics, median, metric_list, metric_named, metrics_for
from gnomon.stats.strata import Strata
from gnomon.stats.summary_statistics import scores_or_stand_ins

#: Intervals that a shared effect widens by this factor or more are named.
MUCH_WIDER = 1.1
#: On one task the median is that of its runs.
MEDIAN_OF_RUNS = Metric("median", lambda s: np.median(s.values, axis=-1), of_batch=True)


@dataclass(frozen=True, slots=True)
class Estimate(FieldRecord):
    """One metric of one algorithm, with its interval and how it was made.

    A number that does not exist is NaN here and None in :meth:`as_record`.

    Parameters
    ----------
    algorithm, metric : str
        What was estimated, for example ``"iqm"``.
    task : str or None
        The task, or None for all together.
    value : float
        The estimate.
    low, high : float
        Ends of the interval.
    level : float
        Its confidence level.
    method : str
        How the interval was made: ``student``, ``profile``, ``percentile``, ``expanded``, or
        ``none`` where there is none. For items ``wilson`` if right or wrong, ``effective_wilson``
        for other scores between 0 and 1, ``t`` for unbounded scores; in clusters
        ``cluster_wilson`` and ``cluster_t``.
    n_runs : int or (int, int)
        Runs per task; the fewest and the most where tasks differ.
    n_tasks : int
        Number of tasks, or of items, whose runs are epochs.
    standard_error : float, optional
        For the mean of items; this and the following exist for items only.
    n_clusters : int, optional
        Number of clusters of items.
    """

    algorithm: str
    metric: str
    task: str | None
    value: float
    low: float
    high: float
    level: float
    method: str
    n_runs: int | tuple[int, int]
    n_tasks: int
    _: KW_ONLY
    standard_error: float | None = if_known()
    n_clusters: int | None = if_known()


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Results[Estimate]):
    """Estimates of every algorithm of a table; see :func:`estimate`.

    Examples
    --------
    >>> from gnomon.stats import estimate
    >>> scores = ScoreTable.from_arrays({"dqn": [[1.0, 2.0], [2.0, 4.0], [3.0, 3.0]]})
    >>> print(estimate(scores, ["mean", "iqm"]).where(metric="mean"))
    score, higher is better
    <BLANKLINE>
     algorithm   metric   value     low    high   n_runs   n_tasks
     ─────────────────────────────────────────────────────────────
     dqn         mean       2.5   1.367   3.633        3         2
    """

    columns: ClassVar[tuple[str, ...]] = (
        *("task", "algorithm", "metric", "value", "low", "high", "n_runs", "n_tasks"),
    )
    drawn_by = "gnomon.plot.dots:estimate_figure"

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        # The number of tasks of an estimate for one task is 1.
        of_tasks = all(one.task is not None and one.n_tasks == 1 for one in self)
        return [name for name in super()._shown(rows) if not (of_tasks and name == "n_tasks")]

    @property
    def title(self) -> str | None:
        """What was measured, and which direction is better."""
        return self.settings.get("title")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the interval rule did."""
        by_rule = any(one.method == "student" for one in self)
        return rule_notes(self.settings) if by_rule else ()


def rule_notes(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the interval rule did: moderated variances, effects that runs share."""
    notes = []
    if settings.get("method") == "auto" and settings.get("resampling", "runs") == "runs":
        if settings.get("variances") == "moderated" and settings["n_algorithms"] > 1:
            notes.append("Variances are moderated over the algorithms of the table.")
        notes += _shared_note(settings.get("shared_effects") or {})
    return tuple(notes)


def _shared_note(effects: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield whether runs vary together over tasks, and whose intervals are wider for it."""
    wider = listed([name for name, one in effects.items() if one["widening"] >= MUCH_WIDER])
    p_table = min((one["p_table"] for one in effects.values()), default=1.0)
    if p_table < SHARED_FOUND:
        text = "Runs with the same label vary together over tasks"
        text += f" (all algorithms together, p {p_value(p_table, '= ')})"
        yield text + (f"; this widens the intervals of {wider}." if wider else ".")
    elif wider:
        yield (
            f"Runs with the same label may vary together over tasks: intervals of {wider} are "
            "wider to allow for it."
        )


def estimate(
    scores: Scores,
    metrics: Metrics | None = None,
    *,
    by: str | None = None,
    per_task: bool = False,
    level: float = 0.95,
    method: Method = "auto",
    resampling: Resampling = "runs",
    variances: Variances = "moderated",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator | int | None = None,
) -> Estimates:
    """Estimate metrics of every algorithm of a table, with intervals.

    Algorithms are estimated on the tasks that all of them have. Runs are independent inside each
    task, and the tasks are fixed. The interval is ``value +- t SE``
    (:mod:`gnomon.stats.intervals`), for every metric but the median of three tasks or more, which
    has the profile of its likelihood (:mod:`gnomon.stats.medians`).

    Parameters
    ----------
    scores : ScoreTable
        One score for each run. Or means and standard deviations, or single scores with standard
        errors, which are replaced by runs with these means and deviations.
    metrics : str, Metric or sequence of them, optional
        Names as in :func:`~gnomon.stats.metric_named`; by default ``mean``, ``median`` (of task
        means), ``iqm`` (interquartile mean) and, if it has a target, ``optimality_gap``. For items
        ``mean`` (the default), ``pass@K`` (one of K samples succeeds) and ``pass^K`` (all do).
    by : str, optional
        For items, a column whose groups are estimated separately too.
    per_task : bool
        Whether to estimate each task separately, by default its ``median``. The median of several
        tasks is that of their means; of one task it is that of its runs, with the exact percentile
        interval.
    level : float
        Confidence level, between 0 and 1.
    method : str
        ``auto``: the rule above; ``percentile``: from resamples of the runs, as in rliable. Items
        have ``auto`` only.
    resampling : str
        ``runs`` inside each task, or ``runs_and_tasks`` where the tasks, at least 6, are a sample
        too: ``auto`` is then the percentile interval, expanded for few tasks (Hesterberg 2015).
    variances : str
        ``moderated`` over the algorithms of the table, or each algorithm's ``own``, so that its
        interval does not depend on the others.
    n_resamples : int
        Number of resamples, 25 at least; none are drawn for the mean, the optimality gap and the
        median.
    gamma : float, optional
        Target of the optimality gap: 1 if higher is better, otherwise required.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 by default.

    Returns
    -------
    Estimates
        For each algorithm in the table's order, the metrics in the given order; with `per_task`, by
        task, metric and algorithm.

    Raises
    ------
    UnknownNameError
        There is no such metric, method, resampling or kind of variances.
    ScoreDataError
        No task is shared by all algorithms, raw scores of tasks lie on unlike scales, the gap has
        no target, or there are fewer than 6 tasks for ``runs_and_tasks``.

    Warns
    -----
    DegenerateScoresWarning
        Tasks were left out, or some have fewer runs than others; one task carries more than half of
        the variance; runs share an effect over tasks; a given target lies outside the scores; or
        something is not estimable (NaN): an interval from one run per task or from scores that do
        not vary, a mean of infinite scores.

    Examples
    --------
    >>> from gnomon.stats import estimate
    >>> scores = ScoreTable.from_arrays({"dqn": np.arange(40.0).reshape(10, 4)[::-1] % 7})
    >>> for e in estimate(scores, ["mean", "median"]):
    ...     print(f"{e.metric}: {e.value:.3f} [{e.low:.3f}, {e.high:.3f}] {e.method}")
    mean: 2.875 [2.215, 3.535] student
    median: 2.850 [1.982, 3.743] profile
    """
    check_word("resampling", resampling, get_args(Resampling))
    how: dict[str, Any] = {"method": method, "n_resamples": n_resamples, "variances": variances}
    rule = Rule(level, key=draw_key(generator(rng)), **how)
    needs_runs = {
        "resampling": resampling != "runs" and resampling,
        "method": method != "auto" and method,
    }
    scores, metrics = scores_or_stand_ins(scores, metrics, needs_runs, per_task=per_task)
    if scores.units == "items":
        unlike = {"resampling": resampling != "runs", "variances": variances != "moderated"}
        unlike["method"] = method != "auto"
        # What only items need would be a tenth of the start of an estimate of a small table.
        from gnomon.stats.item_results import estimate_items

        refuse_options("items", per_task=per_task, gamma=gamma, **unlike)
        if (votes := votes_of(scores)) is not None:
            from gnomon.stats.vote_ratings import estimate_votes

            refuse_options("votes", by=by)
            return estimate_votes(scores, votes, metrics, level)
        return estimate_items(scores, metrics, by=by, level=level)
    refuse_options("tasks", by=by)
    if per_task and (given := {name: x for name, x in needs_runs.items() if x}):
        raise ScoreDataError(f"{option(per_task=True)} cannot be combined with {option(**given)}")
    with recorded() as notes:
        warn_of_missing_runs(scores)
        noise = table_noise(scores, variances)
        asked = _Asked(rule, resampling == "runs_and_tasks", gamma, noise)
        if per_task:
            found = tuple(_of_tasks(scores, metrics, asked))
        else:
            wanted = metrics_for(metrics, gamma=gamma, higher_is_better=scores.higher_is_better)
            tasks = shared_tasks(scores)
            check_scales(scores, wanted, tasks=tasks, gamma=gamma)
            found = tuple(_of_table(scores, tasks, wanted, asked))
    direction = "higher" if scores.higher_is_better else "lower"
    settings = made_by(
        rng,
        title=f"{scores.metric}, {direction} is better",
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        level=level,
        resampling=resampling,
        gamma=gamma,
        n_algorithms=len(scores.algorithms),
        shared_effects=asked.shared,
        **how,
    )
    return Estimates(found, settings, tuple(notes))


@dataclass(frozen=True)
class _Asked:
    """What all estimates of one call share."""

    rule: Rule
    draw_tasks: bool
    gamma: float | None
    noise: Callable[[str, Sequence[str]], Noise]
    #: What runs share over tasks, and how it widens intervals: filled by the estimates.
    shared: dict[str, dict[str, float]] = field(default_factory=dict)


def _of_table(
    scores: ScoreTable, tasks: Sequence[str], metrics: Sequence[Metric], asked: _Asked
) -> Iterator[Estimate]:
    """Yield the estimates over some tasks that all algorithms have."""
    samples = [Strata.from_table(scores, name, tasks) for name in scores.algorithms]
    rule, draw_tasks, drawn = asked.rule, asked.draw_tasks, None
    faults: dict[tuple[str, str], list[str]] = {}
    dominated = []
    if draw_tasks:
        check_tasks(tasks, metrics)
    if draw_tasks or rule.method == "percentile":
        draws: dict[str, Any] = {"n_resamples": rule.n_resamples, "key": rule.key}
        drawn = replicates(samples, metrics, draw_tasks=draw_tasks, **draws)
    warn_of_uneven_runs(scores, tasks)
    for i, (name, strata) in enumerate(zip(scores.algorithms, samples, strict=True)):
        if asked.gamma is not None and any(metric.name == "optimality_gap" for metric in metrics):
            check_target(asked.gamma, strata, name)
        noise = asked.noise(name, tasks)
        if drawn is None and strata.counts.max() > 1:
            if task := dominant_task(strata, noise.variances, tasks):
                dominated.append(f"{name} ({task})")
            warn_of_dependent_runs(strata, noise.effect, name)
            asked.shared.update(shared_effect(name, noise, strata))
        for j, metric in enumerate(metrics):
            if metric.value is median and len(tasks) == 1 and not draw_tasks:
                yield replace(_median_of_runs(name, tasks[0], strata.values, rule), task=None)
                continue
            value, interval, fault = float(metric.value(strata)), NO_INTERVAL, None
            if not math.isfinite(value):
                value, fault = math.nan, "not estimable, some runs are infinite (censored)"
            elif strata.counts.max() == 1 and not draw_tasks:
                fault = "interval not estimable from one run per task"
            else:
                if drawn is None:
                    interval = spread_of(strata, metric, noise, rule).interval(rule.level)
                else:
                    one = Drawn(value, drawn[i, j])
                    if rule.method == "percentile":
                        interval = one.interval(rule.level)
                    else:
                        interval = one.expanded(rule.level, strata.n_tasks, metric.bounds)
                interval, fault = checked(interval)
            if fault is not None:
                faults.setdefault((fault, metric.name), []).append(name)
            ends = interval.low, interval.high, rule.level, interval.method
            size = strata.n_runs, strata.n_tasks
            yield Estimate(name, metric.name, None, value, *ends, *size)
    if dominated:
        found = f"most of the variance comes from one task: {listed(dominated)}"
        note(f"{found}; intervals may be too short")
    _warn_of_faults(faults)


def shared_effect(name: str, noise: Noise, strata: Strata) -> dict[str, dict[str, float]]:
    """Return what the settings record of the effect that an algorithm's runs share, if any."""
    if noise.effect is None:
        return {}
    widening = noise.widening(strata.counts)
    return {name: {"p_table": noise.effect.p_table, "widening": widening}}


def _warn_of_faults(faults: Mapping[tuple[str, str], list[str]]) -> None:
    """Warn once for each fault and the algorithms that have it in the same metrics."""
    metrics: dict[tuple[str, str], list[str]] = {}
    for (fault, metric), names in faults.items():
        metrics.setdefault((fault, listed(names)), []).append(metric)
    for (fault, named), wanted in metrics.items():
        note(f"{', '.join(wanted)} of {named}: {fault}")


def on_tasks(metric: Metric, n_tasks: int) -> Metric:
    """Return what a median is on few tasks: on one that of its runs, on two the mean."""
    if metric.value is not median or n_tasks > 2:
        return metric
    return MEDIAN_OF_RUNS if n_tasks == 1 else metric_named("mean")


def spread_of(
    strata: Strata, metric: Metric, noise: Noise, rule: Rule
) -> Student | MedianProfile | Drawn:
    """Return a metric of one algorithm with its spread, at least one task having two runs.

    This is the one place that decides how an interval is made, for estimates, differences, curves
    and plans.
    """
    metric = on_tasks(metric, strata.n_tasks)
    if rule.method == "auto":
        if metric.value is median and strata.is_finite:
            return MedianProfile.of(strata)
        found = standard_error(strata, metric, noise, rule)
        if math.isfinite(found.error):
            return found
    return drawn_of(strata, metric, rule)


def drawn_of(strata: Strata, metric: Metric, rule: Rule) -> Drawn:
    """Return a metric of one algorithm with its values in resamples."""
    found = replicates([strata], [metric], n_resamples=rule.n_resamples, key=rule.key)
    return Drawn(float(metric.value(strata)), found[0, 0])


def _of_tasks(scores: ScoreTable, metrics: Metrics | None, asked: _Asked) -> Iterator[Estimate]:
    """Yield the estimates of each task by itself."""
    for task in scores.tasks:
        cells = scores.select(tasks=[task])
        present = [name for name in cells.algorithms if cells.runs(name, task).size]
        for metric in metric_list(metrics or "median"):
            if metric == "median":
                for name in cells.algorithms:
                    yield _median_of_runs(name, task, cells.runs(name, task), asked.rule)
                continue
            one = metrics_for(metric, gamma=asked.gamma, higher_is_better=scores.higher_is_better)
            if present:
                for found in _of_table(cells.select(algorithms=present), [task], one, asked):
                    yield replace(found, task=task)


def _median_of_runs(algorithm: str, task: str, runs: FloatArray, rule: Rule) -> Estimate:
    """Estimate the median of an algorithm's runs on a task, which may be infinite."""
    value, low, high = median_interval(runs, level=rule.level)
    interval, fault = checked(Interval(low, high, "percentile"))
    if runs.size == 1:
        fault = "interval not estimable from one run"
    if not math.isfinite(value):
        why = "there are no runs" if runs.size == 0 else "half of the runs are infinite (censored)"
        fault = f"not estimable, {why}"
    if fault is not None:
        note(f"median of {algorithm} on {task}: {fault}")
    ends = interval.low, interval.high, rule.level, interval.method
    return Estimate(algorithm, "median", task, value, *ends, runs.size, 1)
