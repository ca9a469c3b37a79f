"""Records of a leaderboard: contenders, scores, standings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import ArrayLike

    from gnomon.ranking import Ranked
    from gnomon.stats import Estimate

#: How the scores of an entry are summed up; the first is shown unless another is asked for.
METRICS = ("iqm", "mean", "median")
LEVEL = 0.95

Why = Literal["incomplete", "withdrawn attempt", "refused attempt", "unfinished attempt"]


@dataclass(frozen=True, slots=True)
class Contender:
    """An entry as the board tells of it.

    Parameters
    ----------
    entry_id : int
    name, account : str
    n_attempts, n_verified, n_withdrawn : int
        How often it was tried, in all; how many of these were verified; how many of those were
        taken back.
    n_refused : int
        How many were used up without ever counting: refused, given up, or withdrawn before.
    n_unfinished : int
        How many were begun and are neither finished nor closed.
    n_begun_of_account : int
        Attempts that its account has begun in the season, with all its entries: what the interval
        of its rank is corrected for.
    also_begun : tuple of str
        Other entries of the account that were begun, by name, withdrawn ones too.
    """

    entry_id: int
    name: str
    account: str = ""
    n_attempts: int = 1
    n_verified: int = 1
    n_withdrawn: int = 0
    n_refused: int = 0
    n_unfinished: int = 0
    n_begun_of_account: int = 1
    also_begun: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Board:
    """All scores of a season: who, on which rules, and a row a trial.

    Parameters
    ----------
    season : str
    rules : mapping from str to bool
        Each rule by its public name, and whether it is hidden.
    trials : int
        Trials that every entry owes on every rule, for each attempt.
    contenders : sequence of Contender
        With different names.
    scores : polars.DataFrame
        Columns ``entry, rule, run, score``: entry id, public name of the rule, a number that tells
        the entry's trials on it apart, and the terminal cumulated errors.
    version : int
        Of the season, as the database counts it.
    seed : int
        Of the resamples, so that the same scores give the same standings.
    notes : tuple of str
        What a reader of the board should know beside the scores.
    """

    season: str
    rules: Mapping[str, bool]
    trials: int
    contenders: Sequence[Contender]
    scores: pl.DataFrame
    version: int = 1
    seed: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """A value with its interval; None for what is not estimable."""

    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, estimate: Estimate) -> Number:
        """Take over an estimate."""
        record = estimate.as_record()
        return cls(record["value"], record["low"], record["high"])

    @classmethod
    def odds(cls, ranked: Ranked) -> Number:
        """Return the logarithm of the odds of a win probability, cut at a thousand to one."""
        ends = (min(max(p, 0.001), 0.999) for p in (ranked.value, ranked.low, ranked.high))
        return cls(*(None if math.isnan(p) else math.log(p / (1.0 - p)) for p in ends))

    @classmethod
    def median(cls, errors: ArrayLike) -> Number:
        """Return the median of the trials' errors; what is infinite is not estimable."""
        from gnomon.stats import median_interval

        ends = median_interval(errors, level=LEVEL)
        return cls(*(x if math.isfinite(x) else None for x in map(float, ends)))


@dataclass(frozen=True, slots=True)
class Difference(Number):
    """Errors on hidden rules minus errors on public ones, with its interval."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of the board.

    Parameters
    ----------
    contender : Contender
    estimates : mapping from str to Number
        By the name of the metric.
    rank_low, rank_high : int or None
        The ranks that the data leave possible; None without a rank.
    groups : tuple of int
        Numbers of the tiers, from 1.
    gap : Difference or None
        Where the season has hidden rules and public ones.
    n_trials : int
        How many trials stand behind it.
    why : str or None
        Why there is no rank.
    rating : Number or None
        What the order goes by: the logarithm of the odds of the mean win probability of ``gnomon
        rank``, which are the pairs of trials won for each one lost against the others; None where
        there is no ranking.
    """

    contender: Contender
    estimates: Mapping[str, Number]
    rank_low: int | None
    rank_high: int | None
    groups: tuple[int, ...]
    gap: Difference | None
    n_trials: int
    why: Why | None = None
    rating: Number | None = None


@dataclass(frozen=True)
class Standings:
    """The board of a season.

    Parameters
    ----------
    season, version
        Of what, and of which state of it.
    ranked : tuple of Standing
        Best first.
    unranked : tuple of Standing
        In the order of their names.
    rules : tuple of mappings
        ``name, hidden, rank_low, rank_high, groups``, hardest first; without ranks where there are
        fewer than two rules, or no entry.
    notes : tuple of str
        What the statistics warned of.
    level : float
    method : str
        Of the ranking.
    n_trials : int
        Verified trials of ranked entries.
    """

    season: str
    version: int
    ranked: tuple[Standing, ...]
    unranked: tuple[Standing, ...]
    rules: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()
    level: float = LEVEL
    method: str = "win-probability"
    n_trials: int = 0
    metrics: tuple[str, ...] = field(default=METRICS)

    @property
    def has_gap(self) -> bool:
        """Whether the season has rules of both kinds."""
        return len({rule["hidden"] for rule in self.rules}) > 1

    def as_record(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Standings:
        """Return the standings of a record; the inverse of :meth:`as_record`."""
        return TypeAdapter(cls).validate_python(record)
