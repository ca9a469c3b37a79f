"""Records of human play: the game, its attempts, and the view that its player may see."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import GnomonError
from gnomon.game.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec, Piece
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
from gnomon.studies.plan.series_plan import DEFAULT_TERMS, Play, SeriesTerms
from gnomon.studies.play.bot_assist import Hint
from gnomon.studies.play.rewards import BoardEnd
from gnomon.studies.play.turns import Seats

if TYPE_CHECKING:
    from gnomon.learners.base import TrialLog

#: What people are told of an attempt, and of how an episode ended.
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

State = Literal["waiting", "playing", "board over", "ended"]
#: What a player may do besides moving pieces.
Action = Literal["next", "bonus", "give up", "pick"]


class PlayError(GnomonError):
    """Something that cannot be done at this point of a game, such as a move on a cleared board.

    Examples
    --------
    >>> from gnomon.studies import PlaySession
    >>> PlaySession(Game("any", "(*,*,*,*,*)", seed=1)).next_board()
    Traceback (most recent call last):
    gnomon.studies.play.play_records.PlayError: expected a board that is over, and one to come;
    this is playing
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
    terms : SeriesTerms
        What is given, told and paid; by default as in a game outside of studies.
    seats : Seats, optional
        Of two at the same boards; None for one alone.

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
    seats: Seats | None = None


@dataclass(frozen=True, slots=True)
class ClientTimes:
    """What the player's own clock measured, in milliseconds.

    Parameters
    ----------
    touch_ms, action_ms : int
        From the moment the board, or the reply before, was on the screen to the first touch of a
        piece, and to the attempt; 0 for what was done before the reply was there.
    away_ms : int
        How long of that the page was not in front.
    animation_ms : int
        How long of that a piece flew.

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
    """One attempt as it is kept.

    Parameters
    ----------
    episode : int
        From 0.
    number : int
        From 1 within its episode.
    cell : int
        1 to 36: the piece's cell, or its own place on a crowded board.
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
    mover : int
        The seat of who made it: 0, or 1 for the second of two.

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
    bucket: int | None
    outcome: int
    finish: int
    reaction_s: float
    at: float
    client: ClientTimes | None = None
    mover: int = 0

    @property
    def accepted(self) -> bool:
        """Whether the piece left the board, or could have for a pick."""
        return self.outcome == ACCEPTED

    @property
    def counts(self) -> bool:
        """Whether it is a success or an error; an accepted pick is neither."""
        return not (self.bucket is None and self.accepted)


@dataclass(frozen=True, slots=True)
class RewardView:
    """What a player sees of points.

    Parameters
    ----------
    points : int or None
        Of the series so far, multiplied; None where only mastery counts.
    factor, promised : int
        By which the points count, and will count if this board is finished.
    streak, ratio : int, float or None
        The ratio is None where it does not count.
    board_least, board_most : int or None
        What this board can still earn.
    budget : float or None
        What may still be spent on a bonus board.
    smiles : tuple of bool
        Of each attempt of the series that counts, by either of two, whether it was a success.
    own : tuple of bool
        Which of them the player made; empty for one alone.

    Examples
    --------
    >>> from gnomon.studies import PlaySession
    >>> terms = SeriesTerms(points={}, incentive={"kind": "doubling", "x2": 3, "x4": 6})
    >>> game = Game("any", "(*,*,*,*,*)", seed=1, terms=terms)
    >>> session = PlaySession(game)
    >>> for piece in session.view().pieces[:4]:
    ...     _ = session.attempt(piece["cell"], 0)
    >>> reward = session.view().reward
    >>> reward.promised, reward.factor, reward.board_most
    (2, 1, 10)
    """

    points: int | None
    factor: int
    promised: int
    streak: int
    ratio: float | None
    board_least: int | None
    board_most: int | None
    budget: float | None
    smiles: tuple[bool, ...]
    own: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class PartnerView:
    """What a player sees of who plays at the same boards.

    Parameters
    ----------
    play : {"cooperative", "adversarial"}
    is_bot : bool
    has_left : bool
        Whether it was a person who has left; a bot may be in the place.
    your_turn : bool
        Whether the next attempt is the player's own.
    errors, moves : int
        Of the partner alone.
    points : int or None
        Of an adversary, where the plan pays.

    Examples
    --------
    >>> from gnomon.studies import PlaySession
    >>> game = Game("any", "(*,*,*,*,*)", seed=1, seats=Seats("cooperative"))
    >>> session = PlaySession(game)
    >>> session.view(0).partner.your_turn, session.view(1).partner.your_turn
    (True, False)
    """

    play: Play
    is_bot: bool
    has_left: bool
    your_turn: bool
    errors: int
    moves: int
    points: int | None


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
    state : {"waiting", "playing", "board over", "ended"}
        Before a partner has come, it waits.
    end : str
        How this board ended: ``cleared``, ``stalemate``, ``cut off``, ``given up``, ``mastered``,
        or ``lost`` for a bonus; empty while it goes on.
    episode, episodes : int
        Which board, from 1, and of how many.
    attempts_left : int
        Before the board is cut off.
    pieces : tuple of mappings
        ``cell, shape, color`` of the pieces that are left, and ``image`` of pictures; with fixed
        feedback also ``movable``. Where pieces share cells, ``cell`` is a place of the piece's own,
        by which an attempt names it, and ``at`` the cell in which it lies.
    removed : tuple of mappings
        ``cell, shape, color, bucket, order`` of those that are gone: the memory aid.
    attempts : tuple of mappings
        ``number, cell, shape, color, bucket, outcome`` on this board, the first one first; of two
        at a board also ``mine``.
    errors, errors_here, moves : int
        Errors so far, on this board, and accepted attempts so far: of adversaries one's own, of
        partners those of both.
    streak : int
        Accepted attempts in a row, up to now.
    mastered : bool
        Whether there were ten in a row at any time.
    may : tuple of {"next", "bonus", "give up", "pick"}
        What else can be done now.
    reward : RewardView or None
        What is earned, where the plan pays or ends at mastery.
    hint : Hint or None
        The move that a bot suggests, ``cell, bucket, confidence``, where the plan has one.
    partner : PartnerView or None
        Who else plays at the same boards.
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
    reward: RewardView | None = None
    hint: Hint | None = None
    partner: PartnerView | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the view as JSON can hold it."""
        return asdict(self)


def check_place(cell: int, bucket: int | None, terms: SeriesTerms) -> None:
    """Refuse, by a :class:`PlayError`, an attempt on what no board has."""
    if not 1 <= cell <= N_CELLS:
        raise PlayError(f"cell: expected 1 to {N_CELLS}, found {cell}")
    if bucket is None and terms.pick_cost is None:
        raise PlayError("expected a bucket: pieces cannot be picked here")
    if bucket is not None and not 0 <= bucket < N_BUCKETS:
        raise PlayError(f"bucket: expected 0 to {N_BUCKETS - 1}, found {bucket}")


def shown_piece(cell: int, piece: Piece | None) -> dict[str, Any]:
    """Return a piece as its player sees it: ``cell, shape, color``, and ``image`` of a picture.

    On a crowded board ``cell`` is the piece's own place, and ``at`` the cell in which it lies.
    """
    if piece is None:
        return {"cell": cell, "shape": None, "color": None}
    image = {} if piece.image is None else {"image": piece.image}
    at = {} if piece.own_place is None else {"at": piece.pos}
    return {"cell": cell, "shape": piece.shape, "color": piece.color, **image, **at}


def told_attempt(attempt: Attempt, piece: Piece | None) -> dict[str, Any]:
    """Return what the player is told of an attempt on a piece, or on an empty cell."""
    outcome = OUTCOME_WORDS[attempt.outcome] if attempt.counts else "movable"
    shown = shown_piece(attempt.cell, piece)
    return {"number": attempt.number, **shown, "bucket": attempt.bucket, "outcome": outcome}


def streak_at_end(good: Sequence[bool]) -> int:
    """Return the number of successes in a row at the end."""
    return next((i for i, each in enumerate(reversed(good)) if not each), len(good))


def log_of_attempts(
    boards: npt.NDArray[np.uint8],
    attempts: Sequence[Attempt],
    starts: Sequence[int],
    mine: Collection[Attempt] | None = None,
) -> TrialLog:
    """Return attempts as the log of a learner's trial, one episode for each board dealt.

    A learner makes no picks: an accepted one, which is neither success nor error, is left out; one
    of a piece that cannot be moved stands as the attempt to put it into bucket 0, to which the
    reply is the same. ``starts`` is how each board stood at first; ``mine`` are the player's own.
    """
    from gnomon.learners.base import TrialLog

    finish = np.array(starts, dtype=np.int8)
    for attempt in attempts:
        finish[attempt.episode] = attempt.finish
    made = [attempt for attempt in attempts if attempt.counts]
    return TrialLog(
        boards.copy(),
        np.bincount([a.episode for a in made], minlength=len(boards)).astype(np.int64),
        np.array([N_BUCKETS * (a.cell - 1) + (a.bucket or 0) for a in made], dtype=np.uint8),
        np.array([a.outcome for a in made], dtype=np.int8),
        finish,
        None if mine is None else np.array([a in mine for a in made], dtype=np.bool_),
    )
