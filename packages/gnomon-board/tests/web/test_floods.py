"""One client floods the board: the pages of another come at once, and its log is taken."""

from __future__ import annotations

import hashlib
import itertools
import json
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse
from pathlib import Path

import httpx
import numpy as np
import pytest

from gnomon_board import Settings
from gohr import TrialLog
from gohr.experiments import write_log
from large_board import filled_board
from serving import Server, pages_come_soon, serving
from small_season import make_account, make_season
from submitted import bearer, play_entry, register, repacked, send

pytestmark = pytest.mark.full  # a server is flooded

#: The other client's upload, in seconds.
_UPLOAD_S = 5.0
#: And its upload of one trial during an attack with logs that are too large.
_ONE_TRIAL_S = 2.0
#: Loopback has many addresses; the victim's is another.
ATTACKER = "127.0.0.2"


class Victim:
    """Another client, who looks at pages and sends a log that is ready."""

    def __init__(self, server: Server, token: str, name: str, out: Path) -> None:
        self.client = httpx.Client(base_url=server.url, timeout=20)
        self.token = token
        self._entry = register(self.client, token, name)["id"]
        self._packed = play_entry(self.client, self._entry, out)

    def is_served(self) -> None:
        """Every page comes soon, and a log is taken."""
        began = time.monotonic()
        assert send(self.client, self.token, self._entry, self._packed).status_code == 202
        upload_s = time.monotonic() - began
        pages_come_soon(self.client, "/", "/seasons/spring")
        assert upload_s < _UPLOAD_S


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    data = tmp_path_factory.mktemp("floods") / "data"
    data.mkdir()
    # No account meets its hourly limit: 429 then means that too much is open at once.
    return Settings(data, slow_client_s=60.0, submissions_per_hour=100_000)


@pytest.fixture(scope="module")
def database(settings):
    found = filled_board(settings, 200)
    make_season(found)
    yield found
    found.close()


@pytest.fixture(scope="module")
def server(settings, database):
    """One for all floods: what one has done to it must not show in the next."""
    with serving(settings, worker=False, warm=True) as found:
        yield found
    assert "ClientDisconnect" not in found.log.read_text()  # who leaves is no fault of ours


@pytest.fixture
def victim(server, database, tmp_path):
    name = f"victim of {tmp_path.name}"
    found = Victim(server, make_account(database, name, "submit"), name, tmp_path / "victim")
    yield found
    found.client.close()


@pytest.fixture
def attacker(database, tmp_path):
    return make_account(database, f"attacker of {tmp_path.name}", "submit")


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
    host = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with connected(server, host) as again:
            if again.recv(4096).startswith(b"HTTP/1.1 200"):
                return
    raise AssertionError("the address is refused for ever")


def test_a_thousand_half_sent_heads_of_twenty_addresses(server, victim):
    """None has too many; and none that waits keeps another from being answered."""
    half = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with ExitStack() as stack:
        heads = [
            stack.enter_context(connected(server, half, f"127.0.0.{2 + n // 50}"))
            for n in range(1000)
        ]
        victim.is_served()
        heads[-1].sendall(b"\r\n")
        assert heads[-1].recv(4096).startswith(b"HTTP/1.1 200")


#: Connect, ask what is refused, and leave, as often as it goes, for a minute at most.
_LEAVING = """
import socket, sys, time
until = time.monotonic() + 60
while time.monotonic() < until:
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5, ("127.0.0.77", 0)) as one:
            one.sendall(b"GET / HTTP/1.1\\r\\nHost: elsewhere.org\\r\\n\\r\\n")
    except OSError:
        pass
    print(flush=True)
"""


def test_thousands_of_connections_a_second_that_leave_at_once(server, victim):
    """Their refusals would wait for their turn, ever more of them, and keep everybody else out."""
    leaving = [sys.executable, "-c", _LEAVING, str(server.port)]
    with subprocess.Popen(leaving, stdout=subprocess.PIPE, text=True) as flooding:
        try:
            assert flooding.stdout is not None
            for _ in range(1000):
                flooding.stdout.readline()
            victim.is_served()
            assert flooding.poll() is None
        finally:
            flooding.kill()


@pytest.mark.parametrize(
    "request_line", ["GET / HTTP/1.1", "POST /api/session HTTP/1.1"], ids=["reads", "writes"]
)
def test_ninety_connections_that_ask_without_end(server, victim, request_line):
    """What one address asks for waits for its own turn, and not before another's."""
    body = b'{"token": "gnomon_0123456789abcdef_' + b"a" * 43 + b'"}'
    head = (
        f"{request_line}\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/json\r\n\r\n"
    )
    with asking_without_end(server, head.encode() + body):
        victim.is_served()


def test_ninety_connections_that_ask_for_what_is_not_kept(server, victim):
    """Pages that have to be made, each another one."""
    paths = ("/entries/{n}",)
    for path in paths:  # what the first page of a kind imports
        assert victim.client.get(path.format(n=200)).status_code == 200, path
    heads = [f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() for path in paths]
    with asking_without_end(server, *heads):
        victim.is_served()


_BLOCKS = itertools.count(1)


@contextmanager
def asking_without_end(
    server: Server, *messages: bytes, addresses: int = 1
) -> Iterator[Counter[int]]:
    """Send messages from another process, in which ``{n}`` is another number each time.

    Each flood has addresses of its own, so that the limits of one do not end the next.

    In the end the counter holds the statuses of the answers; 0 counts the connections that ended
    with none, as they may for who still sends a body that is refused.
    """
    flooding = subprocess.Popen(
        [sys.executable, "-c", _ASKING, str(server.port), str(addresses), f"127.0.{next(_BLOCKS)}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    statuses: Counter[int] = Counter()
    assert flooding.stdin is not None
    assert flooding.stdout is not None
    try:
        flooding.stdin.write("\n".join([*(each.hex() for each in messages), "ask\n"]))
        flooding.stdin.flush()
        assert flooding.stdout.readline() == "asking\n"
        yield statuses
        assert flooding.poll() is None
        flooding.stdin.close()
        statuses.update(map(int, flooding.stdout.read().split()))
        print("asked without end:", dict(statuses))
    finally:
        flooding.kill()
        flooding.wait()
        flooding.stdin.close()
        flooding.stdout.close()


#: Ask as fast as answers come, by ninety connections of so many addresses, for a minute at most or
#: until standard input ends; then tell the statuses of the answers.
_ASKING = """
import itertools, os, socket, sys, threading
from http.client import HTTPException, HTTPResponse
port, addresses, block = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
messages = [bytes.fromhex(line) for line in iter(sys.stdin.readline, "ask\\n")]
numbers, statuses = itertools.count(), []

def ask(address):
    while True:
        with socket.create_connection(("127.0.0.1", port), 60, (address, 0)) as connection:
            while answer_of(connection):
                pass

def answer_of(connection):
    k = next(numbers)
    message = messages[k % len(messages)].replace(b"{n}", b"%d" % (5 + k // len(messages) % 190))
    try:
        connection.sendall(message)
    except ConnectionError:
        pass  # what was answered before the end of a message is read all the same
    try:
        with HTTPResponse(connection) as answer:
            answer.begin()
            answer.read()
            statuses.append(answer.status)
            return not answer.will_close
    except (ConnectionError, HTTPException):
        statuses.append(0)

for n in range(90):
    threading.Thread(target=ask, args=(f"{block}.{2 + n % addresses}",), daemon=True).start()
threading.Event().wait(0.5)
print("asking", flush=True)
ended = threading.Thread(target=sys.stdin.read, daemon=True)
ended.start()
ended.join(60)
print(*statuses, flush=True)
os._exit(0)  # the threads still ask
"""


def announced(
    client: httpx.Client, token: str, out: Path, *, log: bytes = b"", told: int = 0
) -> tuple[str, bytes]:
    """Announce a log (by default a played one) of a stated size; return its path and its upload."""
    kind = "none" if log else "good"
    entry = register(client, token, f"{kind} of {out.name}")["id"]
    packed = play_entry(client, entry, out / kind)
    log = log or packed.log
    digest = hashlib.sha256(log).hexdigest()
    manifest = packed.manifest | {"log_sha256": digest, "log_bytes": told or len(log)}
    path = f"/api/entries/{entry}/attempts/1/submission"
    answer = client.put(path, json=manifest, headers=bearer(token))
    head = (
        f"PUT /api/submissions/{answer.json()['id']}/log HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(log)}\r\n\r\n"
    )
    return f"/api/submissions/{answer.json()['id']}", head.encode() + log


def status_of(server: Server, message: bytes, source: str = "127.0.0.99") -> int:
    """Send one message, from where no flood came, and return the status of its answer."""
    with connected(server, message, source) as one, HTTPResponse(one) as answer:
        answer.begin()
        return answer.status


def test_seventy_uploads_at_once(server, victim, attacker, tmp_path):
    """From ten addresses, so that it is the account that is limited; each is answered."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        _, message = announced(client, attacker, tmp_path)
    statuses: list[int] = []

    def upload(n: int) -> None:
        statuses.append(status_of(server, message, f"127.0.0.{2 + n // 7}"))

    with ThreadPoolExecutor(70) as pool:
        done = [pool.submit(upload, n) for n in range(70)]
        victim.is_served()
        for each in done:
            each.result(60)
    assert set(statuses) == {202, 429}


@pytest.mark.parametrize("addresses", [1, 10])
def test_ninety_uploads_without_end(server, victim, attacker, tmp_path, addresses):
    """Of one account: a log, and one of which only the worker finds that it is none."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        _, good = announced(client, attacker, tmp_path)
        _, bad = announced(client, attacker, tmp_path, log=tmp_path.name.encode() * 1000)
    assert [status_of(server, each) for each in (good, bad)] == [202, 202]
    with asking_without_end(server, good, bad, addresses=addresses) as statuses:
        victim.is_served()
    assert {202, 429} <= set(statuses) <= {0, 202, 429}


@pytest.mark.parametrize("knows_a_token", [True, False])
def test_ninety_large_texts_without_end(server, victim, attacker, tmp_path, knows_a_token):
    """Announcements with many settings, which are not kept; and JSON whose names are all wrong."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        entry = register(client, attacker, f"texts of {tmp_path.name}")["id"]
    learner = {"kind": "uniform", "name": "x"}
    log = {"log_sha256": "0" * 64, "log_bytes": 9}
    bodies = (
        log | {"learner": learner | {f"k{n}": [0] * 10 for n in range(6_000)}},
        log | {"learner": learner | {"a": [0] * 80_000}},
        {f"k{n}": 1 for n in range(15_000)},
    )
    token = f"Authorization: Bearer {attacker}\r\n" if knows_a_token else ""
    messages = [
        f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{token}"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        for line, body in (
            *(
                (
                    f"PUT /api/entries/{entry}/attempts/1/submission",
                    json.dumps(each),
                )
                for each in bodies
            ),
            ("POST /api/seasons/spring/entries", json.dumps({f"k{n}": 1 for n in range(15_000)})),
        )
    ]
    expected = [200, 200, 422, 422] if knows_a_token else [401] * 4
    assert [status_of(server, each) for each in messages] == expected
    with asking_without_end(server, *messages) as statuses:
        victim.is_served()
    assert set(statuses) <= {0, 429, *expected}


def test_what_was_not_sent_to_its_end_is_dropped(server, attacker, tmp_path):
    with httpx.Client(base_url=server.url, timeout=60) as client:
        path, message = announced(client, attacker, tmp_path)
        for missing in range(1, 8):
            connected(server, message[: len(message) - missing]).close()
        until = time.monotonic() + 20
        while any(server.settings.incoming.iterdir()):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert client.get(path).json()["state"] == "uploading"


def test_logs_that_are_too_large_hold_up_no_other(settings, victim, attacker, tmp_path):
    """Ten million attempts where 600 can be, and 62 MB where one was announced, again and again.

    Logs of one trial are sent until two were taken in time, six at most: an attack delays each
    of them, and other work on the machine some.
    """
    n = 10_000_000
    board, nothing = np.zeros((1, 36), np.uint8), np.zeros(n, np.uint8)
    rows = write_log(
        {("clockwise", 0): TrialLog(board, np.array([n]), nothing, nothing, nothing[:1])}
    )
    large = bytes(62 << 20)
    with serving(settings) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        _, message = announced(client, attacker, tmp_path / "rows", log=rows)
        assert status_of(server, message) == 202
        _, message = announced(client, attacker, tmp_path / "bomb", log=large, told=10**6)
        with asking_without_end(server, message) as statuses:
            seconds: list[float] = []
            while len(seconds) < 6 and sum(each < _ONE_TRIAL_S for each in seconds) < 2:
                k = len(seconds)
                entry = register(client, victim.token, f"one row {k}")["id"]
                packed = play_entry(client, entry, tmp_path / str(k))
                one_trial = repacked(packed, lambda log: dict([*log.items()][:1]))
                began = time.monotonic()
                assert send(client, victim.token, entry, one_trial).status_code == 202
                seconds.append(time.monotonic() - began)
        print("one trial taken in", np.round(seconds, 2), "s")
        assert sum(each < _ONE_TRIAL_S for each in seconds) == 2, seconds
        assert set(statuses) <= {0, 413, 429}
