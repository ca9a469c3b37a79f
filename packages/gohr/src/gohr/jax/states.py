"""One attempt on one board as a pure function of arrays, for a bank of rules.

The rule is encoded in the arrays of :mod:`gohr.jax.tables` alone; this module looks it up. A
rejected attempt leaves the state unchanged by construction: values recomputed from the same pieces,
line and memory are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from gohr.board import N_BUCKETS, N_CELLS, BoardSpec
from gohr.engine.conditions import UNRANKED
from gohr.jax.tables import ATOMS_A_WORD
from gohr.outcomes import (
    ACCEPTED,
    CLEARED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    IN_PROGRESS,
    STALEMATE,
)

#: The first bit of each of the eight atoms of a word, and where the bits of each begin.
_FIRST_BITS, _SHIFTS = 0x11111111, np.arange(0, 32, 4, dtype=np.uint32)

_or = jnp.bitwise_or.reduce
#: A bank of rules.
Tables: TypeAlias = Mapping[str, Any]
#: The entries of a table, by its name and indices.
LookUp: TypeAlias = Callable[..., jax.Array]


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class EnvState:
    """The state of one board in play; a leading axis on every field makes it a batch.

    P is the most pieces of a board, W the words of atoms, O the orders and F the fields that name
    them. What a piece is and where it lies decides much of what an atom allows for it: that is
    looked up when an episode begins.
    """

    board: jax.Array  # uint8 (36,): codes of the cells, 0 for an empty one
    slots: jax.Array  # uint8 (36,): which piece lay in each cell when the episode began
    codes: jax.Array  # uint8 (P,): code of each piece, 0 if removed
    allowed: jax.Array  # uint32 (P, W): buckets that the atoms allow for its look and cell
    ranks: jax.Array  # uint8 (O, P): its rank in each order
    positions: jax.Array  # uint32 (P, F, W): atoms whose field allows its cell by number
    postpos: jax.Array  # uint32 (P, F, W): the same of the field `postpos`; F is 1 or 0
    #: Parts of the index of an entry, int32, empty if no rule needs them: by the piece (P,); and by
    #: the last one moved: of all (), of its color (P,), of its shape (P,), and in each bucket (4,),
    #: if this matters.
    entries: jax.Array
    records: tuple[jax.Array, ...]
    accepts: jax.Array  # uint32 (P, W): buckets that each atom, alive or not, now allows for it
    alive: jax.Array  # uint32 (W,): all bits of the atoms of the active line that are not used up
    last: jax.Array  # uint8 (3,): 1 + shape, color and bucket of the last accepted attempt, or 0
    line: jax.Array  # int16: the active line
    line_left: jax.Array  # int16: its remaining count, -1 for none
    left: jax.Array  # int16 (8 W,): remaining counts of atoms; empty if no rule has any
    finish: jax.Array  # uint8: 0 in progress, 1 cleared, 2 a stalemate
    time: jax.Array  # int32: attempts of this episode
    rule: jax.Array  # int32: row of the bank


# -- look-ups -------------------------------------------------------------------------------------


def entry_of(table: Any, *index: Any) -> jax.Array:
    """Look up an index that is known to be in bounds."""
    found: jax.Array = jnp.asarray(table).at[index].get(mode="promise_in_bounds")
    return found


def _by_atom(words: jax.Array) -> jax.Array:
    """Return the buckets of each atom of the words (..., W), as four bits (..., 8 W)."""
    return (words[..., None] >> _SHIFTS & 0b1111).reshape(*words.shape[:-1], -1)


def _spread(atoms: jax.Array) -> jax.Array:
    """Return words (..., W) that have all four bits of the atoms that hold, bool of (..., 8 W)."""
    by_word = atoms.reshape(*atoms.shape[:-1], -1, ATOMS_A_WORD)
    words = jnp.where(by_word, np.uint32(0b1111) << _SHIFTS, np.uint32(0))
    return _or(words, axis=-1)


def _look_up(tables: Tables, rule: jax.Array) -> LookUp:
    """Return a look-up in the tables of one rule, which it names only where there are several."""
    # An index without a sign needs no instructions for one.
    row = rule.astype(jnp.uint32) if len(tables["cell"]) > 1 else 0
    return lambda name, *index: entry_of(tables[name], row, *index)


# -- what each atom accepts ------------------------------------------------------------------------


def _accepts(bank: LookUp, state: EnvState) -> jax.Array:
    """Return the buckets that each atom allows for each piece, uint32 of shape (P, W)."""
    there, nothing = state.codes[:, None] > 0, np.uint32(0)
    words = state.allowed
    if state.entries.size:
        words &= _entries(bank, state)
    words = jnp.where(there, words, nothing)
    if state.positions.size:
        ranks = jnp.where(there[:, 0], state.ranks, UNRANKED)
        first = (state.ranks == ranks.min(axis=1, keepdims=True))[..., None]  # (O, P, 1)
        orders = bank("position_orders")
        for f in range(state.positions.shape[1]):
            leads = _or(jnp.where(first, orders[f][:, None], nothing), axis=0)
            words &= state.positions[:, f] | leads
    if state.postpos.size:
        # An order in this field looks at the pieces that its atom would move.
        movable = _by_atom(words) != 0
        allowed, orders = state.postpos[:, 0], bank("postpos_orders", 0)
        for o in range(len(orders)):
            rank = state.ranks[o][:, None]
            least = jnp.where(movable, rank, UNRANKED).min(axis=0)
            allowed |= _spread(rank == least) & orders[o]
        words &= allowed
    return words


def _entries(bank: LookUp, state: EnvState) -> jax.Array:
    """Return the moves that the table of conditions on moved pieces allows, words (P, W)."""
    at = sum(state.records[:3], state.entries)
    if len(state.records) == 3:
        return bank("entries", at.astype(jnp.uint32))
    words = jnp.zeros((), jnp.uint32)
    for bucket in range(N_BUCKETS):
        found = bank("entries", (at + state.records[3][bucket]).astype(jnp.uint32))
        words |= found & np.uint32(_FIRST_BITS << bucket)
    return words


# -- the active line -------------------------------------------------------------------------------


def _settled(bank: LookUp, state: EnvState) -> EnvState:
    """Compute the moves that the atoms accept, and activate a playable line.

    The active line stays while it is playable in its current state. Else the next playable line
    after it is entered with fresh counts, the active line itself being tried last; if there is
    none, it is a stalemate.
    """
    accepts = _accepts(bank, state)
    some = _or(accepts, axis=0)
    stays = jnp.any((some & state.alive) != 0) & (state.line_left != 0)
    playable = jnp.any((bank("lines") & some) != 0, axis=1)
    n_lines = len(playable)
    beyond = np.arange(n_lines, dtype=np.int32) - state.line
    ahead = jnp.where(beyond > 0, beyond, beyond + n_lines)
    nearest = jnp.where(playable, ahead, n_lines + 1).min()
    found = nearest <= n_lines
    line = (state.line + nearest) % n_lines
    enters, row = found & ~stays, line.astype(jnp.uint16)
    cleared = ~jnp.any(state.codes > 0)
    finish = jnp.where(cleared, CLEARED, jnp.where(found | stays, IN_PROGRESS, STALEMATE))
    fresh = {"alive": bank("lines", row), "line_left": bank("line_count", row)}
    fresh["line"] = line.astype(jnp.int16)
    if state.left.size:
        fresh["left"] = bank("atom_count")
    entered: dict[str, Any] = {
        name: jnp.where(enters, new, getattr(state, name)) for name, new in fresh.items()
    }
    return replace(state, accepts=accepts, finish=finish.astype(jnp.uint8), **entered)


# -- beginning and attempting ----------------------------------------------------------------------


def begin(
    tables: Tables, rule: jax.Array, cells: jax.Array, codes: jax.Array, spec: BoardSpec
) -> EnvState:
    """Begin an episode with the pieces of one board: all cells different, code 0 if absent."""
    n, bank = len(cells), _look_up(tables, rule)
    empty = jnp.zeros(N_CELLS, jnp.uint8)
    entries, records = jnp.zeros(0, jnp.int32), tuple[jax.Array, ...]()
    if tables["entries"].shape[1]:
        of_pieces = jnp.stack([*_look(spec, codes), cells]).astype(jnp.int32)
        entries = bank("strides", 0)[1:4] @ of_pieces
        shapes = [(), n, n, N_BUCKETS][: tables["strides"].shape[1] - 1]
        records = tuple(jnp.zeros(shape, jnp.int32) for shape in shapes)

    def lay(values: jax.Array) -> jax.Array:
        return empty.at[cells].set(values, mode="promise_in_bounds", unique_indices=True)

    allowed = bank("piece", codes) & bank("cell", cells)
    before = EnvState(
        board=lay(codes),
        slots=lay(jnp.arange(n, dtype=jnp.uint8)),
        codes=codes,
        allowed=allowed,
        ranks=bank("ranks", cells).T,
        positions=bank("position_cells", cells),
        postpos=bank("postpos_cells", cells),
        entries=entries,
        records=records,
        accepts=jnp.zeros_like(allowed),
        alive=jnp.zeros_like(allowed[0]),
        last=jnp.zeros(3, jnp.uint8),
        # The search for a playable line begins after the last.
        line=jnp.int16(tables["lines"].shape[1] - 1),
        line_left=jnp.int16(-1),
        left=jnp.zeros(tables["atom_count"].shape[1], jnp.int16),
        finish=jnp.uint8(IN_PROGRESS),
        time=jnp.int32(0),
        rule=jnp.asarray(rule, jnp.int32),
    )
    return _settled(bank, before)


def attempt(
    tables: Tables, state: EnvState, action: Any, horizon: Any, spec: BoardSpec
) -> tuple[EnvState, jax.Array]:
    """Attempt to move the piece of cell ``action // 4`` into bucket ``action % 4``.

    After the end of an episode nothing changes, not even the time. A number that is none of the 144
    attempts counts as the last of them. Returns the state and the outcome, a code of
    :mod:`gohr.outcomes`.
    """
    bank = _look_up(tables, state.rule)
    number = jnp.minimum(jnp.asarray(action).astype(jnp.uint32), N_CELLS * N_BUCKETS - 1)
    cell, bucket = number >> 2, number & 3
    code, slot = entry_of(state.board, cell), entry_of(state.slots, cell)
    atoms = _by_atom(entry_of(state.accepts, slot) & state.alive)
    allowed = _or(atoms, axis=0)
    over = (state.finish != IN_PROGRESS) | (state.time >= horizon)
    # XLA computes a reduction once; an elementwise operation it repeats for each cell and piece.
    by_atom = ~over & (code > 0) & ((atoms >> bucket & 1) != 0)
    accepted = by_atom.any()
    rejected = jnp.where(code == 0, EMPTY_CELL, jnp.where(allowed == 0, IMMOVABLE, DENIED))
    outcome = jnp.where(over, EPISODE_OVER, jnp.where(accepted, ACCEPTED, rejected))

    shape, color = _look(spec, code)
    last = jnp.stack([1 + shape, 1 + color, (1 + bucket).astype(jnp.uint8)])
    gone = np.arange(len(state.codes), dtype=np.uint8) == slot
    emptied = np.arange(N_CELLS, dtype=np.uint8) == cell
    moved = replace(
        state,
        board=jnp.where(accepted & emptied, np.uint8(0), state.board),
        codes=jnp.where(accepted & gone, np.uint8(0), state.codes),
        last=jnp.where(accepted, last, state.last),
        line_left=state.line_left - (accepted & (state.line_left > 0)),
        time=state.time + ~over,
    )
    if state.entries.size:
        record = jnp.stack([jnp.uint32(1), shape, color, cell, bucket]).astype(jnp.int32)
        numbers = (bank("strides") * record).sum(axis=1, dtype=jnp.int32)
        shapes, colors = _look(spec, state.codes)
        buckets = np.arange(N_BUCKETS, dtype=np.uint32)
        alike = True, colors == color, shapes == shape, buckets == bucket
        changes = [accepted & each for each in alike]
        moved = replace(moved, records=tuple(map(jnp.where, changes, numbers[1:], state.records)))
    if state.left.size:
        # Every atom that accepts the attempt pays for it, not the first alone.
        left = state.left - (by_atom & (state.left > 0))
        moved = replace(moved, left=left, alive=state.alive & _spread(left != 0))

    return _settled(bank, moved), outcome.astype(jnp.int8)


def _look(spec: BoardSpec, code: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return shape and color of a code, from 0."""
    look, n_colors = jnp.maximum(code, 1) - np.uint8(1), np.uint8(len(spec.color_palette))
    return jax.lax.div(look, n_colors), jax.lax.rem(look, n_colors)


def permitted(state: EnvState) -> jax.Array:
    """Return 1 for the attempts that the rule would accept now, int8 of shape (144,)."""
    allowed = _or(_by_atom(entry_of(state.accepts, state.slots) & state.alive), axis=1)
    playing = (state.board > 0) & (state.finish == IN_PROGRESS)
    bits = allowed[:, None] >> np.arange(N_BUCKETS, dtype=np.uint32) & 1
    return jnp.where(playing[:, None], bits, 0).astype(jnp.int8).reshape(-1)
