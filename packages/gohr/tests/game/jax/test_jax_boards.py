"""Boards drawn in JAX have the distribution of those that the game draws."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from scipy.stats import chi2_contingency

from gohr.game import BoardSpec, draw_boards
from gohr.game.jax.dealing import n_words, numbers_below, pieces_from_words, pieces_of_board

SPECS = (
    BoardSpec(),
    BoardSpec(pieces=(4, 12), shapes=(0, 4), colors=(1, 3)),
    BoardSpec(pieces=36, shapes=(2, 3), colors=0),
)


def pieces(spec: BoardSpec, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the pieces of boards in JAX, shape (most pieces, n)."""

    @jax.jit
    def draw(key):
        words = jax.random.bits(key, (n_words(spec), n), "uint32")
        return pieces_from_words(words, spec)

    cells, codes = draw(jax.random.key(seed))
    return np.asarray(cells), np.asarray(codes)


def drawn(spec: BoardSpec, n: int, seed: int) -> np.ndarray:
    """Draw boards in JAX, as rows of 36 codes."""
    cells, codes = pieces(spec, n, seed)
    boards = np.zeros((n, 36), np.uint8)
    np.put_along_axis(boards, cells.T.astype(int), codes.T, axis=1)
    return boards


def classes(boards: np.ndarray, n_colors: int) -> dict[str, np.ndarray]:
    """Return a number for each board, or each piece, by several ways of looking at them."""
    there = boards > 0
    pieces = there.sum(axis=1)
    shape, color = np.divmod(boards.astype(int) - 1, n_colors)
    kinds = [pieces]
    for feature, size in ((shape, 4), (color, n_colors)):
        counts = np.stack([((feature == v) & there).sum(axis=1) for v in range(size)], axis=1)
        counts.sort(axis=1)
        kinds.append(counts @ (40 ** np.arange(size)))
    both = np.stack(kinds, axis=1)
    first = there.argmax(axis=1)
    return {
        "pieces, shapes, colors": np.unique(both, axis=0, return_inverse=True)[1].ravel(),
        "code of the first cell": boards[np.arange(len(boards)), first],
        "first cell": first,
        "code of the last cell": boards[np.arange(len(boards)), 35 - there[:, ::-1].argmax(axis=1)],
        "cells": np.nonzero(there)[1],
    }


def p_value(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Test that two samples of classes have one distribution, rare classes put together."""
    n = max(ours.max(), theirs.max()) + 1
    table = np.stack([np.bincount(each, minlength=n) for each in (ours, theirs)])
    often = table.sum(axis=0) >= 20
    rest = table[:, ~often].sum(axis=1, keepdims=True)
    table = np.concatenate([table[:, often], rest[:, rest.sum(axis=0) > 0]], axis=1)
    return 1.0 if table.shape[1] < 2 else float(chi2_contingency(table).pvalue)


def both(spec: BoardSpec, n: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    theirs = draw_boards(n, spec, rng=np.random.default_rng(7))
    together = np.concatenate([drawn(spec, n, 7), theirs])
    every = classes(together, len(spec.color_palette))
    whole = len(together)
    n_ours = int((together[:n] > 0).sum())
    ours, others = {}, {}
    for name, each in every.items():
        at = n if len(each) == whole else n_ours
        ours[name], others[name] = each[:at], each[at:]
    return ours, others


def test_few_boards_have_the_distribution_of_the_game():
    ours, theirs = both(SPECS[1], 5_000)
    for name in ours:
        assert p_value(ours[name], theirs[name]) > 1e-5, name


@pytest.mark.full
@pytest.mark.parametrize("spec", SPECS, ids=["paper", "ranges", "full boards"])
def test_many_boards_have_the_distribution_of_the_game(spec: BoardSpec):
    ours, theirs = both(spec, 200_000)
    for name in ours:
        assert p_value(ours[name], theirs[name]) > 1e-5, name


def test_shapes_and_colors_are_independent_and_the_order_of_cells_is_random():
    spec = SPECS[0]
    cells, codes = pieces(spec, 20_000, 3)
    shape, color = np.divmod(codes.astype(int) - 1, 4)
    for slot in (0, 3, 8):
        table = np.zeros((4, 4), int)
        np.add.at(table, (shape[slot], color[slot]), 1)
        # The first four slots have the four shapes in turn.
        table = table[table.sum(axis=1) > 0]
        assert table.shape[0] == 1 or chi2_contingency(table).pvalue > 1e-5
    ascending = (np.diff(cells[:3].astype(int), axis=0) > 0).all(axis=0).mean()
    assert abs(ascending - 1 / 6) < 0.02


def test_one_word_serves_several_numbers():
    words = np.array([[0, 2**32 - 1, 2**31]], np.uint32)
    numbers = np.asarray(numbers_below(jax.numpy.asarray(words), [36, 35, 34], 36))
    assert numbers[:, 0].tolist() == [0, 0, 0]
    assert numbers[:, 1].tolist() == [35, 34, 33]
    assert numbers[0, 2] == 18
    exact = [(2**31 * 36) >> 32, ((2**31 * 36) % 2**32 * 35) >> 32]
    assert numbers[:2, 2].tolist() == exact


def test_a_given_board_becomes_its_pieces():
    board = draw_boards(1, rng=np.random.default_rng(0))[0]
    cells, codes = pieces_of_board(jax.numpy.asarray(board), 12)
    assert len(set(cells.tolist())) == 12
    assert cells[:9].tolist() == np.flatnonzero(board).tolist()
    assert codes.tolist() == [*board[board > 0].tolist(), 0, 0, 0]
