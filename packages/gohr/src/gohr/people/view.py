"""All that a person at the game may see."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from gohr.game.board import Piece
from gohr.game.outcomes import ACCEPTED, DENIED, EMPTY_CELL, EPISODE_OVER, IMMOVABLE
from gohr.people.mastery import attempts_to_master

if TYPE_CHECKING:
    from gohr.people.session import PlaySession

#: Replies to an attempt, as shown to people.
OUTCOME_WORDS = {
    ACCEPTED: "accepted",
    EMPTY_CELL: "empty cell",
    DENIED: "denied",
    IMMOVABLE: "immovable",
    EPISODE_OVER: "after the end",
}


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
    points : mapping or None
        If the plan has points: ``total`` of the series so far; ``board_least`` and ``board_most``,
        which this board can still earn.
    """

    rule: str
    state: Literal["playing", "board over", "ended"]
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
    may: tuple[Literal["next", "give up", "pick"], ...] = ()
    points: dict[str, int] | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the view as JSON can hold it."""
        return asdict(self)

    @classmethod
    def of(cls, session: PlaySession) -> PlayView:
        """Return all that the player of a session may see now."""
        here, good, errors = session.here(), session.successes, session.errors_by_board()
        terms, points = session.game.terms, None
        dealt = {piece.pos: piece for piece in session.board(session.episode).pieces}
        moved = [made for made in here if made.accepted and made.bucket is not None]
        left = dealt.keys() - {made.cell for made in moved}
        movable = session.movable_cells()
        if terms.points is not None:
            points = {
                "total": sum(session.points_by_board()),
                "board_least": terms.points.points(math.inf),
                "board_most": terms.points.points(session.costs_by_board()[session.episode]),
            }
        return cls(
            rule=session.game.rule_name,
            state=session.state,
            end=session.end,
            episode=session.n_boards,
            episodes=session.game.episodes,
            attempts_left=session.game.horizon - len(here),
            pieces=tuple(
                _shown(cell, piece) | ({"movable": cell in movable} if session.is_fixed else {})
                for cell, piece in dealt.items()
                if cell in left
            ),
            removed=tuple(
                _shown(made.cell, dealt[made.cell]) | {"bucket": made.bucket, "order": order}
                for order, made in enumerate(moved, 1)
            ),
            attempts=tuple(
                {
                    "number": made.number,
                    **_shown(made.cell, dealt.get(made.cell)),
                    "bucket": made.bucket,
                    "outcome": OUTCOME_WORDS[made.outcome] if made.counts else "movable",
                }
                for made in here
            ),
            errors=sum(errors),
            errors_here=errors[session.episode],
            moves=sum(good),
            streak=next((i for i, each in enumerate(reversed(good)) if not each), len(good)),
            mastered=terms.mastery is None and math.isfinite(attempts_to_master(good)),
            may=session.may,
            points=points,
        )


def _shown(cell: int, piece: Piece | None) -> dict[str, Any]:
    """Return a piece as its player sees it: ``cell, shape, color``."""
    if piece is None:
        return {"cell": cell, "shape": None, "color": None}
    return {"cell": cell, "shape": piece.shape, "color": piece.color}
