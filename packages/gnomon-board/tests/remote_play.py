"""A hidden season, and a way to play it by plain requests."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from sqlalchemy import update

from gnomon_board import Settings
from gnomon_board.database import Database
from gnomon_board.schema import Season, SeasonRule, now
from gnomon_board.worker import work
from gohr import ExperimentConfig
from small_season import make_season
from submitted import bearer, register

_TEXT = "(shape:star, bucket:{}) (shape:[square,circle], bucket:{}) (shape:triangle, bucket:{})"
#: Texts of rules that differ in their buckets.
SECRET_TEXTS = [
    _TEXT.format(*buckets) for buckets in product(range(4), ("[1,3]", "[0,2]", "0"), range(4))
]


def hidden_season(
    database: Database, name: str = "s1", texts: Sequence[str] = SECRET_TEXTS, **changes: Any
) -> Season:
    """Add a season of the hidden division: an attempt is dealt 4 of 48 rules, with 3 boards."""
    settings = {"trials": 1, "rules_per_attempt": 4, "commitment": "c" * 64, "salt": "5a" * 32}
    rules = [
        SeasonRule(
            position=i,
            name=f"s1-h{i:02}",
            text=text,
            family="feature",
            tags=["shape"],
            visibility="hidden",
        )
        for i, text in enumerate(texts)
    ]
    return make_season(database, name, "hidden", rules=rules, **settings | changes)


def begin(client: httpx.Client, token: str, name: str = "player") -> dict[str, Any]:
    """Register a learner in ``s1``, and begin its first attempt."""
    entry = register(client, token, name, "s1")
    path = f"/api/remote/entries/{entry['id']}/attempts/1"
    answer = client.post(path, headers=bearer(token))
    assert answer.status_code == 200, answer.text
    record: dict[str, Any] = answer.json()
    return record


def ids(play: dict[str, Any]) -> list[int]:
    """Return the ids of the trials of an attempt."""
    return [trial["trial"] for trial in play["trials"]]


def move(client: httpx.Client, token: str, *moves: tuple[int, int, list[int]]) -> httpx.Response:
    """Make moves: trial, position, actions."""
    listed = [{"trial": t, "position": p, "actions": a} for t, p, a in moves]
    return client.post("/api/remote/moves", json={"moves": listed}, headers=bearer(token))


def play_at_random(client: httpx.Client, token: str, trials: list[int]) -> int:
    """Play trials to their end with random attempts, all in one message; return the number."""
    rng, n_attempts = np.random.default_rng(0), 0
    position = dict.fromkeys(trials, 0)
    while position:
        asked = [(t, p, rng.integers(144, size=40).tolist()) for t, p in position.items()]
        answer = move(client, token, *asked)
        assert answer.status_code == 200, answer.text
        for reply in answer.json()["replies"]:
            position[reply["trial"]] = reply["position"]
            if reply["over"]:
                n_attempts += position.pop(reply["trial"])
    return n_attempts


class _UntilIdle(threading.Event):
    """An event that a worker sets itself when it has nothing to do."""

    def wait(self, timeout: float | None = None) -> bool:
        self.set()
        return True


def work_off(database: Database, settings: Settings) -> None:
    """Let a worker look after the seasons, and verify until nothing is queued."""
    work(database, settings, "worker", _UntilIdle())


def standings(client: httpx.Client, season: str = "s1") -> dict[str, Any]:
    """Return the standings of a season."""
    record: dict[str, Any] = client.get(f"/api/seasons/{season}/standings").json()["standings"]
    return record


def assigned(
    client: httpx.Client, database: Database, entry: int, folder: Path
) -> ExperimentConfig:
    """Return what the first attempt of an entry has to play: it is told after the reveal."""
    texts = []
    for moment in (now(), None):
        with database.writing() as session:
            session.execute(update(Season).values(revealed_at=moment))
        texts.append(client.get(f"/api/entries/{entry}/attempts/1/config").text)
    (folder / "assigned.toml").write_text(texts[0])
    return ExperimentConfig.from_toml(folder / "assigned.toml", trusted=False)
