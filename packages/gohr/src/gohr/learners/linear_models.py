"""Learners that are linear in the paper's Boolean features of attempts."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gohr.board import N_BUCKETS
from gohr.learners.base import CompiledLearner


class LinearLearner(CompiledLearner):
    """A learner with weights ``theta`` of the features of :func:`feature_table`."""

    @property
    def features(self) -> Features:
        """The features for the palettes of its boards."""
        return feature_table(len(self.board_spec.shape_palette), len(self.board_spec.color_palette))

    @property
    def theta(self) -> npt.NDArray[np.float64]:
        """A copy of the weights, shape (n_features,), in the order of the paper's appendix."""
        theta: npt.NDArray[np.float64] = self._player.theta
        return theta[:-1].copy()


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
    pair of the last accepted attempt, where "none" is one more colour, shape and bucket. Within a
    group the last variable runs fastest.

    References
    ----------
    Pulick et al. (2022), appendix A.1.1. In the row (shape, colour) x (colour, bucket) of its table
    the index v occurs twice; the second is read as a colour of its own, as in the other rows.
    """
    n_pieces = n_shapes * n_colors
    inputs = np.indices((1 + n_pieces * N_BUCKETS, 1 + n_pieces, N_BUCKETS)).reshape(3, -1)
    last, code, bucket = inputs
    none, empty = last == 0, code == 0
    last_piece, last_bucket = np.divmod(last - 1, N_BUCKETS)
    # Each variable with the number of its values; -1 where the cell is empty.
    shape = np.where(empty, -1, (code - 1) // n_colors), n_shapes
    color = np.where(empty, -1, (code - 1) % n_colors), n_colors
    into = bucket, N_BUCKETS
    last_shape = np.where(none, n_shapes, last_piece // n_colors), n_shapes + 1
    last_color = np.where(none, n_colors, last_piece % n_colors), n_colors + 1
    last_into = np.where(none, N_BUCKETS, last_bucket), N_BUCKETS + 1
    pairs = [(shape, color), (shape, into), (color, into)]
    last_pairs = [(last_shape, last_color), (last_shape, last_into), (last_color, last_into)]
    groups: list[tuple[tuple[npt.NDArray[np.int64], int], ...]] = [
        *[(color,), (shape,), (into,)],
        *[(color, shape), (color, into), (shape, into)],
        *[(last_color, color), (last_shape, shape), (last_into, into)],
        *((*before, *now) for before in last_pairs for now in pairs),
    ]
    active = np.empty((last.size, len(groups)), dtype=np.int64)
    offset = 0
    for k, group in enumerate(groups):
        index = np.zeros(last.size, dtype=np.int64)
        for value, size in group:
            index = np.where((index < 0) | (value < 0), -1, index * size + value)
        active[:, k] = np.where(index < 0, -1, offset + index)
        offset += math.prod(size for _, size in group)
    table = np.where(active < 0, offset, active).astype(np.uint32)
    table.flags.writeable = False
    return Features(table, offset)
