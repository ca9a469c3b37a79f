"""Results of lm-evaluation-harness: one JSON file for each evaluation of a model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gnomon.errors import ScoreDataError
from gnomon.scores.json_object import json_object
from gnomon.scores.table import ScoreTable

__all__ = ["lm_eval_files", "read_lm_eval"]

Pathlike = str | os.PathLike[str]

#: Where results lie below the folder that the harness was given.
DEPTHS = ("", "*/", "*/*/")


def read_lm_eval(
    paths: Mapping[str, Pathlike] | Pathlike, *, metric: str = "acc", run: int = 0
) -> ScoreTable:
    """Read result files of lm-evaluation-harness: one score for each task.

    Parameters
    ----------
    paths : path, or mapping from algorithm to path
        A file, or a folder, of which every ``results*.json`` is read, up to two folders deep, as
        the harness writes them. An algorithm that is not named is the file's ``model_name``.
    metric : str
        Which one; tasks without it are left out. ``acc`` finds ``acc,none``; where a task has it
        under several filters, the filter belongs to the name: ``exact_match,strict-match``.
    run : int
        Label of the first run of a model; further files of the same model, in the order of their
        names, are further runs.

    Raises
    ------
    ScoreDataError
        A file has no results, or none of that metric, or several.
    """
    named = list(paths.items()) if isinstance(paths, Mapping) else [(None, paths)]
    records: list[dict[str, Any]] = []
    n_runs: dict[str, int] = {}
    directions = set()
    for name, place in named:
        for path in lm_eval_files(place):
            content = json_object(path)
            algorithm = name or str(content.get("model_name") or path.stem)
            label = run + n_runs.get(algorithm, 0)
            n_runs[algorithm] = n_runs.get(algorithm, 0) + 1
            higher = _mapping(content, "higher_is_better")
            for task, value in _values(content, metric, path):
                directions.add(bool(_mapping(higher, task).get(metric.partition(",")[0], True)))
                key = {"algorithm": algorithm, "task": task, "run": label}
                records.append(key | {"score": value})
    if not records:
        raise ScoreDataError("expected result files to read; found none")
    if len(directions) > 1:
        raise ScoreDataError(f"{metric}: higher is better on some tasks and worse on others")
    return ScoreTable.from_records(
        records,
        metric=metric,
        higher_is_better=directions.pop(),
        provenance=("read from lm-evaluation-harness results",),
    )


def lm_eval_files(place: Pathlike) -> list[Path]:
    """Return a file as it is, and of a folder the result files in it."""
    folder = Path(place)
    if not folder.is_dir():
        return [folder]
    found = [path for deep in DEPTHS for path in sorted(folder.glob(f"{deep}results*.json"))]
    if not found:
        raise ScoreDataError(f"{folder}: expected files named results*.json; found none")
    return found


def _values(content: dict[str, Any], metric: str, path: Path) -> Iterator[tuple[str, float]]:
    """Yield task and value wherever a file has the metric."""
    found = False
    for task, values in _mapping(content, "results").items():
        keys = [
            key
            for key, value in _mapping({task: values}, task).items()
            if metric in (key, key.partition(",")[0])
            and isinstance(value, int | float)
            and not isinstance(value, bool)
        ]
        if len(keys) > 1:
            raise ScoreDataError(f"{path}, task {task}: expected one {metric}, found {keys}")
        if keys:
            found = True
            yield task, float(values[keys[0]])
    if not found:
        raise ScoreDataError(f"{path}: expected results with the metric {metric!r}; found none")


def _mapping(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return what stands under a name, or nothing if that is no mapping."""
    value = content.get(name)
    return value if isinstance(value, Mapping) else {}
