"""Files of arrays, as rliable and its data have them: runs in lists, by algorithm or by task."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.columns import Rows, rows_of_records
from gnomon.scores.readers.files import json_object
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import rows_of_arrays

_SHAPES = "arrays (runs, tasks) by algorithm, lists of runs by task, or those by algorithm"
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
    if path.suffix.lower() in _BINARY:
        return _of_arrays(path, alone=alone)
    content = json_object(path)
    if all(isinstance(value, Mapping) for value in content.values()):
        by_algorithm: Mapping[str, Any] = content
    elif _are_runs(content):
        by_algorithm = {path.stem: content}
    else:
        return rows_of_arrays(content)
    rows = [*_of_lists(by_algorithm, path)]
    if not rows:
        raise ScoreDataError(f"{path}: expected {_SHAPES}; found nothing")
    return rows_of_records(rows)


def _of_arrays(path: Path, *, alone: bool) -> Rows:
    kind = path.suffix.lower()
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            arrays = {path.stem: np.atleast_2d(loaded.T).T if loaded.ndim < 2 else loaded}
        else:
            with loaded as file:
                arrays = {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a file of scores; there is none") from None
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        why = " without Python objects" if "pickle" in str(error).lower() else ""
        raise ScoreDataError(f"{path}: expected an {kind} file of arrays of numbers{why}") from None
    tasks = arrays.pop("tasks", None)
    names = None if tasks is None else [str(task) for task in tasks.ravel()]
    if arrays and all(x.ndim == 1 and x.dtype.kind in "iufb" for x in arrays.values()):
        rows = [
            {"algorithm": path.stem, "task": task, "run": run, "score": float(score)}
            for task, scores in arrays.items()
            for run, score in enumerate(scores.tolist())
        ]
        return rows_of_records(rows)
    if alone and len(arrays) == 1:
        arrays = {path.stem: next(iter(arrays.values()))}
    return rows_of_arrays(arrays, names)


def _of_lists(by_algorithm: Mapping[str, Any], path: Path) -> Iterator[dict[str, Any]]:
    for algorithm, tasks in by_algorithm.items():
        if not _are_runs(tasks):
            raise ScoreDataError(f"{path}: expected {_SHAPES}; found neither for {algorithm}")
        for task, scores in tasks.items():
            for run, score in enumerate(scores if isinstance(scores, list) else [scores]):
                value = float("nan") if score is None else float(score)
                yield {"algorithm": algorithm, "task": task, "run": run, "score": value}


def _are_runs(tasks: object) -> bool:
    """Return whether an object holds the runs of each task: lists of numbers, or single ones."""
    return isinstance(tasks, Mapping) and all(
        all(x is None or _is_number(x) for x in scores)
        if isinstance(scores, list)
        else _is_number(scores)
        for scores in tasks.values()
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_arrays(path: Path) -> bool:
    """Return whether JSON holds runs by algorithm and task, or nothing but lists."""
    try:
        values = list(json_object(path).values())
    except ScoreDataError:
        return False
    if all(isinstance(value, Mapping) for value in values):
        return bool(values) and all(value and _are_runs(value) for value in values)
    return all(isinstance(value, list) for value in values)


def _recognises(path: Path) -> bool:
    if path.is_dir():
        files = _files(path)
        return bool(files) and all(
            file.suffix.lower() in _BINARY or _are_arrays(file) for file in files
        )
    suffix = path.suffix.lower()
    return path.is_file() and (suffix in _BINARY or (suffix == ".json" and _are_arrays(path)))


ARRAYS = Reader(
    "arrays",
    "arrays or lists of runs as rliable has them: .npz, .npy, .json, or a folder of one algorithm "
    "a file",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric"}),
    is_general=True,
)
