"""How boards are drawn, or given instead: a curriculum for all, or those of a recorded game."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gnomon.results import generator
from gohr.errors import ConfigError
from gohr.experiments.config.config_entries import Text
from gohr.experiments.config.field_errors import first_in_words
from gohr.game.board import N_CELLS, BoardSpec
from gohr.game.board_files import read_board_file

#: Order of the boards: reshuffled on each pass, by name, as listed.
BoardOrder = Literal["random", "alphabetical", "listed"]

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class PredefinedBoards:
    """A series of boards, dealt over and over in an order.

    Parameters
    ----------
    codes : tuple of bytes, each of 36
        The boards as the engine plays them, with the palettes of the experiment.
    order : {"listed", "alphabetical", "random"}
        ``random`` deals every board once, in an order of the trial's own, before any comes again.
        The alphabet has sorted the boards already.

    Examples
    --------
    >>> easy, hard = bytes([1] + [0] * 35), bytes([1] * 36)
    >>> series = PredefinedBoards((easy, hard), "listed")
    >>> (series.deal(3) > 0).sum(axis=1).tolist()
    [1, 36, 1]
    """

    codes: tuple[bytes, ...]
    order: BoardOrder = "listed"

    @classmethod
    def from_files(
        cls, files: Sequence[str], order: BoardOrder, spec: BoardSpec, *, base: Path
    ) -> PredefinedBoards:
        """Read board files, as the reference game server writes them, from the folder ``base``.

        Raises
        ------
        GnomonError
            A file cannot be read, or holds what an experiment cannot play: several pieces in one
            cell, or names that are not in the palettes.
        """
        names = (
            sorted(files, key=lambda name: Path(name).name) if order == "alphabetical" else files
        )
        return cls(tuple(_codes(base, name, spec) for name in names), order)

    @classmethod
    def from_record(cls, rows: Sequence[Sequence[int]], order: BoardOrder) -> PredefinedBoards:
        """Read the boards of a run folder's config; the inverse of :meth:`to_record`."""
        if not all(len(row) == N_CELLS and 0 <= min(row) <= max(row) < 256 for row in rows):
            raise ConfigError(f"field 'board', 'boards': expected {N_CELLS} codes for each board")
        return cls(tuple(map(bytes, rows)), order)

    def to_record(self) -> Mapping[str, Any]:
        """Return the boards and their order as JSON can hold them."""
        return {"boards": [list(board) for board in self.codes], "order": self.order}

    def deal(self, n_boards: int, *, rng: np.random.Generator | int = 0) -> npt.NDArray[np.uint8]:
        """Return the codes of a trial's boards, a row each; only ``random`` uses ``rng``."""
        import numpy as np

        n = len(self.codes)
        deck = np.frombuffer(b"".join(self.codes), dtype=np.uint8).reshape(n, -1)
        times = -(-n_boards // n)
        if self.order == "random":
            rng = generator(rng)
            order = np.concatenate([rng.permutation(n) for _ in range(times)])
        else:
            order = np.tile(np.arange(n), times)
        dealt: npt.NDArray[np.uint8] = deck[order[:n_boards]]
        return dealt


@dataclass(frozen=True)
class RecordedBoards:
    """The boards that were dealt in each trial of a recorded game, which nothing draws again.

    Parameters
    ----------
    tasks : tuple of (str, tuple of bytes)
        For each rule its name, and for each of its trials the boards as the engine plays them;
        empty for a trial that was not to be played.

    Examples
    --------
    >>> board = bytes([1] + [0] * 35)
    >>> made = RecordedBoards((("clockwise", (2 * board, b"")),))
    >>> len(made.of_trial("clockwise", 0).codes), len(made.of_trial("clockwise", 1).codes)
    (2, 0)
    >>> RecordedBoards.from_record(made.to_record()["trials"]) == made
    True
    """

    tasks: tuple[tuple[str, tuple[bytes, ...]], ...]

    @classmethod
    def from_record(cls, tasks: Mapping[str, Sequence[str]]) -> RecordedBoards:
        """Read the boards of a run folder's config; the inverse of :meth:`to_record`."""
        found = {name: tuple(_unpacked(text) for text in trials) for name, trials in tasks.items()}
        return cls(tuple(found.items()))

    def to_record(self) -> Mapping[str, Any]:
        """Return the boards as JSON can hold them: those of a trial are one text in base 64."""
        packed = {
            name: [base64.b64encode(boards).decode() for boards in trials]
            for name, trials in self.tasks
        }
        return {"trials": packed}

    def n_trials(self, rule: str) -> int:
        """Return the number of trials to be played on a rule."""
        return sum(map(bool, dict(self.tasks).get(rule, ())))

    def of_trial(self, rule: str, number: int) -> PredefinedBoards:
        """Return the boards of a trial, none if it was not to be played."""
        trials = dict(self.tasks).get(rule, ())
        boards = trials[number] if number < len(trials) else b""
        starts = range(0, len(boards), N_CELLS)
        return PredefinedBoards(tuple(boards[at : at + N_CELLS] for at in starts))


AnyBoards = PredefinedBoards | RecordedBoards
Palette = Annotated[list[Text], Field(min_length=1)]
_Whole = Annotated[int, Field(strict=True)]
RangeOrNumber = _Whole | Annotated[list[_Whole], Field(min_length=2, max_length=2)]


class BoardTable(BaseModel):
    """The table ``[board]``: how boards are drawn, or which are given."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    pieces: RangeOrNumber = 9
    shapes: RangeOrNumber = 4
    colors: RangeOrNumber = 4
    shape_palette: Palette | None = None
    color_palette: Palette | None = None
    files: Palette | None = None
    boards: Annotated[list[list[int]], Field(min_length=1)] | None = None
    trials: dict[str, list[str]] | None = None
    order: BoardOrder = "listed"


def read_boards(table: Mapping[str, Any], base: Path, *, trusted: bool) -> dict[str, Any]:
    """Return the fields ``board`` and ``predefined`` of an experiment with this table."""
    try:
        board = BoardTable.model_validate(dict(table))
    except ValidationError as errors:
        raise first_in_words(errors, "board") from None
    drawn = board.model_dump(exclude={"files", "boards", "trials", "order"}, exclude_none=True)
    if board.files is not None:
        if not trusted:
            raise ConfigError("field 'board': expected the boards themselves, not their files")
        for name in ("pieces", "shapes", "colors"):
            if name in board.model_fields_set:
                raise ConfigError(f"field 'board': expected 'files' or {name!r}, found both")
        drawn |= {"shapes": 0, "colors": 0}
    try:
        spec = BoardSpec(**drawn)
    except ValueError as error:
        raise ConfigError(f"field 'board', {error}") from None
    predefined: AnyBoards | None = None
    if board.trials is not None:
        predefined = RecordedBoards.from_record(board.trials)
    elif board.boards is not None:
        predefined = PredefinedBoards.from_record(board.boards, board.order)
    elif board.files is not None:
        predefined = PredefinedBoards.from_files(board.files, board.order, spec, base=base)
    elif "order" in board.model_fields_set:
        raise ConfigError("field 'board', 'order': there are no 'files' to put in order")
    return {"board": spec, "predefined": predefined}


def season_board_spec(board: Mapping[str, Any]) -> BoardSpec:
    """Return how the boards of a season are drawn, which may be predefined besides.

    Examples
    --------
    >>> season_board_spec({"pieces": [4, 6], "order": "random"}).pieces
    (4, 6)
    """
    names = ("pieces", "shapes", "colors", "shape_palette", "color_palette")
    return BoardSpec(**{name: board[name] for name in names if name in board})


def _unpacked(text: str) -> bytes:
    try:
        boards = base64.b64decode(text, validate=True)
    except ValueError:
        boards = b"?"
    if len(boards) % N_CELLS:
        raise ConfigError(
            f"field 'board', 'trials': expected {N_CELLS} bytes for each board, in base 64"
        )
    return boards


def _codes(base: Path, name: str, spec: BoardSpec) -> bytes:
    """Read one board, and check that an experiment can play it."""
    path = base / name
    try:
        return read_board_file(path).codes(spec).tobytes()
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None
