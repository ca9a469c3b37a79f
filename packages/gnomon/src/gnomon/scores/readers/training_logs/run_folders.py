"""Folders with a file for each run: which algorithm, task and run a file is of, by its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from gnomon.errors import ScoreDataError

#: Algorithm, task and run.
RunKey = tuple[str, str, str]

#: A folder for each training, numbered, as RL Baselines3 Zoo names them: ``CartPole-v1_2``.
_NUMBERED = re.compile(r"(.+)_(\d+)")


def files_below(folder: Path, ending: str) -> list[Path]:
    """Return the files of that ending in ``ALGORITHM/TASK`` and in ``ALGORITHM/TASK/RUN``."""
    return sorted([*folder.glob(f"*/*/*{ending}"), *folder.glob(f"*/*/*/*{ending}")])


def key_of_file(file: Path, folder: Path, ending: str, task: str | None = None) -> RunKey:
    """Return algorithm, task and run of a file, by its place in a folder.

    Parameters
    ----------
    file, folder : path
        A file, and the folder that holds one folder for each algorithm.
    ending : str
        How such files are called; what stands before it in a name is the run.
    task : str, optional
        The task that the file itself names: a folder of it with a number is a run.

    Raises
    ------
    ScoreDataError
        The place names no run.

    Examples
    --------
    >>> zoo = Path("logs/ppo/CartPole-v1_2/evaluations.npz")
    >>> key_of_file(zoo, Path("logs"), "evaluations.npz")
    ('ppo', 'CartPole-v1', '2')
    >>> key_of_file(Path("logs/ppo/ant/0.monitor.csv"), Path("logs"), "monitor.csv")
    ('ppo', 'ant', '0')
    """
    algorithm, place, *rest = file.relative_to(folder).parts
    if len(rest) == 2:
        return algorithm, place, rest[0]
    numbered = _NUMBERED.fullmatch(place)
    run = rest[0].removesuffix(ending).strip(".")
    if numbered and (not run or numbered[1] == task):
        return algorithm, numbered[1], numbered[2]
    if not run:
        raise ScoreDataError(
            f"{file}: expected ALGORITHM/TASK/RUN.{ending.lstrip('.')} or "
            f"ALGORITHM/TASK/RUN/{ending.lstrip('.')} in {folder}"
        )
    return algorithm, place, run


def by_run(
    files: Sequence[Path], folder: Path, ending: str
) -> Iterator[tuple[tuple[str, str, int | str], Path]]:
    """Yield each file with its key; of two files of one run the second is refused."""
    seen: dict[RunKey, Path] = {}
    for file in files:
        key = key_of_file(file, folder, ending)
        if key in seen:
            raise ScoreDataError(
                f"{file}: expected one file for each run, found {seen[key]} of the same run"
            )
        seen[key] = file
        yield key, file
