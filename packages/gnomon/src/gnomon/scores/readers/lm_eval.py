"""Results of lm-evaluation-harness: a score for each task, or the samples of each item.

A file of samples holds a line for each item and filter. Beside it lies the file of results with
the same stamp in its name, which names the model and must agree with the samples.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from gnomon.errors import ScoreDataError, counted, listed, note, option
from gnomon.scores.readers.files import json_lines, json_object, mapping_at
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.readers.samples import (
    Log,
    Sample,
    compare_means,
    input_columns,
    read_each,
    reading_log,
    table_of_logs,
    table_of_scores,
)
from gnomon.scores.table import ScoreTable

#: Names of the two kinds of files.
_RESULTS, _SAMPLES = "results*.json", "samples_*.jsonl"


def _read(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a file, or every ``results*.json`` of a folder: one score for each task.

    Further files of one model are further runs. Where the harness gives the standard error of a
    score and the number of its items, these are the attributes ``stderr`` and ``n_items`` of its
    row. The score of a group, such as ``mmlu``, is left out where a subtask has a score itself.
    ``acc`` finds ``acc,none``; under several filters the filter belongs to the name.
    """
    path = source.place
    records: list[dict[str, Any]] = []
    n_runs: Counter[str] = Counter()
    left_out: dict[str, None] = {}
    without: dict[str, str] = {}
    files = source.files(_RESULTS)
    if not files:
        raise ScoreDataError(f"{path}: expected files named results*.json; found none")
    contents = {file: json_object(file) for file in files}
    metric = wanted.metric or _usual_metric(contents.values())
    for file, content in contents.items():
        algorithm = str(content.get("model_name") or file.stem)
        keys, others = _keys(content, metric, file)
        without |= others
        groups = _groups(content, keys)
        left_out |= dict.fromkeys(groups)
        _warn_of_limit(content, keys, file)
        for task in (name for name in keys if name not in groups):
            better = mapping_at(mapping_at(content, "higher_is_better"), task)
            key = {"algorithm": algorithm, "task": task, "run": n_runs[algorithm]}
            key["lower"] = not better.get(metric.partition(",")[0], True)
            records.append(key | _score_of(content, task, keys[task]))
        n_runs[algorithm] += 1
    if left_out:
        note(f"groups left out, since their subtasks are there: {', '.join(left_out)}")
    if without:
        task, other = next(iter(without.items()))
        message = f"tasks left out, since they have no {metric}: {listed(without)}"
        note(f"{message}; {task} has {other}")
    return table_of_scores(records, wanted, path, "lm-evaluation-harness results", metric)


def _numbers(content: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the full names of the scores of each task or group, without their standard errors."""
    results = mapping_at(content, "results")
    each = {task: mapping_at(results, task) for task in results}
    return {
        task: [x for x, value in own.items() if _is_number(value) and "_stderr" not in x]
        for task, own in each.items()
    }


def _usual_metric(contents: Iterable[Mapping[str, Any]]) -> str:
    """Return the only metric of all files, if there is one, else ``acc``."""
    named = [names for content in contents for names in _numbers(content).values()]
    every = {name.partition(",")[0] for names in named for name in names}
    return every.pop() if len(every) == 1 else "acc"


def _keys(
    content: Mapping[str, Any], metric: str, path: Path
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the full name of the metric on each task or group that has it, another of others."""
    found, others = {}, {}
    for task, names in _numbers(content).items():
        keys = [name for name in names if metric in (name, name.partition(",")[0])]
        if len(keys) > 1:
            raise ScoreDataError(f"{path}, task {task}: expected one {metric}, found {keys}")
        if keys:
            found[task] = keys[0]
        elif names:
            others[task] = names[0]
    if not found:
        plain = sorted({name.partition(",")[0] for name in others.values()})
        known = f"{listed(plain)}: {option(metric=plain[0])}" if plain else "none"
        raise ScoreDataError(f"{path}: expected results with the metric {metric!r}; found {known}")
    return found, others


def _score_of(content: Mapping[str, Any], task: str, key: str) -> dict[str, float]:
    """Return a score with its standard error and the number of its items, if both are given."""
    name, _, of_filter = key.partition(",")
    values = mapping_at(content, "results")[task]
    score, error = float(values[key]), values.get(f"{name}_stderr,{of_filter}")
    items = mapping_at(mapping_at(content, "n-samples"), task).get("effective")
    if not (_is_number(error) and _is_number(items)):
        return {"score": score}
    if error == 0.0 and items > 1 and 0.0 < score < 1.0:
        # Some versions of the harness write 0 for a share of right answers.
        error = math.sqrt(score * (1.0 - score) / (items - 1))
        note(f"{task}: the standard error of {key} is 0 there; {error:.4g} from {items} items")
    return {"score": score, "stderr": float(error), "n_items": int(items)}


def _warn_of_limit(content: Mapping[str, Any], tasks: Mapping[str, str], path: Path) -> None:
    """Note which tasks were evaluated in part."""
    counts = {task: mapping_at(mapping_at(content, "n-samples"), task) for task in tasks}
    cut = [t for t, n in counts.items() if n.get("effective") != n.get("original")]
    if cut:
        note(f"{path}: only a part of the items was evaluated (limit) on {listed(cut)}")


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _groups(content: Mapping[str, Any], values: Mapping[str, str]) -> list[str]:
    """Return the groups among what has a value of which a subtask has one too."""
    subtasks = mapping_at(content, "group_subtasks")
    return [
        name
        for name in values
        if isinstance(subtasks.get(name), list)
        and any(x in values for x in subtasks[name] if x != name)
    ]


def _recognises(source: Source) -> bool:
    if source.is_folder:
        return bool(source.files(_RESULTS))
    if not isinstance(source.json, dict) or "results" not in source.json:
        return False
    return not (isinstance(source.json["results"], list) and source.json["results"])


LM_EVAL = Reader(
    "lm-eval",
    "results of lm-evaluation-harness: a JSON file, or a folder of results*.json",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric"}),
    is_general=True,
)


def _read_samples(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a file of samples, or every one in a folder, up to two folders deep."""
    files = sorted(source.files(_SAMPLES), key=lambda x: (str(x.parent), _stamp(x), x.name))
    logs = []
    for (folder, stamp), group in groupby(files, lambda file: (file.parent, _stamp(file))):
        place = folder / f"results_{stamp}.json"
        results = json_object(place) if place.is_file() else {}
        if not results:
            note(f"{folder.name}: no results_{stamp}.json; the folder gives the name of the model")
        of_run = read_each(group, partial(_log, results=results), "lm-evaluation-harness")
        with reading_log(place, "lm-evaluation-harness"):
            _compare(results, {log.subtask: log for log in of_run}, place)
        logs += of_run
    return table_of_logs(logs, wanted, source.place, "lm-evaluation-harness samples")


def _stamp(path: Path) -> str:
    """Return the stamp in the name of a file: what follows the last underscore."""
    return path.stem.rpartition("_")[2]


def _log(path: Path, results: Mapping[str, Any]) -> Log:
    """Read one file of samples: the scores of an item under all filters are one sample."""
    task = path.stem.removeprefix("samples_").removesuffix(f"_{_stamp(path)}")
    samples: dict[str, Sample] = {}
    scores: dict[str, dict[str, Any]] = {}
    seen = set()
    for line in json_lines(path):
        if "doc_id" not in line:
            raise ScoreDataError(f"{path}: expected samples with a doc_id; found {[*line][:4]}")
        item, of_filter = str(line["doc_id"]), str(line.get("filter") or "none")
        if (item, of_filter) in seen:
            raise ScoreDataError(
                f"{path}: expected one line for each doc_id and filter; found doc_id {item} twice"
            )
        seen.add((item, of_filter))
        suffix = "" if of_filter == "none" else f",{of_filter}"
        own = {f"{name}{suffix}": line.get(name) for name in line.get("metrics") or ()}
        scores.setdefault(item, {}).update(own)
        if item not in samples:
            samples[item] = _sample(line, scores[item])
    if not samples:
        raise ScoreDataError(f"{path}: expected samples, found none")
    higher = mapping_at(mapping_at(results, "higher_is_better"), task)
    names = {name for own in scores.values() for name in own}
    return Log.of(
        samples.values(),
        path=path,
        model=str(results.get("model_name") or path.parent.name),
        subtask=task,
        lower_is_better=frozenset(x for x in names if higher.get(x.partition(",")[0]) is False),
    )


def _sample(line: Mapping[str, Any], scores: Mapping[str, Any]) -> Sample:
    prompt = mapping_at(mapping_at(line, "arguments"), "gen_args_0").get("arg_0", "")
    shown = prompt if isinstance(prompt, str) else json.dumps(prompt)
    mark = str(line.get("doc_hash") or line["doc_id"])[:12]
    return Sample(
        item=str(line["doc_id"]),
        scores=scores,
        columns=input_columns(shown, keeps_end=True) | {"input_hash": mark},
        attributes=mapping_at(line, "doc"),
    )


def _compare(results: Mapping[str, Any], logs: Mapping[str, Log], place: Path) -> None:
    """Warn where a mean or a number in the file of results differs from that of the samples."""
    stated = mapping_at(results, "results")
    for task, log in logs.items():
        for metric, mean in _means(log):
            if _is_mean(results, task, metric):
                given = mapping_at(stated, task).get(_full(metric))
                compare_means(place.name, f"{_full(metric)} of {task}", given, [mean])
            else:
                note(
                    f"{place.name}: {metric} of {task} is not averaged over items by the harness, "
                    "but is here"
                )
        counts, file = mapping_at(mapping_at(results, "n-samples"), task), log.path.name
        planned, n = counts.get("original"), counts.get("effective")
        if planned != n:
            note(f"{file}: only {n} of {planned} items were evaluated (limit)")
        if isinstance(n, int) and n != len(log.rows):
            note(f"{file}: found {counted(len(log.rows), 'item')}; the results count {n}")
    subtasks = mapping_at(results, "group_subtasks")
    for group, values in mapping_at(results, "groups").items():
        of_group = [logs[name] for name in subtasks.get(group, []) if name in logs]
        if of_group and len(of_group) == len(subtasks[group]):
            _compare_group(group, of_group, values, place)


def _compare_group(group: str, logs: list[Log], values: Mapping[str, Any], place: Path) -> None:
    """Warn where a group's mean is not that of all items, or none of its subtasks."""
    for metric, _ in _means(logs[0]):
        means = [log.mean(metric) for log in logs]
        known = [mean for mean in means if mean is not None]
        if len(known) < len(means):
            continue
        n = [np.count_nonzero(~np.isnan(log.scores(metric))) for log in logs]
        weighted, plain = float(np.average(known, weights=n)), sum(known) / len(known)
        given, name = values.get(_full(metric)), f"{_full(metric)} of {group}"
        compare_means(place.name, name, given, [weighted, plain])
        is_plain = isinstance(given, int | float) and math.isclose(given, plain, rel_tol=1e-9)
        if is_plain and not math.isclose(plain, weighted, rel_tol=1e-6):
            note(
                f"{place.name}: {metric} of {group} is {given:.6g} there, the unweighted mean of "
                f"its subtasks; the mean of all items is {weighted:.6g}"
            )


def _full(metric: str) -> str:
    """Return the name of a metric as results have it, with a filter."""
    return metric if "," in metric else f"{metric},none"


def _means(log: Log) -> Iterator[tuple[str, float]]:
    """Yield the scores of a log that have a mean, and the mean."""
    for name in log.metrics:
        mean = log.mean(name)
        if mean is not None:
            yield name, mean


def _is_mean(results: Mapping[str, Any], task: str, metric: str) -> bool:
    """Return whether a score is the mean of its items, as far as the results show."""
    settings = mapping_at(mapping_at(results, "configs"), task).get("metric_list")
    for one in settings if isinstance(settings, list) else []:
        if isinstance(one, dict) and one.get("metric") == metric.partition(",")[0]:
            return bool(one.get("aggregation", "mean") == "mean")
    return True


def _recognises_samples(source: Source) -> bool:
    """Return whether the first line of a file, or the name of one in a folder, is of samples."""
    if source.is_folder:
        return bool(source.files(_SAMPLES))
    first = source.json[:1] if source.ending == ".jsonl" and source.json else [{}]
    return {"doc_id", "metrics"} <= set(first[0])


LM_EVAL_SAMPLES = Reader(
    "lm-eval-samples",
    "samples of lm-evaluation-harness: a samples_*.jsonl file, or a folder of them",
    recognises=_recognises_samples,
    read=_read_samples,
    takes=frozenset({"metric", "where"}),
    units="items",
)
