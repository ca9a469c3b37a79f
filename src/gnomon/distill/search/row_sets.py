"""Which rows are complete for which subsets of tasks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["RowSet", "RowSets", "row_sets"]

I64 = npt.NDArray[np.int64]
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
