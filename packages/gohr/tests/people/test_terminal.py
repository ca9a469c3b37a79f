"""The game in a terminal: what is typed is played, and what came of it is printed."""

from __future__ import annotations

import io
import sys

import pytest


@pytest.fixture
def played(monkeypatch, command):
    def call(typed: str, arguments: str):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        return command(f"gohr play {arguments}")

    return call


EVERY_CELL = "".join(f"{x} {y} 0\n" for y in range(1, 7) for x in range(1, 7))


def test_boards_are_played_and_their_errors_printed(played):
    status, out, err = played(EVERY_CELL + "zz\nq\n", "anything-goes --seed 1")
    assert (status, err.endswith("> ")) == (0, True)
    for part in (
        *("board 1 of 20", "Yes, it goes there.", "There is no piece in this cell."),
        *("The board is over: cleared.", "board 2 of 20", "Expected column, row and bucket"),
    ):
        assert part in out


def test_denials_are_distinguished_as_for_learners(played, tmp_path):
    (tmp_path / "rule.txt").write_text("(*,*,*,T,0)")
    typed = EVERY_CELL.replace(" 0\n", "1\n")
    _, out, _ = played(typed, "rule.txt --seed 1 --boards 1")
    assert "No: this piece can be moved now, but not there." in out
    assert "No: this piece cannot be moved now." in out


def test_the_answer_is_a_record_for_each_board(played):
    said = played("1 1 0\n", "clockwise --seed 1 --json")
    (record,) = said.results
    assert list(record) == ["rule", "seed", "board", "end", "attempts", "errors"]
    assert (record["end"], record["attempts"]) == ("not cleared", 1)
    assert "p+1" not in said.err


def test_a_rule_that_cannot_be_played_is_refused(played, tmp_path):
    (tmp_path / "wrong.txt").write_text("(1,*,*,*,*)\n(*,*,*,Foo,0)")
    status, out, err = played("", "wrong.txt")
    assert (status, out) == (2, "")
    assert "line 2, column 8: error: the order 'Foo' does not exist" in err
