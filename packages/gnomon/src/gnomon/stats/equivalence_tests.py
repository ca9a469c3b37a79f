"""Equivalence of algorithms: two one-sided tests that their difference is within a margin.

A difference that is not significant is not evidence of equality. To show that two algorithms
are equally good takes a margin, the largest difference that does not matter, and two one-sided
tests: that the difference is above minus the margin, and that it is below the margin (Schuirmann
1987). Both have to succeed, each at alpha, and no correction is needed for there being two (Berger
and Hsu 1996). They do so exactly if the 1 - 2 alpha interval lies inside the margin.

Tests are made by inverting the interval of :func:`~gnomon.stats.comparison.compare`,
and so have its standard error and degrees of freedom, whatever method it takes: p is the least
alpha whose 1 - 2 alpha interval lies inside the margin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.results import Results, Row, generator, noted
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import ScoreTable, Units
from gnomon.stats.bootstrap import draw_key
from gnomon.stats.comparison import (
    Comparison,
    Comparisons,
    chosen_pair,
    compare,
    metrics_to_compare,
)
from gnomon.stats.difference import IMPROVEMENT, Difference, Differences
from gnomon.stats.intervals import Method, Rule, Variances, checked
from gnomon.stats.items import Differences as ItemDifferences
from gnomon.stats.items import Items, counted_as
from gnomon.stats.metrics import METRICS, Metric, Metrics, metric_list
from gnomon.stats.rank_tests import holm

#: The smallest p-value that is searched for, and the highest alpha tried: the interval of a higher
#: one is as good as a point, which is refused.
LEAST_P, MOST_P = 1e-9, 0.4999
#: Halvings of the logarithm of alpha: to a relative precision of 1e-6.
N_HALVINGS = 25

#: From a level to the ends of the interval.
Ends = Callable[[float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Equivalence(Comparison):
    """Whether two algorithms differ by less than a margin.

    Parameters
    ----------
    a, b, metric, task, value, low, high, p_value, p_adjusted, level, method, better
        As in :class:`~gnomon.stats.comparison.Comparison`.
    margin : float
        The largest difference that does not matter, in units of the metric; for
        ``probability_of_improvement`` the distance from 0.5.
    equivalence_low, equivalence_high : float
        Ends of the interval that decides: at level 0.95 that of 90 %.
    share_within : float
        Share of that interval inside the margin: 1 if, and only if, the tests succeed uncorrected.
    p_equivalence : float
        Of the two one-sided tests the larger p-value, that the difference is beyond the margin.
    p_equivalence_adjusted : float
        By Holm's correction, as `p_adjusted`: over the pairs, or tasks, of each metric.
    verdict : str
        ``equivalent``, ``different``, ``different and equivalent`` (a difference, but one that does
        not matter) or ``cannot tell``, by the adjusted p-values; ``not estimable`` without them.
    """

    margin: float
    equivalence_low: float
    equivalence_high: float
    share_within: float
    p_equivalence: float
    p_equivalence_adjusted: float
    verdict: str


@dataclass(frozen=True, eq=False, repr=False)
class Equivalences(Results[Equivalence]):
    """Tests of equivalence of two algorithms or of all pairs; see :func:`equivalence`."""

    columns = (
        *("a", "b", "metric", "task", "value", "equivalence_low", "equivalence_high"),
        *("share_within", "p_difference", "p_equivalence", "verdict"),
    )
    drawn_by = "gnomon.plot.dots:comparison_figure"

    def rows(self) -> Sequence[Row]:
        """Return what people see: the corrected p-values, under plain names."""
        corrected = (("p_difference", "p_adjusted"), ("p_equivalence", "p_equivalence_adjusted"))
        return [row | {to: row[of] for to, of in corrected} for row in self.as_records()]

    @property
    def title(self) -> str:
        """Between which differences algorithms count as equally good."""
        margin, level = self.settings["margin"], self.settings["level"]
        of_probability = any(one.metric == IMPROVEMENT for one in self)
        what, neutral = ("P(a better)", 0.5) if of_probability else ("a minus b", 0.0)
        return (
            f"equivalent: {what} between {neutral - margin:g} and {neutral + margin:g}, by "
            f"the {100 * (2 * level - 1):g} % interval"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the p-values are of, and what they are corrected for."""
        what = "tasks" if any(one.task is not None for one in self) else "pairs"
        alone = len({(one.a, one.b, one.task) for one in self}) == 1
        text = "p_equivalence: that the difference is beyond the margin, on either side"
        return (text if alone else f"{text}; corrected over the {what} of each metric (Holm)",)

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        of_tasks = any(row["task"] is not None for row in rows)
        return [name for name in self.columns if of_tasks or name != "task"]


def equivalence(
    scores: Scores,
    a: str | None = None,
    b: str | None = None,
    *,
    margin: float,
    metrics: Metrics | None = None,
    units: Units | None = None,
    cluster: str | None = None,
    per_task: bool = False,
    paired: bool = False,
    level: float = 0.95,
    method: Method = "auto",
    variances: Variances = "moderated",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator | int | None = None,
) -> Equivalences:
    """Test whether algorithms differ by less than a margin: two one-sided tests.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run.
    a, b : str, optional
        The algorithms; without them every pair of the table.
    margin : float
        The largest difference that does not matter, above 0, in units of the metric; for
        ``probability_of_improvement`` below 0.5, on either side of 0.5. It is to be chosen before
        the scores are seen.
    metrics, units, cluster, per_task, paired, level, method, variances, n_resamples, gamma, rng
        As in :func:`~gnomon.stats.comparison.compare`; the metrics are ``mean``,
        ``median`` and ``iqm`` if not given, of items ``mean``; `per_task` for two algorithms.
        Each one-sided test has level ``1 - level``.

    Returns
    -------
    Equivalences
        In the order of :func:`compare`.

    Raises
    ------
    ScoreDataError
        The margin is not above 0 or fits no probability, a probability and differences are asked
        for with one margin, or as in :func:`compare`.

    Warns
    -----
    DegenerateScoresWarning
        As in :func:`compare`.

    Notes
    -----
    p-values below 1e-9 are given as that, those from n resamples as at least 1 / (n + 1).

    Examples
    --------
    >>> from gnomon.stats import equivalence
    >>> x = np.random.default_rng(0).normal(size=(10, 5))
    >>> scores = ScoreTable.from_arrays({"dqn": x, "sac": x[::-1] + 0.01})
    >>> for margin in (0.1, 1.0):
    ...     (one,) = equivalence(scores, "dqn", "sac", margin=margin, metrics="mean")
    ...     print(f"{margin}: p = {one.p_equivalence:.3f}, {one.verdict}")
    0.1: p = 0.362, cannot tell
    1.0: p = 0.000, equivalent
    """
    scores = counted_as(table_of(scores), units, cluster)
    of_items = scores.units == "items"
    wanted = metric_list(metrics or ("mean" if of_items else METRICS[:3]))
    _check_margin(margin, wanted)
    seed = int(generator(rng).integers(2**63)) if isinstance(rng, np.random.Generator) else rng
    how: dict[str, Any] = {"level": level, "method": method}
    how |= {"variances": variances, "n_resamples": n_resamples}
    asked: dict[str, Any] = {"per_task": per_task, "paired": paired, "gamma": gamma, "rng": seed}
    first = compare(scores, a, b, wanted, **asked, **how)
    if of_items:
        all_ends = _ends_of_items(scores, first)
    else:
        draws = generator(seed)
        rule = Rule.of(draws, **how)
        pair = chosen_pair(scores, a, b)
        differences = Differences(scores, rule, draw_key(draws), pair=pair, paired=paired)
        kinds = metrics_to_compare(wanted, gamma, scores.higher_is_better)
        all_ends = _ends_of_tasks(differences, first, {metric.name: metric for metric in kinds})
    with noted():  # the warnings of `compare` once more
        found = [
            _tested(one, margin, ends, n_resamples)
            for one, ends in zip(first, all_ends, strict=True)
        ]
    return Equivalences(_judged(found), {**first.settings, "margin": margin}, first.warnings)


def _check_margin(margin: float, metrics: Sequence[str | Metric]) -> None:
    """Refuse a margin that is none, or that cannot be one for all metrics."""
    of_probability = [metric == IMPROVEMENT for metric in metrics]
    most = 0.5 if all(of_probability) else math.inf
    if not 0.0 < margin < most:
        within = "between 0 and 0.5" if all(of_probability) else "a number above 0"
        raise ScoreDataError(f"margin of equivalence: expected {within}, found {margin:g}")
    if any(of_probability) and not all(of_probability):
        raise ScoreDataError(
            f"margin of equivalence: {IMPROVEMENT} and differences of scores have no margin in "
            "common; ask for one kind at a time"
        )


def _ends_of_items(scores: ScoreTable, first: Comparisons) -> Iterator[Ends]:
    items = cache(lambda metric: Items(scores, metric))
    for one in first:
        of = items(one.metric).differences([(one.a, one.b)])

        def ends(level: float, of: ItemDifferences = of) -> tuple[float, float]:
            low, high = of.interval(level)
            return float(low[0]), float(high[0])

        yield ends


def _ends_of_tasks(
    differences: Differences, first: Comparisons, metrics: Mapping[str, Metric]
) -> Iterator[Ends]:
    for one in first:
        found = differences.of(one.a, one.b, metrics[one.metric], one.task)

        def ends(level: float, found: Difference = found) -> tuple[float, float]:
            interval, _ = checked(found.interval(level), found.size)
            return interval.low, interval.high

        yield ends


def _tested(found: Comparison, margin: float, ends: Ends, n_resamples: int) -> Equivalence:
    """Return a comparison with its tests of equivalence, not yet corrected or judged."""
    neutral = 0.5 if found.metric == IMPROVEMENT else 0.0
    least, most = neutral - margin, neutral + margin
    low, high = math.nan, math.nan
    p_value = math.nan
    if math.isfinite(found.low) and math.isfinite(found.high):
        low, high = ends(2.0 * found.level - 1.0)
        p_value = _p_value(found.value, least, most, ends)
        if found.method == "percentile":  # resamples show no smaller one
            p_value = max(p_value, 1.0 / (n_resamples + 1))
    shared = {field.name: getattr(found, field.name) for field in fields(Comparison)}
    return Equivalence(
        **shared,
        margin=margin,
        equivalence_low=low,
        equivalence_high=high,
        share_within=_share(low, high, least, most),
        p_equivalence=p_value,
        p_equivalence_adjusted=p_value,
        verdict="not estimable",
    )


def _p_value(value: float, least: float, most: float, ends: Ends) -> float:
    """Return the larger p-value of the two tests: that the truth is above `least`, below `most`."""

    def inside(low: float, high: float) -> bool:
        return least < low and high < most

    def outside(low: float, high: float) -> bool:
        return low > most or high < least

    if least < value < most:
        return _least_alpha(inside, ends)
    return 1.0 - _least_alpha(outside, ends)


def _least_alpha(holds: Callable[[float, float], bool], ends: Ends) -> float:
    """Return the least alpha, at most one half, for whose 1 - 2 alpha interval this holds."""
    if holds(*ends(1.0 - 2.0 * LEAST_P)):
        return LEAST_P
    if not holds(*ends(1.0 - 2.0 * MOST_P)):
        return 0.5
    low, high = math.log(LEAST_P), math.log(MOST_P)
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2.0
        beyond = holds(*ends(1.0 - 2.0 * math.exp(middle)))
        low, high = (low, middle) if beyond else (middle, high)
    return math.exp(high)


def _share(low: float, high: float, least: float, most: float) -> float:
    """Return the share of an interval that lies between two limits."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return math.nan
    if low >= least and high <= most:
        return 1.0
    return max(min(high, most) - max(low, least), 0.0) / (high - low)


def _judged(found: Sequence[Equivalence]) -> tuple[Equivalence, ...]:
    """Return the records with verdicts, corrected over the pairs, or tasks, of each metric."""
    families: dict[tuple[str, bool], list[int]] = {}
    for place, one in enumerate(found):
        families.setdefault((one.metric, one.task is None), []).append(place)
    judged = [*found]
    for places in families.values():
        corrected = holm([found[place].p_equivalence for place in places])
        for place, p_value in zip(places, corrected.tolist(), strict=True):
            one = found[place]
            if math.isnan(p_value):
                continue
            tests = [("different", one.p_adjusted), ("equivalent", p_value)]
            verdict = " and ".join(word for word, p in tests if p <= 1.0 - one.level)
            judged[place] = replace(
                one, p_equivalence_adjusted=p_value, verdict=verdict or "cannot tell"
            )
    return tuple(judged)
