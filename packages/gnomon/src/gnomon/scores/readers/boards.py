"""Results of benchmarks of language models, item by item or one score per model and benchmark.

Item by item: reports of SWE-bench, results of EvalPlus, evaluations of LiveCodeBench, details of
OpenCompass, judgments of MT-bench, annotations of AlpacaEval and samples of Every Eval Ever, one
file per model. The name of a model is in the records, or else that of the file or its folder. One
score per benchmark: results of Every Eval Ever, of MTEB, and those that models on Hugging Face
carry.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError, ScoreDataError, joined, note, option, shortened
from gnomon.scores.readers.files import json_content, json_object, mapping_at
from gnomon.scores.readers.registry import EVAL_RESULTS, Reader, ReadRequest, Source
from gnomon.scores.readers.samples import (
    Log,
    Sample,
    as_score,
    compare_means,
    input_columns,
    reading_log,
    table_of_logs,
    table_of_scores,
)
from gnomon.scores.table import ScoreTable

#: Samples, each with the name of its model.
_Samples = Iterator[tuple[str, Sample]]


#: Where files of models lie in a folder: the first pattern whose first file has a known format.
_PLACES = ("*.json", "*.jsonl", "results/results.json", "*/results/results.json",
           "*/per_instance_details.json", "*/*_eval_all.json", "*/*.json")  # fmt: skip
#: Instances of SWE-bench, by the folder of its leaderboard: SPLIT/SYSTEM/results/results.json.
_N_INSTANCES = {"lite": 300, "verified": 500, "test": 2294, "multilingual": 300}


def _read_board(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a file, or those of a folder: a log for each model and evaluation."""
    name, logs, files = "a board", [], _files(source)
    if not files:
        raise ScoreDataError(f"{source}: expected results of a known board, found none")
    if _outcomes(Source(files[0]).json) is not None:
        return table_of_logs(_swe_bench(files, source), wanted, source.place, "swe-bench")
    for path in files:
        content = Source(path).content()
        with reading_log(path, "a board"):
            format = _format_of(content)
            if format is None:
                raise ValueError("none of the known formats")
            name, samples = format
            own: dict[tuple[str, str], list[Sample]] = {}
            for model, sample in samples(content, path):
                key = model, str(sample.attributes.get("evaluation") or name)
                own.setdefault(key, []).append(sample)
            found = [
                Log.of(one, path=path, model=model, subtask=subtask)
                for (model, subtask), one in own.items()
            ]
            for score, what, given, scale in _stated(content):
                for mean in (log.mean(score) for log in found):
                    if mean is not None:
                        of_items = scale * mean
                        compare_means(path.name, what, given, [of_items, round(of_items, 2), mean])
            logs += found
    return table_of_logs(logs, wanted, source.place, name)


def _stated(content: Any) -> Iterator[tuple[str, str, Any, float]]:
    """Yield the means that a file states: the score of items, a name, the value and its scale."""
    if isinstance(content, list):
        each = [as_score(record.get("pass@1")) for record in content if "graded_list" in record]
        known = [x for x in each if isinstance(x, float)]
        if known and len(known) == len(each):
            yield "passed", "the mean of pass@1", sum(known) / len(known), 1.0
    elif "details" in content:
        yield "correct", "accuracy", content.get("accuracy"), 100.0
    else:
        stated = mapping_at(content, "pass_at_k")
        for score in stated:
            given = mapping_at(stated, score).get("pass@1")
            yield score, f"pass@1 of {score}", given, 1.0


def _files(source: Source) -> list[Path]:
    """Return the file, or the files of a folder, if the first is of a known format."""
    place = source.place
    found = (sorted(place.glob(x)) for x in _PLACES) if source.is_folder else iter([[place]])
    return next((files for files in found if files and _is_known(Source(files[0]).json)), [])


def _is_known(content: Any) -> bool:
    return _outcomes(content) is not None or _format_of(content) is not None


def _format_of(content: Any) -> tuple[str, Callable[[Any, Path], _Samples]] | None:
    """Return the name of a format, and what reads its content, which lies at a path."""
    first = _first(content)
    if isinstance(content, dict):
        if "base_status" in _first(next(iter(mapping_at(content, "eval").values()), None)):
            return "evalplus", _evalplus
        is_details = not {"correct", "is_correct"}.isdisjoint(_first(content.get("details")))
        return ("board", _opencompass) if is_details and "base_prompt" not in content else None
    if {"question_id", "graded_list"} <= first.keys():
        return "board", _live_code_bench
    if {"question_id", "model", "turn", "score"} <= first.keys():
        return "board", _mt_bench
    if {"instruction", "generator_2", "preference"} <= first.keys():
        return "board", _alpaca_eval
    is_sample = "sample_id" in first and isinstance(first.get("evaluation"), Mapping)
    return ("board", _every_eval) if is_sample else None


def _first(content: Any) -> Mapping[str, Any]:
    """Return the first record of a list or of an object's values, nothing of anything else."""
    values = list(content.values()) if isinstance(content, dict) else content
    first = values[0] if isinstance(values, list) and values else None
    return first if isinstance(first, Mapping) else {}


def _name(record: Mapping[str, Any], key: str) -> str:
    """Return the name of a model or task in a record; refuse any other value, such as null."""
    if not isinstance(name := record[key], str) or not name:
        raise ValueError(f"{key}: expected a name, found {name!r}")
    return name


def _outcomes(report: Any) -> dict[str, bool] | None:
    """Return whether each instance that a report of SWE-bench names is resolved, None if no report.

    A report is lists of names, or an object with ``resolved`` for each instance.
    """
    if not isinstance(report, dict):
        return None
    if isinstance(_first(report).get("resolved"), bool):
        return {name: one["resolved"] for name, one in report.items()}
    resolved = report.get("resolved_ids", report.get("resolved"))
    if not (isinstance(resolved, list) and all(isinstance(item, str) for item in resolved)):
        return None
    lists = [value for value in report.values() if isinstance(value, list)]
    names = [item for value in lists for item in value if isinstance(item, str)]
    return dict.fromkeys(names, False) | dict.fromkeys(resolved, True)


def _swe_bench(files: Sequence[Path], source: Source) -> list[Log]:
    """Return a log for each report, all on the same instances.

    Reports of the leaderboard do not name instances that were tried and not resolved: these are the
    ones that other reports name and, up to the number of all, ``other 1``, ... .
    """
    reports, logs = [], []
    named: dict[str, bool] = {}
    for path in files:
        with reading_log(path, "swe-bench"):
            report = json_object(path)
            outcomes = _outcomes(report)
            if outcomes is None:
                raise ValueError("none of the known formats")
        reports.append((path, report, outcomes))
        named |= dict.fromkeys(outcomes, False)
    for path, report, outcomes in reports:
        split, system, folder = ("", "", *path.absolute().parts)[-4:-1]
        model = report.get("model_name_or_path") or path.stem
        total = report.get("total_instances")
        if path.name == "results.json":
            model, total = system, total or _N_INSTANCES.get(split)
        elif path.name == "per_instance_details.json":
            model = folder
        if not isinstance(total, int):
            if report.keys().isdisjoint(("unresolved", "unresolved_ids", *outcomes)):
                raise ScoreDataError(f"{path}: expected total_instances of SWE-bench, found none")
            total = len(outcomes)
        if len(outcomes) < total:
            if source.is_file:
                raise ScoreDataError(
                    f"{path}: names {len(outcomes)} of {total} instances; give the folder of all "
                    "reports, so that models are compared on the same instances"
                )
            outcomes = named | outcomes
            if len(outcomes) > total:
                raise ScoreDataError(
                    f"{path}: expected reports on the same {total} instances, found "
                    f"{len(outcomes)} in this folder"
                )
            outcomes |= {f"other {i}": False for i in range(1, total - len(outcomes) + 1)}
        samples = (Sample(item=x, scores={"resolved": won}) for x, won in outcomes.items())
        logs.append(Log.of(samples, path=path, model=str(model), subtask="swe-bench"))
        if isinstance(n := report.get("resolved_instances"), int) and total:
            what, mean = "the share of resolved_instances", logs[-1].mean("resolved")
            compare_means(path.name, what, n / total, [mean or 0.0])
    return logs


def _evalplus(content: Any, path: Path) -> _Samples:
    """Yield the samples of each problem: ``plus`` is right if the base tests pass, too."""
    for problem, solutions in content["eval"].items():
        for epoch, one in enumerate(solutions, start=1):
            scores = {"base": one.get("base_status") == "pass"}
            if one.get("plus_status") is not None:
                scores["plus"] = scores["base"] and one["plus_status"] == "pass"
            model = path.stem.removesuffix("_eval_results")
            yield model, Sample(item=problem, epoch=epoch, scores=scores)


def _opencompass(content: Any, path: Path) -> _Samples:
    """Yield the items of a dataset, whose file lies in the folder of the model."""
    details, about = content["details"], {"evaluation": path.stem}
    for item, one in details.items() if isinstance(details, dict) else enumerate(details):
        if isinstance(one, Mapping):
            right = one.get("correct", one.get("is_correct"))
            right = right[0] if isinstance(right, list) and right else right
            sample = Sample(item=str(item), scores={"correct": right}, attributes=about)
            yield path.absolute().parent.name, sample


def _live_code_bench(records: Any, path: Path) -> _Samples:
    """Yield the problems; the file ``Scenario...`` lies in the folder of the model."""
    model = path.absolute().parent.name if path.stem.startswith("Scenario.") else path.stem
    for record in records:
        about = {x: record[x] for x in ("difficulty", "platform") if x in record}
        for epoch, passed in enumerate(record["graded_list"], start=1):
            item = str(record["question_id"])
            yield model, Sample(item=item, epoch=epoch, scores={"passed": passed}, attributes=about)


def _mt_bench(records: Any, path: Path) -> _Samples:
    for record in records:
        score = as_score(record["score"])
        # A judge that gives no grade is written as -1.
        known = None if isinstance(score, float) and score < 0 else record["score"]
        about = {"question": str(record["question_id"]), "turn": str(record["turn"])}
        item = f"{about['question']}/turn {about['turn']}"
        yield _name(record, "model"), Sample(item=item, scores={"score": known}, attributes=about)


def _alpaca_eval(records: Any, path: Path) -> _Samples:
    """Yield the judge's preference for a model over the reference, from 0 to 1.

    AlpacaEval writes 1 where the reference is better, 2 where the model is, or a number between;
    0 stands for a tie in its first version.
    """
    n_seen: Counter[str] = Counter()
    for record in records:
        value, text = record["preference"], str(record["instruction"])
        if value is not None and not (value == 0.0 or 1.0 <= value <= 2.0 or value != value):
            raise ValueError(f"preference: expected a number from 1 to 2, found {value!r}")
        columns = input_columns(text)
        n_seen[text] += 1
        share = None if value is None else 0.5 if value == 0.0 else value - 1.0
        yield (
            _name(record, "generator_2"),
            Sample(
                item=columns["input_hash"],
                epoch=n_seen[text],
                scores={"preference": share},
                columns=columns,
                attributes={x: record[x] for x in ("dataset",) if x in record},
            ),
        )


def _every_eval(records: Any, path: Path) -> _Samples:
    for record in records:
        evaluation, text = record["evaluation"], mapping_at(record, "input").get("raw")
        name = record.get("evaluation_name") or record.get("evaluation_id") or ""
        model = record.get("model_id") or mapping_at(record, "model_info").get("id") or path.stem
        yield (
            str(model),
            Sample(
                item=str(record["sample_id"]),
                epoch=int(record.get("epoch") or 1),
                scores={"score": evaluation.get("score", evaluation.get("is_correct"))},
                columns=input_columns(text) if isinstance(text, str) else {},
                attributes={"evaluation": str(name)},
            ),
        )


BOARD = Reader(
    "board",
    "results of SWE-bench, EvalPlus, LiveCodeBench, OpenCompass, MT-bench, AlpacaEval or Every "
    "Eval Ever: JSON or JSON lines, or a folder of them",
    recognises=lambda source: source.path is not None and bool(_files(source)),
    read=_read_board,
    takes=frozenset({"metric", "where"}),
    units="items",
)


def _scores_of(
    files: Iterable[Path], read: Callable[[Path], Iterable[dict[str, Any]]], tool: str
) -> list[dict[str, Any]]:
    """Return the records of scores that `read` finds in files."""
    records: list[dict[str, Any]] = []
    for path in files:
        with reading_log(path, tool):
            records += read(path)
    return records


def _json_files(source: Source) -> Iterator[Path]:
    """Yield the one file, or the results in a folder."""
    if source.is_folder or source.ending == ".json":
        yield from (file for file in source.files("*.json") if file.name != "model_meta.json")


def _first_has(source: Source, *names: str) -> bool:
    """Return whether the first of the results is an object with some names."""
    first = next((Source(path).json for path in _json_files(source)), None)
    return isinstance(first, dict) and first.keys() >= {*names}


def _every_eval_scores(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the score of each evaluation, named by its dataset, as those of others may be equal."""
    content = json_content(path)
    for one in content["evaluation_results"]:
        dataset = mapping_at(one, "source_data").get("dataset_name")
        task = _name(one, "evaluation_name")
        yield {
            "algorithm": _name(content["model_info"], "id"),
            "task": task if dataset in (None, task) else f"{dataset}/{task}",
            "score": one["score_details"]["score"],
            "dataset": dataset,
            "lower": mapping_at(one, "metric_config").get("lower_is_better") is True,
        }


def _read_every_eval(source: Source, wanted: ReadRequest) -> ScoreTable:
    records = _scores_of(_json_files(source), _every_eval_scores, "Every Eval Ever")
    return table_of_scores(records, wanted, source.place, "Every Eval Ever")


EVERY_EVAL = Reader(
    "every-eval",
    "results in the format of Every Eval Ever: JSON of a model, or a folder of them",
    recognises=lambda source: _first_has(source, "model_info", "evaluation_results"),
    read=_read_every_eval,
    takes=frozenset({"where"}),
)


def _mteb_scores(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the main score of each split and subset; one that is missing is NaN."""
    content = json_content(path)
    model, revision = path.absolute().parts[-3:-1]
    for split, parts in content["scores"].items():
        for one in parts:
            yield {
                "algorithm": model.replace("__", "/"),
                "revision": revision,
                "task": _name(content, "task_name"),
                "split": split,
                "subset": one["hf_subset"],
                "score": float(one["main_score"]),
            }


def _read_mteb(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read the main score of each task, its mean over splits and subsets as in MTEB."""
    records = _scores_of(_json_files(source), _mteb_scores, "MTEB")
    splits: dict[str, set[str]] = {}
    for one in records:
        splits.setdefault(one["task"], set()).add(one["split"])
    several = next((sorted(x) for x in splits.values() if len(x) > 1), None)
    records = [one for one in records if not math.isnan(one["score"])]
    revisions = {(one["algorithm"], one["revision"]) for one in records}
    n_revisions = Counter(model for model, _ in revisions)
    for one in records:
        if n_revisions[one["algorithm"]] > 1:
            one["algorithm"] = f"{one['algorithm']} ({one['revision']})"
    if several and "split" not in wanted.where:
        note(
            f"{source.place.name}: the mean is over the splits {joined(several)}; "
            f"{option(where={'split': several[0]})} selects one"
        )
    return table_of_scores(records, wanted, source.place, "MTEB", within_run="mean")


MTEB = Reader(
    "mteb",
    "results of MTEB: JSON of a task, or a folder of MODEL/REVISION/TASK.json",
    recognises=lambda source: _first_has(source, "task_name", "scores", "mteb_version"),
    read=_read_mteb,
    takes=frozenset({"where"}),
)


def _eval_results_files(source: Source) -> list[Path]:
    """Return the YAML files in folders ``.eval_results`` of models."""
    if source.is_folder and source.place.name != EVAL_RESULTS:
        return source.files(f"{EVAL_RESULTS}/*.yaml")
    if source.is_folder:
        return sorted(source.place.glob("*.yaml"))
    is_one = source.is_file and source.ending in (".yaml", ".yml")
    return [source.place] if is_one and source.place.absolute().parent.name == EVAL_RESULTS else []


def _eval_results_scores(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the value of each dataset and task; a remark such as "With tools" is part of its name.

    A model has the name of the folder that holds its ``.eval_results``.
    """
    try:
        yaml = import_module("yaml")
    except ImportError:
        raise GnomonError(f"{path}: YAML needs a package: pip install pyyaml") from None
    try:
        content = yaml.safe_load(path.read_bytes())
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # such as a date that is none
        reason = " ".join(str(error).split())
        raise ScoreDataError(f"{path}: expected YAML; {shortened(reason, 100)}") from None
    for one in content:
        dataset = one["dataset"]
        task = _name(dataset, "id")
        part = dataset.get("task_id") or dataset.get("config") or "default"
        if part != "default":
            task += f"/{part}"
        if one.get("notes"):
            task += f" ({one['notes']})"
        model = path.absolute().parents[1].name
        yield {"algorithm": model, "task": task, "score": float(one["value"])}


def _read_eval_results(source: Source, wanted: ReadRequest) -> ScoreTable:
    records = _scores_of(_eval_results_files(source), _eval_results_scores, "Hugging Face")
    most: dict[str, float] = {}
    for one in records:
        most[one["task"]] = max(one["score"], most.get(one["task"], 0.0))
    for one in records:
        if 0.0 < one["score"] <= 1.0 < most[one["task"]] / 10.0:
            found = f"{one['algorithm']} has {one['score']:g} on {one['task']}"
            note(f"{found}, others up to {most[one['task']]:g}: a share among percentages?")
            break
    return table_of_scores(records, wanted, source.place, "Hugging Face")


HUGGING_FACE = Reader(
    "hugging-face",
    "evaluation results of models on Hugging Face: YAML files in the folders .eval_results",
    recognises=lambda source: bool(_eval_results_files(source)),
    read=_read_eval_results,
)
