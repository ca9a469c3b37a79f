"""Tables of summaries: means, standard deviations and numbers of runs, as many papers have them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import UnknownNameError, listed, note
from gnomon.scores.readers.files import header_names, is_table, read_csv, reported_number
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.scores.tidy import Origin, matching_rows, renamed_columns

#: The columns of a table of summaries.
_SUMMARY = ("algorithm", "task", "mean", "std", "runs")


@dataclass(frozen=True, eq=False)
class SummaryTable:
    """Means, standard deviations and numbers of runs, for tasks that all algorithms have.

    Parameters
    ----------
    algorithms, tasks : tuple of str
    mean, deviation : ndarray of float, shape (algorithms, tasks)
    n_runs : ndarray of float, shape (algorithms, tasks)

    Examples
    --------
    >>> mean, deviation, n_runs = (np.array([[x], [x]]) for x in (20.0, 0.5, 5.0))
    >>> table = SummaryTable(("dqn", "sac"), ("pong",), mean, deviation, n_runs)
    >>> table.select(["sac"]).mean
    array([[20.]])
    """

    algorithms: tuple[str, ...]
    tasks: tuple[str, ...]
    mean: FloatArray
    deviation: FloatArray
    n_runs: FloatArray

    def select(self, algorithms: Sequence[str]) -> SummaryTable:
        """Return the table of some algorithms, in the given order.

        Raises
        ------
        UnknownNameError
            There is no such algorithm.
        """
        for name in algorithms:
            if name not in self.algorithms:
                raise UnknownNameError("algorithm", name, self.algorithms)
        at = [self.algorithms.index(name) for name in algorithms]
        parts = (self.mean[at], self.deviation[at], self.n_runs[at])
        return SummaryTable(tuple(algorithms), self.tasks, *parts)


def read_summaries(
    path: str | os.PathLike[str],
    *,
    where: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    keep_apart: str | None = None,
) -> SummaryTable:
    r"""Read a table of summaries: columns algorithm, task, mean, std and runs.

    Parameters
    ----------
    path : path
        A comma-separated file.
    where : mapping, optional
        Values that a row must have.
    columns : mapping, optional
        What the columns of names are called: ``{"algorithm": "Name", "task": "Game"}``.
    keep_apart : str, optional
        A column whose values make different algorithms, such as the number of frames.

    Raises
    ------
    ScoreDataError
        A column is missing, a cell is no number, a standard deviation is below 0 or a number of
        runs below 1, a row comes twice, or no task is shared.

    Warns
    -----
    DegenerateScoresWarning
        Some algorithm lacks a task.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "means.csv"
    ...     _ = path.write_text("algorithm,task,mean,std,runs\ndqn,pong,20.1,0.5,5\n")
    ...     read_summaries(path).mean
    array([[20.1]])
    """
    raw, origin = read_csv(Path(path))
    raw = renamed_columns(raw, columns or {}, origin)
    for name in (*_SUMMARY, *([] if keep_apart is None else [keep_apart])):
        if name not in raw.names:
            raise origin.error(f"missing column {name!r}; found {', '.join(raw.names)}")
    kept = matching_rows(raw, where or {}, origin)
    cells: dict[str, dict[str, tuple[float, ...]]] = {}
    for name in ("algorithm", "task", *([keep_apart] if keep_apart else [])):
        raw = raw.with_columns({name: raw.texts(name)})
    for at, row in enumerate(raw.records()):
        if kept[at]:
            name = row["algorithm"] + (f" {row[keep_apart]}" if keep_apart else "")
            own = cells.setdefault(name, {})
            if row["task"] in own:
                message = "expected one row for each algorithm and task, found a second of "
                message += f"{name} on {row['task']}; select rows by a column, or keep it apart"
                raise origin.error_at([at], "task", message)
            own[row["task"]] = _summary(row, at, origin)
    return _on_shared_tasks(cells, origin)


def of_standard_errors(table: ScoreTable) -> SummaryTable | None:
    """Return means with the deviations from their standard errors, or None.

    A score that is a mean over the items of a task, with the attributes ``stderr`` and ``n_items``,
    is known as well as its items allow: the runs of the summary are the items.
    """
    if not {"stderr", "n_items"} <= set(table.attributes) or table.n_steps > 1:
        return None
    if table.normalization is not None:
        return None  # the errors are those of raw scores
    error, n_items = table.rows.numbers("stderr"), table.rows.numbers("n_items")
    if error is None or n_items is None or np.isnan(error + n_items).any():
        return None
    if np.isnan(table.rows["score"]).any() or table.run_counts.max(initial=0) != 1:
        return None
    tasks = table.shared_tasks()
    cells = {
        (row["algorithm"], row["task"]): (row["score"], deviation, n)
        for row, deviation, n in zip(
            table.rows.records(), (error * n_items**0.5).tolist(), n_items.tolist(), strict=True
        )
    }
    grid = np.array([[cells[a, t] for t in tasks] for a in table.algorithms]).reshape(
        len(table.algorithms), len(tasks), 3
    )
    return SummaryTable(table.algorithms, tasks, grid[..., 0], grid[..., 1], grid[..., 2])


def holds_summaries(path: Path) -> bool:
    """Return whether a file has means and standard deviations in the place of runs."""
    return is_table(path) and {"mean", "std", "runs"} <= set(header_names(path))


def _summary(row: Mapping[str, Any], at: int, origin: Origin) -> tuple[float, ...]:
    """Return mean, standard deviation and number of runs of a row."""
    numbers = []
    for column, least in (("mean", -math.inf), ("std", 0.0), ("runs", 1.0)):
        number = reported_number(row[column])
        if number is None or not number >= least:
            expected = f"a number from {least:g}" if math.isfinite(least) else "a number"
            found = "nothing" if row[column] is None else repr(row[column])
            raise origin.error_at([at], column, f"expected {expected}, found {found}")
        numbers.append(number)
    return tuple(numbers)


def _on_shared_tasks(
    cells: Mapping[str, Mapping[str, tuple[float, ...]]], origin: Origin
) -> SummaryTable:
    """Return the table of the tasks that all algorithms have, and note which are left out."""
    every = list(cells.values())
    names = list(dict.fromkeys(task for one in every for task in one))
    tasks = [task for task in names if all(task in one for one in every)]
    if not tasks:
        raise origin.error("expected tasks that all algorithms have; found none")
    if len(tasks) < len(names):
        left_out = [task for task in names if task not in tasks]
        shown = listed(left_out)
        note(
            f"{len(left_out)} of {len(names)} tasks left out, "
            f"since some algorithms lack them: {shown}"
        )
    grid = np.array([[one[task] for task in tasks] for one in every])
    return SummaryTable(tuple(cells), tuple(tasks), grid[..., 0], grid[..., 1], grid[..., 2])
