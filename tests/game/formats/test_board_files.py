"""Boards from files, and their orders."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.errors import GnomonError, UnknownNameError
from gnomon.game import Board, Piece
from gnomon.game.formats.board_files import BoardFiles, read_board_file, read_board_list
from gnomon.game.seeded_boards import JavaRandom

PIECE = {"id": 3, "color": "red", "shape": "Star", "x": 2, "y": 6}


def write(path, *pieces, **fields):
    path.write_text(json.dumps({"value": list(pieces), **fields}))
    return path


def test_a_board_as_the_reference_writes_it(tmp_path):
    square = {"id": "7", "color": "BLUE", "shape": "SQUARE", "x": "6", "y": 1, "buckets": [0]}
    deal = read_board_file(write(tmp_path / "b.json", PIECE, square, id=5, name="two"))
    assert deal.board == Board((Piece(3, 32, "STAR", "RED"), Piece(7, 6, "SQUARE", "BLUE")))
    assert deal.labelled


def test_two_pieces_may_share_a_cell(tmp_path):
    path = write(tmp_path / "b.json", PIECE, PIECE | {"id": 4})
    assert BoardFiles([path]).crowded
    assert not BoardFiles([write(tmp_path / "c.json", PIECE)]).crowded


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
        ({"image": "a.png"}, "piece 2, field 'image': there is no folder of pictures"),
    ],
)
def test_fields_that_are_wrong(tmp_path, change, message):
    path = write(tmp_path / "b.json", PIECE, PIECE | {"id": 4} | change)
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
    for name in ("id", "color", "shape", "x", "y", "image"):
        write(path, PIECE | {name: value})
        error = None
        try:
            read_board_file(path)
        except GnomonError as raised:
            error = str(raised)
        assert error is None or (f"field {name!r}" in error and "\n" not in error)


@pytest.fixture
def folder(tmp_path):
    for x, name in enumerate("cab", 1):
        write(tmp_path / f"{name}.json", PIECE | {"x": x})
    return tmp_path


def columns(boards, n):
    return [boards.deal().board.pieces[0].x for _ in range(n)]


def test_orders(folder):
    paths = [folder / f"{name}.json" for name in "cab"]
    assert columns(BoardFiles(paths), 5) == [1, 2, 3, 1, 2]
    assert columns(BoardFiles(paths, "alphabetical"), 5) == [2, 3, 1, 2, 3]
    with pytest.raises(UnknownNameError, match="unknown order of boards 'alpha'"):
        BoardFiles(paths, "alpha")
    with pytest.raises(ValueError, match="expected draw"):
        BoardFiles(paths, "random").deal()
    with pytest.raises(GnomonError, match="at least one board file"):
        BoardFiles([])


def test_random_order_is_a_permutation_each_time_around(folder):
    paths = [folder / f"{name}.json" for name in "cab"]
    rng = np.random.default_rng(0)
    for draw in (JavaRandom(1).next_int, lambda bound: int(rng.integers(bound))):
        boards = BoardFiles(paths, "random", draw=draw)
        rounds = [tuple(columns(boards, 3)) for _ in range(600)]
        assert all(sorted(each) == [1, 2, 3] for each in rounds)
        counts = Counter(rounds)
        assert len(counts) == 6
        assert max(counts.values()) < 150


def test_a_seed_gives_the_same_boards_however_the_file_system_lists_them(folder, monkeypatch):
    def drawn() -> list[int]:
        draw = JavaRandom(3).next_int
        return columns(BoardFiles.of_folder(folder, "random", draw=draw), 30)

    found = drawn()
    glob = Path.glob
    monkeypatch.setattr(Path, "glob", lambda path, name: sorted(glob(path, name))[::-1])
    assert drawn() == found


def test_orders_of_a_folder(folder):
    (folder / "list.csv").write_text("# first\nb, b\n\nc.json\n")
    draw = JavaRandom(0).next_int
    assert columns(BoardFiles.of_folder(folder, "alpha", draw=draw), 4) == [2, 3, 1, 2]
    assert columns(BoardFiles.of_folder(folder, "list.csv", draw=draw), 4) == [3, 3, 1, 3]
    assert sorted(columns(BoardFiles.of_folder(folder, "random", draw=draw), 3)) == [1, 2, 3]
    for order, message in {
        "zeta": "expected random, alpha or a .csv file, found 'zeta'",
        "no.csv": "no.csv: cannot read this file",
    }.items():
        with pytest.raises(GnomonError, match=message):
            BoardFiles.of_folder(folder, order, draw=draw)
    (folder / "list.csv").write_text("z\n")
    with pytest.raises(GnomonError, match=r"z.json: cannot read this file"):
        BoardFiles.of_folder(folder, "list.csv", draw=draw)
    (folder / "empty.csv").write_text("# nothing\n")
    with pytest.raises(GnomonError, match="expected names of board files; found none"):
        read_board_list(folder / "empty.csv")
