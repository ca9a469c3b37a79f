"""TextArena: the same episode natively and through it."""

from __future__ import annotations

import random

import gymnasium
import numpy as np
import pytest

import gnomon as gn
from word_player import WordPlayer

pytest.importorskip("textarena", reason="textarena is not installed")

import textarena as ta

from gnomon.integrations.textarena import ENV_ID

pytestmark = pytest.mark.filterwarnings("default")


def frugal():
    return gn.make_learner("frugal", gn.BoardSpec(), rng=np.random.default_rng(3))


def played(env, player, seed):
    env.reset(num_players=1, seed=seed)
    done, told = False, ""
    while not done:
        _, said = env.get_observation()
        told = said if isinstance(said, str) else told + "\n".join(text for _, text, _ in said)
        done, _ = env.step(f"[{player.answer(told)}]")
    return env.close()


@pytest.mark.parametrize("suffix", ["", "-raw", "-train"])
def test_a_player_has_the_errors_that_it_has_natively(suffix):
    boards = np.stack([_native_boards(4)]).reshape(-1, 36)
    native = gn.play_trial(frugal(), gn.load_rule("clockwise"), boards)
    n, errors = len(native.actions), int((native.outcomes != 0).sum())
    env = ta.make(ENV_ID + suffix, rule="clockwise", boards=3)
    rewards, about = played(env, WordPlayer(frugal(), gn.BoardSpec()), seed=4)
    assert rewards == {0: (n - errors) / n}
    assert about[0]["reason"] == f"All boards are over: {n} attempts, {errors} of them errors."


def _native_boards(seed, n=3):
    env = gymnasium.make("gnomon/HiddenRules-v0")
    return [env.reset(seed=None if k else seed)[0]["board"] for k in range(n)]


def test_horizon_unreadable_answers_and_seeds():
    env = ta.make(ENV_ID, horizon=3)
    env.reset(num_players=1, seed=1)
    _, first = env.get_observation()
    player = WordPlayer(None, gn.BoardSpec())
    codes = player.observation(first).board
    assert (codes == _native_boards(1, 1)[0]).all()
    cell = int(codes.argmax())
    wrong = next(b for b in range(4) if b != [2, 0, 3, 1][(codes[cell] - 1) // 4])
    move = f"[MOVE {cell % 6 + 1} {cell // 6 + 1} {wrong}]"
    assert [env.step(move)[0] for _ in range(3)] == [False, False, True]
    assert env.close()[0] == {0: 0.0}
    env.reset(num_players=1, seed=2)
    assert (player.observation(env.get_observation()[1]).board != codes).any()
    assert [env.step("I pass")[0] for _ in range(4)] == [False, False, False, True]
    assert env.close()[1][0]["invalid_move"]


def test_boards_do_not_come_from_the_global_generator():
    env = ta.make(ENV_ID + "-raw")
    told = []
    for state in (1, 2):
        random.seed(state)
        env.reset(num_players=1, seed=7)
        told.append([text for _, text, _ in env.get_observation()[1]])
    assert told[0] == told[1]
