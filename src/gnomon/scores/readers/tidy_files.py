"""Score files: one reader and one writer per format, chosen by the file's name."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from gnomon._io.atomic_file import write_atomically
from gnomon.errors import ScoreDataError
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.separated_values import read_separated
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, tidy_frame

__all__ = ["read_csv", "read_parquet", "read_scores", "write_scores"]

#: Columns that describe the whole table; a tidy file may carry them, with one value each.
_ABOUT = ("metric", "unit", "direction")


def read_scores(
    path: str | os.PathLike[str],
    *,
    step_column: str | None = None,
    where: Mapping[str, Any] | None = None,
    metric: str | None = None,
    unit: str | None = None,
    higher_is_better: bool | None = None,
) -> ScoreTable:
    """Read a file of scores, one row per algorithm, task and run.

    The columns are ``algorithm``, ``task``, ``run``, ``score`` and optionally ``step`` and
    ``censored``; others are attributes, except that ``metric``, ``unit`` and ``direction``
    (``higher`` or ``lower``, what is better), if they hold one value, describe the table. There
    is no reading of a file with several directions.

    Parameters
    ----------
    path : path
        A file whose name ends in ``.csv``, ``.tsv`` or ``.parquet``.
    step_column : str, optional
        The name of the column to read as the step.
    where : mapping, optional
        Attribute values that a row must have to be read, for example ``{"suite": "atari57"}``.
    metric, unit : str, optional
        What a score is; overrides the file.
    higher_is_better : bool, optional
        The direction; overrides the file, whose default is higher.

    Returns
    -------
    ScoreTable

    Raises
    ------
    ScoreDataError
        The file is absent or cannot be read as scores; the message names file, line and column.

    Warns
    -----
    DegenerateScoresWarning
        The table looks like a mistake: tasks that are seeds, axes swapped, episodes as runs.
    """
    path = Path(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        raw, origin = read_parquet(path)
    else:
        raw, origin = read_csv(path)
    if step_column is not None:
        raw = _renamed(raw, step_column, origin)
    frame = tidy_frame(raw, origin, where or {})
    if frame.is_empty():
        raise origin.error("expected rows of scores, found none")
    about, frame = _about(frame, origin)
    if higher_is_better is None:
        higher_is_better = about.get("direction", "higher") == "higher"
    table = ScoreTable(
        frame,
        metric or about.get("metric", "score"),
        unit or about.get("unit"),
        higher_is_better,
        (f"read from {path.name}",),
    )
    return warn_of_suspicions(table)


def read_csv(path: Path) -> tuple[pl.DataFrame, Origin]:
    """Return the columns of a comma- or tab-separated file as texts, and where they come from."""
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    return read_separated(_bytes(path), separator, str(path))


def read_parquet(path: Path) -> tuple[pl.DataFrame, Origin]:
    """Return the columns of a Parquet file, and where they come from."""
    data = _bytes(path)
    try:
        return pl.read_parquet(io.BytesIO(data), use_pyarrow=False), Origin(str(path))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0]
        raise ScoreDataError(f"{path}: expected a Parquet file; {reason}") from None


def _bytes(path: Path) -> bytes:
    """Return what a file holds."""
    if path.exists() and not path.is_file():
        raise ScoreDataError(f"{path}: expected a file of scores; this is none")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ScoreDataError(f"{path}: expected a file of scores; there is none") from None
    except OSError as error:
        raise ScoreDataError(f"{path}: cannot read this file of scores: {error.strerror}") from None


def write_scores(table: ScoreTable, path: str | os.PathLike[str]) -> None:
    """Write a table of scores to a file that :func:`read_scores` reads back the same.

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
    frame = _with_about(table)
    out = io.BytesIO()
    if suffix == ".parquet":
        frame.write_parquet(out)
    else:
        empty = pl.col("score").fill_nan(None)
        separator = "\t" if suffix == ".tsv" else ","
        frame.with_columns(empty).write_csv(out, separator=separator)
    write_atomically(path, out.getvalue())


def _renamed(raw: pl.DataFrame, step_column: str, origin: Origin) -> pl.DataFrame:
    """Return the columns with one of them called the step."""
    if step_column not in raw.columns:
        found = ", ".join(raw.columns)
        raise origin.error(f"no column {step_column!r} to read as the step; found {found}")
    if step_column == "step":
        return raw
    return raw.drop("step", strict=False).rename({step_column: "step"})


def _about(frame: pl.DataFrame, origin: Origin) -> tuple[dict[str, str], pl.DataFrame]:
    """Return what the file says of the whole table, and the frame without those columns."""
    about = {}
    for name in _ABOUT:
        found = frame[name].unique(maintain_order=True).to_list() if name in frame.columns else []
        if len(found) == 1 and found[0] is not None:
            about[name] = str(found[0])
            frame = frame.drop(name)
        elif name == "direction" and len(found) > 1:
            shown = " and ".join("nothing" if each is None else str(each) for each in found[:2])
            raise origin.error(f"column 'direction': expected the same in all rows, found {shown}")
    if about.get("direction", "higher") not in ("higher", "lower"):
        direction = about["direction"]
        raise origin.error(f"column 'direction': expected higher or lower, found {direction!r}")
    return about, frame


def _with_about(table: ScoreTable) -> pl.DataFrame:
    """Return the rows with those facts about the table that are not the default."""
    facts = {"metric": table.metric if table.metric != "score" else None, "unit": table.unit}
    facts["direction"] = None if table.higher_is_better else "lower"
    columns = [pl.lit(value).alias(name) for name, value in facts.items() if value is not None]
    return table.frame.with_columns(columns)
