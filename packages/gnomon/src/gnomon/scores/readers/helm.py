"""Runs of HELM: a folder each, with scores by instance, and what was run beside them.

``per_instance_stats.json`` holds the scores, ``run_spec.json`` the model and what was asked. Two
files may be absent: ``scenario_state.json``, the texts of the instances, and ``stats.json``, the
means of each split, with which the scores must agree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError, counted, joined, listed, note, option
from gnomon.scores.readers.files import json_object, mapping_at
from gnomon.scores.readers.json_stream import array_elements, object_members
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.samples import (
    Log,
    SampleColumns,
    as_cost,
    input_columns,
    read_each,
    table_of_logs,
)
from gnomon.scores.table import ScoreTable

STATS = "per_instance_stats.json"
#: Where runs lie below a folder.
DEPTHS = ("", "*/", "*/*/")
#: What a run counts beside its scores, by the names that columns of costs have here.
_COSTS = {
    "num_prompt_tokens": "input_tokens",
    "num_output_tokens": "output_tokens",
    "num_completion_tokens": "output_tokens",
    "inference_runtime": "time_s",
}
#: Other counts and settings of a run, which are no scores.
_NO_SCORES = re.compile(r"(num_|finish_reason_|prompt_|inference_|training_|batch_size|max_prob)")
#: The argument of a run's name that is no part of what was asked.
_OF_MODEL = re.compile(r"(?:^|(?<=[:,]))model(?:_deployment)?=[^,]*,?")


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    """Read a run, or every one in a folder, up to two folders deep."""
    folder = path if path.is_dir() else path.parent
    files = [file for deep in DEPTHS for file in sorted(folder.glob(f"{deep}{STATS}"))]
    logs = read_each(files, _log, "HELM")
    if "split" not in wanted.where:
        _warn_of_splits(logs, path)
    return table_of_logs(logs, wanted, path, "HELM")


def _log(path: Path) -> Log:
    """Read the scores of one run."""
    spec = json_object(path.with_name("run_spec.json"))
    about = spec.get("adapter_spec")
    model = about.get("model") if isinstance(about, dict) else None
    if not (isinstance(model, str) and isinstance(spec.get("name"), str)):
        where = path.with_name("run_spec.json")
        raise ScoreDataError(f"{where}: expected name and adapter_spec.model of a run of HELM")
    known = dict(_inputs(path.with_name("scenario_state.json")))
    columns, n_perturbed = SampleColumns(), 0
    with path.open("rb") as stream:
        for instance in array_elements(stream, str(path)):
            if not isinstance(instance, dict) or "instance_id" not in instance:
                raise ScoreDataError(f"{path}: expected objects with an instance_id")
            if instance.get("perturbation") is None:
                _add(columns, instance, known)
            else:
                n_perturbed += 1
    if n_perturbed:
        note(f"{path.parent.name}: {counted(n_perturbed, 'perturbed instance')} left out")
    subtask = _OF_MODEL.sub("", spec["name"]).rstrip(",:")
    log = Log(
        path=path,
        model=model,
        subtask=subtask,
        rows=columns.rows(),
        unreadable=columns.unreadable,
    )
    _compare(log, path.with_name("stats.json"))
    return log


def _compare(log: Log, place: Path) -> None:
    """Warn where the means of a split are others than the instances give."""
    if not place.is_file() or "split" not in log.rows:
        return
    differing = []
    with place.open("rb") as stream:
        for stat in array_elements(stream, str(place)):
            name = mapping_at(stat, "name")
            metric, split, told = name.get("name"), name.get("split"), stat.get("mean")
            if told is None or {"perturbation", "sub_split"} & name.keys():
                continue
            mean = _mean(log, str(metric), split)
            if mean is not None and not math.isclose(told, mean, rel_tol=1e-9, abs_tol=1e-9):
                differing.append(f"{metric} of {split} is {told:.6g} there, {mean:.6g} here")
    if differing:
        note(
            f"{place.parent.name}: {place.name} has other means than the instances give: "
            f"{listed(differing, 3)}"
        )


def _mean(log: Log, metric: str, split: object) -> float | None:
    """Return the mean of a score over the instances of a split, None if it has none there."""
    score = log.scores(metric)[log.rows.texts("split").equals(str(split))]
    known = score[~np.isnan(score)]
    return float(known.mean()) if known.size else None


def _warn_of_splits(logs: list[Log], path: Path) -> None:
    """Note that instances of several splits form one table, where HELM reports each split."""
    known = [log.rows.texts("split").names for log in logs if "split" in log.rows]
    splits = sorted({split for names in known for split in names})
    if len(splits) > 1:
        note(
            f"{path.name}: the splits {joined(splits)} are read together; HELM reports each by "
            f"itself: {option(where={'split': splits[0]})} selects one"
        )


def _add(
    columns: SampleColumns, instance: Mapping[str, Any], known: Mapping[str, dict[str, str]]
) -> None:
    """Add an instance: its scores are the means of its statistics."""
    name = str(instance["instance_id"])
    scores, attributes, costs = {}, {}, {}
    for stat in instance.get("stats") or []:
        about = stat.get("name") or {}
        if about.get("perturbation") is not None:
            continue
        if about.get("split"):
            attributes["split"] = str(about["split"])
        metric, value = str(about.get("name")), stat.get("mean")
        if metric in _COSTS:
            costs[_COSTS[metric]] = as_cost(value)
        elif not _NO_SCORES.match(metric):
            scores[metric] = value
    epoch = int(instance.get("train_trial_index") or 0) + 1
    row = {"item": name, "epoch": epoch, "status": "ok", **known.get(name, {}), **costs}
    columns.add(row, scores, attributes)


def _inputs(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the instances of a run with the columns of their texts; none if the file is absent."""
    if not path.is_file():
        return
    with path.open("rb") as stream:
        for key, state in object_members(stream, str(path), elements_of="request_states"):
            instance = state.get("instance") if key == "request_states" else None
            if not isinstance(instance, dict) or instance.get("perturbation") is not None:
                continue
            given = instance.get("input")
            text = given.get("text") if isinstance(given, dict) else given
            if isinstance(text, str):
                yield str(instance.get("id")), input_columns(text)


def _recognises(path: Path) -> bool:
    if path.is_dir():
        return any(next(path.glob(f"{deep}{STATS}"), None) for deep in DEPTHS)
    return path.name == STATS


HELM = Reader(
    "helm",
    "runs of HELM: a folder with per_instance_stats.json and run_spec.json, or one of such folders",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "where"}),
    units="items",
)
