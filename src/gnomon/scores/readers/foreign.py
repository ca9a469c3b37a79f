"""Scores in the formats of other tools, one reader each. All give a :class:`ScoreTable`."""

from __future__ import annotations

import csv
import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores.plausibility import warn_of_suspicions
from gnomon.scores.readers.json_object import json_object
from gnomon.scores.readers.reported_number import reported_number
from gnomon.scores.readers.tidy_files import read_csv
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.scores.tidy import Origin, matching_rows

__all__ = [
    "SummaryTable",
    "metrics_of_marl_eval",
    "read_marl_eval",
    "read_monitors",
    "read_summaries",
]

Pathlike = str | os.PathLike[str]

#: The columns of a table of summaries.
_SUMMARY = ("algorithm", "task", "mean", "std", "runs")


def _number(text: object, where: str) -> float:
    """Return the number that a cell holds, or NaN for nothing."""
    number = reported_number(text)
    if number is None:
        raise ScoreDataError(f"{where}: expected a number, found {str(text)!r}")
    return number


def read_marl_eval(path: Pathlike, *, metric: str, higher_is_better: bool = True) -> ScoreTable:
    """Read marl-eval's JSON: environment, task, algorithm, run, step.

    A score is the mean over the evaluation episodes of one step; tasks are named
    ``environment/task``.

    Parameters
    ----------
    path : path
    metric : str
        Which of the metrics that each step holds.
    higher_is_better : bool

    Raises
    ------
    ScoreDataError
        No step holds the metric.
    """
    records = list(_marl_eval_rows(json_object(path), metric, str(path)))
    if not records:
        raise ScoreDataError(f"{path}: no step holds the metric {metric!r}")
    table = ScoreTable.from_records(
        records,
        metric=metric,
        higher_is_better=higher_is_better,
        provenance=(f"read from {Path(path).name} (marl-eval)",),
    )
    return warn_of_suspicions(table)


def metrics_of_marl_eval(path: Pathlike) -> list[str]:
    """Return the metrics that the steps of a marl-eval file hold, in the order they come in."""
    found: dict[str, None] = {}
    for tasks in json_object(path).values():
        for algorithms in _inner(tasks):
            for runs in _inner(algorithms):
                for steps in _inner(runs):
                    for name, step in steps.items() if isinstance(steps, dict) else ():
                        if name.startswith("step_") and isinstance(step, dict):
                            found |= dict.fromkeys(key for key in step if key != "step_count")
    return list(found)


def _inner(value: object) -> Iterator[Any]:
    """Yield what a JSON object holds, and of anything else nothing."""
    yield from value.values() if isinstance(value, dict) else ()


def _marl_eval_rows(content: dict[str, Any], metric: str, path: str) -> Iterator[dict[str, Any]]:
    try:
        for environment, tasks in content.items():
            for task, algorithms in tasks.items():
                for algorithm, runs in algorithms.items():
                    for run, steps in runs.items():
                        for name, step in steps.items():
                            if name.startswith("step_") and metric in step:
                                yield {
                                    "algorithm": algorithm,
                                    "task": f"{environment}/{task}",
                                    "run": run,
                                    "step": step["step_count"],
                                    "score": float(np.mean(step[metric])),
                                }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ScoreDataError(
            f"{path}: expected environment, task, algorithm, run, step_N with step_count; {error}"
        ) from None


def read_monitors(paths: Mapping[tuple[str, str, int | str], Pathlike]) -> ScoreTable:
    """Read Stable-Baselines3 monitor files: one row per episode, of unequal numbers.

    Parameters
    ----------
    paths : mapping from (algorithm, task, run) to path
        A ``monitor.csv`` each: a line ``#{...}``, then the columns r (return), l (length), t.

    Returns
    -------
    ScoreTable
        Returns by the number of environment steps at which their episodes ended.
    """
    records = []
    for (algorithm, task, run), path in paths.items():
        try:
            lines = Path(path).read_text("utf-8").splitlines()
        except FileNotFoundError:
            raise ScoreDataError(f"{path}: expected a monitor file; there is none") from None
        except (OSError, UnicodeDecodeError) as error:
            raise ScoreDataError(f"{path}: expected a monitor file; {error}") from None
        if not lines or not lines[0].startswith("#"):
            raise ScoreDataError(f"{path}, line 1: expected '#' and JSON, as a monitor file has")
        step = 0.0
        for line, row in enumerate(csv.DictReader(lines[1:]), start=3):
            step += _number(row.get("l"), f"{path}, line {line}, column 'l'")
            score = _number(row.get("r"), f"{path}, line {line}, column 'r'")
            key = {"algorithm": algorithm, "task": task, "run": run}
            records.append(key | {"step": step, "score": score})
    table = ScoreTable.from_records(
        records, metric="return", provenance=("read from Stable-Baselines3 monitor files",)
    )
    return warn_of_suspicions(table)


@dataclass(frozen=True, eq=False)
class SummaryTable:
    """Means, standard deviations and numbers of runs, for tasks that all algorithms have.

    Parameters
    ----------
    algorithms, tasks : tuple of str
    mean, deviation : ndarray of float, shape (algorithms, tasks)
    n_runs : ndarray of float, shape (algorithms, tasks)
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
    path: Pathlike, *, where: Mapping[str, str] | None = None, keep_apart: str | None = None
) -> SummaryTable:
    """Read a table of summaries: columns algorithm, task, mean, std and runs.

    Parameters
    ----------
    path : path
        A comma-separated file.
    where : mapping, optional
        Values that a row must have.
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
    """
    raw, origin = read_csv(Path(path))
    for name in (*_SUMMARY, *([] if keep_apart is None else [keep_apart])):
        if name not in raw.columns:
            raise origin.error(f"missing column {name!r}; found {', '.join(raw.columns)}")
    kept = matching_rows(raw, where or {}, origin)
    cells: dict[str, dict[str, tuple[float, ...]]] = {}
    for at, row in enumerate(raw.iter_rows(named=True)):
        if kept[at]:
            name = row["algorithm"] + (f" {row[keep_apart]}" if keep_apart else "")
            own = cells.setdefault(name, {})
            if row["task"] in own:
                message = "expected one row for each algorithm and task, found a second of "
                message += f"{name} on {row['task']}; select rows by a column, or keep it apart"
                raise origin.error_at([at], "task", message)
            own[row["task"]] = _summary(row, at, origin)
    return _on_shared_tasks(cells, origin)


def _summary(row: Mapping[str, str | None], at: int, origin: Origin) -> tuple[float, ...]:
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
    """Return the table of those tasks that all algorithms have, and say which ones are left out."""
    every = list(cells.values())
    names = list(dict.fromkeys(task for one in every for task in one))
    tasks = [task for task in names if all(task in one for one in every)]
    if not tasks:
        raise origin.error("expected tasks that all algorithms have; found none")
    if len(tasks) < len(names):
        left_out = [task for task in names if task not in tasks]
        shown = ", ".join(left_out[:8]) + (", ..." if len(left_out) > 8 else "")
        message = f"{len(left_out)} of {len(names)} tasks left out, not all have them: {shown}"
        warnings.warn(message, DegenerateScoresWarning, stacklevel=3)
    grid = np.array([[one[task] for task in tasks] for one in every])
    return SummaryTable(tuple(cells), tuple(tasks), grid[..., 0], grid[..., 1], grid[..., 2])
