"""Comparisons of every two algorithms of a table, corrected for the number of pairs.

With few runs the standard errors are those of delta-t with variances moderated over the table
(:mod:`gnomon.stats.small_samples.moderated_variances`): many pairs look for the one whose variance
happens to come out small. On tables of eight populations without any difference, with 2 to 10 runs,
Holm's correction then errs in 2.4 % of the tables for means and in 2.3 % for interquartile means,
in the worst cell in 4.7 and 6.0 % (with own variances in 62 and 13).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import get_args

import numpy as np

from gnomon.errors import ScoreDataError, counted
from gnomon.results import generator, recorded
from gnomon.scores.plausibility import warn_of_unlike_scales
from gnomon.scores.table import ScoreTable, Units
from gnomon.stats.cautions import LARGE_SHARE, warn
from gnomon.stats.comparisons.comparison import (
    ComparisonSettings,
    Correction,
    SmallMethod,
    compared_pair,
    corrected,
    metrics_to_compare,
)
from gnomon.stats.comparisons.comparison_records import Comparison, Comparisons
from gnomon.stats.comparisons.difference import IMPROVEMENT
from gnomon.stats.comparisons.permutation import largest_of_permuted
from gnomon.stats.comparisons.studentized_range import range_cdf, range_quantile
from gnomon.stats.estimates import shared_tasks
from gnomon.stats.items.item_comparisons import ItemCorrection, compare_items
from gnomon.stats.items.item_units import counted_as, refuse_unlike
from gnomon.stats.metrics import Metric, Metrics
from gnomon.stats.small_samples.moderated_variances import TableVariances
from gnomon.stats.small_samples.small_sample import delta_error

#: Up to so many algorithms, and from so many runs on for metrics that trim, intervals by the
#: studentized range hold together; else they want tails that Student's t does not have.
MOST_ALGORITHMS, LEAST_RUNS = 6, 10


def compare_all(
    scores: ScoreTable,
    metrics: Metrics | None = None,
    *,
    units: Units | None = None,
    cluster: str | None = None,
    correction: Correction = "holm",
    paired: bool = False,
    level: float = 0.95,
    method: SmallMethod = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator | int | None = None,
) -> Comparisons:
    """Compare every two algorithms, each metric corrected for the number of pairs.

    From three algorithms on, and with few runs that are no pairs, the variances of means,
    interquartile means, gaps and the like are moderated over the table (method ``moderated_t``):
    so a pair's interval depends on who else is in the table, and differs a little from that of
    :func:`~gnomon.stats.comparisons.comparison.compare`, which knows the two alone.

    Parameters
    ----------
    scores, units, cluster, paired, level, n_resamples, gamma, rng
        As in :func:`~gnomon.stats.comparisons.comparison.compare`.
    metrics : str, Metric or sequence of them, optional
        As there; ``probability_of_improvement`` if not given, or of items their ``mean``.
    method : str
        As there; ``auto`` takes formulas also where so few resamples give no p-value that is small
        enough to separate any of so many pairs.
    correction : str
        ``holm``: p-values by Holm's steps, each interval at `level` by itself;
        ``studentized_range``: intervals that hold together at `level`, and their p-values (Games
        and Howell 1976, with moderated variances), for up to 6 algorithms, and for metrics that
        trim from 10 runs on; beyond that Holm's, with a warning; ``permutation``: p-values from
        the largest studentized difference when runs are dealt anew to the algorithms inside each
        task, `n_resamples` times (Westfall and Young 1993). They test that the algorithms are *the
        same*, in spread and shape too, and err in 6 to 14 % of tables whose means alone are equal.

    Returns
    -------
    Comparisons
        For each metric the pairs in the table's order.

    Raises
    ------
    ScoreDataError
        There are fewer than two algorithms, or as in :func:`compare`; or the correction needs what
        the metric has not: a standard error by a formula, finite scores that vary.

    Warns
    -----
    DegenerateScoresWarning
        As in :func:`compare`; and two runs of more than 6 algorithms; a task with more than half of
        the variance; a correction that does not hold here.

    Examples
    --------
    >>> from gnomon.stats import compare_all
    >>> scores = {"a": [[1, 4], [2, 6]], "b": [[5, 7], [6, 9]], "c": [[5, 6], [7, 9]]}
    >>> found = compare_all(ScoreTable.from_arrays(scores), "mean")
    >>> [(c.a, c.b, round(c.p_adjusted, 2)) for c in found]
    [('a', 'b', 0.05), ('a', 'c', 0.11), ('b', 'c', 1.0)]
    """
    correction = _present(correction)
    if len(scores.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    scores = counted_as(scores, units, cluster)
    if scores.units == "items":
        dealt = correction == "permutation"
        refuse_unlike(method=method != "auto", gamma=gamma is not None, permutation=dealt)
        chosen: ItemCorrection = "holm" if correction == "holm" else "studentized_range"
        return compare_items(scores, None, metrics, level=level, correction=chosen)
    metrics = metrics or IMPROVEMENT
    how = ComparisonSettings(paired, level, method, n_resamples, gamma, generator(rng))
    found: list[Comparison] = []
    with recorded() as notes:
        wanted = metrics_to_compare(metrics, gamma, scores.higher_is_better)
        warn_of_unlike_scales(scores, [metric.name for metric in wanted], gamma=gamma)
        table = _Table(scores, how)
        for metric in wanted:
            found += table.compared(metric, correction)
    settings = how.settings(rng, scores, correction, _family(found, correction))
    return Comparisons(tuple(found), settings, tuple(notes))


def _family(found: Sequence[Comparison], correction: Correction) -> str:
    """Say which p-values of all pairs were corrected together, and by what."""
    by = {
        "holm": "Holm's correction",
        "studentized_range": "the studentized range, or Holm's correction where a warning says so,",
        "permutation": "the largest difference of permuted runs",
    }[correction]
    n_metrics = len({one.metric for one in found})
    pairs = counted(len(found) // n_metrics, "pair")
    each = "" if n_metrics == 1 else f", for each of {n_metrics} metrics by itself"
    return f"{by} over {pairs}{each}"


def _least_p(n_resamples: int) -> float:
    """Return the least two-sided p-value that resamples can give."""
    return 2.0 / (n_resamples + 1)


def _fine_enough(how: ComparisonSettings, metric: Metric, n_pairs: int) -> ComparisonSettings:
    """Return the settings, by formulas where resamples could separate none of so many pairs."""
    # The profile intervals of medians would take minutes.
    has_formula = metric.influence is not None or metric.name == IMPROVEMENT
    too_coarse = n_pairs * _least_p(how.n_resamples) > 1.0 - how.level
    if how.method == "auto" and has_formula and too_coarse:
        return replace(how, method="small_sample")
    return how


def _present(correction: str) -> Correction:
    """Return the name of a correction as it is now."""
    if correction == "max_t":
        text = "correction max_t is now studentized_range; the old name goes in 0.3"
        warnings.warn(text, DeprecationWarning, stacklevel=3)
        return "studentized_range"
    for name in get_args(Correction):
        if correction == name:
            known: Correction = name
            return known
    raise ValueError(
        f"expected a correction holm, studentized_range or permutation, found {correction!r}"
    )


class _Table:
    """All pairs of one table, compared metric by metric."""

    def __init__(self, scores: ScoreTable, how: ComparisonSettings) -> None:
        self.scores, self.how = scores, how
        self.pairs = list(combinations(scores.algorithms, 2))
        self.variances = TableVariances(scores)
        counts = [
            scores.runs(name, task).size for name in scores.algorithms for task in scores.tasks
        ]
        self.fewest = min(count for count in counts if count)

    def compared(self, metric: Metric, correction: Correction) -> list[Comparison]:
        """Return the comparisons of all pairs in one metric, corrected."""
        if correction != "holm":
            self._check(metric, correction)
        several = len(self.scores.algorithms) > 2 and not self.how.paired
        how = _fine_enough(self.how, metric, len(self.pairs))
        found = corrected(
            [
                one
                for a, b in self.pairs
                for one in compared_pair(
                    self.scores,
                    a,
                    b,
                    [metric],
                    False,
                    how,
                    self.variances if several else None,
                )
            ]
        )
        if any(one.method == "moderated_t" for one in found):
            self._name_doubts(metric)
        self._name_coarse(metric, found)
        if correction == "studentized_range" and self._holds(metric):
            return [self._simultaneous(metric, one) for one in found]
        return self._permuted(metric, found) if correction == "permutation" else found

    def _check(self, metric: Metric, correction: Correction) -> None:
        """Refuse a correction that the metric, or the comparison, cannot have."""
        if metric.influence is None:
            raise ScoreDataError(
                f"{metric.name}: {correction} takes a metric with a standard error by a formula, "
                "such as mean or iqm; correct by holm"
            )
        if self.how.paired:
            raise ScoreDataError(
                f"{correction} takes independent runs, found pairs; correct by holm"
            )
        for name in self.scores.algorithms:
            of = self.variances.influences(metric, self._tasks(self.scores.algorithms))
            if name not in of:
                raise ScoreDataError(
                    f"{metric.name}: {correction} needs finite scores; some runs of {name} are "
                    "censored"
                )
            if not of[name].variances().any():
                raise ScoreDataError(
                    f"{metric.name}: {correction} needs scores that vary in every algorithm; those "
                    f"of {name} do not"
                )

    def _tasks(self, algorithms: Sequence[str]) -> tuple[str, ...]:
        return self.scores.shared_tasks(algorithms)

    def _name_doubts(self, metric: Metric) -> None:
        """Say where few runs leave much to chance: two of many algorithms, one task that rules."""
        if self.fewest == 2 and len(self.scores.algorithms) > MOST_ALGORITHMS:
            warn(
                f"{metric.name}: 2 runs of {len(self.scores.algorithms)} algorithms: the tails of "
                "Student's t with 1 or 2 degrees of freedom decide every p-value"
            )
        ruled: dict[str, int] = {}
        for a, b in self.pairs:
            tasks = self._tasks((a, b))
            of = self.variances.influences(metric, tasks)
            if a not in of or b not in of:  # some of its runs are censored
                continue
            shares = np.add.reduce(np.split(delta_error(of[a], of[b]).shares, 2))
            if len(tasks) > 2 and shares.max() > LARGE_SHARE:
                task = tasks[int(np.argmax(shares))]
                ruled[task] = ruled.get(task, 0) + 1
        for task, n in ruled.items():
            warn(
                f"{metric.name}: in {n} of {len(self.pairs)} pairs more than half of the variance "
                f"is that of one task, {task}; their intervals may be too short"
            )

    def _name_coarse(self, metric: Metric, found: Sequence[Comparison]) -> None:
        """Say that resamples are too few for any pair to be separated after correction."""
        tested = [one for one in found if not math.isnan(one.p_value)]
        drawn = tested and all(one.n_resamples for one in tested)
        least, alpha = _least_p(self.how.n_resamples), 1.0 - self.how.level
        if drawn and len(tested) * least > alpha:
            needed = math.ceil(2.0 * len(tested) / alpha)
            warn(
                f"{metric.name}: {self.how.n_resamples:,} resamples give no p-value below "
                f"{least:.2g}, which corrected over {len(tested)} pairs is above {alpha:.2g}: none "
                f"can be separated; take {needed:,} resamples (--resamples) or more"
            )

    def _holds(self, metric: Metric) -> bool:
        """Return whether simultaneous intervals hold here, and say it if they do not."""
        n = len(self.scores.algorithms)
        reason = f"{n} algorithms" if n > MOST_ALGORITHMS else None
        if not metric.additive and self.fewest < LEAST_RUNS:
            reason = f"{self.fewest} runs of a metric that trims"
        if reason is not None:
            warn(
                f"{metric.name}: intervals that hold together would be approximate with {reason}; "
                "p-values are by holm and each interval is by itself"
            )
        return reason is None

    def _simultaneous(self, metric: Metric, one: Comparison) -> Comparison:
        """Return a comparison with the interval and the p-value of the studentized range."""
        if math.isnan(one.low):
            return one
        of = self.variances.influences(metric, self._tasks((one.a, one.b)))
        error, n = delta_error(of[one.a], of[one.b]), len(self.scores.algorithms)
        center = one.value + of[one.a].shift - of[one.b].shift
        deviation = math.sqrt(error.variance)
        half = range_quantile(self.how.level, n, error.df) / math.sqrt(2.0) * deviation
        distance = math.sqrt(2.0) * abs(center) / deviation
        ends = min(center - half, one.value), max(center + half, one.value)
        return replace(
            one,
            low=ends[0],
            high=ends[1],
            p_adjusted=max(1.0 - range_cdf(distance, n, error.df), one.p_value),
            method="studentized_range",
        )

    def _permuted(self, metric: Metric, found: list[Comparison]) -> list[Comparison]:
        """Return the comparisons with p-values of permuted runs: that the algorithms are the same.

        Tasks are those that all algorithms have.
        """
        tasks = shared_tasks(self.scores)
        seen, largest, own = largest_of_permuted(self.scores, metric, tasks, self.how)
        n = self.how.n_resamples + 1
        warn(
            f"{metric.name}: p-values by permutation say whether algorithms are the same, in "
            "spread too, and not whether their means are equal"
        )
        return [
            replace(
                one,
                p_value=(1 + int(np.sum(own[:, i] >= t))) / n,
                p_adjusted=(1 + int(np.sum(largest >= t))) / n,
                method="permutation",
                n_resamples=self.how.n_resamples,
            )
            for i, (one, t) in enumerate(zip(found, seen, strict=True))
        ]
