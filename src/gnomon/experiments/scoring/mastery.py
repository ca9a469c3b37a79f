"""When a rule was mastered: the attempts before the first streak of successes.

The reference game server judges people so: all attempts of a trial in a row, whatever the boards.
A trial has mastered the rule at the first ``target`` successes in a row, and **m*** is the number
of attempts before that streak began. A trial that never had such a streak has an infinite m*, which
ranks and quantiles use; it is never dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Successes in a row that count as mastery, unless one says otherwise.
TARGET_STREAK = 10


def attempts_to_master(
    accepted: npt.ArrayLike,
    *,
    target: int | None = TARGET_STREAK,
    ratios: npt.ArrayLike | None = None,
    target_r: float = math.inf,
) -> float:
    """Return m*: how many attempts were made before the first streak of successes.

    Parameters
    ----------
    accepted : array_like of bool, shape (n_attempts,)
        Whether each attempt of a trial was a success.
    target : int or None
        Length of the streak, at least 1; None if only `target_r` counts.
    ratios : array_like of float, shape (n_attempts,), optional
        By how much each attempt, if it is a success, speaks for one who knows the rule against one
        who tries at random.
    target_r : float
        A streak counts, too, if the product of its ratios gets so high.

    Returns
    -------
    float
        A whole number, or infinity if there was no such streak. It counts to where the streak
        began, whichever criterion it met.

    Raises
    ------
    ValueError
        If the target is below 1, or the lengths differ.

    References
    ----------
    The reference system's ``MakeMwSeries`` with ``targetStreak`` and ``targetR``, as it counts
    since version 8.056.

    Examples
    --------
    >>> attempts_to_master([0, 1, 1, 0, 1, 1, 1], target=3)
    4.0
    >>> attempts_to_master([0, 1, 1, 0], target=3)
    inf
    >>> attempts_to_master([0, 1, 1, 0], target=3, ratios=[4.0, 4.0, 4.0, 4.0], target_r=16)
    1.0
    """
    if target is not None and target < 1:
        raise ValueError(f"target: expected at least 1, found {target}")
    good = np.asarray(accepted, dtype=np.bool_)
    weights = np.ones(good.size) if ratios is None else np.asarray(ratios, dtype=np.float64)
    if weights.shape != good.shape:
        raise ValueError(f"ratios: expected {good.size} numbers, found {weights.size}")
    # A streak ends at a failure or with the trial; it begins after the failure before.
    ends = np.append(np.flatnonzero(~good), good.size)
    begins = np.append(0, ends[:-1] + 1)
    enough = ends - begins >= (math.inf if target is None else target)
    if ratios is not None:
        reached = [weights[a:b].cumprod().max(initial=0) for a, b in zip(begins, ends, strict=True)]
        enough |= np.array(reached) >= target_r
    return float(begins[enough][0]) if enough.any() else math.inf


@dataclass(frozen=True, slots=True, eq=False)
class MasteryDistribution:
    """How many trials had mastered a rule after so many attempts.

    Parameters
    ----------
    attempts : numpy.ndarray of float, shape (n,)
        The different finite values of m*, rising.
    fraction : numpy.ndarray of float, shape (n,)
        Fraction of **all** trials whose m* is at most that.
    success_rate : float
        Fraction of all trials that mastered the rule at all.
    median : float
        Median m* of those that did; NaN if none did.

    Examples
    --------
    >>> found = mastery_distribution([12.0, 40.0, np.inf, 15.0])
    >>> found.success_rate, found.attempts
    (0.75, array([12., 15., 40.]))
    """

    attempts: npt.NDArray[np.float64]
    fraction: npt.NDArray[np.float64]
    success_rate: float
    median: float


def mastery_distribution(attempts: Sequence[float] | npt.ArrayLike) -> MasteryDistribution:
    """Return the cumulative distribution of m* over trials.

    Parameters
    ----------
    attempts : array_like of float, shape (n_trials,)
        The m* of each trial, infinite where the rule was never mastered.

    Raises
    ------
    ValueError
        If there is no trial, or an m* is not a number.

    Examples
    --------
    >>> d = mastery_distribution([30, 10, float("inf"), 10])
    >>> d.attempts.tolist(), d.fraction.tolist(), d.success_rate, d.median
    ([10.0, 30.0], [0.5, 0.75], 0.75, 10.0)
    """
    values = np.asarray(attempts, dtype=np.float64)
    if values.ndim != 1 or not values.size or np.isnan(values).any():
        raise ValueError("expected at least one m*, each a number or infinite")
    learned = values[np.isfinite(values)]
    different, counts = np.unique(learned, return_counts=True)
    median = float(np.median(learned)) if learned.size else math.nan
    fraction = np.cumsum(counts) / values.size
    return MasteryDistribution(different, fraction, learned.size / values.size, median)
