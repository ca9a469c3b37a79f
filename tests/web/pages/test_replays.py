"""Replays: any episode of a verified trial, step by step; none that would tell a hidden rule."""

from __future__ import annotations

import re

import pytest

from gnomon.game import Board, Piece, ReferenceGame
from gnomon.rules import load_rule
from gnomon.studies.play.play_records import OUTCOME_WORDS
from gnomon.web.pages.replay_page import demonstration

ADDRESS = "/submissions/3/replay"


def replay(client, suffix=".json", **query):
    return client.get(ADDRESS + suffix, params={"rule": "clockwise", "trial": 1, **query})


def test_an_episode_is_told_attempt_by_attempt(lively):
    page = replay(lively, episode=2).json()
    assert page["n_episodes"] == 40
    assert [step["number"] for step in page["steps"]] == list(range(1, len(page["steps"]) + 1))
    assert page["errors"][2] == sum(step["outcome"] != "accepted" for step in page["steps"])
    assert page["end"] in ("cleared", "stalemate", "cut off")
    assert len(page["pieces"]) == 9


def test_the_errors_are_those_of_the_scores(lively):
    trials = lively.get("/submissions/3.json").json()["trials"]
    (trial,) = [t for t in trials if (t["rule"], t["trial"]) == ("clockwise", 1)]
    assert sum(replay(lively).json()["errors"]) == trial["tce"]


def test_pieces_leave_the_board_as_they_were_accepted(lively):
    steps = replay(lively, episode=5).json()["steps"]
    for n in range(len(steps) + 1):
        page = replay(lively, episode=5, step=n).json()
        gone = sum(step["outcome"] == "accepted" for step in steps[:n])
        assert (len(page["removed"]), len(page["pieces"])) == (gone, 9 - gone)


def test_every_step_is_a_page_that_links_to_the_next(lively):
    page = replay(lively, "", episode=1, step=2).text
    assert "step=3" in page
    assert "step=1" in page
    assert 'rel="next"' in page


def test_a_replay_without_a_choice_is_a_page(lively):
    page = lively.get(ADDRESS)
    assert page.status_code == 200
    assert "<h1>clockwise, trial 0</h1>" in page.text
    told = lively.get(f"{ADDRESS}.json").json()
    assert (told["rule"], told["trial"], told["episode"]) == ("clockwise", 0, 0)
    assert told["rules"] == ["clockwise", "color-match", "top-and-bottom", "red-first"]


def test_the_page_holds_the_whole_episode_for_its_script(lively):
    told = replay(lively, episode=2).json()
    page = replay(lively, "", episode=2).text
    cells = re.findall(r'<li class="[^"]*" data-cell="(\d+)" data-bucket="(\d)"', page)
    assert cells == [(str(s["cell"]), str(s["bucket"])) for s in told["steps"]]
    assert len(re.findall(r'<span class="piece [^"]*" data-cell=', page)) == 9


def test_the_recorded_episode_is_what_the_rule_replies():
    """By the reference interpreter, from the board before the first attempt."""
    page = demonstration()
    rule = load_rule(page.rule)
    pieces = [Piece(i, p["cell"], p["shape"], p["color"]) for i, p in enumerate(page.pieces)]
    game = ReferenceGame(rule, Board(tuple(pieces)))
    words = [OUTCOME_WORDS[game.attempt_at(s.cell, s.bucket)] for s in page.steps]
    assert words == [s.outcome for s in page.steps]
    assert page.errors[page.episode] == sum(word != "accepted" for word in words)


@pytest.mark.parametrize("path", ["/", "/index.json"])
def test_the_first_page_shows_a_game_and_the_top_of_the_season(lively, path):
    told = lively.get("/index.json").json()
    assert told["current"]["name"] == "autumn-2026"
    assert told["current"]["top"][0]["rank_low"] == 1
    assert len(told["current"]["top"]) == 5
    # Its rules are hidden, so that nothing of it may be watched.
    assert told["episode"]["submission"] == 0
    assert lively.get(path).headers["etag"]
    page = lively.get("/").text
    assert "Play this season’s first rule" in page
    assert 'href="/play/seasons/autumn-2026/clockwise"' in page
    assert page.count('class="range"') == 5
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
    assert lively.get("/submissions/8/replay.json?rule=clockwise").status_code == 409
    hidden = lively.get("/seasons/autumn-2026/submissions.json").json()["submissions"][0]["id"]
    for rule in ("clockwise", "s-h01"):
        answer = lively.get(f"/submissions/{hidden}/replay.json?rule={rule}")
        assert answer.status_code == 403
        assert answer.json() == {"detail": "replays are shown once the hidden rules are revealed"}
    assert "watch" not in lively.get(f"/submissions/{hidden}").text
