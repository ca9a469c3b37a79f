"""A learner on one remotely played trial: sends attempts, rebuilds the board from replies."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon_board.leaderboard.hidden.protocol import Reply
from gohr import BoardSpec, Learner
from gohr.game import ACCEPTED, EPISODE_OVER, IN_PROGRESS, N_BUCKETS, N_CELLS
from gohr.learners import Observation, Transition


class SeenBoard:
    """Board of an episode reconstructed from replies: an accepted attempt removes a piece.

    ``codes`` (uint8, 36) holds the piece of each cell; ``last`` holds shape, colour and bucket of
    the last accepted attempt, 0 for none and else 1 + index.
    """

    def __init__(
        self, codes: npt.NDArray[np.uint8], spec: BoardSpec, last: Sequence[int] = (0, 0, 0)
    ) -> None:
        self.codes = codes
        self._n_colors = len(spec.color_palette)
        self.last = (last[0], last[1], last[2])

    def attempted(self, action: int, outcome: int) -> None:
        """Update the board with the outcome of an attempt."""
        if outcome == ACCEPTED:
            cell, bucket = divmod(action, N_BUCKETS)
            shape, color = divmod(int(self.codes[cell]) - 1, self._n_colors)
            self.codes[cell] = 0
            self.last = (1 + shape, 1 + color, 1 + bucket)

    def mask(self) -> npt.NDArray[np.int8]:
        """Return 1 for the attempts on occupied cells, shape (144,)."""
        return np.repeat(self.codes > 0, N_BUCKETS).astype(np.int8)

    def observation(self) -> dict[str, Any]:
        """Return what a Gymnasium environment observes."""
        shape, color, bucket = self.last
        return {"board": self.codes.copy(), "shape": shape, "color": color, "bucket": bucket}

    def seen(self) -> Observation:
        """Return what a learner observes."""
        return Observation(self.codes.copy(), *self.last, self.mask())


def attempts_of(
    learner: Learner, first: Reply, board_spec: BoardSpec, *, horizon: int
) -> Generator[int, Reply, None]:
    """Let a learner play a trial: yield each attempt, and receive its outcome by ``send``.

    The learner gets the same observations and outcomes as from
    :func:`gohr.play` on the same boards.

    ``first`` is the reply to a move without an attempt at position 0, with the first boards.

    Raises ValueError if the learner makes an invalid attempt.
    """
    reply = first
    while not reply.over:
        board = SeenBoard(np.array(reply.dealt[-1], dtype=np.uint8), board_spec)
        reply = yield from _episode(learner, board, horizon)


def _episode(learner: Learner, board: SeenBoard, horizon: int) -> Generator[int, Reply, Reply]:
    """Play one board, and return the reply that ended it."""
    seen, n_attempts = board.seen(), 0
    last: Reply | None = None
    while True:
        action = int(learner.act(seen))
        if not 0 <= action < N_CELLS * N_BUCKETS:
            raise ValueError(f"expected an action from 0 to 143, found {action}")
        if last is None or not last.ended:
            last = yield action
            (outcome,) = last.outcomes
        else:
            # A learner that plays on after the end; nothing is sent to the server.
            outcome = EPISODE_OVER
        n_attempts += 1
        board.attempted(action, outcome)
        terminated = last.finish != IN_PROGRESS and not learner.plays_on
        truncated = n_attempts >= horizon
        after = board.seen()
        reward = 0.0 if outcome in (ACCEPTED, EPISODE_OVER) else -1.0
        learner.observe(Transition(seen, action, reward, outcome, after, terminated, truncated))
        seen = after
        if terminated or truncated:
            return last
