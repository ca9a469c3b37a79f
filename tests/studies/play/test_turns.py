"""Two at a board: whose turn it is, who earns what, and what a bot does as a partner."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from pydantic import ValidationError

from gnomon.studies import (
    Game,
    PlayedGame,
    PlayError,
    PlaySession,
    SeriesTerms,
    play_scores,
    transcript_text,
)
from gnomon.studies.plan.series_plan import PointsPlan
from gnomon.studies.play.rewards import exact_points
from gnomon.studies.play.turns import Seats

HUE = "(*,*,RED,*,0) (*,*,BLACK,*,1) (*,*,BLUE,*,2) (*,*,YELLOW,*,3)"
BUCKETS = {"RED": 0, "BLACK": 1, "BLUE": 2, "YELLOW": 3}


def session(seats, rule=HUE, episodes=2, **terms):
    return PlaySession(Game("p", rule, 3, episodes, 40, terms=SeriesTerms(**terms), seats=seats))


def make(played, *, right=True, mover=None):
    piece = played.view().pieces[0]
    bucket = (BUCKETS[piece["color"]] + (not right)) % 4
    return played.attempt(piece["cell"], bucket, mover=played.turn if mover is None else mover)


def test_partners_alternate_through_the_borders_of_boards():
    played = session(Seats("cooperative", begins=1))
    rng, movers = np.random.default_rng(0), []
    while played.state != "ended":
        movers.append(make(played, right=bool(rng.integers(2))).mover)
        if played.state == "board over":
            played.next_board()
    assert movers == [(1 + n) % 2 for n in range(len(movers))]
    again = PlaySession(played.game, played.attempts, n_boards=2)
    assert [again.view(seat) for seat in (0, 1)] == [played.view(seat) for seat in (0, 1)]


def test_an_adversary_keeps_the_turn_by_accepted_moves_only():
    played = session(Seats("adversarial"), pick_cost=1.0)
    assert [make(played).mover for _ in range(3)] == [0, 0, 0]
    assert make(played, right=False).mover == 0
    assert make(played).mover == 1
    pick = played.attempt(played.view().pieces[0]["cell"], None, mover=1)
    assert pick.accepted
    assert played.turn == 0


def test_an_attempt_out_of_turn_is_refused_and_not_kept():
    played = session(Seats("cooperative"))
    with pytest.raises(PlayError, match="the partner's now"):
        make(played, mover=1)
    assert played.attempts == []
    assert played.view(1).partner.your_turn is False


def test_adversaries_earn_by_own_errors_and_own_share_of_the_pieces():
    played = session(Seats("adversarial"), points={})
    make(played, right=False)  # seat 0: one error
    for _ in range(6):
        make(played)  # seat 1
    make(played, right=False)
    while played.state == "playing":
        make(played)  # seat 0: the last three
    plan = PointsPlan()
    expected = [round(exact_points(plan, 1) * n / 9) for n in (3, 6)]
    assert [played.reward(seat).total for seat in (0, 1)] == expected
    views = [played.view(seat) for seat in (0, 1)]
    assert [(view.errors, view.moves, view.partner.points) for view in views] == [
        (1, 3, expected[1]),
        (1, 6, expected[0]),
    ]
    together = session(Seats("cooperative"), points={})
    make(together, right=False)
    while together.state == "playing":
        make(together)
    assert [together.reward(seat).total for seat in (0, 1)] == [9, 9]


def test_the_mastery_of_either_adversary_ends_the_series():
    played = session(Seats("adversarial"), incentive={"kind": "mastery", "streak": 4})
    make(played)
    make(played, right=False)
    for _ in range(4):
        make(played)
    assert (played.state, played.end()) == ("ended", "mastered")
    assert [played.is_mastered_by(seat) for seat in (0, 1)] == [False, True]


def test_hints_are_found_again_where_streaks_of_adversaries_follow_each_other():
    mastery = {"incentive": {"kind": "mastery", "streak": 4}}
    played = session(Seats("adversarial"), pick_cost=1.0, bot_assist={"halftime": 4}, **mastery)
    seen = []
    for right in (True, True, True, None, True, True, False):
        seen.append(played.hint)
        if right is None:  # a pick, by which the other's turn comes
            played.attempt(played.view().pieces[0]["cell"], None, mover=0)
        else:
            make(played, right=right)
    assert played.state == "playing"
    assert list(played.hints().values()) == seen
    assert None not in seen[1:]


def test_a_bot_takes_its_turns_and_a_restart_changes_nothing():
    terms = {"partner": {"kind": "bot", "bot": {"halftime": 4, "error_rate": 0.9}}}
    played = session(Seats("cooperative", bot=1), episodes=4, **terms)
    assert played.bot_attempt() is None
    while played.state != "ended":
        if played.turn == 1:
            again = PlaySession(played.game, played.attempts, n_boards=played.n_boards)
            made, same = played.bot_attempt(now=1e9), again.bot_attempt(now=1e9)
            assert (made.cell, made.bucket, made.mover) == (same.cell, same.bucket, 1)
        else:
            make(played)
        if played.state == "board over":
            played.next_board()
    bots = [each.accepted for each in played.attempts if each.mover == 1]
    assert not all(bots[:6])
    assert all(bots[-5:])
    game = PlayedGame("pilot-0001", "a", 0, "hue", played)
    rows = list(csv.DictReader(transcript_text([game]).splitlines()))
    assert [row["mover"] for row in rows] == [str(each.mover) for each in played.attempts]
    # A person's score is of the person's own attempts.
    assert play_scores([game]).runs("pilot-0001", "hue").tolist() == [0.0]
    assert game.made_by(1) == "bot"


def test_who_goes_on_without_a_partner_has_every_turn_or_a_bot():
    played = session(Seats("cooperative"))
    make(played)
    played.reseat(Seats("cooperative", gone=1, gone_at=1))
    assert [make(played).mover for _ in range(2)] == [0, 0]
    with_bot = session(Seats("cooperative"), partner={"otherwise": "bot", "bot": {"halftime": 0}})
    make(with_bot)
    make(with_bot)
    with_bot.reseat(Seats("cooperative", gone=0, gone_at=2, bot=0))
    assert with_bot.bot_attempt().mover == 0
    game = PlayedGame("a", "l", 0, "hue", with_bot, "b")
    assert [game.made_by(n) for n in range(3)] == ["a", "b", "bot"]


def test_a_partner_waits_for_the_other_seat():
    played = session(Seats("cooperative", is_open=True))
    view = played.view()
    assert (view.state, view.pieces, view.may) == ("waiting", (), ())
    with pytest.raises(PlayError, match="expected a board in play"):
        played.attempt(1, 0)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"partner": {"kind": "bot", "chat": True}}, "a bot does not answer"),
        ({"partner": {}, "incentive": {"kind": "bonus"}}, "for one who plays alone"),
        ({"partner": {"play": "together"}}, "cooperative"),
    ],
)
def test_a_plan_of_two_that_makes_no_sense_is_refused(terms, message):
    with pytest.raises(ValidationError, match=message):
        SeriesTerms(**terms)
