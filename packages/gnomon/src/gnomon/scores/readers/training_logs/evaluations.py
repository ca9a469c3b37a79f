"""Evaluations that Stable-Baselines3 saves while it trains: ``evaluations.npz``, one file a run."""

from __future__ import annotations

import os
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, listed
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.training_logs.run_folders import by_run, files_below
from gnomon.scores.table import FloatArray, ScoreTable

_ENDING = "evaluations.npz"
#: What such a file may hold beside the steps; the first is the score if none is named.
_SCORES = ("results", "successes", "ep_lengths")


def read_evaluations(
    paths: Mapping[tuple[str, str, int | str], str | os.PathLike[str]], *, metric: str | None = None
) -> ScoreTable:
    """Read the evaluations of Stable-Baselines3: a score for each evaluation of a run.

    The score of a step is the mean over the episodes of its evaluation: episodes are no runs.

    Parameters
    ----------
    paths : mapping from (algorithm, task, run) to path
        An ``evaluations.npz`` each, with ``timesteps``, shape (evaluations,), and ``results``,
        shape (evaluations, episodes).
    metric : str, optional
        ``results`` (returns, if none is named), ``successes`` or ``ep_lengths``.

    Raises
    ------
    ScoreDataError
        A file is none of these, or lacks the metric.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "evaluations.npz"
    ...     np.savez(path, timesteps=[10, 20], results=[[1.0, 3.0], [4.0, 6.0]])
    ...     read_evaluations({("ppo", "Ant-v5", 0): path}).curves("ppo", "Ant-v5")
    (array([10., 20.]), array([[2., 5.]]))
    """
    name = metric or _SCORES[0]
    records = []
    for (algorithm, task, run), path in paths.items():
        steps, scores = _evaluations(Path(path), name)
        for step, score in zip(steps, scores, strict=True):
            key = {"algorithm": algorithm, "task": task, "run": run}
            records.append(key | {"step": float(step), "score": float(score)})
    table = ScoreTable.from_records(
        records,
        metric="return" if name == "results" else name,
        provenance=("read from Stable-Baselines3 evaluations, means over episodes",),
    )
    return warn_of_suspicions(table)


def _evaluations(path: Path, name: str) -> tuple[FloatArray, FloatArray]:
    """Return steps, and the mean over episodes at each."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a file of evaluations; there is none") from None
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        raise ScoreDataError(f"{path}: expected an .npz file of arrays of numbers") from None
    if name not in arrays or "timesteps" not in arrays:
        raise ScoreDataError(
            f"{path}: expected timesteps and {name}, found {listed(arrays) or 'nothing'}"
        )
    steps, scores = arrays["timesteps"], arrays[name]
    if steps.ndim != 1 or scores.ndim != 2 or len(steps) != len(scores) or not scores.size:
        raise ScoreDataError(
            f"{path}: expected timesteps (evaluations,) and {name} (evaluations, episodes), "
            f"found {steps.shape} and {scores.shape}"
        )
    return steps, np.asarray(scores, dtype=np.float64).mean(axis=1)


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    if path.is_dir():
        files = files_below(path, _ENDING)
        if not files:
            raise ScoreDataError(f"{path}: expected ALGORITHM/TASK/RUN/{_ENDING} in it; found none")
        return read_evaluations(dict(by_run(files, path, _ENDING)), metric=wanted.metric)
    name = path.stem
    warnings.warn(
        f"{path.name} names neither algorithm nor task: read as one run of {name!r}; a folder "
        f"ALGORITHM/TASK/RUN/{_ENDING} names all",
        DegenerateScoresWarning,
        stacklevel=2,
    )
    return read_evaluations({(name, name, 0): path}, metric=wanted.metric)


def _recognises(path: Path) -> bool:
    if path.is_dir():
        return bool(files_below(path, _ENDING))
    if path.suffix.lower() != ".npz" or not path.is_file():
        return False
    try:
        return {"timesteps.npy", "results.npy"} <= set(zipfile.ZipFile(path).namelist())
    except (OSError, zipfile.BadZipFile):
        return False


EVALUATIONS = Reader(
    "evaluations",
    "evaluations.npz of Stable-Baselines3: one, or a folder ALGORITHM/TASK/RUN/evaluations.npz",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric"}),
)
