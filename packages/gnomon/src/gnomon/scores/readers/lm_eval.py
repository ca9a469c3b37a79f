"""Results of lm-evaluation-harness: a score for each task, or the samples of each item.

A file of samples holds a line for each item and filter. Beside it lies the file of results with
the same stamp in its name, which names the model and must agree with the samples.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from gnomon.errors import ScoreDataError, counted, listed, note, option
from gnomon.scores.columns import Rows, Texts
from gnomon.scores.readers.files import json_object, mapping_at
from gnomon.scores.readers.json_stream import json_lines
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.samples import (
    METRIC,
    Log,
    SampleColumns,
    input_columns,
    read_each,
    table_of_logs,
    told_by,
)
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


#: Relative difference of two means that are the same.
_SAME = 1e-9

#: Mean and number of items of each score.
_Means = dict[str, tuple[float, int]]


def _read_samples(path: Path, wanted: ReadRequest) -> ScoreTable:
    """Read a file of samples, or every one in a folder, up to two folders deep."""
    files = _sample_files(path) if path.is_dir() else [path]
    logs = []
    for (folder, stamp), group in groupby(files, lambda file: (file.parent, _stamp(file))):
        place = folder / f"results_{stamp}.json"
        results = json_object(place) if place.is_file() else {}
        if not results:
            note(
                f"{folder.name}: no results_{stamp}.json beside the samples; the folder names them"
            )
        of_run = read_each(group, partial(_log, results=results), "lm-evaluation-harness")
        with told_by(place, "lm-evaluation-harness"):
            _compare(results, {log.subtask: log for log in of_run}, place)
        logs += of_run
    _warn_of_prompts(logs)
    return table_of_logs(_matched(logs), wanted, path, "lm-evaluation-harness samples")


def _sample_files(folder: Path) -> list[Path]:
    found = [path for deep in DEPTHS for path in folder.glob(f"{deep}samples_*.jsonl")]
    return sorted(found, key=lambda file: (str(file.parent), _stamp(file), file.name))


def _stamp(path: Path) -> str:
    """Return the stamp in the name of a file: what stands behind the last underscore."""
    return path.stem.rpartition("_")[2]


def _log(path: Path, results: Mapping[str, Any]) -> Log:
    """Read one file of samples."""
    task = path.stem.removeprefix("samples_").removesuffix(f"_{_stamp(path)}")
    by_filter: dict[str, SampleColumns] = {}
    for line in json_lines(path):
        if "doc_id" not in line:
            raise ScoreDataError(f"{path}: expected samples with a doc_id; found {[*line][:4]}")
        name = str(line.get("filter") or "none")
        by_filter.setdefault(name, SampleColumns())
        _add(by_filter[name], line, name)
    if not by_filter:
        raise ScoreDataError(f"{path}: expected samples, found none")
    higher = mapping_at(mapping_at(results, "higher_is_better"), task)
    rows = _joined([columns.rows() for columns in by_filter.values()], path)
    unreadable = {k: v for columns in by_filter.values() for k, v in columns.unreadable.items()}
    names = {x.removeprefix(METRIC) for x in rows.names if x.startswith(METRIC)}
    return Log(
        path=path,
        model=str(results.get("model_name") or path.parent.name),
        subtask=task,
        rows=rows,
        unreadable=unreadable,
        lower_is_better=frozenset(x for x in names if higher.get(x.partition(",")[0]) is False),
    )


def _add(columns: SampleColumns, line: Mapping[str, Any], filter_name: str) -> None:
    """Add a line: an item under a filter."""
    prompt = _prompt(line)
    row = {
        "item": str(line["doc_id"]),
        "epoch": 1,
        "status": "ok",
        **input_columns(prompt, keeps_end=True),
        "input_hash": str(line.get("doc_hash") or line["doc_id"])[:12],
        "prompt_hash": str(line.get("prompt_hash") or "")[:12],
    }
    names = line.get("metrics")
    suffix = "" if filter_name == "none" else f",{filter_name}"
    scores = {f"{name}{suffix}": line.get(name) for name in names} if names else {}
    doc = line.get("doc")
    columns.add(row, scores, doc if isinstance(doc, dict) else {})


def _prompt(line: Mapping[str, Any]) -> str:
    """Return what the model was shown for an item."""
    first = mapping_at(mapping_at(line, "arguments"), "gen_args_0").get("arg_0", "")
    return first if isinstance(first, str) else json.dumps(first)


def _joined(parts: list[Rows], path: Path) -> Rows:
    """Return one row for each item, with the scores under all filters."""
    first, *others = parts
    for rows in parts:
        twice = [item for item, n in rows.texts("item").counts().items() if n > 1]
        if twice:
            raise ScoreDataError(f"{path}: expected one line for each doc_id and filter; found "
                                 f"doc_id {twice[0]} twice")  # fmt: skip
    for other in others:
        place = {item: row for row, item in enumerate(other.texts("item").tolist())}
        at = np.array([place.get(item, -1) for item in first.texts("item").tolist()])
        for name in (x for x in other.names if x.startswith(METRIC)):
            score = other.numbers(name)
            if score is not None:
                first = first.with_columns({name: np.append(score, np.nan)[at]})
    return first


def _compare(results: Mapping[str, Any], logs: Mapping[str, Log], place: Path) -> None:
    """Warn where the mean in the file of results differs from that of the samples."""
    means = {task: _means(log) for task, log in logs.items()}
    for task, log in logs.items():
        told = mapping_at(mapping_at(results, "results"), task)
        for metric, (mean, _) in means[task].items():
            if _is_mean(results, task, metric):
                _compare_one(place, task, metric, told, [mean])
            else:
                note(
                    f"{place.name}: {metric} of {task} is not a mean of items there, "
                    "but is read as one"
                )
        _warn_of_counts(results, log)
    _compare_groups(results, means, place)


def _compare_groups(results: Mapping[str, Any], means: Mapping[str, _Means], place: Path) -> None:
    """Warn where a group's mean differs from those of its subtasks, weighted by items or not."""
    subtasks = mapping_at(results, "group_subtasks")
    for group, told in mapping_at(results, "groups").items():
        names = [name for name in subtasks.get(group, []) if name in means]
        if not names or len(names) < len(subtasks[group]):
            continue
        for metric in means[names[0]]:
            found = [means[name][metric] for name in names if metric in means[name]]
            if len(found) == len(names):
                weighted = sum(m * n for m, n in found) / sum(n for _, n in found)
                plain = sum(m for m, _ in found) / len(found)
                _compare_one(place, group, metric, told, [weighted, plain])
                _name_both(place, group, metric, told, weighted, plain)


def _name_both(
    place: Path, group: str, metric: str, told: Mapping[str, Any], weighted: float, plain: float
) -> None:
    """Warn where the headline of a group is the unweighted mean of its subtasks."""
    value = told.get(metric if "," in metric else f"{metric},none")
    is_plain = isinstance(value, int | float) and math.isclose(value, plain, rel_tol=_SAME)
    if is_plain and not math.isclose(plain, weighted, rel_tol=1e-6):
        note(
            f"{place.name}: {metric} of {group} is {value:.6g} there, the unweighted mean of "
            f"its subtasks; the mean of all items is {weighted:.6g}"
        )


def _compare_one(
    place: Path, task: str, metric: str, told: Mapping[str, Any], means: list[float]
) -> None:
    key = metric if "," in metric else f"{metric},none"
    value = told.get(key)
    if not isinstance(value, int | float):
        return
    if not any(math.isclose(value, mean, rel_tol=_SAME, abs_tol=_SAME) for mean in means):
        note(
            f"{place.name}: {key} of {task} is {value:.6g} there, and the samples give "
            f"{means[0]:.6g}: were they changed, or left out?"
        )


def _means(log: Log) -> _Means:
    """Return mean and number of items of each score that is a number for some."""
    found = {}
    for name in log.metrics:
        if name not in log.unreadable:
            score = log.scores(name)
            score = score[~np.isnan(score)]
            if score.size:
                found[name] = float(score.mean()), score.size
    return found


def _is_mean(results: Mapping[str, Any], task: str, metric: str) -> bool:
    """Return whether a score is the mean of its items, as far as the results show."""
    settings = mapping_at(mapping_at(results, "configs"), task).get("metric_list")
    for one in settings if isinstance(settings, list) else []:
        if isinstance(one, dict) and one.get("metric") == metric.partition(",")[0]:
            return bool(one.get("aggregation", "mean") == "mean")
    return True


def _warn_of_counts(results: Mapping[str, Any], log: Log) -> None:
    counts = mapping_at(mapping_at(results, "n-samples"), log.subtask)
    planned, told = counts.get("original"), counts.get("effective")
    if planned != told:
        note(f"{log.path.name}: only {told} of {planned} items were evaluated (limit)")
    if isinstance(told, int) and told != len(log.rows):
        note(f"{log.path.name}: found {counted(len(log.rows), 'item')}; the results count {told}")


def _warn_of_prompts(logs: list[Log]) -> None:
    """Note on how many items models saw different texts."""
    for task in dict.fromkeys(log.subtask for log in logs):
        seen: dict[str, set[str]] = {}
        for log in logs:
            if log.subtask == task:
                marks = zip(
                    log.rows.tolist("input_hash"), log.rows.tolist("prompt_hash"), strict=True
                )
                for item, prompt in marks:
                    if prompt:
                        seen.setdefault(item, set()).add(prompt)
        n = sum(len(prompts) > 1 for prompts in seen.values())
        if n:
            note(
                f"{task}: the prompts of {n} of {counted(len(seen), 'item')} differ between "
                "models (examples shown, or chat template): they saw different texts"
            )


def _matched(logs: list[Log]) -> list[Log]:
    """Return the logs with items named alike where their contents are the same.

    A ``doc_id`` is a position, so items of two models are matched by the hash of their content;
    those whose contents are the same within a task, by their order.
    """
    names: dict[str, dict[tuple[str, int], str]] = {}
    found = []
    for log in logs:
        known = names.setdefault(log.subtask, {})
        before = len(known)
        items = _names_by_content(log.rows, known)
        new = len(known) - before
        if before and new:
            note(
                f"{log.path.name}: {new} of {counted(len(items), 'item')} are not those of the "
                f"other models on {log.subtask}, by their contents"
            )
        rows = log.rows.with_columns({"item": Texts.of(items)}).but("prompt_hash")
        found.append(replace(log, rows=rows))
    return found


def _names_by_content(rows: Rows, known: dict[tuple[str, int], str]) -> list[str]:
    """Return the names of items: that of the same content, else the doc_id; and add to `known`."""
    taken = set(known.values())
    again: dict[str, int] = {}
    found = []
    for item, mark in zip(rows.tolist("item"), rows.tolist("input_hash"), strict=True):
        again[mark] = again.get(mark, 0) + 1
        free = item if item not in taken else f"{item}-{mark}"
        found.append(known.setdefault((mark, again[mark]), free))
    return found


def _recognises_samples(path: Path) -> bool:
    if path.is_dir():
        return any(next(path.glob(f"{deep}samples_*.jsonl"), None) for deep in DEPTHS)
    return path.suffix == ".jsonl" and _is_sample(path)


def _is_sample(path: Path) -> bool:
    """Return whether the first line of a file is a sample."""
    try:
        first: Iterator[dict[str, Any]] = json_lines(path)
        return {"doc_id", "metrics"} <= next(first, {}).keys()
    except ScoreDataError:
        return False


LM_EVAL_SAMPLES = Reader(
    "lm-eval-samples",
    "samples of lm-evaluation-harness: a samples_*.jsonl file, or a folder of them",
    recognises=_recognises_samples,
    read=_read_samples,
    takes=frozenset({"metric", "where"}),
    units="items",
)
