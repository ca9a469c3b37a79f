"""Probability of improvement: how often a run of one algorithm beats a run of another.

On each task P(X > Y) is the share of pairs of runs in which the run of `a` is better, ties counting
one half (Mann and Whitney's U over the number of pairs); over tasks it is averaged (Agarwal et al.
2021). Infinite scores (censored runs) take part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.small_sample import DeltaError, Influences, delta_error
from gnomon.stats.strata import Strata, as_strata

__all__ = [
    "Placements",
    "placements",
    "probability_of_improvement",
    "resampled_improvement",
]


@dataclass(frozen=True, eq=False)
class Placements:
    """For each run, the share of the other algorithm's runs on the task that it beats.

    Parameters
    ----------
    a, b : Strata
        Shares won, 0 to 1, run by run.

    Examples
    --------
    >>> placements([[1.0], [3.0]], [[2.0], [0.0]]).per_task
    array([0.75])
    """

    a: Strata
    b: Strata

    @property
    def per_task(self) -> FloatArray:
        """P(X > Y) of each task, shape (tasks,)."""
        return self.a.task_means

    @property
    def value(self) -> float:
        """P(X > Y) averaged over tasks."""
        return float(np.mean(self.per_task))

    def error(self) -> DeltaError:
        """Return the standard error: that of both algorithms' placements (DeLong et al. 1988)."""
        return delta_error(*(Influences(won, won.values) for won in (self.a, self.b)))


def placements(
    a: Strata | npt.ArrayLike, b: Strata | npt.ArrayLike, *, higher_is_better: bool = True
) -> Placements:
    """Return who beats whom on each task.

    Parameters
    ----------
    a, b : array_like of shape (runs, tasks), or Strata
        The same tasks; numbers of runs may differ.
    higher_is_better : bool
        Direction of the scores.

    Raises
    ------
    ValueError
        The numbers of tasks differ.

    Examples
    --------
    >>> won = placements([[1.0], [3.0]], [[2.0], [0.0]])
    >>> won.a.values, won.value
    (array([0.5, 1. ]), 0.75)
    """
    x, y = as_strata(a), as_strata(b)
    if x.n_tasks != y.n_tasks:
        raise ValueError(f"expected the same tasks, found {x.n_tasks} and {y.n_tasks}")
    pairs = list(zip(x.per_task(), y.per_task(), strict=True))
    won_a = np.concatenate([_shares(p, np.sort(q)) for p, q in pairs])
    won_b = np.concatenate([_shares(q, np.sort(p)) for p, q in pairs])
    if not higher_is_better:
        won_a, won_b = 1.0 - won_a, 1.0 - won_b
    return Placements(Strata(won_a, x.starts), Strata(won_b, y.starts))


def _shares(values: FloatArray, ordered: FloatArray) -> FloatArray:
    """Return for each value the share of the ordered ones that it beats, ties one half."""
    below = np.searchsorted(ordered, values, "left")
    up_to = np.searchsorted(ordered, values, "right")
    return (below + up_to) / (2.0 * ordered.size)


def probability_of_improvement(
    a: Strata | npt.ArrayLike, b: Strata | npt.ArrayLike, *, higher_is_better: bool = True
) -> float:
    """Return the probability that a run of `a` is better than one of `b`, averaged over tasks.

    Examples
    --------
    >>> probability_of_improvement([[1.0, 5.0], [2.0, 5.0]], [[0.0, 5.0], [3.0, 5.0]])
    0.5
    """
    return placements(a, b, higher_is_better=higher_is_better).value


def resampled_improvement(
    a: Strata | npt.ArrayLike,
    b: Strata | npt.ArrayLike,
    *,
    n_resamples: int,
    keys: tuple[np.uint64, np.uint64],
    higher_is_better: bool = True,
) -> FloatArray:
    """Return P(X > Y) in every resample of both algorithms.

    Parameters
    ----------
    a, b : array_like of shape (runs, tasks), or Strata
    n_resamples : int
        Number of resamples.
    keys : (uint64, uint64)
        One for each algorithm, from :func:`~gnomon.stats.bootstrap.resamples.draw_key`; the same
        twice for runs that are pairs.
    higher_is_better : bool
        Direction of the scores.

    Returns
    -------
    ndarray of float, shape (n_resamples,)
    """
    from gnomon.stats.bootstrap.kernels import resample_improvement

    x, y = as_strata(a), as_strata(b)
    ranks_x, ranks_y, n_ranks = _task_ranks(x, y)
    out = np.empty(n_resamples)
    resample_improvement(keys[0], keys[1], 0, ranks_x, x.starts, ranks_y, y.starts, n_ranks, out)
    return out if higher_is_better else 1.0 - out


def _task_ranks(
    x: Strata, y: Strata
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return dense ranks of both algorithms' scores inside each task, and how many there are."""
    ranks_x, ranks_y = np.empty(x.values.size, np.int64), np.empty(y.values.size, np.int64)
    n_ranks = np.empty(x.n_tasks, np.int64)
    for t, (p, q) in enumerate(zip(x.per_task(), y.per_task(), strict=True)):
        different, ranks = np.unique(np.concatenate([p, q]), return_inverse=True)
        ranks_x[x.starts[t] : x.starts[t + 1]] = ranks[: p.size]
        ranks_y[y.starts[t] : y.starts[t + 1]] = ranks[p.size :]
        n_ranks[t] = different.size
    return ranks_x, ranks_y, n_ranks
