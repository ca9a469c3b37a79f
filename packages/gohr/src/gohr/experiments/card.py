"""The card of a run: what was played, on which machine, with which versions, and for how long.

A value in the database of the run. The settings that determine the attempts come first, then the
*sessions*, one for each call of the runner that played any trial. A session without an end was
killed. Nothing in the card is needed to read the run, and no attempt depends on a session.
"""

from __future__ import annotations

import datetime
import os
import platform
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from gnomon import __version__
from gohr.errors import RunFolderError
from gohr.experiments.config.experiment_config import ExperimentConfig
from gohr.experiments.config.suites import available_suites, load_suite, suite_hash
from gohr.experiments.run_folder import RunWriter
from gohr.experiments.store import RunStore, TrialRecord

#: Name of its value in the database.
CARD = "card"

#: Packages whose version may affect what is played or written.
_PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "polars", "gymnasium", "torch", "distributed")


def read_card(folder: Path) -> dict[str, Any] | None:
    """Return the card of a run folder; None if there is none, or no readable one.

    Examples
    --------
    >>> import tempfile
    >>> from gohr.experiments import ExperimentConfig, run
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     card = read_card(run(config, out).folder.path)
    >>> card["seed"], [session["done"] for session in card["sessions"]]
    (0, [2])
    """
    try:
        card = RunStore(folder).value(CARD)
    except RunFolderError:
        return None
    sessions = card.get("sessions") if isinstance(card, dict) else None
    whole = isinstance(sessions, list) and all(isinstance(each, dict) for each in sessions)
    return card if whole else None


class Session:
    """Summary of one call of the runner, for the card."""

    def __init__(self) -> None:
        self.counts = {"done": 0, "failed": 0}
        self.cpu_time_s = 0.0

    def add(self, record: TrialRecord) -> None:
        """Count a trial."""
        self.counts[record.status] += 1
        self.cpu_time_s += record.cpu_time_s


@contextmanager
def session(
    writer: RunWriter, config: ExperimentConfig, how: Mapping[str, Any] | None
) -> Iterator[Session]:
    """Write the card, and complete it in the end; ``how`` describes how the trials are played.

    Without ``how`` there is nothing to play, and the card is unchanged.
    """
    adding, began = Session(), time.perf_counter()
    if how is None:
        yield adding
        return
    before = read_card(writer.folder.path) or {}
    limits = {
        "trial_timeout_s": config.trial_timeout_s,
        "trial_memory_mb": config.trial_memory_mb,
    }
    begun = {"begun": _now(), "ended": None, **how, **limits, **_machine()}
    card = _played(config) | {"sessions": [*before.get("sessions", []), begun]}
    writer.set_value(CARD, card)
    try:
        yield adding
    finally:
        begun |= {
            "ended": _now(),
            **adding.counts,
            "wall_time_s": round(time.perf_counter() - began, 3),
            "cpu_time_s": round(adding.cpu_time_s, 3),
        }
        with suppress(sqlite3.Error):  # on a full disk the session stays without an end
            writer.set_value(CARD, card)


def write_card(writer: RunWriter, config: ExperimentConfig) -> None:
    """Write the card of a run that was played elsewhere: there are no sessions."""
    writer.set_value(CARD, _played(config) | {"sessions": []})


def _played(config: ExperimentConfig) -> dict[str, Any]:
    """Return the settings that determine the attempts, and which learners were shown the answer."""
    record = config.to_record()
    # A card may be shown around: of a hidden rule it has the hash alone.
    record["rules"] = [_shown(rule) for rule in record["rules"]]
    hashes = {rule.name: rule.hash for rule in config.rules}
    return {
        "gnomon": __version__,
        "config_hash": config.hash,
        "suites": _suites_of(config),
        "seed": config.seed,
        "seeds": {
            "boards": "seed, hash of the rule, number of the trial",
            "learner": "seed, hash of the rule, hash of the learner, number of the trial",
        },
        "revealed_to": config.revealed_to,
        "config": record,
        "rules": [rule | {"hash": hashes[rule["name"]]} for rule in record["rules"]],
        "learners": [x.to_record() | {"hash": x.hash} for x in config.learners],
    }


def _shown(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a rule, without its text if it is hidden."""
    return {name: value for name, value in rule.items() if name != "text" or "hidden" not in rule}


def _suites_of(config: ExperimentConfig) -> list[str]:
    """Return the full names of the suites that this experiment is exactly."""
    found = suite_hash([(rule.name, rule.hash) for rule in config.rules], config.board)
    suites = {load_suite(name) for name in available_suites()}
    drawn = config.predefined is None
    return sorted(s.full_name for s in suites if drawn and s.hash == found)


def _machine() -> dict[str, Any]:
    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpu": _cpu(),
        "n_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: version for name in _PACKAGES if (version := _version(name))},
    }


def _cpu() -> str | None:
    """Return the name of the processor, if the system provides it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or None
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
