"""Tidy files of scores, written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import GnomonError, ScoreDataError
from gnomon.scores.checks import refuse_summaries
from gnomon.scores.columns import Column, Texts
from gnomon.scores.table import ScoreTable
from gnomon.text_files import write_atomically


def write_scores(table: ScoreTable, path: str | os.PathLike[str]) -> None:
    """Write a table of scores to a file that :func:`gnomon.scores.read_scores` reads back the same.

    The file appears complete or not at all: it is written beside its place and then moved there.

    Parameters
    ----------
    table : ScoreTable
    path : path
        A name that ends in ``.csv``, ``.tsv`` or ``.parquet``; the last needs Polars.

    Raises
    ------
    ScoreDataError
        The name ends otherwise, or the runs stand in for means and deviations.
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
    refuse_summaries(table)
    facts = {"metric": table.metric if table.metric != "score" else None, "unit": table.unit}
    facts["direction"] = None if table.higher_is_better else "lower"
    facts |= {"units": None if table.units == "tasks" else "items", "cluster_column": table.cluster}
    known = {name: Texts.repeated(x, len(table)) for name, x in facts.items() if x is not None}
    rows = table.rows.with_columns(known)
    if suffix == ".parquet":
        out = io.BytesIO()
        try:
            replace(table, rows=rows).to_polars().write_parquet(out)
        except ImportError:
            raise GnomonError(f"{path}: Parquet needs Polars: pip install polars") from None
        write_atomically(path, out.getvalue())
        return
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerow(rows.names)
    writer.writerows(zip(*(_cells(rows[name]) for name in rows.names), strict=True))
    write_atomically(path, text.getvalue().encode())


def _cells(column: Column) -> Iterator[Any]:
    """Return the cells of a column as a file has them: nothing for NaN."""
    if not isinstance(column, Texts) and column.dtype.kind == "b":
        return iter(np.where(column, "true", "false").tolist())
    return ("" if x is None or x != x else x for x in column.tolist())
