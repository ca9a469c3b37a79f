"""Runs of HELM: a folder each, with scores by instance, and what was run beside them.

``per_instance_stats.json`` holds the scores, ``run_spec.json`` the model and what was asked. Two
files may be absent: ``scenario_state.json``, the texts of the instances, and ``stats.json``, the
means of each split, with which the scores must agree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.errors import ScoreDataError, counted, joined, note, option
from gnomon.scores.readers.files import json_content, json_object, mapping_at
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.readers.samples import (
    Log,
    Sample,
    as_cost,
    compare_means,
    input_columns,
    read_each,
    table_of_logs,
)
from gnomon.scores.table import ScoreTable

STATS = "per_instance_stats.json"
#: What a run counts beside its scores, and the columns of costs for it.
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


def _read(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a run, or every one in a folder, up to two folders deep."""
    path = source.place
    logs = read_each(source.files(STATS), _log, "HELM")
    known = [log.rows.texts("split").names for log in logs if "split" in log.rows]
    splits = sorted({split for names in known for split in names})
    if len(splits) > 1 and "split" not in wanted.where:
        note(
            f"{path.name}: the splits {joined(splits)} are read together; HELM reports each by "
            f"itself: {option(where={'split': splits[0]})} selects one"
        )
    return table_of_logs(logs, wanted, path, "HELM")


def _log(path: Path) -> Log:
    place = path.with_name("run_spec.json")
    spec = json_object(place)
    model = mapping_at(spec, "adapter_spec").get("model")
    if not (isinstance(model, str) and isinstance(spec.get("name"), str)):
        raise ScoreDataError(f"{place}: expected name and adapter_spec.model of a run of HELM")
    texts = _inputs(path.with_name("scenario_state.json"))
    instances: dict[tuple[Any, ...], dict[str, Any]] = {}  # each metric has objects of its own
    for one in json_content(path):
        if not (isinstance(one, dict) and "instance_id" in one):
            raise ScoreDataError(f"{path}: expected objects with an instance_id")
        key = one["instance_id"], one.get("train_trial_index"), str(one.get("perturbation"))
        instances.setdefault(key, one | {"stats": []})["stats"] += one.get("stats") or []
    kept = [one for one in instances.values() if one.get("perturbation") is None]
    if n_perturbed := len(instances) - len(kept):
        note(f"{path.parent.name}: {counted(n_perturbed, 'perturbed instance')} left out")
    log = Log.of(
        (_sample(one, texts) for one in kept),
        path=path,
        model=model,
        subtask=_OF_MODEL.sub("", spec["name"]).rstrip(",:"),
    )
    _compare(log, path.with_name("stats.json"))
    return log


def _compare(log: Log, place: Path) -> None:
    """Warn where the mean of a split is another one than its instances give."""
    if not place.is_file() or "split" not in log.rows:
        return
    for stat in json_content(place):
        name = mapping_at(stat, "name")
        if not {"perturbation", "sub_split"} & name.keys():
            metric, split = str(name.get("name")), str(name.get("split"))
            mean = log.mean(metric, log.rows.texts("split").isin([split]))
            if mean is not None:
                where = f"{place.parent.name}, {place.name}"
                compare_means(where, f"{metric} of {split}", stat.get("mean"), [mean])


def _sample(instance: Mapping[str, Any], texts: Mapping[str, dict[str, str]]) -> Sample:
    """Return an instance, whose scores are the means of its statistics."""
    item = str(instance["instance_id"])
    scores, attributes, costs = {}, {}, {}
    for stat in instance["stats"]:
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
    return Sample(
        item=item,
        epoch=int(instance.get("train_trial_index") or 0) + 1,
        scores=scores,
        columns=texts.get(item, {}) | costs,
        attributes=attributes,
    )


def _inputs(path: Path) -> dict[str, dict[str, str]]:
    """Return the columns of the texts of instances; none if the file is absent."""
    found: dict[str, dict[str, str]] = {}
    if not path.is_file():
        return found
    for state in json_object(path).get("request_states") or ():
        instance = mapping_at(state, "instance")
        given = instance.get("input")
        text = given.get("text") if isinstance(given, dict) else given
        if isinstance(text, str) and instance.get("perturbation") is None:
            found[str(instance.get("id"))] = input_columns(text)
    return found


HELM = Reader(
    "helm",
    "runs of HELM: a folder with per_instance_stats.json and run_spec.json, or one of such folders",
    recognises=lambda source: any(file.name == STATS for file in source.files(STATS)),
    read=_read,
    takes=frozenset({"metric", "where"}),
    units="items",
)
