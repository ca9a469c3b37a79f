"""Recorded sessions of the reference server (version 8.060) come out line for line.

The name and version in the greeting, ids and times differ; with ``reveal=true``, nothing else does.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from captive_play import CLOCKWISE, piped

GREETING = re.compile(r"# Hello\. This is .* ver\. \S+\. Starting a new episode (.*)")

BOARD_FILE = """{"id": 5, "name": "two", "value": [
{"id": 0, "color": "RED", "shape": "STAR", "x": 1, "y": 6},
{"id": "7", "color": "blue", "shape": "square", "x": 6, "y": 1}]}"""


def star(buckets: str) -> str:
    return f'"color":"RED","shape":"STAR","x":1,"y":6,"label":"A","buckets":[{buckets}]}}'


def board(star_buckets: str | None, square_buckets: str | None = None) -> str:
    """Write the JSON of the board of two pieces; None for a piece that has gone."""
    pieces = []
    if star_buckets is not None:
        pieces.append('{"id":0,' + star(star_buckets))
    if square_buckets is not None:
        pieces.append(
            '{"id":7,"color":"BLUE","shape":"SQUARE","x":6,"y":1,"label":"H",'
            f'"buckets":[{square_buckets}]}}'
        )
    return '{"id":0,"value":[' + ",".join(pieces) + "]}"


def picture(top_left: str, bottom_right: str) -> list[str]:
    """Draw the board with these two cells."""
    empty = "   . "
    rows = [f"# {y} |" + empty * 6 for y in (5, 4, 3, 2)]
    edge = "#---+------------------------------"
    columns = "#   |   1    2    3    4    5    6   "
    first, last = "# 6 |" + top_left + empty * 5, "# 1 |" + empty * 5 + bottom_right
    return [edge, first, *rows, last, edge, columns]


ALL = "0,1,2,3"
BOTH = board(ALL, ALL)


def hello(number: int, *, stuck: bool = False) -> list[str]:
    apology = " -- immediate stalemate. Our apologies!" if stuck else ""
    return ["2 2 0" if stuck else "6 0 0", f"(no. {number}){apology}"]


def no_game(numbers: str, cleared: str, stalemate: str) -> list[str]:
    how = f"cleared={cleared}, stalemate={stalemate}, earlyWin=false"
    return [f"-4 {numbers}", f"# No game is on right now ({how}). Use NEW to start a new game"]


NULL = "# null"
DENIED_PICTURE = [board("1"), *picture(" [r*]", "   . ")]

TRANSCRIPTS = {
    "01_full": (
        "synth/cw.txt sess/b.json",
        "MOVE 1 6 7 0|MOVE 0 2|DISPLAY|EXIT",
        [
            *hello(1), BOTH, *picture("  r* ", "  g# "),
            "0 0 1", NULL, board("1"), *picture("  r* ", " ( .)"),
            "4 0 2", NULL, *DENIED_PICTURE,
            *DENIED_PICTURE,
            "5 0 2", "# Goodbye",
        ],
    ),
    # What arrives together with a NEW is lost.
    "02_standard": (
        "output=STANDARD synth/cw.txt sess/b.json",
        "MOVE 6 1 0 7|MOVE 6 1 7 0|MOVE 1 6 7 7|MOVE 1 6 7 7|NEW|MOVE 0 3|EXIT",
        [
            *hello(1), BOTH,
            "0 0 1", NULL, board(None, "3"),
            "3 0 1", NULL, board(None, "3"),
            "4 0 2", NULL, board(None, "3"),
            "4 0 3", NULL, board(None, "3"),
            *hello(2), BOTH,
        ],
    ),
    "03_brief": (
        "output=BRIEF synth/cw.txt sess/b.json",
        "MOVE 6 1 0 7|MOVE 1 6 0 0|MOVE 3 3 0 0|MOVE 1 6 0 0|EXIT",
        [
            *hello(1), BOTH,
            "0 0 1", NULL,
            "0 1 2", NULL,
            *no_game("1 2", "true", "false"),
            *no_game("1 2", "true", "false"),
            "5 1 2", "# Goodbye",
        ],
    ),
    "04_errors": (
        "output=BRIEF synth/cw.txt sess/b.json",
        "hello|123|{|MOVE|MOVE 1|MOVE 1 2 3|MOVE a b c d|MOVE -1 2 3 4|MOVE 9 1 0 0|MOVE 1 9 0 0|"
        "MOVE 6 1 5 5|MOVE 0 4|MOVE 99 1|MODE|MODE FOO|MODE BRIEF|COND|COND foo|move 0 1|VERSION|"
        "FEATURES|HELP||# comment|EXIT now",
        [
            *hello(1), BOTH,
            "-1 0 0", "# Invalid command: HELLO",
            "-1 0 0", "# Invalid input",
            "-1 0 0", "# Invalid input - cannot parse",
            *["-2 0 0", "# Invalid input"] * 3,
            "-2 0 0", "# Invalid input: ID.a",
            "-2 0 0", "# Invalid input",
            "-2 0 0", "# Invalid input: row=9 out of range",
            "-2 0 0", "# Invalid input: column=9 out of range",
            "-2 0 0", "# Invalid input: bucket row=5 is not 0 or 7",
            "-2 0 0", "# Invalid input: bucket ID=4",
            "-10 0 0", NULL,
            "-2 0 0", "# MODE command must be followed by the new mode value",
            "-2 0 0", "# Not a known mode: FOO",
            "# OK, mode=BRIEF",
            "# OK, cond=train",
            "-2 0 0", "# COND command  must be followed by 'train' or 'test'; invalid value=foo",
            "# OK, cond=train",
            "0 0 1", NULL,
            "# 8.060",
            '{"shape":["SQUARE","STAR","CIRCLE","TRIANGLE"],'
            '"color":["RED","BLACK","BLUE","YELLOW"]}',
            "# Commands available:", "# FEATURES", "# MOVE row col bucket_row bucket_col",
            "# MOVE piece_id bucket_id", "# NEW", "# DISPLAY", "# DISPLAYFULL",
            "# MODE <BRIEF|STANDARD|FULL>", "# COND <train|test>", "# EXIT",
            "-1 0 1", "# Invalid input",
            "5 0 1", "# Goodbye",
        ],
    ),
    "09_stalemate": (
        "output=STANDARD synth/redonly.txt sess/b.json",
        "MOVE 0 1|MOVE 7 1|DISPLAY|NEW|EXIT",
        [
            *hello(1), board(ALL, ""),
            "0 2 1", "# Stalemate - no piece can be moved any more. Apology for these rules!",
            board(None, ""),
            *no_game("2 1", "false", "true"), board(None, ""),
            board(None, ""),
            *hello(2), board(ALL, ""),
        ],
    ),
    "11_log": (
        "output=BRIEF log=sess/long.csv log.nickname=me log.run=3 "
        "synth/cw.txt sess/b.json",
        "MOVE 0 1|MOVE 0 0|MOVE 7 0|MOVE 7 1|NEW|MOVE 0 0|EXIT",
        [
            *hello(1), BOTH,
            "0 0 1", NULL,
            "-10 0 1", NULL,
            "4 0 2", NULL,
            "4 0 3", NULL,
            *hello(2), BOTH,
        ],
    ),
    "12_compact": (
        "output=BRIEF log=sess/compact.csv log.format=Compact log.nickname=me log.run=3 "
        "synth/cw.txt sess/b.json",
        "MOVE 0 0|MOVE 7 0|MOVE 7 1|NEW|MOVE 0 0|EXIT",
        [
            *hello(1), BOTH,
            "0 0 1", NULL,
            "4 0 2", NULL,
            "0 1 3", NULL,
            *hello(2), BOTH,
        ],
    ),
    "15_seed": (
        "output=BRIEF seed=1 synth/cw.txt 5 2 3",
        "NEW|NEW|EXIT",
        [
            *hello(1),
            "RED TRIANGLE 1 2;BLACK SQUARE 1 4;YELLOW TRIANGLE 5 5;YELLOW TRIANGLE 3 6;"
            "RED SQUARE 4 6",
            *hello(2),
            "YELLOW SQUARE 1 1;BLUE CIRCLE 2 3;RED CIRCLE 2 4;BLUE SQUARE 3 5;BLUE SQUARE 6 6",
        ],
    ),
}  # fmt: skip


def random_board(text: str) -> str:
    """Write the JSON of a random board given as ``COLOR SHAPE x y;...``, all buckets allowed."""
    pieces = [
        f'{{"id":{i},"color":"{c}","shape":"{s}","x":{x},"y":{y},"buckets":[{ALL}]}}'
        for i, (c, s, x, y) in enumerate(each.split() for each in text.split(";"))
    ]
    return '{"id":0,"value":[' + ",".join(pieces) + "]}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {
        "synth/cw.txt": CLOCKWISE,
        "synth/redonly.txt": "(*,*,red,*,*)\n",
        "synth/x_bad.txt": "(pos:[1..5])\n",
        "sess/b.json": BOARD_FILE,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plain(lines: list[str]) -> list[str]:
    """Take name and version out of the greetings."""
    return [GREETING.sub(r"\1", line) for line in lines]


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcript(folder: Path, name: str) -> None:
    arguments, commands, expected = TRANSCRIPTS[name]
    if name == "15_seed":
        expected = [random_board(line) if ";" in line else line for line in expected]
    said = piped(folder, f"reveal=true {arguments}", commands.replace("|", "\n") + "\n")
    assert plain(said) == expected


@pytest.mark.parametrize("name", ["01_full", "02_standard", "09_stalemate"])
def test_without_reveal_nothing_is_told(folder: Path, name: str) -> None:
    arguments, commands, expected = TRANSCRIPTS[name]
    said = piped(folder, arguments, commands.replace("|", "\n") + "\n")
    hidden = [re.sub(r'"buckets":\[.*?\]', f'"buckets":[{ALL}]', line) for line in expected]
    assert plain(said) == hidden
    assert all(f'"buckets":[{ALL}]' in line for line in said if '"buckets"' in line)


def test_transcript_10_stuck_from_the_start(folder: Path) -> None:
    said = piped(
        folder,
        "output=STANDARD reveal=true colors=blue synth/redonly.txt 2 1 1",
        "MOVE 0 1\nNEW\nEXIT\n",
    )
    # The seed is that of the moment: the shape and the places are any.
    places = r'"shape":"(SQUARE|STAR|CIRCLE|TRIANGLE)","x":[1-6],"y":[1-6]'
    said = [re.sub(places, "PLACE", line) for line in plain(said)]
    pieces = [f'{{"id":{i},"color":"BLUE",PLACE,"buckets":[]}}' for i in (0, 1)]
    stuck = '{"id":0,"value":[' + ",".join(pieces) + "]}"
    assert said == [
        *hello(1, stuck=True), stuck,
        *no_game("2 0", "false", "true"), stuck,
        *hello(2, stuck=True), stuck,
    ]  # fmt: skip


def test_files_of_transcripts_11_and_12(folder: Path) -> None:
    for name in ("11_log", "12_compact"):
        arguments, commands, _ = TRANSCRIPTS[name]
        piped(folder, arguments, commands.replace("|", "\n") + "\n")
    assert (folder / "sess/long.csv").read_text().splitlines() == [
        "#nickname,rule_name,trial_id,board_id,number_of_pieces,number_of_moves,move_acc,if_clear",
        "me,cw,3,0,2,3,0.3333333333333333,0",
        "me,cw,3,1,2,0,0.0,0",
    ]
    assert (folder / "sess/compact.csv").read_text().splitlines() == [
        "#.nickname,rule_name,trial_id",
        "#number_of_moves,number_of_errors,if_clear",
        ".me,cw,3",
        "3,1,1",
        "0,0,0",
    ]


def gnomon(folder: Path, arguments: str, commands: str) -> subprocess.CompletedProcess[str]:
    code = "from gohr.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, "captive", *arguments.split()],
        input=commands,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
    )


def test_transcripts_through_the_command_line(folder: Path) -> None:
    arguments, commands, expected = TRANSCRIPTS["01_full"]
    said = gnomon(folder, f"reveal=true {arguments}", commands.replace("|", "\n") + "\n")
    assert (said.returncode, said.stderr) == (0, "")
    assert plain(said.stdout.splitlines()) == expected
    # 14_badrule
    said = gnomon(folder, "synth/x_bad.txt 3", "EXIT\n")
    problem = "Cannot create game generator. Problem: Failed to parse rule row: (pos:[1..5])\n"
    assert (said.returncode, said.stdout, said.stderr) == (1, "", problem)
    # The options of a Java virtual machine: -h in one is no call for help.
    said = gnomon(folder, "-Doutput=BRIEF -Dshapes=heart synth/cw.txt 2", "DISPLAY\n")
    assert (said.returncode, len(said.stdout.splitlines())) == (0, 4)
    assert '"shape":"HEART"' in said.stdout
