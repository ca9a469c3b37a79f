"""Kemeny's order: the least disagreement with all comparisons, and the proof that it is least."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.ranking.kemeny.branch_and_bound import best_order
from gnomon.ranking.kemeny.linear_ordering import circle_relaxation, improved, order_search, worth
from gnomon.scores.table import FloatArray

#: Beyond this the proof may take hours.
MOST = 40
#: What differs by less, in units of the largest margin, is equal.
ROUNDING = 1e-6


@dataclass(frozen=True)
class KemenyOrder:
    """An order, its disagreement, and the lower bound on that of any order.

    Parameters
    ----------
    order : tuple of int
        Best first.
    disagreement : float
        Weight of the pairs that stand the wrong way round.
    at_least : float
        No order disagrees less than this.

    Examples
    --------
    >>> found = kemeny_order([[0, 2, -1], [-2, 0, 2], [1, -2, 0]])
    >>> found.order, found.disagreement, found.at_least
    ((0, 1, 2), 1.0, 1.0)
    """

    order: tuple[int, ...]
    disagreement: float
    at_least: float

    @property
    def proven(self) -> bool:
        """Whether it is certain that no order disagrees less."""
        return self.disagreement <= self.at_least


def kemeny_order(margins: npt.ArrayLike, *, time_limit_s: float = math.inf) -> KemenyOrder:
    """Find Kemeny's order: the least weight of pairs that stand the wrong way round.

    A group of which nobody is beaten from outside stands first (the extended Condorcet criterion),
    so each group around which wins run in circles is ordered by itself: by a search of random
    moves, and by a linear program (HiGHS) that says what no order exceeds. Where the two do not
    meet, the order is settled from both ends, one at a time, with a limit of the same kind on those
    in the middle (:mod:`gnomon.ranking.kemeny.branch_and_bound`).

    Forty contestants on common tasks take a second or two, identical ones too, since margins from
    the same runs mostly agree with one another. Margins drawn one by one, without anything in
    common, are much harder: forty from a normal distribution took 2 to 20 s, mere wins and losses
    some minutes. Worst is what looks the same from everybody's place. Hence `time_limit_s`; an
    interrupt stops it at once.

    Parameters
    ----------
    margins : array_like of float, shape (n, n)
        Antisymmetric: by how much i stands before j; 0 or NaN for no opinion. At most 40.
    time_limit_s : float
        After so many seconds the best order found is returned, with what is known of the best.

    Returns
    -------
    KemenyOrder
        Where several orders are best, one of them, the same each time: see :func:`tied_stretches`.

    Raises
    ------
    ScoreDataError
        There are more than 40, or margins that are infinite or not antisymmetric.

    References
    ----------
    Kemeny (1959), Daedalus 88; Young and Levenglick (1978); Groetschel, Juenger and Reinelt (1984),
    A cutting plane algorithm for the linear ordering problem, Operations Research 32; Held and Karp
    (1962), A dynamic programming approach to sequencing problems, Journal of SIAM 10.

    Examples
    --------
    >>> found = kemeny_order([[0, 3, -1], [-3, 0, 2], [1, -2, 0]])
    >>> found.order, found.disagreement, found.proven
    ((0, 1, 2), 1.0, True)
    """
    m = _checked(margins)
    deadline = time.monotonic() + time_limit_s
    order: list[int] = []
    gap = 0.0
    for part in strong_components(m > 0.0):
        inside, more = _best_order(m[np.ix_(part, part)], deadline)
        order += [part[k] for k in inside]
        gap += more
    found = disagreement(order, m)
    # What is worth one more disagrees by a half less.
    return KemenyOrder(tuple(order), found, max(found - gap / 2.0, 0.0))


def _checked(margins: npt.ArrayLike) -> FloatArray:
    given = np.asarray(margins, dtype=np.float64)
    m = np.where(np.isnan(given), 0.0, given)
    if len(m) > MOST:
        raise ScoreDataError(f"expected at most {MOST} to find Kemeny's order, found {len(m)}")
    if m.shape != (len(m), len(m)) or not np.isfinite(m).all() or not np.allclose(m, -m.T):
        raise ScoreDataError(
            f"expected finite antisymmetric margins for Kemeny's order, found shape {m.shape}"
        )
    return m


def _best_order(margins: FloatArray, deadline: float) -> tuple[list[int], float]:
    """Return an order of some among whom wins run in circles, and what another may gain on it."""
    if len(margins) < 3:
        return list(range(len(margins))), 0.0
    scale = float(np.abs(margins).max())
    m = margins / scale
    program = circle_relaxation(m)
    starts = [np.argsort(-s.sum(axis=1), kind="stable").tolist() for s in (program.ahead, m)]
    order = max((improved(start, m) for start in starts), key=lambda o: worth(o, m))
    limit, least = program.limit, _least_gain(m)
    # Each step costs more than the one before, and most tables need none of them.
    if worth(order, m) + least < limit:
        order = max(
            (order_search(start, m) for start in (order, *starts)), key=lambda o: worth(o, m)
        )
    if worth(order, m) + least < limit:
        order, limit = best_order(m, order, limit, least, deadline)
    gap = limit - worth(order, m)
    return order, scale * gap if gap > least else 0.0


def _least_gain(margins: FloatArray) -> float:
    """Return by what an order that is better than another is better at least.

    Where all margins are multiples of the smallest, that is twice the smallest (a little less, for
    rounding).
    """
    unit = float(np.abs(margins[margins != 0.0]).min())
    steps = margins / unit
    even = bool((np.abs(steps - np.round(steps)) < ROUNDING).all())
    return max(1.99 * unit, ROUNDING) if even else ROUNDING


def strong_components(arrows: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return the strong components of a graph, so that no arrow leads backwards.

    Parameters
    ----------
    arrows : ndarray of bool, shape (n, n)
        ``arrows[i, j]``: there is one from i to j.

    Examples
    --------
    >>> strong_components(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0]], dtype=bool))
    [[1, 2], [0]]
    """
    from scipy.sparse import csgraph

    part = csgraph.connected_components(arrows, connection="strong")[1]
    # Who reaches another, and is not reached by it, reaches more.
    reached = np.isfinite(csgraph.shortest_path(arrows, unweighted=True)).sum(axis=1)
    order = np.argsort(-reached, kind="stable")
    return [np.flatnonzero(part == k).tolist() for k in dict.fromkeys(part[order].tolist())]


def disagreement(order: npt.ArrayLike, margins: npt.ArrayLike) -> float:
    """Return the weight of the pairs that stand the wrong way round in an order.

    Examples
    --------
    >>> disagreement([0, 1, 2], [[0, 3, -1], [-3, 0, 2], [1, -2, 0]])
    1.0
    """
    at = np.asarray(order, dtype=np.int64)
    m = np.nan_to_num(np.asarray(margins, dtype=np.float64))[np.ix_(at, at)]
    return float(np.maximum(-np.triu(m, 1), 0.0).sum())


def tied_stretches(order: Sequence[int], margins: npt.ArrayLike) -> list[list[int]]:
    """Cut an order into stretches within which the margins do not say who is first.

    Those stand in one stretch between whom all margins are 0; and, among those around whom wins run
    in circles, all in two neighbouring stretches that can change places at no cost: then another
    order is as good, as where three beat one another alike. That is not all that other orders as
    good may change: being even does not pass from pair to pair, as places do, so which of several
    such orders was found still matters.

    Parameters
    ----------
    order : sequence of int
        From :func:`kemeny_order`.
    margins : array_like of float, shape (n, n)
        The same.

    Examples
    --------
    >>> tied_stretches([0, 1, 2, 3], [[0, 1, -1, 1], [-1, 0, 1, 1], [1, -1, 0, 1], [-1, -1, -1, 0]])
    [[0, 1, 2], [3]]
    """
    at = np.asarray(order, dtype=np.int64)
    m = np.nan_to_num(np.asarray(margins, dtype=np.float64))[np.ix_(at, at)]
    joined = _exchangeable(m)
    stretches, begin = [], 0
    while begin < len(at):
        end = begin + 1
        if joined[begin]:
            while joined[end - 1]:
                end += 1
        else:
            while (
                end < len(at) and not joined[end] and not m[begin : end + 1, begin : end + 1].any()
            ):
                end += 1
        stretches.append(at[begin:end].tolist())
        begin = end
    return stretches


def _exchangeable(m: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which stand in one stretch with the next, shape (n,), of margins in a best order."""
    n = len(m)
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = m.cumsum(axis=0).cumsum(axis=1)
    slight = ROUNDING * np.abs(m).max(initial=0.0)
    joined = np.zeros(n, dtype=bool)
    for part in strong_components(m > 0.0):
        first, last = min(part), max(part) + 1
        for begin in range(first, last - 2):
            # What it costs that the stretches from begin to mid, and from there to end, change.
            cost = sums - sums[begin] - np.diag(sums)[:, None] + sums[begin][:, None]
            for mid, end in np.argwhere(np.triu(np.abs(cost) <= slight, 1)).tolist():
                if begin < mid and end <= last and end - begin > 2:
                    joined[begin : end - 1] = True
    return joined
