"""Results of benchmarks of language models, item by item or one score per model and benchmark.

Item by item: reports of SWE-bench, results of EvalPlus, evaluations of LiveCodeBench, details of
OpenCompass, judgments of MT-bench, annotations of AlpacaEval and samples of Every Eval Ever, one
file per model. The name of a model is in the records, or else that of the file. One score per
benchmark: results of Every Eval Ever, of MTEB, and those that models on Hugging Face carry.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError, ScoreDataError, joined, note, option, shortened
from gnomon.scores.columns import rows_of_records
from gnomon.scores.readers.files import files_below, json_content, mapping_at
from gnomon.scores.readers.registry import EVAL_RESULTS, Reader, ReadRequest, Source
from gnomon.scores.readers.samples import (
    Log,
    Sample,
    as_score,
    compare_means,
    input_columns,
    reading_log,
    table_of_logs,
)
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, tidy_rows

#: Samples, each with the name of its model.
_Samples = Iterator[tuple[str, Sample]]


def _read_board(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a file, or those of a folder: a log for each model and evaluation."""
    name, logs = "a board", []
    for path in _files(source):
        file = Source(path)
        with reading_log(path, name):
            format = _format_of(file.content())
            if format is None:
                raise ValueError("none of the known formats")
            name, samples = format
            own: dict[tuple[str, str], list[Sample]] = {}
            for model, sample in samples(file.content(), file.stem):
                key = model, str(sample.attributes.get("evaluation") or name)
                own.setdefault(key, []).append(sample)
            found = [
                Log.of(one, path=path, model=model, subtask=subtask)
                for (model, subtask), one in own.items()
            ]
            for score, what, given, scale in _stated(file.content()):
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
    elif "eval" in content:
        stated = mapping_at(content, "pass_at_k")
        for score in stated:
            given = mapping_at(stated, score).get("pass@1")
            yield score, f"pass@1 of {score}", given, 1.0
    else:
        n, total = content.get("resolved_instances"), content.get("total_instances")
        if isinstance(n, int) and isinstance(total, int) and total:
            yield "resolved", "the share of resolved_instances", n / total, 1.0


def _files(source: Source) -> list[Path]:
    """Return the file, or the files of a folder, if the first is of a known format."""
    files = [source.place]
    if source.is_folder:
        files = sorted(file for kind in ("json", "jsonl") for file in files[0].glob(f"*.{kind}"))
    return files if files and _format_of(Source(files[0]).json) is not None else []


def _format_of(content: Any) -> tuple[str, Callable[[Any, str], _Samples]] | None:
    """Return the name of a format, and what reads its content and the name of the file."""
    first = _first(content)
    if isinstance(content, dict):
        if isinstance(resolved := _resolved(content), list):
            are_names = all(isinstance(item, str) for item in resolved)
            return ("swe-bench", _swe_bench) if are_names else None
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


def _resolved(report: Mapping[str, Any]) -> Any:
    return report.get("resolved_ids", report.get("resolved"))


def _swe_bench(report: Any, stem: str) -> _Samples:
    """Yield the instances of a report: those that were resolved, and all others it names.

    A report that names no others gives their number: these are called ``other 1``, ... .
    """
    won = dict.fromkeys(_resolved(report))
    known = dict(won)
    for value in report.values():
        if isinstance(value, list):
            known |= dict.fromkeys(item for item in value if isinstance(item, str))
    total = report.get("total_instances")
    rest = max(total - len(known), 0) if isinstance(total, int) else 0
    model = str(report.get("model_name_or_path") or stem.partition(".")[0])
    for item in [*known, *(f"other {i}" for i in range(1, rest + 1))]:
        yield model, Sample(item=item, scores={"resolved": item in won})


def _evalplus(content: Any, stem: str) -> _Samples:
    """Yield the samples of each problem: ``plus`` is right if the base tests pass, too."""
    for problem, solutions in content["eval"].items():
        for epoch, one in enumerate(solutions, start=1):
            scores = {"base": one.get("base_status") == "pass"}
            if one.get("plus_status") is not None:
                scores["plus"] = scores["base"] and one["plus_status"] == "pass"
            model = stem.removesuffix("_eval_results")
            yield model, Sample(item=problem, epoch=epoch, scores=scores)


def _opencompass(content: Any, stem: str) -> _Samples:
    details = content["details"]
    for item, one in details.items() if isinstance(details, dict) else enumerate(details):
        if isinstance(one, Mapping):
            right = one.get("correct", one.get("is_correct"))
            right = right[0] if isinstance(right, list) and right else right
            yield stem, Sample(item=str(item), scores={"correct": right})


def _live_code_bench(records: Any, stem: str) -> _Samples:
    for record in records:
        about = {x: record[x] for x in ("difficulty", "platform") if x in record}
        for epoch, passed in enumerate(record["graded_list"], start=1):
            item = str(record["question_id"])
            yield stem, Sample(item=item, epoch=epoch, scores={"passed": passed}, attributes=about)


def _mt_bench(records: Any, stem: str) -> _Samples:
    for record in records:
        score = as_score(record["score"])
        # A judge that gives no grade is written as -1.
        known = None if isinstance(score, float) and score < 0 else record["score"]
        about = {"question": str(record["question_id"]), "turn": str(record["turn"])}
        item = f"{about['question']}/turn {about['turn']}"
        yield _name(record, "model"), Sample(item=item, scores={"score": known}, attributes=about)


def _alpaca_eval(records: Any, stem: str) -> _Samples:
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


def _every_eval(records: Any, stem: str) -> _Samples:
    for record in records:
        evaluation, text = record["evaluation"], mapping_at(record, "input").get("raw")
        name = record.get("evaluation_name") or record.get("evaluation_id") or ""
        model = record.get("model_id") or mapping_at(record, "model_info").get("id") or stem
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


def _read_every_eval(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read the results of one model, a score for each evaluation."""
    content = source.content()
    with reading_log(source.place, "Every Eval Ever"):
        model = str(content["model_info"]["id"])
        rows = [
            {
                "algorithm": model,
                "task": str(one["evaluation_name"]),
                "score": one["score_details"]["score"],
            }
            for one in content["evaluation_results"]
        ]
        are_low = {
            mapping_at(one, "metric_config").get("lower_is_better") is True
            for one in content["evaluation_results"]
        }
    if len(are_low) > 1:
        raise ScoreDataError(f"{source}: higher is better on some evaluations, worse on others")
    return ScoreTable(
        rows,
        higher_is_better=are_low != {True},
        provenance=(f"read from {source.place.name} (Every Eval Ever)",),
    )


EVERY_EVAL = Reader(
    "every-eval",
    "results of a model in the format of Every Eval Ever: JSON",
    recognises=lambda source: (
        isinstance(source.json, dict) and {"model_info", "evaluation_results"} <= source.json.keys()
    ),
    read=_read_every_eval,
)


def _mteb_files(source: Source) -> Iterator[Path]:
    """Yield the results in a folder, those of tasks in MODEL/REVISION, or the one file."""
    if source.is_file and source.ending == ".json":
        yield source.place
    elif source.is_folder:
        files = files_below(source.place, "*.json")
        yield from (file for file in files if file.name != "model_meta.json")


def _is_mteb(content: Any) -> bool:
    return isinstance(content, dict) and {"task_name", "scores", "mteb_version"} <= content.keys()


def _read_mteb(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read the main score of each task, its mean over splits and subsets as in MTEB."""
    records, splits = [], set()
    for path in _mteb_files(source):
        content = json_content(path)
        if not _is_mteb(content):
            raise ScoreDataError(f"{path}: expected results of MTEB with task_name and scores")
        with reading_log(path, "MTEB"):
            model, revision = path.absolute().parts[-3:-1]
            found = [
                {
                    "algorithm": model.replace("__", "/"),
                    "revision": revision,
                    "task": _name(content, "task_name"),
                    "split": split,
                    "subset": one["hf_subset"],
                    "score": float(one["main_score"]),
                }
                for split, parts in content["scores"].items()
                for one in parts
            ]
        splits.add(tuple(dict.fromkeys(one["split"] for one in found)))
        records += [one for one in found if not math.isnan(one["score"])]
    if not records:
        raise ScoreDataError(f"{source}: expected main scores of MTEB, found none")
    revisions = {(one["algorithm"], one["revision"]) for one in records}
    n_revisions = Counter(model for model, _ in revisions)
    for one in records:
        if n_revisions[one["algorithm"]] > 1:
            one["algorithm"] = f"{one['algorithm']} ({one['revision']})"
    several = next((x for x in sorted(splits) if len(x) > 1), None)
    if several and "split" not in wanted.where:
        note(
            f"{source.place.name}: the mean is over the splits {joined(several)}; "
            f"{option(where={'split': several[0]})} selects one"
        )
    rows = tidy_rows(rows_of_records(records), Origin(str(source)), wanted.where, "mean")
    provenance = (f"read from {source.place.name} (MTEB)",)
    return ScoreTable(rows, "main_score", None, wanted.is_higher_better, provenance)


MTEB = Reader(
    "mteb",
    "results of MTEB: JSON of a task, or a folder of MODEL/REVISION/TASK.json",
    recognises=lambda source: any(_is_mteb(Source(x).json) for x in islice(_mteb_files(source), 1)),
    read=_read_mteb,
    takes=frozenset({"where"}),
)


def _eval_results_files(source: Source) -> list[Path]:
    """Return the YAML files in folders ``.eval_results`` of models."""
    if source.is_folder and source.place.name != EVAL_RESULTS:
        return list(files_below(source.place, f"{EVAL_RESULTS}/*.yaml"))
    if source.is_folder:
        return sorted(source.place.glob("*.yaml"))
    is_one = source.is_file and source.ending in (".yaml", ".yml")
    return [source.place] if is_one and source.place.absolute().parent.name == EVAL_RESULTS else []


def _read_eval_results(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read the value of each dataset and task; a remark such as "With tools" is part of its name.

    A model has the name of the folder that holds its ``.eval_results``.
    """
    try:
        yaml = import_module("yaml")
    except ImportError:
        message = f"{source}: YAML needs a package: pip install pyyaml"
        raise GnomonError(message) from None
    records = []
    for path in _eval_results_files(source):
        try:
            content = yaml.safe_load(path.read_bytes())
        except (yaml.YAMLError, ValueError, RecursionError) as error:  # such as a date that is none
            reason = " ".join(str(error).split())
            raise ScoreDataError(f"{path}: expected YAML; {shortened(reason, 100)}") from None
        with reading_log(path, "Hugging Face"):
            for one in content:
                task = _name(one["dataset"], "id")
                if (part := one["dataset"].get("task_id") or "default") != "default":
                    task += f"/{part}"
                if one.get("notes"):
                    task += f" ({one['notes']})"
                model = path.absolute().parents[1].name
                records.append({"algorithm": model, "task": task, "score": float(one["value"])})
    if not records:
        raise ScoreDataError(f"{source}: expected evaluation results, found none")
    provenance = (f"read from {source.place.name} (Hugging Face)",)
    rows = tidy_rows(rows_of_records(records), Origin(str(source)), {})
    return ScoreTable(rows, "value", None, wanted.is_higher_better, provenance)


HUGGING_FACE = Reader(
    "hugging-face",
    "evaluation results of models on Hugging Face: YAML files in the folders .eval_results",
    recognises=lambda source: bool(_eval_results_files(source)),
    read=_read_eval_results,
)
