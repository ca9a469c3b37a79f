"""Performance profiles: what share of runs, or of tasks, scores above each threshold.

A profile shows the whole distribution at once (Agarwal et al. 2021): one that lies above another
everywhere is better by any summary. Where lower scores are better, "above" reads "below".

The bootstrap band of a run-score profile needs no resampling: at a threshold the number of runs
above it is, task by task, a binomial draw, so its distribution over all tasks is a product of
characteristic functions. Bands are pointwise; :func:`simultaneous_band` holds for the whole curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap import draw_key
from gnomon.stats.estimate import finite_or_none, shared_tasks
from gnomon.stats.quantiles import percentile_interval
from gnomon.stats.strata import Strata, as_strata

__all__ = [
    "Profile",
    "average_score_profile",
    "exact_band",
    "performance_profiles",
    "resampled_profiles",
    "run_score_profile",
    "simultaneous_band",
    "thresholds",
]

#: A lattice of more points than this is resampled instead of computed.
LARGEST_LATTICE = 100_000

Kind = Literal["run_score", "average_score"]
Band = Literal["pointwise", "simultaneous", "none"]


@dataclass(frozen=True, eq=False)
class Profile:
    """One algorithm's profile with its band.

    Parameters
    ----------
    algorithm, kind : str
        Whose profile, and of what.
    tau : ndarray of float, shape (thresholds,)
        Ascending thresholds.
    value, low, high : ndarray of float, shape (thresholds,)
        Share above each threshold, and the band; NaN where there is none.
    level : float
        Confidence level of the band.
    band : str
        ``pointwise``, ``simultaneous`` or ``none``.
    """

    algorithm: str
    kind: str
    tau: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    band: str

    def as_records(self) -> list[dict[str, Any]]:
        """Return one mapping for each threshold, fit for JSON."""
        columns = zip(
            self.tau.tolist(),
            self.value.tolist(),
            self.low.tolist(),
            self.high.tolist(),
            strict=True,
        )
        names = ("algorithm", "kind", "tau", "value", "low", "high")
        return [
            dict(zip(names, map(finite_or_none, (self.algorithm, self.kind, *row)), strict=True))
            for row in columns
        ]

    def quantile(self, share: float) -> float:
        """Return the highest threshold that at least this share is above; NaN if none is."""
        reached = np.flatnonzero(self.value >= share)
        return float(self.tau[reached[-1]]) if reached.size else float("nan")

    def first_reaching(self, share: float) -> float:
        """Return the lowest threshold with at least this share, for profiles of distance."""
        reached = np.flatnonzero(self.value >= share)
        return float(self.tau[reached[0]]) if reached.size else float("nan")

    def area(self) -> float:
        """Return the area under the profile over its thresholds, by the trapezoidal rule."""
        return float(np.trapezoid(self.value, self.tau))


def thresholds(
    strata: Sequence[Strata],
    *,
    spacing: Literal["linear", "log", "data"] = "linear",
    n: int = 81,
) -> FloatArray:
    """Return thresholds that span the scores of several algorithms.

    Parameters
    ----------
    strata : sequence of Strata
    spacing : str
        ``linear``; ``log``, for positive scores; or ``data``: quantiles of all scores, so that
        the steps of the profiles are spread evenly.
    n : int
        Number of thresholds.

    Raises
    ------
    ScoreDataError
        Logarithmic spacing of scores that are not positive, or no score is finite.
    """
    values = np.concatenate([one.values for one in strata])
    values = values[np.isfinite(values)]
    if not values.size:
        raise ScoreDataError("thresholds: expected at least one finite score, found none")
    if spacing == "data":
        return np.unique(np.quantile(values, np.linspace(0.0, 1.0, n)))
    low, high = float(values.min()), float(values.max())
    if spacing == "linear":
        return np.linspace(min(low, 0.0) if low > 0 else low, high, n)
    if low <= 0.0:
        raise ScoreDataError(f"expected positive scores for logarithmic thresholds, found {low:g}")
    return np.geomspace(low, high, n)


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
    shares = _task_shares(as_strata(scores), _array(tau), higher_is_better)
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
    return _shares_above(np.sort(means), _array(tau), higher_is_better)


def _array(tau: npt.ArrayLike) -> FloatArray:
    return np.asarray(tau, dtype=np.float64)


def _shares_above(ordered: FloatArray, tau: FloatArray, higher_is_better: bool) -> FloatArray:
    """Return the share of ordered values strictly better than each threshold."""
    if higher_is_better:
        return 1.0 - np.searchsorted(ordered, tau, "right") / ordered.size
    return np.searchsorted(ordered, tau, "left") / ordered.size


def _task_shares(strata: Strata, tau: FloatArray, higher_is_better: bool) -> FloatArray:
    """Return the share of each task's runs better than each threshold, (tasks, thresholds)."""
    parts = strata.per_task()
    return np.stack([_shares_above(np.sort(x), tau, higher_is_better) for x in parts])


def performance_profiles(
    table: ScoreTable,
    tau: npt.ArrayLike | None = None,
    *,
    kind: Kind = "run_score",
    spacing: Literal["linear", "log", "data"] = "linear",
    band: Band = "pointwise",
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: np.random.Generator,
) -> list[Profile]:
    """Return the profile of every algorithm of a table, on the tasks that all have.

    Parameters
    ----------
    table : ScoreTable
        One score for each run.
    tau : array_like of float, optional
        Thresholds, ascending; if not given, `spacing` chooses them (see :func:`thresholds`).
    kind : str
        ``run_score``: share of runs; ``average_score``: share of tasks by their mean.
    band : str
        ``pointwise``: the bootstrap percentile interval at each threshold, exact for run scores
        (resampled where numbers of runs have no common multiple of reasonable size);
        ``simultaneous``: for the whole curve; ``none``.
    level : float
        Confidence level of the band.
    n_resamples : int
        Number of resamples, where the band is not exact.
    rng : numpy.random.Generator
        Source of all draws.

    Returns
    -------
    list of Profile
        In the table's order. With one run per task the band is NaN.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[1.0, 2.0], [3.0, 4.0]]})
    >>> (profile,) = performance_profiles(table, [0.0, 2.5], rng=np.random.default_rng(0))
    >>> profile.value, profile.low, profile.high
    (array([1. , 0.5]), array([1., 0.]), array([1., 1.]))
    """
    tasks = shared_tasks(table)
    strata = {name: Strata.from_table(table, name, tasks) for name in table.algorithms}
    at = thresholds(list(strata.values()), spacing=spacing) if tau is None else np.sort(_array(tau))
    higher = table.higher_is_better
    profiles = []
    for name, scores in strata.items():
        one = run_score_profile if kind == "run_score" else average_score_profile
        value = one(scores, at, higher_is_better=higher)
        key = draw_key(rng)
        low, high = np.full(at.size, np.nan), np.full(at.size, np.nan)
        if band != "none" and scores.counts.max() > 1:
            if band == "pointwise" and kind == "run_score" and _lattice(scores) <= LARGEST_LATTICE:
                low, high = exact_band(scores, at, level=level, higher_is_better=higher)
            else:
                drawn = resampled_profiles(
                    scores,
                    at,
                    kind=kind,
                    higher_is_better=higher,
                    n_resamples=n_resamples,
                    key=key,
                )
                ends = percentile_interval(drawn, level)
                low, high = ends[:2]
                if band == "simultaneous":
                    low, high = simultaneous_band(drawn, value, level)
        profiles.append(Profile(name, kind, at, value, low, high, level, band))
    return profiles


def exact_band(
    scores: Strata | npt.ArrayLike,
    tau: npt.ArrayLike,
    *,
    level: float = 0.95,
    higher_is_better: bool = True,
) -> tuple[FloatArray, FloatArray]:
    """Return the pointwise bootstrap percentile band of a run-score profile, without resampling.

    At a threshold, R_t times the resampled share of task t is Binomial(R_t, p_t), independent over
    tasks; the distribution of the mean share comes from the product of their characteristic
    functions. Its quantiles are what infinitely many resamples would give.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
    tau : array_like of float
        Thresholds.
    level : float
        Confidence level at each threshold.

    Returns
    -------
    low, high : ndarray of float, shape (thresholds,)
    """
    strata = as_strata(scores)
    shares = _task_shares(strata, _array(tau), higher_is_better)
    total = _lattice(strata)
    if total > LARGEST_LATTICE:
        raise ValueError(
            f"runs per task of {sorted(set(strata.counts.tolist()))} have no common lattice of "
            "reasonable size; use a simultaneous band, which resamples"
        )
    probabilities = _sum_distributions(shares, strata.counts, total // strata.n_tasks)
    cumulated = np.cumsum(probabilities, axis=1)
    tail = (1.0 - level) / 2.0
    # The slack keeps a quantile that rounding would push over by one point.
    low = np.argmax(cumulated >= tail - 1e-12, axis=1)
    high = np.argmax(cumulated >= 1.0 - tail - 1e-12, axis=1)
    return low / total, high / total


def _lattice(strata: Strata) -> int:
    """Return T lcm(R_t): the shares of ragged tables live on a lattice of one over it."""
    return math.lcm(*strata.counts.tolist()) * strata.n_tasks


def _sum_distributions(
    shares: FloatArray, counts: npt.NDArray[np.int64], lattice: int
) -> FloatArray:
    """Return for each threshold the distribution of the sum of ``lattice/R_t`` times a binomial.

    Tasks with the same share and number of runs have the same factor, so a threshold is a row of
    how often each factor occurs, and all products are one matrix product of logarithms.
    """
    size = lattice * counts.size + 1
    angles = np.arange(size // 2 + 1) * (2.0 * np.pi / size)
    # A whole number for each pair (runs above, runs): np.unique is fast on one axis only.
    base = int(counts.max()) + 1
    above = np.rint(shares * counts[:, None]).astype(np.int64)
    different, which = np.unique(counts[:, None] * base + above, return_inverse=True)
    n = (different // base)[:, None]
    p = (different % base)[:, None] / n
    factors = 1.0 - p + p * np.exp(-1j * angles * (lattice / n))
    # A factor of zero stays one, to 300 digits, and has a logarithm.
    logarithms = n * np.log(np.where(np.abs(factors) < 1e-300, 1e-300, factors))
    rows = np.tile(np.arange(shares.shape[1]), shares.shape[0])
    occurrences = np.zeros((shares.shape[1], different.size))
    np.add.at(occurrences, (rows, which.ravel()), 1.0)
    transforms = np.exp(occurrences @ logarithms)
    return np.maximum(np.fft.irfft(transforms, size, axis=1), 0.0)


def resampled_profiles(
    scores: Strata | npt.ArrayLike,
    tau: npt.ArrayLike,
    *,
    kind: Kind = "run_score",
    higher_is_better: bool = True,
    n_resamples: int,
    key: np.uint64,
    draw_tasks: bool = False,
) -> FloatArray:
    """Return the profile of every resample.

    Parameters
    ----------
    scores : array_like of shape (runs, tasks), or Strata
    tau : array_like of float, shape (thresholds,)
        Ascending.
    kind, higher_is_better
        As in :func:`performance_profiles`.
    n_resamples, key, draw_tasks
        As in :class:`~gnomon.stats.bootstrap.Resamples`.

    Returns
    -------
    ndarray of float, shape (n_resamples, thresholds)
    """
    from gnomon.stats.kernels import resample_profiles

    strata, edges = as_strata(scores), _array(tau)
    # Below t is above -t with everything mirrored.
    values = strata.values if higher_is_better else -strata.values
    edges = edges if higher_is_better else -edges[::-1]
    passed = np.searchsorted(edges, values, "left")
    out = np.empty((n_resamples, edges.size))
    of_means = kind == "average_score"
    resample_profiles(key, 0, values, passed, strata.starts, edges, of_means, draw_tasks, out)
    return out if higher_is_better else out[:, ::-1]


def simultaneous_band(
    replicates: FloatArray, value: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return a band that holds the whole curve at once, from resampled curves.

    The half-width is constant: the quantile of the largest deviation of a resampled curve from the
    estimate (a bootstrap Kolmogorov band). It is cut at 0 and 1.

    Parameters
    ----------
    replicates : ndarray of float, shape (n_resamples, thresholds)
    value : ndarray of float, shape (thresholds,)
    level : float
        Confidence level of the whole band.
    """
    largest = np.abs(replicates - value).max(axis=1)
    half = float(np.quantile(largest, level))
    return np.clip(value - half, 0.0, 1.0), np.clip(value + half, 0.0, 1.0)
