"""Search for the few tasks that predict best.

:func:`search_subsets` finds the least cross-validated error of least squares among all subsets,
each on its own complete rows. In-sample errors of all subsets follow by elimination, many at a
time. With k folds and n rows, the residual sum of squares over k ceil(n / k) bounds the
cross-validated error from below, because the held-out residuals of a fold are (I - H)^-1 e with
0 <= H < I; so only subsets whose bound is below the best error so far are cross-validated.
:func:`least_variance_subsets` finds the least variance that a subset leaves under one covariance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, islice
from math import comb
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from gnomon.distillation.preparation import PreparedScores
from gnomon.errors import ScoreDataError, check_word, listed, note
from gnomon.scores.table import FloatArray

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
#: Called with the number of steps done, and of all steps.
Progress: TypeAlias = Callable[[int, int], object]
#: Subsets of tasks, best first.
Subsets: TypeAlias = tuple[tuple[str, ...], ...]

#: Columns are scaled to length one; a task whose residual is shorter is collinear.
TOLERANCE = 1e-11
#: Number of parts with gaps that are eliminated at once, and of subsets cross-validated at once.
_PARTS, _TOGETHER = 512, 1000


@lru_cache(maxsize=4096)
def folds_of(n_rows: int, n_folds: int = 10, seed: int = 1982) -> I64:
    """Return the fold of each row, exactly as scikit-learn's shuffled ``KFold``.

    The code of the Atari-5 paper uses the seed 1982 for the complete rows of a subset, so two
    subsets with equally many rows have the same folds.
    """
    if n_folds < 2:
        raise ScoreDataError(f"expected at least 2 folds, found {n_folds}")
    # The legacy generator is what scikit-learn shuffles with: its bits are the published folds.
    order = np.random.RandomState(seed).permutation(n_rows)
    sizes = n_rows // n_folds + (np.arange(n_folds) < n_rows % n_folds)
    fold = np.empty(n_rows, dtype=np.int64)
    fold[order] = np.repeat(np.arange(n_folds), sizes)
    fold.flags.writeable = False
    return fold


def least_rows(n_tasks: int, n_folds: int) -> int:
    """Return the number of rows needed to fit the weights without any one fold."""
    n = max(n_folds, n_tasks + 1)
    while n - -(-n // n_folds) < n_tasks:
        n += 1
    return n


def check_forced(data: PreparedScores, forced: Sequence[str]) -> None:
    """Reject forced tasks that are unknown or given twice."""
    data.columns(forced)
    twice = next((task for task in forced if list(forced).count(task) > 1), None)
    if twice is not None:
        raise ScoreDataError(f"expected each task once; {twice} is given twice")


def free_tasks(data: PreparedScores, size: int, forced: Sequence[str]) -> tuple[str, ...]:
    """Return the candidates to choose from beside the forced tasks; check that the size fits."""
    check_forced(data, forced)
    names = [task for task in data.candidates if task not in set(forced)]
    varies = data.varies(names)
    if not varies.all():
        constant = [task for task, v in zip(names, varies, strict=True) if not v]
        note(f"left out, all scores are the same: {listed(constant)}")
    free = tuple(task for task, v in zip(names, varies, strict=True) if v)
    if not free:
        raise ScoreDataError("expected tasks to choose from, whose scores differ; there are none")
    n = len(forced)
    if not n < size <= n + len(free):
        raise ScoreDataError(
            f"expected a size from {n + 1} to {n + len(free)}, found {size}: "
            f"{len(free)} tasks to choose from and {n} given"
        )
    return free


@dataclass(frozen=True, eq=False)
class FoundSubsets:
    """The best subsets, best first, forced tasks in front; their errors; the number searched."""

    subsets: Subsets
    errors: FloatArray
    n_subsets: int


def search_subsets(
    data: PreparedScores,
    size: int,
    *,
    n_folds: int = 10,
    criterion: Literal["cv", "in_sample"] = "cv",
    n_best: int = 20,
    forced: Sequence[str] = (),
    progress: Progress | None = None,
) -> FoundSubsets:
    """Find the subsets of tasks whose linear model predicts the target best, among all of a size.

    The model has no intercept; each subset is judged on its own complete rows. Its error is the
    mean over folds of the mean squared error of the fold, as in the Atari-5 paper.

    Parameters
    ----------
    data : PreparedScores
    size : int
        Number of tasks, forced ones included.
    n_folds : int
        Number of folds of the cross-validation.
    criterion : {"cv", "in_sample"}
        The cross-validated error, by which the paper chooses, or the in-sample error, by which its
        code ranks all subsets.
    n_best : int
        How many subsets to return.
    forced : sequence of str
        Tasks that every subset contains.
    progress : function of (done, all), optional
        Called with the number of subsets searched.

    Returns
    -------
    FoundSubsets

    Raises
    ------
    ScoreDataError
        There are fewer algorithms than folds, the size does not fit the suite, or no subset has
        enough complete rows.
    UnknownNameError
        A task is not in the table.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> found = search_subsets(data, 2, n_best=1)
    >>> found.n_subsets, found.subsets[0]
    (4005, ('clockwise-from-b0', 'where-the-last-piece-lay'))
    """
    check_word("criterion", criterion, ("cv", "in_sample"))
    data.check_target()
    free = free_tasks(data, size, forced)
    held = data.columns(forced)
    usable = ~np.isnan(data.target) & ~np.isnan(data.x[:, held]).any(axis=1)
    least, n = least_rows(size, n_folds), int((~np.isnan(data.target)).sum())
    if n < least:
        raise ScoreDataError(
            f"expected at least {least} algorithms for {n_folds} folds and {size} tasks, found {n};"
            f" with fewer folds the choice is unreliable"
        )
    columns = np.concatenate([held, data.columns(free)])
    n_free, n_subsets = size - held.size, comb(len(free), size - held.size)
    x, y = data.x[usable][:, columns], data.target[usable]
    search = _Search(x, y, held.size, n_free, n_folds, n_best, cross_validated=criterion == "cv")
    done, fewest = 0, least
    for bounds, parts, rows, others in search.blocks():
        search.judge(bounds, parts, rows, others)
        done += bounds.size
        fewest = min(fewest, int(rows.sum(axis=1).min()))
        if progress is not None:
            progress(done, n_subsets)
    if fewest < least:
        note(f"subsets with fewer than {least} complete rows are left out (some have {fewest})")
    if not search.errors.size:
        raise ScoreDataError(
            f"no subset of {size} tasks has at least {least} algorithms with scores on all of "
            "them; exclude tasks with many gaps, or use fewer folds"
        )
    names = [data.tasks[i] for i in columns]
    subsets = tuple((*forced, *sorted(names[i] for i in row)) for row in search.picks.tolist())
    return FoundSubsets(subsets, search.errors, n_subsets)


class _Search:
    """The best subsets so far, from rows on which forced tasks, in front, and target are known."""

    def __init__(
        self,
        x: FloatArray,
        y: FloatArray,
        n_forced: int,
        n_free: int,
        n_folds: int,
        n_best: int,
        *,
        cross_validated: bool,
    ) -> None:
        self._present, filled = ~np.isnan(x), np.nan_to_num(x)
        length = np.sqrt((filled**2).sum(axis=0))
        # Columns of length one have rounding errors of one size; the target is last.
        self._z = np.column_stack([filled / np.where(length > 0, length, 1.0), y])
        self._n_forced, self._n_free, self._n_folds = n_forced, n_free, n_folds
        self._n_best, self._cross_validated = n_best, cross_validated
        # Where a fit is perfect, bound and error are rounding errors.
        self._rounding = 1e-12 * float(np.mean(y**2))
        self.errors, self.picks = np.empty(0), np.empty((0, n_free), dtype=np.int64)

    def blocks(self) -> Iterator[tuple[FloatArray, I64, Mask, I64]]:
        """Yield all subsets: each of some parts with gaps joined with each of other parts.

        Complete rows depend on the part with gaps alone. The lower bounds of the errors, shape
        (parts, others), are infinite where there are too few rows.
        """
        free = np.arange(self._n_forced, self._present.shape[1])
        whole = self._present[:, free].all(axis=0)
        gapped, others = free[~whole], free[whole]
        k, least = self._n_folds, least_rows(self._n_forced + self._n_free, self._n_folds)
        for n_gapped in range(min(self._n_free, gapped.size) + 1):
            n_others = self._n_free - n_gapped
            if n_others > others.size:
                continue
            rest = choices(others, n_others)
            most = max(1, min(_PARTS, 8_000_000 // max(len(rest), 1)))
            needed = others if n_others else others[:0]
            kept = np.concatenate([np.arange(self._n_forced), needed, [free[-1] + 1]])
            for parts in _chunks(gapped, n_gapped, most):
                rows = np.asarray(self._present[:, parts].all(axis=2)).T
                gram = self._grams(rows, np.hstack([parts, np.tile(kept, (len(parts), 1))]))
                for _ in range(n_gapped + self._n_forced):
                    gram = without(gram, 0, slice(1, None))
                n = rows.sum(axis=1)
                scale = k * np.ceil(n / k) if self._cross_validated else n
                with np.errstate(divide="ignore", invalid="ignore"):
                    bounds = np.abs(in_sample(gram, n_others)) / scale[:, None]
                bounds[n < least] = np.inf
                yield bounds, parts, rows, rest

    def _grams(self, rows: Mask, columns: I64) -> FloatArray:
        """Return the products of some columns on the rows of each part."""
        first, which = np.unique(np.packbits(rows, axis=1), axis=0, return_index=True,
                                 return_inverse=True)[1:]  # fmt: skip
        if 2 * first.size > len(rows):  # Scattered gaps: hardly any two parts share their rows.
            own = self._z.T[columns] * rows[:, None]
            return np.asarray(own @ own.transpose(0, 2, 1))
        grams = np.stack([self._z[r].T @ self._z[r] for r in rows[first]])
        return grams[which.ravel()[:, None, None], columns[:, :, None], columns[:, None, :]]

    def judge(self, bounds: FloatArray, parts: I64, rows: Mask, others: I64) -> None:
        """Find the errors of subsets whose bound is below the limit, and keep the best."""
        flat, n = bounds.ravel(), self._n_best + 300
        waiting = np.flatnonzero(flat <= self._limit)
        while waiting.size:
            # The least bounds first: they lower the limit for the others.
            order = np.argpartition(flat[waiting], min(n, waiting.size) - 1)
            some, waiting = waiting[order[:n]], waiting[order[n:]]
            part, other = np.divmod(some, len(others))
            picks, errors = np.hstack([parts[part], others[other]]), flat[some]
            if self._cross_validated:
                _, which = np.unique(np.packbits(rows[part], axis=1), axis=0, return_inverse=True)
                for k in range(which.max() + 1):
                    same = np.flatnonzero(which.ravel() == k)
                    errors[same] = self._held_out(rows[part[same[0]]], picks[same])
            errors = np.concatenate([self.errors, errors])
            picks = np.vstack([self.picks, np.sort(picks, axis=1)])
            best = np.lexsort((*picks.T[::-1], errors))[: self._n_best]
            self.errors, self.picks = errors[best], picks[best]
            waiting, n = waiting[flat[waiting] <= self._limit], 4 * n

    @property
    def _limit(self) -> float:
        if self.errors.size < self._n_best:
            return float(np.finfo(np.float64).max)
        return float(self.errors[-1]) * (1 + 1e-9) + self._rounding

    def _held_out(self, rows: Mask, subsets: I64) -> FloatArray:
        """Return the cross-validated errors of subsets that are complete on the same rows."""
        z, fold = self._z[rows], folds_of(int(rows.sum()), self._n_folds)
        held = np.stack([z[fold == k].T @ z[fold == k] for k in range(self._n_folds)])
        train = held.sum(axis=0) - held
        forced = np.tile(np.arange(self._n_forced), (len(subsets), 1))
        last = np.full((len(subsets), 1), z.shape[1] - 1)
        columns = np.hstack([forced, subsets, last])
        found = np.empty(len(subsets))
        sizes = np.bincount(fold, minlength=self._n_folds)[:, None]
        for start in range(0, len(subsets), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            i, j = columns[part, :, None], columns[part, None, :]
            a, t = train[:, i, j], held[:, i, j]
            for _ in range(columns.shape[1] - 1):
                a, t = _eliminated(a, t)
            found[part] = (t[..., 0, 0] / sizes).mean(axis=0)
        return found


def _eliminated(a: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return training and held-out products of residuals on the first column."""
    pivot = a[..., 0, 0]
    usable = pivot > TOLERANCE
    inverse = np.where(usable, 1.0 / np.where(usable, pivot, 1.0), 0.0)
    ratio = a[..., 0, 1:] * inverse[..., None]
    rest = t[..., 0, 1:] - ratio * t[..., 0, 0, None]
    down, across = ratio[..., :, None], ratio[..., None, :]
    a = a[..., 1:, 1:] - down * a[..., 0, None, 1:]
    return a, t[..., 1:, 1:] - down * rest[..., None, :] - t[..., 1:, 0, None] * across


def choices(columns: I64, m: int) -> I64:
    """Return all choices of m columns, one a row, in the order of :func:`in_sample`."""
    n = columns.size
    if m < 2:
        return columns[:, None] if m else np.empty((1, 0), dtype=np.int64)
    groups = {-1: np.empty((1, 0), dtype=np.int64)}
    for _ in range(m - 2):
        groups = {
            k: np.vstack(
                [np.column_stack([g, np.full(len(g), k)]) for j, g in groups.items() if j < k]
            )
            for k in range(min(groups) + 1, n)
        }
    every = []
    for k, prefixes in groups.items():
        pairs = np.column_stack(np.triu_indices(n - k - 1, 1)) + k + 1
        repeated = np.repeat(prefixes, len(pairs), axis=0)
        every.append(np.hstack([repeated, np.tile(pairs, (len(prefixes), 1))]))
    return np.asarray(columns[np.vstack(every)])


def _chunks(columns: I64, m: int, most: int) -> Iterator[I64]:
    """Yield all choices of m columns in lexicographic order, at most `most` at a time."""
    every = combinations(columns.tolist(), m)
    for start in range(0, total := comb(columns.size, m), most):
        n = min(most, total - start)
        flat = chain.from_iterable(islice(every, n))
        yield np.fromiter(flat, np.int64, n * m).reshape(n, m)


def without(gram: FloatArray, i: int, keep: slice) -> FloatArray:
    """Return the products of residuals on column i, of the columns to keep."""
    column = gram[..., i, keep]
    pivot = np.maximum(gram[..., i, i], TOLERANCE)[..., None]
    return np.asarray(gram[..., keep, keep] - column[..., :, None] * (column / pivot)[..., None, :])


def in_sample(gram: FloatArray, size: int) -> FloatArray:
    """Return the residual sums of squares of all choices of columns, (parts, choices).

    The target is the last column. Choices are grouped by the last column of their prefix, so that
    all choices with the same prefix share its elimination.
    """
    n, yy = gram.shape[-1] - 1, gram[:, -1, -1, None]
    if size == 0:
        return yy
    if size == 1:
        own = np.maximum(np.diagonal(gram, axis1=1, axis2=2)[:, :-1], TOLERANCE)
        return np.asarray(yy - gram[:, :-1, -1] ** 2 / own)
    groups = {-1: gram[:, None]}
    for _ in range(size - 2):
        groups = {
            k: np.concatenate(
                [without(g, k - j - 1, slice(k - j, None)) for j, g in groups.items() if j < k], 1
            )
            for k in range(min(groups) + 1, n)
        }
    return np.concatenate([_pairs(g).reshape(len(gram), -1) for g in groups.values()], axis=1)


def _pairs(gram: FloatArray) -> FloatArray:
    """Return the residual sums of squares of all pairs of columns, (..., pairs)."""
    i, j = np.triu_indices(gram.shape[-1] - 1, 1)
    own = np.maximum(np.diagonal(gram, axis1=-2, axis2=-1)[..., :-1], TOLERANCE)
    to_y, ij = gram[..., :-1, -1], gram[..., i, j]
    slope = ij / own[..., i]
    over = to_y[..., j] - slope * to_y[..., i]
    left = gram[..., -1, -1, None] - (to_y * to_y / own)[..., i]
    return np.asarray(left - over * over / np.maximum(own[..., j] - slope * ij, TOLERANCE))


def least_variance_subset(
    covariance: FloatArray, names: Sequence[str], size: int, *, forced: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the subset whose linear prediction leaves the least variance of the last column.

    Tasks are added to each single task, then exchanged one for another while that leaves less
    (Efroymson's stepwise search from many starts). On the published Atari table this finds the
    best of all subsets, in a hundredth of the time of a search of all.
    """
    place = {name: i for i, name in enumerate(names)}
    free = [i for i, name in enumerate(names) if name not in set(forced)]
    keep = [*(place[name] for name in forced), *free, len(names)]
    scale = np.sqrt(np.diag(covariance))[keep]
    scale[-1] = 1.0
    gram = covariance[np.ix_(keep, keep)] / np.outer(scale, scale)
    for _ in forced:
        gram = without(gram, 0, slice(1, None))
    m = size - len(forced)
    sets = np.arange(len(free))[:, None]
    while sets.shape[1] < m:
        sets = np.column_stack([sets, _with_one_more(gram, sets).argmin(axis=1)])
    best, least = sets[0], np.inf
    limits = np.full(len(sets), np.inf)
    while len(sets):
        rests = np.stack([np.delete(sets, i, axis=1) for i in range(m)], axis=1)
        left = _with_one_more(gram, rests.reshape(len(sets) * m, m - 1)).reshape(len(sets), -1)
        variances, at = left.min(axis=1), left.argmin(axis=1)
        i, j = np.divmod(at, len(free))
        grown = np.sort(np.column_stack([rests[np.arange(len(sets)), i], j]), axis=1)
        if variances.min() < least:
            best, least = grown[variances.argmin()], variances.min()
        rows = np.flatnonzero(variances < limits * (1 - 1e-12))
        sets, first = np.unique(grown[rows], axis=0, return_index=True)
        limits = variances[rows][first]
    return (*forced, *(names[free[i]] for i in best))


def _with_one_more(gram: FloatArray, sets: I64) -> FloatArray:
    """Return the variance that each set leaves with each task; inf with its own tasks."""
    inside, rows = gram[sets[:, :, None], sets[:, None]], gram[sets]
    explained = np.linalg.solve(inside, rows)
    own = np.diag(gram) - np.einsum("pij,pij->pj", rows, explained)
    to_y = gram[:, -1] - np.einsum("pij,pi->pj", rows, explained[..., -1])
    left = own[:, -1:] - to_y[:, :-1] ** 2 / np.maximum(own[:, :-1], TOLERANCE)
    np.put_along_axis(left, sets, np.inf, axis=1)
    return np.asarray(left)
