"""The subset of tasks that leaves the least variance of the target, under a given covariance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import comb

import numpy as np

from gnomon.distill.search.choices import free_tasks
from gnomon.errors import DegenerateScoresWarning
from gnomon.scores.table import FloatArray

__all__ = ["least_variance_subsets", "residual_variance"]

#: Above this many subsets, greedy steps and exchanges take the place of enumeration.
_MOST_SUBSETS = 100_000_000


def least_variance_subsets(
    covariance: FloatArray,
    names: Sequence[str],
    size: int,
    *,
    forced: Sequence[str] = (),
    n_best: int = 1,
) -> tuple[tuple[str, ...], ...]:
    """Return the subsets whose linear prediction leaves the least variance of the last column.

    All subsets are compared, unless there are more than 100 million: then tasks are added one by
    one and exchanged while that helps, and only the best that this finds is returned.

    Parameters
    ----------
    covariance : ndarray of float, shape (tasks + 1, tasks + 1)
        Positive definite, the target last.
    names : sequence of str
        The tasks.
    size : int
        Number of tasks, forced ones included.
    forced : sequence of str
        Tasks that every subset has.
    n_best : int
        How many to return.

    Raises
    ------
    ScoreDataError
        The size does not fit, or a task is forced twice.

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
    free = [place[name] for name in free_tasks(names, names, size, forced=forced)]
    n_free = size - len(forced)
    gram = _given(covariance, [place[f] for f in forced], free)
    if comb(len(free), n_free) > _MOST_SUBSETS:
        text = (
            f"more than {_MOST_SUBSETS:,} subsets: tasks are added and exchanged while that helps, "
            "which may miss the best"
        )
        warnings.warn(text, DegenerateScoresWarning, stacklevel=2)
        picks = [_exchange(gram, _greedy(gram, n_free))]
    else:
        picks = _enumerate(gram, n_free, n_best)
    return tuple((*forced, *(names[free[i]] for i in sorted(p))) for p in picks)


def residual_variance(gram: FloatArray, picks: Sequence[int]) -> float:
    """Return the variance of the last column that some columns leave."""
    index = np.asarray(picks)
    inside, cross = gram[np.ix_(index, index)], gram[index, -1]
    return float(gram[-1, -1] - cross @ np.linalg.solve(inside, cross))


def _given(covariance: FloatArray, forced: list[int], free: list[int]) -> FloatArray:
    """Return the covariance of the free tasks and the target, given the forced ones, scaled."""
    keep = [*free, len(covariance) - 1]
    gram = covariance[np.ix_(keep, keep)]
    if forced:
        cross = covariance[np.ix_(forced, keep)]
        gram = gram - cross.T @ np.linalg.solve(covariance[np.ix_(forced, forced)], cross)
    scale = np.sqrt(np.diag(gram))
    scale[-1] = 1.0
    return np.ascontiguousarray(gram / np.outer(scale, scale))


def _enumerate(gram: FloatArray, size: int, n_best: int) -> list[list[int]]:
    from gnomon.distill.search.gram_kernel import gram_search

    n = len(gram) - 1
    n_best = min(n_best, comb(n, size))
    values, picks = np.empty(n_best), np.empty((n_best, size), dtype=np.int32)
    no_class, no_step = np.zeros(n, dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    where = (no_class, no_step, 0, 0, 0, size, 0, n, values, picks, 0)
    count = gram_search(gram, gram[-1, -1], 1.0, np.inf, *where)
    order = np.argsort(values[:count], kind="stable")
    return [picks[i].tolist() for i in order]


def _greedy(gram: FloatArray, size: int) -> list[int]:
    chosen: list[int] = []
    for _ in range(size):
        rest = [j for j in range(len(gram) - 1) if j not in chosen]
        chosen.append(min(rest, key=lambda j: residual_variance(gram, [*chosen, j])))
    return chosen


def _exchange(gram: FloatArray, chosen: list[int]) -> list[int]:
    """Exchange one task for another while that leaves less variance."""
    best = residual_variance(gram, chosen)
    while True:
        rest = [j for j in range(len(gram) - 1) if j not in chosen]
        tries = [[*chosen[:i], *chosen[i + 1 :], j] for i in range(len(chosen)) for j in rest]
        if not tries:
            return chosen
        values = [residual_variance(gram, t) for t in tries]
        least = int(np.argmin(values))
        if values[least] >= best * (1 - 1e-12):
            return chosen
        best, chosen = values[least], tries[least]
