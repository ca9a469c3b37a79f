"""Cost forecast of a run: its trials, its time, and its space on the disk.

Where the folder holds trials of a learner already, their cost is the forecast; else a pilot plays
some of its episodes on some of the rules and keeps nothing.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from gohr.experiments.config.experiment_config import ExperimentConfig
from gohr.experiments.run_folder import RunFolder
from gohr.experiments.store import TrialRecord
from gohr.experiments.trial import Trial, play, trials_of

#: Time limit in seconds of the pilot of a learner, and its maximum number of rules.
_PILOT_S, _PILOT_RULES = 5.0, 6
#: Size of a row without its attempts.
_ROW = 400


@dataclass(frozen=True, slots=True)
class LearnerCost:
    """Forecast cost of the trials of one learner that are still to play.

    Parameters
    ----------
    learner : str
    n_to_play : int
    trial_time_s : float
        Seconds for one trial on one processor, the mean over rules.
    trial_bytes : float
        Disk space for one trial.
    source : {"pilot", "folder"}
        Whether it was timed for this, or comes from the trials in the folder.
    """

    learner: str
    n_to_play: int
    trial_time_s: float
    trial_bytes: float
    source: Literal["pilot", "folder"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast cost of a run.

    Parameters
    ----------
    n_trials, n_to_play : int
        In all, and not done yet.
    wall_time_s : float
        Seconds with the requested number of workers.
    disk_bytes : int
        Disk space for the trials still to play.
    learners : tuple of LearnerCost
        In the order of the experiment.

    Examples
    --------
    >>> from gohr.experiments import Forecast
    >>> Forecast(40, 40, 12.0, 500_000, ()).n_to_play
    40
    """

    n_trials: int
    n_to_play: int
    wall_time_s: float
    disk_bytes: int
    learners: tuple[LearnerCost, ...]

    def as_records(self) -> list[dict[str, Any]]:
        """Return the costs of each learner, with the time and disk space of all its trials."""
        return [asdict(cost) for cost in self.learners]


def forecast(config: ExperimentConfig, out: str | Path, *, workers: int = 1) -> Forecast:
    """Estimate what playing an experiment into a folder will cost; the folder is not touched.

    Parameters
    ----------
    config : ExperimentConfig
        The experiment to play.
    out : path
        The run folder, which need not exist.
    workers : int
        Number of processes.

    Returns
    -------
    Forecast
        The pilot is short (some five seconds for each learner) and a learner that learns gets
        faster, so times are about right at best.

    Raises
    ------
    RunFolderError
        If the folder cannot hold this run.

    Examples
    --------
    >>> import tempfile
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=20)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     costs = forecast(config, Path(out) / "run")
    >>> costs.n_trials, costs.n_to_play, costs.wall_time_s < 20
    (20, 20, True)
    """
    folder = RunFolder.check(out, config)
    done = [r for r in folder.trials() if r.status == "done"] if folder else []
    keys = {record.key for record in done}
    missing = [trial for trial in trials_of(config) if trial.key not in keys]
    costs = []
    for learner in config.learners:
        to_play = [trial for trial in missing if trial.learner == learner]
        records = [record for record in done if record.learner == learner.name]
        costs.append(_cost(learner.name, to_play, records))
    busy = max(1, min(workers, len(os.sched_getaffinity(0)), len(missing)))
    seconds = sum(cost.n_to_play * cost.trial_time_s for cost in costs)
    n_bytes = sum(cost.n_to_play * cost.trial_bytes for cost in costs)
    return Forecast(config.n_trials, len(missing), seconds / busy, int(n_bytes), tuple(costs))


def _cost(
    learner: str,
    to_play: Sequence[Trial],
    records: Sequence[TrialRecord],
) -> LearnerCost:
    """Take the cost from the folder if there is any trial, else from a pilot."""
    if not to_play:
        return LearnerCost(learner, 0, 0.0, 0.0, "folder")
    # The time of a trial that was played elsewhere may be unknown.
    times = [record.wall_time_s for record in records if math.isfinite(record.wall_time_s)]
    if times:
        seconds = fmean(times)
        room = _ROW + fmean(record.n_bytes for record in records)
        return LearnerCost(learner, len(to_play), seconds, room, "folder")
    seconds, room = _pilot(to_play)
    return LearnerCost(learner, len(to_play), seconds, room, "pilot")


def _pilot(trials: Sequence[Trial]) -> tuple[float, float]:
    """Return the mean time and disk space of a trial, from a sample on rules far apart."""
    first = list({trial.rule.name: trial for trial in reversed(trials)}.values())
    chosen = first[:: math.ceil(len(first) / _PILOT_RULES)]
    _timed(replace(chosen[0], episodes=1), 0.0)  # compiling is not part of it
    began, figures = time.perf_counter(), []
    for trial in chosen:
        figures.append(_timed(trial, _PILOT_S / len(chosen)))
        if time.perf_counter() - began > _PILOT_S:
            break
    return fmean(seconds for seconds, _ in figures), fmean(room for _, room in figures)


def _timed(trial: Trial, budget_s: float) -> tuple[float, float]:
    """Double the number of episodes while time remains; extrapolate from the last ones.

    The first episodes can be the most expensive: a learner that knows the rule finishes quickly.
    """
    n_episodes, before, now = 1, (0.0, 0.0), _cost_of(trial, 1)
    while n_episodes < trial.episodes and (n_episodes == 1 or now[0] <= budget_s / 3):
        n_more = min(n_episodes, trial.episodes - n_episodes)
        before, now = now, _cost_of(trial, n_episodes + n_more)
        n_episodes += n_more
    times = (trial.episodes - n_episodes) / max(n_episodes // 2, 1)
    seconds, n_bytes = (b + times * max(b - a, 0.0) for a, b in zip(before, now, strict=True))
    return seconds, _ROW + n_bytes


def _cost_of(trial: Trial, n_episodes: int) -> tuple[float, float]:
    """Return the seconds and the bytes of some episodes of a trial."""
    began = time.perf_counter()
    record = play(replace(trial, episodes=n_episodes)).record
    return time.perf_counter() - began, float(record.n_bytes)
