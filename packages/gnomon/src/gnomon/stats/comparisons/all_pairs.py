"""Comparisons of every two algorithms of a table, corrected for the number of pairs.

With few runs the standard errors are those of delta-t with variances moderated over the table
(:mod:`gnomon.stats.small_samples.moderated_variances`): many pairs look for the one whose variance
happens to come out small. On tables of eight populations without any difference, with 2 to 10 runs,
Holm's correction then errs in 2.4 % of the tables for means and in 2.3 % for interquartile means,
in the worst cell in 4.7 and 6.0 % (with own variances in 62 and 13).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from gnomon.errors import ScoreDataError, counted, listed
from gnomon.results import generator, recorded
from gnomon.scores.plausibility import warn_of_unlike_scales
from gnomon.scores.table import ScoreTable, Units
from gnomon.stats.cautions import LARGE_SHARE, name_uneven_runs, warn
from gnomon.stats.comparisons.comparison import (
    TASK_SAMPLE,
    ComparisonSettings,
    SmallMethod,
    compared_pair,
    corrected,
    metrics_to_compare,
)
from gnomon.stats.comparisons.comparison_records import Comparison, Comparisons
from gnomon.stats.comparisons.difference import IMPROVEMENT
from gnomon.stats.comparisons.improvement import SIGN_FLIPS, table_improvement
from gnomon.stats.estimates import shared_tasks
from gnomon.stats.item_results import compare_items
from gnomon.stats.items import counted_as, refuse_unlike
from gnomon.stats.metrics import Metric, Metrics
from gnomon.stats.small_samples.moderated_variances import TableVariances
from gnomon.stats.small_samples.small_sample import delta_error
from gnomon.stats.strata import Strata

#: Two runs of more algorithms than these want tails that Student's t does not have.
MOST_ALGORITHMS = 6


def compare_all(
    scores: ScoreTable,
    metrics: Metrics | None = None,
    *,
    units: Units | None = None,
    cluster: str | None = None,
    paired: bool = False,
    level: float = 0.95,
    method: SmallMethod = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator | int | None = None,
) -> Comparisons:
    """Compare every two algorithms, with p-values of each metric corrected by Holm's steps.

    Each interval is at `level` by itself.

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

    Returns
    -------
    Comparisons
        For each metric the pairs in the table's order.

    Raises
    ------
    ScoreDataError
        There are fewer than two algorithms, or as in :func:`compare`.

    Warns
    -----
    DegenerateScoresWarning
        As in :func:`compare`; and two runs of more than 6 algorithms; a task with more than half of
        the variance.

    Examples
    --------
    >>> from gnomon.stats import compare_all
    >>> scores = {"a": [[1, 4], [2, 6]], "b": [[5, 7], [6, 9]], "c": [[5, 6], [7, 9]]}
    >>> found = compare_all(ScoreTable.from_arrays(scores), "mean")
    >>> [(c.a, c.b, round(c.p_adjusted, 2)) for c in found]
    [('a', 'b', 0.05), ('a', 'c', 0.11), ('b', 'c', 1.0)]
    """
    if len(scores.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    scores = counted_as(scores, units, cluster)
    if scores.units == "items":
        refuse_unlike(method=method != "auto", gamma=gamma is not None)
        return compare_items(scores, None, metrics, level=level)
    metrics = metrics or IMPROVEMENT
    how = ComparisonSettings(paired, level, method, n_resamples, gamma, generator(rng))
    found: list[Comparison] = []
    with recorded() as notes:
        wanted = metrics_to_compare(metrics, gamma, scores.higher_is_better)
        warn_of_unlike_scales(scores, [metric.name for metric in wanted], gamma=gamma)
        table = _Table(scores, how)
        for metric in wanted:
            found += table.compared(metric)
    settings = how.settings(rng, scores, _family(found))
    return Comparisons(tuple(found), settings, tuple(notes))


def _family(found: Sequence[Comparison]) -> str:
    """Say which p-values of all pairs were corrected together."""
    n_metrics = len({one.metric for one in found})
    pairs = counted(len(found) // n_metrics, "pair")
    each = "" if n_metrics == 1 else f", for each of {n_metrics} metrics by itself"
    return f"Holm's correction over {pairs}{each}"


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

    def compared(self, metric: Metric) -> list[Comparison]:
        """Return the comparisons of all pairs in one metric, corrected."""
        if metric.name == IMPROVEMENT and not self.how.paired and self.how.method != "percentile":
            return self._improvements()
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
        return found

    def _improvements(self) -> list[Comparison]:
        """Return P(a better than b) of all pairs, from the function that :func:`rank` uses."""
        scores = self.scores
        counts = scores.run_counts
        for pair in self.pairs:
            shared_tasks(scores, pair)
        for name in scores.algorithms:
            name_uneven_runs(Strata.from_table(scores, name), scores.tasks_of(name), name)
        found = table_improvement(scores, level=self.how.level)
        if found.sample == "tasks":
            warn(f"{IMPROVEMENT}: {TASK_SAMPLE}")
        single = [name for name, n in zip(scores.algorithms, counts, strict=True) if n.max() == 1]
        if single and found.sample == "runs":
            warn(f"{IMPROVEMENT}: interval not estimable from one run per task of {listed(single)}")
        comparisons = []
        for i, j in combinations(range(len(counts)), 2):
            alone = found.n_shared[i, j] == 1 and found.sample == "runs"
            comparisons.append(
                Comparison(
                    scores.algorithms[i],
                    scores.algorithms[j],
                    IMPROVEMENT,
                    None,
                    float(found.value[i, j]),
                    float(found.ends[0][i, j]),
                    float(found.ends[1][i, j]),
                    float(found.p_value[i, j]),
                    float(found.p_adjusted[i, j]),
                    self.how.level,
                    "newcombe" if alone else "delta_t" if found.sample == "runs" else SIGN_FLIPS,
                    0,
                    0.0,
                )
            )
        return comparisons

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
