"""One attempt on one board as a pure function of arrays, for a bank of rules.

The rule is encoded in :class:`~gohr.game.jax.rule_tables.RuleTables` alone; this module looks it
up. A rejected attempt leaves the state unchanged by construction: values recomputed from the same
pieces, line and memory are the same.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gohr.game.board import N_BUCKETS, N_CELLS, BoardSpec, nearest_bucket
from gohr.game.jax.rule_tables import ATOMS_A_WORD, RuleTables, Sizes
from gohr.game.outcomes import (
    ACCEPTED,
    CLEARED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    IN_PROGRESS,
    STALEMATE,
)

_QUADRANT = np.array([nearest_bucket(1 + cell) for cell in range(N_CELLS)], np.uint8)
_NO_RANK = 255
#: The first bit of each of the eight atoms of a word.
_FIRST_BITS = 0x11111111
_NOWHERE = 1 << 30

jax.tree_util.register_dataclass(RuleTables, list(RuleTables.__dataclass_fields__), [])


# -- the state of a board -------------------------------------------------------------------------


@dataclass(frozen=True)
class Dimensions:
    """Static parameters of a compiled program: sizes, how boards are drawn, number of rules.

    Parameters
    ----------
    sizes : Sizes
        Sizes of the tables of the rules.
    board : BoardSpec
        Gives the most pieces, and the palettes.
    n_rules : int
        Number of rules in the bank. With one, nothing is looked up by rule.
    """

    sizes: Sizes
    board: BoardSpec
    n_rules: int

    @property
    def n_pieces(self) -> int:
        """The most pieces of a board."""
        return self.board.pieces[1]

    @property
    def n_colors(self) -> int:
        """Size of the palette of colors."""
        return len(self.board.color_palette)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class EnvState:
    """The state of one board in play; a leading axis on every field makes it a batch.

    P is the most pieces of a board, W the words of atoms; see
    :class:`~gohr.game.jax.rule_tables.RuleTables`.

    Parameters
    ----------
    board : uint8, shape (36,)
        Codes of the cells, 0 for an empty one.
    slots : uint8, shape (36,)
        Which piece lay in each cell when the episode began.
    cells, codes : uint8, shape (P,)
        Cell and code of each piece; code 0 if removed.
    accepts : uint32, shape (P, W)
        The buckets that each atom now allows for each piece, whether it is alive or not.
    alive : uint32, shape (W,)
        All bits of the atoms of the active line that are not used up.
    by_color, by_shape : uint8, shape (P,)
        Last bucket of the color and of the shape of each piece, 0 for none, else 1 + bucket.
    last : uint8, shape (3,)
        Shape, color and bucket of the last accepted attempt, each 0 for none, else 1 + index.
    records : uint8, shape (2 P + 5, 4)
        Shape, color, cell and bucket (likewise) of the last piece of the color of each piece, of
        its shape, in each bucket, and of all; without rows if no rule needs them.
    n_left : uint8
        Pieces on the board.
    line, line_left : int16
        The active line, and its remaining count, -1 for none.
    left : int16, shape (8 W,)
        Remaining counts of atoms; empty if no rule has any.
    finish : uint8
        0 in progress, 1 cleared, 2 a stalemate.
    time : int32
        Attempts of this episode.
    rule : int32
        Row of the bank.
    episode : int32
        Episodes before this one, since the reset.

    Examples
    --------
    >>> from gohr.game import jax as gjax
    >>> env, params = gjax.make("clockwise", board={"pieces": (9, 9)})
    >>> _, state = env.reset(jax.random.key(0), params)
    >>> int(state.n_left), int(state.time)
    (9, 0)
    """

    board: jax.Array
    slots: jax.Array
    cells: jax.Array
    codes: jax.Array
    accepts: jax.Array
    alive: jax.Array
    by_color: jax.Array
    by_shape: jax.Array
    last: jax.Array
    records: jax.Array
    n_left: jax.Array
    line: jax.Array
    line_left: jax.Array
    left: jax.Array
    finish: jax.Array
    time: jax.Array
    rule: jax.Array
    episode: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Reply:
    """The reply to an attempt; a leading axis on every field makes it a batch.

    Parameters
    ----------
    outcome : int8
        A code of :mod:`gohr.game.outcomes`.
    reward : float32
        0 for an accepted attempt and after the end of an episode, else -1.
    terminated, truncated : bool
        Whether the episode has ended; whether the horizon is reached. Both may be.
    """

    outcome: jax.Array
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array


# -- look-ups -------------------------------------------------------------------------------------


def _at(table: Any, *index: Any) -> jax.Array:
    """Look up an index that is known to be in bounds."""
    found: jax.Array = jnp.asarray(table).at[index].get(mode="promise_in_bounds")
    return found


def _or(words: jax.Array, axis: int) -> jax.Array:
    """Reduce by OR along an axis."""
    if words.shape[axis] == 1:
        return jax.lax.squeeze(words, [axis])
    zero = np.zeros((), words.dtype)
    found: jax.Array = jax.lax.reduce(words, zero, jax.lax.bitwise_or, (axis,))
    return found


def _folded(words: jax.Array) -> jax.Array:
    """Return the buckets that any atom of the words (..., W) has, as four bits."""
    bits = _or(words, words.ndim - 1)
    for half in (16, 8, 4):
        bits = bits | (bits >> half)
    return bits & 0b1111


def _spread(atoms: jax.Array) -> jax.Array:
    """Return words (..., W) that have all four bits of the atoms that hold, bool of (..., 8 W)."""
    by_word = atoms.reshape(*atoms.shape[:-1], -1, ATOMS_A_WORD)
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    return _or(jnp.where(by_word, np.uint32(0b1111) << shifts, np.uint32(0)), by_word.ndim - 1)


class _Bank:
    """The tables as seen by one board: a look-up names the rule only where there are several."""

    def __init__(self, dims: Dimensions, tables: RuleTables, rule: jax.Array) -> None:
        self.tables = tables
        # An index without a sign needs no instructions for one.
        self.row = rule.astype(jnp.uint32) if dims.n_rules > 1 else 0

    def __call__(self, name: str, *index: Any) -> jax.Array:
        return _at(getattr(self.tables, name), self.row, *index)


# -- what each atom accepts ------------------------------------------------------------------------


def _accepts(dims: Dimensions, bank: _Bank, state: EnvState) -> jax.Array:
    """Return the buckets that each atom allows for each piece, uint32 of shape (P, W)."""
    memory = state.last[2] * jnp.uint32(25) + state.by_color * jnp.uint32(5) + state.by_shape
    quadrant = _at(_QUADRANT, state.cells)
    words = (
        bank("piece", state.codes)
        & bank("cell", state.cells)
        & bank("bucket", memory * 4 + quadrant)
    )
    sizes = dims.sizes
    if sizes.n_orders:
        ranks = bank(
            "ranks", np.arange(sizes.n_orders, dtype=np.uint32)[:, None], state.cells
        )  # (O, P)
    if sizes.n_fields:
        here = jnp.where(state.codes > 0, ranks, _NO_RANK + 1)
        words &= _of_first_pieces(dims, bank, ranks == here.min(axis=1, keepdims=True), state.cells)
    for g in range(sizes.n_programs):
        words &= _allowed_by_program(dims, bank, g, state)
    if sizes.postpos:
        words &= _after_position(bank, ranks, state.cells, words)
    return words


def _of_first_pieces(
    dims: Dimensions, bank: _Bank, first: jax.Array, cells: jax.Array
) -> jax.Array:
    """Return what the position fields allow, given which pieces (O, P) are first in an order."""
    words = jnp.full((), 0xFFFFFFFF, jnp.uint32)
    for f in range(dims.sizes.n_fields):
        allowed = bank("field_cells", f, cells)
        orders = bank("field_orders", f)  # (O, W)
        for o in range(dims.sizes.n_orders):
            allowed |= jnp.where(first[o][:, None], orders[o], np.uint32(0))
        words = words & allowed
    return words


def _allowed_by_program(dims: Dimensions, bank: _Bank, g: int, state: EnvState) -> jax.Array:
    """Return the moves that one table of conditions on moved pieces allows, words (P, W).

    The index is a sum over records, some of them of the board, some of a bucket and some of a
    piece.
    """
    n = dims.n_pieces
    strides = bank("strides", g).reshape(5, 4)
    of_record = np.repeat([2, 3, 4, 1], [n, n, N_BUCKETS, 1])
    parts = (state.records.astype(jnp.int32) * strides[of_record]).sum(axis=1, dtype=jnp.int32)
    look = jnp.maximum(state.codes, 1).astype(jnp.int32) - 1
    shape, color = _divided(look, dims.n_colors)
    this = strides[0]
    by_piece = shape * this[0] + color * this[1] + state.cells * this[2] + parts[:n]
    by_piece += parts[n : 2 * n] + parts[-1]
    words = jnp.zeros((), jnp.uint32)
    for bucket in range(N_BUCKETS):
        by_bucket = parts[2 * n + bucket] + bucket * this[3]
        bits = np.uint32(_FIRST_BITS << bucket)
        words = words | (bank("entries", g, (by_piece + by_bucket).astype(jnp.uint32)) & bits)
    return words


def _divided(number: jax.Array, by: int) -> tuple[jax.Array, jax.Array]:
    """Return quotient and remainder of a number that is not negative."""
    divisor = np.array(by, number.dtype)
    return jax.lax.div(number, divisor), jax.lax.rem(number, divisor)


def _after_position(bank: _Bank, ranks: jax.Array, cells: jax.Array, words: jax.Array) -> jax.Array:
    """Return what the fields allow that look at the pieces that their atom would move."""
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    movable = ((words[..., None] >> shifts & 0b1111) != 0).reshape(len(cells), -1)  # (P, 8 W)
    allowed = bank("post_cells", cells)
    orders = bank("post_orders")
    for o in range(ranks.shape[0]):
        rank = ranks[o][:, None]
        least = jnp.where(movable, rank, _NO_RANK + 1).min(axis=0)
        allowed |= _spread(rank == least) & orders[o]
    return allowed


# -- the active line -------------------------------------------------------------------------------


def _settled(dims: Dimensions, bank: _Bank, state: EnvState) -> EnvState:
    """Compute the moves that the atoms accept, and activate a playable line.

    The active line stays while it is playable in its current state. Else the next playable line
    after it is entered with fresh counts, the active line itself being tried last; if there is
    none, it is a stalemate.
    """
    sizes = dims.sizes
    accepts = _accepts(dims, bank, state)
    some = _or(accepts, 0)
    stays = jnp.any((some & state.alive) != 0) & (state.line_left != 0)
    playable = jnp.any((bank("line_words") & some) != 0, axis=1) & (bank("line_count") != 0)
    if sizes.n_lines == 1:
        line, found = jnp.int16(0), playable[0]
    else:
        number = jnp.arange(sizes.n_lines, dtype=jnp.int32)
        ahead = number - state.line.astype(jnp.int32)
        ahead = jnp.where(ahead <= 0, ahead + bank("n_lines"), ahead)
        nearest = jnp.where(playable, ahead << 15 | number, _NOWHERE).min()
        line, found = (nearest & 0x7FFF).astype(jnp.int16), nearest < _NOWHERE
    enters, row = found & ~stays, jnp.where(found, line, 0).astype(jnp.uint16)
    finish = jnp.where(state.n_left == 0, CLEARED, jnp.where(found | stays, IN_PROGRESS, STALEMATE))
    fresh = {
        "line": line,
        "alive": bank("line_words", row),
        "line_left": bank("line_count", row).astype(jnp.int16),
    }
    if sizes.metered:
        fresh["left"] = bank("atom_count").astype(jnp.int16)
    entered = {name: jnp.where(enters, new, getattr(state, name)) for name, new in fresh.items()}
    return replace(state, accepts=accepts, finish=finish.astype(jnp.uint8), **entered)


# -- beginning and attempting ----------------------------------------------------------------------


@functools.partial(jax.jit, static_argnums=0)
def begin(
    dims: Dimensions,
    tables: RuleTables,
    rule: jax.Array,
    cells: jax.Array,
    codes: jax.Array,
    episode: jax.Array,
) -> EnvState:
    """Begin an episode with the pieces of one board.

    Parameters
    ----------
    dims, tables
        The bank of rules and its sizes.
    rule : int32
        Row of the bank.
    cells, codes : uint8, shape (P,)
        The pieces: all cells different, code 0 for an absent one.
    episode : int32
        Its number.
    """
    sizes, n = dims.sizes, dims.n_pieces
    bank = _Bank(dims, tables, rule)
    zeros = jnp.zeros(n, jnp.uint8)
    slot = jnp.arange(n, dtype=jnp.uint8)
    empty = jnp.zeros(N_CELLS, jnp.uint8)
    before = EnvState(
        board=empty.at[cells].set(codes, mode="promise_in_bounds", unique_indices=True),
        slots=empty.at[cells].set(slot, mode="promise_in_bounds", unique_indices=True),
        cells=cells,
        codes=codes,
        accepts=jnp.zeros((n, sizes.n_words), jnp.uint32),
        alive=jnp.zeros(sizes.n_words, jnp.uint32),
        by_color=zeros,
        by_shape=zeros,
        last=jnp.zeros(3, jnp.uint8),
        records=jnp.zeros((2 * n + N_BUCKETS + 1 if sizes.n_programs else 0, 4), jnp.uint8),
        n_left=(codes > 0).sum(dtype=jnp.uint8),
        # The search for a playable line begins after the last.
        line=(bank("n_lines") - 1).astype(jnp.int16),
        line_left=jnp.int16(-1),
        left=jnp.zeros(ATOMS_A_WORD * sizes.n_words if sizes.metered else 0, jnp.int16),
        finish=jnp.uint8(IN_PROGRESS),
        time=jnp.int32(0),
        rule=jnp.asarray(rule, jnp.int32),
        episode=jnp.asarray(episode, jnp.int32),
    )
    return _settled(dims, bank, before)


@functools.partial(jax.jit, static_argnums=0)
def attempt(
    dims: Dimensions, tables: RuleTables, state: EnvState, action: Any, horizon: Any
) -> tuple[EnvState, Reply]:
    """Attempt to move the piece of cell ``action // 4`` into bucket ``action % 4``.

    After the end of an episode nothing changes, not even the time. A number that is none of the 144
    attempts counts as the last of them.
    """
    number = jnp.minimum(jnp.asarray(action).astype(jnp.uint32), N_CELLS * N_BUCKETS - 1)
    cell, bucket = number >> 2, number & 3
    code, slot = _at(state.board, cell), _at(state.slots, cell)
    words = _at(state.accepts, slot) & state.alive
    allowed = _folded(words)
    over = (state.finish != IN_PROGRESS) | (state.time >= horizon)
    accepted = ~over & (code > 0) & ((allowed >> bucket & 1) != 0)
    rejected = jnp.where(code == 0, EMPTY_CELL, jnp.where(allowed == 0, IMMOVABLE, DENIED))
    outcome = jnp.where(over, EPISODE_OVER, jnp.where(accepted, ACCEPTED, rejected))
    moved = _moved(dims, state, accepted, cell, bucket, code, slot, words)
    bank = _Bank(dims, tables, state.rule)
    after = _settled(dims, bank, replace(moved, time=state.time + ~over))
    reply = Reply(
        outcome=outcome.astype(jnp.int8),
        reward=jnp.where(over | accepted, 0.0, -1.0).astype(jnp.float32),
        terminated=after.finish != IN_PROGRESS,
        truncated=after.time >= horizon,
    )
    return after, reply


def _moved(
    dims: Dimensions,
    state: EnvState,
    accepted: jax.Array,
    cell: jax.Array,
    bucket: jax.Array,
    code: jax.Array,
    slot: jax.Array,
    words: jax.Array,
) -> EnvState:
    """Return the state after an attempt, unchanged unless it was accepted."""
    look = jnp.maximum(code, 1) - np.uint8(1)
    shape, color = _divided(look, dims.n_colors)
    shapes, colors = _divided(jnp.maximum(state.codes, 1) - np.uint8(1), dims.n_colors)
    tried = (1 + bucket).astype(jnp.uint8)
    same_color, same_shape = accepted & (colors == color), accepted & (shapes == shape)
    last = jnp.stack([1 + shape, 1 + color, tried])
    gone = np.arange(dims.n_pieces, dtype=np.uint8) == slot
    emptied = np.arange(N_CELLS, dtype=np.uint8) == cell
    line_left = state.line_left - (accepted & (state.line_left > 0))
    after = replace(
        state,
        board=jnp.where(accepted & emptied, np.uint8(0), state.board),
        codes=jnp.where(accepted & gone, np.uint8(0), state.codes),
        by_color=jnp.where(same_color, tried, state.by_color),
        by_shape=jnp.where(same_shape, tried, state.by_shape),
        last=jnp.where(accepted, last, state.last),
        n_left=state.n_left - accepted,
        line_left=line_left.astype(jnp.int16),
    )
    if dims.sizes.n_programs:
        record = jnp.stack([1 + shape, 1 + color, (1 + cell).astype(jnp.uint8), tried])
        in_bucket = accepted & (np.arange(N_BUCKETS, dtype=np.uint32) == bucket)
        changed = jnp.concatenate([same_color, same_shape, in_bucket, accepted[None]])
        after = replace(after, records=jnp.where(changed[:, None], record, state.records))
    if dims.sizes.metered:
        shifts = np.arange(0, 32, 4, dtype=np.uint32) + bucket
        # Every atom that accepts the attempt pays for it, not the first alone.
        pays = (words[:, None] >> shifts & 1).reshape(-1) != 0
        left = state.left - (accepted & pays & (state.left > 0))
        after = replace(after, left=left.astype(jnp.int16), alive=state.alive & _spread(left != 0))
    return after


# -- what may be attempted -------------------------------------------------------------------------


@jax.jit
def occupied(state: EnvState) -> jax.Array:
    """Return 1 for the attempts on cells that hold a piece, int8 of shape (144,)."""
    return jnp.repeat((state.board > 0).astype(jnp.int8), N_BUCKETS, total_repeat_length=144)


@jax.jit
def permitted(state: EnvState) -> jax.Array:
    """Return 1 for the attempts that the rule would accept now, int8 of shape (144,)."""
    allowed = _folded(_at(state.accepts, state.slots) & state.alive)
    playing = (state.board > 0) & (state.finish == IN_PROGRESS)
    bits = allowed[:, None] >> np.arange(N_BUCKETS, dtype=np.uint32) & 1
    return jnp.where(playing[:, None], bits, 0).astype(jnp.int8).reshape(-1)
