"""Running an experiment into a run folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from gnomon.errors import ConfigError, counted
from gnomon.execution.dask_cluster import cluster_executor, dask_is_installed
from gnomon.execution.executor import (
    Executor,
    Limits,
    Outcome,
    SerialExecutor,
    ThreadExecutor,
    attempt,
)
from gnomon.execution.interrupts import undisturbed
from gnomon.execution.worker_processes import ProcessExecutor, make_executor
from gnomon.experiments.config.experiment_config import ExperimentConfig
from gnomon.experiments.config.predefined_boards import RecordedBoards
from gnomon.experiments.folder.card import Session, session
from gnomon.experiments.folder.journal import Journal, TrialRecord
from gnomon.experiments.folder.run_folder import RunFolder
from gnomon.experiments.trial import (
    Trial,
    compile_kernels,
    encode_and_keep,
    keep,
    play,
    play_and_encode,
    play_and_keep,
    prepare,
)
from gnomon.game.interpreted_boards import compiled_or_none

Result = TypeVar("Result")

#: Trials are written down once they took so many seconds, or are so many: to write some at a time,
#: while the processor remembers how, costs half as much as one after each trial. The journal hears
#: of fewer at a time: on a disk that becomes full those count as done that it still has room for.
_TOGETHER_S = 0.5
_TOGETHER = 32
_A_TRANSACTION = 8


class Progress(Protocol):
    """A function that is given the progress of a run.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> config = gn.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=2, episodes=3)
    >>> def tell(n_played: int, n_to_play: int, /) -> None:
    ...     print(n_played, "of", n_to_play)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = gn.run(config, folder, progress=tell)
    0 of 2
    1 of 2
    2 of 2
    """

    def __call__(self, n_played: int, n_to_play: int, /) -> None:
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
    lost : tuple of str
        Trials that had been played before, but whose attempts, or what the journal told of them,
        were missing or damaged, so that they were played again.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> config = gn.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, again = gn.run(config, folder), gn.run(config, folder)
    ...     (first.done, first.skipped), (again.done, again.skipped)
    ((2, 0), (0, 2))
    """

    folder: RunFolder
    done: int
    skipped: int
    failed: int
    errors: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def __fspath__(self) -> str:
        """Return the path of the run folder: what was returned stands wherever that path may."""
        return os.fspath(self.folder)

    def __str__(self) -> str:
        counts = f"{self.done} done, {self.skipped} skipped, {self.failed} failed"
        trials = counted(self.folder.config.n_trials, "trial")
        return f"{self.folder.config.name}: {trials} ({counts}) in {self.folder.path}"


def run(
    config: ExperimentConfig,
    out: str | Path,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> RunSummary:
    """Play every trial of an experiment and keep every attempt.

    Trials that the folder holds already are skipped; trials that failed, or whose file is not what
    the journal says, are played again. A trial
    that raises, whose process dies, or that passes a limit of the experiment is recorded with its
    error, and the others go on; so is one that there is no room for on the disk. The attempts do
    not depend on the number of workers, nor on interruptions, to the byte.

    Parameters
    ----------
    config : ExperimentConfig
        What to play.
    out : path
        The run folder: new, empty, or begun with the same experiment.
    workers : int
        Number of processes; 1 plays in this one, unless the experiment limits its trials.
    scheduler : str, optional
        Who hands the trials out: ``"local"``, a Dask cluster of ``workers`` processes here;
        ``"processes"``, this process to so many without Dask; ``"threads"``, this process to
        itself, for learners that mostly wait; or the address of the scheduler of another Dask
        cluster, such as ``"tcp://10.0.0.1:8786"``. By default several workers are a ``"local"``
        cluster if Dask is installed (the extra ``dask``), and else processes.
    progress : Progress, optional
        Is told after each trial.

    Returns
    -------
    RunSummary

    Raises
    ------
    RunFolderError
        If the folder cannot hold this run; nothing is written then.
    ConfigError
        If it is a recording of what was played elsewhere, or threads shall have limits of trials.

    Warns
    -----
    NotCompiledWarning
        If the engine has no tables for a rule, which the reference interpreter then plays.
    NoClusterWarning
        If a local Dask cluster does not start; processes without Dask play in its place.

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
    if isinstance(config.predefined, RecordedBoards):
        raise ConfigError(f"{config.name}: was played elsewhere, and cannot be gone on with here")
    for rule in config.rules:
        # Said here, once, for the workers that play the trials have nobody to say it to.
        compiled_or_none(rule.rule_set, config.board)
    limits = Limits(config.trial_timeout_s, config.trial_memory_mb)
    scheduler = scheduler or _usual(workers)
    how: dict[str, Any] = {"workers": workers, "scheduler": _kind(scheduler)}
    if workers > 1 and how["scheduler"] != "remote":
        RunFolder.check(out, config)
        compile_kernels(config)
    if scheduler in ("processes", "threads"):
        executor: Executor = make_executor(workers, limits=limits, prepare=prepare)
        if scheduler == "threads":
            if limits:
                raise ConfigError(
                    "threads cannot be ended: expected no limits of trials, or processes"
                )
            executor = ThreadExecutor(workers)
        folder = RunFolder.open_or_create(out, config)
        if isinstance(executor, SerialExecutor):
            writing = partial(encode_and_keep, folder.shards)
            return _run_on(executor, folder, play, writing, progress, how)
        playing = partial(play_and_keep, folder.shards)
        return _run_on(executor, folder, playing, _as_it_is, progress, how)
    with cluster_executor(scheduler, workers, limits=limits, prepare=prepare) as executor:
        if isinstance(executor, ProcessExecutor):  # in place of a cluster that did not start
            how["scheduler"] = "processes"
        folder = RunFolder.open_or_create(out, config)
        writing = partial(keep, folder.shards)
        return _run_on(executor, folder, play_and_encode, writing, progress, how)


def _usual(workers: int) -> str:
    """Return who hands out the trials if nothing is said."""
    return "local" if workers > 1 and dask_is_installed() else "processes"


def _as_it_is(record: TrialRecord) -> TrialRecord:
    """Return what a worker process has kept already."""
    return record


def _kind(scheduler: str) -> str:
    """Return who hands out the trials: the address of a cluster is nobody's business."""
    return scheduler if scheduler in ("local", "processes", "threads") else "remote"


def _run_on(
    executor: Executor,
    folder: RunFolder,
    work: Callable[[Trial], Result],
    finish: Callable[[Result], TrialRecord],
    progress: Progress | None,
    how: Mapping[str, Any],
) -> RunSummary:
    """Play what is missing in the folder, and write it down."""
    progress = progress or (lambda n_played, n_to_play: None)
    with folder.writing() as journal:
        rows = folder.sorted_out(journal.rows())
        journal.forget(rows.damaged)
        done = [record for record in rows.records.values() if record.status == "done"]
        before = {record.key for record in done if folder.holds(record)}
        told = {x.key for x in (*done, *rows.damaged.values())} - before
        lost = tuple(
            f"{trial.learner.name} on {trial.rule.name}, {trial.number}"
            for key, trial in folder.planned.items()
            if key in told
        )
        missing = [trial for key, trial in folder.planned.items() if key not in before]
        progress(0, len(missing))
        with session(folder.path, folder.config, how if missing else None) as adding:
            writer = _Writer(journal, adding, finish)
            try:
                for n_played, outcome in enumerate(executor.map(work, missing), start=1):
                    writer.take(outcome)
                    progress(n_played, len(missing))
            finally:
                writer.write()
            errors = writer.errors
            for record in journal.flush():
                errors.setdefault(record.key, _told(record, "the disk is full"))
    n_done = len(missing) - len(errors)
    return RunSummary(folder, n_done, len(before), len(errors), tuple(errors.values()), lost)


@dataclass
class _Writer(Generic[Result]):
    """Writes down what has become of trials, short ones some at a time.

    What waits is played again after a kill, so it is never worth more than ``_TOGETHER_S``.
    """

    journal: Journal
    adding: Session
    finish: Callable[[Result], TrialRecord]
    #: One line for each failed trial, by its key.
    errors: dict[str, str] = field(default_factory=dict)
    waiting: list[Outcome[Trial, Result]] = field(default_factory=list)
    waiting_s: float = 0.0

    def take(self, outcome: Outcome[Trial, Result]) -> None:
        """Write a trial down, now or soon."""
        self.waiting.append(outcome)
        self.waiting_s += outcome.time_s
        if self.waiting_s >= _TOGETHER_S or len(self.waiting) >= _TOGETHER:
            self.write()

    def write(self) -> None:
        """Write down what waits; Ctrl-C must wait for it, for it would cut a file in two."""
        with undisturbed():
            for first in range(0, len(self.waiting), _A_TRANSACTION):
                self._write(self.waiting[first : first + _A_TRANSACTION])
            self.waiting, self.waiting_s = [], 0.0

    def _write(self, outcomes: Sequence[Outcome[Trial, Result]]) -> None:
        records = [_record_of(outcome, self.finish) for outcome in outcomes]
        self.journal.record(*records)
        for record in records:
            self.adding.add(record)
            if record.error is not None:
                self.errors[record.key] = _told(record, record.error)


def _told(record: TrialRecord, error: str) -> str:
    return f"{record.learner} on {record.rule}, {record.trial}: {error}"


def _record_of(
    outcome: Outcome[Trial, Result], finish: Callable[[Result], TrialRecord]
) -> TrialRecord:
    """Return what the journal is to say, once the shard is kept."""
    error, traceback = outcome.error, outcome.traceback
    if outcome.result is not None:
        finished = attempt(finish, outcome.result)
        if finished.result is not None:
            return finished.result
        error, traceback = finished.error, finished.traceback
    trial = outcome.piece
    return TrialRecord(
        trial.key,
        trial.learner.name,
        trial.rule.name,
        trial.number,
        "failed",
        error=error,
        traceback=traceback,
    )
