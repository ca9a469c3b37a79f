"""Replays: any episode of a verified trial, step by step; none that would tell a hidden rule."""

from __future__ import annotations

import re

import pytest

from gohr import Board, Piece, ReferenceGame
from gohr.outcomes import OUTCOME_WORDS
from gohr.rules import load_rule

ADDRESS = "/submissions/3/replay"


def replay(client, **query):
    return client.get(ADDRESS, params={"rule": "clockwise", "trial": 1, **query})


def moves(client, **query):
    """Return the moves of an episode as its page has them for the script: cell and outcome."""
    page = replay(client, **query).text
    found = re.findall(r'<li class="([^"]*)" data-cell="(\d+)" data-bucket="(\d)"', page)
    return [(int(cell), kind.startswith("yes")) for kind, cell, _ in found]


def test_the_errors_are_those_of_the_scores(lively):
    page = lively.get("/submissions/3").text
    scored = re.search(r'id="trial-clockwise-1">.*?<td class="number">([\d,]+)</td>', page)
    assert scored
    n = [len([ok for _, ok in moves(lively, episode=e) if not ok]) for e in range(40)]
    assert sum(n) == int(scored[1].replace(",", ""))


def test_pieces_leave_the_board_as_they_were_accepted(lively):
    made = moves(lively, episode=5)
    for n in range(len(made) + 1):
        page = replay(lively, episode=5, step=n).text
        gone = sum(ok for _, ok in made[:n])
        assert page.count('<span class="piece ') == 9 - gone


def test_every_step_is_a_page_that_links_to_the_next(lively):
    page = replay(lively, episode=1, step=2).text
    assert "step=3" in page
    assert "step=1" in page
    assert 'rel="next"' in page


def test_a_replay_without_a_choice_is_a_page(lively):
    page = lively.get(ADDRESS)
    assert page.status_code == 200
    assert "<h1>clockwise, trial 0</h1>" in page.text


def test_an_episode_is_what_the_rule_replies(lively):
    """By the reference interpreter, from the board before the first attempt."""
    page = lively.get(ADDRESS).text
    move = r'data-cell="(\d+)" data-bucket="(\d)" data-title="[^:]*: ([^."]*)\." '
    move += r'data-words="(\w+) (\w+)'
    made = [(int(cell), int(bucket), *rest) for cell, bucket, *rest in re.findall(move, page)]
    features = {cell: (shape.upper(), color.upper()) for cell, _, _, color, shape in made}
    pieces = (Piece(i, cell, *each) for i, (cell, each) in enumerate(features.items()))
    game = ReferenceGame(load_rule("clockwise"), Board(tuple(pieces)))
    words = [OUTCOME_WORDS[game.attempt_at(cell, bucket)] for cell, bucket, *_ in made]
    assert words == [word for _, _, word, *_ in made]
    n_errors = sum(word != "accepted" for word in words)
    assert f"{len(made)} attempts, {n_errors} error" in page


def test_the_first_page_shows_the_top_of_the_season(lively):
    answer = lively.get("/")
    assert answer.headers["etag"]
    page = answer.text
    assert "Autumn 2026" in page
    assert page.count('<td class="number small">') == 5
    assert "How to enter" in page


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"rule": "none"}, 404),
        ({"trial": 99}, 404),
        ({"episode": 40}, 404),
        ({"episode": -1}, 422),
        ({"step": 10**12}, 422),
        ({"step": 10**6}, 200),
    ],
)
def test_what_there_is_not_is_said(lively, query, status):
    assert replay(lively, **query).status_code == status


def test_nothing_is_shown_of_what_was_not_verified_or_is_hidden(lively):
    assert lively.get("/submissions/8/replay?rule=clockwise").status_code == 409
    hidden = lively.get("/api/seasons/autumn-2026/submissions").json()[0]["id"]
    for rule in ("clockwise", "s-h01"):
        answer = lively.get(f"/submissions/{hidden}/replay?rule={rule}")
        assert answer.status_code == 403
        assert answer.json() == {"detail": "replays are shown once the hidden rules are revealed"}
    assert "watch" not in lively.get(f"/submissions/{hidden}").text
