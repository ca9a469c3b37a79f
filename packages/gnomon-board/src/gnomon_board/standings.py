"""Standings of a season: errors, rank intervals and tiers from verified scores, and their pages.

Errors are :func:`gnomon.estimate`'s interquartile means, each with its own variances; ranks are
derived from the pairs of :func:`gnomon.rank`. All verified assignments of an entry count together,
as runs of one learner. An entry that lacks a trial, or has an assignment that was withdrawn,
refused, not verified by the server or (in the hidden division) begun and not finished, has no rank,
since its remaining ones may be a selection. In the replayed division an assignment that was never
sent is only counted in k below: the board cannot see whether it was played in private.

Three rules keep further entries from steering the ranks:

* Two entries are separated by their own pairwise test only. Further entries add pairs to Holm's
  correction and change nothing else.
* Every account is one rival. The best possible rank of an entry is 1 plus the number of other
  accounts with an entry that is significantly better, the worst is the number of accounts less the
  other accounts whose entries are all significantly worse.
* An account that began k assignments had k chances to look good. Its entries are significantly
  better than another only at ``(1 - level) / k`` (Bonferroni); being significantly worse needs no
  correction.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from gnomon.results import noted

if TYPE_CHECKING:
    from gnomon import ScoreTable
    from gnomon.ranking import Ranking
    from gnomon.stats import Comparison, Estimate

LEVEL = 0.95
#: The only task of a pooled board.
POOL = "hidden rules"
#: Lines of a page of the standings.
PER_PAGE = 50

Exclusion = Literal[
    "withdrawn attempt", "refused attempt", "unverified attempt", "unfinished attempt"
]
EXCLUSIONS: tuple[Exclusion, ...] = get_args(Exclusion)
Why = Literal["incomplete"] | Exclusion
Order = Literal["rank", "errors", "name"]


@dataclass(frozen=True, slots=True)
class Contender:
    """An entry as the board shows it.

    Of its assignments, ``n_verified`` count. ``excluded`` is why it has no rank whatever its
    scores: one was withdrawn after verification, was used up otherwise (refused, or withdrawn
    before), could not be verified by the server, or is neither finished nor closed. ``n_begun`` is
    the number of assignments of the account in the season.
    """

    entry_id: int
    name: str
    account: str = ""
    n_attempts: int = 1
    n_verified: int = 1
    n_begun: int = 1
    excluded: Exclusion | None = None


class Score(NamedTuple):
    """Errors of one verified trial; `run` numbers the trials of an entry on a rule."""

    entry: int
    rule: str
    run: int
    errors: float


@dataclass(frozen=True, eq=False)
class Board:
    """All verified scores of a season.

    ``rules`` are public names in the season's order; ``owed`` is the number of trials of an
    assignment, on every rule, or in all where ``pooled``: each entry is then dealt rules of its own
    from one family, as in a hidden season, and all rules are runs of one task; otherwise every rule
    is a task. Contenders have different names.
    """

    season: str
    rules: tuple[str, ...]
    owed: int
    contenders: Sequence[Contender]
    scores: Sequence[Score]
    pooled: bool = False
    version: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """A value with its interval; None where not estimable."""

    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, estimate: Estimate) -> Number:
        """Return the number of an estimate."""
        record = estimate.as_record()
        return cls(record["value"], record["low"], record["high"])

    @classmethod
    def median(cls, errors: npt.ArrayLike) -> Number:
        """Return the median of the trials' errors; an infinite one is not estimable."""
        from gnomon.stats import median_interval

        ends = median_interval(errors, level=LEVEL)
        return cls(*(x if math.isfinite(x) else None for x in map(float, ends)))


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of the board; without a rank `errors` is None and `why` gives the reason."""

    contender: Contender
    errors: Number | None
    rank_low: int | None
    rank_high: int | None
    tiers: tuple[int, ...]
    n_trials: int
    why: Why | None = None


@dataclass(frozen=True)
class Standings:
    """The standings of a season at one version of it.

    ``ranked`` are ordered by rank interval, then errors, then name; ``unranked`` by name.
    ``n_accounts`` counts the accounts with a ranked entry, each of which counts once in a rank;
    ``notes`` are warnings of the statistics.
    """

    season: str
    version: int
    ranked: tuple[Standing, ...] = ()
    unranked: tuple[Standing, ...] = ()
    n_accounts: int = 0
    n_trials: int = 0
    notes: tuple[str, ...] = ()
    level: float = LEVEL


def score_table(board: Board, contenders: Iterable[Contender]) -> ScoreTable:
    """Return the scores of some entries: names as algorithms, rules as tasks, trials as runs.

    A pooled board has one task, and every rule is a run of it. Runs are labelled by rule and trial:
    the estimate of an effect that runs share over rules would depend on further entries.
    """
    from gohr.experiments import METRICS, run_label

    names = {contender.entry_id: contender.name for contender in contenders}
    entries = {entry: place for place, entry in enumerate(names)}
    rules = {rule: place for place, rule in enumerate(board.rules)}
    # In the order of the entries and of the season's rules, not of the trials.
    rows = sorted(
        (row for row in board.scores if row.entry in names),
        key=lambda row: (entries[row.entry], rules[row.rule], row.run),
    )
    columns = {
        "algorithm": [names[row.entry] for row in rows],
        "task": [POOL if board.pooled else row.rule for row in rows],
        "run": [run_label(row.rule, row.run) for row in rows],
    }
    provenance = (f"season {board.season}, version {board.version}",)
    return METRICS["tce"].table(columns, [row.errors for row in rows], provenance)


def standings_of(board: Board) -> Standings:
    """Compute the standings of a season."""
    scored = [row for row in board.scores if not math.isnan(row.errors)]
    n_trials = Counter(row.entry for row in scored)
    on_rule = Counter((row.entry, row.rule) for row in scored)

    def why_unranked(c: Contender) -> Why | None:
        if c.excluded is not None:
            return c.excluded
        found = [n_trials[c.entry_id]]
        if not board.pooled:
            found = [on_rule[c.entry_id, rule] for rule in board.rules]
        return None if min(found) >= board.owed * max(1, c.n_verified) else "incomplete"

    why = {c.entry_id: why_unranked(c) for c in board.contenders}
    ranked = [c for c in board.contenders if why[c.entry_id] is None]
    with noted() as notes:
        lines = _ranked_lines(board, ranked, n_trials) if ranked else []
    return Standings(
        board.season,
        board.version,
        tuple(lines),
        tuple(
            Standing(c, None, None, None, (), n_trials[c.entry_id], why[c.entry_id])
            for c in sorted(board.contenders, key=lambda c: c.name.casefold())
            if why[c.entry_id] is not None
        ),
        n_accounts=len({c.account for c in ranked}),
        n_trials=sum(line.n_trials for line in lines),
        notes=(*board.notes, *dict.fromkeys(notes)),
    )


def _ranked_lines(
    board: Board, ranked: Sequence[Contender], n_trials: Mapping[int, int]
) -> list[Standing]:
    """Return the lines with their ranks, in order."""
    from gnomon import estimate, rank
    from gnomon.ranking import tiers
    from gnomon.stats import metric_named

    table = score_table(board, ranked)
    # With variances of its own, an entry's errors depend on no other entry; errors are counts.
    metric = replace(metric_named("iqm"), bounds=(0.0, math.inf))
    found = estimate(table, metric, level=LEVEL, variances="own")
    errors = {one.algorithm: Number.of(one) for one in found}
    better = np.zeros((len(ranked), len(ranked)), dtype=bool)
    if len(ranked) > 1:
        better = _better(rank(table, level=LEVEL), ranked)
    accounts = sorted({c.account for c in ranked})
    owns = np.array([[c.account == account for account in accounts] for c in ranked])
    # Number of entries of each account (column) that are better, or worse, than each entry (row).
    n_better, n_worse = better.T.astype(int) @ owns, better.astype(int) @ owns
    low = 1 + (n_better > 0).sum(axis=1)
    high = len(accounts) - (n_worse == owns.sum(axis=0)).sum(axis=1)

    def place(i: int) -> tuple[int, int, float, str]:
        value = errors[ranked[i].name].value
        return low[i], high[i], math.inf if value is None else value, ranked[i].name.casefold()

    order = sorted(range(len(ranked)), key=place)
    ordered, apart = [ranked[i] for i in order], (better | better.T)[np.ix_(order, order)]
    groups = [set(group) for group in tiers([c.name for c in ordered], apart)]
    return [
        Standing(
            c,
            errors[c.name],
            int(low[i]),
            int(high[i]),
            tuple(number for number, group in enumerate(groups, 1) if c.name in group),
            n_trials[c.entry_id],
        )
        for i, c in zip(order, ordered, strict=True)
    ]


def _better(ranking: Ranking, ranked: Sequence[Contender]) -> npt.NDArray[np.bool_]:
    """Return whether the row's entry is significantly better than the column's.

    Entries of one account are not compared with each other.
    """
    place = {name: i for i, name in enumerate(ranking.names)}
    order = np.ix_(*[[place[c.name] for c in ranked]] * 2)
    p_value, wins = ranking.p_adjusted[order], ranking.probability[order] > 0.5
    begun = np.array([c.n_begun for c in ranked])
    accounts = np.array([c.account for c in ranked])
    rivals = accounts[:, None] != accounts
    found: npt.NDArray[np.bool_] = rivals & wins & (p_value * begun[:, None] <= 1.0 - LEVEL)
    return found


# -- two learners ----------------------------------------------------------------------------------

#: Compared metrics: the first determines ranks, the others show the size of differences.
_METRICS = ("probability_of_improvement", "iqm", "mean")


def compared(board: Board) -> tuple[list[Comparison], list[Comparison], Sequence[str]]:
    """Return the comparisons of two entries over all rules and rule by rule, with warnings."""
    from gnomon import compare

    table, (a, b) = score_table(board, board.contenders), (each.name for each in board.contenders)
    with noted() as notes:
        overall = list(compare(table, a, b, _METRICS, level=LEVEL, variances="own"))
        rules: list[Comparison] = []
        if len(table.tasks) > 1:
            found = compare(table, a, b, "mean", per_task=True, level=LEVEL, variances="own")
            rules = [one for one in found if one.task is not None]
    return overall, rules, notes


# -- selection of what a page shows ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Selection:
    """A page of lines: how many lines and pages there are, and its number."""

    lines: tuple[Standing, ...]
    n_found: int
    page: int
    n_pages: int


def select_lines(
    lines: Sequence[Standing],
    *,
    search: str = "",
    verified: bool = False,
    by: Order = "rank",
    page: int = 1,
) -> Selection:
    """Return a page of the lines with ``search`` in the name of the learner or its account.

    ``verified``: only learners with all assignments verified. A page beyond the last is the last.
    """
    wanted = search.casefold()

    def matches(line: Standing) -> bool:
        c = line.contender
        found = any(wanted in text.casefold() for text in (c.name, c.account))
        return found and not (verified and c.n_verified < c.n_attempts)

    def key(line: Standing) -> tuple[float, str]:
        value = line.errors.value if line.errors and by == "errors" else None
        last = math.inf if by == "errors" else 0.0
        return last if value is None else value, line.contender.name.casefold()

    kept = [line for line in lines if matches(line)]
    if by != "rank":
        kept.sort(key=key)
    n_pages = max(1, math.ceil(len(kept) / PER_PAGE))
    page = min(page, n_pages)
    return Selection(tuple(kept[(page - 1) * PER_PAGE : page * PER_PAGE]), len(kept), page, n_pages)
