"""Boards drawn in JAX have the distribution of those that the game draws."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from scipy.stats import chi2_contingency

from gohr import BoardSpec, draw_boards
from gohr import jax as gjax

SPECS = (
    BoardSpec(),
    BoardSpec(pieces=(4, 12), shapes=(0, 4), colors=(1, 3)),
    BoardSpec(pieces=36, shapes=(2, 3), colors=0),
)


def drawn(spec: BoardSpec, n: int, seed: int) -> np.ndarray:
    """Draw boards in JAX, as rows of 36 codes."""
    env, params = gjax.make("color-match", board=spec)
    return np.asarray(env.reset_boards(jax.random.key(seed), n, params)[0].board)


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


@pytest.mark.full
@pytest.mark.parametrize("spec", SPECS, ids=["paper", "ranges", "full boards"])
def test_boards_have_the_distribution_of_the_game(spec: BoardSpec):
    ours, theirs = both(spec, 40_000)
    for name in ours:
        assert p_value(ours[name], theirs[name]) > 1e-5, name
