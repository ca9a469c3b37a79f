"""Arguments and options of the captive server, and the files that they name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captive_play import CLOCKWISE, session_of
from gnomon.errors import GnomonError
from gohr.captive_server import open_session


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Some data in a folder, and another folder to be in."""
    for name, text in {
        "data/rules/x/cw.txt": CLOCKWISE,
        "data/boards/set/a.json": one_piece(1),
        "data/cond/left.txt": "(pos:[1,7,13,19,25,31])",
        "here/rule.txt": "(*,*,*,*,0)",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def one_piece(x: int) -> str:
    piece = {"id": 0, "color": "RED", "shape": "STAR", "x": x, "y": 1}
    return json.dumps({"value": [piece]})


def pieces(arguments: str, n_boards: int = 1) -> list[list[dict]]:
    """Return the pieces of the first boards."""
    session = session_of("output=BRIEF", "seed=9", *arguments.split())
    boards = [session.start(), *(session.answer("NEW") for _ in range(n_boards - 1))]
    return [json.loads(lines[2])["value"] for lines in boards]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "expected RULE N .* found nothing"),
        ("a 3 ouput=BRIEF", "unknown option 'ouput'; did you mean 'output'"),
        ("a 3 output=brief", "output=: expected BRIEF, STANDARD or FULL, found 'brief'"),
        ("a 3 seed=x", "seed=: expected a number, found 'x'"),
        ("a 3 seed= 4", "seed=: expected a number, found ''"),
        ("a 3 reveal=yes", "reveal=: expected true or false, found 'yes'"),
        ("a 3 crowded=true", "unknown option 'crowded'"),
        ("a 3 log=f", "a result file needs log.nickname="),
        ("a 3 log=f log.nickname=me", "a result file needs log.run="),
        ("a 3 log=f log.nickname=me log.run=-1", "log.run=: expected a number from 0, found '-1'"),
        ("a 3 log=f log.nickname=a,b log.run=1", "log.nickname=: expected .* found 'a,b'"),
        ("a 3 log=f logappend=f", "expected log= or logappend=, found both"),
        ("a 3 log.format=Run", "log.format=: expected Long or Compact, found 'Run'"),
        ("a 3 condTrain=a condTest=b", "expected condTrain= or condTest=, found both"),
    ],
)
def test_options_that_cannot_be(words, message):
    with pytest.raises(GnomonError, match=message):
        open_session(words.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("clockwise", "expected RULE N .* found 1: clockwise"),
        ("clockwise 3 3 3 a b c", "expected RULE N .* found 7: clockwise 3"),
        ("clockwise x", "expected a number n or a range n1:n2, found 'x'"),
        ("clockwise 1:2:3", "expected a number n or a range"),
        ("clockwise 40", "expected 1 to 36 pieces, found 40"),
        ("clockwise 5 5", "expected 0 to 4 shapes, found 5"),
        ("clockwize 3", "unknown rule or file 'clockwize'; did you mean 'clockwise'"),
        ("clockwise no.json", "no.json: there is no such file"),
        ("t.csv 1", "unknown rule or file 't.csv'"),
        ("R:clockwise:nine", "expected RULE N .* found 1"),
        ("clockwise a.json 3 inputDir=../data", "expected RULE N .* found 3"),
        ("clockwise 3 condTrain=right", "right: there is no such file"),
    ],
)
def test_games_that_cannot_be(folder, words, message):
    with pytest.raises(GnomonError, match=message):
        session_of(*words.split())


def test_numbers_and_palettes(folder):
    (board,) = pieces("rule.txt 7")
    assert len(board) == 7
    assert {len(board) for board in pieces("rule.txt 2:4", 40)} == {2, 3, 4}
    (board,) = pieces("clockwise 8 2 1 heart;sun;moon pink;gold")
    assert len({p["shape"] for p in board}) == 2
    assert {p["shape"] for p in board} <= {"HEART", "SUN", "MOON"}
    assert len({p["color"] for p in board} & {"PINK", "GOLD"}) == 1
    (board,) = pieces("-Dshapes=zoo;Ant clockwise 8 colors=Pink")
    assert {p["shape"] for p in board} == {"ZOO", "ANT"}
    assert {p["color"] for p in board} == {"PINK"}


def test_files_of_the_data_folder(folder):
    (board,) = pieces("x/cw set/a.json inputDir=../data")
    # Boards from files carry letters.
    assert (board[0]["x"], board[0]["label"]) == (1, "A")


def test_conditions(folder):
    def in_column_1(words: str) -> set[bool]:
        boards = pieces(f"clockwise 3 {words} inputDir=../data", 9)
        return {any(p["x"] == 1 for p in board) for board in boards}

    assert in_column_1("condTrain=left") == {False}
    assert in_column_1("condTest=left.txt") == {True}


def test_clients_of_a_server_read_its_own_folder_only(folder):
    def opened(rule: str) -> None:
        open_session([rule, "3", "inputDir=/"], folder=Path())

    opened("rule.txt")
    Path("link.txt").symlink_to(folder / "data/rules/x/cw.txt")
    for rule in ("../data/rules/x/cw.txt", str(folder / "data/rules/x/cw.txt"), "link.txt"):
        with pytest.raises(GnomonError, match="reads files of its own folder only"):
            opened(rule)


def test_files_that_are_no_files(folder):
    for rule in ("/dev/zero", ".", "a\0b"):
        with pytest.raises(GnomonError, match="unknown rule or file"):
            session_of(rule, "3")
    Path("huge.txt").write_bytes(b"#" * 4_000_001)
    with pytest.raises(GnomonError, match="expected at most 4000000 bytes"):
        session_of("huge.txt", "3")
