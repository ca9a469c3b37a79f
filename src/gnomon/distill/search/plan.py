"""What a search has before it: which columns, which sets of rows, how many subsets."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.distill.folds import Folds
from gnomon.distill.prepared import PreparedScores, check_target, check_tasks
from gnomon.distill.search.choices import free_tasks
from gnomon.distill.search.row_sets import RowSets, row_sets
from gnomon.errors import DegenerateScoresWarning, ScoreDataError

__all__ = ["Criterion", "SearchPlan"]

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
                f"found {n_rows}: too few to choose tasks by"
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
