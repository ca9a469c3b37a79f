"""Monitor files of Stable-Baselines3: one row an episode, one file a run, or one an environment."""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.reported_number import reported_number
from gnomon.scores.readers.training_logs.run_folders import RunKey, files_below, key_of_file
from gnomon.scores.table import ScoreTable

Pathlike = str | os.PathLike[str]

_ENDING = "monitor.csv"


def read_monitors(
    paths: Mapping[tuple[str, str, int | str], Pathlike | Sequence[Pathlike]],
) -> ScoreTable:
    r"""Read Stable-Baselines3 monitor files: one row per episode, of unequal numbers.

    Parameters
    ----------
    paths : mapping from (algorithm, task, run) to path or paths
        A ``monitor.csv`` each: a line ``#{...}``, then the columns r (return), l (length) and t
        (time). The monitors of a vector environment are one run: their episodes are put in the
        order in which they ended.

    Returns
    -------
    ScoreTable
        Returns by the number of environment steps at which their episodes ended.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "monitor.csv"
    ...     _ = path.write_text("#{}\nr,l,t\n1.5,10,0.1\n2.5,20,0.2\n")
    ...     read_monitors({("ppo", "Ant-v5", 0): path}).curves("ppo", "Ant-v5")
    (array([10., 30.]), array([[1.5, 2.5]]))
    """
    records = []
    for (algorithm, task, run), place in paths.items():
        several = [place] if isinstance(place, str | os.PathLike) else list(place)
        episodes = [episode for path in several for episode in _episodes(Path(path))]
        if len(several) > 1:
            episodes.sort(key=lambda episode: episode[0])
        step = 0.0
        for _, length, score in episodes:
            step += length
            key = {"algorithm": algorithm, "task": task, "run": run}
            records.append(key | {"step": step, "score": score})
    if not records:
        raise ScoreDataError("expected monitor files with episodes in them; found none")
    table = ScoreTable.from_records(
        records, metric="return", provenance=("read from Stable-Baselines3 monitor files",)
    )
    return warn_of_suspicions(table)


def _episodes(path: Path) -> list[tuple[float, float, float]]:
    """Return time of ending, length and return of each episode of a file."""
    lines = _lines(path)
    start = _about(lines[0]).get("t_start", 0.0)
    found = []
    for line, row in enumerate(csv.DictReader(lines[1:]), start=3):
        length, score = (_number(row.get(x), f"{path}, line {line}, column {x!r}") for x in "lr")
        time = reported_number(row.get("t"))
        found.append(((start if isinstance(start, float) else 0.0) + (time or 0.0), length, score))
    return found


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a monitor file; there is none") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ScoreDataError(f"{path}: expected a monitor file; {error}") from None
    if not lines or not lines[0].startswith("#"):
        raise ScoreDataError(f"{path}, line 1: expected '#' and JSON, as a monitor file has")
    return lines


def _about(line: str) -> dict[str, Any]:
    """Return what the first line tells: the start, and perhaps the environment."""
    try:
        about = json.loads(line.removeprefix("#"))
    except ValueError:
        return {}
    return about if isinstance(about, dict) else {}


def _task(path: Path) -> str | None:
    """Return the environment that a monitor file names, if any."""
    found = _about(_lines(path)[0]).get("env_id")
    return found if isinstance(found, str) and found != "None" else None


def _number(text: object, where: str) -> float:
    """Return the number that a cell holds, or NaN for nothing."""
    number = reported_number(text)
    if number is None:
        raise ScoreDataError(f"{where}: expected a number, found {str(text)!r}")
    return number


def _read(path: Path, _: ReadRequest) -> ScoreTable:
    if path.is_file():
        return read_monitors({_alone(path): path})
    monitors = files_below(path, _ENDING)
    if not monitors:
        raise ScoreDataError(f"{path}: expected ALGORITHM/TASK/RUN/monitor.csv in it; found none")
    runs: dict[tuple[str, str, int | str], list[Path]] = {}
    for file in monitors:
        runs.setdefault(key_of_file(file, path, _ENDING, _task(file)), []).append(file)
    return read_monitors(runs)


def _alone(path: Path) -> RunKey:
    """Return the key of a file by itself, which names no algorithm and no run, and say so."""
    name = path.name.removesuffix(_ENDING).strip(".") or "monitor"
    task = _task(path) or name
    warnings.warn(
        f"{path.name} names no algorithm: read as one run of {name!r} on {task!r}; a folder "
        "ALGORITHM/TASK/RUN/monitor.csv names all",
        DegenerateScoresWarning,
        stacklevel=3,
    )
    return name, task, "0"


def _recognises(path: Path) -> bool:
    if path.is_dir():
        return bool(files_below(path, _ENDING))
    return path.name.endswith(_ENDING) and path.is_file()


MONITORS = Reader(
    "monitors",
    "monitor files of Stable-Baselines3: one, or a folder ALGORITHM/TASK/RUN/monitor.csv",
    recognises=_recognises,
    read=_read,
)
