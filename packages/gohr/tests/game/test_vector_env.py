"""The native vector environment behaves as Gymnasium's vector of single environments does."""

from __future__ import annotations

import re

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from gohr import HiddenRulesEnv, HiddenRulesVectorEnv

MODES = list(AutoresetMode)


def native(mode: AutoresetMode, num_envs: int = 1, **kwargs) -> HiddenRulesVectorEnv:
    env = gymnasium.make_vec("gohr/Clockwise-v0", num_envs=num_envs, autoreset_mode=mode, **kwargs)
    assert isinstance(env, HiddenRulesVectorEnv)
    return env


def assert_same(ours, theirs) -> None:
    """Compare nested dictionaries of arrays, in values and in keys."""
    if isinstance(theirs, tuple):
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    elif isinstance(theirs, dict):
        assert set(ours) == set(theirs)
        for key in theirs:
            assert_same(ours[key], theirs[key])
    elif np.asarray(theirs).dtype == object:
        for a, b in zip(ours, theirs, strict=True):
            assert (a is None) == (b is None)
            if b is not None:
                assert_same(a, b)
    else:
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("mode", MODES)
def test_one_board_is_gymnasiums_own_vector_of_one(mode: AutoresetMode) -> None:
    ours = native(mode)
    theirs = SyncVectorEnv([lambda: gymnasium.make("gohr/Clockwise-v0")], autoreset_mode=mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    rng = np.random.default_rng(0)
    assert_same(ours.reset(seed=3), theirs.reset(seed=3))
    n_ends = 0
    for _ in range(1500):
        occupied = np.flatnonzero(ours.action_masks()[0])
        often = rng.random() < 0.9 and len(occupied)
        action = np.array([rng.choice(occupied) if often else rng.integers(144)])
        mine, yours = ours.step(action), theirs.step(action)
        assert_same(mine, yours)
        assert [part.dtype for part in mine[1:4]] == [part.dtype for part in yours[1:4]]
        if mine[2][0] or mine[3][0]:
            n_ends += 1
            if mode is AutoresetMode.DISABLED:
                options = {"reset_mask": np.array([True])}
                assert_same(ours.reset(options=options), theirs.reset(options=options))
    assert n_ends > 10


@pytest.mark.parametrize("mode", MODES)
def test_make_vec_says_its_mode(mode: AutoresetMode) -> None:
    env = native(mode, num_envs=3)
    assert env.metadata["autoreset_mode"] is mode
    observations, infos = env.reset(seed=0)
    assert observations in env.observation_space
    assert infos["action_mask"].shape == (3, 144)
    step = env.step(env.action_space.sample())
    assert step[0] in env.observation_space


@pytest.mark.parametrize("make", [HiddenRulesEnv, HiddenRulesVectorEnv])
def test_a_step_before_the_first_reset_is_refused_as_by_gymnasium(make) -> None:
    with pytest.raises(ResetNeeded, match="before calling"):
        make(rule="clockwise").step(np.array([0]) if make is HiddenRulesVectorEnv else 0)


def test_a_picture_before_the_first_reset_is_refused_as_by_gymnasium() -> None:
    with pytest.raises(ResetNeeded, match="before calling"):
        gymnasium.make("gohr/Clockwise-v0", render_mode="ansi").render()


def test_a_reset_mask_replaces_only_its_boards() -> None:
    env = native(AutoresetMode.DISABLED, num_envs=4)
    before = env.reset(seed=0)[0]["board"]
    after = env.reset(options={"reset_mask": np.array([True, False, False, True])})[0]["board"]
    assert (before == after).all(axis=1).tolist() == [False, True, True, False]


def test_copies_stay_and_views_move() -> None:
    for copy in (True, False):
        env = native(AutoresetMode.NEXT_STEP, num_envs=64, copy=copy)
        board = env.reset(seed=0)[0]["board"]
        rewards = env.step(env.action_space.sample())[1]
        before, paid = board.copy(), rewards.copy()
        for _ in range(20):
            env.step(env.action_space.sample())
        assert (board == before).all() == (rewards == paid).all() == copy


def test_copies_are_equal_to_what_is_not_copied() -> None:
    with_copies, without = (native(AutoresetMode.SAME_STEP, 8, copy=copy) for copy in (True, False))
    assert_same(with_copies.reset(seed=0), without.reset(seed=0))
    rng = np.random.default_rng(0)
    n_final = 0
    for _ in range(300):
        actions = rng.integers(0, 144, 8)
        made = without.step(actions)
        assert_same(made, with_copies.step(actions))
        infos = made[-1]
        if "final_info" in infos:
            ended, final = infos["_final_info"], infos["final_info"]
            n_final += ended.sum()
            assert (final["action_mask"][ended].sum(axis=1) > 0).all()
            assert (final["action_mask"][~ended] == 0).all()
            assert [o is not None for o in infos["final_obs"]] == ended.tolist()
    assert n_final > 10


def test_reveal_is_stamped_and_tells_the_answer() -> None:
    env = native(AutoresetMode.SAME_STEP, num_envs=5, reveal=True)
    _, infos = env.reset(seed=0)
    assert env.metadata["reveal"] is True
    actions = infos["permitted"].argmax(axis=1)
    assert (env.step(actions)[1] == 0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda env: env.step(np.array([0, 1])), "actions: expected shape (3,), found (2,)"),
        (lambda env: env.step(np.array([0, 1, 144])), "actions: expected integers from 0 to 143"),
        (lambda env: env.step(np.array([0, 1, -1])), "actions: expected integers from 0 to 143"),
        (lambda env: env.reset(seed=[1, 2, 3]), "seed: expected one integer for all boards"),
        (lambda env: env.reset(options={"reset_mask": np.ones(2, bool)}), "reset_mask: expected"),
        (lambda env: env.reset(options={"board": None}), "options: expected 'reset_mask', found"),
        (lambda env: HiddenRulesVectorEnv(0), "num_envs: expected at least 1, found 0"),
    ],
)
def test_misuse_is_told(call, message: str) -> None:
    env = native(AutoresetMode.DISABLED, num_envs=3)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=re.escape(message)):
        call(env)
