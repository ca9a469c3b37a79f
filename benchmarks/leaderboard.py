"""The leaderboard under load: a real server on loopback, with clients that are bounded."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.record import Measurement, best_seconds
from gnomon_board import Settings
from gnomon_board.database import Database
from gnomon_board.evidence import keep_bytes
from gnomon_board.schema import (
    Account,
    Entry,
    EntryAttempt,
    Season,
    SeasonRule,
    Submission,
    VerifiedTrial,
)
from gnomon_board.studies import StudyPlan, make_study
from gnomon_board.submissions import set_state
from gnomon_board.verification import answer
from gnomon_board.web.backup import back_up
from gnomon_board.web.server import prepare
from gohr.experiments import ExperimentConfig, trials_of, verify_log, write_log

N_LEARNERS, N_RULES, N_TRIALS = 200, 60, 3
N_PLAYERS, N_MOVES, THINK_S = 100, 15, 1.0
PAGE_S, N_CLIENTS = 5.0, 4


def measure() -> Iterator[Measurement]:
    """Measure the standings page, people at play, verification and backup."""
    yield from _verification()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            Path(folder) / "data",
            # An empty database of PostgreSQL; SQLite if it is not set.
            os.environ.get("GNOMON_DATABASE_URL", ""),
            requests_per_minute=10**7,
            max_play_sessions_per_hour=10**6,
            connections_per_address=1000,
        )
        database, _ = prepare(settings)
        _fill(database, settings)
        plan = {"name": "load", "title": "Load", "consent": "Yes.", "lists": {"a": ["clockwise"]}}
        with database.writing() as session:
            invitation = f"/join/{make_study(session, StudyPlan.from_record(plan))[1]}"
        with _serving(settings) as (process, (host, port)):
            yield from _standings(database, settings, host, port)
            yield from _players(host, port, invitation)
            note = "server and computations, with figures, an archive and players; Pss"
            for path in ("entries/1", "seasons/load/rules/rule-01", "seasons/load/season.zip"):
                asyncio.run(_get(host, port, f"/{path}", timeout_s=60))
            yield Measurement("memory", _memory_mb(process), "MB", 250.0, False, note)
        yield from _backup(database, settings, Path(folder))
        database.close()


def _verification() -> Iterator[Measurement]:
    """Time what the process of a worker does with a log: read, check, replay and score."""
    config = ExperimentConfig("load", ["clockwise", "color-match"], ["uniform"], trials=25)
    trials = {(trial.rule.name, trial.number): trial.play() for trial in trials_of(config)}
    n_attempts = sum(trial.actions.size for trial in trials.values())
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        log.write_bytes(write_log(trials))
        request = {
            "log": str(log),
            "sha256": hashlib.sha256(log.read_bytes()).hexdigest(),
            "origin": "server",
            "learner": "uniform",
            "assignment": config.to_record(),
            "max_rows": n_attempts,
            "max_bytes": 1 << 30,
        }
        seconds = best_seconds(lambda: answer(request), 5)
        seconds_of_replay = best_seconds(lambda: list(verify_log(trials, config)), 5)
    note = f"{n_attempts} attempts of {len(trials)} trials, one process"
    for name, spent in (
        ("verification: read, check, replay, score", seconds),
        ("verification: check and replay alone", seconds_of_replay),
    ):
        yield Measurement(name, n_attempts / spent / 1e6, "M attempts/s", 1.0, note=note)


def _standings(
    database: Database, settings: Settings, host: str, port: int
) -> Iterator[Measurement]:
    board = f"{N_LEARNERS} learners x {N_RULES} rules x {N_TRIALS} trials"
    seconds, page = _shown(host, port, b"Learner 0")
    yield Measurement("standings, first time", seconds, "s", 1.0, False, board)
    with _trivial(page) as (_, (other_host, other_port)):
        trivial, _ = asyncio.run(_hammer(other_host, other_port, "/"))
        rate, p95 = asyncio.run(_hammer(host, port, "/seasons/load"))
    note = f"{board}, {len(page) / 1024:.0f} KiB, {N_CLIENTS} connections for {PAGE_S:g} s"
    yield Measurement("standings page from cache", rate, "requests/s", 1500.0, note=note)
    note = f"Starlette answers the same bytes {trivial:.0f} times a second"
    yield Measurement("standings page over a trivial application", rate / trivial, "", note=note)
    yield Measurement("standings page from cache, p95", p95, "ms", note="the same")
    name = "The newest learner"
    _add_learner(database, settings, N_LEARNERS, name)
    # It stands last, on a page far behind the first.
    seconds, _ = _shown(host, port, name.encode(), "/seasons/load?q=newest")
    yield Measurement("new submission on the page", seconds, "s", 1.0, False, board)


def _memory_mb(process: int) -> float:
    """Return the memory of a process and its children; shared pages are divided among users."""
    kibibytes = 0
    tasks = Path(f"/proc/{process}/task").iterdir()
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    for number in (process, *children):
        lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
        [size] = [line.split()[1] for line in lines if line.startswith("Pss:")]
        kibibytes += int(size)
    return kibibytes * 1024 / 1e6


def _shown(host: str, port: int, text: bytes, path: str = "/seasons/load") -> tuple[float, bytes]:
    """Wait until the standings show a text; return how long it took, and the page."""
    start = time.perf_counter()
    while text not in (page := asyncio.run(_get(host, port, path, timeout_s=600))):
        if time.perf_counter() - start > 600:
            raise AssertionError(f"the standings do not show {text!r}")
        time.sleep(0.02)
    return time.perf_counter() - start, page


def _players(host: str, port: int, invitation: str) -> Iterator[Measurement]:
    """Time moves, and the server's own processor time of each, from its figures."""
    before = _processor_s(host, port)
    waits = asyncio.run(_play(host, port, invitation))
    used = (_processor_s(host, port) - before) / len(waits) * 1e3
    note = (
        f"{N_PLAYERS} at once, {len(waits)} moves, {THINK_S:g} s of thought on average, "
        "server and players on the same cores, no wait for the disk"
    )
    p95 = float(np.percentile(waits, 95)) * 1e3
    yield Measurement("a move, p95", p95, "ms", 15.0, higher_is_better=False, note=note)
    yield Measurement("a move, median", statistics.median(waits) * 1e3, "ms", note="the same")
    note = "the same, the beginning of each game included"
    yield Measurement("a move, processor time", used, "ms", 5.0, False, note)


def _processor_s(host: str, port: int) -> float:
    figures = asyncio.run(_get(host, port, "/metrics", timeout_s=60)).decode()
    (line,) = (x for x in figures.splitlines() if x.startswith("process_cpu_seconds_total "))
    return float(line.split()[1])


def _backup(database: Database, settings: Settings, folder: Path) -> Iterator[Measurement]:
    """Time a backup while somebody writes."""
    stop = threading.Event()
    written: list[int] = []

    def write() -> None:
        while not stop.is_set():
            number = N_LEARNERS + 1 + len(written)
            written.append(number)
            _add_learner(database, settings, number, f"Learner {number}")

    writer = threading.Thread(target=write)
    writer.start()
    start = time.perf_counter()
    record = back_up(settings, database, folder / "backup")
    seconds = time.perf_counter() - start
    stop.set()
    writer.join()
    note = f"{record['logs']} logs, during writes"
    yield Measurement("backup", seconds, "s", note=note)


@contextmanager
def _serving(settings: Settings) -> Iterator[tuple[int, tuple[str, int]]]:
    """Run the server in a process of its own."""
    program = (
        "import sys\n"
        "from gnomon_board.web.server import serve\n"
        "from gnomon_board import Settings\n"
        "settings = Settings.from_json(sys.stdin.readline())\n"
        "serve(settings, '127.0.0.1', 0, worker=False,"
        " on_start=lambda url, token: print(url, flush=True))\n"
    )
    with _run(program, settings.to_json()) as run:
        yield run


@contextmanager
def _trivial(page: bytes) -> Iterator[tuple[int, tuple[str, int]]]:
    """Serve one answer by Starlette, in a process of its own."""
    program = (
        "import base64, socket, sys, uvicorn\n"
        "from starlette.applications import Starlette\n"
        "from starlette.responses import Response\n"
        "from starlette.routing import Route\n"
        "page = base64.b64decode(sys.stdin.readline())\n"
        "async def answer(request):\n"
        "    return Response(page, media_type='text/html')\n"
        # asyncio turns Nagle's algorithm off only for sockets that name their protocol.
        "listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)\n"
        "listening.bind(('127.0.0.1', 0))\n"
        "listening.listen()\n"
        "print(f'http://127.0.0.1:{listening.getsockname()[1]}', flush=True)\n"
        "app = Starlette(routes=[Route('/', answer)])\n"
        "config = uvicorn.Config(app, access_log=False, log_level='error')\n"
        "uvicorn.Server(config).run(sockets=[listening])\n"
    )
    with _run(program, base64.b64encode(page).decode()) as run:
        yield run


@contextmanager
def _run(program: str, line: str) -> Iterator[tuple[int, tuple[str, int]]]:
    """Run a server that reads a line and writes its address; yield its process and address."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()
        try:
            host, _, port = process.stdout.readline().strip().removeprefix("http://").partition(":")
            yield process.pid, (host, int(port))
        finally:
            process.terminate()
            process.wait(60)


@dataclass
class _Connection:
    """A kept-alive connection that asks one thing at a time."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def to(cls, host: str, port: int) -> _Connection:
        return cls(*await asyncio.open_connection(host, port))

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Accept: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        await self.writer.drain()
        answer = await self.reader.readuntil(b"\r\n\r\n")
        lines = answer.decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        data = await self.reader.readexactly(int(fields["content-length"]))
        return int(lines[0].split()[1]), data


async def _get(host: str, port: int, path: str, *, timeout_s: float) -> bytes:
    connection = await _Connection.to(host, port)
    status, data = await asyncio.wait_for(connection.ask("GET", path), timeout_s)
    connection.writer.close()
    if status != 200:
        raise AssertionError(f"{path}: expected status 200, found {status}: {data[:200]!r}")
    return data


async def _hammer(host: str, port: int, path: str) -> tuple[float, float]:
    """Return the requests a second, and the 95th percentile of their times in ms."""
    waits: list[float] = []
    end = time.perf_counter() + PAGE_S

    async def one() -> None:
        connection = await _Connection.to(host, port)
        while (start := time.perf_counter()) < end:
            status, _ = await connection.ask("GET", path)
            if status != 200:
                raise AssertionError(f"expected status 200, found {status}")
            waits.append(time.perf_counter() - start)
        connection.writer.close()

    await asyncio.gather(*(one() for _ in range(N_CLIENTS)))
    return len(waits) / PAGE_S, float(np.percentile(waits, 95)) * 1e3


async def _play(host: str, port: int, invitation: str) -> list[float]:
    """Let people play, each at their own pace; return how long each move took."""
    waits: list[float] = []

    async def person(k: int) -> None:
        draws = random.Random(k)
        connection = await _Connection.to(host, port)
        status, data = await connection.ask("POST", f"/api{invitation}", b'{"agree": true}')
        if status != 201:
            raise AssertionError(f"expected status 201, found {status}: {data[:200]!r}")
        player = json.loads(data)["address"]
        _, data = await connection.ask("POST", f"/api{player}/go-on", b"")
        path = f"/api{json.loads(data)['address']}/attempts"
        for _ in range(N_MOVES):
            await asyncio.sleep(THINK_S * draws.uniform(0.5, 1.5))
            move = {"cell": draws.randint(1, 36), "bucket": draws.randint(0, 3)}
            start = time.perf_counter()
            status, data = await connection.ask("POST", path, json.dumps(move).encode())
            if status not in (200, 409, 422):
                raise AssertionError(f"expected a reply, found {status}: {data[:200]!r}")
            waits.append(time.perf_counter() - start)
        connection.writer.close()

    await asyncio.gather(*(person(k) for k in range(N_PLAYERS)))
    return waits


def _fill(database: Database, settings: Settings) -> None:
    """Make a season as large as the target says, with scores drawn at random."""
    with database.writing() as session:
        rules = [
            SeasonRule(position=k, name=f"rule-{k:02}", text="(*,*,*,*,[0,1])\n", family="load")
            for k in range(N_RULES)
        ]
        board = {"pieces": [9, 9], "shapes": [4, 4], "colors": [4, 4]}
        session.add(
            Season(
                name="load",
                title="Load",
                division="replayed",
                board=board,
                trials=N_TRIALS,
                episodes=200,
                horizon=100,
                rules=rules,
            )
        )
    for k in range(N_LEARNERS):
        _add_learner(database, settings, k, f"Learner {k}")


def _add_learner(database: Database, settings: Settings, k: int, name: str) -> None:
    """Add an entry with a verified submission, as a worker leaves it."""
    draws = np.random.default_rng([k])
    log = f"log {k}".encode()
    sha256 = hashlib.sha256(log).hexdigest()
    keep_bytes(settings, sha256, log)
    with database.writing() as session:
        season = session.query(Season).one()
        account = Account(name=name, name_key=name)
        entry = Entry(season=season, account=account, name=name, name_key=name)
        attempt = EntryAttempt(entry=entry, number=1, seed=k)
        submission = Submission(
            season=season,
            attempt=attempt,
            learner=name,
            log_sha256=sha256,
            log_bytes=len(log),
        )
        errors = draws.gamma(2.0, 50.0 + k, (N_RULES, N_TRIALS)).round()
        submission.trials = [
            VerifiedTrial(
                rule=rule,
                number=number,
                tce=float(errors[place, number]),
                errors_to_learn=None,
                n_episodes=200,
                n_attempts=3000,
                n_moves=1800,
                n_cleared=200,
                curve=np.linspace(0, errors[place, number], 200).astype(int).tolist(),
                log_sha256=hashlib.sha256(f"{k} {place} {number}".encode()).hexdigest(),
            )
            for place, rule in enumerate(season.rules)
            for number in range(N_TRIALS)
        ]
        session.add(submission)
        session.flush()
        set_state(session, submission, "verified", "as if")
