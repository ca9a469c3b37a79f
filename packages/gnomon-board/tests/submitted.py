"""Playing what a server assigned, and sending it in."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from gohr import TrialLog
from gohr.experiments import ExperimentConfig, read_log, run, write_log

Log = Mapping[tuple[str, int], TrialLog]

__all__ = ["CSRF", "Log", "Packed", "bearer", "csrf_of", "play_entry", "register"]
__all__ += ["repacked", "send"]

#: The header that a form of a page sends its token in.
CSRF = "X-CSRF-Token"


@dataclass(frozen=True)
class Packed:
    """A run as it is sent: its configuration, what is announced, and its log."""

    config: ExperimentConfig
    manifest: dict[str, Any]
    log: bytes

    @classmethod
    def of(cls, config: ExperimentConfig, manifest: dict[str, Any], log: bytes) -> Packed:
        """Announce a log as it is."""
        announced = {"log_sha256": hashlib.sha256(log).hexdigest(), "log_bytes": len(log)}
        return cls(config, manifest | announced, log)


def csrf_of(client: httpx.Client, path: str) -> str:
    """Return the token in the form of a page."""
    found = re.search(r'name="csrf" value="([0-9a-f]{64})"', client.get(path).text)
    assert found, path
    return found[1]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def register(client: httpx.Client, token: str, name: str, season: str = "spring") -> dict[str, Any]:
    """Register a learner, and return its entry."""
    path = f"/api/seasons/{season}/entries"
    answer = client.post(path, json={"name": name}, headers=bearer(token))
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


def play_entry(
    client: httpx.Client, entry: int, out: Path, *, attempt: int = 1, learner: str = "uniform"
) -> Packed:
    """Play what an entry was assigned, and pack the run."""
    answer = client.get(f"/api/entries/{entry}/attempts/{attempt}/config")
    assert answer.status_code == 200, answer.text
    out.mkdir(parents=True, exist_ok=True)
    (out / "config.toml").write_text(answer.text)
    config = ExperimentConfig.from_toml(out / "config.toml", changes={"learners": [learner]})
    played = run(config, out / "run")
    log = write_log(
        {(trial.rule, trial.trial): each for trial, each in played.each(played.trials())}
    )
    return Packed.of(config, {"learner": config.learners[0].to_record()}, log)


def send(
    client: httpx.Client, token: str, entry: int, packed: Packed, *, attempt: int = 1
) -> httpx.Response:
    """Announce a run and send its log; return the last answer."""
    path = f"/api/entries/{entry}/attempts/{attempt}/submission"
    announced = client.put(path, json=packed.manifest, headers=bearer(token))
    if announced.status_code != 200 or announced.json()["state"] != "uploading":
        return announced
    path = f"/api/submissions/{announced.json()['id']}/log"
    return client.put(path, content=packed.log, headers=bearer(token))


def repacked(
    packed: Packed, change: Callable[[Log], Log] = dict, *, stored: bool = False
) -> Packed:
    """Return a run with other attempts, or with the same ones in 16 KB; its manifest agrees."""
    log = write_log(change(read_log(packed.log)))
    if stored:
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(log)) as read, zipfile.ZipFile(out, "w") as written:
            for name in read.namelist():
                written.writestr(zipfile.ZipInfo(name), read.read(name))
            written.comment = bytes(2**14)
        log = out.getvalue()
    return Packed.of(packed.config, packed.manifest, log)
