"""Many clients at once over a socket; some of them ill-behaved."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from captive_play import session_of
from gohr.captive_server import LINE_LIMIT, CaptiveServer

RULES = ["clockwise", "color-match", "stars-first", "shape-color-table", "nearby", "spiral"]


@contextmanager
def serving(folder: Path = Path(), **options: float) -> Iterator[int]:
    """Run a server in a thread of its own; give its port."""
    with CaptiveServer(folder, **options) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join(30)
            assert not thread.is_alive()


class Client:
    """A client that blocks."""

    def __init__(self, port: int, game: str | None = None) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.file = self.socket.makefile("r")
        if game is not None:
            self.greeting = self.ask(f"GAME {game}", 3)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def ask(self, line: str, n_lines: int) -> list[str]:
        self.send(line.encode() + b"\n")
        return [self.file.readline().rstrip("\n") for _ in range(n_lines)]

    def rest(self) -> str:
        """Return what comes until the server hangs up, however it does."""
        said = ""
        try:
            while line := self.file.readline():
                said += line
        except ConnectionResetError:
            pass
        return said

    def close(self) -> None:
        self.file.close()
        self.socket.close()


async def play(port: int, number: int, n_episodes: int) -> int:
    """Play at random beside a session of one's own with the same seed; return the games cleared."""
    rng = random.Random(number)
    mode = ("BRIEF", "STANDARD", "FULL")[number % 3]
    game = f"{RULES[number % len(RULES)]} 3:6 output={mode} seed={number + 1}"
    twin = session_of(*game.split())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def check(line: str, expected: list[str]) -> None:
        writer.write(f"{line}\n".encode())
        said = [(await reader.readline()).decode().rstrip("\n") for _ in expected]
        assert said == expected

    await check(f"GAME {game}", twin.start())
    n_cleared = 0
    for episode in range(n_episodes):
        if episode:
            await check("NEW", twin.answer("NEW"))
        left = list(range(20))
        for _ in range(3000):
            piece = rng.choice(left)
            line = f"MOVE {piece} {rng.randrange(4)}"
            expected = twin.answer(line)
            await check(line, expected)
            code, finish, _ = map(int, expected[0].split())
            if code in (0, -10):
                left.remove(piece)
            if finish:
                n_cleared += 1
                break
    await check("EXIT", twin.answer("EXIT"))
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    return n_cleared


async def send_garbage(port: int) -> None:
    """Send binary data, a line of 10 MB and half a line, each to a game and to none."""
    for game in (b"", b"GAME clockwise 4\n"):
        for garbage in (os.urandom(100_000), b"M" * 10_000_000 + b"\n", b"MOVE 0"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(game + garbage)
                await writer.drain()
                async with asyncio.timeout(0.5):
                    await reader.read()
            except (ConnectionError, TimeoutError):
                pass  # refused, or listened to in vain: half a line has no answer
            writer.transport.abort()


async def leave_in_the_middle(port: int) -> None:
    """Begin games, and break the connection without a word."""
    for _ in range(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GAME clockwise 9\nMOVE 0 0\nDISPLAY\n" * 3)
        await reader.readline()
        writer.transport.abort()


async def everybody(port: int) -> int:
    garbage = asyncio.gather(send_garbage(port), leave_in_the_middle(port))
    cleared = await asyncio.gather(*(play(port, i, 6) for i in range(24)))
    await garbage
    return sum(cleared)


@pytest.mark.full
def test_many_clients_at_once_one_with_garbage_and_one_that_dies():
    with serving() as port:
        assert asyncio.run(everybody(port)) == 24 * 6


def test_idle_clients_are_dropped():
    with serving(idle_s=0.3) as port:
        began = time.monotonic()
        clients = [Client(port), Client(port), Client(port, "clockwise 3")]
        clients[1].send(b"GAME clockw")
        clients[2].send(b"DISPLAY\nMOVE 0")
        last = [client.rest().splitlines()[-1] for client in clients]
        assert last == ["# Nothing heard for 0.3 s. Goodbye"] * 3
        assert 0.3 <= time.monotonic() - began < 10
        for client in clients:
            client.close()


def test_a_client_that_trickles_bytes_is_idle():
    with serving(idle_s=0.5) as port:
        client = Client(port, "clockwise 3")
        n_sent = 0
        with contextlib.suppress(ConnectionError):
            while n_sent < 100:
                client.send(b"M")
                n_sent += 1
                time.sleep(0.05)
        assert 1 < n_sent < 100
        client.close()


def test_a_client_that_does_not_read_holds_nobody_up():
    """It asks for far more than the buffers of a connection hold."""
    with serving(idle_s=1.0) as port:
        deaf = socket.create_connection(("127.0.0.1", port), timeout=30)
        deaf.setblocking(False)
        deaf.send(b"GAME clockwise 9\n")
        sent = 0
        for _ in range(200):
            try:
                sent += deaf.send(b"DISPLAYFULL\n" * 1000)
            except BlockingIOError:
                break
        assert sent > 10_000
        client = Client(port, "clockwise 1 seed=4")
        assert client.ask("MOVE 0 3", 3)[0] == "0 1 1"
        client.ask("EXIT", 2)
        client.close()
        deaf.close()


def test_a_line_too_long_ends_the_session():
    refusal = ["-1 0 0", "# Invalid input - the line is too long"]
    with serving() as port:
        for game in (None, "clockwise 3"):
            with closing(Client(port, game)) as client:
                client.send(b"M" * (LINE_LIMIT + 5000))
                assert client.rest().splitlines()[-2:] == refusal


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("MOVE 0 0", ["-1 0 0", "# Expected GAME and its arguments"]),
        ("GAME", ["-5 0 0", "# expected RULE N"]),
        ("GAME clockwize 3", ["-5 0 0", "# unknown rule or file 'clockwize'; did you mean"]),
        ('GAME "clockwise', ["-5 0 0", "# GAME: a quote is not closed"]),
        ("GAME clockwise 99", ["-5 0 0", "# expected 1 to 36 pieces, found 99"]),
        (f"GAME {'x' * 300} 3", ["-5 0 0", "# unknown rule or file 'xxx"]),
        ("GAME /etc/passwd 3", ["-5 0 0", "# /etc/passwd: this server reads files of its own"]),
        (
            "GAME clockwise 3 log=x log.nickname=me log.run=0",
            ["-5 0 0", "# this server writes no result files for its clients"],
        ),
    ],
)
def test_first_lines_that_begin_no_game(line, answer):
    with serving() as port, closing(Client(port)) as client:
        client.send(f"\n{line}\n".encode())
        said = client.rest().splitlines()
        assert said[0] == answer[0]
        assert said[1].startswith(answer[1])


def test_a_rule_that_does_not_parse_is_not_quoted(tmp_path):
    """The file may be anything that the server can read."""
    (tmp_path / "secret").write_text("root:x:0\n")
    with serving(tmp_path) as port, closing(Client(port)) as client:
        client.send(f"game {tmp_path}/secret 3\n".encode())
        assert client.rest() == "-5 0 0\n# Failed to parse the rule: line 1, column 1\n"


def test_quotes_modes_and_folder(tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "my rule.txt").write_text("(*,*,*,*,0)")
    with serving(tmp_path) as port:
        # STANDARD if nothing is said, and the server's folder whatever is said.
        client = Client(port, '"my rule" 2 inputDir=/')
        assert client.ask("MOVE 0 0", 3)[:2] == ["0 0 1", "# null"]
        client.close()
        client = Client(port, "clockwise 2 output=FULL")
        assert client.file.readline().startswith("#---")
        client.close()


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory from /proc")
def test_server_as_a_process_in_bounded_memory(tmp_path):
    code = "from gohr.cli import main; main()"
    command = [sys.executable, "-W", "error", "-c", code, "captive", "--socket", "0", "--idle", "5"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            where = server.stderr.readline()
            port = int(re.search(r"127\.0\.0\.1:(\d+)", where).group(1))
            with closing(Client(port, "clockwise 9")) as client:
                client.ask("EXIT", 2)
            before = peak_mb(server.pid)
            asyncio.run(send_garbage(port))
            assert peak_mb(server.pid) - before < 8
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
        assert server.stderr.read() == ""


def peak_mb(pid: int) -> float:
    """Return the most memory that a process has held."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024
