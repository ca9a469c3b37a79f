"""A person's game under the terms of a study: mastery, points, fixed feedback, boards."""

from __future__ import annotations

import numpy as np
import pytest

from gohr import BoardSpec
from gohr.people import Game, PlayError, PlaySession, SeriesPlan, SeriesTerms
from recorded_episodes import VECTORS, records

#: Colour decides the bucket.
HUE = "(*,*,RED,*,0) (*,*,BLACK,*,1) (*,*,BLUE,*,2) (*,*,YELLOW,*,3)"
BUCKETS = {"RED": 0, "BLACK": 1, "BLUE": 2, "YELLOW": 3}
#: Red pieces first.
FIRST_RED = "(*,*,RED,*,*)\n(*,*,*,*,*)"
POINTS = {"least": 2, "most": 10, "slope": 1.5}


def session(rule=HUE, pieces=4, episodes=3, **terms):
    spec = BoardSpec(pieces, 0, 0)
    return PlaySession(Game("p", rule, 5, episodes, 40, spec, SeriesTerms(**terms)))


def play(played, *, errors=0):
    """Play the board in play to its end, with so many errors first."""
    while played.state == "playing":
        piece = played.view().pieces[0]
        wrong = errors > 0
        errors -= wrong
        played.attempt(piece["cell"], (BUCKETS[piece["color"]] + wrong) % 4)


def test_mastery_ends_the_board_and_the_series():
    played = session(points=POINTS, mastery=6)
    play(played, errors=1)
    view = played.view()
    assert (view.state, view.end, view.points["total"]) == ("board over", "cleared", 9)
    played.next_board()
    play(played)
    view = played.view()
    assert (view.state, view.end, len(view.pieces)) == ("ended", "mastered", 2)
    assert view.points["total"] == 9 + 10
    with pytest.raises(PlayError):
        played.attempt(view.pieces[0]["cell"], 0)
    assert played.log().n_attempts.tolist() == [5, 2]
    again = PlaySession(played.game, played.attempts, n_boards=2)
    assert again.view() == view


def test_an_error_breaks_a_streak_which_goes_on_across_boards():
    played = session(mastery=3)
    first, second, third, fourth = played.view().pieces
    for piece in (first, second):
        played.attempt(piece["cell"], BUCKETS[piece["color"]])
    played.attempt(third["cell"], (BUCKETS[third["color"]] + 1) % 4)
    for piece in (third, fourth):
        played.attempt(piece["cell"], BUCKETS[piece["color"]])
    assert (played.view().end, played.view().streak) == ("cleared", 2)
    played.next_board()
    piece = played.view().pieces[0]
    played.attempt(piece["cell"], BUCKETS[piece["color"]])
    assert (played.view().end, played.state) == ("mastered", "ended")


def test_a_board_that_is_given_up_or_cut_off_earns_nothing():
    played = session(points=POINTS)
    play(played, errors=40)
    assert (played.view().end, played.view().points["total"]) == ("cut off", 0)
    played.next_board()
    played.give_up()
    assert (played.view().end, played.points_by_board()) == ("given up", [0, 0])


def test_fixed_feedback_lets_nobody_try_what_cannot_be_moved():
    played = session(FIRST_RED, pieces=9, feedback="fixed")
    pieces = played.view().pieces
    red = any(piece["color"] == "RED" for piece in pieces)
    assert {piece["movable"] for piece in pieces if piece["color"] != "RED"} == {not red}
    blocked = next(piece for piece in pieces if not piece["movable"])
    with pytest.raises(PlayError, match="crossed out"):
        played.attempt(blocked["cell"], 0)
    assert played.attempts == []


def test_given_boards_come_over_and_over():
    boards = [
        [{"cell": 8, "shape": "STAR", "color": "red"}],
        [{"cell": 9, "shape": "STAR", "color": "blue"}],
    ]
    plan = SeriesPlan(rule="x", given=boards, episodes=5)
    dealt = plan.game("p", HUE, 1).boards()
    assert [int(np.flatnonzero(codes)[0]) + 1 for codes in dealt] == [8, 9, 8, 9, 8]


def test_points_are_those_of_the_reference():
    path = VECTORS / "transcripts" / "rewards.jsonl.gz"
    if not path.is_file():
        pytest.skip("the recorded transcripts are not in the repository")
    for record in records(path):
        points = {"least": record["min_points"], "most": record["max_points"], "slope": record["b"]}
        plan = SeriesTerms(points=points).points
        for errors, _, rounded in record["errors_raw_rounded"]:
            assert plan.points(float(errors)) == rounded
