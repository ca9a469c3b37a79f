"""Every subset of a size: which few have the least cross-validated error."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, combinations, islice
from math import ceil, comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.distill.folds import Folds
from gnomon.distill.preparation import PreparedScores, check_tasks
from gnomon.distill.row_sets import RowSet, RowSets, row_sets
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.execution.executor import Executor
from gnomon.execution.serial import SerialExecutor
from gnomon.scores.table import FloatArray

__all__ = [
    "Found",
    "Progress",
    "count_subsets",
    "expected_seconds",
    "search_subsets",
    "subset_errors",
]

I64 = npt.NDArray[np.int64]
Criterion = Literal["cv", "in_sample"]
#: Called with the number of subsets done, and of all.
Progress = Callable[[int, int], object]

#: Subsets in one piece of work: a fraction of a second, so that Ctrl-C is heard.
_PIECE = 20_000_000
_PIECE_BY_ROWS = 50_000
#: Measured on one core at 2.6 GHz, ten folds, up to five tasks.
_GRAM_RATE = 1e7
_SECONDS_PER_ROW, _SECONDS_PER_SUBSET = 6e-9, 1e-6
#: How many subsets with the least bound set the threshold of the bounded search.
_SCOUTS = 300


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


def count_subsets(data: PreparedScores, size: int, *, forced: Sequence[str] = ()) -> int:
    """Return how many subsets of a size there are: what a search has before it."""
    free = [task for task in data.candidates if task not in forced]
    return comb(len(free), size - len(forced))


def expected_seconds(
    data: PreparedScores, size: int, *, forced: Sequence[str] = (), folds: Folds | None = None
) -> tuple[int, float]:
    """Return how many subsets a search has before it, and about how long it takes on one core.

    Raises
    ------
    ScoreDataError, UnknownNameError
        As :func:`search_subsets`.
    """
    plan = _Plan.of(data, size, folds or Folds(), "cv", 1, forced, None)
    lanes = plan.folds.n_folds / 10
    if plan.sets is not None:
        return plan.n_subsets, plan.n_subsets * lanes / _GRAM_RATE
    each = len(data.algorithms) * _SECONDS_PER_ROW + _SECONDS_PER_SUBSET * lanes
    return plan.n_subsets, plan.n_subsets * each


def search_subsets(
    data: PreparedScores,
    size: int,
    *,
    folds: Folds | None = None,
    criterion: Criterion = "cv",
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
        There are fewer algorithms than folds, the size does not fit the suite, or no subset has
        enough complete rows.
    UnknownNameError
        A task is not in the table.

    Examples
    --------
    >>> from gnomon.distill.preparation import Preparation
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
    folds = folds or Folds()
    plan = _Plan.of(data, size, folds, criterion, n_best, forced, candidates)
    plan.warn_of_small_sets()
    if bounded and criterion == "cv" and plan.sets is not None:
        pieces: Iterator[_Piece | _RowsPiece] = plan.bounded_pieces()
    else:
        pieces = plan.pieces()
    done, parts = 0, []
    for outcome in (executor or SerialExecutor()).map(_search_piece, pieces):
        if outcome.result is None:
            raise RuntimeError(f"a piece of the search failed: {outcome.error}")
        parts.append(outcome.result)
        done += outcome.piece.n_subsets
        if progress is not None:
            progress(min(done, plan.n_subsets), plan.n_subsets)
    return plan.found(parts)


def subset_errors(
    data: PreparedScores, subsets: Sequence[Sequence[str]], *, folds: Folds | None = None
) -> FloatArray:
    """Return the cross-validated and the in-sample error of some subsets, all of one size.

    Returns
    -------
    ndarray of float, shape (subsets, 2)
        NaN where there are fewer complete rows than folds, or than tasks.

    Raises
    ------
    UnknownNameError
        A task is not in the table.
    """
    columns = np.array([data.columns(tasks) for tasks in subsets], dtype=np.int64)
    return _errors_of(data.x, data.target, columns, folds or Folds())


Part = tuple[FloatArray, I64]


@dataclass(frozen=True, eq=False)
class _Plan:
    """What to search: the columns, and the sets of rows."""

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
        criterion: Criterion,
        n_best: int,
        forced: Sequence[str],
        candidates: Sequence[str] | None,
    ) -> _Plan:
        names = data.candidates if candidates is None else tuple(candidates)
        check_tasks(names, data.tasks)
        free = data.columns(_varying(data, sorted(set(names) - set(forced))))
        n_forced = len(forced)
        n_rows = int((~np.isnan(data.target)).sum())
        if n_rows < max(folds.n_folds, size + 1):
            raise ScoreDataError(
                f"expected at least {max(folds.n_folds, size + 1)} algorithms for {folds.n_folds} "
                f"folds and {size} tasks, found {n_rows}: too few to choose tasks by"
            )
        if not n_forced < size <= n_forced + free.size:
            raise ScoreDataError(
                f"expected a size from {n_forced + 1} to {n_forced + free.size}, found {size}: "
                f"{free.size} tasks to choose from and {n_forced} forced"
            )
        held = data.columns(forced)
        usable = ~np.isnan(data.target) & ~np.isnan(data.x[:, held]).any(axis=1)
        n_free = size - n_forced
        sets = row_sets(~np.isnan(data.x[:, free]), usable, n_free, comb(free.size, n_free))
        return cls(data, size, folds, criterion, n_best, held, free, sets)

    @property
    def n_subsets(self) -> int:
        return comb(self.free.size, self.size - self.forced.size)

    @property
    def least_rows(self) -> int:
        return max(self.folds.n_folds, self.size + 1)

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

    def pieces(self) -> Iterator[_Piece | _RowsPiece]:
        """Yield the search cut into pieces: by set of rows, and by the first task."""
        if self.sets is None:
            yield from self._pieces_by_rows()
            return
        for rows in self.sets.sets:
            yield from self._pieces_of(self.sets, rows, self.criterion, self.n_best, np.inf)

    def _pieces_of(
        self, sets: RowSets, rows: RowSet, criterion: str, n_best: int, limit: float
    ) -> Iterator[_Piece]:
        n_free = self.size - self.forced.size
        n = rows.members.size
        if rows.rows.size < self.least_rows or n < n_free:
            return
        first = 0
        while first <= n - n_free:
            # Subsets whose first member lies in [first, last), gathered up to a fair share.
            last, n_subsets = first, 0
            while last <= n - n_free and (n_subsets == 0 or n_subsets < _PIECE):
                n_subsets += comb(n - last - 1, n_free - 1)
                last += 1
            yield _Piece(self, sets, rows, criterion, n_best, limit, first, last, n_subsets)
            first = last

    def _pieces_by_rows(self) -> Iterator[_RowsPiece]:
        subsets = combinations(self.free.tolist(), self.size - self.forced.size)
        while chunk := list(islice(subsets, _PIECE_BY_ROWS)):
            yield _RowsPiece(self, self._with_forced(chunk))

    def bounded_pieces(self) -> Iterator[_RowsPiece]:
        """Yield those subsets whose bound is below a threshold that the best ones set."""
        assert self.sets is not None
        scouts = self._gather(self.sets, _SCOUTS + self.n_best, np.inf)
        columns = np.array(sorted(scouts[1].tolist()), dtype=np.int64)
        errors = _errors_of(self.data.x, self.data.target, columns, self.folds)[:, 0]
        kept = np.sort(errors[~np.isnan(errors)])
        threshold = kept[min(self.n_best, kept.size) - 1] if kept.size >= self.n_best else np.inf
        below = self._gather(self.sets, self.n_subsets, threshold * (1 + 1e-9))
        columns = np.array(sorted(below[1].tolist()), dtype=np.int64)
        for i in range(0, len(columns), _PIECE_BY_ROWS):
            yield _RowsPiece(self, columns[i : i + _PIECE_BY_ROWS])

    def _gather(self, sets: RowSets, n_best: int, limit: float) -> Part:
        """Return the least bounds below a limit, over all sets of rows."""
        capacity = min(n_best, 1 << 17)
        parts = []
        for rows in sets.sets:
            for piece in self._pieces_of(sets, rows, "bound", capacity, limit):
                part = _search_piece(piece)
                if n_best > capacity == len(part[0]):
                    part = _search_piece(
                        _Piece(self, sets, rows, "bound", n_best, limit, piece.first, piece.last, 0)
                    )
                parts.append(part)
        return _merged(parts, n_best)

    def _with_forced(self, chunk: Sequence[Sequence[int]]) -> I64:
        flat = np.fromiter(chain.from_iterable(chunk), dtype=np.int64)
        free = flat.reshape(len(chunk), -1)
        forced = np.broadcast_to(self.forced, (len(chunk), self.forced.size))
        return np.hstack([forced, free])

    def found(self, parts: Sequence[Part]) -> Found:
        errors, columns = _merged(parts, self.n_best)
        if errors.size == 0:
            raise ScoreDataError(
                f"no subset of {self.size} tasks has at least {self.least_rows} algorithms with "
                f"scores on all of them; exclude tasks with many gaps, or use fewer folds"
            )
        tasks = self.data.tasks
        subsets = tuple(tuple(tasks[i] for i in row) for row in columns)
        n_sets = 0 if self.sets is None else len(self.sets.sets)
        return Found(subsets, errors, self.n_subsets, n_sets)


@dataclass(frozen=True, eq=False)
class _Piece:
    """The subsets of one set of rows whose first member lies in [first, last)."""

    plan: _Plan
    sets: RowSets
    rows: RowSet
    criterion: str
    n_best: int
    limit: float
    first: int
    last: int
    n_subsets: int


@dataclass(frozen=True, eq=False)
class _RowsPiece:
    """A list of subsets."""

    plan: _Plan
    columns: I64

    @property
    def n_subsets(self) -> int:
        return len(self.columns)


def _search_piece(piece: _Piece | _RowsPiece) -> Part:
    """Return the best subsets of a piece: errors and columns."""
    if isinstance(piece, _RowsPiece):
        plan = piece.plan
        both = _errors_of(plan.data.x, plan.data.target, piece.columns, plan.folds)
        errors = both[:, 0 if plan.criterion == "cv" else 1]
        return _merged([(errors, piece.columns)], plan.n_best)
    plan, rows = piece.plan, piece.rows
    members = plan.free[rows.members]
    order = np.concatenate([plan.forced, members])
    z = np.column_stack([plan.data.x[rows.rows][:, order], plan.data.target[rows.rows]])
    n_free = plan.size - plan.forced.size
    n_best = min(piece.n_best, comb(members.size, n_free))
    values, picks = np.empty(n_best), np.empty((n_best, n_free), dtype=np.int16)
    where = (
        plan_classes(piece.sets, rows),
        piece.sets.step,
        piece.sets.start,
        rows.number,
        rows.n_gapped,
        n_free,
        piece.first,
        piece.last,
        values,
        picks,
        0,
    )
    run = _fold_run if piece.criterion == "cv" else partial(_gram_run, piece)
    count = run(z, plan, where)
    chosen = np.sort(members[picks[:count]], axis=1)
    forced = np.broadcast_to(plan.forced, (count, plan.forced.size))
    return values[:count], np.hstack([forced, chosen])


def plan_classes(sets: RowSets, rows: RowSet) -> I64:
    """Return the class of each member of a set of rows."""
    return sets.class_of[rows.members]


def _fold_run(z: FloatArray, plan: _Plan, where: tuple[object, ...]) -> int:
    from gnomon.distill.kernels import fold_search, n_lanes

    lanes = n_lanes(plan.folds.n_folds)
    fold = plan.folds.of(len(z))
    a, t = _fold_grams(_scaled(z), fold, plan.folds.n_folds, lanes)
    for _ in range(plan.forced.size):
        a, t = _eliminated(a, t)
    weights = np.zeros(lanes)
    weights[: plan.folds.n_folds] = 1.0 / (np.bincount(fold) * plan.folds.n_folds)
    tyy = np.ascontiguousarray(t[-1, -1])
    return fold_search(lanes)(a, t, tyy, weights, *where)


def _gram_run(piece: _Piece, z: FloatArray, plan: _Plan, where: tuple[object, ...]) -> int:
    from gnomon.distill.kernels import gram_search

    scaled = _scaled(z)
    gram = (scaled.T @ scaled)[:, :, np.newaxis]
    for _ in range(plan.forced.size):
        gram, _ignored = _eliminated(gram, gram)
    a = np.ascontiguousarray(gram[:, :, 0])
    n, k = len(z), plan.folds.n_folds
    scale = 1.0 / (k * ceil(n / k)) if piece.criterion == "bound" else 1.0 / n
    return int(gram_search(a, a[-1, -1], scale, piece.limit, *where))


def _scaled(z: FloatArray) -> FloatArray:
    """Return the columns, but for the target, with length one: so rounding has one scale."""
    length = np.sqrt((z * z).sum(axis=0))
    length[length == 0.0] = 1.0
    length[-1] = 1.0
    return np.asarray(z / length)


def _fold_grams(
    z: FloatArray, fold: I64, n_folds: int, lanes: int
) -> tuple[FloatArray, FloatArray]:
    """Return training and held-out products, (columns, columns, lanes), spare lanes harmless."""
    n = z.shape[1]
    order = np.argsort(fold, kind="stable")
    counts = np.bincount(fold, minlength=n_folds)
    # Rows of a fold side by side, shorter folds filled with zeros: one batched product.
    batch = np.zeros((n_folds, counts.max(), n))
    within = np.concatenate([np.arange(c) for c in counts])
    batch[fold[order], within] = z[order]
    held = np.matmul(batch.transpose(0, 2, 1), batch)
    a = np.zeros((n, n, lanes))
    t = np.zeros((n, n, lanes))
    t[:, :, :n_folds] = held.transpose(1, 2, 0)
    a[:, :, :n_folds] = held.sum(axis=0)[:, :, np.newaxis] - t[:, :, :n_folds]
    a[np.arange(n), np.arange(n), n_folds:] = 1.0
    return a, t


def _eliminated(a: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the products of residuals on the first column, without it."""
    pivot = a[0, 0]
    inverse = np.where(pivot > 1e-11, 1.0 / np.where(pivot > 1e-11, pivot, 1.0), 0.0)
    ratio, rest = a[0, 1:] * inverse, t[0, 1:]
    a_next = a[1:, 1:] - ratio[:, np.newaxis] * a[0, 1:][np.newaxis]
    t_next = (
        t[1:, 1:]
        - ratio[:, np.newaxis] * rest[np.newaxis]
        - rest[:, np.newaxis] * ratio[np.newaxis]
        + ratio[:, np.newaxis] * ratio[np.newaxis] * t[0, 0]
    )
    return np.ascontiguousarray(a_next), np.ascontiguousarray(t_next)


def _errors_of(x: FloatArray, y: FloatArray, columns: I64, folds: Folds) -> FloatArray:
    from gnomon.distill.kernels import errors_by_rows

    gaps = np.sort(np.isnan(x).sum(axis=0))[::-1]
    size = columns.shape[1]
    n_rows = int((~np.isnan(y)).sum())
    least = max(folds.n_folds, size + 1)
    # Only these numbers of rows can occur.
    fewest = max(least, n_rows - int(gaps[:size].sum()))
    if fewest > n_rows:
        return np.full((len(columns), 2), np.nan)
    spots, starts = _places(folds, fewest, n_rows)
    out = np.empty((len(columns), 2))
    transposed = np.ascontiguousarray(x.T)
    errors_by_rows(transposed, y, columns.astype(np.int16), spots, starts, fewest, out)
    return out


@lru_cache(maxsize=2)
def _places(folds: Folds, fewest: int, most: int) -> tuple[npt.NDArray[np.int32], I64]:
    """Return where each of n rows stands if those of a fold stand together, and the starts."""
    spots = np.zeros((most - fewest + 1, most), dtype=np.int32)
    starts = np.zeros((most - fewest + 1, folds.n_folds + 1), dtype=np.int64)
    for n in range(fewest, most + 1):
        fold = folds.of(n)
        spots[n - fewest, np.argsort(fold, kind="stable")] = np.arange(n)
        starts[n - fewest, 1:] = np.cumsum(np.bincount(fold, minlength=folds.n_folds))
    return spots, starts


def _merged(parts: Sequence[Part], n_best: int) -> Part:
    """Return the least errors of several parts in order, ties by the columns."""
    if not parts:
        return np.empty(0), np.empty((0, 0), dtype=np.int64)
    errors = np.concatenate([part[0] for part in parts])
    columns = np.concatenate([part[1] for part in parts]).astype(np.int64)
    usable = ~np.isnan(errors)
    errors, columns = errors[usable], columns[usable]
    if errors.size > n_best:
        near = errors <= np.partition(errors, n_best - 1)[n_best - 1]
        errors, columns = errors[near], columns[near]
    order = np.lexsort((*columns.T[::-1], errors))[:n_best]
    return errors[order], columns[order]


def _varying(data: PreparedScores, names: Sequence[str]) -> list[str]:
    """Return the tasks on which not all scores are the same; name the others in a warning."""
    columns = data.x[:, data.columns(names)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        constant = ~(np.nanmax(columns, axis=0) > np.nanmin(columns, axis=0))
    if constant.any():
        shown = ", ".join(n for n, c in zip(names, constant, strict=True) if c)
        text = f"left out, all scores are the same: {shown}"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=4)
    return [name for name, c in zip(names, constant, strict=True) if not c]
