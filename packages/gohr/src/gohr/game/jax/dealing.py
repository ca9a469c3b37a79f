"""Random boards drawn in JAX: the distribution of :func:`gohr.game.draw_boards`, not its bits.

A 32-bit word is used for several choices: a choice among n is the high word of its product with n,
and the low word is used for the next, as long as all its choices together have at most 2**18
outcomes, which keeps the bias below 2**-14. Arrays have the batch last, so that a choice is one
operation on vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from gohr.game.board import N_CELLS, BoardSpec

#: Permutations of more are decoded in a loop instead of one instruction after another.
_UNROLLED = 12


def numbers_below(words: jax.Array, bounds: Sequence[int] | jax.Array, most: int) -> jax.Array:
    """Turn random words into numbers, entry ``i`` below ``bounds[i]``.

    Parameters
    ----------
    words : uint32, shape (at least ceil(n / a_word), *batch)
        Uniform, where ``a_word`` is how many numbers below ``most`` one word gives.
    bounds : sequence of int, or uint32 of shape (n, *batch)
        Each at least 1.
    most : int
        The largest bound there can be.

    Returns
    -------
    uint32, shape (n, *batch)
    """
    limits = jnp.asarray(bounds, jnp.uint32)
    n, a_word = limits.shape[0], _a_word(most)
    rows = -(-n // a_word)
    limits = limits.reshape(n, *limits.shape[1:], *[1] * (words.ndim - limits.ndim))
    padding = [(0, rows * a_word - n)] + [(0, 0)] * (limits.ndim - 1)
    limits = jnp.pad(limits, padding, constant_values=1).reshape(rows, a_word, *limits.shape[1:])
    rest, numbers = words[:rows], []
    for k in range(min(n, a_word)):
        limit = limits[:, k]
        high, low = rest >> 16, rest & 0xFFFF
        numbers.append((high * limit + ((low * limit) >> 16)) >> 16)
        rest = rest * limit
    return jnp.stack(numbers, axis=1).reshape(-1, *words.shape[1:])[:n]


def _a_word(most: int) -> int:
    """Return how many numbers below ``most`` one word gives."""
    return max(1, int(18 / np.log2(max(most, 2)) + 1e-9))


def _rows(n: int, most: int) -> int:
    return -(-n // _a_word(most)) if n else 0


def n_words(spec: BoardSpec) -> int:
    """Return the number of random words for a board."""
    return sum(_plan(spec).values())


def _plan(spec: BoardSpec) -> dict[str, int]:
    """Return the number of words for each choice, in the order of the words."""
    most = spec.pieces[1]
    plan = {"ranges": 3 * any(low < high for low, high in _ranges(spec))}
    plan["cells"] = _rows(most, N_CELLS)
    for name, (least, k), palette in _features(spec):
        size = len(palette)
        plan[f"{name} pieces"] = _rows(k, most) if name == "color" else 0
        # Where all names appear, the assignment of names to classes makes no difference.
        plan[f"{name} names"] = _rows(k, size) if least < size else 0
        plan[f"{name} classes"] = _rows(most, size)
    return plan


def _ranges(spec: BoardSpec) -> list[tuple[int, int]]:
    return [spec.pieces, spec.shapes, spec.colors]


def _features(spec: BoardSpec) -> list[tuple[str, tuple[int, int], tuple[str, ...]]]:
    shape = ("shape", spec.shapes, spec.shape_palette)
    return [shape, ("color", spec.colors, spec.color_palette)]


def pieces_from_words(words: jax.Array, spec: BoardSpec) -> tuple[jax.Array, jax.Array]:
    """Draw the pieces of a board.

    Cells come in random order, so that the first ``k`` pieces may be those that make each of ``k``
    shapes appear; for the colors ``k`` others are chosen.

    Parameters
    ----------
    words : uint32, shape (n_words(spec), *batch)
        Uniform.
    spec : BoardSpec
        How boards are drawn.

    Returns
    -------
    cells, codes : uint8, shape (most pieces, *batch)
        Cell of each piece, 0 to 35, all different; its code, 0 for an absent piece.
    """
    ends = np.cumsum(list(_plan(spec).values())).tolist()
    parts = dict(zip(_plan(spec), jnp.split(words, ends[:-1]), strict=True))
    most = spec.pieces[1]
    slot = jnp.arange(most, dtype=jnp.uint32).reshape(-1, *[1] * (words.ndim - 1))
    n_pieces, *appear = _drawn_ranges(parts["ranges"], spec)
    cells = _distinct(numbers_below(parts["cells"], range(N_CELLS, N_CELLS - most, -1), N_CELLS))
    code = jnp.uint32(1)
    for k, (name, (_, k_most), palette) in zip(appear, _features(spec), strict=True):
        size = len(palette)
        among = jnp.broadcast_to(jnp.where(k == 0, size, k), (most, *words.shape[1:]))
        classes = numbers_below(parts[f"{name} classes"], among, size)
        if name == "shape":
            classes = jnp.where(slot < k, slot, classes)
        elif k_most:
            left = jnp.broadcast_to(n_pieces - slot[:k_most], (k_most, *words.shape[1:]))
            chosen = _distinct(numbers_below(parts["color pieces"], left, most))
            for i in range(k_most):
                classes = jnp.where((slot == chosen[i]) & (i < k), jnp.uint32(i), classes)
        if len(parts[f"{name} names"]):
            bounds = range(size, size - k_most, -1)
            names = _distinct(numbers_below(parts[f"{name} names"], bounds, size))
            known = jnp.minimum(classes, k_most - 1).astype(jnp.int32)
            named = jnp.take_along_axis(names, known, axis=0, mode="promise_in_bounds")
            classes = jnp.where(k == 0, classes, named)
        code = code + classes * (len(spec.color_palette) if name == "shape" else 1)
    codes = jnp.where(slot < n_pieces, code, 0)
    return cells.astype(jnp.uint8), codes.astype(jnp.uint8)


def _drawn_ranges(words: jax.Array, spec: BoardSpec) -> list[jax.Array]:
    """Return the numbers of pieces, shapes and colors."""
    ranges = _ranges(spec)
    if not len(words):
        return [jnp.uint32(low) for low, _ in ranges]
    widths = [high - low + 1 for low, high in ranges]
    return [
        low + numbers_below(words[i : i + 1], [width], width)[0]
        for i, ((low, _), width) in enumerate(zip(ranges, widths, strict=True))
    ]


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


def pieces_of_board(board: jax.Array, most: int) -> tuple[jax.Array, jax.Array]:
    """Return cells and codes of the pieces of a board of 36 codes, in the order of the cells."""
    cells = jnp.argsort(board == 0, stable=True)[:most].astype(jnp.uint8)
    return cells, board[cells].astype(jnp.uint8)
