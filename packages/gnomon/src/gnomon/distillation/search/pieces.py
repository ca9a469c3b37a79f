"""A search cut into pieces of work that any process can do, and the best subsets of a piece."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, comb
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from gnomon.distillation.search.plan import Criterion, RowSet, RowSets, SearchPlan, Steps
from gnomon.scores.table import FloatArray

if TYPE_CHECKING:
    from gnomon.distillation.search.subset_kernels import Where

#: Subsets in one piece of work: a fraction of a second, so that Ctrl-C is heard.
_PIECE: dict[Criterion, int] = {"cv": 2_000_000, "in_sample": 20_000_000, "bound": 20_000_000}
PIECE_BY_ROWS = 50_000
#: Bytes of products by fold above which rows are gone through instead.
_MOST_BYTES = 1_000_000_000


@dataclass(frozen=True, eq=False)
class PrefixPiece:
    """The subsets of one set of rows that begin with a prefix; the next lies in [first, last).

    Prefix, first and last are places among the members of the set of rows.
    """

    plan: SearchPlan
    steps: Steps
    rows: RowSet
    criterion: Criterion
    n_best: int
    limit: float
    prefix: tuple[int, ...]
    first: int
    last: int
    n_subsets: int


@dataclass(frozen=True, eq=False)
class RowsPiece:
    """The subsets with these numbers, each judged on rows of its own."""

    plan: SearchPlan
    start: int
    stop: int

    @property
    def n_subsets(self) -> int:
        """How many there are."""
        return self.stop - self.start

    @property
    def columns(self) -> npt.NDArray[np.int64]:
        """The subsets, forced tasks first."""
        plan = self.plan
        picks = subsets_between(plan.free.size, plan.n_free, self.start, self.stop)
        forced = np.broadcast_to(plan.forced, (len(picks), plan.forced.size))
        return np.hstack([forced, plan.free[picks]])


@dataclass(frozen=True, eq=False)
class ListPiece:
    """A list of subsets, each judged on rows of its own."""

    plan: SearchPlan
    columns: npt.NDArray[np.int64]

    @property
    def n_subsets(self) -> int:
        """How many there are."""
        return len(self.columns)


Piece: TypeAlias = PrefixPiece | RowsPiece | ListPiece


def pieces_of(plan: SearchPlan) -> Iterator[Piece]:
    """Yield the search cut into pieces: by set of rows, and by the first task."""
    if plan.sets is None or (plan.criterion == "cv" and _products_bytes(plan) > _MOST_BYTES):
        for start in range(0, plan.n_subsets, PIECE_BY_ROWS):
            yield RowsPiece(plan, start, min(start + PIECE_BY_ROWS, plan.n_subsets))
        return
    for rows in plan.sets.sets:
        yield from prefix_pieces(plan, plan.sets, rows, plan.criterion, plan.n_best, np.inf)


def prefix_pieces(
    plan: SearchPlan, sets: RowSets, rows: RowSet, criterion: Criterion, n_best: int, limit: float
) -> Iterator[PrefixPiece]:
    """Yield the pieces of one set of rows; only errors below the limit are looked for."""
    n = rows.members.size
    if rows.rows.size < plan.least_rows or n < plan.n_free:
        return
    steps = sets.towards(rows)
    if steps.needed[0, steps.start] > plan.n_free:
        return
    for cut in _cuts(n, plan.n_free, (), _PIECE[criterion]):
        yield PrefixPiece(plan, steps, rows, criterion, n_best, limit, *cut)


def _cuts(
    n: int, size: int, prefix: tuple[int, ...], most: int
) -> Iterator[tuple[tuple[int, ...], int, int, int]]:
    """Yield prefixes, what follows them, and how many subsets of `size` of `n` members these are.

    None has more than `most` subsets, but where a prefix would leave less than two to choose.
    """
    n_left = size - len(prefix)
    first = last = prefix[-1] + 1 if prefix else 0
    n_subsets = 0
    while last <= n - n_left:
        more = comb(n - last - 1, n_left - 1)
        if n_subsets and n_subsets + more > most:
            yield prefix, first, last, n_subsets
            first, n_subsets = last, 0
        last += 1
        if more > most and n_left > 2:
            yield from _cuts(n, size, (*prefix, first), most)
            first = last
        else:
            n_subsets += more
    if n_subsets:
        yield prefix, first, last, n_subsets


def search_piece(piece: Piece) -> Part:
    """Return the best subsets of a piece: errors and columns."""
    plan = piece.plan
    if not isinstance(piece, PrefixPiece):
        from gnomon.distillation.search.row_errors import errors_of

        columns, best = piece.columns, BestSubsets(plan.n_best)
        both = errors_of(plan.data.x, plan.data.target, columns, plan.folds)
        best.add((both[:, 0 if plan.criterion == "cv" else 1], columns))
        return best.found()
    rows, begun = piece.rows, list(piece.prefix)
    after = begun[-1] + 1 if begun else 0
    columns, steps = plan.free[rows.members], piece.steps
    held, members = np.concatenate([plan.forced, columns[begun]]), columns[after:]
    z = np.column_stack([plan.data.x[rows.rows][:, held], plan.data.x[rows.rows][:, members]])
    z = np.column_stack([z, plan.data.target[rows.rows]])
    start = steps.start
    for place in begun:
        start = int(steps.step[start, steps.classes[place]])
    n_free, gapped = plan.n_free - len(begun), max(rows.n_gapped - after, 0)
    needed = steps.needed[rows.n_gapped - gapped :]
    if needed[0, start] > n_free:
        return np.empty(0), np.empty((0, plan.size), dtype=np.int64)
    n_best = min(piece.n_best, comb(members.size, n_free))
    values, picks = np.empty(n_best), np.empty((n_best, n_free), dtype=np.int32)
    sets = steps.classes[after:], steps.step, needed, start, steps.goal, gapped
    where = (*sets, n_free, piece.first - after, piece.last - after, values, picks, 0)
    run = _fold_run if piece.criterion == "cv" else _gram_run
    count = run(piece, z, held.size, where)
    chosen = np.column_stack([np.tile(columns[begun], (count, 1)), members[picks[:count]]])
    forced = np.broadcast_to(plan.forced, (count, plan.forced.size))
    return values[:count], np.hstack([forced, np.sort(chosen, axis=1)])


def _fold_run(piece: PrefixPiece, z: FloatArray, n_held: int, where: Where) -> int:
    from gnomon.distillation.search.subset_kernels import (
        eliminated,
        fold_products,
        fold_search,
        n_lanes,
        scaled,
    )

    plan = piece.plan
    lanes = n_lanes(plan.folds.n_folds)
    fold = plan.folds.of(len(z))
    a, t = fold_products(scaled(z), fold, plan.folds.n_folds, lanes)
    for _ in range(n_held):
        a, t = eliminated(a, t)
    weights = np.zeros(lanes)
    weights[: plan.folds.n_folds] = 1.0 / (np.bincount(fold) * plan.folds.n_folds)
    return fold_search(lanes)(a, t * weights, where)


def _gram_run(piece: PrefixPiece, z: FloatArray, n_held: int, where: Where) -> int:
    from gnomon.distillation.search.subset_kernels import eliminated, gram_search, scaled

    unit = scaled(z)
    gram = (unit.T @ unit)[:, :, np.newaxis]
    for _ in range(n_held):
        gram, _ignored = eliminated(gram, gram)
    a = np.ascontiguousarray(gram[:, :, 0])
    n, k = len(z), piece.plan.folds.n_folds
    scale = 1.0 / (k * ceil(n / k)) if piece.criterion == "bound" else 1.0 / n
    return int(gram_search(a, a[-1, -1], scale, piece.limit, np.empty((0, 0, 0)), where))


def _products_bytes(plan: SearchPlan) -> float:
    """Return the memory that the products by fold of a plan take, at each depth of the search."""
    lanes = plan.folds.n_folds + 3
    return 16.0 * (max(plan.n_free - 1, 1) + 1) * (plan.free.size + 1) ** 2 * lanes


def subsets_between(n: int, size: int, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Return the subsets of 0 ... n - 1 with these numbers, in lexicographic order.

    Parameters
    ----------
    n, size : int
    start, stop : int
        From 0 to the number of subsets; less than 2 ** 63.

    Returns
    -------
    ndarray of int, shape (stop - start, size)

    Examples
    --------
    >>> subsets_between(4, 2, 2, 5).tolist()
    [[0, 3], [1, 2], [1, 3]]
    """
    number = np.arange(start, stop)
    subsets = np.empty((stop - start, size), dtype=np.int64)
    least = np.zeros(stop - start, dtype=np.int64)
    for i in range(size):
        # Of the subsets of what is missing, so many begin before each element.
        before = np.array([comb(n, size - i) - comb(n - c, size - i) for c in range(n + 1)])
        number = number + before[least]
        subsets[:, i] = np.searchsorted(before[: n - size + i + 1], number, side="right") - 1
        number = number - before[subsets[:, i]]
        least = subsets[:, i] + 1
    return subsets


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
