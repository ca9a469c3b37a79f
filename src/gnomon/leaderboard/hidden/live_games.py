"""Games in play, in memory: all of it is in the database too, and this only saves a replay."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from sqlalchemy.orm import Session

from gnomon.database.tables import EntryAttempt
from gnomon.leaderboard.hidden.remote_game import RemoteGame
from gnomon.leaderboard.seasons.assignment import Assignment
from gnomon.leaderboard.seasons.entries import assignment_of

__all__ = ["LiveGames"]

#: What attempts have to play, of so many attempts.
_MOST_ASSIGNMENTS = 256


class LiveGames:
    """Games in play, in memory, so that a trial is not replayed at each move; the oldest go first.

    Parameters
    ----------
    most : int
        How many to keep.
    """

    def __init__(self, most: int = 2048) -> None:
        self._most = most
        self._games: OrderedDict[int, RemoteGame] = OrderedDict()
        self._assignments: OrderedDict[int, Assignment] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, trial: int) -> bool:
        with self._lock:
            return trial in self._games

    def get(self, trial: int, position: int) -> RemoteGame | None:
        """Return the game of a trial, if it stands at that many attempts."""
        with self._lock:
            game = self._games.get(trial)
            if game is None or game.position != position:
                return None
            self._games.move_to_end(trial)
            return game

    def put(self, trial: int, game: RemoteGame) -> None:
        """Keep a game."""
        with self._lock:
            self._games[trial] = game
            while len(self._games) > self._most:
                self._games.popitem(last=False)

    def drop(self, trials: Sequence[int]) -> None:
        """Forget games: they have ended, or what was done in them was not committed."""
        with self._lock:
            for trial in trials:
                self._games.pop(trial, None)

    def assignment(self, session: Session, attempt_id: int) -> Assignment:
        """Return what an attempt has to play."""
        with self._lock:
            found = self._assignments.get(attempt_id)
        if found is None:
            found = assignment_of(session.get_one(EntryAttempt, attempt_id))
            with self._lock:
                self._assignments[attempt_id] = found
                while len(self._assignments) > _MOST_ASSIGNMENTS:
                    self._assignments.popitem(last=False)
        return found
