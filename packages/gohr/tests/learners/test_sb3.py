import gc
import importlib.util
import threading

import numpy as np
import pytest

from gohr import BoardSpec, draw_boards, play
from gohr.errors import ConfigError
from gohr.learners import Observation, Transition, make_learner
from gohr.learners.sb3 import Exchange, WaitingEnv
from gohr.rules import load_rule, parse

installed = pytest.mark.skipif(
    importlib.util.find_spec("sb3_contrib") is None,
    reason="stable_baselines3 and sb3_contrib are not installed (extra rl)",
)
# Torch and the package warn of what they use of each other; that is theirs to mend.
quiet = pytest.mark.filterwarnings("default::DeprecationWarning", "default::UserWarning")


def make(**settings):
    return make_learner("sb3", BoardSpec(), rng=np.random.default_rng(0), **settings)


def played(rule=None, n_boards=4, horizon=30, **settings):
    boards = draw_boards(n_boards, rng=np.random.default_rng(1))
    rule = rule or load_rule("clockwise")
    return play(boards, make(**settings), rule, horizon=horizon)


def seen(board, bucket=0):
    mask = np.repeat(board > 0, 4).astype(np.int8)
    return Observation(board, bucket and 2, bucket and 3, bucket, mask)


def test_the_waiting_environment_hands_on_what_it_is_shown():
    exchange = Exchange()
    env = WaitingEnv(exchange, BoardSpec())
    board = draw_boards(1, rng=np.random.default_rng(2))[0]
    exchange.seen.put(seen(board))
    first, _ = env.reset()
    assert first.tolist() == [*board.tolist(), 0, 0, 0]
    assert env.observation_space.contains(first)
    assert env.action_masks().tolist() == np.repeat(board > 0, 4).tolist()
    exchange.seen.put(Transition(seen(board), 7, -1.0, 4, seen(board, 4), False, True))
    after, reward, terminated, truncated, _ = env.step(np.int64(7))
    assert exchange.actions.get() == 7
    assert after[-3:].tolist() == [2, 3, 4]
    assert (reward, terminated, truncated) == (-1.0, False, True)


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"learner 'sb3': .*pip install 'gohr\[rl\]'"):
        make()


def test_a_wrong_setting_is_told():
    with pytest.raises(ConfigError, match=r"arguments: expected a JSON object, found '\[1\]'"):
        make(arguments="[1]")
    with pytest.raises(ConfigError, match="threads: expected a whole number from 1 to 1,024"):
        make(threads=0)


@installed
@quiet
@pytest.mark.parametrize(
    ("algorithm", "arguments"),
    [
        ("MaskablePPO", '{"n_steps": 32, "batch_size": 32, "n_epochs": 2}'),
        ("A2C", "{}"),
        ("DQN", '{"learning_starts": 10, "buffer_size": 500}'),
    ],
)
def test_algorithms_play_and_repeat_themselves(algorithm, arguments):
    logs = [played(algorithm=algorithm, arguments=arguments) for _ in range(2)]
    assert logs[0].actions.tolist() == logs[1].actions.tolist()
    assert (3 in logs[0].outcomes) == (algorithm != "MaskablePPO")
    gc.collect()
    assert threading.active_count() == 1


@installed
@quiet
def test_maskable_ppo_learns():
    log = played(
        parse("(*,*,*,*,2)"),
        n_boards=60,
        horizon=100,
        arguments='{"n_steps": 64, "batch_size": 64, "learning_rate": 0.003, "gamma": 0.0}',
    )
    assert log.n_attempts[-15:].sum() < 0.6 * log.n_attempts[:15].sum()


@installed
@quiet
def test_it_goes_on_after_the_attempts_that_were_planned():
    log = played(algorithm="A2C", planned_attempts=7, n_boards=2)
    assert len(log.actions) > 20


@installed
@quiet
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "PPOO"}, "unknown algorithm 'PPOO'; did you mean 'PPO'"),
        ({"algorithm": "SAC"}, "SAC: The algorithm only supports"),
        ({"policy": "Mlp"}, "MaskablePPO: Policy Mlp unknown"),
        ({"arguments": '{"steps": 3}'}, "MaskablePPO: .*unexpected keyword argument 'steps'"),
        ({"arguments": '{"policy": "MlpPolicy"}'}, "MaskablePPO: .*multiple values .* 'policy'"),
    ],
)
def test_what_the_package_does_not_take_is_told(settings, message):
    with pytest.raises(ConfigError, match=f"learner 'sb3': {message}"):
        played(**settings)
