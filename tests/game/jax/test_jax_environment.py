"""The JAX environment: resets, batches, params, spaces, compiled programs, gymnax."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from gnomon.game import BoardSpec, compile_rule, draw_boards
from gnomon.game.rule_tables import CATALOGUE
from gnomon.rules import load_rule, parse

jax = pytest.importorskip("jax", reason="JAX is not installed (the extra jax)")

import jax.numpy as jnp

from gnomon.game import jax as gjax
from gnomon.game.jax import environment

SMALL = BoardSpec(pieces=(4, 6), shapes=0, colors=0)


def played(env, params, n: int, steps: int, seed: int = 0, n_fresh: int | None = None):
    """Play random attempts on a batch; return all states and replies on the way."""
    _, states = env.reset_boards(jax.random.key(seed), n, params)
    rng = np.random.default_rng(seed)
    seen = []
    for k in range(steps):
        legal = np.asarray(jax.vmap(lambda s: env.permitted(params, s))(states))
        actions = np.where(rng.random(n) < 0.7, legal.argmax(1), rng.integers(0, 144, n))
        key = jax.random.key(1000 * seed + k)
        replies = env.step_boards(key, states, actions, params, n_fresh=n_fresh)
        seen.append((states, actions, key, replies))
        states = replies[1]
    return seen


def equal(a, b) -> bool:
    same = jax.tree.map(lambda x, y: bool((np.asarray(x) == np.asarray(y)).all()), a, b)
    return all(jax.tree.leaves(same))


def test_a_row_of_a_batch_is_a_board_alone_and_rows_may_change_places():
    env, params = gjax.make(["clockwise", "color-match", "top-first"], board=SMALL)
    _, states = env.reset_boards(jax.random.key(1), 12, params)
    legal = np.asarray(jax.vmap(lambda s: env.permitted(params, s))(states))
    actions = legal.argmax(axis=1)
    inner = jax.jit(lambda s, a: env.step_env(jax.random.key(0), s, a, params))
    batch = jax.vmap(inner)(states, actions)
    order = np.random.default_rng(0).permutation(12)
    moved = jax.vmap(inner)(jax.tree.map(lambda x: x[order], states), actions[order])
    assert equal(moved, jax.tree.map(lambda x: x[order], batch))
    for row in range(12):
        state = jax.tree.map(lambda x, row=row: x[row], states)
        assert equal(
            inner(state, actions[row]), jax.tree.map(lambda x, row=row: x[row], batch)
        )


def test_learners_see_the_new_board_in_the_step_that_ends_an_episode():
    env, params = gjax.make("color-match", board=SMALL, max_steps_in_episode=9)
    ended = cut = both = 0
    for before, _, _, (seen, after, reward, terminated, truncated, info) in played(
        env, params, 64, 40
    ):
        terminated, truncated = np.asarray(terminated), np.asarray(truncated)
        done = terminated | truncated
        final = info["final_observation"]
        assert (np.asarray(after.time) == np.where(done, 0, np.asarray(before.time) + 1)).all()
        assert (np.asarray(after.episode) == np.asarray(before.episode) + done).all()
        assert (np.asarray(seen.board)[~done] == np.asarray(final.board)[~done]).all()
        assert (np.asarray(seen.bucket)[done] == 0).all()
        assert (np.asarray(seen.board)[done] > 0).any(axis=1).all()
        cleared = terminated & ~np.asarray(info["stalemate"])
        assert not np.asarray(final.board)[cleared].any()
        assert (np.asarray(final.bucket)[cleared] > 0).all()
        assert (np.asarray(reward) == np.where(np.asarray(info["outcome"]) == 0, 0, -1)).all()
        ended += terminated.sum()
        cut += truncated.sum()
        both += (terminated & truncated).sum()
    assert min(ended, cut, both) > 0


def test_a_board_that_is_stuck_from_the_start_ends_at_its_first_step():
    env, params = gjax.make(parse("(*,star,red,*,0)"), board={"pieces": 3, "shapes": 0, "colors": 0})
    board = np.zeros(36, np.uint8)
    board[[3, 4]] = 1
    _, state = env.reset(jax.random.key(0), params, board)
    assert not env.permitted(params, state).any()
    answer = env.step(jax.random.key(1), state, 12, params)
    _, after, reward, terminated, truncated, info = answer
    assert (float(reward), bool(terminated), bool(truncated)) == (0.0, True, False)
    assert int(info["outcome"]) == -4
    assert bool(info["stalemate"])
    assert (int(after.time), int(after.episode)) == (0, 1)


def test_few_boards_are_handed_to_the_rows_that_ended_whatever_the_way():
    """The two ways to hand them out, and a plain loop, give the same."""
    rules = ["clockwise", "color-match", "top-first", "b23-then-b01"]
    env, params = gjax.make(rules, board=SMALL, episodes_per_rule=2, max_steps_in_episode=12)
    for n_fresh in (1, 3, 40):
        for _, _, key, replies in played(env, params, 40, 25, n_fresh=n_fresh)[5:]:
            ended = np.asarray(replies[3] | replies[4])
            if ended.sum() > n_fresh:
                break
        before, actions, key, replies = played(env, params, 40, 25, n_fresh=n_fresh)[-1]
        dims = env.dimensions
        make = jax.vmap(lambda s, a: environment.attempt(dims, params.rules, s, a, 12))
        after, reply = make(before, actions)
        done = np.asarray(reply.terminated | reply.truncated)
        dealt = environment._drawn(dims, key, (n_fresh,), replace(params, rule=-1))
        few = environment._dealt_to_few(dims, params, after, jnp.asarray(done), dealt)
        every = environment._dealt_to_all(dims, params, after, jnp.asarray(done), dealt)
        assert equal(few, every)
        assert equal(few, replies[1])
        for place, row in enumerate(np.flatnonzero(done)):
            drawn, cells, codes = (x[place % n_fresh] for x in dealt)
            old = jax.tree.map(lambda x, row=row: x[row], after)
            rule = drawn if (int(old.episode) + 1) % 2 == 0 else old.rule
            fresh = environment.begin(dims, params.rules, rule, cells, codes, old.episode + 1)
            assert equal(fresh, jax.tree.map(lambda x, row=row: x[row], replies[1]))


def test_each_row_may_have_its_own_rule_and_keeps_it():
    env, params = gjax.make(["clockwise", "color-match"], board=SMALL)
    own = gjax.EnvParams(params.rules, jnp.array([0, 1, 1]), params.max_steps_in_episode)
    axes = gjax.EnvParams(None, 0, None, None)
    reset = jax.vmap(env.reset, in_axes=(0, axes))
    _, states = reset(jax.random.split(jax.random.key(0), 3), own)
    assert states.rule.tolist() == [0, 1, 1]
    played_on = played(env, replace(params, rule=jnp.array([0, 1, 1])), 3, 30)[-1][3][1]
    assert played_on.rule.tolist() == [0, 1, 1]
    assert (np.asarray(played_on.episode) > 0).all()


def test_rules_are_drawn_alike_and_anew_after_some_episodes():
    env, params = gjax.make(["clockwise", "color-match", "anything-goes"], board=SMALL)
    _, states = env.reset_boards(jax.random.key(0), 3_000, params)
    counts = np.bincount(states.rule, minlength=3)
    assert ((counts > 900) & (counts < 1_100)).all()
    often = replace(params, episodes_per_rule=jnp.int32(2))
    rules = {}
    for states, *_ in played(env, often, 50, 60):
        for row, (episode, rule) in enumerate(zip(states.episode, states.rule, strict=True)):
            rules.setdefault((row, int(episode) // 2), set()).add(int(rule))
    assert all(len(seen) == 1 for seen in rules.values())
    assert len({tuple(seen) for seen in rules.values()}) == 3


def test_the_same_key_gives_the_same_boards_and_another_key_others():
    env, params = gjax.make("clockwise")
    one = env.reset_boards(jax.random.key(4), 8, params)
    assert equal(one, env.reset_boards(jax.random.key(4), 8, params))
    assert not equal(one, env.reset_boards(jax.random.key(5), 8, params))
    alone, _ = env.reset(jax.random.key(4), params)
    assert equal(alone, env.reset(jax.random.key(4))[0])


def test_rules_of_the_same_sizes_share_one_compiled_program():
    environment._reset.clear_cache()
    environment._step.clear_cache()
    for name in ("clockwise", "color-match", "top-left-first", "b23-then-b01")[:2]:
        env, params = gjax.make(name, sizes=CATALOGUE, board=SMALL)
        for episode in range(2):
            _, state = env.reset(jax.random.key(episode), params)
            env.step(jax.random.key(9), state, 5, params)
    assert environment._reset._cache_size() == 1
    assert environment._step._cache_size() == 1
    assert env == gjax.make("color-match", sizes=CATALOGUE, board=SMALL)[0]
    assert hash(env) != hash(gjax.make("color-match", board=SMALL)[0])


def test_spaces_hold_what_is_seen_and_done():
    env, params = gjax.make("clockwise", board=SMALL)
    observation, state = env.reset(jax.random.key(0), params)
    space = env.observation_space(params)
    assert bool(space.contains(observation))
    assert bool(space.contains(space.sample(jax.random.key(1))))
    assert not bool(space.contains(observation._replace(bucket=5)))
    assert env.action_space(params).n == env.num_actions == 144
    assert env.features(observation).sum() == (np.asarray(state.board) > 0).sum() + 3
    mask = np.asarray(env.action_mask(state))
    assert (mask.reshape(36, 4) == (np.asarray(state.board) > 0)[:, None]).all()


def test_messages():
    env, params = gjax.make("clockwise")
    with pytest.raises(ValueError, match="params: expected EnvParams inside jit or vmap"):
        jax.jit(env.reset)(jax.random.key(0))
    with pytest.raises(ValueError, match="board: expected 36 codes with 1 to 9 pieces, found"):
        env.reset(jax.random.key(0), params, np.zeros(36, np.uint8))
    _, states = env.reset_boards(jax.random.key(0), 4, params)
    with pytest.raises(ValueError, match="n_fresh: expected from 1 to 4, found 5"):
        env.step_boards(jax.random.key(0), states, np.zeros(4, int), params, n_fresh=5)


def test_the_import_says_which_extra_is_missing():
    code = (
        "import sys, importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'jax' else real(name, *a)\n"
        "import gnomon.game.jax"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: gnomon.game.jax: expected JAX, which is not installed; "
        "pip install 'gnomon-rl[jax]'"
    )


def test_nothing_else_loads_jax():
    code = (
        "import sys, gnomon.game, gnomon.learners, gnomon.experiments, gnomon.cli\n"
        "from gnomon.game import compile_rule, rule_tables\n"
        "assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_each_public_name_is_documented():
    for name in gjax.__all__:
        assert getattr(gjax, name).__doc__, name


@pytest.mark.filterwarnings("default")
def test_gymnax_makes_it_and_wraps_it():
    if importlib.util.find_spec("gymnax") is None:
        pytest.skip("gymnax is not installed: nothing to register with")
    gymnax = pytest.importorskip("gymnax", reason="gymnax does not import here", exc_type=ImportError)
    from gymnax.wrappers.purerl import LogWrapper

    assert gjax.register_with_gymnax() == gjax.register_with_gymnax()
    env, params = gymnax.make("gnomon/Clockwise-v0")
    logged = LogWrapper(env)
    _, state = logged.reset(jax.random.key(0), params)
    for k in range(12):
        action = env.permitted(params, state.env_state).argmax()
        *_, info = out = logged.step(jax.random.key(k), state, action, params)
        state = out[1]
    assert bool(info["returned_episode_valid"])
    assert float(info["returned_episode_returns"]) == 0.0
    assert float(info["returned_episode_lengths"]) == 9.0


def test_boards_of_other_palettes():
    spec = BoardSpec(5, 2, 1, ["heart", "moon", "sun"], ["green", "white"])
    rule = compile_rule(parse("(*,heart,*,*,0) (*,[moon,sun],green,*,p+1) (*,*,*,*,3)"), spec)
    env, params = gjax.make(rule, board=spec)
    boards = np.asarray(env.reset_boards(jax.random.key(0), 200, params)[0].board)
    assert boards.max() <= 6
    for board in boards:
        shape, color = np.divmod(board[board > 0].astype(int) - 1, 2)
        assert (len(board[board > 0]), len(set(shape)), len(set(color))) == (5, 2, 1)
    assert draw_boards(1, spec, rng=np.random.default_rng(0)).max() <= 6
    assert load_rule("clockwise")
