"""Linear models of attempts: the paper's Boolean features, and the records that kernels work on.

A record holds the state or the settings of a learner, which its compiled kernels read and change in
place: named tuples of numbers and arrays. The kernels of a learner are in
:mod:`gohr.learners.kernels`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS, BoardSpec

#: The codes present on a board are kept as the bits of one signed 64-bit integer.
_MOST_CODES = 63


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


# -- the records -----------------------------------------------------------------------------------


class TabularSettings(NamedTuple):
    """The settings of :class:`gohr.learners.tabular_q.TabularQ`, as its kernels read them."""

    learning_rate: float
    gamma: float
    all_cells: bool
    random_ties: bool
    epsilon_start: float
    epsilon_end: float
    epsilon_decay: float


class DQNSettings(NamedTuple):
    """The settings of :class:`gohr.learners.linear_dqn.LinearDQN`, as its kernels read them."""

    learning_rate: float
    gamma: float
    target_period: int
    all_cells: bool
    plays_on: bool
    random_ties: bool
    replacement: bool
    learning_starts: int
    epsilon_start: float
    epsilon_end: float
    epsilon_decay: float
    epsilon_per_episode: bool
    horizon_is_terminal: bool
    batch_size: int


class Memory(NamedTuple):
    """State of a :class:`gohr.learners.linear_dqn.LinearDQN`, changed in place.

    Parameters
    ----------
    active : numpy.ndarray of uint32, shape (n_inputs, 18)
        The active features of each input (:class:`Features`).
    theta : numpy.ndarray of float64, shape (n_features + 1,)
        The weights, and a last entry that is always 0.
    best : numpy.ndarray of float64, shape (n_last, n_codes)
        The largest value over the buckets under the target network.
    attempts : numpy.ndarray of int64, shape (buffer_size, 4)
        The replay buffer: input, and after the attempt the last accepted one, the codes present as
        bits, and 1 if the episode ended.
    rewards, targets : numpy.ndarray of float64, shape (buffer_size,)
        The rest of it: r, and y = r + gamma max Q(s', a'; target), or y = r at the end.
    counters : numpy.ndarray of int64, shape (3,)
        Attempts stored so far, attempts that epsilon has decayed for, episodes.
    order, batch, errors, values : numpy.ndarray
        Workspace.
    """

    active: npt.NDArray[np.uint32]
    theta: npt.NDArray[np.float64]
    best: npt.NDArray[np.float64]
    attempts: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float64]
    targets: npt.NDArray[np.float64]
    counters: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    batch: npt.NDArray[np.int64]
    errors: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]


def blank_memory(board_spec: BoardSpec, buffer_size: int, batch_size: int) -> Memory:
    """Return the memory of a learner that has seen nothing."""
    n_codes = board_spec.n_codes
    if n_codes > _MOST_CODES:
        raise ValueError(
            f"expected at most {_MOST_CODES - 1} combinations of shape and color in the palettes, "
            f"found {n_codes - 1}"
        )
    features = feature_table(len(board_spec.shape_palette), len(board_spec.color_palette))
    return Memory(
        active=features.active,
        theta=np.zeros(features.n_features + 1),
        best=np.zeros((1 + (n_codes - 1) * N_BUCKETS, n_codes)),
        attempts=np.zeros((buffer_size, 4), dtype=np.int64),
        rewards=np.zeros(buffer_size),
        targets=np.zeros(buffer_size),
        counters=np.zeros(3, dtype=np.int64),
        order=np.arange(buffer_size),
        batch=np.zeros(batch_size, dtype=np.int64),
        errors=np.zeros(batch_size),
        values=np.zeros((n_codes, N_BUCKETS)),
    )


class PolicySettings(NamedTuple):
    """The settings of :class:`gohr.learners.reinforce.Reinforce`, as its kernels read them."""

    learning_rate: float
    gamma: float
    all_cells: bool
    baseline: bool
    baseline_rate: float


class Policy(NamedTuple):
    """State of a :class:`gohr.learners.reinforce.Reinforce`, changed in place.

    Parameters
    ----------
    active : numpy.ndarray of uint32, shape (n_inputs, 18)
        The active features of each input (:class:`Features`).
    theta : numpy.ndarray of float64, shape (n_features + 1,)
        The weights, and a last entry that is always 0.
    trace, scores, gradient : numpy.ndarray of float64, shape (n_features + 1,)
        For this episode: the sum of ``grad log pi`` over its attempts, discounted up to now and
        not; and the sum of rewards times the former.
    chances : numpy.ndarray of float64, shape (n_codes, 4)
        For the attempt chosen last: the probability of each, for any one cell with that code.
    sums : numpy.ndarray of float64, shape (4,)
        The baseline; of this episode, the discounted and the plain number of attempts, and the sum
        of their returns.
    """

    active: npt.NDArray[np.uint32]
    theta: npt.NDArray[np.float64]
    trace: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]
    gradient: npt.NDArray[np.float64]
    chances: npt.NDArray[np.float64]
    sums: npt.NDArray[np.float64]


def blank_policy(board_spec: BoardSpec) -> Policy:
    """Return the policy of a learner that has seen nothing: all attempts equally probable."""
    features = feature_table(len(board_spec.shape_palette), len(board_spec.color_palette))
    size = features.n_features + 1
    return Policy(
        active=features.active,
        theta=np.zeros(size),
        trace=np.zeros(size),
        scores=np.zeros(size),
        gradient=np.zeros(size),
        chances=np.zeros((board_spec.n_codes, N_BUCKETS)),
        sums=np.zeros(4),
    )
