"""A board under a steady load: nothing fails, nothing is lost, nothing grows.

The load: twenty pages a second by four readers, a person who plays without a pause, and a run that
is registered, sent and verified every three seconds. GNOMON_SOAK_S says for how many seconds; a
minute is enough to see a leak of a connection or a file for each request.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx
import numpy as np
import pytest

from playing import begin, invite
from serving import Server, serving
from small_season import make_account
from submitted import play_entry, register, send

pytestmark = [
    pytest.mark.full,
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
    pytest.mark.timeout(7200),
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc, as Linux has it"),
]
SECONDS = float(os.environ.get("GNOMON_SOAK_S", "24"))
#: How often it is looked what the server holds.
TIMES = 30
#: Most entries of an account in a season.
MAX_ENTRIES = 50
PAGES = ("/", "/seasons/spring", "/api/seasons/spring/standings", "/submit", "/healthz")


class Load:
    """Threads that ask a server until the time is over, and count what it answers."""

    def __init__(self, server: Server) -> None:
        self.server, self.statuses = server, Counter[int]()
        self.seconds: list[float] = []
        self._end = time.monotonic() + SECONDS
        self.failed, self._failures = threading.Event(), list[BaseException]()
        self._threads: list[threading.Thread] = []

    def every(self, pause_s: float, work: Callable[[httpx.Client, int], None]) -> None:
        """Do a piece of work again and again, at most once in ``pause_s``, in a thread."""

        def go_on() -> None:
            n = 0
            try:
                with httpx.Client(
                    base_url=self.server.url,
                    timeout=60,
                    event_hooks={"response": [self._count]},
                ) as client:
                    while (began := time.monotonic()) < self._end and not self.failed.is_set():
                        work(client, n)
                        n += 1
                        time.sleep(max(0.0, pause_s - (time.monotonic() - began)))
            except BaseException as failure:
                self._failures.append(failure)
                self.failed.set()

        self._threads.append(threading.Thread(target=go_on))
        self._threads[-1].start()

    def read(self, client: httpx.Client, n: int) -> None:
        """Read a page."""
        began = time.monotonic()
        answer = client.get(PAGES[n % len(PAGES)])
        assert answer.status_code == 200, answer.text
        self.seconds.append(time.monotonic() - began)

    def _count(self, answer: httpx.Response) -> None:
        self.statuses[answer.status_code] += 1

    def wait(self) -> None:
        """Wait for the end; raise what failed."""
        for thread in self._threads:
            thread.join()
        if self._failures:
            raise self._failures[0]

    def figures(self) -> str:
        """Return how much was asked and how soon the pages came, so far."""
        half, most = np.quantile(self.seconds or [np.nan], (0.5, 0.95))
        answers = ", ".join(f"{n} of {status}" for status, n in sorted(self.statuses.items()))
        return f"answers: {answers}; pages: median {half:.3f} s, 95% within {most:.3f} s"


def held(server: Server) -> tuple[int, float]:
    """Return how many files and sockets the server has open, and its mebibytes of memory."""
    files = Path(f"/proc/{server.process.pid}/fd").iterdir()
    return len([*files]), server.memory_mib()


def play_on(invitation: str, client: httpx.Client, n: int) -> None:
    """Begin a game as a person does, and make five attempts."""
    client.cookies.clear()
    game = begin(client, invitation)
    view = client.get(f"/api{game}").json()["view"]
    for number in range(5):
        body = {"cell": view["pieces"][0]["cell"], "bucket": number % 4}
        answer = client.post(f"/api{game}/attempts", json=body)
        assert answer.status_code == 200, answer.text
        view = answer.json()["view"]
        if view["state"] != "playing":
            return


def n_ranked(client: httpx.Client) -> int:
    return len(client.get("/api/seasons/spring/standings").json()["standings"]["ranked"])


def test_an_hour_in_a_minute(settings, database, season, tmp_path):
    unlimited = replace(
        settings,
        max_play_sessions_per_hour=10**6,
        requests_per_minute=10**6,
        submissions_per_hour=10**6,
    )
    with serving(unlimited) as server:
        with httpx.Client(base_url=server.url, timeout=60) as client:
            for path in PAGES:
                client.get(path)
        load, sent, tokens = Load(server), [], []

        def submit(client: httpx.Client, n: int) -> None:
            if n % MAX_ENTRIES == 0:
                tokens.append(make_account(database, f"laboratory {n}", "submit"))
            token = tokens[-1]
            entry = register(client, token, f"Learner {n}")["id"]
            packed = play_entry(client, entry, tmp_path / str(n))
            assert send(client, token, entry, packed).status_code == 202
            sent.append(entry)

        for _ in range(4):
            load.every(0.2, load.read)
        load.every(0.0, partial(play_on, invite(database, "clockwise")))
        load.every(3.0, submit)
        files, memory = [], []
        for _ in range(TIMES):
            load.failed.wait(SECONDS / TIMES)
            for seen, now in zip((files, memory), held(server), strict=True):
                seen.append(now)
            print(f"{files[-1]} files, {memory[-1]:.0f} MiB, {len(sent)} runs;", load.figures())
        load.wait()
        ended = time.monotonic()
        with httpx.Client(base_url=server.url, timeout=60) as client:
            until = ended + 60 + SECONDS / 6
            while n_ranked(client) < len(sent):
                assert time.monotonic() < until, (n_ranked(client), len(sent))
                time.sleep(0.2)
            print(f"the last run stood {time.monotonic() - ended:.0f} s after the load")
            assert client.get("/healthz").status_code == 200
        assert max(load.statuses) < 300, load.statuses
        assert files[-1] - files[TIMES // 3] < 20
        assert memory[-1] - memory[TIMES // 3] < 60
        assert memory[-1] < 238  # 250 MB, with the computations
        assert np.median(load.seconds) < 1.0
