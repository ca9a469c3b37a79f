"""Plan of a series: one rule on several boards, with its displays, points and questions.

A :class:`SeriesTerms` holds the part that a game needs besides the rule and the drawing of boards;
a :class:`SeriesPlan` is an entry of a list.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gnomon.errors import GnomonError
from gohr.game.board import COLORS, N_CELLS, SHAPES, Board, BoardSpec, Piece

_Range = int | Annotated[tuple[int, ...], Field(min_length=2, max_length=2)]
_Count = Annotated[int, Field(ge=1, le=1000)]
_Text = Annotated[str, Field(max_length=20_000)]

#: When the player is asked for the rule.
GuessMoment = Literal["never", "mastery", "board", "series"]


class Part(BaseModel):
    """A part of a study; unknown fields are refused.

    Examples
    --------
    >>> class Colors(Part):
    ...     dark: bool = False
    >>> Colors.model_validate({"dark": True})
    Colors(dark=True)
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class BoardPlan(Part):
    """How the boards of a series are drawn; see :class:`gohr.game.BoardSpec`.

    Examples
    --------
    >>> BoardPlan(pieces=5).spec().pieces
    (5, 5)
    """

    pieces: _Range = 9
    shapes: _Range = 4
    colors: _Range = 4
    shape_palette: tuple[str, ...] = SHAPES
    color_palette: tuple[str, ...] = COLORS

    def spec(self) -> BoardSpec:
        """Return the board in the form used by the game."""
        names = self.shape_palette, self.color_palette
        return BoardSpec(self.pieces, self.shapes, self.colors, *names)


class GivenPiece(Part):
    """A piece of a given board."""

    cell: Annotated[int, Field(ge=1, le=N_CELLS)]
    shape: Annotated[str, Field(min_length=1)]
    color: Annotated[str, Field(min_length=1)]

    def piece(self, number: int) -> Piece:
        """Return the piece in the form used by the game."""
        return Piece(number, self.cell, self.shape.upper(), self.color.upper())


class MemoryAids(Part):
    """Display of the pieces that were moved.

    ``stack``: how many pieces beside a bucket. ``numbers``: whether they show the number of their
    removal. ``cells``: display of an emptied cell: a shadow with its number, a tick, or nothing.
    ``attempts``: whether every attempt on the board is listed.

    Examples
    --------
    >>> MemoryAids(stack=0, cells="nothing").attempts
    True
    """

    stack: Annotated[int, Field(ge=0, le=36)] = 3
    numbers: bool = False
    cells: Literal["order", "tick", "nothing"] = "order"
    attempts: bool = True

    @classmethod
    def none(cls) -> MemoryAids:
        """Return no aid at all."""
        return cls(stack=0, cells="nothing", attempts=False)


class PointsPlan(Part):
    """Points of a board: ``least + (most - least) / (1 + exp(slope (errors - 2)))``.

    Examples
    --------
    >>> [PointsPlan().points(errors) for errors in (0, 1, 2, 3, 5, math.inf)]
    [10, 9, 6, 3, 2, 2]
    """

    least: Annotated[float, Field(ge=0, le=1e6)] = 2.0
    most: Annotated[float, Field(ge=0, le=1e6)] = 10.0
    slope: Annotated[float, Field(gt=0, le=100)] = 1.5

    def points(self, errors: float) -> int:
        """Return the points of a finished board, a half rounded up.

        ``errors`` is the cost beyond the accepted moves: 1 for an error, its cost for a pick.
        """
        bent = min(self.slope * (errors - 2), 700.0)
        return math.floor(self.least + (self.most - self.least) / (1 + math.exp(bent)) + 0.5)


class SeriesTerms(Part):
    """How a series is played and paid, regardless of the rule.

    ``given`` boards are dealt over and over, as listed or shuffled each time around. ``train`` and
    ``test`` are lines of rules: boards of which no piece, or at least one, meets a line. ``fixed``
    feedback marks pieces that cannot be moved, and refuses attempts at them. Without a
    ``pick_cost`` a piece that is dropped beside the buckets goes back; with one it is a pick, which
    shows whether the piece can be moved and costs a number of attempts. Giving up is offered at any
    time, or only between boards while at most ``give_up_at`` were played. ``mastery`` is the number
    of successes in a row that ends the series.

    Examples
    --------
    >>> SeriesTerms(points={}, mastery=10).points.most
    10.0
    """

    given: tuple[tuple[GivenPiece, ...], ...] = ()
    order: Literal["listed", "random"] = "listed"
    train: _Text = ""
    test: _Text = ""
    feedback: Literal["free", "fixed"] = "free"
    pick_cost: Annotated[float, Field(ge=0, le=100)] | None = None
    memory: MemoryAids = MemoryAids()
    give_up_at: Annotated[int, Field(ge=0, le=1000)] | None = None
    points: PointsPlan | None = None
    mastery: _Count | None = None
    guess: GuessMoment = "never"

    @model_validator(mode="after")
    def _fits_together(self) -> SeriesTerms:
        if self.train and self.test:
            raise ValueError("expected train or test, found both")
        if self.given and (self.train or self.test):
            raise ValueError("expected given boards or a condition for random ones, found both")
        if self.feedback == "fixed" and self.pick_cost is not None:
            raise ValueError("pick_cost: with fixed feedback nothing is left to be picked")
        if self.guess == "mastery" and self.mastery is None:
            raise ValueError("guess: expected a number of successes for 'mastery', found none")
        return self

    def given_boards(self) -> tuple[Board, ...]:
        """Return the given boards."""
        return tuple(
            Board(tuple(piece.piece(i) for i, piece in enumerate(board))) for board in self.given
        )


#: A game outside of studies.
DEFAULT_TERMS = SeriesTerms()


class SeriesPlan(SeriesTerms):
    """One rule of a list, on how many boards and which.

    ``rule`` is a name of the library, ``season/rule``, or the name of a text of the plan.

    Examples
    --------
    >>> plan = SeriesPlan(rule="clockwise", episodes=3, board={"pieces": (4, 6), "shapes": 2})
    >>> plan.spec().pieces, plan.spec().colors
    ((4, 6), (4, 4))
    """

    rule: Annotated[str, Field(min_length=1, max_length=200)]
    episodes: Annotated[int, Field(ge=1, le=200)] = 8
    horizon: _Count = 100
    board: BoardPlan = BoardPlan()

    @model_validator(mode="after")
    def _boards_can_be_dealt(self) -> SeriesPlan:
        spec = self.spec()
        for number, board in enumerate(self.given_boards(), 1):
            try:
                board.codes(spec)
            except (GnomonError, ValueError) as error:
                raise ValueError(f"given board {number}: {error}") from None
        return self

    def spec(self) -> BoardSpec:
        """Return how boards are drawn; with given boards, which pieces they can have."""
        if not self.given:
            return self.board.spec()
        pieces = [piece for board in self.given_boards() for piece in board.pieces]
        sizes = [len(board) for board in self.given]
        n_pieces = max(1, min(sizes)), max(1, *sizes)
        shapes = tuple(dict.fromkeys(str(piece.shape) for piece in pieces))
        colors = tuple(dict.fromkeys(str(piece.color) for piece in pieces))
        return BoardSpec(n_pieces, 0, 0, shapes, colors)

    def terms(self) -> SeriesTerms:
        """Return what a game needs to know of the series."""
        return SeriesTerms.model_validate(self.model_dump(include=set(SeriesTerms.model_fields)))
