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

import pytest

from gnomon.errors import GnomonError
from gohr import TrialLog
from gohr.errors import DamagedRunWarning
from gohr.experiments import ExperimentConfig, Run, Trial, TrialRecord, attempt_bytes, run


def n_recorded(path: Path) -> int:
    """Return the number of trials in a folder that may not be there yet."""
    try:
        return len(Run.open(path).trials())
    except GnomonError:
        return 0


def n_played(config: ExperimentConfig, path: Path, **options: Any) -> int:
    """Play what is missing of a run, and return the number of trials that it was."""
    seen: list[int] = []
    run(config, path, progress=lambda _, n_to_play: seen.append(n_to_play), **options)
    return seen[0]


def n_mended(config: ExperimentConfig, path: Path) -> int:
    """Play what is missing of a damaged run, and return the number of trials that it was."""
    with pytest.warns(DamagedRunWarning, match="the others are played again"):
        return n_played(config, path)


def hashes(path: Path) -> dict[str, str | None]:
    """Return the hash of the attempts of each trial that is done, by its key."""
    trials = Run.open(path).trials()
    return {t.key: t.attempts_hash for t in trials if t.status == "done"}


def edit(folder: Run, statement: str, *values: object) -> None:
    """Change the database behind its back."""
    with contextlib.closing(sqlite3.connect(folder.store.path)) as connection, connection:
        connection.execute(statement, values)


def forge(folder: Run, record: TrialRecord, log: TrialLog | None = None, **changes: Any):
    """Change a row, its checksum included; with a log, its attempts and their hash too."""
    place = folder.grid.place(record.learner, record.rule, record.trial)
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


def fail(folder: Run, trial: Trial | TrialRecord, error: str = "gone"):
    """Record that a trial failed."""
    named = trial.learner, trial.rule, getattr(trial, "trial", None)
    if isinstance(trial, Trial):
        named = trial.learner.name, trial.rule.name, trial.number
    with folder.store.writing() as writer:
        writer.record(folder.grid.place(*named), TrialRecord(trial.key, *named, error=error), None)


def forge_experiment(folder: Run, change: Callable[[dict[str, Any]], None], *, hide: bool):
    """Change the config; to hide it, change its hash too."""
    experiment = folder.store.experiment()
    change(experiment["config"])
    if hide:
        config = ExperimentConfig.of_run(experiment["config"])
        experiment["config_hash"] = config.hash
    set_experiment(folder, experiment)


def set_experiment(folder: Run, experiment: dict[str, Any]) -> None:
    """Change what the database has of the experiment, with its checksum."""
    text = json.dumps(experiment, ensure_ascii=False)
    row = "experiment", text
    checksum = hashlib.blake2b(repr(row).encode(errors="replace"), digest_size=8).hexdigest()
    edit(folder, "INSERT OR REPLACE INTO run VALUES (?, ?, ?)", *row, checksum)
