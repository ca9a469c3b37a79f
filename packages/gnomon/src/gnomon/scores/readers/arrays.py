"""Files of arrays, as rliable and its data have them: runs in lists, by algorithm or by task."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.columns import Rows, rows_of_arrays, rows_of_records
from gnomon.scores.readers.files import json_glance, json_object
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.table import ScoreTable

_BINARY = (".npz", ".npy")


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    """Read a file of arrays, or a folder of files with one algorithm each.

    An ``.npz`` file has an array (runs, tasks) or (runs, tasks, steps) for each algorithm, and
    perhaps a list ``tasks`` of their names; an ``.npy`` file has the array of one algorithm. JSON
    has ``{algorithm: [[score, ...], ...]}``, ``{algorithm: {task: [score, ...]}}``, or ``{task:
    [score, ...]}`` of one algorithm. A file of one algorithm is named for it.
    """
    files = _files(path) if path.is_dir() else [path]
    if not files:
        raise ScoreDataError(f"{path}: expected files named ALGORITHM.json or .npz; found none")
    try:
        rows = Rows.joined([_rows(file, alone=path.is_dir()) for file in files])
        return ScoreTable.from_frame(
            rows,
            metric=wanted.metric or "score",
            higher_is_better=wanted.is_higher_better,
            provenance=(f"read from {path.name} (arrays)",),
        )
    except ScoreDataError as error:
        text = str(error)
        raise ScoreDataError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def _files(folder: Path) -> list[Path]:
    return [file for ending in (".json", *_BINARY) for file in sorted(folder.glob(f"*{ending}"))]


def _rows(path: Path, *, alone: bool) -> Rows:
    """Return the rows of one file; `alone`, it is of one algorithm."""
    is_binary = path.suffix.lower() in _BINARY
    content = _loaded(path) if is_binary else json_object(path)
    tasks = content.pop("tasks", None) if is_binary else None
    if _are_runs(content):
        content = {path.stem: content}
    if not all(isinstance(value, Mapping) for value in content.values()):
        if alone and is_binary and len(content) == 1:
            content = {path.stem: next(iter(content.values()))}
        return rows_of_arrays(content, None if tasks is None else [*map(str, tasks.ravel())])
    for algorithm, of_task in content.items():
        if not _are_runs(of_task):
            raise ScoreDataError(
                f"{path}: expected arrays (runs, tasks) by algorithm, lists of runs by task, or "
                f"those by algorithm; found neither for {algorithm}"
            )
    return rows_of_records(
        {"algorithm": algorithm, "task": task, "run": run, "score": score}
        for algorithm, of_task in content.items()
        for task, scores in of_task.items()
        for run, score in enumerate(np.atleast_1d(np.asarray(scores, np.float64)).tolist())
    )


def _loaded(path: Path) -> dict[str, Any]:
    """Return the arrays of a file by their names; of one dimension alone, runs on one task."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {path.stem: loaded[:, None] if loaded.ndim == 1 else loaded}
        with loaded as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a file of scores; there is none") from None
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        why = " without Python objects" if "pickle" in str(error).lower() else ""
        kind = path.suffix.lower()
        raise ScoreDataError(f"{path}: expected an {kind} file of arrays of numbers{why}") from None


def _are_runs(content: object) -> bool:
    """Return whether an object holds the runs of each task: lists of numbers, or single ones."""
    return isinstance(content, Mapping) and bool(content) and all(map(_is_runs, content.values()))


def _is_runs(scores: object) -> bool:
    if isinstance(scores, np.ndarray):
        return scores.ndim == 1 and scores.dtype.kind in "iufb"
    values = scores if isinstance(scores, list) else [scores]
    return all(
        x is None or (isinstance(x, int | float) and not isinstance(x, bool)) for x in values
    )


def _are_arrays(path: Path) -> bool:
    """Return whether JSON holds runs by algorithm and task, or nothing but lists."""
    content = json_glance(path)
    values = list(content.values()) if isinstance(content, dict) else []
    return bool(values) and (
        all(map(_are_runs, values)) or all(isinstance(value, list) for value in values)
    )


def _recognises(path: Path) -> bool:
    if path.is_dir():
        files = _files(path)
        return bool(files) and all(
            file.suffix.lower() in _BINARY or _are_arrays(file) for file in files
        )
    return path.is_file() and (path.suffix.lower() in _BINARY or _are_arrays(path))


ARRAYS = Reader(
    "arrays",
    "arrays or lists of runs as rliable has them: .npz, .npy, .json, or a folder of one algorithm "
    "a file",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric"}),
    is_general=True,
)
