"""A trial played move by move through the server is the trial that a learner plays at home."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_board.remote_game import Move, RemoteGame, Reply
from gohr import TrialLog, play
from gohr.game import DEFAULT_SPEC, BoardSpec, draw_boards
from gohr.learners import Uniform
from gohr.rules import parse

# A rule by lines and counts, one that is often stuck, and one that the engine has no tables for.
RULES = {
    "counted": "1 (*,*,*,*,[0,1])\n(*,*,*,*,[2,3])",
    "stuck": "(*,*,[red,black],*,[0,1])",
    "interpreted": "(color:q.bucket.color) (*,*,*,*,[0,1])",
}
FEW = BoardSpec(pieces=(1, 3), shapes=0, colors=0)


def played(name: str, n: int = 12, horizon: int = 8) -> tuple[TrialLog, RemoteGame]:
    """Play a rule at home, and return the log and a fresh game of the same."""
    spec = FEW if name == "stuck" else DEFAULT_SPEC
    rule_set = parse(RULES[name])
    boards = draw_boards(n, spec, rng=np.random.default_rng(4))
    learner = Uniform(rng=np.random.default_rng(1))
    log = play(boards, learner, rule_set, horizon=horizon, board_spec=spec)
    return log, RemoteGame(rule_set, boards, horizon=horizon, board_spec=spec)


def moved(game: RemoteGame, actions: list[int], position: int | None = None) -> Reply:
    at = game.position if position is None else position
    return game.play(Move(trial=1, position=at, actions=actions))


def same(a: TrialLog, b: TrialLog) -> bool:
    names = ("boards", "n_attempts", "actions", "outcomes", "finish")
    pairs = [(getattr(a, name), getattr(b, name)) for name in names]
    return all(np.array_equal(x, y) and x.dtype == y.dtype for x, y in pairs)


@pytest.mark.parametrize("name", RULES)
def test_the_log_is_the_one_of_a_trial_at_home(name):
    log, game = played(name)
    assert name != "stuck" or (log.n_attempts == 0).any()
    for action in log.actions.tolist():
        assert not game.over
        moved(game, [action])
    assert game.over
    assert same(game.log(), log)


@pytest.mark.parametrize("name", RULES)
def test_what_is_told_is_what_happened(name):
    """From the replies alone the whole log can be written down, stuck boards included."""
    log, game = played(name)
    dealt = moved(game, []).dealt
    outcomes: list[int] = []
    n_attempts = [0] * len(dealt)
    finish = [2] * len(dealt)
    for action in log.actions.tolist():
        reply = moved(game, [action])
        outcomes += reply.outcomes
        n_attempts[-1] += 1
        finish[-1] = reply.finish
        assert reply.ended == bool(reply.dealt or reply.over)
        n_attempts += [0] * len(reply.dealt)
        finish += [2] * len(reply.dealt)
        dealt += reply.dealt
        assert reply.episode == (12 if reply.over else len(dealt) - 1)
    assert reply.over
    assert dealt == log.boards.tolist()
    assert outcomes == log.outcomes.tolist()
    assert n_attempts == log.n_attempts.tolist()
    assert finish == log.finish.tolist()


@given(data=st.data())
@pytest.mark.parametrize("name", RULES)
def test_it_is_rebuilt_from_its_actions_and_answers_again(name, data):
    log, game = played(name, n=5)
    rule = parse(RULES[name])
    spec = FEW if name == "stuck" else DEFAULT_SPEC
    told: list[tuple[int, list[int], Reply]] = []
    actions = log.actions.tolist()
    while not game.over:
        position = game.position
        sent = actions[position : position + data.draw(st.integers(1, 12))]
        told.append((position, sent, moved(game, sent)))
        again = RemoteGame(rule, log.boards, horizon=8, board_spec=spec, actions=game.actions)
        for name in ("position", "over"):
            assert getattr(again, name) == getattr(game, name)
        for position, sent, reply in told:
            assert moved(again, sent, position) == reply
    assert same(again.log(), log)


def test_attempts_after_the_end_of_an_episode_are_not_made():
    _, game = played("counted")
    [board] = moved(game, []).dealt
    piece = 4 * next(cell for cell, code in enumerate(board) if code)
    empty = 4 * board.index(0)
    reply = moved(game, [piece + 2, *[empty] * 20])
    assert reply.outcomes == [4, *[3] * 7]
    assert (reply.ended, reply.finish, reply.episode) == (True, 0, 1)
    assert game.position == 8


def test_a_trial_of_stuck_boards_alone_is_over_at_once():
    boards = np.zeros((3, 36), dtype=np.uint8)
    boards[:, 4] = 3
    game = RemoteGame(parse("(*,*,red,*,1)"), boards, horizon=5, board_spec=DEFAULT_SPEC)
    assert game.over
    reply = moved(game, [])
    assert (reply.over, len(reply.dealt), reply.episode) == (True, 3, 3)
    assert game.log().finish.tolist() == [2, 2, 2]
    assert moved(game, [1]).outcomes == []


def test_a_trial_in_play_has_no_log():
    _, game = played("counted")
    with pytest.raises(ValueError, match="expected a trial that is over"):
        game.log()
