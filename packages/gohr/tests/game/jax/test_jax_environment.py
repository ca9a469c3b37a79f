"""The JAX environment: resets, batches, params, compiled programs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gohr import BoardSpec
from gohr import jax as gjax
from gohr.rules import parse
from jax_replay import N_FRESH, SMALL, N, equal, played, row_of, small_game


def test_learners_see_the_new_board_in_the_step_that_ends_an_episode():
    env, params = small_game(max_steps_in_episode=9)
    ended = cut = both = 0
    for before, _, _, replies in played(env, params, 30):
        seen, after, reward, terminated, truncated, info = jax.tree.map(np.asarray, replies)
        done = terminated | truncated
        final = info["final_observation"]
        over = np.asarray(before.finish) > 0  # stuck from the start
        time = np.asarray(before.time) + ~over
        assert (after.time == np.where(done, 0, time)).all()
        assert (seen.board[~done] == final.board[~done]).all()
        assert (seen.bucket[done] == 0).all()
        assert (seen.board[done] > 0).any(axis=1).all()
        assert (truncated == (time >= 9)).all()
        cleared = terminated & ~info["stalemate"]
        assert (terminated == (info["stalemate"] | ~final.board.any(axis=1))).all()
        assert (final.bucket[cleared] > 0).all()
        assert (info["outcome"][over] == -4).all()
        assert (reward == np.where((info["outcome"] == 0) | over, 0, -1)).all()
        ended += terminated.sum()
        cut += truncated.sum()
        both += (terminated & truncated).sum()
    assert min(ended, cut, both) > 0


def test_rules_are_drawn_alike_and_kept():
    env, params = small_game()
    states = [env.reset_boards(jax.random.key(seed), N, params)[1] for seed in range(40)]
    counts = np.bincount(np.concatenate([s.rule for s in states]), minlength=4)
    assert ((counts > 330) & (counts < 470)).all()
    rules = [np.asarray(replies[1].rule) for *_, replies in played(env, params, 30)]
    assert (rules[0] == rules[-1]).all()


def test_the_same_key_gives_the_same_boards_and_another_key_others():
    env, params = small_game()
    one = env.reset_boards(jax.random.key(4), N, params)
    assert equal(one, env.reset_boards(jax.random.key(4), N, params))
    assert not equal(one, env.reset_boards(jax.random.key(5), N, params))


def test_a_number_that_is_no_attempt_counts_as_the_last():
    env, params = small_game()
    _, states = env.reset_boards(jax.random.key(0), N, params)
    last, high, low = (
        env.step_boards(jax.random.key(1), states, np.full(N, action), params)
        for action in (143, 1000, -1)
    )
    assert equal(last, high)
    assert equal(last, low)


def test_messages():
    env, params = small_game()
    with pytest.raises(ValueError, match="board: expected 36 codes with 1 to 6 pieces, found"):
        env.reset(jax.random.key(0), params, np.zeros(36, np.uint8))


def test_the_import_says_which_extra_is_missing():
    code = (
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'jax' else real(name, *a)\n"
        "import gohr.jax"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: gohr.jax: expected JAX, which is not installed; "
        "pip install 'gohr[jax]'"
    )


def test_nothing_else_loads_jax_and_the_tables_need_little():
    code = (
        "import sys, gohr.learners, gohr.cli, gohr.jax.tables as tables\n"
        "from gohr import compile_rule\n"
        "tables.to_tables([compile_rule(__import__('gohr').load_rule('clockwise'))])\n"
        "assert not {'jax', 'numba', 'polars', 'gymnasium'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# -- in the full tier: what must be compiled for itself --------------------------------------------


@pytest.mark.full
def test_each_row_may_have_its_own_rule_and_keeps_it():
    env, params = small_game()
    rules = jnp.arange(N, dtype=jnp.int32) % 4
    own = replace(params, rule=rules)
    *_, (_, _, _, replies) = played(env, own, 25)
    assert (replies[1].rule == rules).all()
    assert (replies[1].time[:4] < 25).all()


@pytest.mark.full
def test_a_row_of_a_batch_is_a_board_alone_and_rows_may_change_places():
    env, params = small_game()
    _, states = env.reset_boards(jax.random.key(1), N, params)
    actions = np.asarray(jax.vmap(env.permitted)(states)).argmax(axis=1)
    keys = jax.random.split(jax.random.key(2), N)
    step = jax.vmap(env.step, in_axes=(0, 0, 0, None))
    batch = step(keys, states, actions, params)
    order = np.random.default_rng(0).permutation(N)
    moved = step(keys[order], jax.tree.map(lambda x: x[order], states), actions[order], params)
    assert equal(moved, jax.tree.map(lambda x: x[order], batch))
    for row in range(8):
        alone = env.step(keys[row], row_of(states, row), actions[row], params)
        assert equal(alone, row_of(batch, row))


@pytest.mark.full
def test_few_boards_are_handed_to_the_rows_that_ended_by_a_gpu_too(monkeypatch):
    env, params = small_game(max_steps_in_episode=6)
    steps = played(env, params, 13)
    before, actions, key, replies = next(s for s in steps if (s[3][3] | s[3][4]).sum() > N_FRESH)
    rows = np.flatnonzero(replies[3] | replies[4])
    after = jax.tree.map(np.asarray, replies[1])
    for nth, row in enumerate(rows):
        assert (after.board[row] == after.board[rows[nth % N_FRESH]]).all()
    assert len(np.unique(after.board[rows], axis=0)) == N_FRESH

    of_gpu = jax.jit(lambda *given: gjax.HiddenRules.step_boards.__wrapped__(env, *given))
    jax.export.export(of_gpu, platforms=["cuda"])(key, before, actions, params)
    of_gpu.clear_cache()
    monkeypatch.setattr(jax.lax, "platform_dependent", lambda cuda, **others: cuda())
    assert equal(of_gpu(key, before, actions, params), replies)


@pytest.mark.full
def test_rules_of_the_same_sizes_share_one_compiled_program():
    gjax.HiddenRules.step.clear_cache()
    for text in ("(*,star,*,*,p+1)", "(*,*,red,*,ps)"):
        env, params = gjax.make(parse(text), board=SMALL)
        _, state = env.reset(jax.random.key(0), params)
        env.step(jax.random.key(9), state, 5, params)
    assert gjax.HiddenRules.step._cache_size() == 1


@pytest.mark.full
def test_boards_of_other_palettes():
    spec = BoardSpec(5, 2, 1, ["heart", "moon", "sun"], ["green", "white"])
    rule = parse("(*,heart,*,*,0) (*,[moon,sun],green,*,p+1) (*,*,*,*,3)")
    env, params = gjax.make(rule, board=spec)
    boards = np.asarray(env.reset_boards(jax.random.key(0), 200, params)[0].board)
    assert boards.max() <= 6
    for board in boards:
        shape, color = np.divmod(board[board > 0].astype(int) - 1, 2)
        assert (len(board[board > 0]), len(set(shape)), len(set(color))) == (5, 2, 1)
