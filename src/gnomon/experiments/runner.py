"""The loop: an experiment in, a run folder out."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from gnomon.execution.executor import Executor, Outcome, make_executor
from gnomon.experiments.atomic_file import write_atomically
from gnomon.experiments.config import ExperimentConfig
from gnomon.experiments.journal import TrialRecord
from gnomon.experiments.run_folder import RunFolder
from gnomon.experiments.trial import Trial, trials_of

__all__ = ["Progress", "RunSummary", "run"]


class Progress(Protocol):
    """Is told how far a run is."""

    def __call__(self, n_played: int, n_to_play: int) -> None:
        """Hear that so many of so many trials have been played; once before the first."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a call of :func:`run` came to.

    Parameters
    ----------
    folder : RunFolder
        Where everything is.
    done, skipped, failed : int
        Number of trials played now, played before, and not played for an error.
    errors : tuple of str
        One line for each failed trial.
    """

    folder: RunFolder
    done: int
    skipped: int
    failed: int
    errors: tuple[str, ...] = ()


def run(
    config: ExperimentConfig,
    out: str | Path,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> RunSummary:
    """Play every trial of an experiment and keep every attempt.

    Trials that the folder holds already are skipped; trials that failed are tried again. A trial
    that raises is recorded with its error, and the others go on. The attempts do not depend on the
    number of workers, nor on interruptions, to the byte.

    Parameters
    ----------
    config : ExperimentConfig
        What to play.
    out : path
        The run folder: new, empty, or begun with the same experiment.
    workers : int
        Number of processes; 1 plays in this one.
    progress : Progress, optional
        Is told after each trial.

    Returns
    -------
    RunSummary

    Raises
    ------
    RunFolderError
        If the folder cannot hold this run; nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     for _ in range(2):
    ...         summary = run(config, out)
    ...         print(summary.done, summary.skipped, summary.failed)
    2 0 0
    0 2 0
    """
    executor = make_executor(workers)
    folder = RunFolder.open_or_create(out, config)
    return _run_on(executor, folder, progress or (lambda n_played, n_to_play: None))


def _run_on(executor: Executor, folder: RunFolder, progress: Progress) -> RunSummary:
    """Play what is missing in the folder."""
    errors: list[str] = []
    with folder.writing() as journal:
        before = {record.key for record in journal.records() if record.status == "done"}
        missing = [trial for trial in trials_of(folder.config) if trial.key not in before]
        progress(0, len(missing))
        outcomes = executor.map(partial(play_and_keep, folder.shards), missing)
        for n_played, outcome in enumerate(outcomes, start=1):
            record = outcome.result or _failure(outcome)
            journal.record(record)
            if record.error is not None:
                errors.append(f"{record.learner} on {record.rule}, {record.trial}: {record.error}")
            progress(n_played, len(missing))
    done = len(missing) - len(errors)
    return RunSummary(folder, done, len(before), len(errors), tuple(errors))


def play_and_keep(shards: Path, trial: Trial) -> TrialRecord:
    """Play a trial, write its shard, and return what the journal is to say."""
    from gnomon.experiments.shard import shard_bytes

    began = time.perf_counter()
    log = trial.play()
    data = shard_bytes(log)
    key = trial.key
    write_atomically(shards / f"{key}.parquet", data)
    return TrialRecord(
        key,
        trial.learner.name,
        trial.rule.name,
        trial.number,
        "done",
        n_attempts=int(log.n_attempts.sum()),
        wall_time_s=time.perf_counter() - began,
        shard=f"{key}.parquet",
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _failure(outcome: Outcome[Trial, TrialRecord]) -> TrialRecord:
    trial = outcome.piece
    return TrialRecord(
        trial.key,
        trial.learner.name,
        trial.rule.name,
        trial.number,
        "failed",
        error=outcome.error,
        traceback=outcome.traceback,
    )
