"""The plan of a search: tasks to choose from, sets of complete rows, the number of subsets."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.distillation.preparation.prepared import (
    PreparedScores,
    check_target,
    check_tasks,
    error_of_few,
)
from gnomon.distillation.search.folds import Folds
from gnomon.errors import DegenerateScoresWarning, ScoreDataError

I64 = npt.NDArray[np.int64]

#: What a search minimises: ``bound`` is what the cross-validated error cannot be less than.
Criterion = Literal["cv", "in_sample", "bound"]

#: Measured on one core at 2.6 GHz, ten folds, up to five tasks.
_GRAM_RATE = 1e7
_SECONDS_PER_ROW, _SECONDS_PER_SUBSET = 6e-9, 1e-6


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """What to search.

    Parameters
    ----------
    data : PreparedScores
    size : int
        Number of tasks, forced ones included.
    folds : Folds
    criterion : {"cv", "in_sample"}
    n_best : int
    forced, free : ndarray of int
        Columns that every subset has, and those to choose from.
    sets : RowSets, optional
        None if nearly every subset has complete rows of its own.
    """

    data: PreparedScores
    size: int
    folds: Folds
    criterion: Criterion
    n_best: int
    forced: I64
    free: I64
    sets: RowSets | None

    @classmethod
    def of(
        cls,
        data: PreparedScores,
        size: int,
        folds: Folds,
        *,
        criterion: Criterion = "cv",
        n_best: int = 1,
        forced: Sequence[str] = (),
        candidates: Sequence[str] | None = None,
    ) -> SearchPlan:
        """Return the plan of a search; errors as those of :func:`search_subsets`."""
        names = data.candidates if candidates is None else tuple(candidates)
        check_tasks(names, data.tasks)
        check_target(data)
        varying = _varying(data, sorted(set(names) - set(forced)))
        free = data.columns(free_tasks(varying, data.tasks, size, forced=forced))
        n_rows = int((~np.isnan(data.target)).sum())
        least = folds.least_rows(size)
        if n_rows < least:
            raise ScoreDataError(
                f"expected at least {least} algorithms for {folds.n_folds} folds and {size} tasks, "
                f"found {n_rows}: too few to choose tasks by; {error_of_few(n_rows)}"
            )
        held = data.columns(forced)
        usable = ~np.isnan(data.target) & ~np.isnan(data.x[:, held]).any(axis=1)
        n_free = size - len(forced)
        sets = row_sets(~np.isnan(data.x[:, free]), usable, n_free, comb(free.size, n_free))
        return cls(data, size, folds, criterion, n_best, held, free, sets)

    @property
    def n_free(self) -> int:
        """How many tasks are to be chosen."""
        return self.size - self.forced.size

    @property
    def n_subsets(self) -> int:
        """How many subsets there are."""
        return comb(self.free.size, self.n_free)

    @property
    def least_rows(self) -> int:
        """Complete rows that a subset needs to be judged."""
        return self.folds.least_rows(self.size)

    @property
    def expected_seconds(self) -> float:
        """About how long it takes on one core."""
        lanes = self.folds.n_folds / 10
        if self.sets is not None:
            return self.n_subsets * lanes / _GRAM_RATE
        each = len(self.data.algorithms) * _SECONDS_PER_ROW + _SECONDS_PER_SUBSET * lanes
        return self.n_subsets * each

    def warn_of_small_sets(self) -> None:
        """Warn if some subsets have too few complete rows to be judged."""
        sets = () if self.sets is None else self.sets.sets
        smallest = min((rows.rows.size for rows in sets), default=self.least_rows)
        if smallest < self.least_rows:
            text = (
                f"subsets with fewer than {self.least_rows} complete rows are left out "
                f"(some have {smallest})"
            )
            warnings.warn(text, DegenerateScoresWarning, stacklevel=3)


def _varying(data: PreparedScores, names: Sequence[str]) -> list[str]:
    """Return the tasks on which not all scores are the same; name the others in a warning."""
    varies = data.varies(names)
    if not varies.all():
        shown = ", ".join(n for n, v in zip(names, varies, strict=True) if not v)
        text = f"left out, all scores are the same: {shown}"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=4)
    return [name for name, v in zip(names, varies, strict=True) if v]


def free_tasks(
    candidates: Sequence[str], known: Sequence[str], size: int, *, forced: Sequence[str] = ()
) -> list[str]:
    """Return the candidates that are not forced, if so many tasks can be chosen.

    Parameters
    ----------
    candidates : sequence of str
    known : sequence of str
        All tasks of the table, candidates or not.
    size : int
        Number of tasks, forced ones included.
    forced : sequence of str
        Tasks that every subset has.

    Raises
    ------
    ScoreDataError
        A task is forced twice, or the size does not fit.
    UnknownNameError
        A forced task is not in the table.

    Examples
    --------
    >>> free_tasks(["u", "v", "w"], ["u", "v", "w", "x"], 2, forced=["v"])
    ['u', 'w']
    """
    check_tasks(forced, known)
    twice = next((task for task in forced if list(forced).count(task) > 1), None)
    if twice is not None:
        raise ScoreDataError(f"expected each forced task once; {twice} is forced twice")
    free = [task for task in candidates if task not in set(forced)]
    n = len(forced)
    if not free:
        raise ScoreDataError("expected tasks to choose from, whose scores differ; there are none")
    if not n < size <= n + len(free):
        raise ScoreDataError(
            f"expected a size from {n + 1} to {n + len(free)}, found {size}: "
            f"{len(free)} tasks to choose from and {n} forced"
        )
    return free


_MOST_ROW_SETS = 20_000


@dataclass(frozen=True, eq=False)
class RowSet:
    """One set of rows, and the tasks that have scores on all of them.

    Parameters
    ----------
    number : int
        Its place in the table of steps.
    rows : ndarray of int
    members : ndarray of int
        Columns; those that are missing elsewhere stand first.
    n_gapped : int
        How many of them are.
    """

    number: int
    rows: I64
    members: I64
    n_gapped: int


@dataclass(frozen=True, eq=False)
class RowSets:
    """All sets of rows that some subset is complete on.

    Parameters
    ----------
    sets : tuple of RowSet
    class_of : ndarray of int
        The class of each column: columns of a class have gaps in the same rows.
    step : ndarray of int, shape (sets, classes)
        The set that remains when a task of a class joins.
    start : int
        The set of the forced tasks alone.
    """

    sets: tuple[RowSet, ...]
    class_of: I64
    step: I64
    start: int

    def towards(self, rows: RowSet) -> Steps:
        """Return the steps from the forced tasks' set of rows that can lead to another."""
        classes = self.class_of[rows.members]
        gapped = classes[: rows.n_gapped]
        place = np.full(len(self.step) + 1, -1)
        n_inside, found, distinct = 0, np.array([self.start]), np.unique(gapped)
        inside = []
        while found.size:
            place[found] = np.arange(n_inside, n_inside + found.size)
            n_inside += found.size
            inside.append(found)
            after = self.step[found][:, distinct]
            found = np.unique(after[(place[after] < 0) & (after >= 0)])
        step = place[self.step[np.concatenate(inside)]]
        goal = int(place[rows.number])
        needed = np.full((rows.n_gapped + 1, n_inside + 1), n_inside + 1)
        needed[-1, goal] = 0
        for i in reversed(range(rows.n_gapped)):
            # The last column is of the sets that lead nowhere.
            needed[i] = needed[i + 1]
            needed[i, :-1] = np.minimum(needed[i, :-1], needed[i + 1, step[:, gapped[i]]] + 1)
        return Steps(classes, step, needed, int(place[self.start]), goal)


@dataclass(frozen=True, eq=False)
class Steps:
    """What joining tasks does to a set of rows, as far as it can lead to one of them, the goal.

    Parameters
    ----------
    classes : ndarray of int
        Of the members of the goal.
    step : ndarray of int, shape (sets, classes)
        The set that remains when a task of a class joins; -1 if it cannot lead to the goal.
    needed : ndarray of int, shape (tasks with gaps + 1, sets + 1)
        How many of the members from each place on lead from each set to the goal at the least.
    start, goal : int
    """

    classes: I64
    step: I64
    needed: I64
    start: int
    goal: int


def row_sets(
    present: npt.NDArray[np.bool_], usable: npt.NDArray[np.bool_], size: int, n_subsets: int
) -> RowSets | None:
    """Return the sets of rows of all subsets of a size, or None if hardly any two share one.

    Parameters
    ----------
    present : ndarray of bool, shape (rows, tasks)
        Where there is a score.
    usable : ndarray of bool, shape (rows,)
        Rows on which the target and the forced tasks have one.
    size : int
        Number of tasks to choose.
    n_subsets : int
        How many subsets there are.

    Examples
    --------
    >>> present = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1]], dtype=bool)
    >>> found = row_sets(present, np.ones(3, dtype=bool), 2, n_subsets=3)
    >>> [rows.rows.tolist() for rows in found.sets]
    [[0, 1, 2], [0, 2]]
    """
    start = _bits(usable)
    masks = [_bits(column) & start for column in present.T]
    classes = list(dict.fromkeys(masks))
    limit = min(_MOST_ROW_SETS, max(64, n_subsets // 500))
    known = _closure(start, [c for c in classes if c != start], size, limit)
    if known is None:
        return None
    number = {rows: i for i, rows in enumerate(known)}
    step = np.array([[number.get(s & c, -1) for c in classes] for s in known], dtype=np.int64)
    class_of = np.array([classes.index(mask) for mask in masks], dtype=np.int64)
    sets = tuple(_row_set(number[s], s, start, masks, len(usable)) for s in known)
    return RowSets(sets, class_of, step.reshape(len(known), len(classes)), number[start])


def _closure(start: int, classes: list[int], size: int, limit: int) -> list[int] | None:
    """Return every intersection of up to `size` classes, unless there are too many."""
    known = {start: None}
    newest = [start]
    for _ in range(size):
        found = dict.fromkeys(s & c for s in newest for c in classes)
        newest = [s for s in found if s not in known]
        known |= dict.fromkeys(newest)
        if len(known) > limit:
            return None
    return list(known)


def _row_set(number: int, rows: int, start: int, masks: list[int], n_rows: int) -> RowSet:
    inside = [i for i, mask in enumerate(masks) if mask & rows == rows]
    gapped = [i for i in inside if masks[i] != start]
    others = [i for i in inside if masks[i] == start]
    chosen = np.array([r for r in range(n_rows) if rows >> r & 1], dtype=np.int64)
    return RowSet(number, chosen, np.array(gapped + others, dtype=np.int64), len(gapped))


def _bits(mask: npt.NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")
