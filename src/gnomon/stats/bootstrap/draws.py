"""The draws of the bootstrap in plain NumPy, and what the usual aggregates make of a few of them.

They are those of :mod:`gnomon.stats.bootstrap.kernels`, bit for bit, and are for little work, which
is done before Numba would be loaded.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.strata import IntArray, Strata

UIntArray = npt.NDArray[np.uint64]

#: The constants of splitmix64 (Steele, Lea and Flood 2014).
STRIDE = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)

#: A weight below this is what rounding leaves of none.
NO_WEIGHT = 1e-9


def drawn_scores(
    strata: Strata, key: np.uint64, first: int, n_resamples: int, *, draw_tasks: bool
) -> IntArray:
    """Return which scores some resamples consist of.

    Parameters
    ----------
    strata : Strata
        The scores that are drawn from.
    key : uint64
        From :func:`~gnomon.stats.bootstrap.resamples.draw_key`.
    first : int
        The number of the first resample.
    n_resamples : int
        How many of them.
    draw_tasks : bool
        Whether tasks are drawn with replacement too.

    Returns
    -------
    ndarray of int, shape (tasks, most runs, n_resamples)
        Indices of scores; -1 beyond the runs of a task.

    Examples
    --------
    >>> strata = Strata.from_runs([[1.0, 2.0, 3.0], [5.0]])
    >>> drawn_scores(strata, np.uint64(7), 0, 1, draw_tasks=False)[..., 0]
    array([[ 2,  1,  1],
           [ 3, -1, -1]])
    """
    n_tasks, starts = strata.n_tasks, strata.starts
    runs = np.arange(strata.counts.max(), dtype=np.uint64)[:, None]
    steps = (runs + np.uint64(1)) * STRIDE
    numbers = np.arange(first + 1, first + n_resamples + 1, dtype=np.uint64)
    state = _mixed(key + numbers * STRIDE)
    picks = np.empty((n_tasks, runs.size, n_resamples), dtype=np.int64)
    for slot in range(n_tasks):
        task = np.full(n_resamples, slot)
        if draw_tasks:
            state += STRIDE
            task = _below(_mixed(state), np.uint64(n_tasks))
        counts = strata.counts[task].astype(np.uint64)
        drawn = _below(_mixed(state + steps), counts)
        picks[slot] = np.where(runs < counts, starts[task] + drawn, -1)
        state += counts * STRIDE
    return picks


def _mixed(z: UIntArray) -> UIntArray:
    """Scramble 64 bits: the output function of splitmix64."""
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


def _below(random: UIntArray, n: npt.NDArray[np.uint64] | np.uint64) -> IntArray:
    """Return whole numbers below n from the upper 32 bits of random ones."""
    return (((random >> np.uint64(32)) * n) >> np.uint64(32)).astype(np.int64)


def aggregates_of_draws(
    strata: Strata, extras: FloatArray, picks: IntArray, cut: float
) -> FloatArray:
    """Return what :func:`gnomon.stats.bootstrap.kernels.resample_aggregates` does, for given draws.

    Parameters
    ----------
    strata : Strata
        The scores that are drawn from.
    extras : ndarray of float, shape (scores,)
        A number of each score whose mean is wanted too.
    picks : ndarray of int, shape (tasks, most runs, n_resamples)
        From :func:`drawn_scores`.
    cut : float
        How much of the weight of all scores, their number, the trimmed mean cuts from each end.

    Returns
    -------
    ndarray of float, shape (n_resamples, 4)
        Mean, median, trimmed mean, mean of the extras.
    """
    inside = picks >= 0
    n_runs = inside.sum(axis=1)
    # Sums along an axis that is not the last one add up in order, as the compiled loop does.
    with np.errstate(invalid="ignore"):
        means, of_extras = (
            np.where(inside, x[picks], 0.0).sum(axis=1) / n_runs for x in (strata.values, extras)
        )
        columns = [means.sum(axis=0) / strata.n_tasks, _medians(means)]
        columns += [_trimmed(strata, picks, cut), of_extras.sum(axis=0) / strata.n_tasks]
    return np.stack(columns, axis=1)


def _medians(means: FloatArray) -> FloatArray:
    """Return the median over the first axis."""
    ordered = np.sort(means, axis=0)
    below, center = ordered[(means.shape[0] - 1) // 2], ordered[means.shape[0] // 2]
    return np.asarray(np.where(below < center, below + (center - below) / 2.0, center))


def _trimmed(strata: Strata, picks: IntArray, cut: float) -> FloatArray:
    """Return the mean of the weight that is left between the ends."""
    n, n_resamples = strata.values.size, picks.shape[2]
    order = np.argsort(strata.values, kind="stable")
    places = np.empty(n + 1, dtype=np.int64)
    places[order] = np.arange(n)
    places[-1] = n  # where no score is drawn
    units = np.append(np.repeat(strata.units, strata.counts), 0.0)
    cells = places[picks] * n_resamples + np.arange(n_resamples)
    mass = np.bincount(cells.ravel(), units[picks].ravel(), (n + 1) * n_resamples)
    mass = mass[: n * n_resamples].reshape(n, n_resamples)
    above = np.cumsum(mass, axis=0)
    below = np.vstack([np.zeros(n_resamples), above[:-1]])
    whole = (below >= cut) & (above < n - cut)
    kept = np.where(whole, mass, np.minimum(above, n - cut) - np.maximum(below, cut))
    inside = np.where(kept > NO_WEIGHT, kept * strata.values[order][:, None], 0.0)
    return np.asarray(inside.sum(axis=0) / (n - 2.0 * cut))
