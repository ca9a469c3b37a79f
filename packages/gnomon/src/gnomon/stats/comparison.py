"""Comparisons of two algorithms, or of all pairs: differences with interval, test and correction.

The interval of a pair is the same whether it is compared alone or among others; only the adjusted
p-value depends on the family.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from gnomon.errors import (
    ScoreDataError,
    UnknownNameError,
    check_word,
    counted,
    either,
    listed,
    note,
    option,
)
from gnomon.results import FieldRecord, Results, Row, generator, if_known, made_by, recorded
from gnomon.scores.checks import check_scales
from gnomon.scores.normalization import with_left_out
from gnomon.scores.reading import Scores
from gnomon.scores.table import ScoreTable
from gnomon.stats.all_pairs import SIGN_FLIPS
from gnomon.stats.bootstrap import draw_key
from gnomon.stats.cautions import warn_of_missing_runs
from gnomon.stats.difference import IMPROVEMENT, Differences
from gnomon.stats.estimates import rule_notes
from gnomon.stats.intervals import NO_INTERVAL, Method, Resampling, Rule, Variances, checked
from gnomon.stats.items import refuse_options, votes_of
from gnomon.stats.metrics import METRICS, Metric, Metrics, metric_list, metrics_for
from gnomon.stats.rank_tests import holm
from gnomon.stats.summary_statistics import scores_or_stand_ins

#: The metrics by which two algorithms are compared if none is named.
FOR_PAIRS = ("mean", "median", "iqm", IMPROVEMENT)


@dataclass(frozen=True, slots=True)
class Comparison(FieldRecord):
    """The difference of two algorithms in one metric.

    Parameters
    ----------
    a, b : str
        The algorithms.
    metric : str
        What is compared. The value is that of `a` minus that of `b`, except for
        ``probability_of_improvement``, where it is P(a better than b) and 0.5 means no difference.
    task : str or None
        The task, or None for all together.
    value, low, high : float
        The difference with its interval; NaN where not estimable.
    p_value : float
        Two-sided, that there is no difference.
    p_adjusted : float
        Corrected for the comparisons made together; ``family`` of the settings names them.
    level : float
        Confidence level of the interval.
    method : str
        How interval and p-value were made: as for estimates, or ``delong``, ``newcombe`` and
        ``sign_flips`` (tasks as a sample) for P(X > Y). For items ``tango`` (right or wrong),
        ``paired_t``, ``cluster_tango``, ``cluster_t``, ``betting`` (sequential), or ``sign_flips``
        where differences do not vary: p-values are 2 ** (1 - n) for n items or clusters,
        intervals the exact binomial bound for scores between 0 and 1, and not estimable otherwise.
    better : str or None
        The algorithm with the better value, significantly or not (the column ``ahead`` of the
        table); None if they are equal. The p-value measures how far this may be due to chance.
    n_items : int, optional
        Items that both have; this and the following exist for items only.
    n_clusters : int, optional
        Clusters of these.
    only_a, only_b : int, optional
        Items that one of them alone solves, for scores 0 and 1.
    detectable : float, optional
        The smallest difference that this many items detect with power 0.8.
    contribution, share : float, optional
        For a group of items: its part of the whole difference, and as a share of it; NaN where
        the difference may be 0.
    e_value : float, optional
        In sequential comparisons, the wealth of bets against no difference, from a stake of 1.
    """

    a: str
    b: str
    metric: str
    task: str | None
    value: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    level: float
    method: str
    _: KW_ONLY
    better: str | None = None
    n_items: int | None = if_known()
    n_clusters: int | None = if_known()
    only_a: int | None = if_known()
    only_b: int | None = if_known()
    detectable: float | None = if_known()
    contribution: float | None = if_known()
    share: float | None = if_known()
    e_value: float | None = if_known()


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(Results[Comparison]):
    """Comparisons of two algorithms or of all pairs; see :func:`compare`."""

    columns: ClassVar[tuple[str, ...]] = (
        *("a", "b", "metric", "task", "value", "low", "high", "p_value", "p_adjusted", "ahead"),
    )
    drawn_by = "gnomon.plot.dots:comparison_figure"

    @property
    def title(self) -> str:
        """How to read the values."""
        return "a minus b, or the probability that a is better"

    @property
    def notes(self) -> tuple[str, ...]:
        """What each metric measures, and which p-values were corrected together."""
        metrics = dict.fromkeys(one.metric for one in self)
        sizes = [metric for metric in metrics if metric != IMPROVEMENT]
        notes = []
        if sizes:
            notes.append(
                f"{', '.join(sizes)}: differences in units of the score, which a few tasks may "
                "dominate."
            )
        if IMPROVEMENT in metrics:
            notes.append(
                f"{IMPROVEMENT}: the probability that a run of a beats a run of b on the same "
                "task; the size of the difference is ignored."
            )
        if "family" in self.settings:
            notes.append(f"p_adjusted: {self.settings['family']}.")
        by_rule = any(one.method == "student" for one in self if one.metric != IMPROVEMENT)
        return (*notes, *(rule_notes(self.settings) if by_rule else ()))

    def rows(self) -> Sequence[Row]:
        """Return the rows of the table, where `better` is titled ``ahead``: it is no verdict."""
        named = {"better": "ahead"}
        return [{named.get(key, key): x for key, x in row.items()} for row in super().rows()]


def compare(
    scores: Scores,
    a: str | None = None,
    b: str | None = None,
    metrics: Metrics | None = None,
    *,
    by: str | None = None,
    sequential: Literal["e"] | None = None,
    per_task: bool = False,
    paired: bool = False,
    level: float = 0.95,
    method: Method = "auto",
    resampling: Resampling | None = None,
    variances: Variances = "moderated",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator | int | None = None,
) -> Comparisons:
    """Compare two algorithms, or every pair of a table, on the tasks that both have.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run. Items of an evaluation (``units="items"``) are drawn and shared, so
        models are compared item by item, in the clusters that the table names.
    a, b : str, optional
        The algorithms; every pair of the table by default. The interval of a pair is the same
        either way.
    metrics : str, Metric or sequence of them, optional
        As in :func:`~gnomon.stats.estimate`, and ``probability_of_improvement``; by default
        ``mean``, ``median``, ``iqm`` and that for two algorithms, and only that for all pairs. Of
        items ``mean``, ``pass@K`` (one of K samples succeeds) and ``pass^K`` (all of them do).
    by : str, optional
        For items and two models, a column whose groups are compared separately too.
    sequential : str, optional
        For items and two models, ``e``: compare after more and more items in the order of the
        table, by e-values that are valid at every look.
    per_task : bool
        Whether to compare on each task too. There the median is that of the runs.
    paired : bool
        Whether runs with the same label are pairs (the same seed). Items are pairs always.
    level : float
        Confidence level.
    method : str
        ``auto``: ``difference +- t SE``, for means on one task Welch's test; the profile of the
        likelihood for medians of three tasks or more. ``percentile``: from resamples.
    resampling : str, optional
        For P(X > Y), as in :func:`gnomon.ranking.rank`: ``runs``: the tasks are fixed;
        ``runs_and_tasks``: the tasks are a sample, by default where there is one run per algorithm
        and task.
    variances : str
        As in :func:`~gnomon.stats.estimate`; those of paired runs are always their own. P(X > Y)
        has no such choice: as in `rank`, effects that runs share are moderated over the table.
    n_resamples : int
        Number of resamples; none are drawn for means, gaps and unpaired medians.
    gamma : float, optional
        Target of the optimality gap.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 by default.

    Returns
    -------
    Comparisons
        For each metric the pairs in the table's order, each followed by its tasks. p-values are
        adjusted over the pairs of each metric by Holm's method, and those of tasks over all pairs
        and tasks; by max-t for P(X > Y) where tasks are the sample.

    Raises
    ------
    UnknownNameError
        There is no such algorithm, metric, method or kind of variances.
    ScoreDataError
        There is only one algorithm, no task is shared, runs to be paired have no common labels or
        were sorted, or an option does not apply to tasks or to items.

    Warns
    -----
    DegenerateScoresWarning
        Something is left out or not estimable. Where no run varies, the interval is NaN and the
        p-value is that of a permutation test, which so few runs cannot make small.

    Examples
    --------
    >>> from gnomon.stats import compare
    >>> scores = ScoreTable.from_arrays({"dqn": [[1, 6], [2, 4], [3, 5]], "sac": [[5, 7], [6, 9]]})
    >>> for c in compare(scores, "sac", "dqn", "mean", variances="own"):
    ...     print(f"{c.better} by {c.value:.2f} [{c.low:.2f}, {c.high:.2f}], p = {c.p_value:.3f}")
    sac by 3.25 [-1.30, 7.80], p = 0.084
    """
    if sequential is not None:
        check_word("sequential", sequential, ("e",))
    how: dict[str, Any] = {"level": level, "method": method, "n_resamples": n_resamples}
    draws = generator(rng)
    rule = Rule(key=draw_key(draws), variances=variances, **how)
    check_word("resampling", resampling or "runs", get_args(Resampling))
    if resampling is not None:
        metrics = _sampled(metrics, per_task=per_task, paired=paired, method=method)
    needs_runs = {"paired": paired, "method": method != "auto" and method}
    scores, metrics = scores_or_stand_ins(scores, metrics, needs_runs)
    pair = chosen_pair(scores, a, b)
    if len(scores.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    if scores.units == "items":
        unlike = {"method": method != "auto", "variances": variances != "moderated"}
        unlike["resampling"] = resampling is not None
        refuse_options("items", per_task=per_task, paired=paired, gamma=gamma, **unlike)
        found = _compare_items(scores, pair, metrics, by, sequential, level)
        return replace(found, records=tuple(named_better(one, scores) for one in found))
    refuse_options("tasks", by=by, sequential=sequential)
    wanted = metric_list(metrics or (FOR_PAIRS if pair else IMPROVEMENT))
    with recorded() as notes:
        warn_of_missing_runs(scores)
        refused = _refused(scores, wanted, pair, gamma)
        if refused and metrics is not None and not per_task:
            raise ScoreDataError(refused)
        sampled: dict[str, Any] = {"paired": paired, "resampling": resampling}
        differences = Differences(scores, rule, draw_key(draws), pair=pair, **sampled)
        records = [
            named_better(one, scores)
            for metric in metrics_to_compare(wanted, gamma, scores.higher_is_better)
            if not refused or per_task or metric.name not in METRICS
            for one in _compared(differences, metric, per_task)
            if not refused or one.task is not None or one.metric not in METRICS
        ]
        if refused:
            note(f"not reported: {refused}")
    settings = made_by(
        rng,
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        correction="holm",
        family=_family(records, resampling),
        paired=paired,
        variances="own" if paired else variances,
        gamma=gamma,
        n_algorithms=len(scores.algorithms),
        shared_effects=differences.shared,
        **how,
    )
    return Comparisons(tuple(records), settings, tuple(notes))


def _sampled(metrics: Metrics | None, **given: Any) -> Metrics:
    """Return the metric that has tests for both kinds of samples; refuse what has none."""
    wanted = metric_list(metrics or IMPROVEMENT)
    plain = not (given["per_task"] or given["paired"] or given["method"] != "auto")
    if plain and wanted == [IMPROVEMENT]:
        return wanted
    raise ScoreDataError(
        f"{either('resampling', '--resampling')} applies to comparisons by {IMPROVEMENT} over all "
        "tasks, of unpaired runs and by the method auto"
    )


def _compare_items(
    scores: ScoreTable,
    pair: tuple[str, str] | None,
    metrics: Metrics | None,
    by: str | None,
    sequential: str | None,
    level: float,
) -> Comparisons:
    from gnomon.stats.item_results import compare_items
    from gnomon.stats.sequential import compare_items_sequentially

    if (votes := votes_of(scores)) is not None:
        from gnomon.stats.vote_ratings import compare_votes

        refuse_options("votes", by=by, sequential=sequential)
        return compare_votes(scores, votes, pair, metrics, level)
    given = option(**{k: v for k, v in {"by": by, "sequential": sequential}.items() if v})
    if by is not None and sequential is not None:
        raise ScoreDataError(f"expected one of {given}; groups are compared on all their items")
    if given and pair is None:
        if len(scores.algorithms) != 2:
            raise ScoreDataError(f"{given}: expected two algorithms to compare; name a and b")
        pair = scores.algorithms[0], scores.algorithms[1]
    if sequential is None or pair is None:
        return compare_items(scores, pair, metrics, by=by, level=level)
    return compare_items_sequentially(scores, *pair, metrics, level=level)


def _refused(
    scores: ScoreTable,
    metrics: Sequence[str | Metric],
    pair: tuple[str, str] | None,
    gamma: float | None,
) -> str | None:
    """Return why metrics over all tasks are refused, None if they are not."""
    tasks = scores.shared_tasks(pair) if pair else None
    try:
        check_scales(scores, metrics, tasks=tasks, gamma=gamma)
    except ScoreDataError as error:
        return str(error)
    return None


def named_better(one: Comparison, scores: ScoreTable) -> Comparison:
    """Return the comparison with the algorithm that is better by the value."""
    improvement = one.metric == IMPROVEMENT
    lead = one.value - (0.5 if improvement else 0.0)
    if not abs(lead) > 0.0:
        return one
    gap = one.metric == "optimality_gap"  # of which less is better, whatever the scores
    more_is_better = improvement or (scores.higher_is_better and not gap)
    return replace(one, better=one.a if (lead > 0.0) == more_is_better else one.b)


def _family(found: Sequence[Comparison], resampling: Resampling | None) -> str:
    """Return which p-values were corrected together."""
    n_pairs = len({(one.a, one.b) for one in found})
    n_tasks = len({one.task for one in found} - {None})
    n_metrics = len({one.metric for one in found})
    each = "" if n_metrics == 1 else f", for each of {n_metrics} metrics by itself"
    pairs, tasks = counted(n_pairs, "pair"), counted(n_tasks, "task")
    if n_pairs > 1:
        inside = f"; those of tasks over {tasks} and {pairs}" if n_tasks else ""
        correction = "Holm's correction"
        over_tasks = [
            x.method == SIGN_FLIPS for x in found if x.metric == IMPROVEMENT and not x.task
        ]
        if resampling != "runs" and over_tasks and all(over_tasks):
            correction = "max-t by random signs of the tasks"
        return f"{correction} over {pairs}{each}{inside}"
    if n_tasks:
        return f"Holm's correction over {tasks}{each}; all tasks together: not corrected"
    return "not corrected, " + ("one test" if n_metrics == 1 else "one test for each metric")


def chosen_pair(scores: ScoreTable, a: str | None, b: str | None) -> tuple[str, str] | None:
    """Return two algorithms of a table, or None where none is named, which means all pairs."""
    if a is None and b is None:
        return None
    if a is None or b is None:
        raise ScoreDataError(f"expected two algorithms to compare, or none; found {a or b!r} alone")
    scores.shared_tasks([a, b])  # knows both names
    if a == b:
        raise ScoreDataError(f"expected two different algorithms, found {a!r} twice")
    return a, b


def metrics_to_compare(
    wanted: Metrics, gamma: float | None, higher_is_better: bool
) -> list[Metric]:
    """Return the metrics, with a stand-in for the probability of improvement."""
    metrics = []
    for one in metric_list(wanted):
        if one == IMPROVEMENT:
            metrics.append(Metric(IMPROVEMENT, lambda s: math.nan))
            continue
        try:
            metrics += metrics_for([one], gamma=gamma, higher_is_better=higher_is_better)
        except UnknownNameError:
            raise UnknownNameError("metric", str(one), (*METRICS, IMPROVEMENT)) from None
    return metrics


def _compared(differences: Differences, metric: Metric, per_task: bool) -> list[Comparison]:
    """Return the comparisons of one metric: each pair, followed by its tasks."""
    pairs = differences.pairs
    if metric.name == "median" and len(pairs) > 1:
        note(
            "median: the error rate over several pairs is not controlled for medians; "
            "take iqm for tests"
        )
    faults: dict[str, list[str]] = {}
    whole = [_record(differences, *names, metric, None, faults) for names in pairs]
    if metric.name != IMPROVEMENT or not differences.tests_all_pairs:
        whole = corrected(whole)
    _warn_of_coarse(differences.rule, metric, whole)
    _warn_of_faults(metric, faults)
    if not per_task:
        return whole
    faults = {}
    table = with_left_out(differences.scores) if metric.name == IMPROVEMENT else differences.scores
    each = [
        [_record(differences, *names, metric, task, faults) for task in table.shared_tasks(names)]
        for names in pairs
    ]
    _warn_of_faults(metric, faults)
    flat = iter(corrected([one for row in each for one in row]))
    return [
        one
        for first, row in zip(whole, each, strict=True)
        for one in (first, *(next(flat) for _ in row))
    ]


def _warn_of_faults(metric: Metric, faults: Mapping[str, Sequence[str]]) -> None:
    for fault, pairs in faults.items():
        note(f"{metric.name} of {listed(pairs)}: {fault}")


def _record(
    differences: Differences,
    a: str,
    b: str,
    metric: Metric,
    task: str | None,
    faults: dict[str, list[str]],
) -> Comparison:
    """Return the comparison, NaN with a fault where something is not estimable."""
    found, level = differences.of(a, b, metric, task), differences.rule.level
    value, interval, fault = found.value, found.interval or NO_INTERVAL, None
    if not math.isfinite(value):
        value, fault = math.nan, "not estimable, some runs are infinite (censored)"
    elif found.interval is None:
        fault = _why_single(differences, a, b, task)
    elif metric.name != IMPROVEMENT or task or not differences.tests_all_pairs:
        interval, fault = checked(interval, found.size)
    if fault is not None:
        faults.setdefault(fault, []).append(f"{a} and {b}{f' on {task}' if task else ''}")
    ends = interval.low, interval.high, found.p_value, found.p_adjusted, level
    return Comparison(a, b, metric.name, task, value, *ends, interval.method)


def _why_single(differences: Differences, a: str, b: str, task: str | None) -> str:
    """Return which algorithms have one run per task."""
    tasks = [task] if task else differences.scores.shared_tasks([a, b])
    runs = differences.scores.runs
    single = [name for name in (a, b) if max(runs(name, one).size for one in tasks) == 1]
    of = f" of {single[0]}" if len(single) == 1 else ""
    return f"interval not estimable from one run per task{of}"


def _warn_of_coarse(rule: Rule, metric: Metric, found: Sequence[Comparison]) -> None:
    """Warn if resamples are too few for any pair to be separated after correction."""
    tested = [one for one in found if not math.isnan(one.p_value)]
    if rule.method != "percentile" or not tested:
        return
    least, alpha = 2.0 / (rule.n_resamples + 1), 1.0 - rule.level
    if len(tested) * least > alpha:
        needed = math.ceil(2.0 * len(tested) / alpha)
        note(
            f"{metric.name}: {rule.n_resamples:,} resamples give no p-value below "
            f"{least:.2g}, which corrected over {len(tested)} pairs is above {alpha:.2g}: no "
            f"pair can be separated; take {needed:,} resamples or more"
        )


def corrected(found: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons with Holm's correction over all of them."""
    adjusted = holm([one.p_value for one in found]) if found else ()
    return [replace(c, p_adjusted=float(p)) for c, p in zip(found, adjusted, strict=True)]
