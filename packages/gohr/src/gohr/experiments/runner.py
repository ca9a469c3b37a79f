"""Running an experiment into a run folder."""

from __future__ import annotations

import datetime
import os
import platform
import re
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from gnomon.errors import counted
from gohr.errors import ConfigError, StuckRuleWarning
from gohr.execution import Limits, Workers, cluster_workers, make_workers
from gohr.experiments.config.experiment_config import ExperimentConfig
from gohr.experiments.config.predefined_boards import RecordedBoards
from gohr.experiments.run_folder import SESSIONS, RunFolder
from gohr.experiments.store import TrialRecord, Writer
from gohr.experiments.trial import compile_kernels, failure, play, prepare, stuck_as_dealt

_PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "gymnasium", "torch", "distributed")
#: What the server of worker processes imports.
_PRELOADED = "gohr.experiments.preloaded"


class Progress(Protocol):
    """A function that is given the progress of a run.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=2, episodes=3)
    >>> def tell(n_played: int, n_to_play: int, /) -> None:
    ...     print(n_played, "of", n_to_play)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = gohr.run(config, folder, progress=tell)
    0 of 2
    1 of 2
    2 of 2
    """

    def __call__(self, n_played: int, n_to_play: int, /) -> None:
        """Receive the number of trials played and the total; called once before the first."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """Summary of a call of :func:`run`.

    Parameters
    ----------
    folder : RunFolder
        Where everything is.
    done, skipped, failed : int
        Number of trials played now, played before, and not played for an error.
    errors : tuple of str
        One line for each failed trial.
    lost : tuple of str
        Trials that had been played before and were damaged, so that they were played again.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, again = gohr.run(config, folder), gohr.run(config, folder)
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
        """Return the path of the run folder, so that a summary can be used wherever a path can."""
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
    executor: futures.Executor | None = None,
    progress: Progress | None = None,
) -> RunSummary:
    """Play every trial of an experiment and keep every attempt.

    Trials that the folder holds already are skipped; trials that failed, or were damaged since, are
    played again. A trial that raises, whose process dies, or that passes a limit of the experiment
    is recorded with its error, and the others continue. The attempts do not depend on the number of
    workers, nor on interruptions, to the byte.

    Parameters
    ----------
    config : ExperimentConfig
        The experiment to play.
    out : path
        The run folder: new, empty, or begun with the same experiment.
    workers : int
        Number of processes; 1 plays in this one, unless the experiment limits its trials.
    scheduler : str, optional
        A Dask cluster (the extra ``dask``) in place of processes: ``"local"`` for one of
        ``workers`` processes here, or the address of its scheduler, such as
        ``"tcp://10.0.0.1:8786"``.
    executor : concurrent.futures.Executor, optional
        Any other executor, of about ``workers`` workers, in place of a scheduler.
    progress : Progress, optional
        Called after each trial.

    Returns
    -------
    RunSummary

    Raises
    ------
    RunFolderError
        If the folder cannot hold this run, or the disk is full. Trials played before are kept.
    RuleError
        If a rule cannot be played, or is too large for the engine.
    ConfigError
        If it is a recording of trials played elsewhere, or trials have limits and are not played in
        processes.

    Warns
    -----
    StuckRuleWarning
        If no piece can be moved on most boards of a rule as they are dealt.

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
        raise ConfigError(f"{config.name}: was played elsewhere and cannot be resumed here")
    limits = Limits(config.trial_timeout_s, config.trial_memory_mb)
    if limits and (scheduler or executor):
        raise ConfigError("limits of trials need worker processes; leave the scheduler out")
    # Processes first: they start while this one looks at the rules.
    chosen_workers = _chosen(scheduler, workers, limits, executor)
    for rule in config.rules:
        if (warning := stuck_as_dealt(config, rule)) is not None:
            warnings.warn(warning, StuckRuleWarning, stacklevel=2)
    if executor is None and workers > 1:
        RunFolder.check(out, config)
        compile_kernels(config)
    # Without the address of a cluster.
    kind = {None: "processes", "local": "local"}.get(scheduler, "remote")
    how = {
        "workers": workers,
        "scheduler": kind if executor is None else type(executor).__name__,
    }
    with chosen_workers as chosen:
        folder = RunFolder.open_or_create(out, config)
        return _run_on(chosen, folder, progress or (lambda n_played, n_to_play: None), how)


def _chosen(
    scheduler: str | None, workers: int, limits: Limits, executor: futures.Executor | None
) -> AbstractContextManager[Workers]:
    """Return the workers that play the trials."""
    if executor is not None:
        return nullcontext(Workers(executor, max(workers, 1)))
    if scheduler is None:
        return nullcontext(
            make_workers(workers, limits=limits, prepare=prepare, preload=_PRELOADED)
        )
    return cluster_workers(scheduler, workers)


def _run_on(
    chosen: Workers, folder: RunFolder, progress: Progress, how: Mapping[str, Any]
) -> RunSummary:
    """Play the trials that are missing in the folder, and record them."""
    errors: list[str] = []
    with folder.writing() as (writer, lost):
        done = {record.key for record in folder.trials() if record.status == "done"}
        missing = [trial for key, trial in folder.planned.items() if key not in done]
        progress(0, len(missing))
        if missing:
            with _session(folder, writer, how) as count:
                for n_played, outcome in enumerate(chosen.map(play, missing), start=1):
                    trial = outcome.piece
                    failed = failure(trial, outcome.error, outcome.traceback)
                    record, data = outcome.result or (failed, None)
                    named = trial.learner.name, trial.rule.name, trial.number
                    writer.record(folder.place(*named), record, data)
                    count(record)
                    if record.error is not None:
                        errors.append("{} on {}, {}: {}".format(*named, record.error))
                    progress(n_played, len(missing))
    n_done = len(missing) - len(errors)
    return RunSummary(folder, n_done, len(done), len(errors), tuple(errors), lost)


@contextmanager
def _session(
    folder: RunFolder, writer: Writer, how: Mapping[str, Any]
) -> Iterator[Callable[[TrialRecord], None]]:
    """Add a session to those of the run, and complete it in the end; give what counts a trial.

    A session is one call of the runner that played any trial. One without an end was killed. No
    attempt depends on it.
    """
    config, began = folder.config, time.perf_counter()
    new: dict[str, Any] = {
        "begun": _now(),
        "ended": None,
        "done": 0,
        "failed": 0,
        "cpu_time_s": 0.0,
        **how,
        "trial_timeout_s": config.trial_timeout_s,
        "trial_memory_mb": config.trial_memory_mb,
        **_machine(),
    }
    sessions = [*folder.sessions, new]
    writer.set_value(SESSIONS, sessions)

    def count(record: TrialRecord) -> None:
        new[record.status] += 1
        new["cpu_time_s"] += record.cpu_time_s

    try:
        yield count
    finally:
        new["ended"] = _now()
        new["cpu_time_s"] = round(new["cpu_time_s"], 3)
        new["wall_time_s"] = round(time.perf_counter() - began, 3)
        with suppress(sqlite3.Error):  # on a full disk the session stays without an end
            writer.set_value(SESSIONS, sessions)


def _machine() -> dict[str, Any]:
    """Return the platform, and the versions of packages that may affect what is played."""
    versions = {}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "platform": platform.platform(),
        "cpu": _cpu(),
        "n_cores": os.cpu_count(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": versions,
    }


def _cpu() -> str:
    """Return the name of the processor, if the system provides it."""
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"^model name\s*: (.*)$", text, re.MULTILINE):
            return found[1]
    return platform.processor()


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
