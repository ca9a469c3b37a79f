"""Records of human play: the game, its attempts, and the view that its player may see."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from gnomon.errors import GnomonError
from gnomon.game.board import DEFAULT_SPEC, BoardSpec
from gnomon.game.outcomes import (
    ACCEPTED,
    CLEARED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    IN_PROGRESS,
    STALEMATE,
)

#: What people are told of an attempt, and of how an episode ended.
OUTCOME_WORDS = {
    ACCEPTED: "accepted",
    EMPTY_CELL: "empty cell",
    DENIED: "denied",
    IMMOVABLE: "immovable",
    EPISODE_OVER: "after the end",
}
END_WORDS = {IN_PROGRESS: "cut off", CLEARED: "cleared", STALEMATE: "stalemate"}

State = Literal["playing", "board over", "ended"]


class PlayError(GnomonError):
    """Something that cannot be done at this point of a game, such as a move on a cleared board.

    Examples
    --------
    >>> from gnomon.studies import PlaySession
    >>> PlaySession(Game("any", "(*,*,*,*,*)", seed=1)).next_board()
    Traceback (most recent call last):
    gnomon.studies.play_records.PlayError: expected a board that is over, and one to come; this is
    playing
    """


@dataclass(frozen=True, slots=True)
class Game:
    """What is played: everything that determines the boards and the replies.

    Parameters
    ----------
    rule_name : str
        What the player may be told of the rule: a name, or an alias that says nothing.
    rule_text : str
        The rule itself. It stays on the server.
    seed : int
        Of the boards.
    episodes : int
        Number of boards, one after another.
    horizon : int
        Number of attempts after which a board is cut off.
    board : BoardSpec
        How boards are drawn.

    Examples
    --------
    >>> game = Game("Puzzle 1", "(*,*,*,*,0)", seed=3)
    >>> game.episodes, game.horizon
    (20, 100)
    """

    rule_name: str
    rule_text: str
    seed: int
    episodes: int = 20
    horizon: int = 100
    board: BoardSpec = DEFAULT_SPEC


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt as it is kept.

    Parameters
    ----------
    episode : int
        From 0.
    number : int
        From 1 within its episode.
    cell, bucket : int
        1 to 36, 0 to 3.
    outcome : int
        The game's code: 0 accepted, 3 empty cell, 4 denied, 7 immovable.
    finish : int
        The board after it: 0 going on, 1 cleared, 2 stalemate.
    reaction_s : float
        Seconds since the player saw the board or the reply before.
    at : float
        When, in seconds since 1970, UTC.

    Examples
    --------
    >>> from gnomon.studies import PlaySession
    >>> made = PlaySession(Game("any", "(*,*,*,*,*)", seed=1)).attempt(1, 0)
    >>> made.episode, made.number, made.outcome, made.accepted
    (0, 1, 3, False)
    """

    episode: int
    number: int
    cell: int
    bucket: int
    outcome: int
    finish: int
    reaction_s: float
    at: float

    @property
    def accepted(self) -> bool:
        """Whether the piece left the board."""
        return self.outcome == ACCEPTED


# Its docstring is the description in the schema of the interface: an example is at PlaySession.
@dataclass(frozen=True, slots=True)
class PlayView:
    """All that a player may see: the board, the attempts so far, and how it is going.

    Neither the rule nor anything that only the rule could tell is in it: no permitted move, no
    counter, no seed.

    Parameters
    ----------
    rule : str
        The name or alias.
    state : {"playing", "board over", "ended"}
    end : str
        How this board ended: ``cleared``, ``stalemate``, ``cut off``, ``given up``; empty while it
        goes on.
    episode, episodes : int
        Which board, from 1, and of how many.
    attempts_left : int
        Before the board is cut off.
    pieces : tuple of mappings
        ``cell, shape, color`` of the pieces that are left.
    removed : tuple of mappings
        ``cell, shape, color, bucket, order`` of those that are gone: the memory aid.
    attempts : tuple of mappings
        ``number, cell, shape, color, bucket, outcome`` on this board, the first one first.
    errors, errors_here, moves : int
        Errors so far, on this board, and accepted attempts so far.
    streak : int
        Accepted attempts in a row, up to now.
    mastered : bool
        Whether there were ten in a row at any time.
    """

    rule: str
    state: State
    end: str
    episode: int
    episodes: int
    attempts_left: int
    pieces: tuple[dict[str, Any], ...]
    removed: tuple[dict[str, Any], ...]
    attempts: tuple[dict[str, Any], ...]
    errors: int
    errors_here: int
    moves: int
    streak: int
    mastered: bool

    def as_record(self) -> dict[str, Any]:
        """Return the view as JSON can hold it."""
        return asdict(self)
