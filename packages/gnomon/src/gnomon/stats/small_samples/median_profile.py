"""The profile-likelihood interval of a median over tasks, and the variances that it goes by.

The error of a median of task means comes from the gaps between the true means near the middle,
where no resampling can see it. The likelihood of an order statistic does: the upper end is the
highest c for which moving enough tasks up to c costs less log-likelihood than a chi-square
quantile, lowered where tasks are dense. Variances are moderated by those of the tasks nearest in
score.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gnomon.scores.table import FloatArray
from gnomon.stats.small_samples.small_sample import task_variances
from gnomon.stats.strata import IntArray, Number, Strata, number

#: Tasks nearest in score whose variances moderate a task's own, the weight of that prior in
#: degrees of freedom, and the factor on it: chosen on nine populations, and varying them by half
#: changes coverage by 3 points at most from three runs on.
WINDOW = 7
PRIOR_DF = 2.0
PRIOR_FACTOR = 0.75

#: Halvings of a step that give an end its precision, 1e-10 of the step, and those to know it by.
N_HALVINGS, MOST_HALVINGS = 34, 46
#: An excess that is none.
ROUNDING = 1e-14


def median_profile_interval(strata: Strata, level: Number) -> tuple[Number, Number]:
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

    The costs may sum to the quantile of chi-square with one degree of freedom over
    ``sqrt(1 + n/3)``, n being about how many tasks lie within a standard error of the median M:
    ``sqrt(pi) sum p (1 - p)``, p the normal probability that a task is below M. Where many are,
    their errors average out.

    Where the task means are dense it covers more than asked (98-100 % for 95 %). It cannot work
    where the median sits at the end of a tight cluster of tasks next to a wide gap, with noise
    larger than the spread inside the cluster.

    Examples
    --------
    >>> strata = Strata.from_matrix([[0.1, 0.5, 0.9], [0.3, 0.4, 0.7], [0.2, 0.6, 0.8]])
    >>> low, high = median_profile_interval(strata, 0.95)
    >>> low < 0.5 < high
    True
    """
    profile = MedianProfile.of(strata)
    return number(-profile.mirrored().upper(level)), number(profile.upper(level))


@dataclass(frozen=True, eq=False)
class MedianProfile:
    """What the likelihood of a median goes by, whatever the level.

    Parameters
    ----------
    means, errors, dfs : ndarray of float, shape (tasks,)
        Mean of each task, its standard error and the degrees of freedom of that; or (..., tasks).
    dense : float
        By what a chi-square quantile is divided, as tasks near the median are many.

    Examples
    --------
    >>> profile = MedianProfile.of(Strata.from_matrix([[1.0, 2.0, 3.0], [1.0, 4.0, 5.0]]))
    >>> profile.mirrored().means
    array([-1., -3., -4.])
    """

    means: FloatArray
    errors: FloatArray
    dfs: FloatArray
    dense: Number

    @classmethod
    def of(cls, strata: Strata) -> MedianProfile:
        """Return the profile of one table, or of every table of a batch."""
        variances, dfs = locally_moderated_variances(strata, prior_factor=PRIOR_FACTOR)
        errors = np.sqrt(variances / strata.counts)
        crowd = _tasks_near_the_median(strata.task_means, errors)
        return cls(strata.task_means, errors, dfs, np.sqrt(1.0 + crowd / 3.0))

    @cached_property
    def median(self) -> FloatArray:
        """The median of the means."""
        return np.asarray(np.median(self.means, axis=-1))

    @cached_property
    def _wallace(self) -> FloatArray:
        """What turns a logarithm of the likelihood into a squared normal score."""
        factor = np.square((8.0 * self.dfs + 1.0) / (8.0 * self.dfs + 3.0)) * self.dfs
        return np.asarray(factor[..., None, :])

    def mirrored(self) -> MedianProfile:
        """Return the profile of the negated scores."""
        return replace(self, means=-self.means)

    def beside(self, other: MedianProfile) -> MedianProfile:
        """Return both as a batch, whose last axis they are."""
        return MedianProfile(
            np.stack([self.means, other.means], axis=-2),
            np.stack([self.errors, other.errors], axis=-2),
            np.stack([self.dfs, other.dfs]),
            np.stack([self.dense, other.dense], axis=-1),
        )

    def upper(self, level: Number) -> FloatArray:
        """Return the upper end of the interval: the highest median that the data allow.

        Several levels have axes before those of a batch.
        """
        from scipy import special

        n = self.means.shape[-1]
        ranks = np.array([(n + 1) // 2] if n % 2 else [n // 2, n // 2 + 1])
        root = np.sqrt(special.chdtri(1.0, 1.0 - level) / self.dense)[..., None] + 0.0 * ranks
        low = np.sort(self.means, axis=-1)[..., ranks - 1] + 0.0 * root
        step = self.errors.max(axis=-1)[..., None] + 0.0 * root
        while (short := (step > 0.0) & (self._excess(low + step, ranks, root) <= 0.0)).any():
            step = np.where(short, step * 2.0, step)

        def excess(c: FloatArray) -> FloatArray:
            return self._excess(c, ranks, root)

        return np.asarray(_sign_change(excess, low, step, -root).mean(axis=-1))

    def _excess(self, c: FloatArray, ranks: IntArray, root: FloatArray) -> FloatArray:
        """Return by how much c is too high for the true means of some ranks (from 1).

        It is the root of what it costs to have them there or above, less that of what it may cost:
        nearly a straight line; bounded, as means without an error cost infinitely much to move.
        """
        means, errors, dfs = (x[..., None, :] for x in (self.means, self.errors, self.dfs))
        below = means < c[..., None]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            deviation = np.square((c[..., None] - means) / errors)
            costs = np.where(below, self._wallace * np.log1p(deviation / dfs), np.inf)
        # So many tasks have to be moved, those for which it costs least.
        n_moved = below.sum(axis=-1) - ranks + 1
        moved = np.arange(means.shape[-1]) < n_moved[..., None]
        cost = np.where(moved, np.sort(costs, axis=-1), 0.0).sum(axis=-1)
        return np.asarray(np.minimum(np.sqrt(cost), 2.0 * root + 1.0) - root)


def _sign_change(
    excess: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    step: FloatArray,
    at_low: FloatArray,
) -> FloatArray:
    """Return where increasing functions change their sign, to 1e-10 of a step that brackets it.

    By the ITP method (Oliveira and Takahashi 2021): a secant, moved towards the middle so far that
    this takes one step more than bisection at most, and a third of them mostly.
    """
    high, at_high = low + step, excess(low + step)
    scale = np.where(step > 0.0, step, 1.0)
    start = low
    for turn in range(MOST_HALVINGS + 2):
        width, middle = high - low, (low + high) / 2.0
        wide = width > step * 2.0**-MOST_HALVINGS
        if not wide.any():
            break
        secant = high - at_high * width / np.where(width > 0.0, at_high - at_low, 1.0)
        off = middle - secant
        c = secant + np.sign(off) * np.minimum(0.2 * np.square(width) / scale, np.abs(off))
        reach = np.maximum(scale * 2.0 ** (1 - turn) - width, 0.0) / 2.0
        c = np.clip(c, middle - reach, middle + reach)
        found = excess(c)
        below, above = wide & (found <= ROUNDING), wide & (found >= -ROUNDING)
        low, at_low = np.where(below, c, low), np.where(below, found, at_low)
        high, at_high = np.where(above, c, high), np.where(above, found, at_high)
    # What halving the step would find, so that an end is the same whichever way it is found.
    part = scale * 2.0**-N_HALVINGS
    return start + part * np.floor((low - start) / part)


def locally_moderated_variances(
    strata: Strata, *, prior_factor: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Return the variance of each task's runs, moderated by the tasks nearest in mean score.

    The prior is the mean variance of the :data:`WINDOW` tasks nearest in mean, itself among them,
    and weighs as much as :data:`PRIOR_DF` degrees of freedom.

    Parameters
    ----------
    strata : Strata
        Finite scores.
    prior_factor : float
        What to multiply the prior by.

    Returns
    -------
    variances, dfs : ndarray of float, shape (tasks,)
        0 where neither the task nor one near it varies; and the degrees of freedom.
    """
    own_df = (strata.counts - 1).astype(np.float64)
    own = task_variances(strata, strata.values)
    order = np.argsort(strata.task_means, axis=-1, kind="stable")
    n = own_df.size
    width = min(WINDOW, n)
    window = np.clip(np.arange(n) - width // 2, 0, n - width)[:, None] + np.arange(width)
    weights = own_df[order][..., window].sum(axis=-1)
    # Among tasks of a single run there is nothing to go by but all the others.
    overall = (own @ own_df / max(float(own_df.sum()), 1.0))[..., None]
    squares = np.take_along_axis(own * own_df, order, -1)[..., window].sum(axis=-1)
    nearby = np.where(weights > 0.0, squares / np.maximum(weights, 1.0), overall)
    prior = np.empty_like(own)
    np.put_along_axis(prior, order, prior_factor * nearby, -1)
    dfs = PRIOR_DF + own_df
    return (PRIOR_DF * prior + own_df * own) / dfs, dfs


def _tasks_near_the_median(means: FloatArray, errors: FloatArray) -> FloatArray:
    """Return about how many tasks lie within a standard error of the median."""
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore"):
        above = special.ndtr((np.median(means, axis=-1, keepdims=True) - means) / errors)
    crowd = math.sqrt(math.pi) * (above * (1.0 - above))
    return np.asarray(np.where(errors > 0.0, crowd, 0.0).sum(axis=-1))
