"""The interval of the median over tasks of the task means, by the likelihood of an order statistic.

The error of a median of tasks comes from the gaps between the true task means near the middle,
where no resampling can see it. So the upper end is the highest c for which moving enough tasks up
to c costs less log-likelihood than a chi-square quantile. Variances are moderated by those of the
tasks nearest in score; runs may be ragged.
"""

from __future__ import annotations

import numpy as np

from gnomon.scores.table import FloatArray
from gnomon.stats.intervals.small_sample import task_variances
from gnomon.stats.strata import Strata

__all__ = ["median_profile_interval"]

#: Tasks nearest in score whose variances moderate a task's own, the weight of that prior in
#: degrees of freedom, and the factor on it: chosen on nine populations, and varying them by half
#: changes coverage by 3 points at most from three runs on.
WINDOW = 7
PRIOR_DF = 2.0
PRIOR_FACTOR = 0.75


def median_profile_interval(strata: Strata, level: float) -> tuple[float, float]:
    """Return the profile-likelihood interval of the median over tasks of the true task means.

    Parameters
    ----------
    strata : Strata
        Finite scores, at least one task with two runs.
    level : float
        Confidence level.

    Returns
    -------
    low, high : float
        They always enclose the estimate. With an even number of tasks they are the averages of
        the ends for the two middle ones.

    Notes
    -----
    Moving task t to c costs ``((8v+1)/(8v+3))**2 v log(1 + ((c - m)/se)**2/v)``, the squared normal
    score of a t deviate with v degrees of freedom (Wallace 1959).

    Where the task means are dense it covers more than asked (98-100 % for 95 %). It cannot work
    where the median sits at the end of a tight cluster of tasks next to a wide gap, with noise
    larger than the spread inside the cluster.
    """
    from scipy import special

    means, (errors, dfs) = strata.task_means, _moderated_errors(strata)
    critical = float(special.chdtri(1.0, 1.0 - level))
    n = means.size
    ranks = [(n + 1) // 2] if n % 2 else [n // 2, n // 2 + 1]
    highs = [_upper_end(means, errors, dfs, rank, critical) for rank in ranks]
    lows = [-_upper_end(-means, errors, dfs, n + 1 - rank, critical) for rank in ranks]
    return float(np.mean(lows)), float(np.mean(highs))


def _moderated_errors(strata: Strata) -> tuple[FloatArray, FloatArray]:
    """Return the standard error of each task's mean and its degrees of freedom."""
    own_df = (strata.counts - 1).astype(np.float64)
    own = task_variances(strata, strata.values)
    order = np.argsort(strata.task_means, kind="stable")
    n = order.size
    width = min(WINDOW, n)
    prior = np.empty(n)
    for place, task in enumerate(order):
        begin = min(max(place - width // 2, 0), n - width)
        near = order[begin : begin + width]
        if not own_df[near].any():
            near = order
        prior[task] = PRIOR_FACTOR * np.average(own[near], weights=own_df[near])
    dfs = PRIOR_DF + own_df
    return np.sqrt((PRIOR_DF * prior + own_df * own) / dfs / strata.counts), dfs


def _upper_end(
    means: FloatArray, errors: FloatArray, dfs: FloatArray, rank: int, critical: float
) -> float:
    """Return the highest value of the true mean of that rank (from 1) that the data allow."""
    wallace = np.square((8.0 * dfs + 1.0) / (8.0 * dfs + 3.0)) * dfs

    def cost(c: float) -> float:
        """Return what it costs to have that many true means at c or above."""
        below = means < c
        n_moved = means.size - rank + 1 - int(np.count_nonzero(~below))
        if n_moved <= 0:
            return 0.0
        with np.errstate(divide="ignore", over="ignore"):
            deviation = np.square((c - means[below]) / errors[below])
            costs = wallace[below] * np.log1p(deviation / dfs[below])
        return float(np.sum(np.partition(costs, n_moved - 1)[:n_moved]))

    low = float(np.partition(means, rank - 1)[rank - 1])
    step = float(errors.max())
    if step == 0.0:
        return low
    while cost(low + step) <= critical:
        step *= 2.0
    high = low + step
    for _ in range(60):
        middle = (low + high) / 2.0
        if high - low < 1e-10 * step:
            break
        low, high = (middle, high) if cost(middle) <= critical else (low, middle)
    return low
