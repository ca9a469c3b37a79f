"""Files of arrays in rliable's layout: the runs of each task in lists, by algorithm or by task."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.columns import Rows, rows_of_arrays, rows_of_records
from gnomon.scores.readers.files import json_object
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, tidy_rows

_BINARY = (".npz", ".npy")


def _read_arrays(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a file of arrays, or a folder of files with one algorithm each.

    An ``.npz`` file has an array (runs, tasks) or (runs, tasks, steps) for each algorithm, and
    perhaps a list ``tasks`` of their names; an ``.npy`` file has the array of one algorithm. JSON
    has ``{algorithm: [[score, ...], ...]}``, ``{algorithm: {task: [score, ...]}}``, or ``{task:
    [score, ...]}`` of one algorithm. A file of one algorithm is named for it.
    """
    origin = Origin(None if source.path is None else str(source.path))
    files = _files(source.place) if source.is_folder else []
    if source.is_folder and not files:
        raise origin.error("expected files named ALGORITHM.json or .npz; found none")
    try:
        parts = [_rows_of(_loaded(file), file.stem, is_alone=True) for file in files]
        if not source.is_folder:
            content = source.content() if source.path is None else _loaded(source.place)
            parts = [_rows_of(content, source.stem, is_alone=False)]
        rows = tidy_rows(Rows.joined(parts), Origin(), {})
    except ScoreDataError as error:
        raise origin.error(str(error).removeprefix(f"{source}: ")) from None
    except OverflowError:
        raise origin.error("expected numbers of at most 1e308") from None
    metric, about = wanted.metric or "score", origin.provenance("arrays")
    return ScoreTable(rows, metric, None, wanted.is_higher_better, about)


def _files(folder: Path) -> list[Path]:
    return [file for ending in (".json", *_BINARY) for file in sorted(folder.glob(f"*{ending}"))]


def _rows_of(content: Mapping[str, Any], stem: str, *, is_alone: bool) -> Rows:
    """Return the rows of one file; `is_alone`, its algorithm has the name of the file."""
    tasks = content.get("tasks") if isinstance(content.get("tasks"), np.ndarray) else None
    content = {name: x for name, x in content.items() if tasks is None or name != "tasks"}
    if _are_runs(content):
        content = {stem: content}
    values = list(content.values())
    if not all(isinstance(value, Mapping) for value in values):
        if is_alone and len(values) == 1 and isinstance(values[0], np.ndarray):
            content = {stem: values[0]}
        return rows_of_arrays(content, None if tasks is None else [*map(str, tasks.ravel())])
    for algorithm, of_task in content.items():
        if not _are_runs(of_task):
            raise ScoreDataError(
                "expected for each algorithm an array (runs, tasks) or a list of runs per task; "
                f"found neither for {algorithm}"
            )
    return rows_of_records(
        {"algorithm": algorithm, "task": task, "run": run, "score": score}
        for algorithm, of_task in content.items()
        for task, scores in of_task.items()
        for run, score in enumerate(np.atleast_1d(np.asarray(scores, np.float64)).tolist())
    )


def _loaded(path: Path) -> dict[str, Any]:
    """Return the content of a file by names."""
    return arrays_in(path) if path.suffix.lower() in _BINARY else json_object(path)


def arrays_in(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a file by names; one of one dimension alone is of runs on one task."""
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


def _are_arrays(content: Any) -> bool:
    """Return whether JSON holds runs by algorithm and task, or nothing but lists."""
    values = list(content.values()) if isinstance(content, Mapping) else []
    return bool(values) and (
        all(map(_are_runs, values)) or all(isinstance(value, list) for value in values)
    )


def _are_files_of_arrays(source: Source) -> bool:
    if source.is_folder:
        files = _files(source.place)
        return bool(files) and all(
            file.suffix.lower() in _BINARY or _are_arrays(Source(file).json) for file in files
        )
    if source.is_file and source.ending in _BINARY:
        return True
    return not source.names and _are_arrays(source.json)


ARRAYS = Reader(
    "arrays",
    "arrays or lists of runs in rliable's layout: .npz, .npy, .json, or a folder with one file "
    "per algorithm",
    recognises=_are_files_of_arrays,
    read=_read_arrays,
    takes=frozenset({"metric"}),
    is_general=True,
    in_memory=True,
)
