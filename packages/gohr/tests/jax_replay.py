"""The JAX environment and the engine side by side: the same boards, the same attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gohr import BoardSpec, draw_boards
from gohr import jax as gjax
from gohr.engine.boards import Boards
from gohr.jax.states import EnvState, attempt
from gohr.outcomes import RESET, STALEMATE
from gohr.rules import RuleSet, parse

#: The paper's boards; of some pieces, shapes and colors; full ones.
SPECS = (
    BoardSpec(),
    BoardSpec(pieces=(4, 12), shapes=(0, 4), colors=(1, 3)),
    BoardSpec(pieces=36, shapes=0, colors=0),
)


#: What the tests of the environment play, always as many boards, so that it is compiled once.
RULES = ["clockwise", "color-match", "b23-then-b01", parse("(*,star,red,*,0)")]
SMALL = BoardSpec(pieces=(4, 6), shapes=0, colors=0)
N = 40
#: A sixteenth, rounded up: the boards drawn in a step.
N_FRESH = 3


def small_game(**params: int) -> tuple[gjax.HiddenRules, gjax.EnvParams]:
    """Make the environment that the tests share."""
    return gjax.make(RULES, board=SMALL, **params)


def played(
    env: Any, params: gjax.EnvParams, n_steps: int, *, seed: int = 0
) -> Iterator[tuple[EnvState, np.ndarray, jax.Array, Any]]:
    """Play mostly permitted attempts; yield states, actions, key and replies of each step."""
    _, states = env.reset_boards(jax.random.key(seed), N, params)
    rng = np.random.default_rng(seed)
    for k in range(n_steps):
        legal = np.asarray(masks(env, states)[0])
        actions = np.where(rng.random(N) < 0.7, legal.argmax(axis=1), rng.integers(0, 144, N))
        key = jax.random.key(1000 * seed + k)
        replies = env.step_boards(key, states, actions, params)
        yield states, actions, key, replies
        states = replies[1]


def equal(a: Any, b: Any) -> bool:
    """Tell whether all arrays of two trees are equal."""
    same = jax.tree.map(lambda x, y: bool((np.asarray(x) == np.asarray(y)).all()), a, b)
    return all(jax.tree.leaves(same))


def row_of(tree: Any, row: int) -> Any:
    return jax.tree.map(lambda x: np.asarray(x)[row], tree)


@partial(jax.jit, static_argnums=0)
def attempts(
    env: gjax.HiddenRules, rules: Any, states: EnvState, actions: Any, horizon: Any
) -> tuple[EnvState, jax.Array]:
    """Make an attempt on each board, without a new board at the end."""
    return jax.vmap(lambda s, a: attempt(rules, s, a, horizon, env.board))(states, actions)


def masks(env: gjax.HiddenRules, states: EnvState) -> tuple[jax.Array, jax.Array]:
    """Return which attempts are permitted, and which are on cells that hold a piece."""
    return jax.vmap(env.permitted)(states), jnp.repeat(states.board > 0, 4, axis=1)


def states_on(
    env: gjax.HiddenRules, params: gjax.EnvParams, rows: np.ndarray, boards: np.ndarray
) -> EnvState:
    """Begin on boards that are given, each under the rule of its row."""
    axes = gjax.EnvParams(None, 0, None)
    each = gjax.EnvParams(params.rules, jnp.asarray(rows, jnp.int32))
    reset = jax.vmap(env.reset, in_axes=(None, axes, 0))
    _, states = reset(jax.random.key(0), each, jnp.asarray(boards))
    return states


def some_actions(legal: np.ndarray, there: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose permitted attempts (55 %), attempts on pieces (30 %), and any (15 %)."""
    n = len(legal)
    actions = rng.integers(0, 144, n)
    kind = rng.random(n)
    for mask, chosen in ((legal, kind < 0.55), (there, (kind >= 0.55) & (kind < 0.85))):
        total = mask.cumsum(axis=1)
        nth = (rng.random(n) * total[:, -1]).astype(np.int64)
        pick = (total > nth[:, None]).argmax(axis=1)
        actions = np.where(chosen & (total[:, -1] > 0), pick, actions)
    return actions


def engine_side(play: Sequence[Boards]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what the engine says of all boards, by name."""

    replies = np.concatenate([boards.replies for boards in play], axis=1)
    for row, name in ((4, "outcome"), (8, "finish"), (9, "time")):
        yield name, replies[row]
    yield "last", replies[1:4].T
    yield "codes", np.concatenate([boards.codes for boards in play])


def replay(
    rules: Sequence[RuleSet],
    spec: BoardSpec,
    *,
    per_rule: int,
    n_steps: int,
    horizon: int,
    rng: np.random.Generator,
) -> Counter[int]:
    """Play the same attempts on both and compare throughout; return how often each outcome came."""
    env, params = gjax.make(rules, board=spec, max_steps_in_episode=horizon)
    rows = np.repeat(np.arange(len(rules)), per_rule)
    boards = draw_boards(len(rows), spec, rng=rng)
    states = states_on(env, params, rows, boards)
    decks = np.split(boards, len(rules))
    play = [Boards.empty(rule, per_rule, spec) for rule in rules]
    for mine, deck in zip(play, decks, strict=True):
        mine.advance(np.full(per_rule, RESET), deck)
    met: Counter[int] = Counter()
    for step in range(n_steps):
        legal = np.concatenate([mine.permitted() for mine in play])
        there = np.concatenate([mine.occupied for mine in play])
        for found, expected, what in zip(
            masks(env, states), (legal, there), ("permitted", "mask"), strict=True
        ):
            differ(what, expected, np.asarray(found), rows, step)
        actions = some_actions(legal, there, rng)
        for mine, deck, own in zip(play, decks, np.split(actions, len(rules)), strict=True):
            mine.advance(own, deck, horizon=horizon)
        states, outcomes = attempts(env, params.rules, states, actions, horizon)
        found_in = [outcomes, states.finish, states.time, states.last, states.board]
        for found, (what, expected) in zip(found_in, engine_side(play), strict=True):
            differ(what, expected, np.asarray(found), rows, step)
        met.update(np.asarray(outcomes).tolist())
    met["stalemates"] = int((states.finish == STALEMATE).sum())
    return met


def differ(what: str, expected: np.ndarray, found: np.ndarray, rows: np.ndarray, step: int) -> None:
    """Fail if anything differs, and say for which rules."""
    wrong = (expected != found).reshape(len(rows), -1).any(axis=1)
    assert not wrong.any(), f"step {step}: {what} of rules {np.unique(rows[wrong]).tolist()}"
