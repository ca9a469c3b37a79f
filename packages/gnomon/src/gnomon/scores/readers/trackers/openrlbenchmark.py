"""Tables of openrlbenchmark: a row a task, a column a set of runs, cells ``mean ± deviation``."""

from __future__ import annotations

import csv
import re
import warnings
from pathlib import Path

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.file_contents import header_line
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.reported_number import reported_number
from gnomon.scores.table import ScoreTable

#: A heading: who, which project, which experiment, and how its runs were filtered.
_HEADING = re.compile(r"(?:[^/]*/[^/]*/)?(.*?)\s*\((\{.*\})\)")


def _recognises(path: Path) -> bool:
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    line = header_line(path)
    return line.startswith((",", '"",')) and "({" in line


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = [row for row in csv.reader(text.splitlines()) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScoreDataError(f"{path}: expected a table of openrlbenchmark; {error}") from None
    names = _headings(rows[0][1:])
    records = []
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(names) + 1:
            raise ScoreDataError(
                f"{path}, line {line}: expected a task and {len(names)} cells, found {len(row)} "
                "fields"
            )
        for name, text in zip(names, row[1:], strict=True):
            # A missing mean comes with a missing deviation.
            score = reported_number("nan" if text.strip().startswith("nan") else text)
            if score is None:
                raise ScoreDataError(
                    f"{path}, line {line}, column {name!r}: expected a number, found {text!r}"
                )
            records.append({"algorithm": name, "task": row[0], "run": 0, "score": score})
    if not records:
        raise ScoreDataError(f"{path}: expected rows of tasks, found none")
    warnings.warn(
        "deviations are left out, since openrlbenchmark does not tell of how many runs they are: "
        "each cell is read as one number",
        DegenerateScoresWarning,
        stacklevel=2,
    )
    table = ScoreTable.from_records(
        records,
        metric=wanted.metric or "score",
        higher_is_better=wanted.is_higher_better,
        provenance=(f"read from {path.name} (openrlbenchmark)",),
    )
    return warn_of_suspicions(table)


def _headings(cells: list[str]) -> list[str]:
    """Return the names of the columns; published headers hold commas that are not quoted."""
    whole: list[str] = []
    for cell in cells:
        if whole and _is_open(whole[-1]):
            whole[-1] += f",{cell}"
        else:
            whole.append(cell)
    short = []
    for text in whole:
        found = _HEADING.fullmatch(text.strip())
        tags = "" if found is None or found[2] == "{}" else f" ({found[2]})"
        short.append(f"{found[1]}{tags}" if found else text.strip())
    return short if len(set(short)) == len(short) else [text.strip() for text in whole]


def _is_open(text: str) -> bool:
    return any(text.count(a) > text.count(b) for a, b in ("()", "[]", "{}"))


OPENRLBENCHMARK = Reader(
    "openrlbenchmark",
    "a table of openrlbenchmark: a row a task, a column a set of runs, means and deviations",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"metric"}),
)
