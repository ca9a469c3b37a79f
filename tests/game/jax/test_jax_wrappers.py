"""Wrappers of the JAX environment: what they show is what Gymnasium's show."""

from __future__ import annotations

import gymnasium
import jax
import numpy as np
import pytest

import gnomon  # noqa: F401 - registers the environments
from gnomon.game import HistoryStack
from gnomon.game import jax as gjax
from jax_replay import N_FRESH, N, masks, row_of, small_game


@pytest.mark.full
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
    env, params = small_game()
    history = gjax.History(env, k=3)
    shown, states = history.reset_boards(jax.random.key(0), N, params)
    assert not shown.history.any()
    actions = np.arange(N)
    before = np.asarray(shown.board)
    shown, states, *_, info = history.step_boards(
        jax.random.key(1), states, actions, params, n_fresh=N_FRESH
    )
    last = np.asarray(info["final_observation"].history[:, -1])
    code = before[np.arange(N), actions // 4].astype(int)
    assert (last[:, 0] == 1 + actions // 4).all()
    assert (last[:, 1] == 1 + actions % 4).all()
    assert (last[:, 2] == np.where(code > 0, 1 + (code - 1) // 4, 0)).all()
    assert (last[:, 3] == np.where(code > 0, 1 + (code - 1) % 4, 0)).all()
    assert (last[:, 4] == (np.asarray(info["outcome"]) == 0)).all()
    assert history.action_mask(row_of(states, 0)).shape == (144,)
    assert history.num_actions == 144


def test_a_trial_remembers_across_episodes():
    env, params = small_game(max_steps_in_episode=2, rule=1)
    trial = gjax.Trial(env)
    shown, states = trial.reset_boards(jax.random.key(0), N, params)
    assert (shown.last_action == 144).all()
    for step in range(4):
        actions = np.asarray(masks(states.env_state)[0]).argmax(axis=1)
        actions[1:] = 143
        shown, states, reward, *_, info = trial.step_boards(
            jax.random.key(step), states, actions, params, n_fresh=N_FRESH
        )
        assert (shown.last_action == actions).all()
        assert (shown.last_reward == reward).all()
        assert (shown.last_done == (step % 2 == 1)).all()
        assert not info["final_observation"].last_done.any()
    assert float(reward[0]) == 0
    assert trial.default_params is env.default_params


def test_a_history_of_nothing_is_refused():
    with pytest.raises(ValueError, match="k: expected at least 1, found 0"):
        gjax.History(small_game()[0], k=0)
