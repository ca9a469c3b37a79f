"""A series: one rule on several boards, which are given, or drawn as a trial's are.

A :class:`SeriesTerms` holds the part that a game needs besides the rule and the drawing of boards;
a :class:`SeriesPlan` is an entry of a list, and a :class:`Game` what it is for one player.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, model_validator

from gnomon.errors import GnomonError
from gohr.board import COLORS, DEFAULT_SPEC, N_CELLS, SHAPES, Board, BoardSpec, Piece, draw_boards

_Range = int | Annotated[tuple[int, ...], Field(min_length=2, max_length=2)]
_Count = Annotated[int, Field(ge=1, le=1000)]


class Part(BaseModel):
    """A part of a study; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BoardPlan(Part):
    """How the boards of a series are drawn; see :class:`gohr.BoardSpec`."""

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


class PointsPlan(Part):
    """Points of a board: ``least + (most - least) / (1 + exp(slope (errors - 2)))``."""

    least: Annotated[float, Field(ge=0, le=1e6)] = 2.0
    most: Annotated[float, Field(ge=0, le=1e6)] = 10.0
    slope: Annotated[float, Field(gt=0, le=100)] = 1.5

    def points(self, errors: float) -> int:
        """Return the points of a finished board, a half rounded up."""
        bent = min(self.slope * (errors - 2), 700.0)
        return math.floor(self.least + (self.most - self.least) / (1 + math.exp(bent)) + 0.5)


class SeriesTerms(Part):
    """Boards, feedback and points of a series, regardless of the rule.

    ``given`` boards are dealt repeatedly, as listed. ``fixed`` feedback marks pieces that cannot
    be moved, and refuses attempts at them. With the ``memory_aid`` players see the pieces that they
    moved, and their attempts. ``mastery`` is the number of successes in a row that ends the series.
    """

    given: tuple[tuple[GivenPiece, ...], ...] = ()
    feedback: Literal["free", "fixed"] = "free"
    memory_aid: bool = True
    points: PointsPlan | None = None
    mastery: _Count | None = None
    guess: Literal["never", "mastery", "board", "series"] = "never"

    @model_validator(mode="after")
    def _fits_together(self) -> SeriesTerms:
        if self.guess == "mastery" and self.mastery is None:
            raise ValueError("guess: expected a number of successes for 'mastery', found none")
        return self

    def given_boards(self) -> tuple[Board, ...]:
        """Return the given boards."""
        return tuple(
            Board(
                tuple(
                    Piece(i, each.cell, each.shape.upper(), each.color.upper())
                    for i, each in enumerate(board)
                )
            )
            for board in self.given
        )


#: The terms of a game outside of studies.
_DEFAULT_TERMS = SeriesTerms()


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
        Boards, information and points of the series; the defaults give no points.
    """

    rule_name: str
    rule_text: str
    seed: int
    episodes: int = 20
    horizon: int = 100
    board: BoardSpec = DEFAULT_SPEC
    terms: SeriesTerms = _DEFAULT_TERMS

    def boards(self) -> npt.NDArray[np.uint8]:
        """Return the boards, a row of codes each, as the palettes have them.

        They follow from the seed and the text of the rule; those that are drawn are those of trial
        0 of an experiment with this seed.
        """
        from gohr.experiments.entries import RuleEntry

        terms, n, spec = self.terms, self.episodes, self.board
        if terms.given:
            given = [board.codes(spec) for board in terms.given_boards()]
            return np.array([given[i % len(given)] for i in range(n)])
        return draw_boards(n, spec, rng=RuleEntry("", self.rule_text).stream(self.seed, 0))


class SeriesPlan(SeriesTerms):
    """One rule of a list, on how many boards and which.

    ``rule`` is a name of the library, ``season/rule``, or the name of a text of the plan.
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

    def game(self, rule_name: str, rule_text: str, seed: int) -> Game:
        """Return the game of the series."""
        terms = SeriesTerms.model_validate(self.model_dump(include=set(SeriesTerms.model_fields)))
        return Game(rule_name, rule_text, seed, self.episodes, self.horizon, self.spec(), terms)
