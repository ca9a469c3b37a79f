"""Tests of every pair: on each ground and over all that it shares, exact where runs are few."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, permutations
from typing import Any, Literal

import numpy as np

from gnomon.ranking.pairwise import Contest
from gnomon.ranking.tournament import Weights, ground_edges, ground_weights
from gnomon.scores.table import FloatArray
from gnomon.stats.estimate import finite_or_none
from gnomon.stats.tests import holm

__all__ = ["PairComparison", "compare_pairs", "rank_sum_distribution"]

#: Up to so many pairs of runs, over all common grounds, the p-value is exact.
EXACT_PAIRS = 400


@dataclass(frozen=True, slots=True)
class PairComparison:
    """One contestant against another.

    Parameters
    ----------
    a, b : str
    ground : str or None
        Where; None for all common grounds together.
    probability : float
        P(a better than b), a tie counting one half.
    ease_ratio : float
        Smoothed pairs of runs won over lost; its weighted geometric mean over grounds.
    n_grounds : int
        Common grounds; if there is none, the numbers are NaN.
    p_value : float
        That none is better; one-sided: that a is not better.
    p_adjusted : float
        After Holm's correction over the comparisons made together.
    exact : bool
        Whether the p-value is from the exact distribution rather than the normal one.
    """

    a: str
    b: str
    ground: str | None
    probability: float
    ease_ratio: float
    n_grounds: int
    p_value: float
    p_adjusted: float
    exact: bool

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON, None for what is not a finite number."""
        return {name: finite_or_none(value) for name, value in asdict(self).items()}


def compare_pairs(
    contest: Contest,
    *,
    alternative: Literal["two-sided", "greater"] = "two-sided",
    per_ground: bool = False,
    smoothing: float = 1.0,
    weights: Weights = "equal",
) -> list[PairComparison]:
    """Test every pair of contestants by Mann and Whitney's U, pooled over their common grounds.

    The statistic is the weighted mean of P(a better than b) over grounds. Its null distribution,
    given all ties, is exact (by convolution of rank sums) where there are at most 400 pairs of runs
    in all and weights are equal, and else normal with the variance corrected for ties (van Elteren
    1960).

    Parameters
    ----------
    contest : Contest
    alternative : str
        ``greater``: a better than b, both ways round; or ``two-sided``, each pair once.
    per_ground : bool
        Whether to test on each ground by itself instead; Holm's correction is then over all.
    smoothing, weights
        As in :meth:`gnomon.ranking.tournament.Tournament.of`; they do not change an exact p-value,
        and weights say nothing about one ground.

    Returns
    -------
    list of PairComparison
        Pairs in the order of the names, grounds inside them.

    Examples
    --------
    >>> samples = ((np.array([5.0, 6.0, 7.0]), np.array([1.0, 2.0, 3.0])),)
    >>> (test,) = compare_pairs(Contest(("a", "b"), ("clockwise",), samples))
    >>> test.probability, round(test.p_value, 3), test.exact
    (1.0, 0.1, True)
    """
    numbers = range(len(contest.names))
    pairs = combinations(numbers, 2) if alternative == "two-sided" else permutations(numbers, 2)
    odds, variance = ground_edges(contest, smoothing, math.inf)
    weight = ground_weights(contest, weights, variance)
    found = []
    for i, j in pairs:
        there = contest.met if per_ground else weight > 0.0
        common = np.flatnonzero(there[:, i, j]).tolist()
        for part in [[g] for g in common] if per_ground else [common]:
            name = contest.grounds[part[0]] if per_ground else None
            w = np.ones(1) if per_ground else weight[part, i, j]
            p, exact = _tested(contest, i, j, part, w, alternative)
            chance = float(w @ contest.probability[part, i, j] / w.sum()) if part else math.nan
            ratio = math.exp(w @ odds[part, i, j] / w.sum()) if part else math.nan
            found.append(
                (contest.names[i], contest.names[j], name, chance, ratio, len(part), p, exact)
            )
    adjusted = holm([row[-2] for row in found])
    return [
        PairComparison(*row[:-1], float(p), row[-1]) for row, p in zip(found, adjusted, strict=True)
    ]


def _tested(
    contest: Contest, i: int, j: int, grounds: Sequence[int], w: FloatArray, alternative: str
) -> tuple[float, bool]:
    """Return the p-value, and whether it is exact."""
    if not grounds:
        return math.nan, False
    samples = [(contest.samples[g][i], contest.samples[g][j]) for g in grounds]
    sizes = [(x.size, y.size) for x, y in samples]
    n_pairs = sum(m * n for m, n in sizes)
    equal = len(set(w)) == 1 and len(set(sizes)) == 1
    if n_pairs <= EXACT_PAIRS and equal:
        return _exact(samples, alternative), True
    middle = variance = 0.0
    for (x, y), weight, g in zip(samples, w, grounds, strict=True):
        middle += weight * (contest.probability[g, i, j] - 0.5)
        variance += weight**2 * _null_variance(x, y)
    if variance == 0.0:
        return 1.0, True
    # Half a pair of runs, spread over the grounds, corrects for the steps of the counts.
    step = 0.5 * float(np.mean(w)) / (n_pairs / len(sizes))
    if alternative == "two-sided":
        return math.erfc(max(abs(middle) - step, 0.0) / math.sqrt(2.0 * variance)), False
    return 0.5 * math.erfc((middle - step) / math.sqrt(2.0 * variance)), False


def _null_variance(x: FloatArray, y: FloatArray) -> float:
    """Return the variance of P(x better than y) if all runs are exchangeable, given the ties."""
    m, n = x.size, y.size
    ties = np.unique(np.concatenate([x, y]), return_counts=True)[1].astype(np.float64)
    total = m + n
    corrected = total + 1.0 - (ties**3 - ties).sum() / (total * (total - 1.0))
    return max(float(corrected), 0.0) / (12.0 * m * n)


def _exact(samples: Sequence[tuple[FloatArray, FloatArray]], alternative: str) -> float:
    """Return the p-value from the exact distribution of the sum of rank sums."""
    whole, seen = np.ones(1), 0
    for x, y in samples:
        ranks = _doubled_ranks(np.concatenate([x, y]))
        whole = np.convolve(whole, rank_sum_distribution(ranks, x.size))
        seen += int(ranks[: x.size].sum())
    at = np.arange(whole.size)
    if alternative == "two-sided":
        # The mean is a whole number or a half, so doubling keeps the comparison exact.
        mean2 = sum(x.size * (x.size + y.size + 1) * 2 for x, y in samples)
        return min(1.0, float(whole[np.abs(2 * at - mean2) >= abs(2 * seen - mean2)].sum()))
    return min(1.0, float(whole[at >= seen].sum()))


def _doubled_ranks(values: FloatArray) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return twice the ranks, ties sharing theirs: whole numbers."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    return below + np.searchsorted(ordered, values, side="right") + 1


def rank_sum_distribution(doubled_ranks: np.ndarray[Any, np.dtype[np.int64]], m: int) -> FloatArray:
    """Return the probability of each sum of m of these ranks, all choices being equally likely.

    Parameters
    ----------
    doubled_ranks : ndarray of int, shape (n,)
        Twice the ranks, so that shared ones are whole.
    m : int
        How many are chosen.

    Returns
    -------
    ndarray of float
        Entry s is the probability of the doubled sum s.

    Examples
    --------
    >>> rank_sum_distribution(np.array([2, 4, 6]), 2).nonzero()[0].tolist()
    [6, 8, 10]
    """
    most = int(np.sort(doubled_ranks)[::-1][:m].sum())
    # ways[k, s]: number of choices of k of the ranks so far that sum to s
    ways = np.zeros((m + 1, most + 1))
    ways[0, 0] = 1.0
    for rank in doubled_ranks:
        ways[1:, rank:] += ways[:-1, : most + 1 - rank]
    return np.asarray(ways[m] / ways[m].sum())
