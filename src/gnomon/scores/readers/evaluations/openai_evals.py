"""Records of openai/evals: a file of JSON lines for each run, one line an event.

The first line says what was run, another one the final report. Events of the types ``match`` and
``metrics`` hold scores, ``sampling`` what the model was shown, ``error`` what went wrong.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from gnomon.errors import ScoreDataError
from gnomon.scores.readers.evaluations.json_stream import json_lines
from gnomon.scores.readers.evaluations.sample_table import (
    METRIC,
    Log,
    SampleColumns,
    input_columns,
    read_each,
    table_of_logs,
    warn,
)
from gnomon.scores.readers.file_contents import mapping_at
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.table import ScoreTable

#: Lines that may stand before the one that says what was run.
_GLANCE = 3
#: How costs are called in what a model's endpoint says of its use.
_USAGE = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}


@dataclass
class _Sample:
    """What the events of one sample say; a sample is asked again for each score of one name."""

    about: dict[str, Any] = field(default_factory=dict)
    scores: list[dict[str, Any]] = field(default_factory=list)
    status: str = "ok"

    def add_score(self, name: str, value: Any) -> None:
        for epoch in self.scores:
            if name not in epoch:
                epoch[name] = value
                return
        self.scores.append({name: value})


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    """Read the records of one run, or of every one in a folder."""
    files = [file for file in sorted(path.glob("*.jsonl")) if _is_record(file)]
    logs = read_each(files if path.is_dir() else [path], _log, "openai/evals")
    return table_of_logs(logs, wanted, path, "openai/evals")


def _log(path: Path) -> Log:
    """Read the records of one run."""
    spec: dict[str, Any] = {}
    report: dict[str, Any] = {}
    samples: dict[str, _Sample] = {}
    for line in json_lines(path):
        if isinstance(line.get("spec"), dict):
            spec = line["spec"]
        elif isinstance(line.get("final_report"), dict):
            report = line["final_report"]
        elif line.get("sample_id") is not None:
            _add_event(samples.setdefault(str(line["sample_id"]), _Sample()), line)
    model, name = spec.get("completion_fns") or spec.get("model_name"), spec.get("eval_name")
    if not model or not isinstance(name, str):
        raise ScoreDataError(f"{path}: expected a line with spec.completion_fns and spec.eval_name")
    if not report:
        warn(f"{path.name}: no final report: the run was not finished")
    columns = SampleColumns()
    for item, sample in samples.items():
        for epoch, scores in enumerate(sample.scores or [{}], 1):
            row = {"item": item, "epoch": epoch, "status": sample.status, **sample.about}
            columns.add(row, scores, {})
    log = Log(
        path=path,
        model=", ".join(map(str, model)) if isinstance(model, list) else str(model),
        subtask=name,
        frame=columns.frame(),
        unreadable=columns.unreadable,
        settings={"seed": mapping_at(spec, "run_config").get("seed")},
    )
    _compare(log, report)
    return log


def _add_event(sample: _Sample, event: Mapping[str, Any]) -> None:
    """Add what an event says of its sample."""
    kind, data = event.get("type"), mapping_at(event, "data")
    if kind == "match":
        sample.add_score("correct", data.get("correct"))
    elif kind == "metrics":
        for name, value in data.items():
            if isinstance(value, bool | int | float):
                sample.add_score(str(name), value)
    elif kind == "error":
        sample.status = "error"
    elif kind == "sampling":
        prompt = data.get("prompt")
        text = prompt if isinstance(prompt, str) else json.dumps(prompt)
        sample.about = input_columns(text, keeps_end=True) | sample.about
        usage = mapping_at(data, "usage")
        for theirs, name in _USAGE.items():
            if isinstance(usage.get(theirs), int):
                sample.about[name] = sample.about.get(name, 0) + usage[theirs]


def _compare(log: Log, report: Mapping[str, Any]) -> None:
    """Warn if the final report says another accuracy than the samples give."""
    told, column = report.get("accuracy"), METRIC + "correct"
    if not isinstance(told, int | float) or column not in log.frame.columns:
        return
    score = log.frame[column].drop_nulls()
    mean = float(score.to_numpy().mean()) if len(score) else math.nan
    if not math.isclose(told, mean, rel_tol=1e-9, abs_tol=1e-9):
        warn(
            f"{log.path.name}: accuracy is {told:.6g} in the final report, and the events of type "
            f"match give {mean:.6g}"
        )


def _is_record(path: Path) -> bool:
    """Return whether one of the first lines says what was run."""
    try:
        lines = list(islice(json_lines(path), _GLANCE))
    except ScoreDataError:
        return False
    return any(
        {"eval_name", "base_eval", "completion_fns"} & mapping_at(line, "spec").keys()
        for line in lines
    )


def _recognises(path: Path) -> bool:
    if path.is_dir():
        return any(map(_is_record, path.glob("*.jsonl")))
    return path.suffix == ".jsonl" and _is_record(path)


OPENAI_EVALS = Reader(
    "openai-evals",
    "records of openai/evals: a .jsonl file of events, or a folder of them",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric", "where"}),
    units="items",
)
