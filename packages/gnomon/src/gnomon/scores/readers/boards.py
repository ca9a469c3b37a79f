"""Results of code benchmarks and of judges, one file per model, and votes.

These are reports of SWE-bench, results of EvalPlus, evaluations of LiveCodeBench, details of
OpenCompass, judgments of MT-bench, samples of Every Eval Ever, votes of arenas, and games of
Arena-Hard. The name of a model is in the records, or else that of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError, listed, note
from gnomon.scores.columns import FloatArray, Rows, Texts, rows_of_records
from gnomon.scores.readers.files import mapping_at
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.readers.samples import (
    Log,
    Sample,
    as_score,
    input_columns,
    reading_log,
    table_of_logs,
)
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, selected, tidy_rows

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
            logs += [
                Log.of(found, path=path, model=model, subtask=subtask)
                for (model, subtask), found in own.items()
            ]
    return table_of_logs(logs, wanted, source.place, name)


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
    is_sample = "sample_id" in first and isinstance(first.get("evaluation"), Mapping)
    return ("board", _every_eval) if is_sample else None


def _first(content: Any) -> Mapping[str, Any]:
    """Return the first record of a list or of an object's values, nothing of anything else."""
    values = list(content.values()) if isinstance(content, dict) else content
    first = values[0] if isinstance(values, list) and values else None
    return first if isinstance(first, Mapping) else {}


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
        yield str(record["model"]), Sample(item=item, scores={"score": known}, attributes=about)


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
    "results of SWE-bench, EvalPlus, LiveCodeBench, OpenCompass, MT-bench or Every Eval Ever: JSON "
    "or JSON lines, or a folder of them",
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
    return ScoreTable.from_records(
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

_COLUMNS = ("model_a", "model_b", "winner")
#: The share of the first model, by the word in the column ``winner``.
_WINNERS = {
    "model_a": 1.0, "a": 1.0, "model_1": 1.0, "1": 1.0, "model_b": 0.0, "b": 0.0, "model_2": 0.0,
    "2": 0.0, "tie": 0.5, "tie (bothbad)": 0.5, "both": 0.5, "bothbad": 0.5, "both_bad": 0.5,
    "draw": 0.5,
}  # fmt: skip
#: The winner by the verdict of Arena-Hard, whose first game has the baseline as A.
_VERDICTS = {"A>>B": "a", "A>B": "a", "A=B": "tie", "B=A": "tie", "B>A": "b", "B>>A": "b"}


def _holds_games(source: Source) -> bool:
    """Return whether records are those of Arena-Hard."""
    first = source.json[0] if isinstance(source.json, list) and source.json else None
    return isinstance(first, Mapping) and "games" in first


def _read_votes(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read votes: each is an item; the winner has 1, the loser 0, and both 0.5 in a tie."""
    if _holds_games(source):
        origin = Origin(str(source))
        raw = rows_of_records(
            vote for record in source.content() for vote in _votes(record, origin)
        )
    else:
        raw, origin = source.table()
    raw, origin = selected(raw, wanted.where, origin)
    n = len(raw)
    if not n:
        raise origin.error("expected votes, found none")
    a, b, winner = (raw.texts(name) for name in _COLUMNS)
    share = _shares(a, b, winner, origin)
    items = Texts(np.arange(n, dtype=np.int32), tuple(f"vote {i}" for i in range(1, n + 1)))
    rest = raw.but(*_COLUMNS, "algorithm", "task", "score", "run")
    rows = Rows.joined([
        rest.with_columns({"algorithm": model, "task": items, "score": score, "opponent": other})
        for model, other, score in ((a, b, share), (b, a, 1.0 - share))
    ])  # fmt: skip
    note(f"{origin.name}: each vote is an item with the scores 1 and 0, or 0.5 each for a tie")
    tidy = tidy_rows(rows, Origin(origin.file), {})
    return ScoreTable(tidy, "win", None, True, origin.provenance("votes"), units="items")


def _shares(a: Texts, b: Texts, winner: Texts, origin: Origin) -> FloatArray:
    """Return the share of the first model in each vote; refuse a word that names no winner."""
    found = np.empty(len(winner))
    votes = zip(a.tolist(), b.tolist(), winner.tolist(), strict=True)
    for at, (one, two, word) in enumerate(votes):
        share = 1.0 if word == one else 0.0 if word == two else _WINNERS.get(str(word).lower())
        if share is None or one is None or two is None:
            expected = "model_a, model_b, tie or the name of one of the two"
            raise origin.error_at([at], "winner", f"expected {expected}, found {word!r}")
        if one == two:
            raise origin.error_at([at], "model_b", f"expected two models, found {one!r} twice")
        found[at] = share
    return found


def _votes(record: Mapping[str, Any], origin: Origin) -> Iterator[dict[str, Any]]:
    """Yield the votes of the two games of a record of Arena-Hard."""
    model, baseline = record.get("model"), record.get("baseline", "baseline")
    for number, game in enumerate(record["games"]):
        winner = _VERDICTS.get(str(mapping_at({"game": game}, "game").get("score")))
        if model is None or winner is None:
            raise origin.error(
                "expected games of Arena-Hard with a score such as A>B; found "
                f"{listed(game, 4) if isinstance(game, Mapping) else game}"
            )
        # The models change places in the second game.
        a, b = (model, baseline) if number % 2 else (baseline, model)
        yield {"model_a": a, "model_b": b, "winner": winner}


VOTES = Reader(
    "votes",
    "votes between two models: model_a, model_b, winner as CSV or JSON, or games of Arena-Hard",
    recognises=lambda source: set(_COLUMNS) <= set(source.names) or _holds_games(source),
    read=_read_votes,
    takes=frozenset({"where"}),
    units="items",
    in_memory=True,
)
