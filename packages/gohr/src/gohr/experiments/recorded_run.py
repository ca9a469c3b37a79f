"""Run folders of trials that were played elsewhere, such as those of people."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gohr.errors import RunFolderError
from gohr.experiments.config import ExperimentConfig
from gohr.experiments.progress import is_run_folder
from gohr.experiments.runs import Run
from gohr.experiments.trial import Trial, encode

if TYPE_CHECKING:
    from gohr.playing import Replay, TrialLog


@dataclass(frozen=True, slots=True)
class RecordedTrial:
    """A trial that was played elsewhere: the player, the task, and every attempt.

    Parameters
    ----------
    learner, task : str
        Their names in the experiment.
    number : int
        Number of the trial of this learner on this task, from 0.
    log : TrialLog
        On the boards of the experiment.
    wall_time_s : float, optional
        How long it took, in seconds.
    counts : Replay, optional
        Possible attempts at each step, if not any piece on the board.
    """

    learner: str
    task: str
    number: int
    log: TrialLog
    wall_time_s: float | None = None
    counts: Replay | None = None


def write_recorded_run(
    path: str | os.PathLike[str], config: ExperimentConfig, trials: Iterable[RecordedTrial]
) -> Run:
    """Write a run folder of trials that were played elsewhere, in place of an older one.

    Every verb reads it like any run, and ``gohr verify`` replays every attempt; only ``gohr run``
    cannot continue it. Attempts were made on the boards of the config; a player may have stopped
    before a board was over.

    Parameters
    ----------
    path : path
        A folder that does not exist or is empty, or the recorded run of an experiment of the same
        name, which is replaced.
    config : ExperimentConfig
        With ``recorded`` boards.
    trials : iterable of RecordedTrial

    Raises
    ------
    RunFolderError
        Something else is there.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import gohr
    >>> boards = gohr.draw_boards(2, rng=np.random.default_rng(0))
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=np.random.default_rng(1))
    >>> log = gohr.play(boards, learner, gohr.load_rule("clockwise"))
    >>> dealt = {"clockwise": [boards.tobytes()]}
    >>> config = ExperimentConfig("pilot", ["clockwise"], ["uniform"], trials=1, recorded=dealt)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     trials = [RecordedTrial("uniform", "clockwise", 0, log)]
    ...     gohr.verify(write_recorded_run(f"{out}/run", config, trials)).ok
    True
    """
    path = Path(path)
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        there = Run.open(path).config if is_run_folder(path) else None
        if there is None or there.recorded is None or there.name != config.name:
            raise RunFolderError(
                f"{path}: expected a new folder, or an older run of {config.name!r} to be "
                "replaced; found something else"
            )
    new = path.with_name(f".{path.name}.partial")
    shutil.rmtree(new, ignore_errors=True)
    run = Run.create(new, config)
    learners = {learner.name: learner for learner in config.learners}
    rules = {rule.name: rule for rule in config.rules}
    with run.writing() as writer:
        for one in trials:
            trial = Trial.of(config, learners[one.learner], rules[one.task], one.number)
            encoded = encode(trial, one.log, one.wall_time_s, one.counts)
            writer.record(run.place_of(trial), *encoded)
    if path.exists():
        shutil.rmtree(path)
    os.replace(new, path)
    return Run.open(path)
