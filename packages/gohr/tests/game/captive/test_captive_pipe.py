"""A session over a pipe, and how bytes become lines."""

from __future__ import annotations

import os
import tempfile
import threading
from contextlib import ExitStack
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captive_play import CLOCKWISE, piped, session_of
from gohr.captive_server import LINE_LIMIT, serve_pipe


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


def test_what_comes_with_new_is_lost(folder):
    assert codes(piped(folder, "cw.txt 3 output=BRIEF", "NEW\nEXIT\n")) == ["6 0 0", "6 0 0"]


def test_nothing_after_exit_is_answered(folder):
    said = piped(folder, "cw.txt 3 output=BRIEF", "EXIT\nDISPLAY\n")
    assert said[-1] == "# Goodbye"


def test_a_line_too_long_ends_the_session(folder):
    for commands in ("x" * (3 * LINE_LIMIT) + "\nCOND\n", "MOVE 1" + " " * LINE_LIMIT + "\nCOND\n"):
        said = piped(folder, "cw.txt 3 output=BRIEF", commands)
        assert said[3:] == ["-1 0 0", "# Invalid input - the line is too long"]


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
    st.lists(st.sampled_from([b"COND", b"COND\r", b"HELP", b"", b"\xff"]), max_size=12),
    st.lists(st.integers(1, 9), min_size=1, max_size=20),
)
def test_lines_do_not_depend_on_the_chunks(lines, sizes):
    data = b"".join(line + b"\n" for line in lines)
    session = session_of("clockwise", "3", "seed=3")
    expected = session.start()
    for line in lines:
        expected += session.answer(line.decode("utf-8", "replace"))
    chunks = []
    while data:
        size = sizes[len(data) % len(sizes)]
        chunks.append(data[:size])
        data = data[size:]
    with ExitStack() as stack:
        to_server, from_client = os.pipe()
        output = stack.enter_context(tempfile.TemporaryFile())
        reads = mock.Mock(side_effect=[*chunks, b""])
        stack.enter_context(mock.patch("gohr.captive_server._Input.read", reads))
        serve_pipe(session_of("clockwise", "3", "seed=3"), to_server, output.fileno())
        os.close(to_server)
        os.close(from_client)
        output.seek(0)
        said = output.read().decode().splitlines()
    assert said == expected
