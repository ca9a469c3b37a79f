"""A person's game: the replies and the record of a learner's trial, and nothing of the rule."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gohr import play
from gohr.experiments import ExperimentConfig, episode_errors, trials_of
from gohr.learners import Learner
from gohr.people import Game, PlayError, PlaySession, attempts_to_master
from gohr.rules import available_rules, load_rule, load_rule_text


def game(rule: str = "clockwise", **changes: object) -> Game:
    return Game(rule, load_rule_text(rule), **{"seed": 3, "episodes": 3, "horizon": 40} | changes)


def play_at_random(session: PlaySession, rng: np.random.Generator, n: int) -> None:
    """Make some attempts, going on to the next board where one is over."""
    for _ in range(n):
        if session.state == "board over":
            session.next_board()
        if session.state == "ended":
            return
        cells = [piece["cell"] for piece in session.view().pieces]
        session.attempt(int(rng.choice(cells)), int(rng.integers(4)))


class Replayed(Learner):
    """Makes the attempts of a person again."""

    def __init__(self, actions: list[int]) -> None:
        self._actions = iter(actions)

    def act(self, observation):
        return next(self._actions)

    def observe(self, transition):
        pass


def test_a_learner_on_the_same_boards_gets_the_same_replies():
    played = PlaySession(game(episodes=2, horizon=1000))
    play_at_random(played, np.random.default_rng(0), 1000)
    assert played.state == "ended"
    log = played.log()
    again = play(log.boards, Replayed(log.actions.tolist()), load_rule("clockwise"), horizon=1000)
    assert again.outcomes.tolist() == log.outcomes.tolist()
    assert again.finish.tolist() == log.finish.tolist()
    assert again.n_attempts.tolist() == log.n_attempts.tolist()
    assert episode_errors(log).tolist() == played.errors_by_board()


def test_the_boards_are_those_of_a_trial():
    config = ExperimentConfig("x", ["clockwise"], ["uniform"], trials=1, episodes=3, seed=3)
    (trial,) = trials_of(config)
    assert (trial.play().boards == game().boards()).all()


@settings(max_examples=20)
@given(st.sampled_from(available_rules()), st.integers(0, 2**32), st.integers(0, 120))
def test_a_game_is_rebuilt_from_its_attempts(rule, seed, n):
    first = PlaySession(game(rule, seed=seed))
    play_at_random(first, np.random.default_rng(seed), n)
    again = PlaySession(game(rule, seed=seed), first.attempts, n_boards=first.n_boards)
    assert again.view() == first.view()
    assert again.state == first.state


@settings(max_examples=20)
@given(st.sampled_from(available_rules()), st.integers(0, 2**32))
def test_a_view_says_what_was_done_and_nothing_of_the_rule(rule, seed):
    session = PlaySession(Game("Puzzle 7", load_rule_text(rule), seed, 3, 40))
    play_at_random(session, np.random.default_rng(seed), 30)
    view = session.view()
    record = asdict(view)
    text = json.dumps(record)
    assert rule not in text
    assert str(seed) not in text.split() or seed < 100
    # Everything in it follows from the boards and the replies alone, which the player has seen.
    here = [a for a in session.attempts if a.episode == session.episode]
    assert view.errors == sum(a.outcome != 0 for a in session.attempts)
    assert [a["outcome"] == "accepted" for a in view.attempts] == [a.outcome == 0 for a in here]
    dealt = {p.pos for p in session.board(session.episode).pieces}
    removed = {a["cell"] for a in view.attempts if a["outcome"] == "accepted"}
    assert {p["cell"] for p in view.pieces} | removed == dealt
    assert set(record) == {
        *("rule", "state", "end", "episode", "episodes", "pieces", "attempts", "errors"),
        *("moves", "streak", "mastered", "points"),
    }


def test_a_board_is_cut_off_at_the_horizon():
    session = PlaySession(game(horizon=4, episodes=2))
    play_at_random(session, np.random.default_rng(1), 4)
    assert (session.state, session.view().end) == ("board over", "cut off")
    with pytest.raises(PlayError, match="expected a board in play, found one that is cut off"):
        session.attempt(1, 0)


def test_an_attempt_on_an_empty_cell_is_an_error_as_it_is_for_a_learner():
    session = PlaySession(game())
    taken = {piece["cell"] for piece in session.view().pieces}
    empty = next(cell for cell in range(1, 37) if cell not in taken)
    assert session.attempt(empty, 0).outcome == 3
    assert session.view().errors == 1


@pytest.mark.parametrize(("cell", "bucket"), [(0, 0), (37, 0), (1, 4), (1, -1)])
def test_a_cell_or_bucket_that_there_is_not_is_refused(cell, bucket):
    session = PlaySession(game())
    with pytest.raises(PlayError, match="expected"):
        session.attempt(cell, bucket)
    assert not session.attempts


def test_next_board_and_giving_up_have_their_time():
    session = PlaySession(game())
    with pytest.raises(PlayError, match="expected a board that is over"):
        session.next_board()
    session.give_up()
    assert (session.state, session.view().end) == ("ended", "given up")
    with pytest.raises(PlayError, match="this one has ended"):
        session.give_up()


def test_a_board_that_was_not_touched_does_not_count():
    session = PlaySession(Game("any", "(*,*,*,*,*)", 1, 3))
    assert session.n_played == 1
    for piece in session.view().pieces:
        session.attempt(piece["cell"], 0)
    session.next_board()
    assert (session.n_boards, session.n_played) == (2, 1)
    session.attempt(session.view().pieces[0]["cell"], 0)
    assert session.n_played == 2
    session.give_up()
    assert session.n_played == 2


def test_ten_in_a_row_are_mastery_whatever_the_boards():
    session = PlaySession(Game("any", "(*,*,*,*,*)", 0, 3, 40))
    while not session.view().mastered:
        play_at_random(session, np.random.default_rng(0), 1)
    assert session.view().moves == session.view().streak == 10
    assert attempts_to_master([a.accepted for a in session.attempts]) == 0


def test_reaction_times_are_those_since_the_last_reply():
    session = PlaySession(Game("any", "(*,*,*,*,*)", 0, 3, 40), seen_at=100.0)
    cells = [piece["cell"] for piece in session.view().pieces]
    first = session.attempt(cells[0], 0, now=101.5)
    second = session.attempt(cells[1], 0, now=104.0)
    assert (first.reaction_s, second.reaction_s) == (1.5, 2.5)


def test_a_board_that_is_stuck_from_the_start_is_over_without_an_attempt():
    session = PlaySession(Game("stuck", "(*,*,GREEN,*,0)", 5, 2, 40))
    assert (session.state, session.view().end) == ("board over", "stalemate")
    session.next_board()
    assert session.state == "ended"
    assert session.log().n_attempts.tolist() == [0, 0]
    assert session.log().finish.tolist() == [2, 2]


def test_a_stalemate_is_told_with_the_move_that_led_to_it():
    session = PlaySession(Game("red", "(*,*,RED,*,*)", 5, 2, 40))
    for piece in session.view().pieces:
        if piece["color"] == "RED":
            assert session.state == "playing"
            assert session.attempt(piece["cell"], 0).accepted
    assert (session.state, session.view().end) == ("board over", "stalemate")
    assert session.log().finish.tolist() == [2]
