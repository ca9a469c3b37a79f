"""What share of the runs, or of the tasks, of one algorithm is better than each threshold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.strata import Strata, as_strata

__all__ = ["average_score_profile", "run_score_profile", "task_shares"]


def run_score_profile(
    scores: Strata | npt.ArrayLike, tau: npt.ArrayLike, *, higher_is_better: bool = True
) -> FloatArray:
    """Return the share of runs better than each threshold, averaged over tasks.

    Strictly better: above, or below where lower is better.

    Examples
    --------
    >>> run_score_profile([[0.5, 3.0], [2.0, 4.0]], [0, 1, 3])
    array([1.  , 0.75, 0.25])
    """
    shares = task_shares(as_strata(scores), np.asarray(tau, dtype=np.float64), higher_is_better)
    return np.asarray(shares.mean(axis=0))


def average_score_profile(
    scores: Strata | npt.ArrayLike, tau: npt.ArrayLike, *, higher_is_better: bool = True
) -> FloatArray:
    """Return the share of tasks whose mean score is better than each threshold.

    Examples
    --------
    >>> average_score_profile([[0.5, 3.0], [2.0, 4.0]], [0, 1, 3])
    array([1. , 1. , 0.5])
    """
    means = as_strata(scores).task_means
    return _shares_above(np.sort(means), np.asarray(tau, dtype=np.float64), higher_is_better)


def _shares_above(ordered: FloatArray, tau: FloatArray, higher_is_better: bool) -> FloatArray:
    """Return the share of ordered values strictly better than each threshold."""
    if higher_is_better:
        return 1.0 - np.searchsorted(ordered, tau, "right") / ordered.size
    return np.searchsorted(ordered, tau, "left") / ordered.size


def task_shares(strata: Strata, tau: FloatArray, higher_is_better: bool) -> FloatArray:
    """Return the share of each task's runs better than each threshold, (tasks, thresholds)."""
    parts = strata.per_task()
    return np.stack([_shares_above(np.sort(x), tau, higher_is_better) for x in parts])
