"""Samples of lm-evaluation-harness: what ``--log_samples`` writes, one file a task and model.

A file holds a line for each item and filter. Beside it lies the file of results with the same
stamp in its name, which names the model and must agree with the samples.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError, counted, note
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

#: Where files lie below the folder that the harness was given.
DEPTHS = ("", "*/", "*/*/")
#: Relative difference of two means that are the same.
_SAME = 1e-9

#: Mean and number of items of each score.
_Means = dict[str, tuple[float, int]]


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    """Read a file of samples, or every one in a folder, up to two folders deep."""
    files = _files(path) if path.is_dir() else [path]
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


def _files(folder: Path) -> list[Path]:
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
                note(f"{place.name}: {metric} of {task} is no mean of items there, but is read so")
        _warn_of_limit(results, log)
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


def _warn_of_limit(results: Mapping[str, Any], log: Log) -> None:
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


def _recognises(path: Path) -> bool:
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
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "where"}),
    units="items",
)
