"""Running an experiment into a run folder."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from concurrent import futures
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import NoneType

from gnomon.errors import check_count, check_type
from gohr.errors import ConfigError, StuckRuleWarning
from gohr.execution import ProcessWorkers, Workers, cluster_workers
from gohr.experiments.config import ExperimentConfig
from gohr.experiments.runs import Run
from gohr.experiments.store import TrialRecord
from gohr.experiments.trial import (
    compile_kernels,
    play_and_encode,
    prepare,
    stuck_as_dealt,
    trials_of,
)

#: What the server of worker processes imports.
_PRELOADED = "gohr.experiments.preloaded"


def run(
    config: ExperimentConfig,
    out: str | Path,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    executor: futures.Executor | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Run:
    """Play every trial of an experiment and keep every attempt.

    Trials that the folder holds already are skipped; trials that failed, or were damaged since, are
    played again. A trial that raises, whose process dies, or that exceeds the limit of time of the
    experiment is recorded with its error, and the others continue. The attempts do not depend on
    the number of workers, nor on interruptions, to the byte.

    Parameters
    ----------
    config : ExperimentConfig
        The experiment to play.
    out : path
        The run folder: new, empty, or begun with the same experiment.
    workers : int
        Number of processes; 1 plays in this one, unless the experiment limits the time of trials.
    scheduler : str, optional
        A Dask cluster (the extra ``dask``) in place of processes: ``"local"`` for one of
        ``workers`` processes here, or the address of its scheduler, such as
        ``"tcp://10.0.0.1:8786"``.
    executor : concurrent.futures.Executor, optional
        Any other executor, of about ``workers`` workers, in place of a scheduler.
    progress : callable, optional
        Called with the numbers of trials played and to play, once before the first trial and after
        each.

    Returns
    -------
    Run
        :func:`status` counts its trials, and `Run.trials` lists the errors of failed trials.

    Raises
    ------
    RunFolderError
        If the folder cannot hold this run, or the disk is full. Trials played before are kept.
    RuleError
        If a rule cannot be played, or is too large for the engine.
    ValueError
        If there would be no worker.
    ConfigError
        If it is a recording of trials played elsewhere, or trials have a limit of time and are not
        played in processes.

    Warns
    -----
    DamagedRunWarning
        If trials that had been played were damaged, and are played again.
    StuckRuleWarning
        If no piece can be moved on most boards of a rule as they are dealt.

    Examples
    --------
    >>> import tempfile
    >>> from gohr.experiments import status
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     status(run(config, out))[0].done
    2
    """
    expected = "an ExperimentConfig, as ExperimentConfig.from_toml returns it"
    check_type("config", config, ExperimentConfig, expected)
    check_type("out", out, (str, os.PathLike), "the path of a folder")
    check_count("workers", workers)
    check_type("executor", executor, (futures.Executor, NoneType), "a concurrent.futures.Executor")
    if config.recorded is not None:
        raise ConfigError(f"{config.name}: was played elsewhere and cannot be resumed here")
    if config.trial_timeout_s is not None and (scheduler or executor):
        raise ConfigError("trial_timeout_s needs worker processes; leave the scheduler out")
    chosen_workers: AbstractContextManager[Workers]
    if executor is not None:
        chosen_workers = nullcontext(Workers(executor, workers))
    elif scheduler is not None:
        chosen_workers = cluster_workers(scheduler, workers)
    elif workers == 1 and config.trial_timeout_s is None:
        chosen_workers = nullcontext(Workers())
    else:
        # Processes start while this one looks at the rules.
        chosen_workers = nullcontext(
            ProcessWorkers(workers, config.trial_timeout_s, prepare=prepare, preload=_PRELOADED)
        )
    for rule in config.rules:
        if (warning := stuck_as_dealt(config, rule)) is not None:
            warnings.warn(warning, StuckRuleWarning, stacklevel=2)
    found = Run.begin(out, config)
    if executor is None and workers > 1:
        compile_kernels(config)
    with chosen_workers as chosen:
        _play_missing(found, chosen, progress or (lambda n_played, n_to_play: None))
    return found


def _play_missing(run: Run, workers: Workers, progress: Callable[[int, int], object]) -> None:
    """Play the trials that are missing, and record them."""
    with run.writing() as writer:
        done = {record.key for record in run.trials() if record.error is None}
        missing = [trial for trial in trials_of(run.config) if trial.key not in done]
        progress(0, len(missing))
        for n_played, outcome in enumerate(workers.map(play_and_encode, missing), start=1):
            trial = outcome.piece
            if outcome.result is not None:
                writer.record(run.place_of(trial), *outcome.result)
            else:
                named = trial.key, trial.learner.name, trial.rule.name, trial.number
                failed = TrialRecord(*named, error=outcome.error, traceback=outcome.traceback)
                writer.record(run.place_of(trial), failed, None)
            progress(n_played, len(missing))
