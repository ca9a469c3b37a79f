"""A search cut into pieces of work that any process can do, and what a piece finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, comb
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gnomon.distill.best_subsets import BestSubsets, Part
from gnomon.distill.combinations import subsets_between
from gnomon.distill.products import eliminated, fold_products, scaled
from gnomon.distill.row_errors import errors_of
from gnomon.distill.row_sets import RowSet, RowSets
from gnomon.distill.search_plan import Criterion, SearchPlan
from gnomon.scores.table import FloatArray

__all__ = ["ListPiece", "Piece", "PrefixPiece", "RowsPiece", "pieces_of", "search_piece"]

#: Subsets in one piece of work: a fraction of a second, so that Ctrl-C is heard.
_PIECE: dict[Criterion, int] = {"cv": 2_000_000, "in_sample": 20_000_000, "bound": 20_000_000}
PIECE_BY_ROWS = 50_000
#: Bytes of products by fold above which rows are gone through instead.
_MOST_BYTES = 1_000_000_000


@dataclass(frozen=True, eq=False)
class PrefixPiece:
    """The subsets of one set of rows whose first member lies in [first, last)."""

    plan: SearchPlan
    sets: RowSets
    rows: RowSet
    criterion: Criterion
    n_best: int
    limit: float
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
    first, most = 0, _PIECE[criterion]
    while first <= n - plan.n_free:
        # Subsets whose first member lies in [first, last), gathered up to a fair share.
        last, n_subsets = first, 0
        while last <= n - plan.n_free and (n_subsets == 0 or n_subsets < most):
            n_subsets += comb(n - last - 1, plan.n_free - 1)
            last += 1
        yield PrefixPiece(plan, sets, rows, criterion, n_best, limit, first, last, n_subsets)
        first = last


def search_piece(piece: Piece) -> Part:
    """Return the best subsets of a piece: errors and columns."""
    plan = piece.plan
    if not isinstance(piece, PrefixPiece):
        columns, best = piece.columns, BestSubsets(plan.n_best)
        both = errors_of(plan.data.x, plan.data.target, columns, plan.folds)
        best.add((both[:, 0 if plan.criterion == "cv" else 1], columns))
        return best.found()
    rows = piece.rows
    members = plan.free[rows.members]
    order = np.concatenate([plan.forced, members])
    z = np.column_stack([plan.data.x[rows.rows][:, order], plan.data.target[rows.rows]])
    n_best = min(piece.n_best, comb(members.size, plan.n_free))
    values, picks = np.empty(n_best), np.empty((n_best, plan.n_free), dtype=np.int32)
    where = (
        *(piece.sets.class_of[rows.members], piece.sets.step, piece.sets.start),
        *(rows.number, rows.n_gapped, plan.n_free, piece.first, piece.last, values, picks, 0),
    )
    count = _fold_run(piece, z, where) if piece.criterion == "cv" else _gram_run(piece, z, where)
    chosen = np.sort(members[picks[:count]], axis=1)
    forced = np.broadcast_to(plan.forced, (count, plan.forced.size))
    return values[:count], np.hstack([forced, chosen])


def _fold_run(piece: PrefixPiece, z: FloatArray, where: tuple[object, ...]) -> int:
    from gnomon.distill.fold_kernel import fold_search, n_lanes

    plan = piece.plan
    lanes = n_lanes(plan.folds.n_folds)
    fold = plan.folds.of(len(z))
    a, t = fold_products(scaled(z), fold, plan.folds.n_folds, lanes)
    for _ in range(plan.forced.size):
        a, t = eliminated(a, t)
    weights = np.zeros(lanes)
    weights[: plan.folds.n_folds] = 1.0 / (np.bincount(fold) * plan.folds.n_folds)
    tyy = np.ascontiguousarray(t[-1, -1])
    return fold_search(lanes)(a, t, tyy, weights, *where)


def _gram_run(piece: PrefixPiece, z: FloatArray, where: tuple[object, ...]) -> int:
    from gnomon.distill.gram_kernel import gram_search

    unit = scaled(z)
    gram = (unit.T @ unit)[:, :, np.newaxis]
    for _ in range(piece.plan.forced.size):
        gram, _ignored = eliminated(gram, gram)
    a = np.ascontiguousarray(gram[:, :, 0])
    n, k = len(z), piece.plan.folds.n_folds
    scale = 1.0 / (k * ceil(n / k)) if piece.criterion == "bound" else 1.0 / n
    return int(gram_search(a, a[-1, -1], scale, piece.limit, *where))


def _products_bytes(plan: SearchPlan) -> float:
    """Return the memory that the products by fold of a plan take, at each depth of the search."""
    lanes = plan.folds.n_folds + 3
    return 16.0 * (max(plan.n_free - 1, 1) + 1) * (plan.free.size + 1) ** 2 * lanes
