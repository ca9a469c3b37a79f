"""The leaderboard over loopback: fifty people at the game, and the standings of a large season."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import Measurement

N_PEOPLE, PLAY_S, THOUGHT_S = 50, 20.0, (0.2, 1.0)
N_LEARNERS, N_RULES, N_TRIALS = 200, 60, 5
N_READERS, READ_S = 8, 5.0

_SERVER = """
import sys
from pathlib import Path
from gnomon.web.server import serve
from gnomon.leaderboard.server_settings import ServerSettings
settings = ServerSettings(
    Path(sys.argv[1]), requests_per_minute=10**9, max_play_sessions_per_hour=10**9
)
serve(settings, "127.0.0.1", 0, worker=False, on_start=lambda s: print(s.url, flush=True))
"""


def measure() -> Iterator[Measurement]:
    """Measure a real server on SQLite; it shares its cores with the client."""
    with tempfile.TemporaryDirectory() as folder, _served(Path(folder)) as port:
        waits = asyncio.run(_people(port))
        thought = f"{THOUGHT_S[0]:g} to {THOUGHT_S[1]:g} s of thought"
        note = f"{len(waits)} moves in {PLAY_S:g} s, {thought} between two"
        for share, target in ((50, None), (95, 50.0), (99, None)):
            value = 1000 * float(np.percentile(waits, share))
            name = f"a move, {N_PEOPLE} people at once, p{share}"
            yield Measurement(name, value, "ms", target, higher_is_better=False, note=note)
    with tempfile.TemporaryDirectory() as folder:
        _large_season(Path(folder))
        with _served(Path(folder)) as port:
            yield from _standings(port, Path(folder))


@contextmanager
def _served(folder: Path) -> Iterator[int]:
    """Start a server, and end it."""
    command = [sys.executable, "-c", _SERVER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline().strip().rpartition(":")[2])
        finally:
            server.terminate()
            server.wait(60)


# -- a client that costs little, since it shares the cores -------------------------------------


@dataclass
class _Connection:
    """One connection that is kept open."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    port: int

    @classmethod
    async def open(cls, port: int) -> _Connection:
        return cls(*await asyncio.open_connection("127.0.0.1", port), port)

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Send a request, and return status and body of the answer."""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        said = await self.reader.readuntil(b"\r\n\r\n")
        fields = dict(
            line.lower().split(": ", 1) for line in said.decode().split("\r\n")[1:] if line
        )
        content = await self.reader.readexactly(int(fields.get("content-length", 0)))
        return int(said[9:12]), content


async def _all(n: int, work: Callable[[int], Awaitable[None]]) -> None:
    await asyncio.gather(*(work(i) for i in range(n)))


# -- people ------------------------------------------------------------------------------------


async def _people(port: int) -> list[float]:
    """Let people play at random for a while; return how long each move took, in seconds."""
    waits: list[float] = []

    async def person(number: int) -> None:
        rng = random.Random(number)
        connection = await _Connection.open(port)
        key, view = await _begun(connection, number)
        await asyncio.sleep(rng.uniform(1, 3))
        end = time.perf_counter() + PLAY_S
        while time.perf_counter() < end:
            if view["state"] != "playing":
                action = "next" if view["state"] == "board over" else ""
                if not action:
                    key, view = await _begun(connection, number)
                    continue
                view = await _post(connection, key, action, {})
            piece = rng.choice(view["pieces"])
            start = time.perf_counter()
            body = {"cell": piece["cell"], "bucket": rng.randrange(4)}
            view = await _post(connection, key, "attempts", body)
            waits.append(time.perf_counter() - start)
            await asyncio.sleep(rng.uniform(*THOUGHT_S))

    # The first move in a process has code to load.
    connection = await _Connection.open(port)
    key, view = await _begun(connection, 0)
    await _post(connection, key, "attempts", {"cell": view["pieces"][0]["cell"], "bucket": 0})
    await _all(N_PEOPLE, person)
    return waits


async def _begun(connection: _Connection, number: int) -> tuple[str, dict[str, Any]]:
    status, body = await connection.ask("POST", f"/play/puzzle-{1 + number % 60}.json", b"{}")
    assert status == 201, body
    told = json.loads(body)
    return told["key"], told["game"]["view"]


async def _post(
    connection: _Connection, key: str, action: str, body: dict[str, int]
) -> dict[str, Any]:
    path = f"/play/games/{key}/{action}.json"
    status, said = await connection.ask("POST", path, json.dumps(body).encode())
    assert status == 200, said
    view: dict[str, Any] = json.loads(said)["view"]
    return view


# -- readers -----------------------------------------------------------------------------------


def _large_season(folder: Path) -> None:
    """Write a season with a verified submission of every learner."""
    from sqlalchemy import insert

    from gnomon.database import schema as tables
    from gnomon.database.columns import now
    from gnomon.leaderboard.accounts.accounts import make_account
    from gnomon.leaderboard.server_settings import ServerSettings
    from gnomon.web.server import prepare

    database, _ = prepare(ServerSettings(folder))
    rng, at = np.random.default_rng(0), now()
    skill, hardness = rng.uniform(1, 3, N_LEARNERS), rng.uniform(0.5, 2, N_RULES)
    with database.writing() as session:
        account = make_account(session, "many")
        rules = [
            tables.SeasonRule(position=i, name=f"rule-{i:02d}", text="(*,*,*,*,*)")
            for i in range(N_RULES)
        ]
        season = tables.Season(
            name="large",
            title="A large season",
            division="replayed",
            board={"pieces": [9, 9], "shapes": [4, 4], "colors": [4, 4]},
            trials=N_TRIALS,
            episodes=10,
            horizon=100,
            rules=rules,
        )
        session.add(season)
        session.flush()
        rows = []
        for i in range(N_LEARNERS):
            entry = tables.Entry(
                season_id=season.id,
                account_id=account.id,
                name=f"learner {i:03d}",
                name_key=f"learner {i:03d}",
            )
            attempt = tables.EntryAttempt(entry=entry, number=1, seed=i)
            submission = tables.Submission(
                season=season,
                attempt=attempt,
                state="verified",
                manifest={},
                log_sha256=f"{i:064d}",
                log_format="parquet",
                log_bytes=1,
                verified_at=at,
            )
            session.add(submission)
            session.flush()
            rows += [
                {
                    "submission_id": submission.id,
                    "rule_id": rule.id,
                    "number": number,
                    "tce": float(rng.poisson(30 * skill[i] * hardness[k])),
                    "n_episodes": 10,
                    "n_attempts": 100,
                    "n_moves": 90,
                    "n_cleared": 10,
                    "curve": [],
                    "log_sha256": "0" * 64,
                }
                for k, rule in enumerate(rules)
                for number in range(N_TRIALS)
            ]
        session.execute(insert(tables.VerifiedTrial), rows)
    database.close()


def _standings(port: int, folder: Path) -> Iterator[Measurement]:
    size = f"{N_LEARNERS} learners x {N_RULES} rules x {N_TRIALS} trials"
    start = time.perf_counter()
    asyncio.run(_until_current(port))
    note = f"{size}; in a process of its own, while the page says so"
    yield Measurement("standings computed", time.perf_counter() - start, "s", note=note)
    n, n_bytes = asyncio.run(_read(port))
    note = f"{size}, {n_bytes / 1024:.0f} KiB a page, from cache, {N_READERS} connections"
    yield Measurement("standings page", n / READ_S, "requests/s", 200, note=note)
    _withdraw_one(folder)
    start = time.perf_counter()
    asyncio.run(_until_current(port))
    _, page = asyncio.run(_once(port, "/seasons/large"))
    assert b">learner 000<" not in page.partition(b"Without a rank")[0]
    note = (
        "after a submission was withdrawn; until then the page shows the board before, and says so"
    )
    yield Measurement("standings right again", time.perf_counter() - start, "s", note=note)


async def _once(port: int, path: str) -> tuple[int, bytes]:
    return await (await _Connection.open(port)).ask("GET", path)


async def _until_current(port: int) -> None:
    """Ask until the standings are those of the season as it is."""
    for _ in range(1200):
        _, body = await _once(port, "/seasons/large.json")
        if json.loads(body)["is_current"]:
            return
        await asyncio.sleep(0.25)
    raise TimeoutError("the standings were not computed within five minutes")


async def _read(port: int) -> tuple[int, int]:
    """Read the page over and over; return how often, and how large it is."""
    counts = [0] * N_READERS
    sizes = [0] * N_READERS

    async def reader(number: int) -> None:
        connection = await _Connection.open(port)
        end = time.perf_counter() + READ_S
        while time.perf_counter() < end:
            status, body = await connection.ask("GET", "/seasons/large")
            assert status == 200
            counts[number] += 1
            sizes[number] = len(body)

    await _once(port, "/seasons/large")
    await _all(N_READERS, reader)
    return sum(counts), max(sizes)


def _withdraw_one(folder: Path) -> None:
    from gnomon.database.engine import Database
    from gnomon.leaderboard.server_settings import ServerSettings
    from gnomon.leaderboard.submissions.submission import find_submission, withdraw

    database = Database(ServerSettings(folder).database)
    with database.writing() as session:
        withdraw(session, find_submission(session, 1), "a mistake", by=1)
    database.close()
