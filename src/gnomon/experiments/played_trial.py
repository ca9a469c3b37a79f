"""A trial that has been played, on its way to the run folder."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from pathlib import Path

from gnomon.experiments.journal import TrialRecord
from gnomon.experiments.trial import Trial

__all__ = ["Played", "keep", "play", "play_and_keep", "prepare"]


@dataclass(frozen=True, slots=True)
class Played:
    """A trial that has been played: what the journal is to say, and the shard if not yet kept."""

    record: TrialRecord
    data: bytes | None = None


def play(trial: Trial) -> Played:
    """Play a trial, anywhere; keep with it the chances of a random player, unless they tell."""
    from gnomon.experiments.shard import shard_bytes

    wall, cpu = time.perf_counter(), time.process_time()
    log = trial.play()
    data = shard_bytes(log, None if trial.rule.hidden else trial.counts(log))
    key = trial.key
    record = TrialRecord(
        key,
        trial.learner.name,
        trial.rule.name,
        trial.number,
        "done",
        n_attempts=int(log.n_attempts.sum()),
        wall_time_s=time.perf_counter() - wall,
        cpu_time_s=time.process_time() - cpu,
        shard=f"{key}.parquet",
        sha256=hashlib.sha256(data).hexdigest(),
    )
    return Played(record, data)


def play_and_keep(shards: Path, trial: Trial) -> Played:
    """Play a trial where the run folder is, and write its shard."""
    played = play(trial)
    keep(played, shards)
    return replace(played, data=None)


def keep(played: Played, shards: Path) -> None:
    """Write the shard of a trial, unless that has been done where it was played.

    It is not there before the journal says so, and that has the hash: what a killed process, or a
    machine without power, left behind is played again. So nothing waits for the disk here.

    Raises
    ------
    OSError
        As the system says, of the shard; nothing of it is left.
    """
    if played.data is None:
        return
    path = shards / f"{played.record.key}.parquet"
    try:
        path.write_bytes(played.data)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None


def prepare() -> None:
    """Load in this process what every trial needs, which takes a second, or many after a change."""
    from gnomon.experiments.config import ExperimentConfig
    from gnomon.experiments.trial import trials_of

    config = ExperimentConfig("prepare", ["anything-goes"], ["uniform"], trials=1, episodes=1)
    for trial in trials_of(config):
        play(trial)
