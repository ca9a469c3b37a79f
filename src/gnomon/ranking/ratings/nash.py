"""Nash averaging: rate against the mixture of contestants that nobody beats."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

__all__ = ["max_entropy_equilibrium", "nash_averaging"]

#: Payoffs below this share of the largest count as none: a solver that works to 1e-7 takes them for
#: something at one place and for nothing at another.
LEAST_PAYOFF = 1e-5
#: Slack, in units of the largest payoff, below which a constraint holds with equality.
TOLERANCE = 1e-9
#: By how much the shares and payoffs of an equilibrium may miss, in the same unit.
ROUNDING = 1e-6


def nash_averaging(log_odds: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Rate contestants by their mean edge against the maximum-entropy equilibrium.

    Parameters
    ----------
    log_odds : array_like of float, shape (n, n)
        Antisymmetric payoffs; what is less than 1e-5 of the largest counts as 0.

    Returns
    -------
    ratings : ndarray of float, shape (n,)
        0 for all in the equilibrium, below 0 for the others. Copies of a contestant change nothing.
    equilibrium : ndarray of float, shape (n,)

    References
    ----------
    Balduzzi, Tuyls, Perolat and Graepel (2018), Re-evaluating evaluation, NeurIPS.

    Examples
    --------
    >>> ratings, p = nash_averaging([[0, 1, -1, 2], [-1, 0, 1, 2], [1, -1, 0, 2], [-2, -2, -2, 0]])
    >>> p.round(3) + 0.0, ratings.round(3) + 0.0
    (array([0.333, 0.333, 0.333, 0.   ]), array([ 0.,  0.,  0., -2.]))
    """
    f = _cleared(log_odds)
    p = max_entropy_equilibrium(f)
    # Nobody beats an equilibrium, and nobody in it loses to it, but for rounding.
    ratings = f @ p
    return np.where(ratings > -TOLERANCE * np.abs(f).max(initial=0.0), 0.0, ratings), p


def max_entropy_equilibrium(payoff: npt.ArrayLike) -> FloatArray:
    """Return the equilibrium of a symmetric zero-sum game that is spread most evenly.

    It is the one with the largest entropy among all p >= 0, sum p = 1, payoff @ p <= 0, and so has
    the largest support. A linear program finds that support (Goldman and Tucker: some solution has
    exactly one of p_i and its slack above 0 for each i). Where that leaves more than one, the dual
    of the entropy program, smooth and without corners there, gives the shares.

    Parameters
    ----------
    payoff : array_like of float, shape (n, n)
        Antisymmetric; what is less than 1e-5 of the largest counts as 0.

    Raises
    ------
    ScoreDataError
        The linear program was not solved.
    """
    a = _cleared(payoff)
    scale = np.abs(a).max()
    if scale == 0.0:
        return np.full(len(a), 1.0 / len(a))
    # Mostly one beats everybody, which takes no program to see.
    beats_all = np.count_nonzero(a > 0.0, axis=1) == len(a) - 1
    if beats_all.any():
        return np.asarray(beats_all, dtype=np.float64)
    a = a / scale
    some = _widest_equilibrium(a)
    inside = some > np.maximum(-a @ some, TOLERANCE)
    p = np.zeros(len(a))
    p[inside] = _most_even(a[np.ix_(inside, inside)], a[np.ix_(~inside, inside)])
    # Where payoffs differ by orders of magnitude, the support is not certain: better a less even
    # equilibrium than none.
    return p if abs(p.sum() - 1.0) <= ROUNDING and (a @ p).max() <= ROUNDING else some


def _cleared(payoff: npt.ArrayLike) -> FloatArray:
    """Return payoffs without those that are nothing beside the largest."""
    a = np.asarray(payoff, dtype=np.float64)
    return np.where(np.abs(a) > LEAST_PAYOFF * np.abs(a).max(initial=0.0), a, 0.0)


def _widest_equilibrium(a: FloatArray) -> FloatArray:
    """Return an equilibrium in which everyone has a share who has one in any."""
    from scipy.optimize import linprog

    n = len(a)
    # Variables p and t: make the least of p_i + slack_i, with slack = -a p, as large as may be.
    above = np.hstack([a - np.eye(n), np.ones((n, 1))])
    below = np.hstack([a, np.zeros((n, 1))])
    whole = np.append(np.ones(n), 0.0)[None, :]
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.vstack([above, below]),
        b_ub=np.zeros(2 * n),
        A_eq=whole,
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
        method="highs",
    )
    if found.x is None:
        raise ScoreDataError(f"Nash averaging: expected an equilibrium, found: {found.message}")
    return np.asarray(found.x, dtype=np.float64)[:n]


def _most_even(inner: FloatArray, outer: FloatArray) -> FloatArray:
    """Return the shares with the largest entropy, inner @ p = 0 and outer @ p <= 0, all above 0."""
    even, whole = np.vstack([inner, np.ones(len(inner))]), np.append(np.zeros(len(inner)), 1.0)
    p, _, rank, _ = np.linalg.lstsq(even, whole, rcond=TOLERANCE)
    if rank < len(inner):
        # There are many: take the most even one, and what is left of its payoffs away.
        p = _dual_shares(inner, outer)
        p = p - np.linalg.lstsq(even, even @ p - whole, rcond=TOLERANCE)[0]
    return np.asarray(np.maximum(p, 0.0))


def _dual_shares(inner: FloatArray, outer: FloatArray) -> FloatArray:
    """Return these shares as the dual of the entropy program gives them, to about 1e-8."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    both = np.vstack([inner, outer])

    def dual(prices: FloatArray) -> tuple[float, FloatArray]:
        logits = -(prices @ both)
        return float(logsumexp(logits)), -both @ softmax(logits)

    free = [(None, None)] * len(inner) + [(0.0, None)] * len(outer)
    found = minimize(
        dual,
        np.zeros(len(both)),
        jac=True,
        method="L-BFGS-B",
        bounds=free,
        options={"maxiter": 10_000, "ftol": 0.0, "gtol": 1e-12},
    )
    return np.asarray(softmax(-(found.x @ both)))
