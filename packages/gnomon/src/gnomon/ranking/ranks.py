"""Ranks with intervals, derived from pairwise comparisons.

The rank of an algorithm lies between 1 plus the number of algorithms that are significantly better
and K minus the number that are significantly worse. The pairs are those of
:func:`gnomon.stats.compare`: two algorithms are separated here if and only if it separates them
(by ``probability_of_improvement``, or by the mean of items).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, check_level, check_word, counted, listed, note
from gnomon.printing import latex_table, percent
from gnomon.ranking.ratings import RATINGS, By, Field, ground_of
from gnomon.results import FieldRecord, Results, Row, if_known, made_by, noted, recorded
from gnomon.scores.checks import own_scales
from gnomon.scores.columns import IntArray
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.all_pairs import PairwiseImprovement, pairwise_improvement
from gnomon.stats.comparison import Comparisons, compare
from gnomon.stats.distributions import normal_quantile
from gnomon.stats.estimates import estimate
from gnomon.stats.intervals import Resampling
from gnomon.stats.item_results import POWER
from gnomon.stats.items import refuse_options, votes_of

BoolArray = npt.NDArray[np.bool_]

WINS, ITEM_MEAN, BRADLEY_TERRY = "win-probability", "mean", "bradley-terry"


@dataclass(frozen=True)
class Ranked(FieldRecord):
    """Value and rank of one algorithm (or task) with their intervals, and its tiers.

    `resolvable` is that of the :class:`Ranking`.
    """

    name: str
    value: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    tiers: tuple[int, ...]
    resolvable: float | None = if_known()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ranking(Results[Ranked]):
    """Ranks with intervals: a sequence of records, best (or hardest) first.

    Arrays have the order of the records.

    Parameters
    ----------
    tiers : tuple of tuples of str
        The longest runs of consecutive names in which no pair is separated; they may overlap.
    probability : ndarray of float, shape (n, n)
        P(row better than column); of items the difference of means; NaN where two share no task.
    p_adjusted : ndarray of float, shape (n, n)
        P-values of the pairs, corrected for all of them.
    resolvable : float or None
        The smallest difference that is significant for a typical pair: the median over pairs of
        the smallest difference that would be significant, corrected for all pairs. Of wins it is
        the distance of P(X > Y) from one half. None if no difference of a typical pair would be
        significant.
    needed : float or None
        Number of tasks (items, votes) at which the first and the second are separated with power
        0.8 or more, if the true difference and variance are the observed ones:
        ``n ((d_min + z SE) / d)**2`` with the difference d on the present n, its standard error,
        the normal quantile z of the power, and the smallest significant difference d_min, corrected
        for all pairs. Infinite if d is 0 or no difference on n would be significant. None if runs
        are the sample or the two are not comparable.
    """

    tiers: tuple[tuple[str, ...], ...]
    probability: FloatArray
    p_adjusted: FloatArray
    resolvable: float | None
    needed: float | None

    drawn_by: ClassVar[str | None] = "gnomon.plot.tiers:ranking_figure"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names, best first."""
        return tuple(one.name for one in self)

    @cached_property
    def separated(self) -> BoolArray:
        """Which pairs are significantly different, shape (n, n)."""
        return np.asarray(self.p_adjusted <= 1.0 - self.level)

    @property
    def sample(self) -> str:
        """What is sampled: ``runs per task``, ``tasks``, ``items`` or ``votes``."""
        if "units" in self.settings:
            return "items" if self.settings["method"] == ITEM_MEAN else "votes"
        is_runs = self.settings["resampling"] == "runs"
        return "runs per task" if is_runs else f"{ground_of(self.settings['by'])}s"

    @property
    def level(self) -> float:
        """Confidence level."""
        return float(self.settings["level"])

    @property
    def title(self) -> str:
        """What the values are."""
        method, intervals = self.settings["method"], f"{percent(self.level)} intervals"
        if method == WINS and self.settings["by"] == "task":
            return f"probability of being harder than another task, {intervals}"
        if method == WINS:
            return f"mean win probability, {intervals}"
        if method == ITEM_MEAN:
            return f"mean over items, {intervals}"
        if "units" in self.settings:
            return f"ratings by the Bradley-Terry model, {intervals}"
        return f"ordered by {method}, {intervals} of ranks"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the ranks are based on, and how to read the tiers."""
        method, by = self.settings["method"], self.settings["by"]
        kind = self.sample if "units" in self.settings else by
        unit = "Tasks" if by == "task" else "Algorithms"
        some = np.isnan(self.p_adjusted[np.triu_indices(len(self), 1)]).any()
        untested = ", or were not tested" if some else ""
        alike = f"{unit} in the same tier are not significantly different{untested}."
        notes = [_BASIS[kind], alike]
        pairs = counted(len(self) * (len(self) - 1) // 2, "pair")
        if self.settings["resampling"] == "runs" or kind in ("items", "votes"):
            if len(self) > 2:
                notes.append(f"Tests have Holm's correction over {pairs}.")
        else:
            grounds = f"{ground_of(by)}s"
            corrected = (
                f"; tests have the max-t correction over {pairs} by random signs of the {grounds}"
            )
            notes.append(f"The {grounds} are the sample{corrected if len(self) > 2 else ''}.")
        notes.append(self._resolution)
        if method != WINS and kind == by:
            notes.append("Rank intervals are those of pairwise wins, whatever the order.")
        return tuple(notes)

    @property
    def _resolution(self) -> str:
        """The smallest difference that is significant, in a sentence."""
        if self.resolvable is None:
            return "No difference of a typical pair can be significant in a table of this size."
        least = f"a win probability of {0.5 + self.resolvable:.2f}"
        if "units" in self.settings:
            unit = "" if self.settings["method"] == ITEM_MEAN else " points"
            least = f"{self.resolvable:.3g}{unit}"
        return f"Smallest difference that is significant for a typical pair: {least}."

    def rows(self) -> list[Row]:
        """Return values, ranks and tiers in words."""
        return [
            {
                self.settings["by"]: one["name"],
                "value": one["value"],
                "low": one["low"],
                "high": one["high"],
                "rank": rank_range(one["rank_low"], one["rank_high"]),
                "tier": tier_text(one["tiers"]),
            }
            for one in self.as_records()
        ]

    def to_latex(self) -> str:
        """Return a table for a paper (booktabs), under a comment that describes how it was made."""
        # A list is joined by the dash that stands between numbers.
        rows = [{**row, "rank": row["rank"].split(" to ")} for row in self.rows()]
        return f"% {self.title}\n{latex_table(rows, list(rows[0]))}"


_BASIS = {
    "algorithm": (
        "Ranks are based on pairwise wins between runs on shared tasks; the size of the difference "
        "is ignored."
    ),
    "items": "Ranks are based on paired differences on shared items.",
    "votes": "Ranks are based on ratings from all votes; a lead of 400 points has odds of 10 to 1.",
    "task": (
        "A task is harder if runs of the same algorithm score worse on it; scores must have the "
        "same meaning on all tasks."
    ),
}


def rank(
    scores: Scores,
    method: str | None = None,
    *,
    by: By = "algorithm",
    level: float = 0.95,
    resampling: Resampling | None = None,
) -> Ranking:
    """Rank algorithms, with intervals of their ranks and tiers.

    Each pair of algorithms is compared by P(X > Y), averaged over the tasks that both have, by the
    test and the correction of :func:`gnomon.stats.compare`. The rank of an algorithm lies between 1
    plus the number of algorithms that are significantly better and K minus the number that are
    significantly worse; all these intervals hold together. The order is by the mean probability of
    winning against the others, ties by name. Tiers are the longest runs of consecutive algorithms
    in which no pair is separated.

    Parameters
    ----------
    scores : ScoreTable
        One score per run; a table with steps is ranked at the last step that all runs reach.
    method : str, optional
        Basis of the order: ``win-probability`` (the default), ``mean-rank``, ``gohr-ev`` (the ease
        ratios of the GOHR paper) or ``kemeny``. Rank intervals are those of pairwise wins, whatever
        the order. Items are ordered and compared by their ``mean``, unless a method is named; votes
        between two models at a time by ``bradley-terry``, with the comparisons of
        :func:`gnomon.stats.compare`.
    by : str
        ``algorithm``, or ``task`` for an order of difficulty, hardest first; scores must then have
        the same meaning on all tasks.
    level : float
        Confidence level.
    resampling : str, optional
        ``runs``: the tasks are fixed; ``runs_and_tasks``: the tasks are a sample. By default the
        second where there is one run per algorithm and task.

    Returns
    -------
    Ranking
        A sequence of records, best first: ``name``; ``value, low, high``, the mean probability of
        winning against the others with its interval (the mean of items; by another method its
        rating, without an interval); ``rank_low, rank_high``, the best and the worst possible rank;
        ``tiers``, the numbers, from 1, of the tiers to which it belongs; and ``resolvable``, the
        smallest difference that is significant for a typical pair.

    Raises
    ------
    ScoreDataError
        There are fewer than two algorithms with scores, or no two share a task.
    UnknownNameError
        There is no such method.
    ValueError
        The level is not between 0 and 1.

    Warns
    -----
    DegenerateScoresWarning
        Nothing can be separated (all runs are equal), an algorithm has single runs only, or two
        share no task.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for Ranks, Review of Economic Studies 91.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> errors = {name: rng.poisson(mean, (30, 4)) for name, mean in
    ...           {"dqn": 40, "tabular": 42, "uniform": 90}.items()}
    >>> ranking = rank(ScoreTable.from_arrays(errors, higher_is_better=False))
    >>> [(one.name, one.rank_low, one.rank_high) for one in ranking]
    [('dqn', 1, 2), ('tabular', 1, 2), ('uniform', 3, 3)]
    >>> ranking.tiers
    (('dqn', 'tabular'), ('uniform',))
    """
    scores = table_of(scores)
    check_level(level)
    check_word("by", by, ("algorithm", "task"))
    check_word("resampling", resampling or "runs", ("runs", "runs_and_tasks"))
    if are_votes := votes_of(scores) is not None:
        check_word("method", method or BRADLEY_TERRY, (BRADLEY_TERRY,))
        check_word("by", by, ("algorithm",))
    by_mean = scores.units == "items" and by == "algorithm" and method in (None, ITEM_MEAN)
    if are_votes or by_mean:
        refuse_options("items", resampling=resampling)
        return _rank_items(scores, level)
    method = method or WINS
    known = (WINS, *RATINGS)
    if scores.units == "items" and by == "algorithm":
        known = (ITEM_MEAN, *known)
    check_word("method", method, known)
    with recorded() as warned:
        if by == "task" and (unlike := own_scales(scores)) is not None:
            note(unlike)
        field = Field.of(scores, by)
        how: dict[str, Any] = {"level": level, "resampling": resampling}
        found = pairwise_improvement(field.samples, effects=field.shared, **how)
        _warn_of_degenerate(field, found)
    values, strength = np.array([found.mean, found.mean_low, found.mean_high]), found.mean
    if method in RATINGS:
        rate, sign = RATINGS[method]
        ratings = rate(field.samples, by == "task")
        values = np.array([ratings, *np.full((2, ratings.size), np.nan)])
        strength = sign * ratings
    return _assembled(
        field.names,
        values,
        strength,
        (found.value, found.p_adjusted, found.resolvable, np.sqrt(found.spread[1])),
        tuple(warned),
        resolvable=_typical(found.resolvable, 0.5),
        n_units=None if found.resampling == "runs" else found.n_shared,
        method=method,
        by=by,
        level=level,
        resampling=found.resampling,
    )


def _typical(resolvable: FloatArray, most: float) -> float | None:
    """Return the median over pairs, (n, n), None if it is above `most` or no pair is known."""
    of_pairs = resolvable[np.triu_indices(len(resolvable), 1)]
    known = np.sort(of_pairs[~np.isnan(of_pairs)])
    median = float(known[len(known) // 2]) if known.size else math.inf
    return median if math.isfinite(median) and median <= most else None


def _warn_of_degenerate(field: Field, found: PairwiseImprovement) -> None:
    """Warn of names that cannot be compared, with the reason."""
    ground = ground_of(field.by)
    apart = np.argwhere(np.triu(found.n_shared == 0, 1))
    if len(apart):
        i, j = apart[0]
        note(
            f"not comparable: {field.names[i]} and {field.names[j]} share no {ground}"
            + (f" ({counted(len(apart), 'such pair')})" if len(apart) > 1 else "")
        )
    on_each = [np.concatenate(row) for row in field.samples]
    if all(np.unique(x).size < 2 for x in on_each):
        never = all(np.isinf(x).all() for x in on_each)
        why = "every run is censored" if never else f"all scores on a {ground} are equal"
        note(f"no differences: {why}")
        return
    single = [n for n, size in zip(field.names, field.sizes.T, strict=True) if size.max() == 1]
    if found.resampling == "runs_and_tasks":
        if len(single) == len(field.names):
            note(f"one run per algorithm and task, so the {ground}s are treated as a sample")
    elif single:
        note(
            f"{listed(single, 6)}: single runs cannot be compared with the several runs of other "
            f"{field.by}s"
        )


def _assembled(
    names: Sequence[str],
    values: FloatArray,
    strength: FloatArray,
    pairs: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    warned: tuple[str, ...],
    *,
    resolvable: float | None,
    n_units: IntArray | None,
    neutral: float = 0.5,
    sign: float = 1.0,
    **settings: Any,
) -> Ranking:
    """Return the ranking by strength of values with their intervals.

    `pairs` are value, p-value, smallest significant difference and standard error, `n_units` the
    number of tasks, items or votes behind each value; None where runs are the sample.
    """
    keys = np.round(np.where(np.isnan(strength), -np.inf, strength), 12)
    order = sorted(range(len(names)), key=lambda i: (-keys[i], names[i]))
    probability, p_adjusted, least, errors = (x[np.ix_(order, order)] for x in pairs)
    needed = None
    if n_units is not None and not math.isnan(p_adjusted[0, 1]):
        distance = abs(float(probability[0, 1]) - neutral)
        wanted = float(least[0, 1] + normal_quantile(2.0 * POWER - 1.0) * errors[0, 1])
        is_known = distance > 0.0 and math.isfinite(wanted)
        n = float(n_units[order[0], order[1]])
        needed = n * (wanted / distance) ** 2 if is_known else math.inf
    separated = p_adjusted <= 1.0 - settings["level"]
    better = separated & (sign * (probability - neutral) > 0.0)
    low, high = 1 + better.sum(axis=0), len(names) - better.sum(axis=1)
    ordered = [names[i] for i in order]
    groups = tiers(ordered, separated)
    of: dict[str, list[int]] = {name: [] for name in ordered}
    for number, group in enumerate(groups, 1):
        for name in group:
            of[name].append(number)
    columns = zip(ordered, values[:, order].T.tolist(), low.tolist(), high.tolist(), strict=True)
    return Ranking(
        tuple(
            Ranked(name, value, start, end, i, j, tuple(of[name]), resolvable)
            for name, (value, start, end), i, j in columns
        ),
        made_by(None, **settings),
        warned,
        tiers=groups,
        probability=probability,
        p_adjusted=p_adjusted,
        resolvable=resolvable,
        needed=needed,
    )


def rank_range(low: int, high: int) -> str:
    """Return a rank interval in words: ``2 to 4``."""
    return str(low) if low == high else f"{low} to {high}"


def tier_text(numbers: Sequence[int]) -> str:
    """Return the numbers of tiers as text: ``1, 2``."""
    return ", ".join(map(str, numbers))


def _rank_items(scores: ScoreTable, level: float) -> Ranking:
    """Rank models by their means over items; pairs are separated by their paired differences."""
    names = scores.algorithms
    if len(names) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {names[0]} alone")
    with recorded() as notes:
        found = compare(scores, level=level)
    with noted():  # Ranks follow from the comparisons, whose warnings are kept.
        means = estimate(scores, level=level)
    sign = 1.0 if scores.higher_is_better else -1.0
    values = np.array([[one.value, one.low, one.high] for one in means]).T
    difference, p = np.full((2, len(names), len(names)), np.nan)
    np.fill_diagonal(difference, 0.0)
    n_units = np.full(p.shape, len(scores.tasks))  # all votes bear on each pair
    for (i, j), one in zip(combinations(range(len(names)), 2), found, strict=True):
        difference[i, j], difference[j, i] = one.value, -one.value
        p[i, j] = p[j, i] = one.p_adjusted
        if means[0].metric == ITEM_MEAN:
            n_units[i, j] = n_units[j, i] = one.n_items
    sizes = np.array([one.n_clusters or one.n_tasks for one in means], dtype=np.float64)
    least, errors = _resolved_by_items(found, sizes, level)
    return _assembled(
        names,
        np.where(np.isinf(values), np.nan, values),  # a rating that does not exist
        sign * values[0],
        (difference, p, least, errors),
        tuple(notes),
        resolvable=_typical(least, math.inf),
        n_units=n_units,
        neutral=0.0,
        sign=sign,
        method=means[0].metric,
        by="algorithm",
        units="items",
        cluster=scores.cluster,
        level=level,
        resampling="runs_and_tasks",
    )


def _resolved_by_items(found: Comparisons, sizes: FloatArray, level: float) -> FloatArray:
    """Return the smallest difference of each pair that is significant among all, and its error.

    Shape (2, n, n). For a pair alone, `detectable` is the sum of two quantiles, of the level and of
    the power, times the standard error.
    """
    from scipy import special

    i, j = np.triu_indices(len(sizes), 1)
    detectable = np.array([np.nan if x.detectable is None else x.detectable for x in found])
    df = np.maximum(np.minimum(sizes[i], sizes[j]) - 1.0, 1.0)
    tail = (1.0 - level) / 2.0
    error = detectable / (special.stdtrit(df, POWER) - special.stdtrit(df, tail))
    both = np.full((2, len(sizes), len(sizes)), np.nan)
    both[:, i, j] = both[:, j, i] = -special.stdtrit(df, tail / len(found)) * error, error
    return both


def tiers(names: Sequence[str], separated: npt.NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
    """Return the longest runs of consecutive names in which no pair is separated.

    Parameters
    ----------
    names : sequence of str
        In the order of the ranks.
    separated : ndarray of bool, shape (names, names)
        Whether each pair is significantly different, in the same order.

    Returns
    -------
    tuple of tuples of str
        The tiers, best first. They may overlap.

    Examples
    --------
    >>> separated = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> tiers(["a", "b", "c"], separated)
    (('a', 'b'), ('b', 'c'))
    """
    groups: list[tuple[str, ...]] = []
    reached = 0
    for begin in range(len(names)):
        end = max(reached, begin + 1)
        while end < len(names) and not separated[end, begin:end].any():
            end += 1
        if end > reached:
            groups.append(tuple(names[begin:end]))
            reached = end
    return tuple(groups)
