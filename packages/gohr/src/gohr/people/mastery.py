"""When a rule was mastered: the attempts before the first streak of successes.

All attempts of a trial count in a row, whatever the boards. A trial has mastered the rule at the
first ``target`` successes in a row, and **m*** is the number of attempts before that streak began.
A trial that never had such a streak has an infinite m*, which ranks and quantiles use; it is never
dropped.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon.errors import check_count
from gohr.board import N_BUCKETS
from gohr.playing import TrialLog
from gohr.replays import replay

if TYPE_CHECKING:
    from scipy.stats._result_classes import ECDFResult

    from gohr.rules.syntax import RuleSet

#: Default number of successes in a row that count as mastery.
TARGET_STREAK = 10


def attempts_to_master(
    accepted: npt.ArrayLike,
    *,
    target: int | None = TARGET_STREAK,
    ratios: npt.ArrayLike | None = None,
    target_r: float = math.inf,
) -> float:
    """Return m*, the number of attempts before the first streak of successes.

    Parameters
    ----------
    accepted : array_like of bool, shape (n_attempts,)
        Whether each attempt of a trial was a success.
    target : int or None
        Length of the streak, at least 1; None if only `target_r` counts.
    ratios : array_like of float, shape (n_attempts,), optional
        Likelihood ratio of each attempt, if it is a success: a player who knows the rule against
        one who tries at random.
    target_r : float
        A streak counts, too, if the product of its ratios gets so high.

    Returns
    -------
    float
        An integer, or infinity if there was no such streak. It counts to where the streak began,
        whichever criterion it met.

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
    if target is not None:
        check_count("target", target)
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


def likelihood_ratios(rule_set: RuleSet, log: TrialLog) -> npt.NDArray[np.float64]:
    """Return how strongly a success at each attempt favours knowledge of the rule over chance.

    A player who knows the rule picks a movable piece and one of the buckets that accept it; a
    player who does not picks any piece and any bucket. The ratio of the two probabilities is
    pieces / movable pieces times 4 / buckets that accept the piece: at least 1, or 0 where the
    attempt cannot succeed. Shape (n_rows,).
    """
    found = replay(log.boards, log.n_attempts, log.actions, rule_set)
    movable = found.n_accepting > 0
    chances = found.n_pieces / np.maximum(found.n_movable, 1)
    return np.where(movable, chances * N_BUCKETS / np.maximum(found.n_accepting, 1), 0.0)


def mastery_ecdf(m_star: npt.ArrayLike, n_attempts: npt.ArrayLike) -> ECDFResult:
    """Estimate the share of players who have mastered a rule, by number of attempts before.

    A player who stopped without mastery is right-censored at the number of attempts made: the
    estimate is that of Kaplan and Meier.

    Parameters
    ----------
    m_star : array_like of float, shape (n_players,)
        Attempts before mastery, infinite without mastery.
    n_attempts : array_like of float, shape (n_players,)
        Attempts made in all; used where `m_star` is infinite.

    Returns
    -------
    scipy.stats._result_classes.ECDFResult
        Its ``cdf`` and ``sf`` have ``quantiles``, ``probabilities`` and ``confidence_interval``.

    Raises
    ------
    ValueError
        If there is no player, or an m* is not a number.

    Examples
    --------
    >>> found = mastery_ecdf([12, 40, np.inf, 15], [60, 60, 30, 60])
    >>> found.cdf.quantiles, found.cdf.probabilities
    (array([12., 15., 30., 40.]), array([0.25, 0.5 , 0.5 , 1.  ]))
    """
    from scipy.stats import CensoredData, ecdf

    values = np.asarray(m_star, dtype=np.float64)
    made = np.asarray(n_attempts, dtype=np.float64)
    if values.ndim != 1 or not values.size or np.isnan(values).any():
        raise ValueError("expected at least one m*, each a number or infinite")
    if made.shape != values.shape:
        raise ValueError(f"n_attempts: expected {values.size} numbers, found {made.size}")
    reached = np.isfinite(values)
    return ecdf(CensoredData(uncensored=values[reached], right=made[~reached]))
