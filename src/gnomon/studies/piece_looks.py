"""Drawings of pieces as SVG: shapes of one's own, cleaned, and composite pictures.

Nothing of a file reaches a page as it is: a shape is read, and only its geometry is written again.
Pictures are never part of a page, but shown by it, so that no script of theirs runs.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree

from gnomon.errors import ConfigError
from gnomon.game.board import BoardSpec
from gnomon.game.formats.picture_pieces import PREFIX, CompositeElement, composite_elements

#: What a browser draws without being told how.
DRAWN_SHAPES = ("SQUARE", "STAR", "CIRCLE", "TRIANGLE")
DRAWN_COLORS = (
    "RED", "BLACK", "BLUE", "YELLOW", "GREEN", "ORANGE", "PURPLE", "PINK", "WHITE", "GRAY",
)  # fmt: skip

_MOST_SHAPE_BYTES = 50_000
_MOST_ELEMENTS = 300
_NUMBERS = re.compile(r"[0-9eE+\-., \t\r\n%]*")
#: What is kept of a shape: elements, with the attributes that hold numbers.
_GEOMETRY = {
    "path": (), "polygon": (), "polyline": (), "g": (),
    "circle": ("cx", "cy", "r"),
    "ellipse": ("cx", "cy", "rx", "ry"),
    "rect": ("x", "y", "width", "height", "rx", "ry"),
    "line": ("x1", "y1", "x2", "y2"),
}  # fmt: skip
_TEXTS = {
    "d": re.compile(r"[0-9a-zA-Z+\-., \t\r\n]*"),
    "points": _NUMBERS,
    "transform": re.compile(r"(?:[a-zA-Z]+\([0-9eE+\-., \t\r\n]*\)[, \t\r\n]*)*"),
    "fill": re.compile(r"none"),
    "fill-rule": re.compile(r"evenodd|nonzero"),
}
#: Blue and black begin alike: the codes of IEC 60757, which electricians use.
COLOR_CODES = {
    "RED": "RD", "BLACK": "BK", "BLUE": "BU", "YELLOW": "YE", "GREEN": "GN", "ORANGE": "OG",
    "PURPLE": "PU", "PINK": "PK", "WHITE": "WH", "GRAY": "GY",
}  # fmt: skip
#: How a browser paints the letters of composite pictures, and what they are called.
COMPOSITE_COLORS = {
    "r": "RED", "g": "GREEN", "b": "BLUE", "y": "YELLOW", "k": "BLACK", "o": "ORANGE",
    "p": "PURPLE", "w": "WHITE",
}  # fmt: skip
COMPOSITE_SHAPES = {"q": "SQUARE", "s": "STAR", "c": "CIRCLE", "t": "TRIANGLE"}


def clean_shape(text: str, where: str) -> str:
    """Return the geometry of a shape as SVG that fills 100 x 100 units, and nothing else of it.

    Its colours are left out: a piece paints it. Texts, pictures, styles and scripts go.

    Raises
    ------
    ConfigError
        It is no SVG, has no size or no geometry, or more than 50 kB.

    Examples
    --------
    >>> drawn = clean_shape('<svg viewBox="0 0 9 9"><circle r="5" onclick="no()"/></svg>', "dot")
    >>> drawn.partition("<g")[2]
    ' stroke-width="0.355"><circle r="5"/></g></svg>'
    """
    if len(text.encode()) > _MOST_SHAPE_BYTES or "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ConfigError(f"{where}: expected an SVG of at most 50 kB without a document type")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ConfigError(f"{where}: expected an SVG: {error}") from None
    size = _view_box(root)
    parts = list(_geometry(root))
    if _local(root.tag) != "svg" or size is None or not parts:
        raise ConfigError(f"{where}: expected an SVG with a viewBox and shapes in it")
    if len(parts) > _MOST_ELEMENTS:
        raise ConfigError(f"{where}: expected at most {_MOST_ELEMENTS} elements")
    view = " ".join(f"{number:g}" for number in size)
    # The edge is as broad as that of the pieces that come with the game.
    edge = f"{3 * max(size[2:]) / 76:.3g}"
    box = f'<svg viewBox="{view}" x="12" y="12" width="76" height="76">'
    return f'{box}<g stroke-width="{edge}">{"".join(parts)}</g></svg>'


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _view_box(root: ElementTree.Element) -> tuple[float, float, float, float] | None:
    given = root.get("viewBox") or f"0 0 {root.get('width')} {root.get('height')}"
    try:
        numbers = [float(text.removesuffix("px")) for text in given.replace(",", " ").split()]
    except ValueError:
        return None
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)) or min(numbers[2:]) <= 0:
        return None
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _geometry(parent: ElementTree.Element) -> Iterator[str]:
    for element in parent:
        tag = _local(element.tag) if isinstance(element.tag, str) else ""
        if tag not in _GEOMETRY:
            continue
        attributes = "".join(_attributes(element, _GEOMETRY[tag]))
        if tag != "g":
            yield f"<{tag}{attributes}/>"
        elif inner := "".join(_geometry(element)):
            yield f"<g{attributes}>{inner}</g>"


def _attributes(element: ElementTree.Element, numbers: tuple[str, ...]) -> Iterator[str]:
    for name, pattern in {**dict.fromkeys(numbers, _NUMBERS), **_TEXTS}.items():
        value = element.get(name)
        if value is not None and pattern.fullmatch(value):
            yield f' {name}="{" ".join(value.split())}"'


# -- pictures --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DrawnElement:
    """An element of a composite picture where it lies, in units of which that has 100 x 100."""

    color: str
    shape: str
    x: float
    y: float
    side: float
    opacity: float


@dataclass(frozen=True, slots=True)
class ImageLook:
    """A piece that is a picture: what it is called, and its file's number or its elements."""

    label: str
    number: int
    elements: tuple[DrawnElement, ...] = ()


def color_codes(names: Iterable[str]) -> dict[str, str]:
    """Return two letters for each colour, no two alike.

    Colours that come with the game have those of IEC 60757, others the first letter and another one
    of their own, or a number.

    Examples
    --------
    >>> color_codes(["TEAL", "RED", "TEAK", "TAN", "TT"])
    {'RED': 'RD', 'TEAL': 'TE', 'TEAK': 'TA', 'TAN': 'TN', 'TT': 'TT'}
    """
    listed = list(dict.fromkeys(names))
    codes = {name: COLOR_CODES[name] for name in listed if name in COLOR_CODES}
    for name in listed:
        letters = re.sub(r"[^A-Z0-9]", "", name) or "?"
        ways = [letters[:1] + each for each in (*letters[1:], *"123456789")]
        ways += [f"{number:02}" for number in range(len(listed))]
        codes.setdefault(name, next(way for way in ways if way not in codes.values()))
    return codes


@dataclass(frozen=True, slots=True)
class PieceLooks:
    """How the pieces of a game look beyond what a browser draws anyway.

    Parameters
    ----------
    shapes : mapping of str to str
        SVG of 100 x 100 units for each shape of the study's own.
    colors : mapping of str to str
        ``#rrggbb`` for each colour of its own.
    images : mapping of str to ImageLook
        The pictures that pieces of this game can be.
    codes : mapping of str to str
        Two letters for each colour of this game.

    Examples
    --------
    >>> from gnomon.studies.languages import texts
    >>> spec = BoardSpec(images={"/composite/h2/rq/xx": {}})
    >>> PieceLooks.of({"color_values": {"TEAL": "#008080"}}, spec, texts("en")).labels
    {'/composite/h2/rq/xx': 'red square; nothing'}
    """

    shapes: Mapping[str, str]
    colors: Mapping[str, str]
    images: Mapping[str, ImageLook]
    codes: Mapping[str, str]

    @classmethod
    def of(cls, plan: Mapping[str, Any], spec: BoardSpec, words: Mapping[str, str]) -> PieceLooks:
        """Return the looks of a board of a study; ``words`` are the texts of its language."""
        drawn = {
            name: clean_shape(text, name)
            for name, text in plan.get("shape_files", {}).items()
            if name in spec.shape_palette
        }
        images = {
            name: ImageLook(image_label(name, properties, words), number, composite_drawing(name))
            for number, (name, properties) in enumerate(spec.images.items())
        }
        codes = color_codes(spec.color_palette)
        return cls(drawn, plan.get("color_values", {}), images, codes)

    @property
    def labels(self) -> dict[str, str]:
        """What each picture is called."""
        return {name: look.label for name, look in self.images.items()}


def image_content(address: str) -> tuple[str, bytes]:
    r"""Return the media type and the bytes of a picture from its data address.

    Examples
    --------
    >>> image_content("data:image/png;base64,iVBORw==")
    ('image/png', b'\x89PNG')
    """
    kind, _, content = address.removeprefix("data:").partition(";base64,")
    return kind, base64.b64decode(content)


def composite_drawing(name: str) -> tuple[DrawnElement, ...]:
    """Return the elements of a composite picture that are not empty; none of any other.

    Examples
    --------
    >>> composite_drawing("/composite/h2/rq/xx")
    (DrawnElement(color='RED', shape='SQUARE', x=0.0, y=25.0, side=50.0, opacity=1.0),)
    """
    if not name.startswith(PREFIX):
        return ()
    elements, rows, columns = composite_elements(name)
    place = 100 / max(rows, columns)
    left, top = (100 - columns * place) / 2, (100 - rows * place) / 2
    drawn = []
    for index, element in enumerate(elements):
        if element.shape == "x":
            continue
        row, column = divmod(index, columns)
        side = place * element.side
        x, y = (
            round(start + each * place + (place - side) / 2, 2)
            for start, each in ((left, column), (top, row))
        )
        color = COMPOSITE_COLORS.get(element.color, "OTHER")
        shape = COMPOSITE_SHAPES.get(element.shape, "OTHER")
        drawn.append(DrawnElement(color, shape, x, y, round(side, 2), element.opacity))
    return tuple(drawn)


def image_label(image: str, properties: Mapping[str, str], words: Mapping[str, str]) -> str:
    """Return what a picture is called: its property ``label``, its elements, or its file's name.

    Parameters
    ----------
    image : str
        Its path, or the name of a composite picture.
    properties : mapping
        Its properties.
    words : mapping
        Texts of a language.

    Examples
    --------
    >>> from gnomon.studies.languages import texts
    >>> image_label("vm/black-cat.png", {"species": "cat"}, texts("en"))
    'black cat'
    >>> image_label("/composite/v2/d=13/gs/rq", {}, texts("en"))
    'small green star; red square'
    """
    if "label" in properties:
        return properties["label"]
    if not image.startswith(PREFIX):
        return " ".join(re.split(r"[-_ ]+", PurePosixPath(image).stem))
    elements, _, _ = composite_elements(image)
    return "; ".join(_element_words(each, words) for each in elements)


def _element_words(element: CompositeElement, words: Mapping[str, str]) -> str:
    if element.shape == "x":
        return words["empty_place"]
    color, shape = COMPOSITE_COLORS.get(element.color), COMPOSITE_SHAPES.get(element.shape)
    piece = words["piece_name"].format(
        color=words.get(color or "", element.color), shape=words.get(shape or "", element.shape)
    )
    sizes = {0.6: words["small_piece"], 0.8: words["middle_piece"]}
    paints = {0.15: words["faint_piece"], 0.4: words["pale_piece"]}
    for pattern in (paints.get(element.opacity), sizes.get(element.side)):
        piece = pattern.format(piece=piece) if pattern else piece
    return piece
