"""Boards from files."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import GnomonError
from gohr import Board, Piece, read_board_file

PIECE = {"id": 3, "color": "red", "shape": "Star", "x": 2, "y": 6}


def write(path, *pieces, **fields):
    path.write_text(json.dumps({"value": list(pieces), **fields}))
    return path


def test_a_board_as_the_reference_writes_it(tmp_path):
    square = {"id": "7", "color": "BLUE", "shape": "SQUARE", "x": "6", "y": 1, "buckets": [0]}
    board = read_board_file(write(tmp_path / "b.json", PIECE, square, id=5, name="two"))
    assert board == Board((Piece(3, 32, "STAR", "RED"), Piece(7, 6, "SQUARE", "BLUE")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": 7}, "piece 2, field 'x': expected 1 to 6, found 7"),
        ({"y": 0}, "piece 2, field 'y': expected 1 to 6, found 0"),
        ({"x": None}, "piece 2, field 'x': expected 1 to 6, found nothing"),
        ({"x": 1.5}, "piece 2, field 'x': expected 1 to 6, found 1.5"),
        ({"x": True}, "piece 2, field 'x': expected 1 to 6, found true"),
        ({"id": -1}, "piece 2, field 'id': expected a number from 0, found -1"),
        ({"id": "a"}, "piece 2, field 'id': expected a number from 0, found \"a\""),
        ({"id": 3}, "piece 2, field 'id': 3 is another piece's already"),
        ({"color": " "}, "piece 2, field 'color': expected a name, found \" \""),
        ({"shape": 4}, "piece 2, field 'shape': expected a name, found 4"),
        ({"x": 2, "y": 6}, "piece 2: several pieces in cell 32"),
    ],
)
def test_fields_that_are_wrong(tmp_path, change, message):
    path = write(tmp_path / "b.json", PIECE, PIECE | {"id": 4, "x": 1} | change)
    with pytest.raises(GnomonError, match=re.escape(f"{path}, {message}")):
        read_board_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "expected JSON: "),
        (b"[]", "expected {.value.: .* with a list of pieces"),
        (b'{"value": []}', "with a list of pieces"),
        (b'{"value": [3]}', "piece 1: expected an object, found 3"),
        (b"\xff", "expected UTF-8 text, found byte 0xff at offset 0"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_files_that_are_no_boards(tmp_path, content, message):
    (tmp_path / "b.json").write_bytes(content)
    with pytest.raises(GnomonError, match=message):
        read_board_file(tmp_path / "b.json")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(GnomonError, match="cannot read this file: No such file"):
        read_board_file(tmp_path / "b.json")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_field_is_read_or_refused(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("boards") / "b.json"
    for name in ("id", "color", "shape", "x", "y"):
        write(path, PIECE | {name: value})
        error = None
        try:
            read_board_file(path)
        except GnomonError as raised:
            error = str(raised)
        assert error is None or (f"field {name!r}" in error and "\n" not in error)
