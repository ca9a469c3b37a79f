"""Wrappers of the JAX environment: what they show is what Gymnasium's show."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import gnomon  # noqa: F401 - registers the environments
from gnomon.game import HistoryStack

jax = pytest.importorskip("jax", reason="JAX is not installed (the extra jax)")

from gnomon.game import jax as gjax


def test_a_history_has_the_rows_of_gymnasiums():
    theirs = HistoryStack(gymnasium.make("gnomon/Clockwise-v0"), k=4)
    seen, _ = theirs.reset(seed=0)
    env, params = gjax.make("clockwise")
    history = gjax.History(env, k=4)
    shown, state = history.reset(jax.random.key(0), params, seen["board"])
    rng = np.random.default_rng(0)
    ended = False
    while not ended:
        legal = np.flatnonzero(history.permitted(params, state))
        action = int(rng.choice(legal)) if rng.random() < 0.7 else int(rng.integers(144))
        seen, _, ended, *_ = theirs.step(action)
        shown, state, _, terminated, _, info = history.step(
            jax.random.key(1), state, action, params
        )
        assert bool(terminated) == ended
        assert (info["final_observation"].history == seen["history"]).all()
        if not ended:
            assert (shown.history == seen["history"]).all()
    assert not shown.history.any()


def test_a_history_of_a_batch_is_that_of_each_row():
    env, params = gjax.make("clockwise")
    history = gjax.History(env, k=3)
    shown, states = history.reset_boards(jax.random.key(0), 5, params)
    actions = np.arange(5) * 20
    shown, states, *_ = history.step_boards(jax.random.key(1), states, actions, params)
    assert shown.history.shape == (5, 3, 5)
    assert (shown.history[:, -1, 0] == 1 + actions // 4).all()
    assert history.action_mask(jax.tree.map(lambda x: x[0], states)).shape == (144,)
    assert history.num_actions == 144


def test_a_trial_remembers_across_episodes():
    env, params = gjax.make("color-match", max_steps_in_episode=2)
    trial = gjax.Trial(env)
    shown, states = trial.reset_boards(jax.random.key(0), 3, params)
    assert shown.last_action.tolist() == [144] * 3
    for step in range(4):
        legal = jax.vmap(lambda s: trial.permitted(params, s))(states)
        actions = np.array([int(legal[0].argmax()), 143, 7])
        shown, states, reward, *_, info = trial.step_boards(
            jax.random.key(step), states, actions, params
        )
        assert shown.last_action.tolist() == actions.tolist()
        assert shown.last_reward.tolist() == reward.tolist()
        assert shown.last_done.tolist() == [step % 2 == 1] * 3
        assert not info["final_observation"].last_done.any()
    assert trial.default_params is env.default_params


def test_a_history_of_nothing_is_refused():
    with pytest.raises(ValueError, match="k: expected at least 1, found 0"):
        gjax.History(gjax.make()[0], k=0)
