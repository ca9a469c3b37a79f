"""Run folders of trials played elsewhere, by people or by learners with memory across rules."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gohr.errors import RunFolderError
from gohr.experiments.config.experiment_config import ExperimentConfig
from gohr.experiments.config.predefined_boards import RecordedBoards
from gohr.experiments.run_folder import RunFolder, is_run_folder
from gohr.experiments.trial import Trial, encode
from gohr.playing import Replay, TrialLog


@dataclass(frozen=True, slots=True)
class RecordedTrial:
    """Record of one trial: the player, the task, and every attempt.

    Parameters
    ----------
    learner, task : str
        Their names in the experiment.
    number : int
        Which of the trials of this learner on this task, from 0.
    log : TrialLog
        On the boards of the experiment.
    wall_time_s : float
        How long it took; NaN if that is not known.
    counts : Replay, optional
        Possible attempts at each step, if not any piece on the board.

    Examples
    --------
    >>> import numpy as np
    >>> import gohr
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=np.random.default_rng(1))
    >>> boards = gohr.draw_boards(2, rng=np.random.default_rng(0))
    >>> log = gohr.play(boards, learner, gohr.load_rule("clockwise"))
    >>> RecordedTrial("uniform", "clockwise", 0, log).number
    0
    """

    learner: str
    task: str
    number: int
    log: TrialLog
    wall_time_s: float = float("nan")
    counts: Replay | None = None


def write_recorded_run(
    path: str | os.PathLike[str], config: ExperimentConfig, trials: Iterable[RecordedTrial]
) -> RunFolder:
    """Write a run folder of trials that were played elsewhere, in place of an older one.

    Every verb reads it like any run, and ``gohr verify`` replays every attempt; only ``gohr run``
    cannot continue it. Attempts were made on the boards of the config; a player may have stopped
    before a board was over.

    Parameters
    ----------
    path : path
        Where nothing is, or the recorded run of an experiment of the same name, which goes.
    config : ExperimentConfig
        With :class:`RecordedBoards`.
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
    >>> dealt = RecordedBoards((("clockwise", (boards.tobytes(),)),))
    >>> config = ExperimentConfig("pilot", ["clockwise"], ["uniform"], trials=1, predefined=dealt)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     trials = [RecordedTrial("uniform", "clockwise", 0, log)]
    ...     gohr.verify(write_recorded_run(f"{out}/run", config, trials)).ok
    True
    """
    path = Path(path)
    check_place(path, config.name)
    new = path.with_name(f".{path.name}.partial")
    shutil.rmtree(new, ignore_errors=True)
    folder = RunFolder.create(new, config)
    learners = {learner.name: learner for learner in config.learners}
    rules = {rule.name: rule for rule in config.rules}
    with folder.writing() as (writer, _):
        for one in trials:
            trial = Trial.of(config, learners[one.learner], rules[one.task], one.number)
            place = folder.place(one.learner, one.task, one.number)
            encoded = encode(trial, one.log, one.wall_time_s, float("nan"), one.counts)
            writer.record(place, *encoded)
    if path.exists():
        shutil.rmtree(path)
    os.replace(new, path)
    return RunFolder.open(path)


def check_place(path: Path, name: str) -> None:
    """Refuse to write over anything but an older recording of the experiment of this name."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if is_run_folder(path):
        there = RunFolder.open(path).config
        if isinstance(there.predefined, RecordedBoards) and there.name == name:
            return
    raise RunFolderError(
        f"{path}: expected a new folder, or an older run of {name!r} to be replaced; found "
        "something else"
    )
