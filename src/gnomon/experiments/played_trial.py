"""A trial on its way to the run folder: played, encoded, kept.

A run in one process does the first, and the rest for some short trials at a time; a worker process
does all three; a worker of a cluster, which may not see the folder, does the first two.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.experiments.journal import TrialRecord
from gnomon.experiments.trial import Trial

if TYPE_CHECKING:
    from gnomon.learners.base import TrialLog

__all__ = [
    "Encoded",
    "Played",
    "encode",
    "encode_and_keep",
    "keep",
    "play",
    "play_and_encode",
    "play_and_keep",
    "prepare",
]


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """A trial that has been played: every attempt, and how long it took."""

    trial: Trial
    log: TrialLog
    wall_time_s: float
    cpu_time_s: float


@dataclass(frozen=True, slots=True)
class Encoded:
    """A trial as the folder is to have it: what the journal is to say, and the shard."""

    record: TrialRecord
    data: bytes


def play(trial: Trial) -> Played:
    """Play a trial, anywhere."""
    wall, cpu = time.perf_counter(), time.process_time()
    log = trial.play()
    return Played(trial, log, time.perf_counter() - wall, time.process_time() - cpu)


def encode(played: Played) -> Encoded:
    """Make the shard of a trial, with the chances of a random player, unless they tell."""
    from gnomon.experiments.shards.shard import shard_bytes

    trial, log = played.trial, played.log
    data = shard_bytes(log, None if trial.rule.hidden else trial.counts(log))
    record = TrialRecord(
        trial.key,
        trial.learner.name,
        trial.rule.name,
        trial.number,
        "done",
        n_attempts=int(log.n_attempts.sum()),
        wall_time_s=played.wall_time_s,
        cpu_time_s=played.cpu_time_s,
        shard=f"{trial.key}.parquet",
        sha256=hashlib.sha256(data).hexdigest(),
    )
    return Encoded(record, data)


def keep(shards: Path, encoded: Encoded) -> TrialRecord:
    """Write the shard of a trial, and return what the journal is to say.

    The shard is not there before the journal says so, and that has the hash: what a killed process,
    or a machine without power, left behind is played again. So nothing waits for the disk here.

    Raises
    ------
    OSError
        As the system says, of the shard; nothing of it is left.
    """
    path = shards / f"{encoded.record.key}.parquet"
    try:
        path.write_bytes(encoded.data)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
    return encoded.record


def encode_and_keep(shards: Path, played: Played) -> TrialRecord:
    """Write the shard of a trial that was played here."""
    return keep(shards, encode(played))


def play_and_keep(shards: Path, trial: Trial) -> TrialRecord:
    """Play a trial where the run folder is, and write its shard."""
    return encode_and_keep(shards, play(trial))


def play_and_encode(trial: Trial) -> Encoded:
    """Play a trial where the run folder may not be."""
    return encode(play(trial))


def prepare() -> None:
    """Load in this process what every trial needs, which takes a second, or many after a change."""
    from gnomon.experiments.config import ExperimentConfig
    from gnomon.experiments.trial import trials_of

    config = ExperimentConfig("prepare", ["anything-goes"], ["uniform"], trials=1, episodes=1)
    for trial in trials_of(config):
        play_and_encode(trial)
