"""Pieces that are pictures: which pictures there are, and what properties each has.

Below the folder ``shapes`` of the data, a folder of pictures holds a file ``properties.csv``: a
header line, whose first column is the name of the picture, and one picture a line.

A composite picture needs no file: its name says what is drawn, and the properties follow from it.
``/composite/v2/d=11/b=12/gs/rq`` is a column of two elements, small ones (``d``), the first pale
(``b``): a green star and a red square. The grammar and the properties are those of the 186
different composite pieces in the recorded episodes of the reference system, which
:func:`composite_properties` gives back to the last digit.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gnomon.errors import GnomonError, shortened

#: What the names of composite pictures begin with.
PREFIX = "/composite/"

_HEAD = re.compile(r"(?:([hv])([1-9])|g([1-9])([1-9]))")
_DIGITS = re.compile(r"([db])=([1-3]+)")
_ELEMENT = re.compile(r"[a-z][a-z]")
_EMPTY = "x"

#: Of a board, as a cell is a byte.
_MOST_PICTURES = 255

#: The share of a full cell that an element of size 1, 2, 3 covers: the square of 0.6, 0.8, 1.
_AREA = {"1": 36, "2": 64, "3": 100}

#: How strongly an element of brightness 1, 2, 3 is painted, in per cent. The recorded opacities
#: leave 14.75 to 15.5 for the first and 39.25 to 40.75 for the second.
_PAINT = {"1": 15, "2": 40, "3": 100}


def composite_properties(name: str) -> Mapping[str, str]:
    """Return the properties of a composite picture.

    Raises GnomonError: the name is not of this form; a pattern is not, see
    :func:`composite_names`.

    Parameters
    ----------
    name : str
        ``/composite/HEAD[/d=SIZES][/b=BRIGHTNESSES]/ELEMENT/...``: the head is ``h`` or ``v`` and
        the number of elements in a row or column, or ``g`` and the numbers of rows and columns of
        a grid; sizes and brightnesses are a digit an element from 1 to 3, and 3 where they are not
        given; an element is a letter for its colour and one for its shape, ``x`` for an empty cell.

    Returns
    -------
    mapping of str to str
        ``c``, ``s``, ``d``, ``b``: colours, shapes, sizes, brightnesses, a character an element;
        ``d_order``, ``b_order``: 0 all equal, 1 never falling, -1 never rising, 2 neither;
        ``samecolor``, ``sameshape``; ``occupied``: number of elements that are not empty;
        ``opacity``: painted share of the picture in whole per cent, rounded down;
        ``orientation``; ``trans_h``, ``trans_v``: 1 if a row or a column stays the same when it is
        mirrored left to right, top to bottom; ``trans_asc``, ``trans_desc``: 1 for all rows and
        columns; all four 0 for all grids, as recorded; ``name``.
    """
    head, sizes, paints, elements = _read(name)
    colors = "".join(element[0] for element in elements)
    shapes = "".join(element[1] for element in elements)
    there = [shape != _EMPTY for shape in shapes]
    painted = sum(
        _AREA[size] * _PAINT[paint] * is_there
        for size, paint, is_there in zip(sizes, paints, there, strict=True)
    )
    looks = list(zip(elements, sizes, paints, strict=True))
    return {
        "b": paints,
        "b_order": _order(paints),
        "c": colors,
        "d": sizes,
        "d_order": _order(sizes),
        "name": name,
        "occupied": str(sum(there)),
        "opacity": str(painted // (100 * len(elements))),
        "orientation": head[0],
        "s": shapes,
        "samecolor": _flag(len(set(colors)) == 1),
        "sameshape": _flag(len(set(shapes)) == 1),
        **_symmetries(head[0], looks),
    }


@dataclass(frozen=True, slots=True)
class CompositeElement:
    """An element of a composite picture, as it is drawn.

    ``color`` and ``shape`` are letters, ``x`` for an empty place; ``side`` is the share of the side
    of its place that it fills, and ``opacity`` how strongly it is painted.
    """

    color: str
    shape: str
    side: float
    opacity: float


def composite_elements(name: str) -> tuple[list[CompositeElement], int, int]:
    """Return the elements of a composite picture, row by row, and the numbers of rows and columns.

    Raises GnomonError: as :func:`composite_properties`.

    Examples
    --------
    >>> composite_elements("/composite/v2/d=13/gs/rq")[0][0]
    CompositeElement(color='g', shape='s', side=0.6, opacity=1.0)
    """
    head, sizes, paints, looks = _read(name)
    elements = [
        CompositeElement(look[0], look[1], math.sqrt(_AREA[size]) / 10, _PAINT[paint] / 100)
        for look, size, paint in zip(looks, sizes, paints, strict=True)
    ]
    rows, columns = {"h": (1, len(looks)), "v": (len(looks), 1)}.get(head[0], (0, 0))
    return elements, rows or int(head[1]), columns or int(head[2])


def composite_names(pattern: str, most: int) -> list[str]:
    """Return the names of the composite pictures that a pattern stands for, sorted.

    A ``?`` is any of what can stand in its place: ``h`` or ``v`` before a number of elements, ``g``
    before two; 1, 2 or 3 of sizes and brightnesses; of elements the colours ``r``, ``g`` and ``b``
    and the shapes ``q``, ``s``, ``c`` and ``t``, which are those of the recorded pieces. Of more
    than ``most`` names so many are drawn, from a generator whose seed is the pattern.

    Raises GnomonError: as :func:`composite_properties`.

    Examples
    --------
    >>> composite_names("/composite/?1/d=?/rq", 255)[::5]
    ['/composite/h1/d=1/rq', '/composite/v1/d=3/rq']
    >>> len(composite_names("/composite/g33/??/??/??/??/??/??/??/??/??", 255))
    255
    """
    import numpy as np  # which only this needs, and commands that start at once do not load

    head, *parts = pattern.removeprefix(PREFIX).split("/")
    heads = ("hv" if len(head) == 2 else "g") if head[:1] == "?" else head[:1]
    places = [heads, *head[1:]]
    for part in parts:
        kinds = ["d", "=", *["123"] * (len(part) - 2)] if "=" in part else ["rgb", "qsct"]
        known = zip(part, [*kinds, *part], strict=False)
        places += ["/", *(kind if letter == "?" else letter for letter, kind in known)]
    if math.prod(map(len, places)) <= most:
        found = {PREFIX + "".join(letters) for letters in itertools.product(*places)}
    else:
        rng = np.random.default_rng(list(pattern.encode()))
        found = set()
        while len(found) < most:
            found.add(PREFIX + "".join(each[rng.integers(len(each))] for each in places))
    names = sorted(found)
    _read(names[0])
    return names


def _read(name: str) -> tuple[str, str, str, list[str]]:
    """Return the head, the sizes, the brightnesses and the elements that a name tells."""
    head, *parts = name.removeprefix(PREFIX).split("/")
    match = _HEAD.fullmatch(head)
    if match is None or not name.startswith(PREFIX):
        raise _error(name, "h or v and a number, or g and two numbers", head)
    line, rows, columns = match.group(2), match.group(3), match.group(4)
    n = int(line) if line else int(rows) * int(columns)
    digits = {"d": "3" * n, "b": "3" * n}
    while parts and (given := _DIGITS.fullmatch(parts[0])):
        if len(given.group(2)) != n:
            raise _error(name, f"{n} digits", parts[0])
        digits[given.group(1)] = given.group(2)
        parts.pop(0)
    if len(parts) != n:
        raise _error(name, f"{n} elements", str(len(parts)))
    for part in parts:
        if not _ELEMENT.fullmatch(part):
            raise _error(name, "a letter for a colour and one for a shape", part)
    return head, digits["d"], digits["b"], parts


def _error(name: str, expected: str, found: str) -> GnomonError:
    return GnomonError(f"{name[:80]}: expected {expected} in a composite picture, found {found!r}")


def _order(digits: str) -> str:
    """Return how the digits run."""
    if len(set(digits)) == 1:
        return "0"
    rising = sorted(digits)
    return "1" if list(digits) == rising else "-1" if list(digits) == rising[::-1] else "2"


def _symmetries(kind: str, looks: Sequence[tuple[str, str, str]]) -> Mapping[str, str]:
    """Return whether each mirror leaves the picture as it is, as the reference has it."""
    if kind == "g":  # ⚠ all 79 recorded grids say 0, three of which are symmetrical
        return dict.fromkeys(("trans_asc", "trans_desc", "trans_h", "trans_v"), "0")
    along = _flag(list(looks) == list(looks)[::-1])
    return {
        "trans_asc": "1",  # ⚠ whatever the elements
        "trans_desc": "1",
        "trans_h": along if kind == "h" else "1",
        "trans_v": along if kind == "v" else "1",
    }


def _flag(value: bool) -> str:
    return "1" if value else "0"


@dataclass(frozen=True, slots=True)
class PicturePiece:
    """A picture that a piece can be: its path below the folder of shapes, and its properties."""

    image: str
    properties: Mapping[str, str]


def find_pictures(shapes: Path, patterns: Iterable[str]) -> tuple[PicturePiece, ...]:
    """Return the pictures that any of the patterns names, sorted by path.

    Patterns are paths below ``shapes``, with ``*`` for any name and ``**`` for any folders; and
    names of composite pictures, or patterns of them, of :func:`composite_names`.

    Raises GnomonError: a pattern names no picture, or a picture has no line in its
    ``properties.csv``.
    """
    found: set[str] = set()
    patterns = list(patterns)
    for pattern in patterns:
        if pattern.startswith(PREFIX):
            # A board has at most so many, whatever the other patterns stand for.
            found.update(composite_names(pattern, max(1, _MOST_PICTURES // len(patterns))))
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

    Raises GnomonError: the ``properties.csv`` of its folder cannot be read, or has no line for it;
    or the name is not that of a composite picture, though it begins so.
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
