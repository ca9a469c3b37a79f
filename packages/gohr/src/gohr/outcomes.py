"""Codes of outcomes, of an episode's state, and of actions other than attempts.

They do not need Numba, so that code that only reads or writes them imports quickly.
"""

from __future__ import annotations

from typing import Literal

# Outcomes of an attempt: the codes of the captive game server.
ACCEPTED = 0
EMPTY_CELL = 3
DENIED = 4
NEW_BOARD = 6
IMMOVABLE = 7
EPISODE_OVER = -4

# State of an episode.
IN_PROGRESS = 0
CLEARED = 1
STALEMATE = 2

#: Replies to an attempt, and ends of an episode, in words.
OUTCOME_WORDS = {
    ACCEPTED: "accepted",
    EMPTY_CELL: "empty cell",
    DENIED: "denied",
    IMMOVABLE: "immovable",
    EPISODE_OVER: "after the end",
}
END_WORDS: dict[int, Literal["cut off", "cleared", "stalemate"]] = {
    IN_PROGRESS: "cut off",
    CLEARED: "cleared",
    STALEMATE: "stalemate",
}

# Actions other than the 144 attempts: deal a new board, or leave the board alone (which is then the
# outcome too).
RESET = -1
LEAVE = -2


class Autoreset:
    """Handling of a board whose episode has ended: Gymnasium's three modes."""

    DISABLED = 0
    NEXT_STEP = 1
    SAME_STEP = 2
