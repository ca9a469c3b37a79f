"""Monitor files of Stable-Baselines3: one row an episode, one file a run."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path

from gnomon.errors import ScoreDataError
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.reported_number import reported_number
from gnomon.scores.table import ScoreTable

__all__ = ["MONITORS", "read_monitors"]


def read_monitors(paths: Mapping[tuple[str, str, int | str], str | os.PathLike[str]]) -> ScoreTable:
    r"""Read Stable-Baselines3 monitor files: one row per episode, of unequal numbers.

    Parameters
    ----------
    paths : mapping from (algorithm, task, run) to path
        A ``monitor.csv`` each: a line ``#{...}``, then the columns r (return), l (length), t.

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
    for (algorithm, task, run), path in paths.items():
        try:
            lines = Path(path).read_text("utf-8").splitlines()
        except FileNotFoundError:
            raise ScoreDataError(f"{path}: expected a monitor file; there is none") from None
        except (OSError, UnicodeDecodeError) as error:
            raise ScoreDataError(f"{path}: expected a monitor file; {error}") from None
        if not lines or not lines[0].startswith("#"):
            raise ScoreDataError(f"{path}, line 1: expected '#' and JSON, as a monitor file has")
        step = 0.0
        for line, row in enumerate(csv.DictReader(lines[1:]), start=3):
            step += _number(row.get("l"), f"{path}, line {line}, column 'l'")
            score = _number(row.get("r"), f"{path}, line {line}, column 'r'")
            key = {"algorithm": algorithm, "task": task, "run": run}
            records.append(key | {"step": step, "score": score})
    table = ScoreTable.from_records(
        records, metric="return", provenance=("read from Stable-Baselines3 monitor files",)
    )
    return warn_of_suspicions(table)


def _number(text: object, where: str) -> float:
    """Return the number that a cell holds, or NaN for nothing."""
    number = reported_number(text)
    if number is None:
        raise ScoreDataError(f"{where}: expected a number, found {str(text)!r}")
    return number


def _monitors(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*/*/*monitor.csv"), *folder.glob("*/*/*/monitor.csv")])


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


def _read(path: Path, _: ReadRequest) -> ScoreTable:
    monitors = _monitors(path)
    if not monitors:
        raise ScoreDataError(f"{path}: expected ALGORITHM/TASK/RUN/monitor.csv in it; found none")
    return read_monitors({_key(one, path): one for one in monitors})


MONITORS = Reader(
    "monitors",
    "a folder of Stable-Baselines3 monitor files, ALGORITHM/TASK/RUN/monitor.csv",
    recognises=lambda path: path.is_dir() and bool(_monitors(path)),
    read=_read,
    is_general=True,
)
