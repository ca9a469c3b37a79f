"""The client of a server that is not to be trusted."""

from __future__ import annotations

import json
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from typer.testing import CliRunner

from gnomon_board.cli import COMMAND

HOSTILE = """
name = "s-entry-1-attempt-1"
learners = ["uniform", {kind = "process", name = "u2", command = "touch PWNED"}]
trials = 2
seed = 7
[[rules]]
name = "any"
text = "(*,*,*,*,*)"
"""


class _Hostile(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(HOSTILE if self.path.endswith("/config") else "[]")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        attempts = [{"number": 1}, {"number": 2}][: 1 + self.path.endswith("/attempts")]
        self._answer(json.dumps({"id": 1, "name": "Mine", "season": "s", "attempts": attempts}))

    def _answer(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hostile() -> Iterator[str]:
    """A server that assigns a program of its own."""
    with HTTPServer(("127.0.0.1", 0), _Hostile) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_learners_come_from_the_participant_only(hostile, tmp_path):
    out = tmp_path / "assigned.toml"
    where = ["--to", hostile, "--token", "t", "--out", str(out), "--learner", "frugal"]
    done = CliRunner().invoke(COMMAND.application(), ["register", "s", "Mine", *where])
    assert done.exit_code == 0, done.output
    written = tomllib.loads(out.read_text())
    assert written["learners"] == ["frugal"]
    assert (written["trials"], written["seed"], written["rules"][0]["name"]) == (2, 7, "any")
    assert "PWNED" not in out.read_text()
    assert "assignment 1" in done.output
    where[where.index(str(out))] = str(tmp_path / "again.toml")
    done = CliRunner().invoke(COMMAND.application(), ["register", "s", "Mine", "--again", *where])
    assert "assignment 2" in done.output


def test_a_place_that_cannot_take_the_assignment_is_refused_before_the_server_is_asked(
    command, tmp_path, monkeypatch
):
    (tmp_path / "mine.toml").write_text('learners = ["frugal"]')
    to = "gnomon-board register s Mine --to http://127.0.0.1:1 --token t --out"
    command(f"{to} mine.toml").assert_refused("mine.toml: exists, and is not replaced")
    assert (tmp_path / "mine.toml").read_text() == 'learners = ["frugal"]'
    command(f"{to} none/x.toml").assert_refused("none: expected a folder to write to")
    monkeypatch.setattr("os.access", lambda *_: False)
    command(f"{to} x.toml").assert_refused("expected a folder that you may write to")
