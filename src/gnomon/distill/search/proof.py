"""Branch and bound: the best subset with proof, over common rows, non-negative weights.

Importing this module loads Numba.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from time import monotonic
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
from numba import njit

from gnomon.distill.preparation.preparation import PreparationOptions, prepare
from gnomon.distill.preparation.prepared import PreparedScores
from gnomon.distill.search.subset_kernels import KERNEL_OPTIONS, TOLERANCE, scaled
from gnomon.distill.work import Progress
from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.table import FloatArray, ScoreTable

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: Numbers that one call of the compiled loop may touch: some tenths of a second.
_BUDGET = 300_000_000


@dataclass(frozen=True)
class OptimalSubset(FieldRecord):
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

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as a mapping fit for JSON."""
        return super().as_record() | {"gap": self.gap, "certified": self.certified}


@dataclass(frozen=True, eq=False, repr=False)
class Optimal(Results[OptimalSubset]):
    """The best subset of a size, with its proof or the gap that remains.

    Parameters
    ----------
    n_tasks : int
        How many tasks it was chosen from.
    """

    n_tasks: int = field(kw_only=True)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is proved."""
        (best,) = self
        proof = "the best" if best.certified else f"at most {best.gap:.1%} from the best"
        size = self.settings["size"]
        return (f"{proof} {size} of the {self.n_tasks} tasks without gaps, in-sample",)


def optimal(
    scores: ScoreTable | PreparedScores,
    *,
    size: int = 5,
    candidates: Sequence[str] | None = None,
    any_sign: bool = False,
    time_limit_s: float = 60.0,
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Optimal:
    """Find the subset with the least in-sample error on common rows, and prove it.

    All candidates are compared on the rows that are complete for every one of them. A branch is cut
    where even all tasks that may still join would leave no less error (Furnival and Wilson 1974);
    that stays valid for non-negative weights, which can only leave more.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    size : int
        With non-negative weights, the subset may be smaller if no further task helps.
    candidates : sequence of str, optional
        The tasks without gaps, if not given.
    any_sign : bool
        Allow negative weights.
    time_limit_s : float
        Seconds until it stops; the gap is then what could still be gained.
    progress : function of (done, all), optional
        Told of the branches that are done; of the time that is up, if that is more.
    **preparation
        How a ScoreTable becomes a matrix, as :func:`gnomon.distill.prepare` takes it.

    Returns
    -------
    Optimal

    Raises
    ------
    ScoreDataError
        The size does not fit, or too few rows are complete.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(3, 1, (30, 1)) + rng.normal(0, 0.5, (30, 6))
    >>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    >>> (best,) = optimal(table, size=2, transform="identity")
    >>> best.tasks, best.certified
    (('task_3', 'task_4'), True)
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
    names = data.complete_tasks() if candidates is None else tuple(candidates)
    best = _optimal_subset(data, size, names, not any_sign, time_limit_s, progress)
    settings = {"size": size, "any_sign": any_sign, "time_limit_s": time_limit_s}
    return Optimal((best,), settings, tuple(notes), n_tasks=len(names))


def _optimal_subset(
    data: PreparedScores,
    size: int,
    names: Sequence[str],
    non_negative: bool,
    time_limit_s: float,
    progress: Progress | None,
) -> OptimalSubset:
    x = data.x[:, data.columns(names)]
    whole = ~np.isnan(x).any(axis=1) & ~np.isnan(data.target)
    if not 0 < size <= len(names):
        raise ScoreDataError(f"expected a size from 1 to {len(names)}, found {size}")
    if whole.sum() <= size:
        raise ScoreDataError(f"expected more than {size} complete rows, found {whole.sum()}")
    began = monotonic()
    order = _by_importance(x[whole], data.target[whole])
    gram = _gram(x[whole][:, order], data.target[whole])
    picks: I64 = np.array([], dtype=np.int64)
    best, open_bound = float(gram[-1, -1]), np.inf
    # A non-negative optimum may have fewer tasks, so smaller sizes are searched as well.
    sizes = range(1 if non_negative else size, size + 1)
    course = _Course(began, time_limit_s, sum(len(_roots(len(names), k)) for k in sizes), progress)
    for k in sizes:
        best, found, left = _search(gram, k, non_negative, best, course)
        picks = picks if found is None else found
        open_bound = min(open_bound, left)
    n = int(whole.sum())
    tasks = tuple(sorted(names[order[i]] for i in picks))
    # Once more, so that the last bit does not depend on the branch in which the subset was found.
    least = float(_rest(gram, picks)[-1, -1])
    return OptimalSubset(tasks, least / n, min(least, open_bound) / n, n)


@dataclass
class _Course:
    """How far a search has come, in branches or in time, whichever is more."""

    began: float
    limit_s: float
    n_branches: int
    progress: Progress | None
    n_done: int = 0

    @property
    def is_over(self) -> bool:
        """Whether time is up."""
        return monotonic() - self.began > self.limit_s

    def tell(self) -> None:
        """Tell how far it is."""
        if self.progress is not None:
            share = (monotonic() - self.began) / self.limit_s if self.limit_s else 1.0
            done = max(self.n_done, int(min(share, 1.0) * self.n_branches))
            self.progress(done, self.n_branches)


def _roots(n: int, size: int) -> list[tuple[int, ...]]:
    """Return the first two tasks of all subsets of a size: the branches of the search."""
    depth = min(2, size - 1)
    return list(combinations(range(n - size + depth), depth))


def _search(
    gram: FloatArray, size: int, positive: bool, best: float, course: _Course
) -> tuple[float, I64 | None, float]:
    """Return the least error, its tasks if it is new, and the least bound of what is left open."""
    n = len(gram) - 1
    chosen = np.full(size, -1, dtype=np.int64)
    left = np.inf
    for branch in _roots(n, size):
        pending = [branch]
        while pending and not course.is_over:
            root = pending.pop()
            roots = np.array(root, dtype=np.int64)
            budget = _BUDGET if size - len(root) > 2 else np.iinfo(np.int64).max
            rest = _rest(gram, root)
            best, whole = branch_and_bound(rest, gram, roots, positive, best, budget, chosen)
            if not whole:  # A longer branch is cut into smaller ones, so that the clock is heard.
                following = range(root[-1] + 1 if root else 0, n - (size - len(root)) + 1)
                pending += [(*root, p) for p in reversed(following)]
            course.tell()
        if pending:
            # Branches come in order: what is open starts at the first task of this one.
            left = _residual(gram, range(branch[0] if branch else 0, n))
            break
        course.n_done += 1
        course.tell()
    return best, (chosen if chosen[0] >= 0 else None), left


def _rest(gram: FloatArray, roots: Iterable[int]) -> FloatArray:
    """Return the products of the residuals of all columns on some of them."""
    rest = gram.copy()
    for p in roots:
        rest = _without(rest, p)
    return rest


def _without(gram: FloatArray, p: int) -> FloatArray:
    """Return the products of the residuals of all columns on one of them."""
    return np.asarray(gram - np.outer(gram[p], gram[p]) / max(gram[p, p], TOLERANCE))


def _by_importance(x: FloatArray, y: FloatArray) -> list[int]:
    """Return the columns in the order in which a forward selection takes them."""
    rest = _gram(x, y)
    chosen: list[int] = []
    left = list(range(x.shape[1]))
    while left:
        gain = rest[left, -1] ** 2 / np.maximum(rest[left, left], TOLERANCE)
        chosen.append(left.pop(int(np.argmax(gain))))
        rest = _without(rest, chosen[-1])
    return chosen


def _residual(gram: FloatArray, columns: Sequence[int]) -> float:
    index = np.asarray(list(columns), dtype=np.int64)
    inside, cross = gram[np.ix_(index, index)], gram[index, -1]
    w = np.linalg.lstsq(inside, cross, rcond=None)[0]
    return float(gram[-1, -1] - cross @ w)


def _gram(x: FloatArray, y: FloatArray) -> FloatArray:
    unit = scaled(np.column_stack([x, y]))
    return np.ascontiguousarray(unit.T @ unit)


#: A bound is worth its cube of tasks only where many subsets hang on it.
_LEAST_MISSING = 3


@njit(**KERNEL_OPTIONS)
def branch_and_bound(
    rest: F64, gram: F64, roots: I64, positive: bool, best: float, budget: int, picks: I64
) -> tuple[float, bool]:
    """Improve on `best` among the subsets that hold `roots` and tasks after the last of them.

    gram is (tasks + 1, tasks + 1), the target last, columns of length one; `rest` holds the
    products of the residuals of all columns on the roots. A node is left out if even all tasks that
    may still join leave no less than `best`. With `positive`, only subsets whose weights are all
    positive count. Returns the least residual sum of squares, and whether all were searched before
    the budget (of numbers touched) was spent; the tasks go to `picks`, which stays as it is if
    nothing is better.
    """
    n, size = gram.shape[0] - 1, picks.size
    w, n_roots = n + 1, roots.size
    depth = size - n_roots
    a = np.empty((depth, w, w))
    scratch = np.empty((w, w))
    chosen = np.empty(size, np.int64)
    inside = np.empty((size, size))
    slope = np.empty(size)
    at = np.empty(depth, np.int64)
    a[0] = rest
    for i in range(n_roots):
        chosen[i] = roots[i]
    level, spent = 0, 0
    at[0] = roots[n_roots - 1] if n_roots > 0 else -1
    while level >= 0:
        if spent > budget:
            return best, False
        missing = depth - level
        at[level] += 1
        p = at[level]
        if p > n - missing:
            level -= 1
            continue
        if missing > 1:
            chosen[n_roots + level] = p
            pivot = max(a[level, p, p], TOLERANCE)
            spent += (w - p) * (w - p)
            for i in range(p + 1, w):
                li = a[level, p, i] / pivot
                for j in range(i, w):
                    a[level + 1, i, j] = a[level, i, j] - li * a[level, p, j]
            if missing > _LEAST_MISSING:
                # What all later tasks together would leave.
                spent += (w - p) * (w - p) * (w - p)
                for i in range(p + 1, w):
                    for j in range(i, w):
                        scratch[i, j] = a[level + 1, i, j]
                for i in range(p + 1, n):
                    inverse = 1.0 / max(scratch[i, i], TOLERANCE)
                    for j in range(i + 1, w):
                        lj = scratch[i, j] * inverse
                        for m in range(j, w):
                            scratch[j, m] -= lj * scratch[i, m]
                if scratch[n, n] >= best:
                    continue
            level += 1
            at[level] = p
            continue
        # The last task: all that are left, at once.
        level -= 1
        for d in range(p, n):
            value = a[depth - 1, n, n] - a[depth - 1, d, n] ** 2 / max(
                a[depth - 1, d, d], TOLERANCE
            )
            if value >= best:
                continue
            chosen[size - 1] = d
            fits = True
            if positive:
                for i in range(size):
                    for j in range(i + 1):
                        s = gram[chosen[j], chosen[i]]
                        for m in range(j):
                            s -= inside[i, m] * inside[j, m]
                        inside[i, j] = s / inside[j, j] if i > j else np.sqrt(max(s, TOLERANCE))
                    s = gram[chosen[i], n]
                    for m in range(i):
                        s -= inside[i, m] * slope[m]
                    slope[i] = s / inside[i, i]
                for i in range(size - 1, -1, -1):
                    for m in range(i + 1, size):
                        slope[i] -= inside[m, i] * slope[m]
                    slope[i] /= inside[i, i]
                    fits = fits and slope[i] > 0.0
            if fits:
                best = value
                for i in range(size):
                    picks[i] = chosen[i]
    return best, True
