"""Rows as they come, from records, from data frames and from arrays: not checked yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from gnomon.errors import ScoreDataError

__all__ = ["rows_of_array", "rows_of_frame", "rows_of_records"]


def rows_of_records(records: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return one row for each mapping; a name that one lacks is empty there."""
    rows = list(records)
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame([_series(name, [row.get(name) for row in rows]) for name in names])


def rows_of_frame(frame: Any) -> pl.DataFrame:
    """Return the rows of a data frame of Polars, or of any other that narwhals knows."""
    return frame if isinstance(frame, pl.DataFrame) else _of_other_frame(frame)


def _series(name: str, values: list[Any]) -> pl.Series:
    """Return a column of Python values; a mixed one becomes text, which the checks then judge."""
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        if all(value is None or isinstance(value, int | float) for value in values):
            return pl.Series(name, values, dtype=pl.Float64, strict=False)
        return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)


def _of_other_frame(frame: Any) -> pl.DataFrame:
    """Return a data frame of another library, column by column, so that PyArrow is not needed."""
    import narwhals as nw

    columns = nw.from_native(frame, eager_only=True)
    return pl.DataFrame([_series(name, columns[name].to_list()) for name in columns.columns])


def rows_of_array(
    algorithm: str,
    scores: npt.ArrayLike,
    tasks: Sequence[str] | None,
    steps: Sequence[float] | None,
) -> pl.DataFrame:
    """Return the rows of one algorithm's array, (runs, tasks) or (runs, tasks, steps)."""
    try:
        x = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise ScoreDataError(f"{algorithm}: expected an array of numbers (runs, tasks)") from None
    if x.ndim not in (2, 3):
        raise ScoreDataError(f"{algorithm}: expected shape (runs, tasks), found {x.shape}")
    n_runs, n_tasks = x.shape[:2]
    names = [f"task_{i}" for i in range(n_tasks)] if tasks is None else list(tasks)
    if len(names) != n_tasks:
        raise ScoreDataError(f"{algorithm}: expected {len(names)} tasks, found {n_tasks} columns")
    run, task = np.meshgrid(np.arange(n_runs), np.arange(n_tasks), indexing="ij")
    repeat = x.shape[2] if x.ndim == 3 else 1
    columns: dict[str, Any] = {
        "algorithm": pl.repeat(algorithm, x.size, eager=True),
        "task": pl.Series(names, dtype=pl.String).gather(np.repeat(task.ravel(), repeat)),
        "run": np.repeat(run.ravel(), repeat),
    }
    if x.ndim == 3:
        values = np.arange(repeat) if steps is None else np.asarray(steps, dtype=np.float64)
        if values.size != repeat:
            raise ScoreDataError(f"{algorithm}: expected {values.size} steps, found {repeat}")
        columns["step"] = np.tile(values, n_runs * n_tasks)
    return pl.DataFrame(columns | {"score": x.ravel()})
