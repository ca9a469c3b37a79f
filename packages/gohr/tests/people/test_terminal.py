"""The game in a terminal: what is typed is played, and what it was worth is told."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator

import pytest
from rich.console import Console

from gohr.cli import main
from gohr.people import Game, PlaySession, play_in_terminal
from gohr.rules import load_rule_text


def talk(session: PlaySession, lines: str, **settings: bool) -> str:
    """Play what is typed, and return all that was shown."""
    out = io.StringIO()
    typed: Iterator[str] = iter(lines.split())

    def read(prompt: str) -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    play_in_terminal(session, Console(file=out, width=80, markup=False), read, **settings)
    return out.getvalue()


def anything(episodes: int = 2) -> PlaySession:
    return PlaySession(Game("any", "(*,*,*,*,*)", 1, episodes, 40))


def test_a_game_to_the_end():
    session = anything()
    said = talk(session, " ".join(f"{letter}0" for letter in "abcdefghi") + " n a1 g")
    assert "The board is cleared." in said
    assert "yes, it goes there" in said
    assert "The game is over: 10 moved, 0 errors, ten right in a row" in said
    assert [a.bucket for a in session.attempts] == [0] * 9 + [1]
    assert (session.n_boards, session.state) == (2, "ended")


def test_what_cannot_be_done_is_said_and_costs_nothing():
    session = anything()
    said = talk(session, "zz a7 [red]x n h")
    assert "expected a piece and a bucket, such as a0; found 'zz'" in said
    assert "'[red]x'" in said
    assert "expected a board that is over" in said
    assert not session.attempts


def test_denials_are_told_apart_as_learners_are_told():
    session = PlaySession(Game("none", "(*,*,*,*,0)", 1, 2, 40))
    assert "no: this piece can be moved now, but not there" in talk(session, "a1")
    ordered = PlaySession(Game("order", "(*,*,*,T,0)", 1, 2, 40))
    assert "no: this piece cannot be moved now" in talk(ordered, "a1 b1")


def test_the_memory_can_be_hidden():
    assert "moved: " in talk(anything(), "a0")
    assert "moved: " not in talk(anything(), "a0", memory_aid=False)
    assert "moved: " in talk(anything(), "a0 m", memory_aid=False)


def test_the_memory_aid_shows_what_was_not_accepted():
    refused = PlaySession(Game("far", "(*,*,*,*,0)", 1, 2, 40))
    said = talk(refused, "a1 b2")
    assert said.count("not accepted: ") == 2
    assert "→\u00a01" in said.rsplit("not accepted: ", 1)[1]
    assert "→\u00a02" in said.rsplit("not accepted: ", 1)[1]
    assert "not accepted" not in talk(refused, "c3", memory_aid=False)
    assert "recently rejected: " in talk(refused, " ".join(["d1"] * 12))


def test_the_rule_is_never_shown():
    session = PlaySession(Game("Puzzle", load_rule_text("clockwise"), 1, 2, 40))
    said = talk(session, "a0 a1 b0 b1 b2 b3 g h")
    assert "p+1" not in said
    assert "lockwise" not in said


@pytest.fixture
def gnomon(monkeypatch, capsys):
    def call(typed: str, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gohr", "play", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as exit_:
            main()
        said = capsys.readouterr()
        return int(exit_.value.code or 0), said.out, said.err

    return call


def test_the_verb_prints_records_and_writes_a_transcript(gnomon, tmp_path):
    path = tmp_path / "t.csv"
    status, out, _ = gnomon(
        "a0\ng\n", "clockwise", "--seed", "1", "--json", "--transcript", str(path)
    )
    (record,) = json.loads(out)["results"]
    assert status == 0
    assert list(record) == ["rule", "seed", "board", "end", "attempts", "errors"]
    assert (record["end"], record["attempts"]) == ("not cleared", 1)
    assert path.read_text().count("\n") == 2


def test_the_verb_shows_the_learners_beside(gnomon):
    status, out, err = gnomon("a0\n", "clockwise", "--seed", "1", "--boards", "2")
    assert status == 0
    assert re.search(r"board\W+you\W+chance\W+frugal\W+table\W+network", out)
    assert err.endswith("> ")


def test_a_rule_that_there_is_not_or_that_does_not_parse_is_one_line(gnomon, tmp_path):
    status, _, err = gnomon("", "clockwize")
    assert (status, err.count("\n")) == (2, 1)
    path = tmp_path / "wrong.txt"
    path.write_text("(1,*")
    status, _, err = gnomon("", str(path))
    assert status == 2
    assert "wrong.txt, line 1" in err


@pytest.mark.parametrize(
    ("name", "why"),
    [("there.csv", "already exists and is not overwritten"), ("no/t.csv", "there is no folder ")],
)
def test_a_transcript_that_cannot_be_written_is_refused_before_the_first_board(
    gnomon, tmp_path, name, why
):
    (tmp_path / "there.csv").write_text("of another player")
    arguments = ("clockwise", "--transcript", str(tmp_path / name))
    status, out, err = gnomon("a0\ng\n", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert why in err
    assert (tmp_path / "there.csv").read_text() == "of another player"


def test_a_rule_that_would_stop_the_game_is_refused_before_it(gnomon, tmp_path):
    (tmp_path / "rule.txt").write_text("(1,*,*,*,*)\n(*,*,*,Foo,0)")
    status, out, err = gnomon("a0\n", str(tmp_path / "rule.txt"))
    assert (status, out) == (2, "")
    assert "line 2, column 8: error: the order 'Foo' does not exist" in err


def test_a_board_that_was_left_is_not_compared(gnomon):
    _, out, _ = gnomon("a0\ng\n", "clockwise", "--seed", "1", "--boards", "2")
    assert re.search(r"1 \(not finished\) +\d+ +- +- +- +-", out)


def test_a_board_stuck_as_dealt_is_explained():
    session = PlaySession(Game("stuck", "(*,hexagon,*,*,0)", 1, 2, 40))
    said = talk(session, "n")
    assert said.count("No piece can be moved on this board as it was dealt: a stalemate.") == 2
    assert session.state == "ended"
