"""Pieces, boards, and the drawing of random boards.

The board has 6 x 6 cells. Column ``x`` runs from 1 at the left to 6 at the right, row ``y`` from 1
at the **bottom** to 6 at the top, and cell number ``pos = x + 6 (y - 1)`` from 1 at the bottom left
to 36 at the top right. Bucket 0 is at the top left; the others follow clockwise.

A board has two forms. :class:`Board` is the complete one, a tuple of :class:`Piece` records, which
the reference interpreter plays. The engine plays rows of 36 *codes*: 0 for an empty cell, else
``1 + shape * n_colors + color`` with indices into the palettes of a :class:`BoardSpec`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.errors import GnomonError, UnknownNameError, check_count, check_type, shortened
from gnomon.results import generator
from gnomon.text_files import read_text
from gohr.rules.syntax import COLORS as COLORS
from gohr.rules.syntax import N_CELLS as N_CELLS
from gohr.rules.syntax import SHAPES as SHAPES

# NumPy is imported where it is used: counting the trials of a run needs no arrays.
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

N_BUCKETS = 4

#: Row and column of each bucket, one step outside of the cells.
BUCKET_PLACES = ((7, 0), (7, 7), (0, 7), (0, 0))


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece on the board: a shape and a colour, or a set of named properties.

    Parameters
    ----------
    id : int
        Number of the piece on its board.
    pos : int
        Cell number, 1 to 36.
    shape, color : str or None
        Upper-case names; both None for a piece that is known by its properties.
    properties : mapping of str to str, optional
        Other properties; only the reference interpreter plays pieces that have them.
    """

    id: int
    pos: int
    shape: str | None = None
    color: str | None = None
    properties: Mapping[str, str] | None = None

    @property
    def x(self) -> int:
        """Column, 1 to 6 from the left."""
        return (self.pos - 1) % 6 + 1

    @property
    def y(self) -> int:
        """Row, 1 to 6 from the bottom."""
        return (self.pos - 1) // 6 + 1


@dataclass(frozen=True, slots=True)
class BoardSpec:
    """How boards are drawn: the number of pieces, shapes and colours on them.

    Each number is an inclusive range ``(least, most)`` from which every board draws its own value;
    a single integer ``k`` means ``(k, k)``. The default is the board of Pulick et al. (2022),
    section 5.1: nine pieces on which exactly four shapes and exactly four colours appear.

    Parameters
    ----------
    pieces : int or (int, int)
        Number of pieces, 1 to 36.
    shapes, colors : int or (int, int)
        Number of different shapes and colours that appear, at most the size of the palette and the
        least number of pieces. 0 sets no such condition: each piece draws from the whole palette.
    shape_palette, color_palette : tuple of str
        The names to draw from, made upper case. At most 255 combinations of the two.

    Raises
    ------
    ValueError
        If a number is outside its range, or a palette repeats a name.
    """

    pieces: tuple[int, int] = (9, 9)
    shapes: tuple[int, int] = (4, 4)
    colors: tuple[int, int] = (4, 4)
    shape_palette: tuple[str, ...] = SHAPES
    color_palette: tuple[str, ...] = COLORS

    def __init__(
        self,
        pieces: int | Sequence[int] = 9,
        shapes: int | Sequence[int] = 4,
        colors: int | Sequence[int] = 4,
        shape_palette: Sequence[str] = SHAPES,
        color_palette: Sequence[str] = COLORS,
    ) -> None:
        put = object.__setattr__
        put(self, "shape_palette", _palette("shape_palette", shape_palette))
        put(self, "color_palette", _palette("color_palette", color_palette))
        put(self, "pieces", _inclusive("pieces", pieces, 1, N_CELLS))
        for name, value, palette in [
            ("shapes", shapes, self.shape_palette),
            ("colors", colors, self.color_palette),
        ]:
            put(self, name, _inclusive(name, value, 0, min(self.pieces[0], len(palette))))
        if self.n_codes > 256:
            raise ValueError(
                f"expected at most 255 combinations of shape and color, found {self.n_codes - 1}"
            )

    @property
    def n_codes(self) -> int:
        """Number of codes of a cell, with 0 for an empty one."""
        return 1 + len(self.shape_palette) * len(self.color_palette)

    def record(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        return {name: list(value) for name, value in asdict(self).items()}

    def piece(self, number: int, pos: int, code: int) -> Piece:
        """Return the piece that a code represents."""
        shape, color = divmod(int(code) - 1, len(self.color_palette))
        return Piece(number, pos, self.shape_palette[shape], self.color_palette[color])

    def code(self, piece: Piece) -> int:
        """Return the code of a piece, 1 or more.

        Raises
        ------
        ValueError
            If its shape or colour is not in the palettes.
        """
        shape, color = piece.shape, piece.color
        if shape not in self.shape_palette or color not in self.color_palette:
            look = f"{piece.color} {piece.shape}"
            raise ValueError(f"board: piece {piece.id} ({look}) is not in the palettes")
        index = self.shape_palette.index(shape) * len(self.color_palette)
        return 1 + index + self.color_palette.index(color)


def _inclusive(name: str, value: int | Sequence[int], least: int, most: int) -> tuple[int, int]:
    """Read ``k`` or ``(low, high)`` as an inclusive range inside ``least..most``."""
    try:
        low, high = (value, value) if isinstance(value, int) else tuple(value)
    except (TypeError, ValueError):
        what = shortened(repr(value))
        raise ValueError(f"{name}: expected a number or (least, most), found {what}") from None
    if low > high:
        raise ValueError(f"{name}: expected (least, most), the lesser first, found {[low, high]}")
    if not least <= low <= high <= most:
        found = shortened(str(low if low == high else [low, high]))
        raise ValueError(f"{name}: expected between {least} and {most}, found {found}")
    return low, high


def _palette(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names in upper case, as in a piece."""
    upper = tuple(n.upper() for n in names)
    if not upper or len(set(upper)) < len(upper):
        raise ValueError(f"{name}: expected different names, found {list(names)}")
    return upper


def board_spec(board: BoardSpec | Mapping[str, Any] | None) -> BoardSpec:
    """Return a board spec given as one, by its fields, or not at all.

    Raises UnknownNameError for a field that there is not, and TypeError for anything else.
    """
    if isinstance(board, BoardSpec):
        return board
    if not isinstance(board, Mapping | None):
        raise TypeError(
            f"board: expected a BoardSpec or its fields, found {shortened(repr(board))}"
        )
    names = [field.name for field in fields(BoardSpec)]
    for name in board or {}:
        if name not in names:
            raise UnknownNameError("field of a board", str(name), names)
    return BoardSpec(**board or {})


#: The boards of the paper; every default that is a :class:`BoardSpec` is this one.
DEFAULT_SPEC = BoardSpec()


@dataclass(frozen=True, slots=True)
class Board:
    """A board before the first move: its pieces, by id. Cells may hold several ("crowded")."""

    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        """Refuse anything but pieces."""
        check_type("pieces", self.pieces, tuple, "a tuple of Piece")

    def __str__(self) -> str:
        looks = ((f"{piece.color} {piece.shape}".lower(), piece.pos) for piece in self.pieces)
        return ", ".join(f"{look} in cell {pos}" for look, pos in looks)

    @classmethod
    def from_codes(cls, codes: Iterable[int], spec: BoardSpec = DEFAULT_SPEC) -> Board:
        """Make a board from its codes; ids count from 0 in the order of the cells."""
        held = ((pos, code) for pos, code in enumerate(codes, 1) if code)
        return cls(tuple(spec.piece(number, *each) for number, each in enumerate(held)))

    def codes(self, spec: BoardSpec = DEFAULT_SPEC) -> npt.NDArray[np.uint8]:
        """Return the board as codes, shape (36,), dtype uint8.

        Raises
        ------
        ValueError
            If a piece lies in no cell, two pieces share one, or a piece is not a shape and a colour
            of the palettes.
        """
        import numpy as np

        codes = np.zeros(N_CELLS, dtype=np.uint8)
        for piece in self.pieces:
            if not 1 <= piece.pos <= N_CELLS:
                raise ValueError(f"board: expected a cell from 1 to 36, found {piece.pos}")
            code = spec.code(piece)
            if codes[piece.pos - 1]:
                raise ValueError(f"board: several pieces in cell {piece.pos}")
            codes[piece.pos - 1] = code
        return codes


def nearest_bucket(pos: int) -> int:
    """Return the bucket of the quadrant that holds a cell."""
    left, top = (pos - 1) % 6 < 3, (pos - 1) // 6 >= 3
    return (0 if left else 1) if top else (3 if left else 2)


def draw_boards(
    n_boards: int, spec: BoardSpec = DEFAULT_SPEC, *, rng: np.random.Generator | int = 0
) -> npt.NDArray[np.uint8]:
    """Draw random boards, with the distribution of the game's own generator.

    For each board: the numbers of pieces, shapes and colours are drawn uniformly from their ranges;
    that many cells without replacement; then shapes for all pieces and colours for all pieces, each
    as follows. With ``k = 0`` every piece draws from the whole palette. Otherwise every piece draws
    one of ``k`` classes, ``k`` pieces drawn without replacement are then set to the classes
    ``0..k-1``, so that each appears, and the classes are mapped to ``k`` names of the palette drawn
    without replacement. Shapes, colours and cells are independent of one another.

    Parameters
    ----------
    n_boards : int
        Number of boards.
    spec : BoardSpec
        Numbers of pieces, shapes and colours.
    rng : numpy.random.Generator or int
        The only source of randomness, or its seed. Drawing ``m`` and then ``n`` boards from one
        generator gives the same boards as drawing ``m + n``.

    Returns
    -------
    numpy.ndarray of uint8, shape (n_boards, 36)
        A row of codes for each board.

    Raises
    ------
    ValueError
        If `n_boards` is below 0.

    Examples
    --------
    >>> boards = draw_boards(3, rng=1)
    >>> boards.shape, (boards > 0).sum(axis=1).tolist()
    ((3, 36), [9, 9, 9])
    """
    import numpy as np

    from gohr.board_kernel import compiled_deal, deal

    check_count("n_boards", n_boards, 0)
    check_type("spec", spec, BoardSpec, "a BoardSpec")
    boards = np.zeros((n_boards, N_CELLS), dtype=np.uint8)
    numbers = np.array(
        [
            *spec.pieces,
            *spec.shapes,
            *spec.colors,
            len(spec.shape_palette),
            len(spec.color_palette),
        ],
        dtype=np.int64,
    )
    width = 3 + 3 * spec.pieces[1] + 2 * (spec.shapes[1] + spec.colors[1])
    # A person's game needs few boards, for which loading Numba would not pay.
    most = 20 if "numba" in sys.modules else 1000
    fill = deal if n_boards <= most else compiled_deal()
    fill(generator(rng).random((n_boards, width)), numbers, boards)
    return boards


# -- boards from files -----------------------------------------------------------------------------


def read_board_file(path: str | Path) -> Board:
    """Read a board from a JSON file, as the reference game server writes and reads it.

    ::

        {"id": 0, "value": [{"id": 0, "color": "RED", "shape": "STAR", "x": 1, "y": 6}]}

    The pieces keep the order of the file, names come in upper case, and other fields are ignored.

    Raises GnomonError: the file cannot be read, a field is missing or not as expected, or two
    pieces share a cell; the message names the file, the piece (counted from 1) and the field.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "board.json"
    >>> piece = {"id": 0, "color": "RED", "shape": "STAR", "x": 1, "y": 6}
    >>> _ = file.write_text(json.dumps({"id": 0, "value": [piece]}))
    >>> read_board_file(file).pieces[0].shape
    'STAR'
    """
    path = Path(path)
    try:
        content = json.loads(read_text(path).removeprefix("\ufeff"))
    except RecursionError:
        raise GnomonError(f"{path}: expected a board; the JSON is nested too deeply") from None
    except ValueError as error:
        raise GnomonError(f"{path}: expected JSON: {error}") from None
    rows = content.get("value") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise GnomonError(f'{path}: expected {{"value": [...]}} with a list of pieces')
    pieces: list[Piece] = []
    for number, row in enumerate(rows, 1):
        where = f"{path}, piece {number}"
        if not isinstance(row, dict):
            raise GnomonError(f"{where}: expected an object, found {_shown(row)}")
        x, y = (_integer(row, name, 1, 6, where) for name in "xy")
        shape, color = (_name(row, name, where) for name in ("shape", "color"))
        piece_id = _integer(row, "id", 0, 2**31 - 1, where)
        piece = Piece(piece_id, x + 6 * (y - 1), shape, color)
        if any(other.id == piece.id for other in pieces):
            raise GnomonError(f"{where}, field 'id': {piece.id} is another piece's already")
        if any(other.pos == piece.pos for other in pieces):
            raise GnomonError(f"{where}: several pieces in cell {piece.pos}")
        pieces.append(piece)
    return Board(tuple(pieces))


def _integer(row: Mapping[str, Any], key: str, least: int, most: int, where: str) -> int:
    """Read a whole number; digits in a string will do, as in the reference's own files."""
    found = row.get(key)
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 12:
        found = int(found)
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
        expected = f"{least} to {most}" if most < 2**31 - 1 else f"a number from {least}"
        raise GnomonError(f"{where}, field {key!r}: expected {expected}, found {_shown(found)}")
    return found


def _name(row: Mapping[str, Any], key: str, where: str) -> str:
    found = row.get(key)
    if not isinstance(found, str) or not found.strip():
        raise GnomonError(f"{where}, field {key!r}: expected a name, found {_shown(found)}")
    return found.strip().upper()


def _shown(value: Any) -> str:
    """Return a description of the value found, short enough for one line."""
    return "nothing" if value is None else shortened(json.dumps(value))
