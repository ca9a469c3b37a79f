"""Tables as papers and leaderboards print them: a row an algorithm, a column a task."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from gnomon.errors import DegenerateScoresWarning
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.reported_number import has_deviation
from gnomon.scores.readers.separated_values import header_names
from gnomon.scores.readers.tidy_files import read_csv
from gnomon.scores.readers.wide_layout import (
    WideLayout,
    is_no_task,
    numbers,
    numeric,
    tells_runs,
    wide_layout,
)
from gnomon.scores.table import ScoreTable

__all__ = ["read_wide_table"]


def read_wide_table(
    path: Path, *, metric: str | None = None, higher_is_better: bool = True
) -> ScoreTable | None:
    """Read a file with a row for each algorithm and a column for each task.

    A column headed ``model``, ``algorithm`` or the like names the algorithms, else the first one.
    If that one is headed ``env``, ``game`` or the like, rows are tasks and columns algorithms.
    Cells may be empty, and are read as
    :func:`gnomon.scores.readers.reported_number.reported_number` has it; each is one run.

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
        None if the file looks like none: it has a column ``score``, or ``task`` beside others of a
        tidy file, or no column but that of names holds numbers.

    Raises
    ------
    ScoreDataError
        The file is no table, a cell among numbers is none, or a name comes twice; the message
        names line and column.

    Warns
    -----
    DegenerateScoresWarning
        Columns are left out that hold no numbers, sum up the others, or are a number of parameters
        and the like; deviations are left out; rows are tasks; or the table looks like a mistake.
    """
    if not _looks_wide(path):
        return None
    raw, origin = read_csv(path)
    if raw.width < 2 or raw.is_empty():
        return None
    layout = wide_layout(raw, origin)
    if layout is None:
        return None
    cells = numbers(raw.drop(layout.names))
    columns = [
        name for name in numeric(cells) if not (is_no_task(name) or tells_runs(name, cells[name]))
    ]
    if not columns:
        return None
    rows = _rows(raw[layout.names], layout)
    _say_what_was_done(raw, layout, columns, rows)
    keys = ("task", "algorithm") if layout.transposed else ("algorithm", "task")
    records = []
    for column in columns:
        for row in rows:
            score = cells[column][row]
            if score is None:
                found = f"expected a number, found {raw[column][row]!r}"
                raise origin.error_at([row], column, found)
            key = dict(zip(keys, (raw[layout.names][row], column), strict=True))
            records.append({**key, "run": 0, "score": score})
    table = ScoreTable.from_records(
        records,
        metric=metric or "score",
        higher_is_better=higher_is_better,
        provenance=(f"read from {path.name} ({' x '.join(f'{key}s' for key in keys)})",),
    )
    return warn_of_suspicions(table)


def _looks_wide(path: Path) -> bool:
    """Return whether the header may be that of a wide table."""
    try:
        names = [name.lower() for name in header_names(path)]
    except OSError:
        return False  # whoever reads it as a tidy file says what is wrong
    # "#.nickname" and "#{" begin files of others; a column of ranks may be headed "#".
    is_other = names[0].startswith("#") and names[0] != "#"
    return not is_other and "score" not in names and "task" not in names[1:]


def _rows(names: pl.Series, layout: WideLayout) -> list[int]:
    """Return the rows to read: a last row of averages is no task."""
    every = enumerate(names.fill_null(""))
    return [row for row, name in every if not (layout.transposed and is_no_task(name))]


def _say_what_was_done(
    raw: pl.DataFrame, layout: WideLayout, columns: Sequence[str], rows: Sequence[int]
) -> None:
    names, noun = layout.names, "algorithms" if layout.transposed else "tasks"
    if layout.transposed:
        _warn(f"column {names!r} names tasks: rows are read as tasks, columns as algorithms")
    left_out = [name for name in raw.columns if name not in (names, *columns)]
    if left_out:
        _warn(f"columns left out, since they are no {noun}: {_listed(left_out)}")
    if len(rows) < len(raw):
        left_out = [name for row, name in enumerate(raw[names]) if row not in rows]
        _warn(f"rows left out, since they are no tasks: {_listed(left_out)}")
    if any(has_deviation(text) for column in columns for text in raw[column]):
        _warn(
            "deviations are left out: each cell is read as one number, and how sure it is is not "
            "used; estimate, compare and profile take means and deviations from a file with "
            "columns algorithm, task, mean, std, runs"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def _warn(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=4)
