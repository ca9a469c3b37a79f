"""Playing one board under thousands of rules side by side."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.game.engine.batch import permitted, step
from gnomon.game.observation import ACTION, STANDS

__all__ = ["play_all", "predict"]

_Int = npt.NDArray[np.int64]


# Handing the slices on costs some reference counts, half a microsecond for each rule: as much as
# the rest together, and yet a hundredth of what a call from Python costs.
@njit(cache=True)
def play_all(
    programs: _Int,
    starts: _Int,
    alive: _Int,
    state: _Int,
    seen: npt.NDArray[np.uint8],
    replies: _Int,
    deck: npt.NDArray[np.uint8],
    action: int,
    masks: npt.NDArray[np.int8],
    finish: _Int,
) -> None:
    """Make an attempt, or deal the board, under each rule of ``alive``.

    Rule ``h`` has its board in ``state[h]``, ``seen[h]`` and ``replies[h]``. Its permitted attempts
    are left in ``masks[h]``, and how its episode stands in ``finish[h]``.
    """
    for k in range(alive.shape[0]):
        h = alive[k]
        program = programs[starts[h] : starts[h + 1]]
        replies[h, ACTION, 0] = action
        step(program, state[h], seen[h], replies[h], deck, 0, 0, 0)
        permitted(program, state[h], seen[h], replies[h], masks[h])
        finish[h] = replies[h, STANDS, 0]


@njit(cache=True)
def predict(
    alive: _Int,
    weights: npt.NDArray[np.float64],
    masks: npt.NDArray[np.int8],
    accepted: npt.NDArray[np.float64],
    movable: npt.NDArray[np.float64],
) -> None:
    """Sum the weights of the rules that accept each attempt, and that can move each piece."""
    accepted[:] = 0.0
    movable[:] = 0.0
    for k in range(alive.shape[0]):
        h = alive[k]
        weight = weights[k]
        for cell in range(36):
            any_bucket = False
            for bucket in range(4):
                if masks[h, 0, 4 * cell + bucket] != 0:
                    accepted[4 * cell + bucket] += weight
                    any_bucket = True
            if any_bucket:
                movable[cell] += weight
