"""What a reader asks of the standings: found, ordered, and a page of it, of thousands too."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from gnomon_board.leaderboard import (
    METRICS,
    Contender,
    Number,
    Standing,
    StandingQuery,
    Standings,
    select_standings,
)

PER_PAGE = 50


def line(i, errors, wins, **more):
    contender = Contender(i, f"Learner {i}", f"account {i % 7}", **more)
    number = Number(errors, errors, errors)
    estimates = dict.fromkeys(METRICS, number)
    return Standing(contender, estimates, i, i, (i,), None, 20, None, Number(wins, wins, wins))


@pytest.fixture(scope="module")
def standings():
    draw = random.Random(0)
    lines = [
        line(
            i,
            draw.choice([None, *range(1, 500)]),
            2000.0 - i,
            n_attempts=1 + i % 2,
        )
        for i in range(1, 2001)
    ]
    unranked = tuple(
        replace(line(3000 + i, 1, 1), why="incomplete", estimates={}, rating=None)
        for i in range(60)
    )
    return Standings("crowd", 1, tuple(lines), unranked, ())


def entries(selection):
    return [each.contender.entry_id for each in selection.lines]


def all_pages(standings, **query):
    first = select_standings(standings, StandingQuery(**query))
    pages = [
        select_standings(standings, StandingQuery(**query, page=n))
        for n in range(1, first.n_pages + 1)
    ]
    assert all(len(page.lines) == PER_PAGE for page in pages[:-1])
    found = [each for page in pages for each in page.lines]
    assert len(found) == first.n_found
    return found


@pytest.mark.parametrize("by", ["wins", "errors", "gap", "name"])
def test_the_pages_have_everybody_once(standings, by):
    found = all_pages(standings, by=by)
    assert len({each.contender.entry_id for each in found}) == 2000


def test_orders(standings):
    assert [e.contender.entry_id for e in all_pages(standings)] == list(range(1, 2001))
    errors = [e.estimates["iqm"].value for e in all_pages(standings, by="errors")]
    known = [x for x in errors if x is not None]
    assert known == sorted(known)
    assert errors[len(known) :] == [None] * (2000 - len(known))
    names = [e.contender.name for e in all_pages(standings, by="name")]
    assert names == sorted(names)


def test_a_page_beyond_the_last_is_the_last(standings):
    found = select_standings(standings, StandingQuery(page=10**5))
    assert (found.page, found.n_pages, entries(found)[-1]) == (40, 40, 2000)


def test_filters_leave_out_the_others_and_nothing_else(standings):
    for query, keeps in {
        StandingQuery(search="ACCOUNT 3"): lambda c: c.account == "account 3",
        StandingQuery(search="learner 77"): lambda c: c.name.startswith("Learner 77"),
        StandingQuery(verified=True): lambda c: c.n_attempts == c.n_verified,
    }.items():
        found = select_standings(standings, query)
        wanted = [e for e in standings.ranked if keeps(e.contender)]
        assert found.n_found == len(wanted), query
        assert list(found.lines) == wanted[:PER_PAGE], query


def test_marks_are_those_of_the_whole_board_whatever_is_shown(standings):
    """By a slow twin: every pair of lines."""
    for by in ("wins", "errors"):
        rows = [
            (e.contender.entry_id, e.estimates["iqm"].value, e.rating.value)
            for e in all_pages(standings, by=by)
        ]
        rows = [row for row in rows if row[1] is not None] if by == "wins" else rows
        slow = set()
        for i, (entry, errors, wins) in enumerate(rows[:300]):
            above = rows[:i]
            better = (
                any(errors < e for _, e, _ in above)
                if by == "wins"
                else any(wins > w for _, _, w in above)
            )
            if better:
                slow.add(entry)
        found = select_standings(standings, StandingQuery(by=by, verified=True)).out_of_order
        assert found & {entry for entry, *_ in rows[:300]} == slow


def test_those_without_a_rank_are_searched_too(standings):
    found = select_standings(standings, StandingQuery("unranked", page=2))
    assert (found.n_found, len(found.lines)) == (60, 10)
    found = select_standings(standings, StandingQuery("unranked", search="learner 3059"))
    assert entries(found) == [3059]


def test_nothing_to_select_from():
    found = select_standings(Standings("s", 1, (), (), ()), StandingQuery(by="errors", page=3))
    assert (found.lines, found.n_found, found.page, found.n_pages) == ((), 0, 1, 1)
    assert math.isfinite(found.n_pages)
