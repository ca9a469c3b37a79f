"""A trial played move by move through the server is the trial that a learner plays at home."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_board.leaderboard import RemoteGame, Stretch
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
        game.make([action])
    assert game.over
    assert game.episode == 12
    assert same(game.log(), log)


@pytest.mark.parametrize("name", RULES)
def test_what_is_told_is_what_happened(name):
    """From the replies alone the whole log can be written down, stuck boards included."""
    log, game = played(name)
    dealt = list(game.stretch(0, 0).dealt)
    outcomes: list[int] = []
    n_attempts = [0] * len(dealt)
    finish = [2] * len(dealt)
    for action in log.actions.tolist():
        stretch = game.make([action])
        outcomes += stretch.outcomes
        n_attempts[-1] += 1
        finish[-1] = stretch.finish
        assert stretch.ended == bool(stretch.dealt or stretch.over)
        n_attempts += [0] * len(stretch.dealt)
        finish += [2] * len(stretch.dealt)
        dealt += stretch.dealt
        assert stretch.episode == (12 if stretch.over else len(dealt) - 1)
    assert stretch.over
    assert b"".join(dealt) == log.boards.tobytes()
    assert outcomes == log.outcomes.tolist()
    assert n_attempts == log.n_attempts.tolist()
    assert finish == log.finish.tolist()


@given(data=st.data())
@pytest.mark.parametrize("name", RULES)
def test_it_is_rebuilt_from_its_actions_and_answers_again(name, data):
    log, game = played(name, n=5)
    rule = parse(RULES[name])
    spec = FEW if name == "stuck" else DEFAULT_SPEC
    told: list[tuple[int, int, Stretch]] = []
    actions = log.actions.tolist()
    while not game.over:
        position = game.position
        n = data.draw(st.integers(1, 12))
        told.append((position, n, game.make(actions[position : position + n])))
        again = RemoteGame(rule, log.boards, horizon=8, board_spec=spec, actions=game.actions)
        assert (again.position, again.episode, again.over) == (
            game.position,
            game.episode,
            game.over,
        )
        assert (again.codes, again.last, again.n_attempts) == (
            game.codes,
            game.last,
            game.n_attempts,
        )
        for position, n, stretch in told:
            n = min(n, len(actions) - position)
            if position + n <= game.position or stretch.ended:
                assert again.stretch(position, n) == stretch
    assert same(again.log(), log)


def test_attempts_after_the_end_of_an_episode_are_not_made():
    _, game = played("counted")
    piece = 4 * int(np.flatnonzero(np.frombuffer(game.codes, np.uint8))[0])
    empty = 4 * int(np.flatnonzero(np.frombuffer(game.codes, np.uint8) == 0)[0])
    stretch = game.make([piece + 2, *[empty] * 20])
    assert stretch.outcomes == (4, *[3] * 7)
    assert (stretch.ended, stretch.finish, stretch.episode) == (True, 0, 1)
    assert game.position == 8


def test_a_trial_of_stuck_boards_alone_is_over_at_once():
    boards = np.zeros((3, 36), dtype=np.uint8)
    boards[:, 4] = 3
    game = RemoteGame(parse("(*,*,red,*,1)"), boards, horizon=5, board_spec=DEFAULT_SPEC)
    assert game.over
    stretch = game.stretch(0, 0)
    assert (stretch.over, len(stretch.dealt), stretch.episode) == (True, 3, 3)
    assert game.log().finish.tolist() == [2, 2, 2]
    assert game.make([1]).outcomes == ()


@pytest.mark.parametrize("action", [-1, 144, -2, 10**6])
def test_an_action_that_is_none_is_refused(action):
    _, game = played("counted")
    with pytest.raises(ValueError, match="expected an action from 0 to 143"):
        game.make([action])


def test_a_trial_in_play_has_no_log():
    _, game = played("counted")
    with pytest.raises(ValueError, match="expected a trial that is over"):
        game.log()
