"""Run folders for tests: what was played in one, and rows that were changed with care."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gohr import TrialLog
from gohr.experiments import ExperimentConfig, RunFolder, Trial, TrialRecord, attempt_bytes


def hashes(path: Path) -> dict[str, str | None]:
    """Return the hash of the attempts of each trial that is done, by its key."""
    trials = RunFolder.open(path).trials()
    return {t.key: t.attempts_hash for t in trials if t.status == "done"}


def edit(folder: RunFolder, statement: str, *values: object) -> None:
    """Change the database behind its back."""
    with contextlib.closing(sqlite3.connect(folder.store.path)) as connection, connection:
        connection.execute(statement, values)


def forge(folder: RunFolder, record: TrialRecord, log: TrialLog | None = None, **changes: Any):
    """Change a row, its checksum included; with a log, its attempts and their hash too."""
    place = folder.place(record.learner, record.rule, record.trial)
    (blob,) = sqlite3.connect(folder.store.path).execute(
        "SELECT attempts FROM trials WHERE place = ?", (place,)
    ).fetchone()  # fmt: skip
    if log is not None:
        blob = zlib.compress(attempt_bytes(log))
    raw = zlib.decompress(blob)
    changed = replace(record, **changes)
    found = hashlib.blake2b(changed.key.encode() + raw, digest_size=16).hexdigest()
    changed = replace(changed, attempts_hash=found)
    with folder.store.writing() as writer:
        writer.record(place, changed, blob)


def fail(folder: RunFolder, trial: Trial | TrialRecord, error: str = "gone"):
    """Record that a trial failed."""
    learner, rule, number = (
        (trial.learner, trial.rule, trial.trial)
        if isinstance(trial, TrialRecord)
        else (trial.learner.name, trial.rule.name, trial.number)
    )
    record = TrialRecord(trial.key, learner, rule, number, "failed", error=error)
    with folder.store.writing() as writer:
        writer.record(folder.place(learner, rule, number), record, None)


def forge_experiment(folder: RunFolder, change: Callable[[dict[str, Any]], None], *, hide: bool):
    """Change the config; to hide it, change its hash too."""
    experiment = folder.store.value("experiment")
    change(experiment["config"])
    if hide:
        config = ExperimentConfig.of_run(experiment["config"])
        experiment["config_hash"] = config.hash
    with folder.store.writing() as writer:
        writer.set_value("experiment", json.loads(json.dumps(experiment)))
