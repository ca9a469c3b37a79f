"""Resets and steps as compiled programs: attempts, and the dealing of new boards to who needs them.

Each is compiled once for all environments of the same dimensions.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from gnomon.game.board import DEFAULT_SPEC, N_BUCKETS, BoardSpec
from gnomon.game.environments.registration import HORIZON
from gnomon.game.jax.dealing import n_words, numbers_below, pieces_from_words, pieces_of_board
from gnomon.game.jax.rule_tables import RuleTables
from gnomon.game.jax.state import Dimensions, EnvState, Reply
from gnomon.game.jax.transition import attempt, begin
from gnomon.game.outcomes import STALEMATE

jax.tree_util.register_dataclass(RuleTables, list(RuleTables.__dataclass_fields__), [])

Dealt: TypeAlias = tuple[jax.Array, jax.Array, jax.Array]
Step: TypeAlias = tuple["Observation", EnvState, jax.Array, jax.Array, jax.Array, dict[str, Any]]


class Observation(NamedTuple):
    """What a player sees, as in the Gymnasium environment.

    Attributes
    ----------
    board : uint8, shape (36,)
        Codes of what lies in each cell from the bottom left: 0 nothing, else
        ``1 + shape * n_colors + color``.
    shape, color, bucket : uint8
        Of the last accepted attempt of the episode, each 0 for none and else 1 + index.

    Examples
    --------
    >>> from gnomon.game import jax as gjax
    >>> env, params = gjax.make("clockwise", board={"pieces": (9, 9)})
    >>> observation, _ = env.reset(jax.random.key(0), params)
    >>> int((observation.board > 0).sum()), int(observation.bucket)
    (9, 0)
    """

    board: jax.Array
    shape: jax.Array
    color: jax.Array
    bucket: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class EnvParams:
    """The rules of an environment, and what of it may change without compiling anew.

    Parameters
    ----------
    rules : RuleTables
        The bank: one for all rows of a batch.
    rule : int32
        The rule of the bank to play; -1 draws one at each reset.
    max_steps_in_episode : int32
        Attempts after which an episode is truncated, at least 1.
    episodes_per_rule : int32
        Episodes after which an automatic reset draws a rule of the bank; 0 for never.

    Examples
    --------
    Each row its own rule, under ``jax.vmap``: the tables are shared, the rule's number is not.

    >>> axes = (0, EnvParams(None, 0, None, None))
    """

    rules: Any
    rule: Any = -1
    max_steps_in_episode: Any = HORIZON
    episodes_per_rule: Any = 0


@functools.partial(jax.jit, static_argnums=1)
def features(observation: Observation, board: BoardSpec = DEFAULT_SPEC) -> jax.Array:
    """Return an observation as zeros and ones, float32 of shape (n,).

    For each cell which code it holds, then shape, color and bucket of the last accepted attempt;
    what is not there is zeros for a cell, and a 1 of its own for the others. With the usual
    palettes ``n`` is 591.

    Examples
    --------
    >>> import jax
    >>> from gnomon.game import jax as gjax
    >>> env, params = gjax.make()
    >>> features(env.reset(jax.random.key(0), params)[0]).shape
    (591,)
    """
    codes = jnp.arange(1, board.n_codes, dtype=jnp.uint8)
    cells = observation.board[:, None] == codes
    last = [
        jax.nn.one_hot(observation.shape, 1 + len(board.shape_palette)),
        jax.nn.one_hot(observation.color, 1 + len(board.color_palette)),
        jax.nn.one_hot(observation.bucket, 1 + N_BUCKETS),
    ]
    return jnp.concatenate([cells.reshape(-1).astype(jnp.float32), *last])


@functools.partial(jax.jit, static_argnums=0)
def reset(
    dims: Dimensions, key: jax.Array, params: EnvParams, board: Any
) -> tuple[Observation, EnvState]:
    """Begin on a board that is drawn, or given."""
    rule, cells, codes = drawn_boards(dims, key, (), params)
    if board is not None:
        cells, codes = pieces_of_board(jnp.asarray(board), dims.n_pieces)
    state = begin(dims, params.rules, rule, cells, codes, jnp.int32(0))
    return observed(state), state


@functools.partial(jax.jit, static_argnums=(0, 2))
def reset_boards(
    dims: Dimensions, key: jax.Array, num_envs: int, params: EnvParams
) -> tuple[Observation, EnvState]:
    """Begin on as many boards."""
    rule, cells, codes = drawn_boards(dims, key, (num_envs,), params)
    start = jax.vmap(lambda *row: begin(dims, params.rules, *row, jnp.int32(0)))
    states = start(jnp.broadcast_to(rule, (num_envs,)), cells, codes)
    return observed(states), states


@functools.partial(jax.jit, static_argnums=0)
def step(dims: Dimensions, key: jax.Array, state: EnvState, action: Any, params: EnvParams) -> Step:
    """Make an attempt, and deal a new board if it ends the episode."""
    after, reply = attempt(dims, params.rules, state, action, params.max_steps_in_episode)
    drawn, cells, codes = drawn_boards(dims, key, (), replace(params, rule=-1))
    rule = _next_rule(dims, params, after.episode, after.rule, drawn)
    fresh = begin(dims, params.rules, rule, cells, codes, after.episode + 1)
    done = reply.terminated | reply.truncated
    return _answer(after, reply, jax.tree.map(lambda a, b: jnp.where(done, a, b), fresh, after))


@functools.partial(jax.jit, static_argnums=(0, 5))
def step_boards(
    dims: Dimensions,
    key: jax.Array,
    states: EnvState,
    actions: Any,
    params: EnvParams,
    n_fresh: int,
) -> Step:
    """Make an attempt on each board, and deal ``n_fresh`` boards to the rows that ended."""
    horizon = params.max_steps_in_episode
    make_attempts = jax.vmap(lambda s, a: attempt(dims, params.rules, s, a, horizon))
    after, reply = make_attempts(states, actions)
    done = reply.terminated | reply.truncated
    dealt = drawn_boards(dims, key, (n_fresh,), replace(params, rule=-1))
    # A processor looks after the few rows that have ended; a GPU is faster over all of them.
    deal = {"default": dealt_to_few, "cuda": dealt_to_all, "rocm": dealt_to_all}
    states = jax.lax.platform_dependent(
        params, after, done, dealt, **{name: functools.partial(f, dims) for name, f in deal.items()}
    )
    return _answer(after, reply, states)


def dealt_to_all(
    dims: Dimensions, params: EnvParams, after: EnvState, done: jax.Array, dealt: Dealt
) -> EnvState:
    """Begin an episode in every row, and keep those of the rows whose episode has ended."""
    drawn, cells, codes = dealt
    place = (jnp.cumsum(done, dtype=jnp.int32) - 1) % len(cells)
    rule = _next_rule(dims, params, after.episode, after.rule, drawn[place])
    start = jax.vmap(lambda *row: begin(dims, params.rules, *row))
    fresh = start(rule, cells[place], codes[place], after.episode + 1)

    def choose(new: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(done.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return jax.tree.map(choose, fresh, after)


def dealt_to_few(
    dims: Dimensions, params: EnvParams, after: EnvState, done: jax.Array, dealt: Dealt
) -> EnvState:
    """Begin an episode in the rows whose episode has ended, as many at a time as boards were drawn.

    It gives the same states as :func:`dealt_to_all`.
    """
    drawn, cells, codes = dealt
    ended = jnp.cumsum(done, dtype=jnp.int32)
    start = jax.vmap(lambda *row: begin(dims, params.rules, *row))
    order = jnp.arange(1, 1 + len(cells), dtype=jnp.int32)

    def deal(carry: tuple[jax.Array, EnvState]) -> tuple[jax.Array, EnvState]:
        n_dealt, states = carry
        rows = jnp.searchsorted(ended, n_dealt + order)  # behind the last row, if none is left
        episode, rule = after.episode[rows], after.rule[rows]
        rule = _next_rule(dims, params, episode, rule, drawn)
        fresh = start(rule, cells, codes, episode + 1)
        put = jax.tree.map(lambda x, new: x.at[rows].set(new, mode="drop"), states, fresh)
        return n_dealt + len(cells), put

    left = ended[-1]
    return jax.lax.while_loop(lambda c: c[0] < left, deal, (jnp.int32(0), after))[1]


def drawn_boards(
    dims: Dimensions, key: jax.Array, batch: tuple[int, ...], params: EnvParams
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Draw rules and boards: rule (*batch), cells and codes (*batch, P)."""
    several = int(dims.n_rules > 1)
    words = jax.random.bits(key, (several + n_words(dims.board), *batch), jnp.uint32)
    cells, codes = pieces_from_words(words[several:], dims.board)
    rule = jnp.asarray(params.rule, jnp.int32)
    if several:
        number = numbers_below(words[:1], [dims.n_rules], dims.n_rules)[0].astype(jnp.int32)
        rule = jnp.where(rule < 0, number, rule)
    else:
        rule = jnp.zeros(batch, jnp.int32)
    return rule, jnp.moveaxis(cells, 0, -1), jnp.moveaxis(codes, 0, -1)


def _next_rule(
    dims: Dimensions, params: EnvParams, episode: jax.Array, rule: jax.Array, drawn: jax.Array
) -> jax.Array:
    """Return the rule of the episode after one, given a rule that was drawn."""
    if dims.n_rules == 1:
        return rule
    each = jnp.asarray(params.episodes_per_rule, jnp.int32)
    anew = (each > 0) & ((episode + 1) % jnp.maximum(each, 1) == 0)
    return jnp.where(anew, drawn, rule)


def observed(state: EnvState) -> Observation:
    """Return what a player sees of a board, or of a batch."""
    return Observation(state.board, *(state.last[..., k] for k in range(3)))


def _answer(after: EnvState, reply: Reply, state: EnvState) -> Step:
    info = {
        "outcome": reply.outcome,
        "stalemate": after.finish == STALEMATE,
        "final_observation": observed(after),
    }
    seen = observed(state)
    return seen, state, reply.reward, reply.terminated, reply.truncated, info
