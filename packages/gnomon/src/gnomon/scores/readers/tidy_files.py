"""Tidy files: one row per algorithm, task and run, as CSV, TSV or Parquet, read and written."""

from __future__ import annotations

import io
import os
import warnings
from dataclasses import replace
from pathlib import Path

import polars as pl

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, joined
from gnomon.files import write_atomically
from gnomon.scores.columns import Rows, Texts
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.file_contents import (
    missing_columns,
    read_columns,
    renamed_columns,
    tidy_frame,
)
from gnomon.scores.readers.registry import Reader, ReadRequest
from gnomon.scores.readers.usual_columns import usual_columns
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import SPECIAL, Origin

#: Columns that describe the whole table; a tidy file may carry them, with one value each.
_ABOUT = ("metric", "unit", "direction", "units", "cluster_column")


def write_scores(table: ScoreTable, path: str | os.PathLike[str]) -> None:
    """Write a table of scores to a file that :func:`gnomon.scores.read_scores` reads back the same.

    The file appears complete or not at all: it is written beside its place and then moved there.

    Parameters
    ----------
    table : ScoreTable
    path : path
        A name that ends in ``.csv``, ``.tsv`` or ``.parquet``.

    Raises
    ------
    ScoreDataError
        The name ends otherwise.
    OSError
        The file cannot be written; the error names the path.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gnomon.scores import read_scores
    >>> table = ScoreTable.from_arrays({"a": [[1.5, 2.0]]}, metric="tce", higher_is_better=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "scores.csv"
    ...     write_scores(table, path)
    ...     print(path.read_text(), end="")
    ...     read_scores(path).higher_is_better
    algorithm,task,run,score,metric,direction
    a,task_0,0,1.5,tce,lower
    a,task_1,0,2.0,tce,lower
    False
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", ".parquet"):
        raise ScoreDataError(f"{path}: expected a name that ends in .csv, .tsv or .parquet")
    frame = _with_about(table).to_polars()
    out = io.BytesIO()
    if suffix == ".parquet":
        frame.write_parquet(out)
    else:
        empty = pl.col("score").fill_nan(None)
        separator = "\t" if suffix == ".tsv" else ","
        frame.with_columns(empty).write_csv(out, separator=separator)
    write_atomically(path, out.getvalue())


def _read(path: Path, wanted: ReadRequest) -> ScoreTable:
    """Read a tidy file; the columns of :data:`_ABOUT`, if they hold one value, describe the table.

    A file with a column ``metric`` of several values holds several scores, of which one is named.
    """
    raw, origin = read_columns(path)
    is_column = wanted.metric in raw.columns
    named = _named(raw, wanted, origin)
    if {"mean", "std", "runs"} <= set(raw.columns) and "score" not in (*raw.columns, *named):
        raise origin.error(
            "expected runs, found means and standard deviations; estimate, compare and profile "
            "take these, and read_summaries reads them"
        )
    renamed = renamed_columns(raw, named, origin)
    if is_column:
        renamed = _with_single(renamed, path)
    if not {"algorithm", "task", "score"} <= set(renamed.columns):
        raise missing_columns(raw, origin, named)
    raw = renamed
    _say_usual(path, named, wanted)
    where = dict(wanted.where)
    if wanted.metric is not None and not is_column:
        if "metric" not in raw.columns:
            raise origin.error(
                f"a score file holds one score; expected none to be named, found {wanted.metric}"
            )
        where["metric"] = wanted.metric
    frame = tidy_frame(raw, origin, where)
    del raw, renamed  # Texts of ten million rows are half a gigabyte beside what follows.
    if not len(frame):
        raise origin.error("expected rows of scores, found none")
    about, frame = _about(frame, origin)
    better = wanted.higher_is_better
    table = ScoreTable(
        frame,
        about.get("metric", wanted.metric if is_column and wanted.metric else "score"),
        about.get("unit"),
        about.get("direction", "higher") == "higher" if better is None else better,
        (f"read from {path.name}",),
    )
    if about.get("units") == "items":
        table = replace(table, units="items", cluster=about.get("cluster_column"))
    return warn_of_suspicions(table)


def _named(raw: pl.DataFrame, wanted: ReadRequest, origin: Origin) -> dict[str, str]:
    """Return what columns are called: as is said, and usual names for those that are not there."""
    named = dict(wanted.columns)
    if wanted.metric in raw.columns and wanted.metric not in SPECIAL:
        named["score"] = wanted.metric
    absent = [x for x in ("algorithm", "task", "run") if x not in (*raw.columns, *named)]
    return named | usual_columns(raw, named, absent, origin)


def _with_single(raw: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return rows with the name of the file for an algorithm or a task that no column tells.

    Only where the score is named: else a table of tasks may look so.
    """
    absent = [name for name in ("algorithm", "task") if name not in raw.columns]
    if len(absent) != 1 or "run" not in raw.columns:
        return raw
    message = (
        f"{path.name}: no column names the {absent[0]}: all rows are read as of one, {path.stem!r}"
    )
    warnings.warn(message, DegenerateScoresWarning, stacklevel=5)
    return raw.with_columns(pl.lit(path.stem).alias(absent[0]))


def _say_usual(path: Path, named: dict[str, str], wanted: ReadRequest) -> None:
    """Say which columns were taken by their usual names."""
    usual = {role: name for role, name in named.items() if role not in ("score", *wanted.columns)}
    if usual:
        found = joined([repr(name) for name in usual.values()])
        message = f"{path.name}: columns {found} are read as {joined(list(usual))}"
        warnings.warn(message, DegenerateScoresWarning, stacklevel=4)


def _about(rows: Rows, origin: Origin) -> tuple[dict[str, str], Rows]:
    """Return what the file says of the whole table, and the rows without those columns."""
    about = {}
    for name in _ABOUT:
        if name not in rows:
            continue
        texts = rows.texts(name)
        found = [*texts.names, *([None] if texts.missing.any() else [])]
        if len(found) == 1 and found[0] is not None:
            about[name] = found[0]
            rows = rows.but(name)
        elif name == "direction" and len(found) > 1:
            shown = " and ".join("nothing" if each is None else each for each in found[:2])
            raise origin.error(f"column 'direction': expected the same in all rows, found {shown}")
    if about.get("direction", "higher") not in ("higher", "lower"):
        direction = about["direction"]
        raise origin.error(f"column 'direction': expected higher or lower, found {direction!r}")
    return about, rows


def _with_about(table: ScoreTable) -> ScoreTable:
    """Return the rows with those facts about the table that are not the default."""
    facts = {"metric": table.metric if table.metric != "score" else None, "unit": table.unit}
    facts["direction"] = None if table.higher_is_better else "lower"
    facts |= {"units": None if table.units == "tasks" else "items", "cluster_column": table.cluster}
    n = len(table)
    columns = {name: Texts.repeated(x, n) for name, x in facts.items() if x is not None}
    return replace(table, rows=table.rows.with_columns(columns))


TIDY = Reader(
    "tidy",
    "a CSV, TSV or Parquet file with the columns algorithm, task, run and score",
    recognises=lambda path: not (path.is_dir() or path.suffix.lower() in (".json", ".npz")),
    read=_read,
    takes=frozenset({"metric", "where", "columns"}),
    is_general=True,
)
