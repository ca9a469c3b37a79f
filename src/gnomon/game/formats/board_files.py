"""Boards from files: the reference's board JSON, alone or as a series in a given order."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from gnomon._io.text_file import read_text
from gnomon.errors import GnomonError, UnknownNameError
from gnomon.game.board import Board, Piece
from gnomon.game.formats.board_source import Deal
from gnomon.game.formats.picture_pieces import find_picture

#: In which order the files of a series come: shuffled anew each time around, by name, as listed.
BoardOrder = Literal["random", "alphabetical", "listed"]

#: What trial lists call two of them.
_ORDERS: dict[str, BoardOrder] = {"random": "random", "alpha": "alphabetical"}


def read_board_file(path: str | Path, *, shapes: Path | None = None) -> Deal:
    """Read a board from a JSON file, as the reference game server writes and reads it.

    ::

        {"id": 0, "value": [{"id": 0, "color": "RED", "shape": "STAR", "x": 1, "y": 6}]}

    Pieces with an ``image`` in place of shape and colour need the folder of pictures, ``shapes``.
    The pieces keep the order of the file, names come in upper case, two may share a cell, and
    fields with other names are not looked at.

    Raises GnomonError: the file cannot be read, or a field is missing or not what it should be; the
    message names the file, the piece (counted from 1) and the field.
    """
    path = Path(path)
    content = _read_json(path)
    rows = content.get("value") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise GnomonError(f'{path}: expected {{"value": [...]}} with a list of pieces')
    pieces: list[Piece] = []
    for number, row in enumerate(rows, 1):
        where = f"{path}, piece {number}"
        if not isinstance(row, dict):
            raise GnomonError(f"{where}: expected an object, found {_shown(row)}")
        piece = _piece(row, where, shapes)
        if any(other.id == piece.id for other in pieces):
            raise GnomonError(f"{where}, field 'id': {piece.id} is another piece's already")
        pieces.append(piece)
    return Deal(Board(tuple(pieces)), labelled=True)


def read_board_list(path: str | Path) -> list[str]:
    """Read the names of boards from a CSV file: one a line or several, ``#`` begins a comment.

    Raises GnomonError: the file cannot be read, or names no board.
    """
    path = Path(path)
    lines = [line for line in _text_of(path).splitlines() if not line.lstrip().startswith("#")]
    names = [name.strip() for line in lines for name in line.split(",") if name.strip()]
    if not names:
        raise GnomonError(f"{path}: expected names of board files; found none")
    return names


class BoardFiles:
    """A series of boards from files, over and over.

    Raises GnomonError: as :func:`read_board_file`; or there is no file.

    Parameters
    ----------
    paths : sequence of path
        The files, at least one. All are read at once, so that an error shows before a game begins.
    order : {'random', 'alphabetical', 'listed'}
        ``random`` deals every board once, in random order, before any comes again;
        ``alphabetical`` goes by file name; ``listed`` takes the files as they are given.
    draw : callable, optional
        From a bound to a random number below it; for ``random`` only. With a NumPy generator:
        ``lambda bound: int(rng.integers(bound))``.
    shapes : Path, optional
        The folder of pictures.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        order: BoardOrder = "listed",
        *,
        draw: Callable[[int], int] | None = None,
        shapes: Path | None = None,
    ) -> None:
        if order not in get_args(BoardOrder):
            raise UnknownNameError("order of boards", order, get_args(BoardOrder))
        if not paths:
            raise GnomonError("expected at least one board file")
        if order == "alphabetical":
            paths = sorted(paths, key=lambda path: Path(path).name)
        self._deals = [read_board_file(path, shapes=shapes) for path in paths]
        self._series = self._shuffled(draw) if order == "random" else itertools.cycle(self._deals)
        self.testing = False

    @classmethod
    def of_folder(
        cls,
        folder: Path,
        order: str,
        *,
        draw: Callable[[int], int],
        shapes: Path | None = None,
    ) -> BoardFiles:
        """Deal the boards of a folder in an order as trial lists give it.

        ``order`` is ``random``, ``alpha``, or the name of a file in the folder or beside it that
        lists names of boards, with or without ``.json``.

        Raises GnomonError: there is no such folder, file or board.
        """
        if not folder.is_dir():
            raise GnomonError(f"{folder}: expected a folder of boards; there is none")
        if not order.endswith(".csv"):
            if order not in _ORDERS:
                raise GnomonError(f"expected random, alpha or a .csv file, found {order!r}")
            # Sorted, for a file system lists them in any order, and a seed should tell all.
            paths = sorted(folder.glob("*.json"))
            return cls(paths, _ORDERS[order], draw=draw, shapes=shapes)
        places = [folder / order, folder.parent / order]
        table = next((place for place in places if place.is_file()), places[0])
        names = [n if n.endswith(".json") else f"{n}.json" for n in read_board_list(table)]
        return cls([folder / name for name in names], "listed", shapes=shapes)

    def _shuffled(self, draw: Callable[[int], int] | None) -> Iterator[Deal]:
        if draw is None:
            raise ValueError("expected draw for a random order of boards")
        while True:
            left = list(self._deals)
            while left:
                yield left.pop(draw(len(left)))

    @property
    def can_test(self) -> bool:
        """False: the boards are what they are."""
        return False

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces of all boards."""
        return tuple(piece for deal in self._deals for piece in deal.board.pieces)

    @property
    def shapes(self) -> tuple[str, ...]:
        """The shapes on all boards, in the order of their first piece."""
        return tuple(dict.fromkeys(piece.shape for piece in self.pieces if piece.shape))

    @property
    def colors(self) -> tuple[str, ...]:
        """The colours on all boards, likewise."""
        return tuple(dict.fromkeys(piece.color for piece in self.pieces if piece.color))

    @property
    def crowded(self) -> bool:
        """Whether on some board two pieces share a cell."""
        cells = [[piece.pos for piece in deal.board.pieces] for deal in self._deals]
        return any(len(set(each)) < len(each) for each in cells)

    def deal(self) -> Deal:
        """Return the next board."""
        return next(self._series)


def _piece(row: Mapping[str, Any], where: str, shapes: Path | None) -> Piece:
    number = _integer(row, "id", 0, 2**31 - 1, where)
    pos = _integer(row, "x", 1, 6, where) + 6 * (_integer(row, "y", 1, 6, where) - 1)
    if "image" not in row:
        return Piece(number, pos, _name(row, "shape", where), _name(row, "color", where))
    image = _text(row, "image", where)
    if shapes is None:
        raise GnomonError(f"{where}, field 'image': there is no folder of pictures to look in")
    found = find_picture(shapes, image)
    return Piece(number, pos, properties=found.properties, image=image)


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
    return _text(row, key, where).upper()


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    found = row.get(key)
    if not isinstance(found, str) or not found.strip():
        raise GnomonError(f"{where}, field {key!r}: expected a name, found {_shown(found)}")
    return found.strip()


def _shown(value: Any) -> str:
    """Return what was found, short enough for one line."""
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _read_json(path: Path) -> Any:
    try:
        return json.loads(_text_of(path))
    except RecursionError:
        raise GnomonError(f"{path}: expected a board; the JSON is nested too deeply") from None
    except ValueError as error:
        raise GnomonError(f"{path}: expected JSON: {error}") from None


def _text_of(path: Path) -> str:
    return read_text(path).removeprefix("\ufeff")
