"""Runs of a loop of candidates: a table such as ``results.tsv``, or JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gnomon.errors import ScoreDataError, joined, listed, note, option, shortened
from gnomon.text_files import read_text

#: Columns with the name of the candidate and with its score.
NAMES, SCORES = ("candidate", "commit", "name"), ("score", "value", "metric", "val_bpb")


def read_runs(place: str, score: str | None = None) -> list[tuple[str, float]]:
    """Return the candidate and the score of each run, in their order; NaN for a run that crashed.

    Parameters
    ----------
    place : str
        A table with a header, separated by tabs or commas; JSON lines, if the name ends in
        ``.jsonl``; ``-`` for JSON lines from standard input. A last line without an end is
        incomplete, and is left out.
    score : str, optional
        The column of scores; `score`, `value`, `metric` or `val_bpb` if not given.

    Raises
    ------
    ScoreDataError
        The table cannot be read, or a line is not a run.

    Warns
    -----
    DegenerateScoresWarning
        The last line is incomplete.
    """
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
            remedy = f"; {option(score='COLUMN')} names it" if what == "score" else ""
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
