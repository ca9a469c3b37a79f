"""Plan of a series: one rule on several boards, with what is told, paid, and asked.

A :class:`SeriesTerms` is what a game needs to know of it beside the rule and the drawing of boards;
a :class:`SeriesPlan` is an entry of a list.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gnomon.errors import GnomonError
from gnomon.game.board import COLORS, N_CELLS, SHAPES, Board, BoardSpec, Piece

_Range = int | Annotated[tuple[int, ...], Field(min_length=2, max_length=2)]
_Count = Annotated[int, Field(ge=1, le=1000)]
_Text = Annotated[str, Field(max_length=20_000)]

#: When a player is asked what the rule is.
GuessMoment = Literal["never", "mastery", "board", "series"]
#: Whether two at a board earn together, or one against the other.
Play = Literal["cooperative", "adversarial"]


class Part(BaseModel):
    """A part of a study: fields that are not known are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BoardPlan(Part):
    """How the boards of a series are drawn; see :class:`gnomon.game.board.BoardSpec`."""

    pieces: _Range = 9
    shapes: _Range = 4
    colors: _Range = 4
    shape_palette: tuple[str, ...] = SHAPES
    color_palette: tuple[str, ...] = COLORS
    images: dict[str, dict[str, str]] = Field(default_factory=dict, max_length=255)
    crowded: bool = False

    def spec(self) -> BoardSpec:
        """Return the board as the game knows it."""
        names = self.shape_palette, self.color_palette
        return BoardSpec(self.pieces, self.shapes, self.colors, *names, self.images, self.crowded)


class GivenPiece(Part):
    """A piece of a given board: a shape and a colour, or a picture with its properties."""

    cell: Annotated[int, Field(ge=1, le=N_CELLS)]
    shape: str = ""
    color: str = ""
    image: str = ""
    properties: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_one_look(self) -> GivenPiece:
        if bool(self.image) == bool(self.shape and self.color):
            raise ValueError("expected a shape and a color, or an image")
        return self

    def piece(self, number: int) -> Piece:
        """Return the piece as the game knows it."""
        if self.image:
            return Piece(number, self.cell, properties=self.properties, image=self.image)
        return Piece(number, self.cell, self.shape.upper(), self.color.upper())


class MemoryAids(Part):
    """What stays on the screen of what was moved.

    ``stack``: how many pieces beside a bucket. ``numbers``: whether they bear the number of their
    removal. ``cells``: what is on an emptied cell, a shadow with its number, a tick, or nothing.
    ``attempts``: whether every attempt on the board is listed.
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
    """Points of a board: ``least + (most - least) / (1 + exp(slope (errors - 2)))``."""

    least: Annotated[float, Field(ge=0, le=1e6)] = 2.0
    most: Annotated[float, Field(ge=0, le=1e6)] = 10.0
    slope: Annotated[float, Field(gt=0, le=100)] = 1.5


class Mastery(Part):
    """The series ends at a streak of successes, or at a likelihood ratio, whichever comes first."""

    kind: Literal["mastery"] = "mastery"
    streak: _Count | None = None
    ratio: Annotated[float, Field(gt=1)] | None = None

    @model_validator(mode="after")
    def _ends_at_something(self) -> Mastery:
        if self.streak is None and self.ratio is None:
            raise ValueError("expected a streak or a ratio")
        return self


class Doubling(Part):
    """A streak doubles the points of the series, a longer one quadruples them and ends it."""

    kind: Literal["doubling"] = "doubling"
    x2: _Count = 5
    x4: _Count = 10


class Likelihood(Part):
    """A likelihood ratio doubles the points of the series, a higher one quadruples and ends it."""

    kind: Literal["likelihood"] = "likelihood"
    x2: Annotated[float, Field(gt=1)] = 1e3
    x4: Annotated[float, Field(gt=1)] = 1e6


class Bonus(Part):
    """From a board on, a player may start boards on a budget, which earn extra points together.

    ``activate_at`` counts boards from 1. A board's budget is its pieces times ``threshold``.
    """

    kind: Literal["bonus"] = "bonus"
    activate_at: _Count = 2
    boards: _Count = 1
    points: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    threshold: Annotated[float, Field(ge=1, le=100)] = 1.3


class BotAssist(Part):
    """Hints of a bot whose chance of a bad one begins at ``error_rate``, and halves each halftime.

    ``halftime`` counts attempts; with 0 no hint is bad. ``confidence``: whether it says how sure it
    is.
    """

    halftime: Annotated[float, Field(ge=0, le=1e9)] = 8.0
    error_rate: Annotated[float, Field(ge=0, le=1)] = 0.75
    confidence: bool = True


class PartnerPlan(Part):
    """A second player at the same boards, by turns: a bot, or another participant.

    ``play``: cooperative partners take turns attempt by attempt, and earn together; an adversary
    keeps the turn while moves are accepted, and each earns by own errors and own share of the
    pieces. ``bot`` says how well a bot plays. A participant waits ``wait_s`` seconds for another
    one, and ``idle_s`` for one whose turn it is; then it goes on ``otherwise``: alone, with a bot
    in the other's place, or not at all, with a code. ``chat``: whether the two may write to each
    other.
    """

    play: Play = "cooperative"
    kind: Literal["bot", "person"] = "person"
    bot: BotAssist = BotAssist()
    wait_s: Annotated[float, Field(ge=1, le=86400)] = 300.0
    idle_s: Annotated[float, Field(ge=1, le=86400)] = 300.0
    otherwise: Literal["alone", "bot", "leave"] = "alone"
    chat: bool = False

    @model_validator(mode="after")
    def _has_somebody_to_write_to(self) -> PartnerPlan:
        if self.chat and self.kind == "bot":
            raise ValueError("chat: a bot does not answer")
        return self


Incentive = Annotated[Mastery | Doubling | Likelihood | Bonus, Field(discriminator="kind")]


class SeriesTerms(Part):
    """How a series is played and paid, whatever the rule.

    ``given`` boards are dealt over and over, as listed or shuffled each time around. ``train`` and
    ``test`` are lines of rules: boards of which no piece, or at least one, meets a line. ``fixed``
    feedback marks pieces that cannot be moved, and lets nobody try them. Without a ``pick_cost``
    nothing comes of a piece that is dropped beside the buckets; with one it is a pick, which tells
    whether the piece can be moved and costs so many attempts. Giving up is offered at any time, or
    only between boards while at most ``give_up_at`` were played.

    Examples
    --------
    >>> SeriesTerms(incentive={"kind": "doubling", "x4": 8}).incentive.x2
    5
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
    incentive: Incentive | None = None
    guess: GuessMoment = "never"
    bot_assist: BotAssist | None = None
    partner: PartnerPlan | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> SeriesTerms:
        if self.train and self.test:
            raise ValueError("expected train or test, found both")
        if self.given and (self.train or self.test):
            raise ValueError("expected given boards or a condition for random ones, found both")
        if self.feedback == "fixed" and self.pick_cost is not None:
            raise ValueError("pick_cost: with fixed feedback nothing is left to be picked")
        if isinstance(self.incentive, Doubling | Likelihood) and self.incentive.x4 <= (
            self.incentive.x2
        ):
            raise ValueError("incentive: expected x4 above x2")
        if self.guess == "mastery" and not self.ends_early:
            raise ValueError("guess: expected an incentive that ends at mastery, found none")
        if self.partner is not None and isinstance(self.incentive, Bonus):
            raise ValueError("partner: a bonus is for one who plays alone")
        return self

    @property
    def ends_early(self) -> bool:
        """Whether mastery ends the series."""
        return isinstance(self.incentive, Mastery | Doubling | Likelihood)

    @property
    def needs_ratios(self) -> bool:
        """Whether the likelihood ratio of each success must be known."""
        incentive = self.incentive
        return isinstance(incentive, Likelihood) or (
            isinstance(incentive, Mastery) and incentive.ratio is not None
        )

    @property
    def bonus_boards(self) -> int:
        """How many boards may follow the main part."""
        return self.incentive.boards if isinstance(self.incentive, Bonus) else 0

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
    ``continues``: players see this series and the next one as one.

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
    continues: bool = False

    @model_validator(mode="after")
    def _boards_can_be_dealt(self) -> SeriesPlan:
        spec = self.spec()
        if self.continues and self.incentive is not None:
            raise ValueError("continues: expected no incentive before the last series of several")
        for number, board in enumerate(self.given_boards(), 1):
            try:
                board.codes(spec)
            except (GnomonError, ValueError) as error:
                raise ValueError(f"given board {number}: {error}") from None
        return self

    def spec(self) -> BoardSpec:
        """Return how boards are drawn; with given boards, what can lie on them."""
        if not self.given:
            return self.board.spec()
        pieces = [piece for board in self.given_boards() for piece in board.pieces]
        sizes = [len(board) for board in self.given]
        n_pieces = max(1, min(sizes)), max(1, *sizes)
        images = {piece.image: piece.properties or {} for piece in pieces if piece.image}
        crowded = any(len({p.cell for p in board}) < len(board) for board in self.given)
        if images:
            return BoardSpec(n_pieces, images=images, crowded=crowded)
        shapes = tuple(dict.fromkeys(str(piece.shape) for piece in pieces))
        colors = tuple(dict.fromkeys(str(piece.color) for piece in pieces))
        return BoardSpec(n_pieces, 0, 0, shapes, colors, crowded=crowded)

    def terms(self) -> SeriesTerms:
        """Return what a game needs to know of the series."""
        return SeriesTerms.model_validate(self.model_dump(include=set(SeriesTerms.model_fields)))
