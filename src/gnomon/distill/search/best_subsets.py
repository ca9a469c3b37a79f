"""The best of many subsets, gathered part by part in little memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

__all__ = ["BestSubsets", "Part"]

#: Errors, and the columns of the subset that has each.
Part = tuple[FloatArray, npt.NDArray[np.int64]]


class BestSubsets:
    """Keeps the subsets with the least errors.

    Parameters
    ----------
    n_best : int
        How many to keep.

    Examples
    --------
    >>> best = BestSubsets(2)
    >>> best.add((np.array([0.3, np.nan, 0.1]), np.array([[0, 1], [0, 2], [1, 2]])))
    >>> best.add((np.array([0.2]), np.array([[2, 3]])))
    >>> best.found()[1].tolist()
    [[1, 2], [2, 3]]
    """

    def __init__(self, n_best: int) -> None:
        self._n_best = n_best
        self._parts: list[Part] = []

    def add(self, part: Part) -> None:
        """Add what a piece of a search found; an error of NaN counts for nothing."""
        if part[0].size:
            self._parts.append(part)
        if sum(errors.size for errors, _ in self._parts) > 4 * self._n_best:
            self._parts = [self.found()]

    def found(self) -> Part:
        """Return the least errors in order, ties by the columns, and the columns."""
        if not self._parts:
            return np.empty(0), np.empty((0, 0), dtype=np.int64)
        errors = np.concatenate([errors for errors, _ in self._parts])
        columns = np.concatenate([columns for _, columns in self._parts]).astype(np.int64)
        usable = ~np.isnan(errors)
        errors, columns = errors[usable], columns[usable]
        if errors.size > self._n_best:
            near = errors <= np.partition(errors, self._n_best - 1)[self._n_best - 1]
            errors, columns = errors[near], columns[near]
        order = np.lexsort((*columns.T[::-1], errors))[: self._n_best]
        return errors[order], columns[order]
