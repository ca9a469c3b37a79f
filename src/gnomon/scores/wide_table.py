"""Tables as papers and leaderboards print them: a row an algorithm, a column a task."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from gnomon.errors import DegenerateScoresWarning
from gnomon.scores.formats import read_csv
from gnomon.scores.reported_number import reported_number
from gnomon.scores.separated import header_names
from gnomon.scores.table import ScoreTable

__all__ = ["read_wide_table"]

#: A tidy file has one of these; a wide one has tasks in their place.
TIDY = ("task", "score")
#: Columns that sum the others up are no tasks, nor are those that tell what an algorithm is: names
#: without signs and units, as in "Average ⬆️" and "#Params (B)".
NO_TASKS = (
    "average", "avg", "mean", "median", "overall", "rank", "mean rank", "total",
    "params", "parameters", "param count", "model size", "hub", "likes", "downloads",
    "co cost", "co2 cost",
)  # fmt: skip


def read_wide_table(
    path: Path, *, metric: str | None = None, higher_is_better: bool = True
) -> ScoreTable | None:
    """Read a file with a row for each algorithm and a column for each task.

    The first column names the algorithms. Cells may be empty, and are read as
    :func:`gnomon.scores.reported_number.reported_number` has it; each is one run.

    Parameters
    ----------
    path : path
        A comma- or tab-separated file.
    metric : str, optional
        What the scores are.
    higher_is_better : bool

    Returns
    -------
    ScoreTable or None
        None if the file looks like none: it has a column ``task`` or ``score``, two rows have one
        name, or no other column holds numbers.

    Raises
    ------
    ScoreDataError
        The file is no table, or a cell among numbers is none; the message names line and column.

    Warns
    -----
    DegenerateScoresWarning
        Columns are left out that hold no numbers, sum up the others, or are a number of parameters
        and the like.
    """
    if not _looks_wide(path):
        return None
    raw, origin = read_csv(path)
    if raw.width < 2 or raw.is_empty():
        return None
    first, *others = raw.columns
    if raw[first].n_unique() < len(raw):
        return None
    cells = {name: [reported_number(text) for text in raw[name]] for name in others}
    numeric = [name for name in others if any(x is not None and x == x for x in cells[name])]
    tasks = [name for name in numeric if _plain(name) not in NO_TASKS]
    if not tasks:
        return None
    _say_what_is_left_out(raw, tasks)
    records = []
    for task in tasks:
        for row, (algorithm, score) in enumerate(zip(raw[first], cells[task], strict=True)):
            if score is None:
                found = f"expected a number, found {raw[task][row]!r}"
                raise origin.error_at([row], task, found)
            records.append({"algorithm": algorithm, "task": task, "run": 0, "score": score})
    return ScoreTable.from_records(
        records,
        metric=metric or "score",
        higher_is_better=higher_is_better,
        provenance=(f"read from {path.name} (algorithms x tasks)",),
    )


def _plain(name: str) -> str:
    """Return a name in small letters, without what stands in brackets, and signs."""
    return " ".join(re.findall(r"[a-z0-9]+", re.sub(r"\(.*?\)", "", name.lower())))


def _looks_wide(path: Path) -> bool:
    try:
        names = header_names(path)
    except OSError:
        return False  # whoever reads it as a tidy file says what is wrong
    return not names[0].startswith("#") and not {name.lower() for name in names} & set(TIDY)


def _say_what_is_left_out(raw: pl.DataFrame, tasks: Sequence[str]) -> None:
    left_out = [name for name in raw.columns[1:] if name not in tasks]
    if left_out:
        shown = ", ".join(left_out[:8]) + (", ..." if len(left_out) > 8 else "")
        _warn(f"columns left out, since they are no tasks: {shown}")
    if any("±" in str(text) or "+/-" in str(text) for task in tasks for text in raw[task]):
        _warn("deviations behind ± are left out: they say nothing of who is better on a run")


def _warn(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=3)
