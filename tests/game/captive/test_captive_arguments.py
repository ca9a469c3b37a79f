"""Arguments and options of the captive server, and the files that they name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captive_play import CLOCKWISE, session_of
from gnomon.errors import GnomonError
from gnomon.game.captive.arguments import read_arguments
from gnomon.game.captive.opening import open_session


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Some data in a folder, and another folder to be in."""
    for name, text in {
        "data/rules/x/cw.txt": CLOCKWISE,
        "data/modifiers/x/nine.csv": "min_objects,max_objects,min_shapes,max_shapes,shapes\n"
        "9,9,2,2,heart;sun;moon\n",
        "data/modifiers/two.csv": "max_objects\n1\n2\n",
        "data/trial-lists/t.csv": "rule_id,min_objects,max_objects,crowded\n"
        "x/cw,1,1,\n#x/cw,9,9,\nx/cw,2,3,true\nclockwise,4,,\n,4,4,\n",
        "data/shapes/zoo/cat.svg": "",
        "data/shapes/zoo/ant.svg": "",
        "data/boards/set/b.json": one_piece(2),
        "data/boards/set/a.json": one_piece(1),
        "data/boards/set/list.csv": "b\n# c\na.json,b\n",
        "data/trial-lists/boards.csv": "rule_id,initial_boards,initial_boards_order\n"
        "clockwise,set,alpha\nclockwise,set,list.csv\nclockwise,set,random\nclockwise,no,alpha\n",
        "data/cond/left.txt": "(pos:[1,7,13,19,25,31])",
        "data/trial-lists/cond.csv": "rule_id,min_objects,condTrain,condTest\n"
        "clockwise,3,left,\nclockwise,3,,left\nclockwise,3,left,left\n",
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


def test_options_are_told_from_arguments():
    words = "output=BRIEF clockwise -Dseed=3 seed= 4 5 log=a.csv log.run= 2 log.nickname=x"
    arguments = read_arguments(words.split())
    assert arguments.positional == ("clockwise", "5")
    assert (arguments.mode, arguments.seed, arguments.run) == ("BRIEF", 3, 2)
    # Anything but the three words, in upper case, is FULL.
    assert read_arguments(["clockwise", "output=brief"]).mode == "FULL"
    assert read_arguments(["a", "log.append=b", "log.run=0", "log.nickname=x"]).append


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "expected RULE N .* found nothing"),
        ("a 3 ouput=BRIEF", "unknown option 'ouput'; did you mean 'output'"),
        ("a 3 seed=x", "seed=: expected a number, found 'x'"),
        ("a 3 seed=", "expected a value after seed="),
        ("a 3 crowded=yes", "crowded=: expected true or false, found 'yes'"),
        ("a 3 log=f", "a result file needs log.nickname="),
        ("a 3 log=f log.nickname=me", "a result file needs log.run="),
        ("a 3 log=f log.nickname=me log.run=-1", "log.run=: expected a number from 0, found '-1'"),
        ("a 3 log=f log.nickname=a,b log.run=1", "log.nickname=: expected .* found 'a,b'"),
        ("a 3 log=f logappend=f", "expected log= or logappend=, found both"),
        ("a 3 log.format=Run", "log.format=: expected Long or Compact, found 'Run'"),
        ("a 3 detailedTranscript=f", "detailedTranscript= needs log="),
        ("a 3 condTrain=a condTest=b", "expected condTrain= or condTest=, found both"),
    ],
)
def test_options_that_cannot_be(words, message):
    with pytest.raises(GnomonError, match=message):
        read_arguments(words.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("clockwise", "expected 2 to 6 arguments, found 1"),
        ("clockwise 3 3 3 a b c", "expected 2 to 6 arguments, found 7"),
        ("clockwise x", "expected a number n or a range n1:n2, found 'x'"),
        ("clockwise 1:2:3", "expected a number n or a range"),
        ("clockwise 40", "expected 1 to 36 pieces, found 40"),
        ("clockwise 5 5", "expected 0 to 4 shapes, found 5"),
        ("clockwize 3", "unknown rule or file 'clockwize'; did you mean 'clockwise'"),
        ("clockwise no.json", "no.json: there is no such file"),
        ("t.csv 0 inputDir=../data", "t.csv: expected a row from 1 to 4, found 0"),
        ("t.csv 5 inputDir=../data", "expected a row from 1 to 4, found 5"),
        ("t.csv 4 inputDir=../data", "t.csv, row 4, field 'rule_id': expected a rule"),
        ("no.csv 1", "no.csv: there is no such file"),
        ("R:clockwise", "expected R:RULE:MODIFIER, found 'R:clockwise'"),
        ("R:clockwise:two inputDir=../data", "two.csv: expected one row of parameters, found 2"),
        ("boards.csv 4 inputDir=../data", "expected a folder of boards; there is none"),
        ("clockwise 3 shapes=nix/*", "there are no shapes"),
        ("clockwise 3 images=a*.png", "no picture is called 'a[*].png'"),
        ("clockwise 3 images=a**b", "no picture is called 'a[*][*]b'"),
        ("clockwise 3 images=/composite/v?", "expected h or v and a number"),
    ],
)
def test_games_that_cannot_be(folder, words, message):
    with pytest.raises(GnomonError, match=message):
        session_of(*words.split())


def test_numbers_and_names_that_are_too_long(folder):
    with pytest.raises(GnomonError, match=r"expected a row from 1 to 4, found 111.*\.\.\.111"):
        session_of("t.csv", "1" * 5000, "inputDir=../data")
    with pytest.raises(GnomonError, match="no picture is called 'xxx"):
        session_of("clockwise", "3", f"images={'x' * 300}")


def test_numbers_and_palettes(folder):
    (board,) = pieces("rule.txt 7")
    assert len(board) == 7
    assert {len(board) for board in pieces("rule.txt 2:4", 40)} == {2, 3, 4}
    (board,) = pieces("clockwise 8 2 1 heart;sun;moon pink;gold")
    assert len({p["shape"] for p in board}) == 2
    assert {p["shape"] for p in board} <= {"HEART", "SUN", "MOON"}
    assert len({p["color"] for p in board} & {"PINK", "GOLD"}) == 1
    (board,) = pieces("clockwise 8 shapes=zoo/* colors=Pink inputDir=../data")
    assert {p["shape"] for p in board} == {"ZOO/ANT", "ZOO/CAT"}
    crowded = pieces("clockwise 20 crowded=true", 5)
    assert any(len({(p["x"], p["y"]) for p in board}) < 20 for board in crowded)


def test_trial_lists_and_modifiers(folder):
    data = "inputDir=../data"
    assert [len(board) for board in pieces(f"t.csv 1 {data}")] == [1]
    assert {len(board) for board in pieces(f"t.csv 2 {data}", 20)} == {2, 3}
    assert [len(board) for board in pieces(f"../data/trial-lists/t.csv 3 {data}")] == [4]
    (board,) = pieces(f"R:x/cw:x/nine {data}")
    assert len(board) == 9
    assert len({p["shape"] for p in board}) == 2
    session = session_of("R:x/cw:x/nine.csv", data)
    session.start()
    features = '{"shape":["HEART","SUN","MOON"],"color":["RED","BLACK","BLUE","YELLOW"]}'
    assert session.answer("FEATURES") == [features]


def test_boards_of_a_folder(folder):
    def xs(row: int) -> list[int]:
        return [board[0]["x"] for board in pieces(f"boards.csv {row} inputDir=../data", 6)]

    assert xs(1) == [1, 2, 1, 2, 1, 2]
    assert xs(2) == [2, 1, 2, 2, 1, 2]
    found = xs(3)
    assert [sorted(found[i : i + 2]) for i in (0, 2, 4)] == [[1, 2]] * 3
    # Boards from files carry letters.
    assert pieces("boards.csv 1 inputDir=../data")[0][0]["label"] == "A"


def test_conditions_of_trial_lists(folder):
    def in_column_1(words: str) -> set[bool]:
        boards = pieces(f"{words} inputDir=../data", 9)
        return {any(p["x"] == 1 for p in board) for board in boards}

    assert in_column_1("cond.csv 1") == {False}
    assert in_column_1("cond.csv 2") == {True}
    assert in_column_1("cond.csv 3") == {False}
    # What the arguments say goes before.
    assert in_column_1("cond.csv 1 condTest=left.txt") == {True}
    with pytest.raises(GnomonError, match="right: there is no such file"):
        session_of("clockwise", "3", "condTrain=right")


def test_a_confined_server_reads_its_own_folder_only(folder):
    inside = read_arguments(["rule.txt", "3"])
    open_session(inside, is_confined=True)
    for rule in ("../data/rules/x/cw.txt", str(folder / "data/rules/x/cw.txt")):
        with pytest.raises(GnomonError, match="reads files of its own folder only"):
            open_session(read_arguments([rule, "3"]), is_confined=True)
    Path("link.txt").symlink_to(folder / "data/rules/x/cw.txt")
    with pytest.raises(GnomonError, match="reads files of its own folder only"):
        open_session(read_arguments(["link.txt", "3"]), is_confined=True)


def test_files_that_are_no_files(folder):
    for rule in ("/dev/zero", ".", "a\0b"):
        with pytest.raises(GnomonError, match="unknown rule or file"):
            session_of(rule, "3")
    Path("huge.txt").write_bytes(b"#" * 4_000_001)
    with pytest.raises(GnomonError, match="expected at most 4000000 bytes"):
        session_of("huge.txt", "3")
