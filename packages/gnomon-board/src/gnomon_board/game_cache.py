"""A cache of games in play, which only saves a replay of their attempts."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

_Game = TypeVar("_Game")


class GameCache(Generic[_Game]):
    """The games in play that were used last, by the number of their row.

    A game is taken out for a move, and put back when the move is committed, so that the cache is
    never ahead of the database. Another process may be: compare a game with its row.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._games: OrderedDict[int, _Game] = OrderedDict()

    def __contains__(self, number: int) -> bool:
        return number in self._games

    def take(self, number: int) -> _Game | None:
        """Take a game out; None if it must be rebuilt."""
        with self._lock:
            return self._games.pop(number, None)

    def put_back(self, number: int, game: _Game) -> None:
        """Keep a game as it is committed; drop the one that was used longest ago if it is full."""
        with self._lock:
            self._games[number] = game
            if len(self._games) > self._most:
                self._games.popitem(last=False)
