"""The paper's Boolean features of attempts, on which linear models rest."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS, BoardSpec


def spec_features(board_spec: BoardSpec) -> Features:
    """Return the features for the palettes of a board specification."""
    return feature_table(len(board_spec.shape_palette), len(board_spec.color_palette))


class Features(NamedTuple):
    """Which features are active, for everything that they can depend on.

    Parameters
    ----------
    active : numpy.ndarray of uint32, shape (n_inputs, 18)
        The active features of each input. An attempt on an empty cell has two only; its other
        entries are ``n_features``, one more than the last index. Input number
        ``(last * n_codes + code) * 4 + bucket``: ``code`` is the contents of the chosen cell (0 for
        nothing), and ``last`` the last accepted attempt, 0 for none and else ``1 + (shape *
        n_colors + color) * 4 + bucket``.
    n_features : int
        Length of the feature vector.
    """

    active: npt.NDArray[np.uint32]
    n_features: int


@lru_cache(maxsize=8)
def feature_table(n_shapes: int = 4, n_colors: int = 4) -> Features:
    """Return the active features of every input, numbered in the order of the paper.

    They are four groups: the colour, the shape, the bucket of the attempt; these in pairs; each
    combined with the same feature of the last accepted attempt; and each pair combined with each
    pair of the last accepted attempt, where "none" is one more colour, shape and bucket.

    References
    ----------
    Pulick et al. (2022), appendix A.1.1. In the row (shape, colour) x (colour, bucket) of its table
    the index v occurs twice; the second is read as a colour of its own, as in the other rows.
    """
    shape, color, bucket = _current(n_shapes, n_colors)
    last_shape, last_color, last_bucket = _last(n_shapes, n_colors)
    pairs = [(color, shape), (color, bucket), (shape, bucket)]
    last_pairs = [
        (last_shape, last_color),
        (last_shape, last_bucket),
        (last_color, last_bucket),
    ]
    blocks: list[tuple[_Variable, ...]] = [
        (color,),
        (shape,),
        (bucket,),
        *pairs,
        (last_color, color),
        (last_shape, shape),
        (last_bucket, bucket),
        *(
            (*last, *now)
            for last in last_pairs
            for now in [(shape, color), (shape, bucket), (color, bucket)]
        ),
    ]
    return _number(blocks, 1 + n_shapes * n_colors * N_BUCKETS, 1 + n_shapes * n_colors)


class _Variable(NamedTuple):
    """One variable of all inputs: its value, -1 where the cell is empty, and how many there are."""

    value: npt.NDArray[np.int64]  # broadcasts to (last, code, bucket)
    size: int


def _current(n_shapes: int, n_colors: int) -> tuple[_Variable, _Variable, _Variable]:
    """Return shape, colour and bucket of the attempt."""
    piece = np.arange(n_shapes * n_colors)
    shape = np.concatenate([[-1], piece // n_colors])[None, :, None]
    color = np.concatenate([[-1], piece % n_colors])[None, :, None]
    bucket = np.arange(N_BUCKETS)[None, None, :]
    return _Variable(shape, n_shapes), _Variable(color, n_colors), _Variable(bucket, N_BUCKETS)


def _last(n_shapes: int, n_colors: int) -> tuple[_Variable, _Variable, _Variable]:
    """Return shape, colour and bucket of the last accepted attempt; one value more means none."""
    number = np.arange(n_shapes * n_colors * N_BUCKETS)
    piece, bucket = number // N_BUCKETS, number % N_BUCKETS
    return (
        _Variable(np.concatenate([[n_shapes], piece // n_colors])[:, None, None], n_shapes + 1),
        _Variable(np.concatenate([[n_colors], piece % n_colors])[:, None, None], n_colors + 1),
        _Variable(np.concatenate([[N_BUCKETS], bucket])[:, None, None], N_BUCKETS + 1),
    )


def _number(blocks: list[tuple[_Variable, ...]], n_last: int, n_codes: int) -> Features:
    """Give the features numbers, block by block, the last variable of each running fastest."""
    active = np.empty((n_last, n_codes, N_BUCKETS, len(blocks)), dtype=np.int64)
    offset = 0
    for k, block in enumerate(blocks):
        index = np.zeros((1, 1, 1), dtype=np.int64)
        size = 1
        exists = np.ones((1, 1, 1), dtype=np.bool_)
        for variable in block:
            index = index * variable.size + variable.value
            size *= variable.size
            exists = exists & (variable.value >= 0)
        active[..., k] = np.where(exists, offset + index, -1)
        offset += size
    active[active < 0] = offset
    table = active.reshape(-1, len(blocks)).astype(np.uint32)
    table.flags.writeable = False
    return Features(table, offset)
