"""Comparisons of two algorithms, or of all pairs: differences with interval, test, correction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap.resamples import Resamples, draw_key
from gnomon.stats.comparisons.difference import (
    IMPROVEMENT,
    DifferenceOptions,
    difference_of,
    interval_and_test,
)
from gnomon.stats.comparisons.rank_tests import holm
from gnomon.stats.estimates import finite_or_none, shared_tasks, warn
from gnomon.stats.intervals import ROUNDING, Interval, checked, percentile
from gnomon.stats.metrics import METRICS, Metric, metrics_for
from gnomon.stats.strata import Strata

__all__ = ["IMPROVEMENT", "Comparison", "compare", "compare_all", "corrected", "metrics_to_compare"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much better (or higher) one algorithm is than another in one metric.

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
        Corrected for the comparisons made together.
    level : float
        Confidence level of the interval.
    method : str
        How interval and p-value were made.
    n_resamples : int
        0 for a closed form.
    mc_error : float
        Monte Carlo error of the worse end.
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
    n_resamples: int
    mc_error: float

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON, None for what is not a finite number."""
        return {name: finite_or_none(value) for name, value in asdict(self).items()}


def compare(
    table: ScoreTable,
    a: str,
    b: str,
    metrics: Sequence[str | Metric] = (*METRICS[:3], IMPROVEMENT),
    *,
    per_task: bool = False,
    paired: bool = False,
    level: float = 0.95,
    method: Literal["auto", "small_sample", "percentile"] = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> list[Comparison]:
    """Compare two algorithms on the tasks that both have.

    Parameters
    ----------
    table : ScoreTable
        One score for each run.
    a, b : str
        The algorithms.
    metrics : sequence of str or Metric
        As in :func:`~gnomon.stats.estimates.estimate_aggregates`, and
        ``probability_of_improvement``.
    per_task : bool
        Whether to compare on each task too; p-values are then corrected over tasks (Holm).
    paired : bool
        Whether runs with the same label are pairs (the same seed): pairs are kept together.
    level : float
        Confidence level.
    method : str
        ``small_sample``: delta-t (for means on one task this is Welch's test) and, for medians,
        the profile intervals of both combined (:mod:`gnomon.stats.comparisons.difference`);
        ``percentile``: bootstrap; ``auto``: the first below 20 runs.
    n_resamples : int
        Number of resamples, for ``percentile`` and metrics without closed form.
    gamma : float, optional
        Target of the optimality gap.
    rng : numpy.random.Generator
        Source of all draws.

    Returns
    -------
    list of Comparison
        For each metric the whole and then, if wanted, the tasks.

    Raises
    ------
    UnknownNameError
        There is no such algorithm or metric.
    ScoreDataError
        No task is shared, or runs to be paired have no common labels.

    Warns
    -----
    DegenerateScoresWarning
        Something is left out or not estimable.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[1, 4], [2, 6], [3, 5]], "sac": [[5, 7], [6, 9]]})
    >>> for c in compare(table, "sac", "dqn", ["mean"], rng=np.random.default_rng(0)):
    ...     print(f"{c.metric}: {c.value:.2f} [{c.low:.2f}, {c.high:.2f}], p = {c.p_value:.3f}")
    mean: 3.25 [1.10, 5.40], p = 0.017
    """
    tasks = shared_tasks(table, (a, b))
    x, y = _strata_pair(table, a, b, tasks, paired)
    keys = (draw_key(rng), draw_key(rng))
    options = DifferenceOptions(table.higher_is_better, paired, level, method, n_resamples, keys)
    comparisons = []
    for metric in metrics_to_compare(metrics, gamma, table.higher_is_better):
        comparisons.append(_compared(x, y, metric, options, a, b, None))
        if per_task:
            parts = zip(tasks, x.per_task(), y.per_task(), strict=True)
            singles = [
                _compared(Strata.from_runs([p]), Strata.from_runs([q]), metric, options, a, b, task)
                for task, p, q in parts
            ]
            comparisons += corrected(singles)
    return comparisons


def metrics_to_compare(
    wanted: Sequence[str | Metric], gamma: float | None, higher_is_better: bool
) -> list[Metric]:
    """Return the metrics, with a stand-in for the probability of improvement."""
    metrics = []
    for one in wanted:
        if one == IMPROVEMENT:
            metrics.append(Metric(IMPROVEMENT, lambda s: math.nan))
            continue
        try:
            metrics += metrics_for([one], gamma=gamma, higher_is_better=higher_is_better)
        except UnknownNameError:
            raise UnknownNameError("metric", str(one), (*METRICS, IMPROVEMENT)) from None
    return metrics


def _strata_pair(
    table: ScoreTable, a: str, b: str, tasks: Sequence[str], paired: bool
) -> tuple[Strata, Strata]:
    """Return both algorithms' scores; if paired, only runs that both have, in the same order."""
    if not paired:
        return Strata.from_table(table, a, tasks), Strata.from_table(table, b, tasks)
    parts: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    left_out = 0
    for task in tasks:
        of_a = dict(zip(table.run_labels(a, task), table.runs(a, task), strict=True))
        of_b = dict(zip(table.run_labels(b, task), table.runs(b, task), strict=True))
        common = [label for label in of_a if label in of_b]
        if not common:
            raise ScoreDataError(f"task {task}: {a} and {b} have no run label in common to pair")
        left_out += len(of_a) + len(of_b) - 2 * len(common)
        parts[0].append(np.array([of_a[label] for label in common]))
        parts[1].append(np.array([of_b[label] for label in common]))
    if left_out:
        warn(f"{a} and {b}: {left_out} runs left out that have no partner")
    return Strata.from_runs(parts[0]), Strata.from_runs(parts[1])


def _compared(
    x: Strata,
    y: Strata,
    metric: Metric,
    options: DifferenceOptions,
    a: str,
    b: str,
    task: str | None,
) -> Comparison:
    """Return one comparison, NaN with a warning where it is not estimable."""
    value = difference_of(x, y, metric, options)
    interval, p_value = Interval(math.nan, math.nan, "none", 0, math.nan), math.nan
    where = f"{metric.name} of {a} and {b}" + (f" on {task}" if task else "")
    if not math.isfinite(value):
        warn(f"{where}: not estimable, some runs are infinite (censored)")
        value = math.nan
    elif min(x.counts.max(), y.counts.max()) == 1:
        single = a if x.counts.max() == 1 else b
        warn(f"{where}: interval not estimable from one run per task of {single}")
    else:
        found, p_value = interval_and_test(x, y, metric, options, value)
        interval, fault = checked(found, _scale(x, y, metric))
        if fault is not None:
            warn(f"{where}: {fault}")
        if math.isnan(interval.low):
            p_value = math.nan
    return Comparison(
        a,
        b,
        metric.name,
        task,
        value,
        interval.low,
        interval.high,
        p_value,
        p_value,
        options.level,
        interval.method,
        interval.n_resamples,
        interval.mc_error,
    )


def _scale(x: Strata, y: Strata, metric: Metric) -> float:
    """Return the size of the two numbers whose difference is taken."""
    if metric.name == IMPROVEMENT:
        return 1.0
    return max(abs(metric.value(x)), abs(metric.value(y)))


def corrected(comparisons: list[Comparison]) -> list[Comparison]:
    """Return the comparisons with Holm's correction over all of them."""
    adjusted = holm([c.p_value for c in comparisons])
    return [replace(c, p_adjusted=float(p)) for c, p in zip(comparisons, adjusted, strict=True)]


def compare_all(
    table: ScoreTable,
    metric: str | Metric = "iqm",
    *,
    correction: Literal["holm", "max_t"] = "holm",
    paired: bool = False,
    level: float = 0.95,
    method: Literal["auto", "small_sample", "percentile"] = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> list[Comparison]:
    """Compare every two algorithms in one metric, corrected for the number of pairs.

    Parameters
    ----------
    table, paired, level, method, n_resamples, gamma, rng
        As in :func:`~gnomon.stats.comparisons.comparison.compare`.
    metric : str or Metric
        One metric.
    correction : str
        ``holm``: p-values by Holm's steps, each interval at `level` by itself; ``max_t``: intervals
        that hold together at `level`, and their p-values, from the distribution of the largest
        studentized difference in common resamples (Westfall and Young 1993).

    Returns
    -------
    list of Comparison
        Pairs in the table's order.

    Examples
    --------
    >>> scores = {"a": [[1, 4], [2, 6]], "b": [[5, 7], [6, 9]], "c": [[5, 6], [7, 9]]}
    >>> table = ScoreTable.from_arrays(scores)
    >>> pairs = compare_all(table, "mean", rng=np.random.default_rng(0))
    >>> [(c.a, c.b, round(c.p_adjusted, 2)) for c in pairs]
    [('a', 'b', 0.07), ('a', 'c', 0.1), ('b', 'c', 1.0)]
    """
    pairs = list(combinations(table.algorithms, 2))
    if correction == "max_t":
        return _max_t(table, metric, pairs, level, n_resamples, gamma, paired, rng)
    found = []
    for a, b in pairs:
        found += compare(
            table,
            a,
            b,
            [metric],
            paired=paired,
            level=level,
            method=method,
            n_resamples=n_resamples,
            gamma=gamma,
            rng=rng,
        )
    return corrected(found)


def _max_t(
    table: ScoreTable,
    metric: str | Metric,
    pairs: Sequence[tuple[str, str]],
    level: float,
    n_resamples: int,
    gamma: float | None,
    paired: bool,
    rng: np.random.Generator,
) -> list[Comparison]:
    """Return simultaneous intervals and p-values from the largest studentized difference."""
    if metric == IMPROVEMENT:
        raise ScoreDataError(f"{IMPROVEMENT}: max_t takes differences of a metric; correct by holm")
    (one,) = metrics_for([metric], gamma=gamma, higher_is_better=table.higher_is_better)
    tasks = shared_tasks(table)
    common = draw_key(rng)
    values, replicates, stretch = {}, {}, {}
    for algorithm in table.algorithms:
        strata = Strata.from_table(table, algorithm, tasks)
        if paired:
            strata = _like_the_first(table, algorithm, tasks)
        key = common if paired else draw_key(rng)
        values[algorithm] = one.value(strata)
        replicates[algorithm] = Resamples(strata, n_resamples=n_resamples, key=key).of(one)
        runs = 1.0 / float(np.mean(1.0 / strata.counts))
        stretch[algorithm] = math.sqrt(runs / (runs - 1.0)) if runs > 1.0 else math.nan
    for name, drawn in replicates.items():
        if not (np.isfinite(drawn).all() and math.isfinite(values[name])):
            raise ScoreDataError(
                f"{one.name}: max_t needs finite resamples; some runs of {name} are censored"
            )
    differences = np.array([values[a] - values[b] for a, b in pairs])
    centred = {name: (drawn - drawn.mean()) * stretch[name] for name, drawn in replicates.items()}
    noise = np.stack([centred[a] - centred[b] for a, b in pairs], axis=1)
    errors = noise.std(axis=0, ddof=1)
    size = max(map(abs, values.values()))
    if not (errors > ROUNDING * size).all():
        raise ScoreDataError(f"{one.name}: max_t needs scores that vary in every algorithm")
    largest = np.abs(noise / errors).max(axis=1)
    critical = percentile(largest, 2.0 * level - 1.0).high
    found = []
    for (a, b), value, error, own in zip(pairs, differences, errors, noise.T, strict=True):
        t = abs(value) / error
        p_value = (1 + int(np.sum(np.abs(own) / error >= t))) / (n_resamples + 1)
        p_adjusted = (1 + int(np.sum(largest >= t))) / (n_resamples + 1)
        ends = (float(value - critical * error), float(value + critical * error))
        found.append(
            Comparison(
                a, b, one.name, None, float(value), *ends, p_value, p_adjusted, level,
                "max_t", n_resamples, math.nan,
            )
        )  # fmt: skip
    return found


def _like_the_first(table: ScoreTable, algorithm: str, tasks: Sequence[str]) -> Strata:
    """Return the scores of an algorithm, its runs in the order of the first one's labels.

    Raises
    ------
    ScoreDataError
        It has other runs than the first, and so not a partner for each.
    """
    parts = []
    for task in tasks:
        scores = table.runs(algorithm, task)
        own = dict(zip(table.run_labels(algorithm, task), scores, strict=True))
        labels = table.run_labels(table.algorithms[0], task)
        if set(labels) != set(own):
            raise ScoreDataError(
                f"max_t of pairs: expected the same run labels of all algorithms, found others of "
                f"{algorithm} than of {table.algorithms[0]} on task {task}"
            )
        parts.append([own[label] for label in labels])
    return Strata.from_runs(parts)
