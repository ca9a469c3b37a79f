"""One client floods the board: the pages of another come at once, and its log is taken."""

from __future__ import annotations

import asyncio
import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from gnomon.leaderboard.client.submit_run import Packed
from large_board import fill_drawn
from serving import Server, serving
from small_season import make_account
from submitted import bearer, play_entry, register, send

pytestmark = [
    pytest.mark.full,  # servers are flooded
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

#: The other client's page and upload, in seconds.
_PAGE_S, _UPLOAD_S = 0.3, 5.0
#: Loopback has many addresses; the victim's is another.
ATTACKER = "127.0.0.2"


class Victim:
    """Another client, who looks at pages and sends a log that is ready."""

    def __init__(self, server: Server, token: str, out: Path) -> None:
        self.client = httpx.Client(base_url=server.url, timeout=20)
        self._token = token
        self._entry = register(self.client, token, "Victim")["id"]
        self._packed = play_entry(self.client, self._entry, out)

    def is_served(self) -> None:
        """Best of five pages: it is the attack that may not slow it, not another test."""
        assert min(self._page() for _ in range(5)) < _PAGE_S
        began = time.monotonic()
        assert send(self.client, self._token, self._entry, self._packed).status_code == 202
        assert time.monotonic() - began < _UPLOAD_S

    def _page(self) -> float:
        began = time.monotonic()
        assert self.client.get("/", headers={"Accept": "text/html"}).status_code == 200
        return time.monotonic() - began


@pytest.fixture
def server(settings, database, season):
    with serving(replace(settings, slow_client_s=60.0), worker=False) as found:
        yield found


@pytest.fixture
def victim(server, token, tmp_path):
    found = Victim(server, token, tmp_path / "victim")
    yield found
    found.client.close()


@pytest.fixture
def attacker(database):
    return make_account(database, "mallory", "submit")


def connected(server: Server, data: bytes, source: str = ATTACKER) -> socket.socket:
    """Open a connection of the attacker's and say something."""
    found = socket.create_connection(("127.0.0.1", server.port), 20, source_address=(source, 0))
    found.sendall(data)
    return found


def test_five_hundred_half_sent_heads(server, victim):
    with ExitStack() as stack:
        half = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        heads = [stack.enter_context(connected(server, half)) for _ in range(500)]
        victim.is_served()
        most = server.settings.connections_per_address
        told = [each.recv(4096).split(b"\r\n")[0] for each in heads[most:]]
        assert set(told) == {b"HTTP/1.1 429 Too Many Requests"}
    # Those that have ended count no more.
    host = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with connected(server, host) as again:
            if again.recv(4096).startswith(b"HTTP/1.1 200"):
                return
    raise AssertionError("the address is refused for ever")


@pytest.mark.parametrize(
    "request_line", ["GET / HTTP/1.1", "POST /account/sign-in HTTP/1.1"], ids=["reads", "writes"]
)
def test_ninety_connections_that_ask_without_end(server, victim, request_line):
    """What one address asks for waits for its own turn, and not before another's."""
    body = b"token=gnomon_0123456789abcdef_" + b"a" * 43
    head = (
        f"{request_line}\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    )
    with asking_without_end(server, head.encode() + body):
        victim.is_served()


def test_ninety_connections_that_ask_for_what_is_not_kept(server, database, victim):
    """Pages that have to be made, each another one: comparisons, learners, pictures of learners."""
    fill_drawn(database, server.settings, 200)
    paths = ("/compare/{n}/4", "/entries/{n}", "/entries/{n}.json", "/entries/{n}/picture.png")
    for path in paths:  # what the first page of a kind imports
        assert victim.client.get(path.format(n=200)).status_code == 200, path
    heads = [f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() for path in paths]
    with asking_without_end(server, *heads):
        victim.is_served()


@contextmanager
def asking_without_end(server: Server, *messages: bytes) -> Iterator[None]:
    """Send messages from another process, in which ``{n}`` is another number each time."""
    flooding = subprocess.Popen(
        [sys.executable, "-c", _ASKING, str(server.port), *(each.hex() for each in messages)],
        stdout=subprocess.PIPE,
    )
    try:
        assert flooding.stdout is not None
        assert flooding.stdout.readline() == b"asking\n"
        yield
        assert flooding.poll() is None
    finally:
        flooding.kill()
        flooding.communicate()


#: Ask as fast as answers come, by ninety connections of an address, for a minute at most.
_ASKING = """
import asyncio, itertools, sys
port, messages = int(sys.argv[1]), [bytes.fromhex(each) for each in sys.argv[2:]]
numbers = itertools.count()

async def ask():
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.2", 0))
    while True:
        k = next(numbers)
        n = 5 + k // len(messages) % 190
        writer.write(messages[k % len(messages)].replace(b"{n}", b"%d" % n))
        head = await reader.readuntil(b"\\r\\n\\r\\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\\r\\n")[0]
        await reader.readexactly(int(length))

async def main():
    asking = [asyncio.create_task(ask()) for _ in range(90)]
    await asyncio.sleep(0.5)
    print("asking", flush=True)
    await asyncio.wait(asking, timeout=60)

asyncio.run(main())
"""


def test_five_hundred_idle_websockets_of_one_token(server, victim, attacker):
    """From many addresses, so that it is the token that is limited."""
    url = server.url.replace("http", "ws") + "/api/remote/play"

    async def attack() -> list[object]:
        def one(n: int):
            source = (f"127.0.0.{2 + n // 60}", 0)
            headers = bearer(attacker)
            return connect(url, additional_headers=headers, local_addr=source, open_timeout=60)

        found = await asyncio.gather(*(one(n) for n in range(500)), return_exceptions=True)
        await asyncio.to_thread(victim.is_served)
        for each in found:
            if not isinstance(each, BaseException):
                await each.close()
        return found

    found = asyncio.run(attack())
    refused = [each for each in found if isinstance(each, InvalidStatus)]
    assert {each.response.status_code for each in refused} == {429}
    assert len(found) - len(refused) == server.settings.websockets_at_once


def test_a_websocket_over_which_nobody_moves_is_closed(settings, season, token):
    with serving(replace(settings, idle_websocket_s=0.5), worker=False) as server:
        url = server.url.replace("http", "ws") + "/api/remote/play"

        async def idle() -> int | None:
            async with connect(url, additional_headers=bearer(token)) as websocket:
                await asyncio.wait_for(websocket.wait_closed(), 20)
                return websocket.close_code

        assert asyncio.run(idle()) == 1000


def announced(client: httpx.Client, token: str, out: Path) -> tuple[str, Packed]:
    """Play and announce a log of the attacker's; return its address and the log."""
    entry = register(client, token, "Mallory")["id"]
    packed = play_entry(client, entry, out / "attack")
    path = f"/api/entries/{entry}/attempts/1/submission"
    answer = client.put(path, json=packed.manifest, headers=bearer(token))
    return f"/api/submissions/{answer.json()['id']}", packed


def readers_of(server: Server) -> int:
    """How many processes the server has, which read logs."""
    children = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    return sum(len(path.read_text().split()) for path in children)


def test_seventy_uploads_at_once(server, victim, attacker, tmp_path):
    with httpx.Client(base_url=server.url, timeout=60) as client:
        path, packed = announced(client, attacker, tmp_path)
    statuses = []

    def upload(n: int) -> None:
        source = (f"127.0.0.{2 + n // 7}", 0)
        one = http.client.HTTPConnection("127.0.0.1", server.port, 60, source_address=source)
        try:
            one.request("PUT", f"{path}/log", packed.log, bearer(attacker))
            statuses.append(one.getresponse().status)
        finally:
            one.close()

    with ThreadPoolExecutor(70) as pool:
        done = [pool.submit(upload, n) for n in range(70)]
        victim.is_served()
        for each in done:
            each.result(60)
    assert set(statuses) == {202, 429}
    assert statuses.count(202) >= server.settings.uploads_at_once


def test_what_nobody_waits_for_is_dropped(server, attacker, tmp_path):
    """Clients send a whole log and leave: nothing of it is read to its end, or kept."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        path, packed = announced(client, attacker, tmp_path)
        head = (
            f"PUT {path}/log HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {attacker}\r\n"
            f"Content-Length: {len(packed.log)}\r\n\r\n"
        )
        for _ in range(server.settings.uploads_at_once):
            connected(server, head.encode() + packed.log).close()
        until = time.monotonic() + 20
        while any(server.settings.incoming.iterdir()) or readers_of(server):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert client.get(path).json()["state"] == "uploading"
