"""A learner on one trial that is played elsewhere: attempts go out, replies come in."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from gnomon.game.board import N_BUCKETS, N_CELLS, BoardSpec
from gnomon.game.outcomes import ACCEPTED, EPISODE_OVER, IN_PROGRESS
from gnomon.leaderboard.client.seen_board import SeenBoard
from gnomon.leaderboard.hidden.protocol import Reply
from gnomon.learners.base import Learner, Transition

__all__ = ["attempts_of"]


def attempts_of(
    learner: Learner, first: Reply, board_spec: BoardSpec, *, horizon: int
) -> Generator[int, Reply, None]:
    """Let a learner play a trial: yield each attempt, and be sent what came of it.

    The learner sees and is told what :func:`gnomon.learners.trial.play_trial` would show and tell
    it on the same boards.

    Parameters
    ----------
    learner : Learner
        At the start of its trial.
    first : Reply
        To a move without an attempt at position 0: it has the first boards.
    board_spec : BoardSpec
        Gives the palettes that the codes index.
    horizon : int
        Number of attempts after which an episode is cut off.

    Raises
    ------
    ValueError
        If the learner attempts what is no attempt.
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
            # A learner that plays on after the end: the server need not hear of it.
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
