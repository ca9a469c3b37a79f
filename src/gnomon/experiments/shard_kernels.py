"""The loops behind :func:`~.shard.shard_bytes`: what stands in each row, as codes.

They take a fifth of the time of the same in steps of NumPy, for a trial has few rows, and a run
writes some of them a second.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.game.board import N_BUCKETS, N_CELLS
from gnomon.game.outcomes import EPISODE_OVER, IN_PROGRESS

_Int = npt.NDArray[np.int64]
_Int32 = npt.NDArray[np.int32]
_Byte = npt.NDArray[np.uint8]
_Bool = npt.NDArray[np.bool_]

#: How many attempts can be permitted: none to all of them.
_N_PERMITTED = 1 + N_CELLS * N_BUCKETS


@njit(cache=True)
def code_rows(
    n_attempts: _Int,
    actions: _Byte,
    outcomes: npt.NDArray[np.int8],
    finish: npt.NDArray[np.int8],
    episode: _Int32,
    begins: _Bool,
    played: _Bool,
    outcome: npt.NDArray[np.int8],
    state: _Byte,
    attempt: _Int32,
    cell: _Byte,
    bucket: _Byte,
) -> None:
    """Fill in the rows of a trial: the last three have places for attempts alone.

    An episode without attempts has a row that says how it stands. The state of an episode is that
    of its end from its last row that is not over: a learner that plays on adds rows that are.
    """
    row = n = 0
    for e in range(n_attempts.shape[0]):
        begins[row] = True
        end = n + n_attempts[e] - 1
        while end >= n and outcomes[end] == EPISODE_OVER:
            end -= 1
        if n_attempts[e] == 0:
            episode[row] = e
            outcome[row] = EPISODE_OVER
            state[row] = finish[e]
            row += 1
        for k in range(n_attempts[e]):
            episode[row] = e
            played[row] = True
            outcome[row] = outcomes[n]
            state[row] = finish[e] if n >= end else IN_PROGRESS
            attempt[n] = k
            cell[n] = actions[n] // N_BUCKETS
            bucket[n] = actions[n] % N_BUCKETS
            row += 1
            n += 1


@njit(cache=True)
def code_chances(
    n_possible: _Int, n_permitted: _Int, codes: npt.NDArray[np.uint16]
) -> npt.NDArray[np.float64]:
    """Return the different chances of a random player; ``codes`` are which each attempt had."""
    place = np.zeros((1 + N_CELLS) * _N_PERMITTED, dtype=np.uint16)
    for k in range(codes.shape[0]):
        place[n_possible[k] // N_BUCKETS * _N_PERMITTED + n_permitted[k]] = 1
    chances: list[float] = []
    for pair in range(place.shape[0]):
        if place[pair]:
            n_pieces, n_good = divmod(pair, _N_PERMITTED)
            place[pair] = len(chances)
            chances.append(n_good / max(N_BUCKETS * n_pieces, 1))
    for k in range(codes.shape[0]):
        codes[k] = place[n_possible[k] // N_BUCKETS * _N_PERMITTED + n_permitted[k]]
    return np.array(chances)
