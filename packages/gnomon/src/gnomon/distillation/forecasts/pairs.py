"""Pairs of forecasts: the probability that one algorithm is better than another on all tasks."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, sqrt

import numpy as np

from gnomon.distillation.forecasts.forecast import Forecast
from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord
from gnomon.stats.proportions import student_quantile

#: Correlation of the errors of two algorithms with the same scores, and the distance over which
#: it falls; what of the shared extrapolation does not cancel.
_ALIKE, _REACH, _NOT_SHARED = 0.6, 0.5, 0.5
#: Below this probability, either way, nothing is decided.
DECIDED = 0.9


@dataclass(frozen=True)
class SubsetComparison(FieldRecord):
    """Which of two algorithms is better on the full suite, judged by a few tasks.

    Parameters
    ----------
    a, b : str
    probability : float
        That `a` has the greater summary.
    difference, low, high : float
        Of the transformed summaries, a minus b, with its interval; of log10, a ratio's logarithm.
    level : float
    verdict : str
        The better one; ``undecided`` if the probability is below 0.9 either way.

    Examples
    --------
    >>> one = SubsetComparison("dqn", "ppo", 0.7, 0.1, -0.2, 0.4, 0.9, "undecided")
    >>> one.as_record()["probability"]
    0.7
    """

    a: str
    b: str
    probability: float
    difference: float
    low: float
    high: float
    level: float
    verdict: str


def compare_forecasts(a: Forecast, b: Forecast, *, scale: float = 1.0) -> tuple[float, float]:
    """Return the probability that a is better than b, and the spread of their difference.

    Examples
    --------
    >>> a, b = Forecast(2.2, 0.005, 0.0), Forecast(2.0, 0.005, 0.0)
    >>> [round(x, 3) for x in compare_forecasts(a, b)]
    [0.954, 0.1]
    """
    from scipy.special import stdtr

    together = _ALIKE * exp(-_distance(a, b) / _REACH)
    own = a.own + b.own - 2.0 * together * sqrt(a.own * b.own)
    far_a, far_b = sqrt(a.shared), sqrt(b.shared)
    shared = (far_a - far_b) ** 2 + _NOT_SHARED * min(far_a, far_b) ** 2
    spread = sqrt(scale**2 * (own + shared) + a.noise + b.noise)
    difference = a.center - b.center
    if spread == 0.0:
        return (0.5 if difference == 0 else float(difference > 0)), 0.0
    return float(stdtr(min(a.df, b.df), difference / spread)), spread


def _distance(a: Forecast, b: Forecast) -> float:
    """Return the root mean square difference of the standardised scores that both have."""
    if not (a.position and b.position):
        return inf
    off = np.array(a.position) - np.array(b.position)
    off = off[~np.isnan(off)]
    return float(np.sqrt(np.mean(off**2))) if off.size else inf


def comparison_of(
    a: Forecast, b: Forecast, names: tuple[str, str], *, scale: float, level: float
) -> SubsetComparison:
    """Return the comparison of two forecasts, spread by the scale of their model.

    Raises
    ------
    ScoreDataError
        An algorithm has no score to go by.
    """
    for name, one in zip(names, (a, b), strict=True):
        if np.isnan(one.center):
            raise ScoreDataError(
                f"{name}: expected a score on one of the model's tasks; there is none"
            )
    probability, spread = compare_forecasts(a, b, scale=scale)
    difference, half = a.center - b.center, student_quantile(level, min(a.df, b.df)) * spread
    sure = max(probability, 1.0 - probability) >= DECIDED
    verdict = names[0 if probability > 0.5 else 1] if sure else "undecided"
    ends = difference, difference - half, difference + half
    return SubsetComparison(*names, probability, *ends, level, verdict)
