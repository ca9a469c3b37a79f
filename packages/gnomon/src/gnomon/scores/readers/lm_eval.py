"""Results of lm-evaluation-harness: one JSON file for each evaluation of a model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

from gnomon.errors import ScoreDataError, listed, note, option
from gnomon.scores.readers.files import json_object, mapping_at
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.table import ScoreTable

#: Where results lie below the folder that the harness was given.
DEPTHS = ("", "*/", "*/*/")


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    """Read a file, or every ``results*.json`` of a folder: one score for each task.

    Further files of one model are further runs. Where the harness gives the standard error of a
    score and the number of its items, these are the attributes ``stderr`` and ``n_items`` of its
    row. The score of a group, such as ``mmlu``, is left out where a subtask has a score itself.
    ``acc`` finds ``acc,none``; under several filters the filter belongs to the name.
    """
    metric = wanted.metric or "acc"
    records: list[dict[str, Any]] = []
    n_runs: dict[str, int] = {}
    directions = set()
    left_out: dict[str, None] = {}
    without: dict[str, str] = {}
    for file in _result_files(path):
        content = json_object(file)
        algorithm = str(content.get("model_name") or file.stem)
        label = n_runs.get(algorithm, 0)
        n_runs[algorithm] = label + 1
        higher = mapping_at(content, "higher_is_better")
        keys = _keys(content, metric, file)
        values = {task: float(mapping_at(content, "results")[task][keys[task]]) for task in keys}
        _warn_of_limit(content, values, file)
        without |= _others(content, keys)
        groups = _groups(content, values)
        left_out |= dict.fromkeys(groups)
        for task, value in values.items():
            if task not in groups:
                directions.add(bool(mapping_at(higher, task).get(metric.partition(",")[0], True)))
                key = {"algorithm": algorithm, "task": task, "run": label, "score": value}
                records.append(key | _error_of(content, task, keys[task]))
    if not records:
        raise ScoreDataError("expected result files to read; found none")
    if len(directions) > 1:
        raise ScoreDataError(f"{metric}: higher is better on some tasks and worse on others")
    if left_out:
        note(f"groups left out, since their subtasks are there: {', '.join(left_out)}")
    if without:
        task, other = next(iter(without.items()))
        message = f"tasks left out, since they have no {metric}: {listed(without)}"
        note(f"{message}; {task} has {other}")
    return ScoreTable.from_records(
        records,
        metric=metric,
        higher_is_better=directions.pop(),
        provenance=("read from lm-evaluation-harness results",),
    )


def _result_files(folder: Path) -> list[Path]:
    """Return a file as it is, and of a folder the result files in it."""
    if not folder.is_dir():
        return [folder]
    found = _below(folder)
    if not found:
        raise ScoreDataError(f"{folder}: expected files named results*.json; found none")
    return found


def _below(folder: Path) -> list[Path]:
    # Not at any depth: a folder may be a whole disk.
    return [path for deep in DEPTHS for path in sorted(folder.glob(f"{deep}results*.json"))]


def _keys(content: dict[str, Any], metric: str, path: Path) -> dict[str, str]:
    """Return the name of the metric, filter included, for each task or group that has it."""
    found = {}
    for task, values in mapping_at(content, "results").items():
        keys = [
            key
            for key, value in mapping_at({task: values}, task).items()
            if metric in (key, key.partition(",")[0]) and _is_number(value)
        ]
        if len(keys) > 1:
            raise ScoreDataError(f"{path}, task {task}: expected one {metric}, found {keys}")
        if keys:
            found[task] = keys[0]
    if not found:
        names = {k.partition(",")[0] for k in _others(content, {}).values()}
        others = f"{listed(sorted(names))}: {option(metric=min(names))}" if names else "none"
        raise ScoreDataError(f"{path}: expected results with the metric {metric!r}; found {others}")
    return found


def _others(content: dict[str, Any], keys: Mapping[str, str]) -> dict[str, str]:
    """Return another metric of each task that lacks the wanted one; groups may have none."""
    found = {}
    for task in mapping_at(content, "results"):
        values = mapping_at(mapping_at(content, "results"), task)
        metrics = [k for k, x in values.items() if _is_number(x) and "_stderr" not in k]
        if task not in keys and metrics:
            found[task] = metrics[0]
    return found


def _error_of(content: dict[str, Any], task: str, key: str) -> dict[str, float]:
    """Return the standard error of a score and the number of its items, if both are given."""
    name, _, of_filter = key.partition(",")
    values = mapping_at(content, "results")[task]
    error = values.get(f"{name}_stderr,{of_filter}")
    items = mapping_at(mapping_at(content, "n-samples"), task).get("effective")
    if not (_is_number(error) and _is_number(items)):
        return {}
    if error == 0.0 and items > 1 and 0.0 < values[key] < 1.0:
        # Some versions of the harness write 0 for a share of right answers.
        error = math.sqrt(values[key] * (1.0 - values[key]) / (items - 1))
        note(f"{task}: the standard error of {key} is 0 there; {error:.4g} from {items} items")
    return {"stderr": float(error), "n_items": int(items)}


def _warn_of_limit(content: dict[str, Any], tasks: Mapping[str, float], path: Path) -> None:
    """Note which tasks were evaluated in part."""
    counts = {task: mapping_at(mapping_at(content, "n-samples"), task) for task in tasks}
    cut = [t for t, n in counts.items() if n.get("effective") != n.get("original")]
    if cut:
        note(f"{path}: only a part of the items was evaluated (limit) on {listed(cut)}")


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _groups(content: dict[str, Any], values: Mapping[str, float]) -> list[str]:
    """Return the groups among what has a value of which a subtask, at any depth, has one too."""
    subtasks = {name: _names(x) for name, x in mapping_at(content, "group_subtasks").items()}
    for group in mapping_at(content, "groups"):
        # Not every version lists the subtasks, but their names begin with the group's. One alone
        # may be another benchmark: mmlu_pro is none of mmlu's.
        alike = [name for name in values if name.startswith(f"{group}_")]
        subtasks.setdefault(group, alike if len(alike) > 1 else [])
    return [name for name in values if any(x in values for x in _subtasks(name, subtasks))]


def _subtasks(group: str, subtasks: Mapping[str, list[str]]) -> set[str]:
    """Return the subtasks of a group, their own subtasks, and so on; not the group itself."""
    found: set[str] = set()
    waiting = list(subtasks.get(group, ()))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += subtasks.get(name, ())
    return found - {group}


def _names(value: object) -> list[str]:
    """Return the texts of a list, or nothing if that is none."""
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _recognises(path: Path) -> bool:
    if path.is_dir():
        return bool(_below(path))
    if path.suffix.lower() != ".json":
        return False
    try:
        return "results" in json_object(path)
    except ScoreDataError:
        return False


LM_EVAL = Reader(
    "lm-eval",
    "results of lm-evaluation-harness: a JSON file, or a folder of results*.json",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric"}),
    is_general=True,
)
