"""Pieces that are pictures: which pictures there are, and what properties each has.

Below the folder ``shapes`` of the data, a folder of pictures holds a file ``properties.csv``: a
header line, whose first column is the name of the picture, and one picture a line. A composite
picture needs no file: its name says what it is (:mod:`gnomon.game.formats.composite_pictures`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gnomon.errors import GnomonError, shortened
from gnomon.game.formats.composite_pictures import PREFIX, composite_properties

__all__ = ["PicturePiece", "find_picture", "find_pictures"]


@dataclass(frozen=True, slots=True)
class PicturePiece:
    """A picture that a piece can be: its path below the folder of shapes, and its properties."""

    image: str
    properties: Mapping[str, str]


def find_pictures(shapes: Path, patterns: Iterable[str]) -> tuple[PicturePiece, ...]:
    """Return the pictures that any of the patterns names, sorted by path.

    Parameters
    ----------
    shapes : Path
        The folder of shapes.
    patterns : iterable of str
        Paths below it, with ``*`` for any name and ``**`` for any folders; and full names of
        composite pictures.

    Raises
    ------
    GnomonError
        A pattern names no picture, or a picture has no line in its ``properties.csv``.
    """
    found: set[str] = set()
    for pattern in patterns:
        if pattern.startswith(PREFIX):
            found.add(find_picture(shapes, pattern).image)
            continue
        _check_inside(pattern)
        try:
            matches = [p for p in shapes.glob(pattern.strip("/")) if _is_picture(p)]
        except (OSError, ValueError):  # a name that no file can have, or ** beside letters
            matches = []
        if not matches:
            raise GnomonError(f"{shapes}: no picture is called {shortened(pattern)!r}")
        found.update(p.relative_to(shapes).as_posix() for p in matches)
    return tuple(find_picture(shapes, image) for image in sorted(found))


def find_picture(shapes: Path, image: str) -> PicturePiece:
    """Return one picture by its path.

    Raises
    ------
    GnomonError
        The ``properties.csv`` of its folder cannot be read, or has no line for it; or the name is
        not that of a composite picture, though it begins so.
    """
    if image.startswith(PREFIX):
        return PicturePiece(image, composite_properties(image))
    _check_inside(image)
    place = PurePosixPath(image)
    table = shapes / str(place.parent).lstrip("/") / "properties.csv"
    rows = _properties(table)
    for name in (place.name, place.stem, image):
        if name in rows:
            return PicturePiece(image, rows[name])
    raise GnomonError(f"{table}: no line for the picture {place.name}")


def _check_inside(name: str) -> None:
    """Refuse a path that is not below the folder of shapes."""
    if not name.strip("/ ") or ".." in PurePosixPath(name).parts:
        raise GnomonError(f"{name!r}: expected the path of a picture below the folder of shapes")


def _is_picture(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() in (".png", ".svg", ".jpg", ".jpeg", ".gif")


def _properties(table: Path) -> dict[str, dict[str, str]]:
    """Read a ``properties.csv``; an empty field is a property that the picture does not have."""
    try:
        lines = table.read_text(encoding="utf-8-sig").splitlines()
        rows = list(csv.reader(line for line in lines if line.strip()))
    except (OSError, ValueError, csv.Error) as error:
        raise GnomonError(f"{table}: cannot read the properties of pictures: {error}") from None
    if not rows:
        raise GnomonError(f"{table}: expected a header line; the file is empty")
    header = [name.strip().lstrip("#") for name in rows[0]]
    properties = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise GnomonError(
                f"{table}, row {number}: expected {len(header)} fields, found {len(row)}"
            )
        values = {k: v.strip() for k, v in zip(header[1:], row[1:], strict=True) if v.strip()}
        properties[row[0].strip()] = values
    return properties
