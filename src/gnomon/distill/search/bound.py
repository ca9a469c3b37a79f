"""Lower bound of the cross-validated error, which leaves few subsets to cross-validate.

The held-out residuals of a fold are (I - H)^-1 e with e those of the fit to all rows and
0 <= H < I, so the cross-validated error of a subset is at least its residual sum of squares over
k ceil(n / k), with k folds and n rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gnomon.distill.search.pieces import (
    PIECE_BY_ROWS,
    BestSubsets,
    ListPiece,
    Part,
    Piece,
    pieces_of,
    prefix_pieces,
    search_piece,
)
from gnomon.distill.search.plan import SearchPlan
from gnomon.distill.work import Progress

__all__ = ["bounded_pieces"]

#: How many subsets with the least bound set the threshold of the bounded search.
_SCOUTS = 300
#: More subsets than this below the threshold, and the bound saves nothing.
_MOST_SURVIVORS = 1 << 17


def bounded_pieces(plan: SearchPlan, progress: Progress | None = None) -> Iterator[Piece]:
    """Yield those subsets whose bound is below a threshold that the best ones set.

    Where the bound tells little (nearly as many tasks as rows), all subsets are yielded. Progress
    is told of the two searches for the least bounds.
    """
    from gnomon.distill.search.row_errors import errors_of

    scouts = _least_bounds(plan, _SCOUTS + plan.n_best, np.inf, progress)
    if scouts[0].size == 0:
        return
    columns = np.array(sorted(scouts[1].tolist()), dtype=np.int64)
    errors = errors_of(plan.data.x, plan.data.target, columns, plan.folds)[:, 0]
    kept = np.sort(errors[~np.isnan(errors)])
    threshold = kept[plan.n_best - 1] if kept.size >= plan.n_best else np.inf
    # Where a fit is perfect, bound and error are rounding alone.
    rounding = 1e-12 * float(np.nanmean(plan.data.target**2))
    limit = threshold * (1 + 1e-9) + rounding
    below = _least_bounds(plan, _MOST_SURVIVORS, limit, progress)
    if below[0].size >= min(_MOST_SURVIVORS, plan.n_subsets):
        yield from pieces_of(plan)
        return
    columns = np.array(sorted(below[1].tolist()), dtype=np.int64)
    for i in range(0, len(columns), PIECE_BY_ROWS):
        yield ListPiece(plan, columns[i : i + PIECE_BY_ROWS])


def _least_bounds(plan: SearchPlan, n_best: int, limit: float, progress: Progress | None) -> Part:
    """Return the least bounds below a limit, over all sets of rows; stop when there are enough."""
    assert plan.sets is not None
    done, best = 0, BestSubsets(n_best)
    for rows in plan.sets.sets:
        for piece in prefix_pieces(plan, plan.sets, rows, "bound", n_best, limit):
            part = search_piece(piece)
            best.add(part)
            done += piece.n_subsets
            if progress is not None:
                progress(min(done, plan.n_subsets), plan.n_subsets)
            if part[0].size >= n_best and np.isfinite(limit):
                return best.found()
    return best.found()
