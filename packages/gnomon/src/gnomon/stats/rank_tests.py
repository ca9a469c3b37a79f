"""Mann and Whitney's test between samples, and Holm's correction."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from gnomon.errors import check_word
from gnomon.scores.table import FloatArray

Alternative = Literal["two-sided", "greater"]

#: Samples of up to this size are tested by the exact distribution.
EXACT_RUNS = 20
#: So are samples of any size against one of at most this size, without ties.
EXACT_SMALLER = 8


def mann_whitney(
    x: npt.ArrayLike, y: npt.ArrayLike, *, alternative: Alternative = "two-sided"
) -> tuple[float, float]:
    """Test whether the values of one sample tend to be greater than those of another.

    Only the order counts, so infinite values (censored runs) take part, tied with each other. The
    p-value of samples of up to 20 is exact: the share of all ways to deal the values out, ties as
    they are, in which U is as great, or two-sided twice the smaller such share. Of larger samples
    it is that of `scipy.stats.mannwhitneyu`: exact if there are no ties and one has at most 8, else
    from the normal approximation with correction for ties and continuity.

    Parameters
    ----------
    x, y : array_like of float, shape (runs,)
        NaN is left out.
    alternative : str
        ``greater``: x tends to be greater than y; or ``two-sided``.

    Returns
    -------
    u : float
        Pairs with x greater than y, ties counting one half.
    p_value : float
        1 if all values are equal, NaN if a sample is empty.

    Examples
    --------
    >>> u, p = mann_whitney([5, 6, 7, np.inf], [1, 2, 3, 4], alternative="greater")
    >>> u, round(p, 4)
    (16.0, 0.0143)
    """
    check_word("alternative", alternative, get_args(Alternative))
    a, b = _sample(x), _sample(y)
    if not a.size or not b.size:
        return float("nan"), float("nan")
    ranks = doubled_ranks(np.concatenate([a, b]))
    u = float(ranks[: a.size].sum() - a.size * (a.size + 1)) / 2.0
    if max(a.size, b.size) <= EXACT_RUNS:
        return u, _exact_p_value(ranks, a.size, alternative)
    ties = np.bincount(ranks)
    if min(a.size, b.size) <= EXACT_SMALLER and ties.max() == 1:
        from scipy import stats

        found = stats.mannwhitneyu(ranks[: a.size], ranks[a.size :], alternative=alternative)
        return u, float(found.pvalue)
    return u, _normal_p_value(u, a.size, b.size, ties, alternative)


def mann_whitney_rows(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the two-sided p-value of each two rows, as :func:`mann_whitney` gives it."""
    if max(x.shape[1], y.shape[1]) > EXACT_RUNS:
        return np.array([mann_whitney(*rows)[1] for rows in zip(x, y, strict=True)])
    both = np.concatenate([x, y], axis=1)
    mine, others = both[:, :, None], both[:, None, :]
    ranks = np.add(mine > others, mine >= others, dtype=np.int8).sum(axis=-1) + 1
    return np.array([_exact_p_value(row, x.shape[1], "two-sided") for row in ranks])


def _normal_p_value(
    u: float, n: int, m: int, ties: npt.NDArray[np.int64], alternative: Alternative
) -> float:
    """Return the p-value from the normal approximation, corrected for ties and continuity.

    `ties` holds how many values share each rank. Mann and Whitney (1947); the variance with ties
    is that of Hollander and Wolfe (1973).
    """
    size = n + m
    variance = n * m / 12.0 * (size + 1 - float((ties**3 - ties).sum()) / (size * (size - 1)))
    if variance <= 0.0:
        return 1.0
    above = u - n * m / 2.0
    distance = abs(above) if alternative == "two-sided" else above
    tail = math.erfc((distance - 0.5) / math.sqrt(2.0 * variance)) / 2.0
    return min(1.0, 2.0 * tail if alternative == "two-sided" else tail)


def _exact_p_value(ranks: npt.NDArray[np.int64], n: int, alternative: Alternative) -> float:
    """Return the p-value of the first n from all ways to deal these doubled ranks out."""
    seen = int(ranks[:n].sum())
    chances = _rank_sums(tuple(sorted(ranks.tolist())), n)
    greater, less = float(chances[seen:].sum()), float(chances[: seen + 1].sum())
    if alternative == "two-sided":
        return min(1.0, 2.0 * min(greater, less))
    return min(1.0, greater)


def doubled_ranks(values: FloatArray) -> npt.NDArray[np.int64]:
    """Return twice the ranks, ties sharing theirs: whole numbers, finite for infinite values."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    return below + np.searchsorted(ordered, values, side="right") + 1


@lru_cache(maxsize=128)
def _rank_sums(ranks: tuple[int, ...], m: int) -> FloatArray:
    """Return the probability of each sum of m of these doubled ranks, all choices alike."""
    n, most = len(ranks), sum(ranks[len(ranks) - m :])
    # ways[k, s]: number of choices of k of the ranks so far that sum to s
    ways = np.zeros((m + 1, most + 1))
    ways[0, 0] = 1.0
    for i, rank in enumerate(ranks):
        # Before this rank at most i were chosen, and enough for the rest to make up m.
        least, last = max(0, m - n + i), min(i, m - 1)
        reach = min(sum(ranks[i - last : i]), most - rank) + 1
        ways[least + 1 : last + 2, rank : rank + reach] += ways[least : last + 1, :reach]
    return np.asarray(ways[m] / ways[m].sum())


def _sample(x: npt.ArrayLike) -> FloatArray:
    values = np.asarray(x, dtype=np.float64).ravel()
    return values[~np.isnan(values)]


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Return p-values corrected for having been chosen among several (Holm 1979).

    Parameters
    ----------
    p_values : array_like of float, shape (n,)
        NaN is a test that was not made: it stays, and does not count.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2)
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    adjusted = np.full(p.shape, np.nan)
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted
