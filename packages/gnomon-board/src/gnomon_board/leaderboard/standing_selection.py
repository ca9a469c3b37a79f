"""Selection from standings: search, filter, order, pages.

Ranks and intervals are those of the whole board, whatever is shown of it: what a reader leaves out
of the table stays in the comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from gnomon_board.leaderboard.standing_records import METRICS, Standing, Standings

#: What the lines may be ordered by: pairs won, errors, hidden minus public, or the alphabet.
Order = Literal["wins", "errors", "gap", "name"]

PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class StandingQuery:
    """What a reader wants to see of the standings.

    Parameters
    ----------
    show : str
        Those with a rank, or those without; of the latter only ``search`` and ``page`` choose.
    search : str
        Part of the name of a learner or its account; capitals do not matter.
    verified : bool
        Only learners every attempt of which was verified.
    by : str
        The order: ``wins`` as the ranks, ``errors``, ``gap`` or ``name``.
    metric : str
        How errors are summed up.
    page : int
        From 1; one beyond the last is the last.
    """

    show: Literal["ranked", "unranked"] = "ranked"
    search: str = ""
    verified: bool = False
    by: Order = "wins"
    metric: str = METRICS[0]
    page: int = 1


@dataclass(frozen=True, slots=True)
class Selection:
    """A page of the standings.

    Parameters
    ----------
    lines : tuple of Standing
        In the order that was asked for.
    out_of_order : frozenset of int
        Entries whose errors and wins disagree with a line above: ordered by wins, they have fewer
        errors than one that wins more; ordered by errors, they win more than one with fewer errors.
        Of the whole board, whatever is shown.
    n_found, page, n_pages : int
        How many lines there are on all pages, which page this is, and of how many.
    """

    lines: tuple[Standing, ...]
    out_of_order: frozenset[int]
    n_found: int
    page: int
    n_pages: int


def select_standings(standings: Standings, query: StandingQuery) -> Selection:
    """Return the page of the standings that a reader asks for.

    Examples
    --------
    >>> select_standings(Standings("spring", 1, (), (), ()), StandingQuery(page=9)).page
    1
    """
    ranked = standings.ranked
    if query.show == "unranked":
        kept = [line for line in standings.unranked if _is_named(line, query.search)]
        ordered: list[Standing] = []
    else:
        ordered = list(ranked) if query.by == "wins" else sorted(ranked, key=_order(query))
        kept = [line for line in ordered if _matches(line, query)]
    n_pages = max(1, math.ceil(len(kept) / PER_PAGE))
    page = min(query.page, n_pages)
    return Selection(
        tuple(kept[(page - 1) * PER_PAGE : page * PER_PAGE]),
        _out_of_order(ordered, query),
        len(kept),
        page,
        n_pages,
    )


def _is_named(line: Standing, search: str) -> bool:
    """Whether a text is part of the name of a learner or its account."""
    c, wanted = line.contender, search.casefold()
    return any(wanted in text.casefold() for text in (c.name, c.account))


def _matches(line: Standing, query: StandingQuery) -> bool:
    c = line.contender
    return (not query.search or _is_named(line, query.search)) and (
        not query.verified or c.n_verified == c.n_attempts
    )


def _order(query: StandingQuery) -> Callable[[Standing], tuple[float, str]]:
    """Return the key of an order; what is not estimable comes last, equals by their names."""

    def key(line: Standing) -> tuple[float, str]:
        value: float | None = 0.0
        if query.by == "errors":
            value = line.estimates[query.metric].value
        elif query.by == "gap":
            value = None if line.gap is None else line.gap.value
        return (math.inf if value is None else value, line.contender.name.casefold())

    return key


def _wins(line: Standing) -> float | None:
    return None if line.rating is None else line.rating.value


def _out_of_order(ordered: Sequence[Standing], query: StandingQuery) -> frozenset[int]:
    """Return the entries that are better than a line above in what the order does not go by."""
    if query.by not in ("wins", "errors"):
        return frozenset()
    worst, found = -math.inf, set()
    for line in ordered:
        if query.by == "wins":
            value = line.estimates[query.metric].value
        else:
            wins = _wins(line)
            value = None if wins is None else -wins
        if value is None:
            continue
        if value < worst:
            found.add(line.contender.entry_id)
        worst = max(worst, value)
    return frozenset(found)
