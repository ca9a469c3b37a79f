"""A session over a pipe, and how bytes become lines."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captive_play import CLOCKWISE, piped, session_of
from gnomon.game.captive.pipe import LineBuffer, LineTooLongError, serve_pipe


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cw.txt").write_text(CLOCKWISE)
    return tmp_path


def codes(lines):
    return [line for line in lines if line[0] in "-0123456789"]


def test_the_end_of_input_ends_the_session_silently(folder):
    assert len(piped(folder, "cw.txt 3 output=BRIEF", "")) == 3
    # A last line without its end is a line.
    assert codes(piped(folder, "cw.txt 3 output=BRIEF", "COND\nMOVE 9 9"))[-1] == "-2 0 0"


def test_what_comes_with_new_is_lost_unless_kept(folder):
    commands = "NEW\nEXIT\n"
    assert codes(piped(folder, "cw.txt 3 output=BRIEF", commands)) == ["6 0 0", "6 0 0"]
    said = piped(folder, "cw.txt 3 output=BRIEF", commands, pipelined=True)
    assert codes(said) == ["6 0 0", "6 0 0", "5 0 0"]


def test_nothing_after_exit_is_answered(folder):
    said = piped(folder, "cw.txt 3 output=BRIEF", "EXIT\nDISPLAY\n")
    assert said[-1] == "# Goodbye"


def test_a_line_too_long_is_refused_and_the_game_goes_on(folder):
    commands = "x" * 100_000 + "\nCOND\n" + "MOVE 1" + " " * 3000 + "\nEXIT\n"
    said = piped(folder, "cw.txt 3 output=BRIEF", commands, line_limit=1000)
    assert said[3:] == [
        "-1 0 0", "# Invalid input - the line is too long",
        "# OK, cond=train",
        "-1 0 0", "# Invalid input - the line is too long",
        "5 0 0", "# Goodbye",
    ]  # fmt: skip


def test_a_client_that_waits_for_each_answer(folder):
    """Commands that arrive one by one are all answered, whatever NEW loses."""
    to_server, from_client = os.pipe()
    to_client, from_server = os.pipe()

    def serve():
        serve_pipe(session_of("cw.txt", "1", "output=BRIEF", "seed=1"), to_server, from_server)
        os.close(from_server)

    server = threading.Thread(target=serve)
    server.start()
    with os.fdopen(to_client) as answers:
        greeting = [answers.readline() for _ in range(3)]
        for number in range(2, 30):
            os.write(from_client, b"MOVE 0 3\n")
            assert [answers.readline() for _ in range(2)] == ["0 1 1\n", "# null\n"]
            os.write(from_client, b"NEW\n")
            greeting = [answers.readline() for _ in range(3)]
            assert f"(no. {number})" in greeting[1]
        os.write(from_client, b"EXIT\n")
        assert answers.read() == "5 0 0\n# Goodbye\n"
    server.join(timeout=30)
    assert not server.is_alive()
    os.close(from_client)
    os.close(to_server)


def test_a_client_that_has_gone_ends_the_session(folder):
    to_server, from_client = os.pipe()
    to_client, from_server = os.pipe()
    os.write(from_client, b"DISPLAY\n")
    os.close(to_client)
    log = folder / "long.csv"
    arguments = ["cw.txt", "3", f"log={log}", "log.nickname=me", "log.run=0"]
    serve_pipe(session_of(*arguments), to_server, from_server)
    for fd in (to_server, from_client, from_server):
        os.close(fd)
    assert log.read_text().splitlines()[1:] == ["me,cw,0,0,3,0,0.0,0"]


@given(
    st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line), max_size=12),
    st.lists(st.integers(1, 9), min_size=1, max_size=20),
)
def test_lines_do_not_depend_on_the_chunks(lines, sizes):
    data, buffer, found = b"".join(line + b"\n" for line in lines), LineBuffer(8), []
    while data:
        size = sizes[len(data) % len(sizes)]
        buffer.feed(data[:size])
        data = data[size:]
        while True:
            try:
                line = buffer.take()
            except LineTooLongError:
                line = "too long"
            if line is None:
                break
            found.append(line)
    expected = [
        "too long" if len(line) > 8 else line.decode("utf-8", "replace").removesuffix("\r")
        for line in lines
    ]
    assert found == expected


def test_memory_of_a_buffer_is_bounded():
    buffer = LineBuffer(1000)
    for _ in range(5):
        buffer.feed(b"x" * 900)
        assert buffer.take() is None
        buffer.feed(b"x" * 900)
        with pytest.raises(LineTooLongError):
            buffer.take()
        for _ in range(100):
            buffer.feed(b"x" * 900)
            assert buffer.take() is None
        assert buffer.rest() == ""
        buffer.feed(b"x\nok\n")
        assert buffer.take() == "ok"
