"""The words of the game for a language model: instructions, boards, attempts; answers read."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS, N_CELLS, Board, BoardSpec, Piece
from gohr.game.drawing import board_pixels, board_text
from gohr.game.instructions import INSTRUCTIONS, REPLIES, piece_words

ObservationForm: TypeAlias = Literal["pieces", "grid", "picture"]
AnswerForm: TypeAlias = Literal["line", "json"]

_SIDE = 6
_ASKED: Mapping[AnswerForm, str] = MappingProxyType(
    {
        "line": "You may think first. End your answer with one line of the form\n"
        "MOVE column row bucket",
        "json": 'Answer with a JSON object such as {"column": 1, "row": 6, "bucket": 0}.',
    }
)
#: The question for the rule.
RULE_QUESTION = (
    "What is the rule? Answer with its text in the rule language alone, as well "
    "as you can say it now. A rule set has rule lines. A line has atoms\n"
    "(count, shapes, colors, positions, buckets)\n"
    "side by side; a move is accepted if one atom of the line in force accepts it, and "
    "the next line is in force when that one is used up or accepts nothing that is left. count "
    "is how many moves an atom may accept before it is used up, or *. Shapes, colors, "
    "positions (cells 1 to 36, row by row from the bottom left) and buckets are *, a value, or "
    "a list such as [red,blue]; p in the place of a bucket is the last bucket, as in p+1."
)
_MOVE = re.compile(r"\bMOVE\W+(\d{1,3})\W+(\d{1,3})\W+(\d{1,3})\b", re.IGNORECASE)
_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_OBJECT = re.compile(r"\{[^{}]*\}")


def instructions(answer: AnswerForm) -> str:
    """Return the instructions, which a model gets before anything else.

    Examples
    --------
    >>> instructions("line").splitlines()[-1]
    'MOVE column row bucket'
    """
    said = [INSTRUCTIONS[name] for name in ("rule", "goal", "board", "accepted", "later")]
    asked = f"Name a piece by its column and row. {_ASKED[answer]}"
    return "\n".join([*said, f"The reply is yes, no or not now. {INSTRUCTIONS['replies']}", asked])


def board_words(codes: npt.NDArray[np.uint8], spec: BoardSpec, form: ObservationForm) -> str:
    """Return a board as text: a list of its pieces, a grid, or the text next to its picture.

    Examples
    --------
    >>> codes = np.eye(1, 36, 7, dtype=np.uint8)[0]
    >>> print(board_words(codes, BoardSpec(), "pieces"))
    column 2, row 2: red square
    """
    if form == "picture":
        return "The picture shows it: four gray buckets at the corners, and the pieces."
    if form == "grid":
        return board_text(codes, spec)
    pieces = Board.from_codes(codes.tolist(), spec).pieces
    return "\n".join(f"{place_words(piece)}: {piece_words(piece)}" for piece in pieces)


def place_words(piece: Piece) -> str:
    """Return where a piece lies."""
    return f"column {piece.x}, row {piece.y}"


def attempt_words(number: int, piece: Piece, bucket: int, outcome: int) -> str:
    """Return an attempt and its reply as a line of the memory, as the browser lists it.

    Examples
    --------
    >>> attempt_words(3, Piece(1, 8, "STAR", "RED"), 0, 4)
    '3. red star (column 2, row 2) → bucket 0: no'
    """
    what = f"{piece_words(piece)} ({place_words(piece)})"
    return f"{number}. {what} → bucket {bucket}: {REPLIES[outcome]}"


def read_move(said: str, form: AnswerForm) -> int | None:
    """Return the attempt that an answer names, ``4 * cell + bucket``; None if it names none.

    The last one counts; text between ``<think>`` and ``</think>`` is ignored. The presence of a
    piece is not checked.

    Examples
    --------
    >>> read_move("<think>MOVE 1 1 1</think> So: **move 2 2 0**", "line")
    28
    >>> read_move('{"column": 2, "row": 2, "bucket": 9}', "json")
    """
    found = list(_numbers(_THOUGHT.sub("", said), form))
    if not found:
        return None
    column, row, bucket = found[-1]
    if not (1 <= column <= _SIDE and 1 <= row <= _SIDE and 0 <= bucket < N_BUCKETS):
        return None
    return N_BUCKETS * (_SIDE * (row - 1) + column - 1) + bucket


def _numbers(said: str, form: AnswerForm) -> Iterator[tuple[int, int, int]]:
    """Yield column, row and bucket wherever an answer has them."""
    if form == "line":
        yield from ((int(x), int(y), int(b)) for x, y, b in _MOVE.findall(said))
        return
    for text in _OBJECT.findall(said):
        try:
            record = json.loads(text)
            move = record["column"], record["row"], record["bucket"]
        except (ValueError, KeyError):
            continue
        if all(type(number) is int for number in move):
            yield move


def board_png(codes: npt.NDArray[np.uint8], spec: BoardSpec) -> bytes:
    r"""Return the picture of a board as a PNG file of 256 by 256 pixels.

    Examples
    --------
    >>> board_png(np.zeros(36, dtype=np.uint8), BoardSpec())[:4]
    b'\x89PNG'
    """
    pixels = board_pixels(codes, spec)
    height, width, _ = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each behind its filter, none
    rows[:, 1:] = pixels.reshape(height, -1)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    body = name + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def piece_at(codes: npt.NDArray[np.uint8], cell: int, spec: BoardSpec) -> Piece | None:
    """Return the piece in a cell, counted from 0; None if there is none."""
    if not 0 <= cell < N_CELLS or not codes[cell]:
        return None
    shape, color = divmod(int(codes[cell]) - 1, len(spec.color_palette))
    return Piece(cell, cell + 1, spec.shape_palette[shape], spec.color_palette[color])
