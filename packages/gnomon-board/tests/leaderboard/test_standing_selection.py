"""What a reader asks of the standings: found, ordered, and a page of it, of thousands too."""

from __future__ import annotations

import random

import pytest

from gnomon_board.standings import Contender, Number, Standing, Standings, select_lines

PER_PAGE = 50


def line(i, errors, **more):
    contender = Contender(i, f"Learner {i}", f"account {i % 7}", **more)
    return Standing(contender, Number(errors, errors, errors), i, i, (i,), 20)


@pytest.fixture(scope="module")
def standings():
    draw = random.Random(0)
    lines = [
        line(
            i,
            draw.choice([None, *range(1, 500)]),
            n_attempts=1 + i % 2,
        )
        for i in range(1, 2001)
    ]
    return Standings("crowd", 1, tuple(lines))


def entries(selection):
    return [each.contender.entry_id for each in selection.lines]


def all_pages(standings, **query):
    first = select_lines(standings.ranked, **query)
    pages = [select_lines(standings.ranked, **query, page=n) for n in range(1, first.n_pages + 1)]
    assert all(len(page.lines) == PER_PAGE for page in pages[:-1])
    found = [each for page in pages for each in page.lines]
    assert len(found) == first.n_found == len({each.contender.entry_id for each in found})
    return found


def test_orders(standings):
    assert [e.contender.entry_id for e in all_pages(standings)] == list(range(1, 2001))
    errors = [e.errors.value for e in all_pages(standings, by="errors")]
    known = [x for x in errors if x is not None]
    assert known == sorted(known)
    assert errors[len(known) :] == [None] * (2000 - len(known))
    names = [e.contender.name for e in all_pages(standings, by="name")]
    assert names == sorted(names)


def test_a_page_beyond_the_last_is_the_last(standings):
    found = select_lines(standings.ranked, page=10**5)
    assert (found.page, found.n_pages, entries(found)[-1]) == (40, 40, 2000)
    none = select_lines((), by="errors", page=3)
    assert (none.lines, none.n_found, none.page, none.n_pages) == ((), 0, 1, 1)


@pytest.mark.parametrize(
    ("query", "keeps"),
    [
        ({"search": "ACCOUNT 3"}, lambda c: c.account == "account 3"),
        ({"search": "learner 77"}, lambda c: c.name.startswith("Learner 77")),
        ({"verified": True}, lambda c: c.n_attempts == c.n_verified),
    ],
)
def test_filters_leave_out_the_others_and_nothing_else(standings, query, keeps):
    found = select_lines(standings.ranked, **query)
    wanted = [e for e in standings.ranked if keeps(e.contender)]
    assert found.n_found == len(wanted)
    assert list(found.lines) == wanted[:PER_PAGE]
