"""Contrasts of group means where a participant may stand in several groups.

The groups of a study of transfer overlap: who meets rule B after rule A has met rule A, too. What
the same participant does in two groups goes together, and a contrast of them is as precise as
paired comparisons are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Contrast:
    """A weighted sum of group means, with its interval and the test that it is 0.

    Parameters
    ----------
    value, low, high : float
    p_value : float
        Two-sided.
    df : float
        Degrees of freedom.

    Examples
    --------
    >>> Contrast(1.0, 0.2, 1.8, 0.02, 9.0).value
    1.0
    """

    value: float
    low: float
    high: float
    p_value: float
    df: float


def contrast(
    groups: Mapping[str, Mapping[str, float]],
    weights: Mapping[str, float],
    *,
    level: float = 0.95,
) -> Contrast:
    r"""Estimate a weighted sum of group means, clustered by participant.

    A participant i adds :math:`\sum_g w_g (y_{ig} - \bar y_g) / \sqrt{n_g (n_g - 1)}`, over the
    groups that he is in; the variance is the sum of the squares. With groups apart that is Welch's,
    with everybody in both of two groups it is that of paired differences. The degrees of freedom
    are Welch and Satterthwaite's over the sets of participants who are in the same groups.

    Parameters
    ----------
    groups : mapping from group to mapping from participant to float
    weights : mapping from group to float
        Of each group that takes part.
    level : float
        Confidence level.

    Returns
    -------
    Contrast
        The interval and the test are NaN if a group has fewer than two participants, or nothing
        varies.

    References
    ----------
    Liang and Zeger (1986), Biometrika 73, for the clusters; Welch (1947), Biometrika 34.

    Examples
    --------
    >>> fresh, after = {"a": 9.0, "b": 7.0, "c": 8.0}, {"a": 5.0, "b": 4.0, "c": 3.0}
    >>> found = contrast({"fresh": fresh, "after": after}, {"fresh": 1.0, "after": -1.0})
    >>> found.value, round(found.df), round(found.p_value, 3)
    (4.0, 2, 0.02)
    """
    from scipy.special import stdtr, stdtrit

    value = math.fsum(w * _mean(groups[g]) for g, w in weights.items())
    if any(len(groups[g]) < 2 for g in weights):
        return Contrast(value, math.nan, math.nan, math.nan, math.nan)
    parts: dict[str, float] = defaultdict(float)
    where: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for name, weight in weights.items():
        of_group = groups[name]
        mean, n = _mean(of_group), len(of_group)
        for who, y in of_group.items():
            parts[who] += weight * (y - mean) / math.sqrt(n * (n - 1))
            where[who] = (*where[who], name)
    squares: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for who, part in parts.items():
        squares[where[who]].append(part * part)
    sums = np.array([math.fsum(x) for x in squares.values()])
    variance = float(sums.sum())
    if not variance > 0:
        return Contrast(value, math.nan, math.nan, math.nan, math.nan)
    free = np.array([max(len(x) - 1, 1) for x in squares.values()])
    df = variance**2 / float((sums**2 / free).sum())
    error = math.sqrt(variance)
    half = float(stdtrit(df, (1 + level) / 2)) * error
    p_value = 2 * float(stdtr(df, -abs(value) / error))
    return Contrast(value, value - half, value + half, p_value, df)


def _mean(values: Mapping[str, float]) -> float:
    return math.fsum(values.values()) / len(values) if values else math.nan
