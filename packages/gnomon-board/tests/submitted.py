"""Playing what a server assigned, and sending it in."""

from __future__ import annotations

import gzip
import hashlib
import io
from pathlib import Path
from typing import Any

import httpx
import polars as pl

from gnomon_board.leaderboard import Packed, pack_run
from gohr.experiments import ExperimentConfig, run

__all__ = ["bearer", "play_entry", "register", "repacked", "send"]


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
    run(config, out / "run")
    return pack_run(out / "run")


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
    packed: Packed, frame: pl.DataFrame | None = None, *, log_format: str = "parquet"
) -> Packed:
    """Return a run with other rows, or in another format; its manifest announces them."""
    rows = pl.read_parquet(io.BytesIO(packed.log)) if frame is None else frame
    kind, _, is_packed = log_format.partition(".")
    if kind == "parquet":
        out = io.BytesIO()
        rows.write_parquet(out)
        data = out.getvalue()
    else:
        text = rows.with_columns(pl.col("board").bin.encode("hex"))
        data = (text.write_csv() if kind == "csv" else text.write_ndjson()).encode()
    log = gzip.compress(data, mtime=0) if is_packed else data
    announced = {
        "log_format": log_format,
        "log_sha256": hashlib.sha256(log).hexdigest(),
        "log_bytes": len(log),
    }
    return Packed(packed.manifest | announced, log)
