"""Exhaustive search: which few of all subsets of a size have the least cross-validated error.

A lower bound of the error leaves few subsets to cross-validate: the held-out residuals of a
fold are (I - H)^-1 e with e those of the fit to all rows and 0 <= H < I, so the cross-validated
error of a subset is at least its residual sum of squares over k ceil(n / k), with k folds and n
rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.distillation.search.folds import Folds
from gnomon.distillation.search.pieces import (
    PIECE_BY_ROWS,
    BestSubsets,
    ListPiece,
    Part,
    Piece,
    pieces_of,
    prefix_pieces,
    search_piece,
)
from gnomon.distillation.search.plan import SearchPlan
from gnomon.distillation.work import Progress, completed
from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray


@dataclass(frozen=True, eq=False)
class Found:
    """The best subsets of a search, best first.

    Parameters
    ----------
    subsets : tuple of tuples of str
        Forced tasks first, then in the order of their names.
    errors : ndarray of float
        The criterion of each.
    n_subsets : int
        How many were searched.
    n_row_sets : int
        How many different sets of complete rows they have; 0 if nearly each has its own.
    """

    subsets: tuple[tuple[str, ...], ...]
    errors: FloatArray
    n_subsets: int
    n_row_sets: int


def expected_seconds(
    data: PreparedScores,
    size: int,
    *,
    forced: Sequence[str] = (),
    candidates: Sequence[str] | None = None,
    folds: Folds | None = None,
) -> tuple[int, float]:
    """Return how many subsets a search has before it, and about how long it takes on one core.

    Raises
    ------
    ScoreDataError, UnknownNameError
        As :func:`search_subsets`.
    """
    plan = SearchPlan.of(data, size, folds or Folds(), forced=forced, candidates=candidates)
    return plan.n_subsets, plan.expected_seconds


def search_subsets(
    data: PreparedScores,
    size: int,
    *,
    folds: Folds | None = None,
    criterion: Literal["cv", "in_sample"] = "cv",
    bounded: bool = False,
    n_best: int = 20,
    forced: Sequence[str] = (),
    candidates: Sequence[str] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Found:
    """Find the subsets of tasks whose linear model predicts the target best, among all of a size.

    The model has no intercept; each subset is judged on the rows that are complete for it. Its
    error is the mean over folds of the mean squared error of the fold, as in the Atari-5 paper.

    Parameters
    ----------
    data : PreparedScores
    size : int
        Number of tasks, forced ones included.
    folds : Folds, optional
        Ten, shuffled as the paper's code does, if not given.
    criterion : {"cv", "in_sample"}
        What to minimise: the cross-validated error, as the paper states, or the in-sample one, by
        which its code ranks.
    bounded : bool
        Cross-validate only those subsets whose lower bound SSE / (k ceil(n / k)) is below the
        error of the best: the same answer, in a fraction of the time.
    n_best : int
        How many to return.
    forced : sequence of str
        Tasks that every subset has.
    candidates : sequence of str, optional
        The tasks to choose from; all candidates of the data if not given.
    executor : Executor, optional
        Who does the pieces of work; this process if not given. The answer is the same.
    progress : function of (done, all), optional
        Told how many subsets are done.

    Returns
    -------
    Found

    Raises
    ------
    ScoreDataError
        There are fewer algorithms than folds, the size does not fit the suite, no subset has
        enough complete rows, or a worker was lost.
    UnknownNameError
        A task is not in the table.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.distillation.preparation.preparation import Preparation
    >>> from gnomon.scores.table import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.normal(size=(30, 1))
    >>> scores = {f"a{i:02}": [row] for i, row in enumerate(skill + rng.normal(size=(30, 6)))}
    >>> table = ScoreTable.from_arrays(scores, tasks=list("uvwxyz"))
    >>> data = Preparation(transform="identity", summary="mean").apply(table)
    >>> found = search_subsets(data, 2, n_best=1)
    >>> found.n_subsets, found.subsets[0]
    (15, ('y', 'z'))
    """
    plan = SearchPlan.of(
        data,
        size,
        folds or Folds(),
        criterion=criterion,
        n_best=n_best,
        forced=forced,
        candidates=candidates,
    )
    plan.warn_of_small_sets()
    pieces: Iterable[Piece] = pieces_of(plan)
    total = plan.n_subsets
    if bounded and criterion == "cv" and plan.sets is not None:
        pieces = list(_bounded_pieces(plan, progress))
        total = min(total, sum(piece.n_subsets for piece in pieces))
    done, best = 0, BestSubsets(n_best)
    for piece, part in completed(search_piece, pieces, "a piece of the search", executor):
        best.add(part)
        done += piece.n_subsets
        if progress is not None:
            progress(min(done, total), total)
    return _found(plan, best.found())


def _found(plan: SearchPlan, best: Part) -> Found:
    errors, columns = best
    if errors.size == 0:
        raise ScoreDataError(
            f"no subset of {plan.size} tasks has at least {plan.least_rows} algorithms with "
            f"scores on all of them; exclude tasks with many gaps, or use fewer folds"
        )
    tasks = plan.data.tasks
    subsets = tuple(tuple(tasks[i] for i in row) for row in columns)
    n_sets = 0 if plan.sets is None else len(plan.sets.sets)
    return Found(subsets, errors, plan.n_subsets, n_sets)


#: How many subsets with the least bound set the threshold of the bounded search.
_SCOUTS = 300
#: More subsets than this below the threshold, and the bound saves nothing.
_MOST_SURVIVORS = 1 << 17


def _bounded_pieces(plan: SearchPlan, progress: Progress | None = None) -> Iterator[Piece]:
    """Yield those subsets whose bound is below a threshold that the best ones set.

    Where the bound tells little (nearly as many tasks as rows), all subsets are yielded. Progress
    is told of the two searches for the least bounds.
    """
    from gnomon.distillation.search.row_errors import errors_of

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
