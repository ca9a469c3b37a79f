"""Replays: any episode of a verified trial, step by step; none that would tell a hidden rule."""

from __future__ import annotations

import pytest

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
