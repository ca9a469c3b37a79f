"""A Gymnasium environment of one trial of the hidden division, played on the server."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from gnomon_board.errors import LeaderboardError
from gnomon_board.leaderboard.client.remote_connection import Connection
from gnomon_board.leaderboard.client.remote_learner import SeenBoard
from gnomon_board.leaderboard.hidden.protocol import Move, Reply, TrialView
from gohr import BoardSpec
from gohr.game import (
    ACCEPTED,
    IN_PROGRESS,
    N_BUCKETS,
    N_CELLS,
    STALEMATE,
    action_space,
    observation_space,
)


class RemoteEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """Environment of one trial under a rule that stays on the server.

    Observations, actions, rewards and ``info`` are those of ``gohr/HiddenRules-v0``. The difference
    is that the score counts: boards come in the assigned order, each is played to its end or to the
    horizon, and every attempt counts. Therefore `reset` deals the next board only when this one is
    over, and ignores ``seed``. At the horizon a step is ``truncated``. Boards that are stuck from
    the start are skipped.

    It needs a running leaderboard, and a trial from :meth:`RemoteBoard.begin`.

    An environment of a trial that has begun continues it: the first `reset` returns the current
    board.

    Parameters
    ----------
    connection : Connection
        To the server; environments stepped at the same time need one each.
    view : TrialView
        The trial, as :meth:`gnomon_board.leaderboard.RemoteBoard.view` returns it.
    board_spec : BoardSpec
        Of the season; defines the palettes.
    """

    metadata: dict[str, Any] = {"render_modes": [], "reveal": False}  # noqa: RUF012 - Gymnasium's

    def __init__(self, connection: Connection, view: TrialView, board_spec: BoardSpec) -> None:
        self.board_spec = board_spec
        self.observation_space = observation_space(board_spec)
        self.action_space: spaces.Discrete = action_space()
        self._connection, self._trial = connection, view.trial
        self._position, self._episode = view.position, view.episode
        #: Whether all boards have been played.
        self.over = view.state == "done"
        self._board = SeenBoard(np.array(view.board, dtype=np.uint8), board_spec, view.last)
        self._next: npt.NDArray[np.uint8] | None = None
        self._in_play = False
        if not self.over and view.position == 0:
            self._begin()

    @property
    def episode(self) -> int:
        """Number of the board in play, from 0."""
        return self._episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal the next board.

        Raises
        ------
        LeaderboardError
            This board is still in play, or there are no more.
        """
        super().reset(seed=seed)
        if self.over and self._next is None:
            raise LeaderboardError(f"trial {self._trial} is over: every board has been played")
        if self._in_play:
            raise LeaderboardError("expected a board to be played to its end before the next")
        if self._next is not None:
            self._board = SeenBoard(self._next, self.board_spec)
            self._next = None
        return self._board.observation(), self._info(outcome=6, stalemate=False)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Attempt to move the piece of cell ``action // 4`` into bucket ``action % 4``."""
        number = int(action)
        if not 0 <= number < N_CELLS * N_BUCKETS:
            raise ValueError(f"action: expected an integer from 0 to 143, found {action!r}")
        if self._next is not None or (self.over and not self._in_play):
            raise LeaderboardError("expected a reset: this board is over")
        reply = self._ask([number])
        (outcome,) = reply.outcomes
        self._board.attempted(number, outcome)
        self._in_play = not reply.ended
        self._take(reply)
        terminated = reply.finish != IN_PROGRESS
        info = self._info(outcome=outcome, stalemate=reply.finish == STALEMATE)
        reward = 0.0 if outcome == ACCEPTED else -1.0
        truncated = reply.ended and not terminated
        return self._board.observation(), reward, terminated, truncated, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which attempts are on occupied cells, bool of shape (144,)."""
        return self._board.mask().astype(np.bool_)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _begin(self) -> None:
        """Request the boards dealt at the start, since all of a trial may be stuck."""
        reply = self._ask([])
        if not reply.over:
            self._board = SeenBoard(np.array(reply.dealt[-1], dtype=np.uint8), self.board_spec)
        self.over, self._episode = reply.over, reply.episode

    def _ask(self, actions: list[int]) -> Reply:
        move = Move(trial=self._trial, position=self._position, actions=actions)
        (reply,) = self._connection.move([move])
        self._position = reply.position
        return reply

    def _take(self, reply: Reply) -> None:
        """Store the next board, if this one is over."""
        self.over = reply.over
        if reply.ended:
            self._episode = reply.episode
            self._next = None if reply.over else np.array(reply.dealt[-1], dtype=np.uint8)

    def _info(self, *, outcome: int, stalemate: bool) -> dict[str, Any]:
        return {"action_mask": self._board.mask(), "outcome": outcome, "stalemate": stalemate}
