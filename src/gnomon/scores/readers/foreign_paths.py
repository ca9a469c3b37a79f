"""What other tools have left at a place, known by its look: the door for foreign scores."""

from __future__ import annotations

import os
from pathlib import Path

from gnomon.errors import ScoreDataError
from gnomon.scores.readers.foreign import metrics_of_marl_eval, read_marl_eval, read_monitors
from gnomon.scores.readers.json_object import json_object
from gnomon.scores.readers.lm_eval import DEPTHS, read_lm_eval
from gnomon.scores.table import ScoreTable

__all__ = ["read_foreign"]


def read_foreign(
    path: str | os.PathLike[str], *, metric: str | None = None, higher_is_better: bool = True
) -> ScoreTable | None:
    """Read the scores of another tool, if a place looks like its.

    Parameters
    ----------
    path : path
        A ``.json`` file of marl-eval or lm-evaluation-harness; a folder of the latter's
        ``results*.json``; or a folder of Stable-Baselines3 monitor files, ``ALGORITHM/TASK/RUN/``
        or ``ALGORITHM/TASK/RUN.monitor.csv``.
    metric : str, optional
        Which one, where a file holds several; ``acc`` of language models if not given.
    higher_is_better : bool
        Direction of marl-eval's metric, which its files do not tell.

    Returns
    -------
    ScoreTable or None
        None if the place looks like none of them.

    Raises
    ------
    ScoreDataError
        It looks like one of them and cannot be read as such.
    """
    place = Path(path)
    if place.suffix.lower() == ".json" and place.is_file():
        if "results" in json_object(place):
            return read_lm_eval(place, metric=metric or "acc")
        return _marl_eval(place, metric, higher_is_better)
    if not place.is_dir():
        return None
    # Not at any depth: a folder may be a whole disk.
    if any(path for deep in DEPTHS for path in place.glob(f"{deep}results*.json")):
        return read_lm_eval(place, metric=metric or "acc")
    monitors = sorted([*place.glob("*/*/*monitor.csv"), *place.glob("*/*/*/monitor.csv")])
    return read_monitors({_key(one, place): one for one in monitors}) if monitors else None


def _marl_eval(path: Path, metric: str | None, higher_is_better: bool) -> ScoreTable:
    if metric is None:
        names = metrics_of_marl_eval(path)
        if len(names) != 1:
            shown = ", ".join(names) or "none"
            raise ScoreDataError(f"{path}: expected a metric to be named; found {shown}")
        metric = names[0]
    return read_marl_eval(path, metric=metric, higher_is_better=higher_is_better)


def _key(monitor: Path, folder: Path) -> tuple[str, str, str]:
    """Return algorithm, task and run of a monitor file."""
    algorithm, task, *rest = monitor.relative_to(folder).parts
    run = rest[0].removesuffix("monitor.csv").strip(".")
    if not run:
        raise ScoreDataError(
            f"{monitor}: expected ALGORITHM/TASK/RUN.monitor.csv or "
            f"ALGORITHM/TASK/RUN/monitor.csv in {folder}"
        )
    return algorithm, task, run
