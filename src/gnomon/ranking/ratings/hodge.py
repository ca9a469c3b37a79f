"""Hodge ranking: least-squares ratings of a tournament graph, and its cyclic parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from gnomon.ranking.tournament import Tournament, connected_components, laplacian_inverse
from gnomon.scores.table import FloatArray


def hodge_ratings(
    log_odds: npt.ArrayLike, weights: npt.ArrayLike, *, inverse: FloatArray | None = None
) -> FloatArray:
    r"""Rate by weighted least squares: differences of ratings come nearest to the edges.

    The ratings minimise :math:`\sum w_{ij} (f_{ij} - (r_i - r_j))^2` and sum to 0 in every
    component: the normal equations are those of the weighted graph Laplacian. On a complete graph
    with equal weights a rating is the mean of the contestant's edges (its own, 0, among them).

    Parameters
    ----------
    log_odds : array_like of float, shape (..., n, n)
        Antisymmetric edges; several graphs at once.
    weights : array_like of float, shape (n, n) or (..., n, n)
        0 where there is no edge. Symmetric.
    inverse : ndarray of float, shape (n, n), optional
        Pseudoinverse of the Laplacian of these weights, where it is known already.

    Returns
    -------
    ndarray of float, shape (..., n)
        A contestant without any edge has 0. Ratings of different components say nothing about each
        other.

    References
    ----------
    Jiang, Lim, Yao and Ye (2011), Statistical ranking and combinatorial Hodge theory; Strang,
    Abbott and Thomas (2022), The network HHD, SIAM Review 64(2), arXiv 2011.01825.

    Examples
    --------
    >>> f = np.array([[0, 1.0, 0.2], [-1.0, 0, 0.8], [-0.2, -0.8, 0]])
    >>> hodge_ratings(f, np.ones((3, 3))).round(4)
    array([ 0.4   , -0.0667, -0.3333])
    """
    f = np.asarray(log_odds, dtype=np.float64)
    w = np.asarray(weights, dtype=np.float64) * (1.0 - np.eye(f.shape[-1]))
    won = (w * f).sum(axis=-1)
    inverse = laplacian_inverse(w) if inverse is None else inverse
    return np.asarray(won @ inverse if w.ndim == 2 else (inverse @ won[..., None])[..., 0])


def intransitivity(
    log_odds: npt.ArrayLike, weights: npt.ArrayLike, ratings: npt.ArrayLike
) -> FloatArray:
    """Return intransitivity: the share of the edges' length that ratings leave over, 0 to 1.

    0: every edge is a difference of ratings. 1: all ratings are equal and everything is cyclic.
    NaN where all edges are 0. An order may well exist although this is above 0.

    Examples
    --------
    >>> edges = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
    >>> float(intransitivity(edges, np.ones((3, 3)) - np.eye(3), np.zeros(3)))
    1.0
    """
    f, r = np.asarray(log_odds), np.asarray(ratings)
    w = np.asarray(weights)
    rest = f - (r[..., :, None] - r[..., None, :])
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (w * rest**2).sum(axis=(-2, -1)) / (w * f**2).sum(axis=(-2, -1))
    return np.asarray(np.sqrt(np.minimum(share, 1.0)))


@dataclass(frozen=True, eq=False)
class HodgeDecomposition:
    """The Hodge decomposition of a tournament graph: gradient, curl and harmonic part.

    The parts add up to the edges and are orthogonal in the inner product of the weights.

    Parameters
    ----------
    names : tuple of str
    ratings : ndarray of float, shape (n,)
        Sum 0 in every component.
    gradient, curl, harmonic : ndarray of float, shape (n, n)
        Differences of ratings; cycles of three; longer cycles that no triangles fill (none on a
        complete graph).
    weights : ndarray of float, shape (n, n)

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.ranking import Contest
    >>> scores = gn.ScoreTable.from_arrays({"a": [[3], [4]], "b": [[2], [2.5]], "c": [[0], [1]]})
    >>> found = hodge_decomposition(Tournament.of(Contest.from_table(scores)))
    >>> found.names, bool(np.abs(found.harmonic).max() < 1e-9)
    (('a', 'b', 'c'), True)
    """

    names: tuple[str, ...]
    ratings: FloatArray
    gradient: FloatArray
    curl: FloatArray
    harmonic: FloatArray
    weights: FloatArray

    @cached_property
    def shares(self) -> tuple[float, float, float]:
        """Squared lengths of gradient, curl and harmonic part over that of the edges.

        All NaN where every edge is 0.
        """
        parts = (self.gradient, self.curl, self.harmonic)
        lengths = [float((self.weights * part**2).sum()) for part in parts]
        whole = sum(lengths)
        if whole == 0.0:
            return math.nan, math.nan, math.nan
        return lengths[0] / whole, lengths[1] / whole, lengths[2] / whole

    @property
    def intransitivity(self) -> float:
        """Length of the cyclic parts over that of the edges, from 0 to 1."""
        return math.sqrt(self.shares[1] + self.shares[2])

    @property
    def cycle_dimension(self) -> int:
        """Number of independent cycles of the graph: edges - contestants + components."""
        linked = self.weights > 0.0
        n_edges = int(np.count_nonzero(np.triu(linked, 1)))
        return n_edges - len(self.names) + len(connected_components(linked))


def hodge_decomposition(tournament: Tournament) -> HodgeDecomposition:
    """Decompose a tournament graph into gradient, curl and harmonic part.

    Parameters
    ----------
    tournament : Tournament

    Returns
    -------
    HodgeDecomposition

    References
    ----------
    As for :func:`hodge_ratings`. Triangles have weight 1, so the curl part is the weighted
    projection of the cyclic part on flows around triangles.

    Examples
    --------
    >>> rock_paper_scissors = [[0, 1, -1], [-1, 0, 1], [1, -1, 0]]
    >>> found = hodge_decomposition(Tournament.from_log_odds("RPS", rock_paper_scissors))
    >>> [round(share, 9) + 0.0 for share in found.shares]
    [0.0, 1.0, 0.0]
    """
    f = tournament.log_odds
    w = tournament.weights * (1.0 - np.eye(len(tournament.names)))
    ratings = hodge_ratings(f, w)
    edge = w > 0.0
    gradient = np.where(edge, ratings[:, None] - ratings[None, :], 0.0)
    cyclic = np.where(edge, f - gradient, 0.0)
    complete = bool(edge.sum() == edge.size - len(f))
    curl = cyclic if complete else _curl_part(cyclic, w)
    return HodgeDecomposition(tournament.names, ratings, gradient, curl, cyclic - curl, w)


def _curl_part(cyclic: FloatArray, w: FloatArray) -> FloatArray:
    """Return the projection of a flow on flows around triangles, in the inner product of weights.

    With T the sums of a flow around all triangles, it is the x in the range of W^-1 T'T for which
    T'T x = T'T cyclic. T'T takes a few products of matrices, so triangles are never listed.
    """
    from scipy.sparse.linalg import LinearOperator, lsmr

    edge = (w > 0.0).astype(np.float64)
    filled = edge @ edge
    at = np.nonzero(np.triu(w, 1))
    root = np.sqrt(w[at])

    def around(flow: FloatArray) -> FloatArray:
        f = np.zeros_like(w)
        f[at] = flow / root
        f -= f.T
        through = edge @ f
        return np.asarray((f * filled - through + through.T)[at] / root)

    operator = LinearOperator((root.size,) * 2, matvec=around, rmatvec=around, dtype=np.float64)
    target = root * cyclic[at]
    # The shortest of the solutions of a least-squares problem is the one in the range.
    found = lsmr(operator, around(target), atol=1e-14, btol=1e-14, maxiter=100_000)[0]
    part = np.zeros_like(w)
    part[at] = found / root
    return part - part.T


def trait_correlation(tournament: Tournament) -> float:
    """Estimate rho, the correlation of two edges that share a contestant, from 0 to 1/2.

    By moments: the mean of f_ij f_ik over the mean of f_ij^2. NaN without two such edges.

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.ranking import Contest
    >>> scores = gn.ScoreTable.from_arrays({"a": [[3], [4]], "b": [[2], [2.5]], "c": [[0], [1]]})
    >>> round(trait_correlation(Tournament.of(Contest.from_table(scores))), 2)
    0.33
    """
    f, edge = tournament.log_odds, tournament.weights > 0.0
    together = count = 0.0
    for i in range(len(f)):
        for j, k in combinations(np.flatnonzero(edge[i]), 2):
            together += f[i, j] * f[i, k]
            count += 1.0
    n_edges = int(edge.sum())
    total = float((f[edge] ** 2).sum())
    if count == 0.0 or total == 0.0:
        return math.nan
    return float(np.clip((together / count) / (total / n_edges), 0.0, 0.5))


def expected_intransitivity(rho: float, n_contestants: int, n_edges: int) -> float:
    """Return the intransitivity to expect of contestants with independent traits.

    The expected cyclic share of the squared edges is (1 - 2 rho) L / E, with L = E - V + 1 cycles
    on a connected graph (the trait-performance theorem of Strang, Abbott and Thomas 2022). With the
    :func:`trait_correlation` of the same complete graph it is, by algebra, what is observed; it
    says something with a rho from elsewhere, or of a graph with edges missing.

    Examples
    --------
    >>> expected_intransitivity(0.5, 6, 15), round(expected_intransitivity(0.0, 6, 15), 3)
    (0.0, 0.816)
    """
    cycles = n_edges - n_contestants + 1
    return math.sqrt(max((1.0 - 2.0 * rho) * cycles / n_edges, 0.0))
