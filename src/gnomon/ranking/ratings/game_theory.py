"""Game-theoretic ratings: Nash averaging and alpha-Rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

#: Payoffs below this share of the largest count as none: a solver that works to 1e-7 takes them for
#: something at one place and for nothing at another.
LEAST_PAYOFF = 1e-5
#: Slack, in units of the largest payoff, below which a constraint holds with equality.
TOLERANCE = 1e-9
#: By how much the shares and payoffs of an equilibrium may miss, in the same unit.
ROUNDING = 1e-6


def nash_averaging(log_odds: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Rate by Nash averaging: the mean edge against the maximum-entropy Nash equilibrium.

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
    """Return the maximum-entropy Nash equilibrium of a symmetric zero-sum game.

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

    Examples
    --------
    >>> max_entropy_equilibrium([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]).round(3)
    array([0.333, 0.333, 0.333])
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


#: Exponents beyond this leave the range of floating-point numbers.
LARGEST_EXPONENT = 600.0


@dataclass(frozen=True, eq=False)
class AlphaRank:
    """Stationary distributions of alpha-Rank for growing selection; the last one rates.

    Parameters
    ----------
    alphas : ndarray of float, shape (steps,)
        Strengths of selection.
    distributions : ndarray of float, shape (steps, n)
        Share of time in each contestant.
    settled : bool
        Whether the last two steps agree to 1e-3.

    Examples
    --------
    >>> found = alpha_rank([[0.5, 0.9], [0.1, 0.5]])
    >>> found.distributions[-1].round(2), found.settled
    (array([1., 0.]), True)
    """

    alphas: FloatArray
    distributions: FloatArray
    settled: bool

    def sweep_in_words(self) -> str:
        """Say how far selection was made stronger, and whether that still changes anything."""
        ends = f"alpha from {self.alphas[0]:.3g} to {self.alphas[-1]:.3g}, {self.alphas.size} steps"
        settled = "settled" if self.settled else "not settled, the last steps differ"
        tops = self.distributions.argmax(axis=1)
        changes = int(np.count_nonzero(np.diff(tops)))
        often = "once" if changes == 1 else f"{changes} times"
        return f"{ends}: {settled}; who is on top changes {often} on the way"

    @property
    def ratings(self) -> FloatArray:
        """The distribution at the largest alpha, shape (n,)."""
        return np.asarray(self.distributions[-1])


def alpha_rank(
    probability: npt.ArrayLike, *, population: int = 50, alphas: npt.ArrayLike | None = None
) -> AlphaRank:
    r"""Rate by alpha-Rank: the stationary distribution of a population that copies winners.

    All play s; a mutant r takes over with probability :math:`\rho = (1 - e^{-u}) / (1 - e^{-mu})`,
    :math:`u = \alpha (M_{rs} - M_{sr})`, and 1/m where u = 0. The rating is the stationary
    distribution of this chain as alpha grows: cycles share it, what is beaten by them has none.

    Parameters
    ----------
    probability : array_like of float, shape (n, n)
        Payoff M of i against j, such as P(i better than j); NaN for no meeting counts as one half.
    population : int
        The size m, above 1.
    alphas : array_like of float, optional
        The sweep, ascending; by default doubling from 0.01 as far as numbers reach.

    References
    ----------
    Omidshafiei et al. (2019), Alpha-Rank: multi-agent evaluation by evolution, Scientific Reports
    9, for one population and the local selection model.

    Examples
    --------
    >>> alpha_rank([[0.5, 0.9], [0.1, 0.5]]).ratings.round(3)
    array([1., 0.])
    """
    m = np.nan_to_num(np.asarray(probability, dtype=np.float64), nan=0.5)
    gain = m - m.T
    largest = float(np.abs(gain).max())
    if alphas is None:
        reach = LARGEST_EXPONENT / (population * largest) if largest > 0.0 else 0.01
        alphas = 0.01 * 2.0 ** np.arange(max(int(np.log2(reach / 0.01)) + 1, 1))
    sweep = np.asarray(alphas, dtype=np.float64)
    laws = np.array([stationary_distribution(_chain(alpha * gain, population)) for alpha in sweep])
    settled = len(laws) > 1 and bool(np.abs(laws[-1] - laws[-2]).max() < 1e-3)
    return AlphaRank(sweep, laws, settled or largest == 0.0)


def _chain(u: FloatArray, population: int) -> FloatArray:
    """Return the transition matrix; u[r, s] is the advantage of a mutant r among s."""
    # (1 - e^-u) / (1 - e^-mu), with both turned round where u < 0 lest they overflow
    size = np.abs(u)
    with np.errstate(invalid="ignore", divide="ignore"):
        fixed = np.expm1(-size) / np.expm1(-population * size)
    fixed = np.where(size < 1e-14, 1.0 / population, fixed)
    fixed = np.where(u < 0.0, fixed * np.exp(-(population - 1) * size), fixed)
    chain = fixed.T / max(len(u) - 1, 1)
    np.fill_diagonal(chain, 0.0)
    np.fill_diagonal(chain, 1.0 - chain.sum(axis=1))
    return np.asarray(chain)


def stationary_distribution(chain: npt.ArrayLike) -> FloatArray:
    """Return the stationary distribution of an irreducible Markov chain, shape (n,).

    By elimination without subtractions (Grassmann, Taksar and Heyman 1985), which keeps many digits
    where transitions differ by hundreds of orders of magnitude.

    Examples
    --------
    >>> stationary_distribution([[0.5, 0.5], [0.25, 0.75]]).round(4)
    array([0.3333, 0.6667])
    """
    p = np.array(chain, dtype=np.float64)
    n = len(p)
    for k in range(n - 1, 0, -1):
        p[:k, k] /= p[k, :k].sum()
        p[:k, :k] += np.outer(p[:k, k], p[k, :k])
    law = np.ones(n)
    for k in range(1, n):
        law[k] = law[:k] @ p[:k, k]
    return np.asarray(law / law.sum())
