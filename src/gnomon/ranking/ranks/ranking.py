"""Rankings: ratings with rank intervals and tie groups, and what it takes to separate two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._io.tables import latex_table
from gnomon.errors import counted
from gnomon.ranking.contest import By
from gnomon.ranking.ranks.rating_noise import RatingNoise
from gnomon.ranking.ranks.tie_groups import group_letters
from gnomon.ranking.ratings.method_orders import rounded
from gnomon.results import FieldRecord, Results, Row
from gnomon.scores.table import FloatArray
from gnomon.stats.estimates import Resampling

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Decision:
    """Ratings whose differences must be beyond their noise for a pair to be separated.

    Parameters
    ----------
    ratings : ndarray of float, shape (n,)
    noise : RatingNoise
        Standard errors of all differences, and how many of them separate.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = {"a": [[x] for x in range(3, 11)], "b": [[x] for x in range(8)]}
    >>> found = gn.rank(gn.ScoreTable.from_arrays(scores), n_resamples=50).decisions[0]
    >>> found.separates(found.ratings[:, None] - found.ratings).shape
    (2, 2)
    """

    ratings: FloatArray
    noise: RatingNoise

    def reordered(self, order: Sequence[int]) -> Decision:
        """Return the same with contestants in another order."""
        return Decision(self.ratings[order], self.noise.reordered(order))

    def separates(self, lead: FloatArray, *, marginal: bool = False) -> npt.NDArray[np.bool_]:
        """Return which pairs it separates in the direction of a lead, both of shape (n, n)."""
        own = self.ratings[:, None] - self.ratings
        agrees = np.sign(own) == np.sign(lead)
        return np.asarray(agrees & self.noise.separates(own, marginal=marginal))


@dataclass(frozen=True)
class Ranked(FieldRecord):
    """Rating and rank of one contestant, each with its interval.

    Parameters
    ----------
    name, method : str
    rating, low, high : float
        The rating with its interval, inside what the method can give; NaN where not estimable.
    rank_low, rank_high : int
        Ranks from the best to the worst possible.
    groups : tuple of int
        Numbers, from 1, of the tie groups of which it is a member.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = {"a": [[x] for x in range(3, 11)], "b": [[x] for x in range(8)]}
    >>> found = gn.rank(gn.ScoreTable.from_arrays(scores), n_resamples=50)[0]
    >>> found.name, found.rank_low
    ('a', 1)
    """

    name: str
    method: str
    rating: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    groups: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ranking(Results[Ranked]):
    """A ranking, with the uncertainty of its ratings and ranks.

    A sequence of :class:`Ranked`, best (or hardest) first; arrays have the same order. Contestants
    of different components stand one component after the other, the largest first; that says
    nothing.

    Parameters
    ----------
    groups : tuple of tuples of str
        Tie groups: the longest stretches of the order of which no pair is separated. They overlap.
    above : ndarray of float, shape (n, n)
        Share of resamples in which i is rated above j.
    separated : ndarray of bool, shape (n, n)
        Which pairs the data separate, all decisions together at the level.
    decisions : tuple of Decision
        All of them must separate a pair: the ratings themselves, unless they come in steps, and
        those of ``hodge``.
    components : tuple of tuples of str
        Who can be ordered against whom.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = {"a": [[x] for x in range(3, 11)], "b": [[x] for x in range(8)]}
    >>> found = gn.rank(gn.ScoreTable.from_arrays(scores), n_resamples=50)
    >>> found.names, found.method
    (('a', 'b'), 'hodge')
    """

    groups: tuple[tuple[str, ...], ...]
    above: FloatArray
    separated: npt.NDArray[np.bool_]
    decisions: tuple[Decision, ...]
    components: tuple[tuple[str, ...], ...]

    drawn_by: ClassVar[str | None] = "gnomon.plot.ranks:draw_ranking"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Contestants, best first."""
        return tuple(one.name for one in self)

    @cached_property
    def ratings(self) -> FloatArray:
        """Ratings, shape (n,)."""
        return np.array([one.rating for one in self])

    @cached_property
    def low(self) -> FloatArray:
        """Lower ends of the ratings' intervals, shape (n,)."""
        return np.array([one.low for one in self])

    @cached_property
    def high(self) -> FloatArray:
        """Upper ends of the ratings' intervals, shape (n,)."""
        return np.array([one.high for one in self])

    @cached_property
    def rank_low(self) -> IntArray:
        """Best possible ranks, shape (n,)."""
        return np.array([one.rank_low for one in self])

    @cached_property
    def rank_high(self) -> IntArray:
        """Worst possible ranks, shape (n,)."""
        return np.array([one.rank_high for one in self])

    @property
    def method(self) -> str:
        """The method of the ratings."""
        return str(self.settings["method"])

    @property
    def by(self) -> By:
        """What is ranked: algorithms or tasks."""
        by: By = self.settings["by"]
        return by

    @property
    def level(self) -> float:
        """Confidence level of intervals and separations."""
        return float(self.settings["level"])

    @property
    def resampling(self) -> Resampling:
        """What was drawn: runs, or tasks as well."""
        drawn: Resampling = self.settings["resampling"]
        return drawn

    @property
    def noise(self) -> RatingNoise:
        """Noise of the first of the ratings that decide."""
        return self.decisions[0].noise

    @property
    def title(self) -> str:
        """The method, and how far intervals and ranks hold."""
        ranks = "ranks hold one by one" if self.settings["marginal"] else "ranks hold together"
        return f"{self.method}, {100.0 * self.level:.4g}% intervals, {ranks}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the order counts, over what it is decided, and how to read the letters."""
        missing = any(math.isnan(one.low) for one in self)
        kind = "items" if self.settings.get("units") == "items" else self.by
        return (*_LEGEND[kind], self._family, *([_NO_INTERVAL] if missing else []))

    @property
    def _family(self) -> str:
        """Over how many pairs at once the error of separating equals is held."""
        n_pairs = len(self) * (len(self) - 1) // 2
        how = self.settings.get("correction", "max-t")
        if self.settings["marginal"]:
            return f"Ranks are decided pair by pair, letters over all pairs together ({how})."
        return f"Decided over {counted(n_pairs, 'pair')} together ({how})."

    def rows(self) -> list[Row]:
        """Return ranks and tie groups in words."""
        return [
            {
                self.by: one["name"],
                "rating": one["rating"],
                "low": one["low"],
                "high": one["high"],
                "rank": rank_range(one["rank_low"], one["rank_high"]),
                "tie group": group_letters(one["groups"]),
            }
            for one in self.as_records()
        ]

    def to_latex(self) -> str:
        """Return a table for a paper (booktabs), under a comment that says how it was made."""
        drawn, seed = self.resampling.replace("_", " "), self.settings["seed"]
        how = f"{self.title}, {self.settings['n_resamples']} resamples of {drawn}"
        # A list is joined by the dash that stands between numbers.
        rows = [{**row, "rank": row["rank"].split(" to ")} for row in self.rows()]
        comment = f"% {how}" + ("" if seed is None else f", seed {seed}")
        return f"{comment}\n{latex_table(rows, list(rows[0]))}"


_LEGEND = {
    "algorithm": (
        "A place is by wins, run against run on common tasks, against everybody here; by how much "
        "does not count. Means, and two compared by themselves, may order otherwise (gnomon audit "
        "names such pairs).",
        "Those who share a letter are not separated by these data; those who share none may be: "
        "the ranks tell.",
    ),
    "items": (
        "A place is by the mean over items; two are separated by their paired difference on the "
        "items that both have.",
        "Those who share a letter are not separated by these data; those who share none may be: "
        "the ranks tell.",
    ),
    "task": (
        "Harder is the task on which runs of the same algorithm score worse; by how much does not "
        "count. That holds only where scores mean the same on all tasks.",
        "Those that share a letter are not separated by these data; those that share none may be: "
        "the ranks tell.",
    ),
}
_NO_INTERVAL = "No interval (-): too few runs, or a rating that no resample changes."


def rank_range(low: int, high: int) -> str:
    """Return a rank interval in words.

    Examples
    --------
    >>> rank_range(1, 1), rank_range(2, 4)
    ('1', '2 to 4')
    """
    return str(low) if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class Separation:
    """Whether two contestants are separated, and the runs or tasks that it takes.

    Parameters
    ----------
    a, b : str
        The better one first.
    separated : bool
        Whether the data do already.
    share_above : float
        Share of resamples in which a is above b.
    unit : str
        What there must be more of: ``runs`` (of either, for each task) or ``tasks``.
    present : float
        How many there are; the harmonic mean where they differ.
    needed : float
        How many to separate them with the power asked for, if the difference of the ratings that
        decide (see :class:`Ranking`) is as it looks; infinite
        where it is 0 or the other way round, or the ratings themselves are equal; NaN where not
        estimable.

    Examples
    --------
    >>> import gnomon as gn
    >>> draws = np.random.default_rng(0)
    >>> scores = {a: draws.normal(m, 1, (10, 4)) for a, m in {"a": 9, "b": 0}.items()}
    >>> found = separation(gn.rank(gn.ScoreTable.from_arrays(scores)), "a", "b")
    >>> found.separated, found.unit, found.present
    (True, 'runs', 10.0)
    """

    a: str
    b: str
    separated: bool
    share_above: float
    unit: str
    present: float
    needed: float

    @property
    def further(self) -> float:
        """How many more; 0 if separated."""
        return 0.0 if self.separated else max(self.needed - math.floor(self.present), 1.0)


def separation(ranking: Ranking, a: str, b: str, *, power: float = 0.8) -> Separation:
    """Compute how many runs (or tasks) would separate two contestants.

    Standard errors shrink with the square root of the number of runs, while the difference and the
    number of standard errors that separate stay. Those of few runs are longer than that, so from
    fewer runs to more it says rather too many, and of a pair that is separated, too few.

    Parameters
    ----------
    ranking : Ranking
    a, b : str
        Names in the ranking.
    power : float
        Probability of separating them with that many.

    Examples
    --------
    >>> import gnomon as gn
    >>> draws = np.random.default_rng(0)
    >>> scores = {a: draws.normal(m, 1, (10, 4)) for a, m in {"a": 0.2, "b": 0}.items()}
    >>> found = separation(gn.rank(gn.ScoreTable.from_arrays(scores)), "a", "b")
    >>> found.separated, found.needed > found.present
    (False, True)
    """
    i, j = sorted((ranking.names.index(a), ranking.names.index(b)))
    needed = [_needed(decision, i, j, power) for decision in ranking.decisions]
    shown = rounded(ranking.ratings)
    equal = shown[i] == shown[j] and not np.isnan(needed).any()
    draws = ranking.noise.n_draws
    return Separation(
        ranking.names[i],
        ranking.names[j],
        bool(ranking.separated[i, j]),
        float(ranking.above[i, j]),
        "tasks" if ranking.resampling == "runs_and_tasks" else "runs",
        float(min(draws[i], draws[j])),
        math.inf if equal else float(np.max(needed)),
    )


def _needed(decision: Decision, i: int, j: int, power: float) -> float:
    """Return how many would separate two by ratings of which i's should be the higher."""
    from scipy.special import ndtri

    noise = decision.noise
    difference = float(decision.ratings[i] - decision.ratings[j])
    steps = noise.critical + float(ndtri(power))
    present = float(min(noise.n_draws[i], noise.n_draws[j]))
    error = float(noise.difference_errors[i, j])
    if not math.isfinite(error) or math.isnan(difference):
        return math.nan
    if difference <= 0.0:
        return math.inf
    return float(math.ceil(present * (steps * error / difference) ** 2))
