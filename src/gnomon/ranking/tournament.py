"""Tournament graphs: one edge between any two that met, pooled over the grounds they share.

Only those can be ordered whom a chain of edges connects; :func:`require_connection` sees to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, UnknownNameError, listed
from gnomon.ranking.contest import By, Contest, ground_of
from gnomon.scores.table import FloatArray

Weights = Literal["equal", "precision"] | Mapping[str, float]

#: Edges up to this are 0 but for the rounding of their sums over grounds.
EVEN = 1e-12


@dataclass(frozen=True, eq=False)
class Tournament:
    """A tournament graph: its edges are log-odds of one contestant against another.

    Parameters
    ----------
    names : tuple of str
        The contestants.
    log_odds : ndarray of float, shape (n, n)
        Edge from i to j: the weighted mean, over the grounds on which both were, of the logarithm
        of the smoothed ease ratio; antisymmetric, 0 where they never met.
    weights : ndarray of float, shape (n, n)
        Sum of the weights behind each edge; 0 where there is none.
    probability : ndarray of float, shape (n, n)
        P(i better than j), pooled in the same way; NaN where they never met.
    variance : ndarray of float, shape (n, n)
        Of each edge, by the delta method; NaN where there is none.
    largest_edge : float
        What an edge can be at most, given smoothing and numbers of runs.
    by : str
        What the contestants are.

    Examples
    --------
    >>> graph = Tournament.from_log_odds("abc", [[0, 1, 3], [-1, 0, 1], [-3, -1, 0]])
    >>> graph.components, graph.n_edges
    (((0, 1, 2),), 3)
    """

    names: tuple[str, ...]
    log_odds: FloatArray
    weights: FloatArray
    probability: FloatArray
    variance: FloatArray
    largest_edge: float
    by: By = "algorithm"

    @classmethod
    def of(
        cls,
        contest: Contest,
        *,
        smoothing: float = 1.0,
        weights: Weights = "equal",
        cap: float = math.inf,
    ) -> Tournament:
        """Pool a contest's ease ratios over its grounds.

        Parameters
        ----------
        contest : Contest
        smoothing : float
            Added to the won and to the lost pairs of runs, above 0; 1 as in the GOHR server.
        weights : str or mapping from ground to float
            ``equal``: every common ground counts 1; ``precision``: one over the variance of its
            log-odds; or a weight for each ground, 1 for those that are not named.
        cap : float
            Log-odds beyond it, on one ground, are cut.

        Raises
        ------
        UnknownNameError
            A weight is for no ground of the contest.
        ValueError
            Smoothing or cap is not above 0, or a weight is negative or infinite.

        Examples
        --------
        >>> samples = ((np.array([3.0, 4.0]), np.array([1.0, 2.0])),)
        >>> graph = Tournament.of(Contest(("a", "b"), ("clockwise",), samples))
        >>> graph.log_odds.round(3)
        array([[ 0.   ,  1.609],
               [-1.609,  0.   ]])
        """
        for name, number in (("smoothing", smoothing), ("cap", cap)):
            if not number > 0.0:
                raise ValueError(f"expected {name} above 0, found {number}")
        check_weights(contest, weights)
        total, pooled, chance, spread = np.zeros((4, *[len(contest.names)] * 2))
        for here in contest.by_ground():
            odds, variance = ground_edges(here, smoothing, cap)
            w = ground_weights(here, weights, variance)[0]
            total += w
            pooled += w * np.nan_to_num(odds[0])
            chance += w * np.nan_to_num(here.probability[0])
            spread += w**2 * np.nan_to_num(variance[0])
        with np.errstate(invalid="ignore"):
            pooled, chance, spread = pooled / total, chance / total, spread / total**2
        np.fill_diagonal(chance, 0.5)
        # What is won and lost alike on several grounds must not become an order by rounding.
        pooled[np.abs(pooled) <= EVEN] = 0.0
        chance[np.abs(chance - 0.5) <= EVEN] = 0.5
        largest = min(math.log(contest.most_pairs / smoothing + 1.0), cap)
        return cls(contest.names, np.nan_to_num(pooled), total, chance, spread, largest, contest.by)

    @classmethod
    def from_log_odds(
        cls, names: Sequence[str], log_odds: npt.ArrayLike, weights: npt.ArrayLike | None = None
    ) -> Tournament:
        """Build a graph from its edges; NaN, or a weight of 0, is no edge."""
        f = np.array(log_odds, dtype=np.float64)
        w = np.ones_like(f) if weights is None else np.array(weights, dtype=np.float64)
        w[np.isnan(f)] = 0.0
        np.fill_diagonal(w, 0.0)
        f = np.where(w > 0.0, f, 0.0)
        if f.shape != (len(names),) * 2 or not np.allclose(f, -f.T):
            raise ValueError(f"expected antisymmetric edges for {len(names)} names")
        chance = np.where(w > 0.0, 1.0 / (1.0 + np.exp(-f)), np.nan)
        np.fill_diagonal(chance, 0.5)
        return cls(tuple(names), f, w, chance, np.full_like(f, np.nan), math.inf)

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Contestants that are connected, by their numbers; the largest group first.

        Two in different components cannot be ordered: no chain of meetings leads from one to the
        other.
        """
        return connected_components(self.weights > 0.0)

    @cached_property
    def laplacian_inverse(self) -> FloatArray:
        """Pseudoinverse of the Laplacian of the weights, (n, n): from won edges to ratings."""
        return laplacian_inverse(self.weights)

    def without(self, name: str) -> Tournament:
        """Return the graph of the others; no edge between them changes."""
        at = self.names.index(name)
        odds, weights, chance, variance = (
            np.delete(np.delete(numbers, at, axis=0), at, axis=1)
            for numbers in (self.log_odds, self.weights, self.probability, self.variance)
        )
        names = self.names[:at] + self.names[at + 1 :]
        return Tournament(names, odds, weights, chance, variance, self.largest_edge, self.by)

    @property
    def n_edges(self) -> int:
        """Number of pairs that met."""
        return int(np.count_nonzero(np.triu(self.weights, 1)))


def connected_components(linked: npt.NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    """Return the connected components of a graph, the largest first, then by their first member."""
    from scipy.sparse import csgraph

    n_parts, part = csgraph.connected_components(linked, directed=False)
    members = [tuple(np.flatnonzero(part == k).tolist()) for k in range(n_parts)]
    return tuple(sorted(members, key=lambda part: (-len(part), part[0])))


def laplacian_inverse(weights: FloatArray) -> FloatArray:
    """Return the pseudoinverses of weighted graph Laplacians, (..., n, n)."""
    w = weights * (1.0 - np.eye(weights.shape[-1]))
    laplacian = w.sum(axis=-1)[..., None] * np.eye(w.shape[-1]) - w
    # What is 0 but for rounding grows with n: by NumPy's own cut it passes as a number beyond 400.
    cut = w.shape[-1] * np.finfo(np.float64).eps
    return np.asarray(np.linalg.pinv(laplacian, rcond=cut, hermitian=True))


def ground_edges(contest: Contest, smoothing: float, cap: float) -> tuple[FloatArray, FloatArray]:
    """Return log-odds and their variances on each ground, (grounds, n, n); NaN for no meeting.

    The variance is that of P over (P (1 - P))^2, with the smoothed P, which varies less than P by
    the share of pairs in what they and smoothing make. Where placements give none (one wins every
    pair, or has a single run) it is the greatest possible, P (1 - P) over the lesser number of runs
    (Birnbaum and Klose 1957).
    """
    odds = np.clip(np.log(contest.ease_ratio(smoothing)), -cap, cap)
    chance = 1.0 / (1.0 + np.exp(-odds))
    sizes = contest.sizes[:, :, None], contest.sizes[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        most = chance * (1.0 - chance) / np.minimum(*sizes)
        known = contest.probability_variance > 0.0
        spread = np.where(known, contest.probability_variance, most)
        share = contest.pairs / (contest.pairs + 2.0 * smoothing)
        return odds, spread * (share / (chance * (1.0 - chance))) ** 2


def ground_weights(contest: Contest, weights: Weights, variance: FloatArray) -> FloatArray:
    """Return the weight of each pair on each ground, (grounds, n, n); 0 where they did not meet."""
    if weights == "precision":
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(contest.met, 1.0 / variance, 0.0)
    if isinstance(weights, str):
        return contest.met.astype(np.float64)
    each = np.array([weights.get(name, 1.0) for name in contest.grounds], dtype=np.float64)
    return each[:, None, None] * contest.met


def check_weights(contest: Contest, weights: Weights) -> None:
    """Refuse weights of no ground of the contest, and those that are negative or infinite."""
    if isinstance(weights, str):
        return
    for name, weight in weights.items():
        if name not in contest.grounds:
            raise UnknownNameError(ground_of(contest.by), name, contest.grounds)
        if not 0.0 <= weight < math.inf:
            raise ValueError(f"expected finite weights of 0 or more, found {weight:g}")


#: A message names so many groups, and so many of each.
MOST_SHOWN = 6


def require_meetings(tournament: Tournament) -> None:
    """Refuse a tournament in which nobody met anybody.

    Raises
    ------
    ScoreDataError
        There is no edge.
    """
    if tournament.n_edges == 0:
        raise ScoreDataError(
            f"expected two {tournament.by}s with scores on a common {ground_of(tournament.by)}; "
            "found none, so there is nothing to order them by"
        )


def require_connection(tournament: Tournament, method: str) -> None:
    """Refuse a tournament in which not everybody can be ordered against everybody.

    Raises
    ------
    ScoreDataError
        Nobody met anybody, or there are groups that no chain of meetings connects.
    """
    require_meetings(tournament)
    if len(tournament.components) > 1:
        raise ScoreDataError(
            f"{method}: expected {tournament.by}s that common {ground_of(tournament.by)}s connect, "
            f"as only hodge rates groups by themselves; {not_connected(tournament)}"
        )


def not_connected(tournament: Tournament) -> str:
    """Say which groups no common ground connects."""
    parts = [[tournament.names[i] for i in part] for part in tournament.components]
    shown = "; ".join(listed(part, MOST_SHOWN) for part in parts[:MOST_SHOWN])
    return (
        f"{len(parts)} groups share no {ground_of(tournament.by)} and cannot be ordered against "
        f"each other: {shown}" + ("; ..." if len(parts) > MOST_SHOWN else "")
    )
