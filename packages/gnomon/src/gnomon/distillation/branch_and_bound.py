"""Subsets of tasks that leave the least variance of a summary under one covariance.

Branch and bound: a prefix that leaves too much even with all later tasks is dropped (Furnival and
Wilson 1974, Technometrics 16:499).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import comb

import numpy as np

from gnomon.distillation.search import I64, TOLERANCE, Subsets, without
from gnomon.errors import DegenerateScoresWarning
from gnomon.scores.table import FloatArray

#: The bound of a branch keeps the cube of the number of tasks: 16 MB.
_MOST_BOUNDED = 128
#: With more subsets, tasks are added and exchanged instead.
_MOST_SUBSETS = 100_000_000


def least_variance_subsets(
    covariance: FloatArray,
    names: Sequence[str],
    size: int,
    *,
    forced: Sequence[str] = (),
    n_best: int = 1,
) -> Subsets:
    """Return the subsets whose linear prediction leaves the least variance of the last column.

    The search is exact up to 128 tasks and 100 million subsets; beyond, tasks are added one by one
    and exchanged while that helps, and one subset is returned.

    Parameters
    ----------
    covariance : ndarray of float, shape (tasks + 1, tasks + 1)
        Positive definite, the target last.
    names : sequence of str
        The tasks.
    size : int
        Number of tasks, forced ones included.
    forced : sequence of str
        Tasks that every subset contains.
    n_best : int
        How many subsets to return.

    Warns
    -----
    DegenerateScoresWarning
        There are too many subsets to compare them all.

    Examples
    --------
    >>> covariance = np.array([[1.0, 0.0, 0.8], [0.0, 1.0, 0.5], [0.8, 0.5, 1.0]])
    >>> least_variance_subsets(covariance, ["u", "v"], 1, n_best=2)
    (('u',), ('v',))
    """
    place = {name: i for i, name in enumerate(names)}
    free = [i for i, name in enumerate(names) if name not in set(forced)]
    n_free = size - len(forced)
    gram = covariance[np.ix_(keep := [*(place[f] for f in forced), *free, len(names)], keep)]
    for _ in forced:
        gram = without(gram, 0, slice(1, None))
    scale = np.sqrt(np.diag(gram))
    scale[-1] = 1.0
    gram = gram / np.outer(scale, scale)
    if comb(len(free), n_free) > _MOST_SUBSETS or (len(free) > _MOST_BOUNDED and n_free > 2):
        text = (
            f"{comb(len(free), n_free):,} subsets are too many to compare all: tasks are added and "
            "exchanged while that helps, which may miss the best"
        )
        warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
        picks = [_exchanged(gram, n_free)[0]]
    else:
        picks = _branch_and_bound(gram, n_free, n_best)
    return tuple((*forced, *(names[free[i]] for i in sorted(p))) for p in picks)


def _branch_and_bound(gram: FloatArray, size: int, n_best: int) -> list[list[int]]:
    n = len(gram) - 1
    n_best = min(n_best, comb(n, size))
    start, limit = _exchanged(gram, size, n_best)
    # Tasks that explain much come first: what the later ones leave is soon too much.
    order = np.argsort(-np.abs(gram[:-1, -1]), kind="stable")
    gram = gram[np.ix_(place := [*order, n], place)]
    after = _residuals_after(gram) if n <= _MOST_BOUNDED else None
    found: list[tuple[float, tuple[int, ...]]] = []
    stack = [np.empty((1, 0), dtype=np.int64)]
    while stack:
        prefixes = stack.pop()
        if len(prefixes) > 4096:
            stack += np.array_split(prefixes, 2)
            continue
        depth = prefixes.shape[1]
        last = prefixes[:, -1] if depth else np.array([-1])
        if depth < size - 1:
            grown = _grown(prefixes, last, n - (size - depth) + 1)
            if after is not None and len(grown):
                left = _left(after, grown, n)
                grown = grown[left <= limit * (1 + 1e-12) + 1e-13]
            if len(grown):
                stack.append(grown)
            continue
        prefixes = prefixes[np.argsort(last, kind="stable")]
        for part in np.array_split(prefixes, -(-len(prefixes) // 256)):
            begin = int(part[0, -1]) + 1 if depth else 0
            values = _with_one_more(gram, part, begin)
            if depth:
                values[np.arange(begin, n) <= part[:, -1:]] = np.inf
            for p, j in np.argwhere(values <= limit * (1 + 1e-12) + 1e-13).tolist():
                found.append((float(values[p, j]), (*part[p].tolist(), begin + j)))
        found = sorted(found)[:n_best]
        if len(found) == n_best:
            limit = min(limit, found[-1][0])
    return [order[list(picks)].tolist() for _, picks in found] or [start]


def _grown(prefixes: I64, last: I64, stop: int) -> I64:
    """Return each prefix with each later task below `stop`."""
    counts = np.maximum(stop - 1 - last, 0)
    rows = np.repeat(np.arange(len(prefixes)), counts)
    begins = np.repeat(np.cumsum(counts) - counts, counts)
    added = np.arange(rows.size) - begins + last[rows] + 1
    return np.column_stack([prefixes[rows], added])


def _residuals_after(gram: FloatArray) -> FloatArray:
    """Return the products of residuals on all tasks from each place on, (n + 1, n + 1, n + 1)."""
    n = len(gram) - 1
    after = np.empty((n + 1, n + 1, n + 1))
    after[n] = gram
    for k in reversed(range(n)):
        a = after[k + 1]
        after[k] = a - np.outer(a[k], a[k] / max(a[k, k], TOLERANCE))
    return after


def _left(after: FloatArray, prefixes: I64, n: int) -> FloatArray:
    """Return the variance that each prefix leaves together with all tasks after it."""
    columns, last = [*prefixes.T, n], prefixes[:, -1] + 1
    size = len(columns)
    # Entries of the Gram matrices, one array over all prefixes for each.
    a = {(i, j): after[last, columns[i], columns[j]] for j in range(size) for i in range(j + 1)}
    for p in range(size - 1):
        pivot = np.maximum(a[p, p], TOLERANCE)
        for i in range(p + 1, size):
            ratio = a[p, i] / pivot
            for j in range(i, size):
                a[i, j] = a[i, j] - ratio * a[p, j]
    return np.asarray(a[size - 1, size - 1])


def _with_one_more(gram: FloatArray, prefixes: I64, begin: int = 0) -> FloatArray:
    """Return the variance that each prefix leaves with each task from `begin` on."""
    inside, rows = gram[prefixes[:, :, None], prefixes[:, None]], gram[prefixes, begin:]
    explained = np.linalg.inv(inside) @ rows
    own = np.diag(gram)[begin:] - np.einsum("pij,pij->pj", rows, explained)
    to_y = gram[begin:, -1] - np.einsum("pij,pi->pj", rows, explained[..., -1])
    return np.asarray(own[:, -1:] - to_y[:, :-1] ** 2 / np.maximum(own[:, :-1], TOLERANCE))


def _exchanged(gram: FloatArray, size: int, n_best: int = 1) -> tuple[list[int], float]:
    """Add tasks one by one, then exchange one for another while that leaves less variance.

    Returns the subset, and what the last of `n_best` subsets near it leaves.
    """
    chosen: list[int] = []
    for _ in range(size):
        values = _next(gram, chosen)
        chosen.append(int(np.argmin(values)))
    best = float(values.min())
    while True:
        rests = [[*chosen[:i], *chosen[i + 1 :]] for i in range(size)]
        values = np.array([_next(gram, rest) for rest in rests])
        i, j = np.unravel_index(int(np.argmin(values)), values.shape)
        if values[i, j] >= best * (1 - 1e-12):
            break
        best, chosen = float(values[i, j]), [*rests[i], int(j)]
    values[:, chosen] = np.inf
    near = np.sort([best, *values[np.isfinite(values)]])
    return chosen, float(near[n_best - 1]) if near.size >= n_best else np.inf


def _next(gram: FloatArray, chosen: Sequence[int]) -> FloatArray:
    """Return the variance that some tasks leave with each further one; inf for these."""
    values = _with_one_more(gram, np.array([chosen], dtype=np.int64))[0]
    values[list(chosen)] = np.inf
    return np.asarray(values)
