"""Cells of a score table: its rows by algorithm and task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from gnomon.errors import ScoreDataError

_Counts = npt.NDArray[np.int64]
_Scores = npt.NDArray[np.float64]


class Cells:
    """The rows of a table, found by algorithm and task without looking at the others.

    Parameters
    ----------
    frame : polars.DataFrame
        With columns ``algorithm`` and ``task``.
    algorithms, tasks : sequence of str
        All names of these columns.

    Examples
    --------
    >>> frame = pl.DataFrame({"algorithm": ["a", "b", "a"], "task": ["t"] * 3, "run": [0, 0, 1]})
    >>> cells = Cells(frame, ["a", "b"], ["t"])
    >>> cells.column("run", "a", "t").to_list()
    [0, 1]
    """

    def __init__(
        self, frame: pl.DataFrame, algorithms: Sequence[str], tasks: Sequence[str]
    ) -> None:
        self._rows = {name: i for i, name in enumerate(algorithms)}
        self._columns = {name: i for i, name in enumerate(tasks)}
        place = places(frame["algorithm"], algorithms) * len(tasks)
        place += places(frame["task"], tasks)
        n_cells = len(algorithms) * len(tasks)
        starts = np.cumsum(np.bincount(place, minlength=n_cells))
        self._starts = np.concatenate([[0], starts])
        rest = frame.drop("algorithm", "task")
        if (place[1:] < place[:-1]).any():
            order = np.argsort(place, kind="stable")
            del place
            rest = rest.select(pl.all().gather(pl.Series(order, dtype=pl.get_index_type())))
        self._frame = rest.rechunk()
        self._numbers: dict[str, npt.NDArray[np.float64]] = {}

    def __contains__(self, cell: tuple[str, str]) -> bool:
        """Tell whether there is a row of that algorithm and task."""
        return self._slice(*cell)[1] > 0

    def column(self, name: str, algorithm: str, task: str) -> pl.Series:
        """Return a column of the rows of a cell, in the order of the table."""
        return self._frame[name].slice(*self._slice(algorithm, task))

    def curves(self, algorithm: str, task: str) -> tuple[_Scores, _Scores]:
        """Return steps, ascending, and the scores of a cell's runs, shape (runs, steps)."""
        run, step, score = (self.column(name, algorithm, task) for name in ("run", "step", "score"))
        steps, at = np.unique(step.cast(pl.Float64).to_numpy(), return_inverse=True)
        place: dict[Any, int] = {}
        rows = [place.setdefault(label, len(place)) for label in run.to_list()]
        curves = np.full((len(place), steps.size), np.nan)
        curves[rows, at] = score.to_numpy()
        return steps, curves

    def numbers(self, name: str, algorithm: str, task: str) -> npt.NDArray[np.float64]:
        """Return the same of a column of numbers, as an array."""
        begin, n = self._slice(algorithm, task)
        return self._array(name)[begin : begin + n].copy()

    def strata(
        self, name: str, algorithm: str, tasks: Sequence[str]
    ) -> tuple[npt.NDArray[np.float64], _Counts]:
        """Return a column of numbers on some tasks, one after the other, and how many each has."""
        cells = np.array([self._columns[task] for task in tasks], np.int64)
        cells += self._rows[algorithm] * len(self._columns)
        begins, counts = self._starts[cells], self._starts[cells + 1] - self._starts[cells]
        ends = np.cumsum(counts)
        rows = np.repeat(begins + counts - ends, counts) + np.arange(ends[-1])
        return self._array(name)[rows], counts

    def _array(self, name: str) -> npt.NDArray[np.float64]:
        if name not in self._numbers:
            self._numbers[name] = self._frame[name].to_numpy()
        return self._numbers[name]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of rows of each cell, shape (algorithms, tasks)."""
        return np.diff(self._starts).reshape(len(self._rows), len(self._columns))

    def _slice(self, algorithm: str, task: str) -> tuple[int, int]:
        """Return where the rows of a cell begin, and how many they are; none of other names."""
        if algorithm not in self._rows or task not in self._columns:
            return 0, 0
        cell = self._rows[algorithm] * len(self._columns) + self._columns[task]
        begin, end = self._starts[cell : cell + 2]
        return int(begin), int(end - begin)


def places(column: pl.Series, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the place of each value of a column among some names that hold them all."""
    # Numbers of a small table of names, since text is compared slowly.
    numbers = pl.Series("place", range(len(names)), pl.Int64)
    codes = pl.DataFrame([pl.Series("name", names, pl.String), numbers])
    found = column.to_frame("name").join(codes, on="name", how="left", maintain_order="left")
    return found["place"].to_numpy().copy()


def refuse_steps(n_steps: int) -> None:
    """Refuse a table with several steps of each run."""
    if n_steps > 1:
        take = "last_step(), at_step(...) or gnomon.scores.at_common_step"
        raise ScoreDataError(f"{n_steps} steps of each run; expected one: take {take}")


def rows_at_last_step(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows at the last step of each run, without the column."""
    latest = pl.col("step").max().over("algorithm", "task", "run")
    return frame.filter(pl.col("step") == latest).drop("step")


def rows_at_step(frame: pl.DataFrame, step: float) -> pl.DataFrame:
    """Return the rows at one step, without the column; an error if there are none."""
    if "step" not in frame.columns:
        raise ScoreDataError("expected a column 'step' to select by; found none")
    rows = frame.filter(pl.col("step") == step)
    if rows.is_empty():
        steps = ", ".join(f"{s:g}" for s in frame["step"].unique().sort().to_list()[:12])
        raise ScoreDataError(f"no row is at step {step:g}; found {steps}")
    return rows.drop("step")
