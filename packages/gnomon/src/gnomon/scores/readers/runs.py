"""Runs of a loop of candidates: a table such as ``results.tsv``, or JSON lines."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gnomon.errors import ScoreDataError, counted, joined, listed, note, option, shortened
from gnomon.text_files import read_text

#: Columns with the name of the candidate and with its score.
NAMES, SCORES = ("candidate", "commit", "name"), ("score", "value", "metric", "val_bpb")


def read_runs(
    place: str, score: str | None, known: dict[str, tuple[int, str]]
) -> tuple[list[tuple[str, float]], dict[str, tuple[int, str]]]:
    """Return the candidate and the score of each new run, in their order; NaN for one that crashed.

    `known` has how many runs of each file were read before, and a digest of them. What it is to
    have of this file, once its runs are added, is returned, too: nothing of standard input.
    Errors and warnings are those of :meth:`gnomon.stats.Loop.read`.
    """
    runs = _all_runs(place, score)
    if place == "-":
        return runs, {}
    file = str(Path(place).resolve())
    n_known, digest = known.get(file, (0, ""))
    if n_known and _digest(runs[:n_known]) != digest:
        raise ScoreDataError(
            f"{place}: expected the {counted(n_known, 'run')} read before to be unchanged; "
            "some are missing or changed; use a new state or a new file"
        )
    for other, (n, digest) in known.items() if not n_known else ():
        # Two files of a single run each may hold equal ones.
        if 1 < n <= len(runs) and _digest(runs[:n]) == digest:
            raise ScoreDataError(
                f"{place}: expected new runs, found the {counted(n, 'run')} read before from "
                f"{other}; give that file"
            )
    return runs[n_known:], {file: (len(runs), _digest(runs))}


def _digest(runs: list[tuple[str, float]]) -> str:
    return hashlib.sha256(json.dumps(runs).encode()).hexdigest()


def _all_runs(place: str, score: str | None) -> list[tuple[str, float]]:
    found = []
    is_input = place == "-"
    text = sys.stdin.read() if is_input else read_text(Path(place), error=ScoreDataError)
    whole, _, rest = text.removeprefix("\ufeff").rpartition("\n")
    is_json = is_input or place.endswith((".jsonl", ".ndjson"))
    if is_json and rest.rstrip().endswith("}"):
        whole, rest = text, ""
    if rest:
        note(f"{place}: the last line is incomplete and was left out: {shortened(rest)!r}")
    for line, row in (_json_rows if is_json else _table_rows)(whole):
        try:
            found.append(_run_of(row, score))
        except ValueError as error:
            raise ScoreDataError(f"{place}, line {line}: {error}") from None
    return found


def _json_rows(text: str) -> Iterator[tuple[int, Any]]:
    for n, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield n, json.loads(line)
            except (ValueError, RecursionError):
                yield n, line


def _table_rows(text: str) -> Iterator[tuple[int, Any]]:
    lines = io.StringIO(text, newline="")
    if "\t" in text.partition("\n")[0]:  # quotation marks in a description are text
        table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        table = csv.DictReader(lines)
    for row in table:
        yield table.line_num, row


def _run_of(row: Any, score: str | None) -> tuple[str, float]:
    if not isinstance(row, Mapping):
        raise ValueError(f"expected a JSON object, found {shortened(str(row))!r}")
    columns = []
    for what, known in (("candidate", NAMES), ("score", (score,) if score else SCORES)):
        columns += [name for name in known if name in row][:1]
        if not columns[(what == "score") :]:
            remedy = f"; name it by {option(score='COLUMN')}" if what == "score" else ""
            found = listed(map(str, row))
            raise ValueError(
                f"expected a {what} named {joined(known, 'or')}, found {found}{remedy}"
            )
    name, value = (row[column] for column in columns)
    if not isinstance(name, str | int) or not str(name).strip():
        raise ValueError(f"expected the name of a candidate, found {name!r}")
    if row.get("status") == "crash" or value is None or not str(value).strip():
        return str(name), math.nan
    try:
        x = float(value)
    except (ValueError, TypeError):
        x = math.inf
    if math.isinf(x):
        raise ValueError(f"expected a finite number as score, found {shortened(str(value))!r}")
    return str(name), x
