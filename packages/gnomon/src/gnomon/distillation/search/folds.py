"""Folds of a cross-validation: which row is held out with which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Folds:
    """Folds that depend on the number of rows alone, exactly as scikit-learn's shuffled ``KFold``.

    The Atari-5 paper's code makes them with the seed 1982 for the rows that a subset is complete
    on, so two subsets with equally many rows have the same folds.

    Parameters
    ----------
    n_folds : int
        At least 2.
    seed : int
        Of the shuffle.

    Examples
    --------
    >>> Folds(3, seed=0).of(7)
    array([1, 0, 0, 1, 2, 2, 0])
    """

    n_folds: int = 10
    seed: int = 1982

    def __post_init__(self) -> None:
        if self.n_folds < 2:
            raise ValueError(f"expected at least 2 folds, found {self.n_folds}")

    def of(self, n_rows: int) -> npt.NDArray[np.int64]:
        """Return the fold of each of so many rows, shape (rows,)."""
        return _folds_of(self.n_folds, self.seed, n_rows)

    def least_rows(self, n_tasks: int) -> int:
        """Return how many rows are needed to fit so many weights without any one fold.

        Examples
        --------
        >>> Folds(10).least_rows(3), Folds(2).least_rows(3)
        (10, 6)
        """
        n = max(self.n_folds, n_tasks + 1)
        while n - ceil(n / self.n_folds) < n_tasks:
            n += 1
        return n


@lru_cache(maxsize=4096)
def _folds_of(n_folds: int, seed: int, n_rows: int) -> npt.NDArray[np.int64]:
    """Return the folds, the same array each time."""
    # The legacy generator is what scikit-learn shuffles with: its bits are the published folds.
    order = np.random.RandomState(seed).permutation(n_rows)
    fold = np.empty(n_rows, dtype=np.int64)
    sizes = np.full(n_folds, n_rows // n_folds)
    sizes[: n_rows % n_folds] += 1
    fold[order] = np.repeat(np.arange(n_folds), sizes)
    fold.flags.writeable = False
    return fold
