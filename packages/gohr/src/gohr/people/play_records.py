"""Records of human play: the game, its attempts, and the view that its player may see."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from gnomon.errors import GnomonError
from gohr.game.board import DEFAULT_SPEC, BoardSpec
from gohr.game.outcomes import (
    ACCEPTED,
    CLEARED,
    DENIED,
    EMPTY_CELL,
    EPISODE_OVER,
    IMMOVABLE,
    IN_PROGRESS,
    STALEMATE,
)
from gohr.people.series_plan import DEFAULT_TERMS, SeriesTerms

#: How a board ended; empty while it is in progress.
BoardEnd = Literal["", "cleared", "stalemate", "cut off", "given up", "mastered"]

#: Replies to an attempt, and the ends of an episode, as shown to people.
OUTCOME_WORDS = {
    ACCEPTED: "accepted",
    EMPTY_CELL: "empty cell",
    DENIED: "denied",
    IMMOVABLE: "immovable",
    EPISODE_OVER: "after the end",
}
END_WORDS: dict[int, BoardEnd] = {
    IN_PROGRESS: "cut off",
    CLEARED: "cleared",
    STALEMATE: "stalemate",
}

State = Literal["playing", "board over", "ended"]
#: Possible actions of a player besides moving pieces.
Action = Literal["next", "give up", "pick"]


class PlayError(GnomonError):
    """Something that cannot be done at this point of a game, such as a move on a cleared board.

    Examples
    --------
    >>> from gohr.people import PlaySession
    >>> PlaySession(Game("any", "(*,*,*,*,*)", seed=1)).next_board()
    Traceback (most recent call last):
    gohr.people.play_records.PlayError: expected a board that is over, and one to come;
    this is playing
    """


@dataclass(frozen=True, slots=True)
class Game:
    """Definition of a game: everything that determines the boards and the replies.

    Parameters
    ----------
    rule_name : str
        The name of the rule that is shown to the player, or a neutral alias.
    rule_text : str
        The rule itself. It stays on the server.
    seed : int
        Seed of the boards.
    episodes : int
        Number of boards, one after another.
    horizon : int
        Number of attempts after which a board is cut off.
    board : BoardSpec
        How boards are drawn.
    terms : SeriesTerms
        Boards, information and points of the series; by default as in a game outside of studies.

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
    terms: SeriesTerms = DEFAULT_TERMS


@dataclass(frozen=True, slots=True)
class ClientTimes:
    """Times measured by the player's own clock, in milliseconds.

    Parameters
    ----------
    touch_ms, action_ms : int
        From the moment the board, or the reply before, was on the screen to the first touch of a
        piece, and to the attempt; 0 for actions before the reply was there.
    away_ms : int
        Part of that time in which the page was not in front.
    animation_ms : int
        Part of that time in which a piece was being animated.

    Examples
    --------
    >>> ClientTimes(touch_ms=400, action_ms=950).away_ms
    0
    """

    touch_ms: int
    action_ms: int
    away_ms: int = 0
    animation_ms: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """Record of one attempt.

    Parameters
    ----------
    episode : int
        From 0.
    number : int
        From 1 within its episode.
    cell : int
        1 to 36.
    bucket : int or None
        0 to 3; None for a pick, which names a piece only.
    outcome : int
        The game's code: 0 accepted, 3 empty cell, 4 denied, 7 immovable.
    finish : int
        The board after it: 0 going on, 1 cleared, 2 stalemate.
    reaction_s : float
        Seconds since the player saw the board or the reply before.
    at : float
        When, in seconds since 1970, UTC.
    client : ClientTimes, optional
        The player's own clock; a page without a script has none.

    Examples
    --------
    >>> from gohr.people import PlaySession
    >>> made = PlaySession(Game("any", "(*,*,*,*,*)", seed=1)).attempt(1, 0)
    >>> made.episode, made.number, made.outcome, made.accepted
    (0, 1, 3, False)
    """

    episode: int
    number: int
    cell: int
    bucket: int | None
    outcome: int
    finish: int
    reaction_s: float
    at: float
    client: ClientTimes | None = None

    @property
    def accepted(self) -> bool:
        """Whether the piece left the board, or could have for a pick."""
        return self.outcome == ACCEPTED

    @property
    def counts(self) -> bool:
        """Whether it is a success or an error; an accepted pick is neither."""
        return not (self.bucket is None and self.accepted)


@dataclass(frozen=True, slots=True)
class PointsView:
    """Points as shown to a player.

    Parameters
    ----------
    total : int
        Points of the series so far.
    board_least, board_most : int
        Points that this board can still earn.

    Examples
    --------
    >>> from gohr.people import PlaySession
    >>> game = Game("any", "(*,*,*,*,*)", seed=1, terms=SeriesTerms(points={}))
    >>> PlaySession(game).view().points
    PointsView(total=0, board_least=2, board_most=10)
    """

    total: int
    board_least: int
    board_most: int


# Its docstring is the description in the schema of the interface: an example is at PlaySession.
@dataclass(frozen=True, slots=True)
class PlayView:
    """All that a player may see: the board, the attempts so far, and the state of the game.

    It contains neither the rule nor anything that only the rule could reveal: no permitted move, no
    counter, no seed.

    Parameters
    ----------
    rule : str
        The name or alias.
    state : {"playing", "board over", "ended"}
    end : str
        How this board ended: ``cleared``, ``stalemate``, ``cut off``, ``given up`` or
        ``mastered``; empty while it is in progress.
    episode, episodes : int
        Which board, from 1, and of how many.
    attempts_left : int
        Before the board is cut off.
    pieces : tuple of mappings
        ``cell, shape, color`` of the pieces that are left; with fixed feedback also ``movable``.
    removed : tuple of mappings
        ``cell, shape, color, bucket, order`` of the pieces that were removed: the memory aid.
    attempts : tuple of mappings
        ``number, cell, shape, color, bucket, outcome`` on this board, the first one first.
    errors, errors_here, moves : int
        Errors so far, on this board, and accepted attempts so far.
    streak : int
        Accepted attempts in a row, up to now.
    mastered : bool
        Whether there were ten in a row at any time; false where a streak ends the series, which
        ``end`` then indicates.
    may : tuple of {"next", "give up", "pick"}
        Other actions that are possible now.
    points : PointsView or None
        Points earned, if the plan has points.
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
    may: tuple[Action, ...] = ()
    points: PointsView | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the view as JSON can hold it."""
        return asdict(self)
