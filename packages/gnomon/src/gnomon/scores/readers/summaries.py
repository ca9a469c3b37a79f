"""Tables of summaries: means, standard deviations and numbers of runs, as many papers have them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import UnknownNameError, note, option
from gnomon.scores.checks import tasks_left_out
from gnomon.scores.readers.files import ERRORS, N_ITEMS, are_summaries, reported_numbers
from gnomon.scores.readers.registry import Source
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.scores.tidy import selected

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
    source: str | os.PathLike[str] | Any, *, where: Mapping[str, str] | None = None
) -> SummaryTable:
    r"""Read a table of summaries: columns algorithm, task, mean, std and runs (or n, count).

    Parameters
    ----------
    source : path, data frame, mapping or list of records
        A file, or a table as :class:`ScoreTable` takes it.
    where : mapping, optional
        Values that a row must have.

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
    is_path = isinstance(source, str | os.PathLike)
    raw, origin = (Source(Path(source)) if is_path else Source(None, source)).table()
    of_runs = next((name for name in ("n", "count") if name in raw and "runs" not in raw), None)
    if of_runs is not None:
        raw = raw.with_columns({"runs": raw[of_runs]}).but(of_runs)
        origin.called["runs"] = of_runs
    for name in _SUMMARY:
        if name not in raw.names:
            raise origin.error(f"missing column {name!r}; found {', '.join(raw.names)}")
    raw, origin = selected(raw, where or {}, origin)
    names = [raw.texts(name).tolist() for name in ("algorithm", "task")]
    least = {"mean": -math.inf, "std": 0.0, "runs": 1.0}
    numbers = zip(
        *(reported_numbers(raw, name, origin, x) for name, x in least.items()), strict=True
    )
    cells: dict[str, dict[str, Sequence[float]]] = {}
    for at, (algorithm, task, cell) in enumerate(zip(*names, numbers, strict=True)):
        own = cells.setdefault(str(algorithm), {})
        if str(task) in own:
            message = "expected one row for each algorithm and task, found a second of "
            message += f"{algorithm} on {task}; {option(where={'COLUMN': 'VALUE'})} selects rows"
            raise origin.error_at([at], "task", message)
        own[str(task)] = cell
    tasks = list(dict.fromkeys(task for own in cells.values() for task in own))
    shared = [task for task in tasks if all(task in own for own in cells.values())]
    if not shared:
        raise origin.error("expected tasks that all algorithms have; found none")
    if left_out := tasks_left_out(tasks, shared, cells):
        note(left_out)
    return _on_tasks(cells, shared)


def _on_tasks(
    cells: Mapping[str, Mapping[str, Sequence[float]]], tasks: Sequence[str]
) -> SummaryTable:
    """Return the table of mean, deviation and number of runs of each algorithm on some tasks."""
    grid = np.array([[own[task] for task in tasks] for own in cells.values()])
    grid = grid.reshape(len(cells), len(tasks), 3)
    return SummaryTable(tuple(cells), tuple(tasks), grid[..., 0], grid[..., 1], grid[..., 2])


def of_standard_errors(table: ScoreTable) -> SummaryTable | None:
    """Return raw means with the deviations from their standard errors, or None.

    A score that is a mean over the items of a task, with attributes for its standard error and the
    number of items, is known as well as its items allow: the runs of the summary are the items.
    """
    errors = [
        name
        for name in table.attributes
        if name.lower() in ERRORS and table.rows.numbers(name) is not None
    ]
    if not errors or table.normalization is not None:
        return None
    if table.n_steps > 1 or table.run_counts.max(initial=0) != 1:
        return None
    numbers = [name for name in table.attributes if name.lower() in N_ITEMS]
    if not numbers:
        note(
            f"column {errors[0]!r} is left out: an interval from a standard error also needs the "
            f"number of items behind each score, in a column {N_ITEMS[0]!r}"
        )
        return None
    score, error, n = (table.rows.numbers(x) for x in ("score", errors[0], numbers[0]))
    if score is None or error is None or n is None or np.isnan(score + error + n).any():
        return None
    keys = zip(table.rows.tolist("algorithm"), table.rows.tolist("task"), strict=True)
    cells: dict[str, dict[str, Sequence[float]]] = {}
    for (algorithm, task), *cell in zip(keys, score, error * n**0.5, n, strict=True):
        cells.setdefault(algorithm, {})[task] = cell
    return _on_tasks(cells, table.shared_tasks())


def holds_summaries(source: Any) -> bool:
    """Return whether a file or table has means and standard deviations in the place of runs."""
    if isinstance(source, str | os.PathLike):
        return are_summaries(Source(Path(source)).names)
    first = source[0] if isinstance(source, list) and source else source
    names = getattr(first, "column_names", getattr(first, "columns", first))
    return not isinstance(first, ScoreTable) and are_summaries(
        list(map(str, names)) if isinstance(names, Iterable) else []
    )
