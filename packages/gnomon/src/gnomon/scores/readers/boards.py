"""Result files of benchmarks of code and of judges: one model a file, a verdict for each item.

These are reports of SWE-bench, results of EvalPlus, evaluations of LiveCodeBench, details of
OpenCompass, judgments of MT-bench and samples of Every Eval Ever. A file of one model is named for
it, unless its records name it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gnomon.errors import ScoreDataError
from gnomon.scores.readers.files import json_content, mapping_at
from gnomon.scores.readers.json_stream import json_lines
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.samples import Log, SampleColumns, as_score, input_columns, table_of_logs

_LINES = (".jsonl", ".ndjson")
#: Model, item, epoch, scores and attributes of a sample.
_Sample = tuple[str, str, int, Mapping[str, Any], Mapping[str, Any]]


def _content(path: Path) -> Any:
    """Return what a JSON file holds, of lines a list; None if it is no such file."""
    if not path.is_file():
        return None
    try:
        if path.suffix.lower() in _LINES:
            first = next(json_lines(path), None)
            return None if first is None else [first]
        return json_content(path) if path.suffix.lower() == ".json" else None
    except ScoreDataError:
        return None


def _first(content: Any) -> Mapping[str, Any]:
    """Return the first record of a list, nothing of anything else."""
    if isinstance(content, list) and content and isinstance(content[0], Mapping):
        found: Mapping[str, Any] = content[0]
        return found
    return {}


def _records(path: Path) -> list[Mapping[str, Any]]:
    found = list(json_lines(path)) if path.suffix.lower() in _LINES else json_content(path)
    return [record for record in found if isinstance(record, Mapping)]


def _reader(
    name: str,
    description: str,
    is_content: Callable[[Any], bool],
    samples: Callable[[Path], Iterator[_Sample]],
) -> Reader:
    """Return the reader of a format of one model a file."""

    def read(path: Path, wanted: ReadRequest) -> Any:
        of_model: dict[str, SampleColumns] = {}
        for model, item, epoch, scores, attributes in samples(path):
            columns = of_model.setdefault(model, SampleColumns())
            texts = input_columns(attributes["input"]) if "input" in attributes else {}
            row = {"item": item, "epoch": epoch, "status": "ok", **texts}
            rest = {k: v for k, v in attributes.items() if k != "input"}
            columns.add(row, scores, rest)
        logs = [
            Log(
                path=path,
                model=model,
                subtask=name,
                rows=columns.rows(),
                unreadable=columns.unreadable,
            )
            for model, columns in of_model.items()
        ]
        return table_of_logs(logs, wanted, path, description.partition(":")[0])

    return Reader(
        name,
        description,
        recognises=lambda path: is_content(_content(path)),
        read=read,
        takes=frozenset({"metric", "where"}),
        units="items",
    )


def _swe_bench(path: Path) -> Iterator[_Sample]:
    """Yield the instances of a report: those that were resolved, and all others it names.

    A report that names no others gives their number: these are called ``other 1``, ... .
    """
    report = json_content(path)
    resolved = report.get("resolved_ids", report.get("resolved"))
    model = str(report.get("model_name_or_path") or path.stem.partition(".")[0])
    known = dict.fromkeys(str(item) for item in resolved)
    for name, value in report.items():
        if isinstance(value, list) and name not in ("resolved", "resolved_ids"):
            known |= dict.fromkeys(str(item) for item in value if isinstance(item, str))
    won = set(map(str, resolved))
    total = report.get("total_instances")
    rest = max(total - len(known), 0) if isinstance(total, int) else 0
    for item in [*known, *(f"other {i}" for i in range(1, rest + 1))]:
        yield model, item, 1, {"resolved": item in won}, {}


def _is_swe_bench(content: Any) -> bool:
    if not isinstance(content, dict):
        return False
    resolved = content.get("resolved_ids", content.get("resolved"))
    return isinstance(resolved, list) and all(isinstance(item, str) for item in resolved)


SWE_BENCH = _reader(
    "swe-bench",
    "a report of SWE-bench: JSON with the instances that were resolved",
    _is_swe_bench,
    _swe_bench,
)


def _evalplus(path: Path) -> Iterator[_Sample]:
    """Yield the samples of each problem: ``plus`` is right if the base tests pass, too."""
    for problem, solutions in mapping_at(json_content(path), "eval").items():
        for epoch, one in enumerate(solutions, start=1):
            scores = {"base": one.get("base_status") == "pass"}
            if one.get("plus_status") is not None:
                scores["plus"] = scores["base"] and one["plus_status"] == "pass"
            yield path.stem.removesuffix("_eval_results"), str(problem), epoch, scores, {}


def _is_evalplus(content: Any) -> bool:
    problems = mapping_at(content, "eval") if isinstance(content, dict) else {}
    first = next(iter(problems.values()), None)
    return "base_status" in _first(first)


EVALPLUS = _reader(
    "evalplus",
    "results of EvalPlus: JSON with the status of the base and plus tests of each problem",
    _is_evalplus,
    _evalplus,
)


def _is_board(content: Any) -> bool:
    if isinstance(content, dict):
        return "base_prompt" not in content and _is_opencompass(content.get("details"))
    first = _first(content)
    is_live = "question_id" in first and "graded_list" in first
    is_judged = {"question_id", "model", "turn", "score"} <= first.keys()
    return is_live or is_judged or _is_every_eval(first)


def _is_opencompass(details: Any) -> bool:
    first = next(iter(details.values()), None) if isinstance(details, dict) else _first(details)
    return isinstance(first, Mapping) and ("correct" in first or "is_correct" in first)


def _is_every_eval(record: Mapping[str, Any]) -> bool:
    names = {"sample_id", "evaluation"}
    return names <= record.keys() and isinstance(record["evaluation"], Mapping)


def _board(path: Path) -> Iterator[_Sample]:
    content = json_content(path) if path.suffix.lower() == ".json" else None
    if isinstance(content, dict):
        details = content["details"]
        named = details.items() if isinstance(details, dict) else enumerate(details)
        for item, one in named:
            if isinstance(one, Mapping):
                right = one.get("correct", one.get("is_correct"))
                right = right[0] if isinstance(right, list) and right else right
                yield path.stem, str(item), 1, {"correct": right}, {}
        return
    for record in _records(path):
        if _is_every_eval(record):
            yield _of_every_eval(record, path)
        elif "graded_list" in record:
            about = {x: record[x] for x in ("difficulty", "platform") if x in record}
            for epoch, passed in enumerate(record["graded_list"], start=1):
                yield path.stem, str(record["question_id"]), epoch, {"passed": passed}, about
        else:
            score = as_score(record["score"])
            # A judge that gives no grade is written as -1.
            known = None if isinstance(score, float) and score < 0 else record["score"]
            item = f"{record['question_id']}/turn {record['turn']}"
            about = {"question": str(record["question_id"]), "turn": str(record["turn"])}
            yield str(record["model"]), item, 1, {"score": known}, about


def _of_every_eval(record: Mapping[str, Any], path: Path) -> _Sample:
    evaluation = mapping_at(record, "evaluation")
    model = record.get("model_id") or mapping_at(record, "model_info").get("id") or path.stem
    score = evaluation.get("score", evaluation.get("is_correct"))
    about = {"evaluation": str(record.get("evaluation_name") or record.get("evaluation_id") or "")}
    text = mapping_at(record, "input").get("raw")
    return (
        str(model),
        str(record["sample_id"]),
        int(record.get("epoch") or 1),
        {"score": score},
        about | ({"input": text} if isinstance(text, str) else {}),
    )


BOARD = _reader(
    "board",
    "items of LiveCodeBench, OpenCompass, MT-bench or Every Eval Ever: JSON or lines, as they are",
    _is_board,
    _board,
)
