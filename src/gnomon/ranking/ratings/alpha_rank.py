"""Alpha-Rank: how often a population that copies winners plays each contestant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

__all__ = ["AlphaRank", "alpha_rank", "stationary_distribution"]

#: Exponents beyond this leave the range of floating-point numbers.
LARGEST_EXPONENT = 600.0


@dataclass(frozen=True, eq=False)
class AlphaRank:
    """The stationary distribution for growing selection, and the last one as the ratings.

    Parameters
    ----------
    alphas : ndarray of float, shape (steps,)
        Strengths of selection.
    distributions : ndarray of float, shape (steps, n)
        Share of time in each contestant.
    settled : bool
        Whether the last two steps agree to 1e-3.
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
    r"""Rate contestants by the evolution of a population in which the better one spreads.

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
