"""Random boards drawn in JAX: the distribution of :func:`gohr.game.draw_boards`, not its bits.

A word of 32 bits is used for several choices: a choice among n is the high word of its product with
n, and the low word is used for the next, as long as all its choices together have at most 2**18
outcomes, which keeps the bias below 2**-14. Arrays have the batch last, so that a choice is one
operation on vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

import jax
import jax.numpy as jnp

from gohr.game.board import N_CELLS, BoardSpec

#: Permutations of more are decoded in a loop instead of one instruction after another.
_UNROLLED = 12


def n_words(spec: BoardSpec) -> int:
    """Return the number of random words for a board."""
    most, n = spec.pieces[1], 0
    for low, high in (spec.pieces, spec.shapes, spec.colors):
        n += low < high
    for n_choices, size in (
        (most, N_CELLS),
        (spec.colors[1], most),
        *_choices(most, spec.shapes, len(spec.shape_palette)),
        *_choices(most, spec.colors, len(spec.color_palette)),
    ):
        n += -(-n_choices // _a_word(size))
    return n


def _choices(most: int, ends: tuple[int, int], size: int) -> list[tuple[int, int]]:
    """Return the numbers of choices of classes and of names, and among how many."""
    return [(most, size), (ends[1] if ends[0] < size else 0, size)]


def _a_word(most: int) -> int:
    """Return how many numbers below ``most`` one word gives."""
    return max(1, int(18 / log2(max(most, 2)) + 1e-9))


def numbers_below(
    words: jax.Array, bounds: Sequence[int | jax.Array], most: int
) -> list[jax.Array]:
    """Turn uniform words into numbers, uint32, one below each bound; no bound is above `most`."""
    numbers, a_word = [], _a_word(most)
    for first in range(0, len(bounds), a_word):
        rest = words[first // a_word]
        for each in bounds[first : first + a_word]:
            bound = jnp.asarray(each, jnp.uint32)
            numbers.append(((rest >> 16) * bound + (((rest & 0xFFFF) * bound) >> 16)) >> 16)
            rest = rest * bound
    return numbers


def pieces_from_words(words: jax.Array, spec: BoardSpec) -> tuple[jax.Array, jax.Array]:
    """Draw the pieces of boards from uniform words, uint32 of shape (n_words(spec), *batch).

    Returns the cells of the pieces, 0 to 35 and all different, and their codes, 0 for an absent
    piece; both uint8 of shape (most pieces, *batch). Cells come in random order, so that the first
    ``k`` pieces may be those that make each of ``k`` shapes appear; for colors, others are chosen.
    """
    most, left = spec.pieces[1], words

    def draw(bounds: Sequence[int | jax.Array], size: int) -> jax.Array:
        nonlocal left
        numbers = numbers_below(left, bounds, size)
        left = left[-(-len(bounds) // _a_word(size)) :]
        return jnp.stack(numbers)

    def drawn_classes(k: jax.Array, size: int) -> jax.Array:
        return draw([jnp.where(k == 0, size, k)] * most, size)

    def named(classes: jax.Array, k: jax.Array, ends: tuple[int, int], size: int) -> jax.Array:
        """Give the k classes random names of a palette, unless there are no classes."""
        if ends[0] == size or ends[1] == 0:  # with all names, it makes no difference which is which
            return classes
        names = _distinct(draw(range(size, size - ends[1], -1), size))
        known = jnp.minimum(classes, ends[1] - 1).astype(jnp.int32)
        chosen = jnp.take_along_axis(names, known, axis=0, mode="promise_in_bounds")
        return jnp.where(k == 0, classes, chosen)

    n_pieces, n_shapes, n_colors = (
        low + draw([high - low + 1], high - low + 1)[0] if low < high else jnp.uint32(low)
        for low, high in (spec.pieces, spec.shapes, spec.colors)
    )
    cells = _distinct(draw(range(N_CELLS, N_CELLS - most, -1), N_CELLS))
    slot = jnp.arange(most, dtype=jnp.uint32).reshape(-1, *[1] * (words.ndim - 1))

    size = len(spec.shape_palette)
    shape = jnp.where(slot < n_shapes, slot, drawn_classes(n_shapes, size))
    shape = named(shape, n_shapes, spec.shapes, size)
    size = len(spec.color_palette)
    color = drawn_classes(n_colors, size)
    if spec.colors[1]:
        pieces = _distinct(draw([n_pieces - i for i in range(spec.colors[1])], most))
        for i in range(spec.colors[1]):
            color = jnp.where((slot == pieces[i]) & (i < n_colors), jnp.uint32(i), color)
    color = named(color, n_colors, spec.colors, size)
    codes = jnp.where(slot < n_pieces, 1 + shape * size + color, 0)
    return cells.astype(jnp.uint8), codes.astype(jnp.uint8)


def _distinct(numbers: jax.Array) -> jax.Array:
    """Turn choices among the remaining items, entry ``i`` among ``n - i``, into the chosen items.

    This decodes a Lehmer code: from the end, each entry shifts for the one before it.
    """
    n = numbers.shape[0]
    place = jnp.arange(n, dtype=jnp.uint32).reshape(-1, *[1] * (numbers.ndim - 1))

    def make_room(t: int | jax.Array, chosen: jax.Array) -> jax.Array:
        i = n - 2 - t
        one = jax.lax.dynamic_index_in_dim(chosen, i, keepdims=True)
        return chosen + ((place > i) & (chosen >= one)).astype(jnp.uint32)

    if n <= _UNROLLED:
        for t in range(n - 1):
            numbers = make_room(t, numbers)
        return numbers
    found: jax.Array = jax.lax.fori_loop(0, n - 1, make_room, numbers)
    return found
