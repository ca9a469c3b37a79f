"""Wilson's band of a profile of run scores, in closed form."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.medians import locally_moderated_variances
from gnomon.stats.samples import Strata, as_strata

#: Up to this number of runs beyond a threshold the band's end is that of the exact binomial.
FEW_RUNS_BEYOND = 5
#: How many runs the expectation of what another run would do counts for.
PRIOR_RUNS = 2.0
#: Shares that differ by less are equal.
ROUNDING = 1e-12


def wilson_band(
    scores: Strata | npt.ArrayLike,
    tau: npt.ArrayLike,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    higher_is_better: bool = True,
) -> tuple[FloatArray, FloatArray]:
    """Return the band of a run-score profile by Wilson's interval, in closed form.

    The share V of runs above a threshold is a mean over tasks of binomial shares. Its interval is
    Wilson's (1927) for as many runs as would give a plain share the same variance, the effective
    number of runs (as Korn and Graubard 1998 for surveys). A few runs that all lie on one side of
    the threshold show no variance; a further run would:

    1. The spread S of a task is moderated by the tasks nearest in mean, with R + 1 degrees of
       freedom (:func:`~gnomon.stats.medians.locally_moderated_variances`). F
       is then the probability that one more run is above, by Student's t around the task's mean
       with the scale ``S sqrt(1 + 1/R)``.
    2. It counts for two runs: ``q = (R p + 2 F)/(R + 2)``, p being the share of the task's runs
       above.
    3. ``v = sum q (1 - q)/B/T**2 + 1/N**2`` with ``B = R (1 - R/(R + 2)**2)``: the variance of the
       mean over T tasks, if F is the truth, and that one of all N runs may always have gone the
       other way.
    4. The effective number of runs is ``Q (1 - Q)/v``, at least 1, with Q the mean of q, no nearer
       to 0 or 1 than 1/N.
    5. Where at most 5 of all runs lie beyond the threshold, the end on their side is no nearer to
       them than Clopper and Pearson's (1934) for N runs: Wilson's would be, since rare events are
       skewed (Brown, Cai and DasGupta 2001), and a whole curve passes many such thresholds.

    A band for the whole curve has the same shape, with the multiplier in place of the normal
    quantile that a standardized bridge keeps below (equal precision: Miller and Siegmund 1982,
    Nair 1984), or Bonferroni's where there are so few thresholds that this is less; and its ends
    fall, as every profile does.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
        Runs may be infinite (censored).
    tau : array_like of float, shape (thresholds,)
        Thresholds, ascending.
    level : float
        Confidence level, between 0 and 1, at each threshold or of the whole curve.
    simultaneous : bool
        Whether the band is for the whole curve.
    higher_is_better : bool
        Direction of the scores: the share is of runs above, or below.

    Returns
    -------
    low, high : ndarray of float, shape (thresholds,)
        They enclose the profile, differ at every threshold, and lie between 0 and 1; NaN with one
        run per task. At 2 and 3 runs they cover 97 to 98 % for 95. A task whose rare event, of
        less than one in N runs, has not happened yet is not covered.

    Examples
    --------
    >>> low, high = wilson_band([[1.0, 2.0], [3.0, 4.0]], [0.0, 1.5, 2.5])
    >>> low.round(2), high.round(2)
    (array([0.38, 0.18, 0.07]), array([1.  , 0.99, 0.93]))
    """
    strata, edges = as_strata(scores), np.asarray(tau, dtype=np.float64)
    if strata.counts.max() == 1:
        return np.full(edges.size, np.nan), np.full(edges.size, np.nan)
    if not higher_is_better:
        low, high = wilson_band(
            Strata(-strata.values, strata.starts),
            -edges[::-1],
            level=level,
            simultaneous=simultaneous,
        )
        return low[::-1], high[::-1]
    shares, runs, n = task_shares(strata, edges), strata.counts[:, None], strata.values.size
    # The profile, its smoothed form kept off 0 and 1, and the effective number of runs.
    smoothed = runs * shares + PRIOR_RUNS * _next_run(strata, edges, shares)
    smoothed /= runs + PRIOR_RUNS
    unbiased = runs * (1.0 - runs / np.square(runs + PRIOR_RUNS))
    of_tasks = (smoothed * (1.0 - smoothed) / unbiased).sum(axis=0)
    variance = of_tasks / strata.n_tasks**2 + 1.0 / n**2
    expected = np.clip(smoothed.mean(axis=0), 1.0 / n, 1.0 - 1.0 / n)
    n_effective = np.maximum(expected * (1.0 - expected) / variance, 1.0)
    value = shares.mean(axis=0)
    if not simultaneous:
        return _ends(value, n_effective, n, _normal_end(1.0 - level))
    multiplier = _multiplier(level, expected, np.unique(edges).size)
    low, high = _ends(value, n_effective, n, multiplier)
    return np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high)


def _next_run(strata: Strata, tau: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the probability that one more run of each task is above, (tasks, thresholds)."""
    from scipy import special

    if not np.isfinite(strata.values).all():
        return shares  # infinite (censored) runs are as likely again as they were
    variances, dfs = locally_moderated_variances(strata)
    scales = np.sqrt(variances * (1.0 + 1.0 / strata.counts))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = special.stdtr(dfs[:, None], (strata.task_means[:, None] - tau) / scales)
    return np.where(scales > 0.0, chances, shares)


def _ends(
    value: FloatArray, n_effective: FloatArray, n_runs: int, multiplier: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends around a profile that lie this many standard errors away."""
    n, squared = n_effective, multiplier**2
    half = multiplier * np.sqrt(value * (1.0 - value) / n + squared / (4.0 * n**2))
    middle, scale = value + squared / (2.0 * n), 1.0 + squared / n
    low = np.minimum((middle - half) / scale, _exact_low(value, n_runs, multiplier))
    high = np.maximum((middle + half) / scale, 1.0 - _exact_low(1.0 - value, n_runs, multiplier))
    return np.clip(low, 0.0, value), np.clip(high, value, 1.0)


def _exact_low(value: FloatArray, n_runs: int, multiplier: float) -> FloatArray:
    """Return Clopper and Pearson's lower end where few runs are above, elsewhere the value."""
    from scipy import special

    above = value * n_runs
    few = (above > ROUNDING) & (above <= FEW_RUNS_BEYOND + ROUNDING * n_runs)
    found, tail = value.copy(), special.ndtr(-multiplier)
    found[few] = special.betaincinv(above[few], n_runs - above[few] + 1.0, tail)
    return found


def _multiplier(level: float, expected: FloatArray, n_thresholds: int) -> float:
    """Return how many standard errors the whole curve stays within."""
    tail = 1.0 - level
    least, most = min(float(expected.min()), 0.5), max(float(expected.max()), 0.5)
    length = math.log(most * (1.0 - least) / ((1.0 - most) * least))

    def crossing(c: float) -> float:
        """Return about how likely the curve is to leave c standard errors anywhere."""
        density = math.exp(-c * c / 2.0) / math.sqrt(2.0 * math.pi)
        return density * (4.0 / c + (c - 1.0 / c) * length)

    low, high = 1.0, 40.0
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (middle, high) if crossing(middle) > tail else (low, middle)
    return max(min(low, _normal_end(tail / n_thresholds)), _normal_end(tail))


def _normal_end(tails: float) -> float:
    """Return beyond which a normal deviate, either way, lies with this probability."""
    from scipy import special

    return float(-special.ndtri(tails / 2.0))


def task_shares(strata: Strata, tau: FloatArray) -> FloatArray:
    """Return the share of each task's runs above each threshold, (tasks, thresholds)."""
    return np.stack([shares_above(x, tau) for x in strata.per_task()])


def shares_above(values: FloatArray, tau: FloatArray) -> FloatArray:
    """Return the share of values strictly above each threshold."""
    return 1.0 - np.searchsorted(np.sort(values), tau, "right") / values.size
