"""The best subset with proof: branch and bound over common rows, non-negative weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from time import monotonic

import numpy as np
import numpy.typing as npt

from gnomon.distill.prepared import PreparedScores
from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

I64 = npt.NDArray[np.int64]

__all__ = ["OptimalSubset", "optimal_subset"]


@dataclass(frozen=True)
class OptimalSubset:
    """The subset with the least in-sample error, and what is proved of it.

    Parameters
    ----------
    tasks : tuple of str
    mse : float
        In-sample mean squared error, without intercept.
    lower_bound : float
        No subset of this size has less; equal to `mse` if the search came to its end.
    n_rows : int
    """

    tasks: tuple[str, ...]
    mse: float
    lower_bound: float
    n_rows: int

    @property
    def certified(self) -> bool:
        """Whether it is proved to be the best."""
        return self.lower_bound >= self.mse

    @property
    def gap(self) -> float:
        """How much better another could be, as a share of the error."""
        return 0.0 if self.mse == 0 else 1.0 - self.lower_bound / self.mse


def optimal_subset(
    data: PreparedScores,
    size: int,
    *,
    candidates: Sequence[str] | None = None,
    non_negative: bool = True,
    time_limit_s: float = float("inf"),
) -> OptimalSubset:
    """Find the subset with the least in-sample error on common rows, and prove it.

    All candidates are compared on the rows that are complete for every one of them. A branch is cut
    where even all tasks that may still join would leave no less error (Furnival and Wilson 1974);
    that stays valid for non-negative weights, which can only leave more.

    Parameters
    ----------
    data : PreparedScores
    size : int
        With non-negative weights, the subset may be smaller if no further task helps.
    candidates : sequence of str, optional
        The tasks without gaps, if not given.
    non_negative : bool
        Only subsets whose weights are all positive.
    time_limit_s : float
        When to stop; the gap is then what could still be gained.

    Returns
    -------
    OptimalSubset

    Raises
    ------
    ScoreDataError
        The size does not fit, or too few rows are complete.
    """
    names = data.complete_tasks() if candidates is None else tuple(candidates)
    x = data.x[:, data.columns(names)]
    whole = ~np.isnan(x).any(axis=1) & ~np.isnan(data.target)
    if not 0 < size <= len(names):
        raise ScoreDataError(f"expected a size from 1 to {len(names)}, found {size}")
    if whole.sum() <= size:
        raise ScoreDataError(f"expected more than {size} complete rows, found {whole.sum()}")
    order = _by_importance(x[whole], data.target[whole])
    gram = _gram(x[whole][:, order], data.target[whole])
    deadline = monotonic() + time_limit_s
    picks: I64 = np.array([], dtype=np.int64)
    best, open_bound = float(gram[-1, -1]), np.inf
    # A non-negative optimum may have fewer tasks, so smaller sizes are searched as well.
    for k in range(1 if non_negative else size, size + 1):
        best, found, left = _search(gram, k, non_negative, best, deadline)
        picks = picks if found is None else found
        open_bound = min(open_bound, left)
    n = int(whole.sum())
    tasks = tuple(sorted(names[order[i]] for i in picks))
    return OptimalSubset(tasks, best / n, min(best, open_bound) / n, n)


def _search(
    gram: FloatArray, size: int, positive: bool, best: float, deadline: float
) -> tuple[float, I64 | None, float]:
    """Return the least error, its tasks if it is new, and the least bound of what is left open."""
    from gnomon.distill.bound_kernel import branch_and_bound

    n = len(gram) - 1
    depth = min(2, size - 1)
    chosen = np.full(size, -1, dtype=np.int64)
    left = np.inf
    for root in combinations(range(n - size + depth), depth):
        if monotonic() > deadline:
            # Roots come in order: what is open starts at the first task of this one.
            left = _residual(gram, range(root[0] if root else 0, n))
            break
        roots = np.array(root, dtype=np.int64)
        best = branch_and_bound(_rest(gram, root), gram, roots, positive, best, chosen)
    return best, (chosen if chosen[0] >= 0 else None), left


def _rest(gram: FloatArray, roots: tuple[int, ...]) -> FloatArray:
    """Return the products of the residuals of all columns on some of them."""
    rest = gram.copy()
    for p in roots:
        rest -= np.outer(rest[p], rest[p]) / max(rest[p, p], 1e-11)
    return rest


def _by_importance(x: FloatArray, y: FloatArray) -> list[int]:
    """Return the columns in the order in which a forward selection takes them."""
    gram = _gram(x, y)
    chosen: list[int] = []
    while len(chosen) < x.shape[1]:
        rest = [j for j in range(x.shape[1]) if j not in chosen]
        if len(chosen) + 1 >= len(x):
            return chosen + rest
        chosen.append(min(rest, key=lambda j: _residual(gram, [*chosen, j])))
    return chosen


def _residual(gram: FloatArray, columns: Sequence[int]) -> float:
    index = np.asarray(list(columns), dtype=np.int64)
    inside, cross = gram[np.ix_(index, index)], gram[index, -1]
    w = np.linalg.lstsq(inside, cross, rcond=None)[0]
    return float(gram[-1, -1] - cross @ w)


def _gram(x: FloatArray, y: FloatArray) -> FloatArray:
    length = np.sqrt((x * x).sum(axis=0))
    z = np.column_stack([x / np.where(length > 0, length, 1.0), y])
    return np.ascontiguousarray(z.T @ z)
