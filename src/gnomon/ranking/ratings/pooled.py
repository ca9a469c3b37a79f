"""Classical ratings: Bradley-Terry, Elo, Borda, Copeland, mean ranks, and the Perron vector."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.ranking.contest import Contest
from gnomon.scores.table import FloatArray


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """A fit of Bradley and Terry's model: ratings b (sum 0) and their standard errors.

    Examples
    --------
    >>> found = bradley_terry([[0, 3], [1, 0]], ridge=0.0)
    >>> found.ratings.round(3), found.standard_errors.round(3)
    (array([ 0.549, -0.549]), array([0.577, 0.577]))
    """

    ratings: FloatArray
    standard_errors: FloatArray


def bradley_terry(wins: npt.ArrayLike, *, ridge: float = 0.01) -> BradleyTerry:
    r"""Fit Bradley and Terry's model to games won, by Newton's method.

    The ratings minimise :math:`-\sum_{ij} \mathrm{wins}_{ij} \log \sigma(b_i - b_j) +
    \frac{\mathrm{ridge}}{2} \sum_i b_i^2`.

    Parameters
    ----------
    wins : array_like of float, shape (n, n)
        How often i beat j; halves for ties, any fraction for shares.
    ridge : float
        Keeps ratings finite where someone wins or loses all games; 0 for maximum likelihood.

    Returns
    -------
    BradleyTerry
        Standard errors are of the ratings as they stand (sum 0), from the inverse of the observed
        information, as if games were independent. Pairs of runs are not: count a ground as one
        game, and take the intervals of the bootstrap for those of a ranking.

    Raises
    ------
    ScoreDataError
        Without ridge, and the games do not connect everyone by wins as well as by losses (Ford
        1957): there is no finite maximum.

    References
    ----------
    Bradley and Terry (1952), Biometrika 39.

    Examples
    --------
    >>> bradley_terry([[0, 3], [1, 0]], ridge=0).ratings.round(4)
    array([ 0.5493, -0.5493])
    """
    w = np.array(wins, dtype=np.float64)
    np.fill_diagonal(w, 0.0)
    n = len(w)
    if ridge == 0.0 and _n_strong_components(w > 0.0) > 1:
        raise ScoreDataError(
            "expected games in which everyone, or someone on a chain between them, beats everyone "
            "else; found some who win or lose them all: give a ridge above 0"
        )
    games, centre = w + w.T, np.full((n, n), 1.0 / n)
    b = np.zeros(n)
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(b[None, :] - b[:, None]))
        slope = (w - games * p).sum(axis=1) - ridge * b
        weight = games * p * (1.0 - p)
        information = np.diag(weight.sum(axis=1)) - weight + ridge * np.eye(n)
        step = np.linalg.solve(information + centre, slope)
        # A step longer than 2 would leave the region where the quadratic is near.
        b += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-12:
            break
    covariance = np.linalg.inv(information + centre)
    covariance -= covariance @ centre
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return BradleyTerry(b - b.mean(), errors)


def _n_strong_components(arrows: npt.NDArray[np.bool_]) -> int:
    from scipy.sparse import csgraph

    return int(csgraph.connected_components(arrows, connection="strong")[0])


def borda(probability: npt.ArrayLike) -> FloatArray:
    """Return Borda scores: the mean probability of being better than another that one met.

    Parameters
    ----------
    probability : array_like of float, shape (n, n)
        P(i better than j), NaN where they did not meet.

    Examples
    --------
    >>> borda([[0.5, 0.8, 0.9], [0.2, 0.5, 0.6], [0.1, 0.4, 0.5]]).round(3)
    array([0.85, 0.4 , 0.25])
    """
    p = np.array(probability, dtype=np.float64)
    np.fill_diagonal(p, np.nan)
    met = np.count_nonzero(~np.isnan(p), axis=1)
    return np.where(met > 0, np.nansum(p, axis=1) / np.maximum(met, 1), np.nan)


def copeland(probability: npt.ArrayLike) -> FloatArray:
    """Return Copeland scores: how many one beats (P above 1/2), less how many beat it.

    Examples
    --------
    >>> copeland([[0.5, 0.8, 0.9], [0.2, 0.5, 0.5], [0.1, 0.5, 0.5]])
    array([ 2., -1., -1.])
    """
    margin = np.nan_to_num(np.asarray(probability, dtype=np.float64), nan=0.5) - 0.5
    # What is half but for rounding is half.
    return np.asarray(np.sign(np.where(np.abs(margin) < 1e-12, 0.0, margin)).sum(axis=1))


def mean_rank(contest: Contest) -> FloatArray:
    """Return each one's mean rank over the grounds on which it was, 1 for always the best.

    Ranks are those of :func:`task_ranks`. NaN for one that was on none.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = gn.ScoreTable.from_arrays({"a": [[3, 1]], "b": [[1, 0.5]], "c": [[2, 2]]})
    >>> mean_rank(Contest.from_table(scores))
    array([1.5, 3. , 1.5])
    """
    ranks = task_ranks(contest)
    n_grounds = np.count_nonzero(~np.isnan(ranks), axis=0)
    return np.where(n_grounds > 0, np.nansum(ranks, axis=0) / np.maximum(n_grounds, 1), np.nan)


def task_ranks(contest: Contest) -> FloatArray:
    """Return everyone's rank on each ground, 1 for the best there.

    Contestants are ranked by the mean rank of their runs among all runs on the ground, which is by
    P(better) than a run drawn from all of them; equal ones share ranks.

    Parameters
    ----------
    contest : Contest

    Returns
    -------
    ndarray of float, shape (grounds, n)
        NaN for one that was not there.

    Examples
    --------
    >>> samples = ((np.array([2.0, 3.0, 4.0]), np.array([0.0, 1.0, 90.0])),)
    >>> task_ranks(Contest(("a", "b"), ("clockwise",), samples))
    array([[1., 2.]])
    """
    from scipy.stats import rankdata

    ranks = np.full(contest.sizes.shape, np.nan)
    for g, wins in enumerate(contest.wins):
        here = np.flatnonzero(contest.sizes[g])
        if here.size:
            # Wins per run against all runs on the ground, one's own included: a mean rank less 1/2.
            rates = wins[np.ix_(here, here)].sum(axis=1) / contest.sizes[g, here]
            ranks[g, here] = rankdata(-np.round(rates, 9))
    return ranks


def elo(
    games: Iterable[tuple[int, int, float]],
    n: int,
    *,
    k: float = 16.0,
    scale: float = 400.0,
    initial: float = 1000.0,
) -> FloatArray:
    """Rate players by Elo: each game of a stream moves two ratings, b += k (score - expected).

    The result depends on the order of the games: for streams, not for tables.

    Parameters
    ----------
    games : iterable of (int, int, float)
        Two players and the score of the first: 1, 0.5, 0 or a share in between.
    n : int
        Number of players.
    k : float
        How far one game moves a rating at most.
    scale : float
        Lead at which the odds are 10 to 1.
    initial : float
        Rating at the start.

    References
    ----------
    Elo (1978), The Rating of Chessplayers.

    Examples
    --------
    >>> elo([(0, 1, 1.0)], 2)
    array([1008.,  992.])
    """
    b = np.full(n, float(initial))
    for i, j, score in games:
        expected = 1.0 / (1.0 + 10.0 ** ((b[j] - b[i]) / scale))
        b[i] += k * (score - expected)
        b[j] -= k * (score - expected)
    return b


def elo_games(contest: Contest) -> list[tuple[int, int, float]]:
    """Return one game for every two on every ground they share, with P(i better than j) as score.

    In the order of the grounds, then of the names.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = gn.ScoreTable.from_arrays({"a": [[3.0], [4.0]], "b": [[1.0], [2.0]]})
    >>> len(elo_games(Contest.from_table(scores)))
    1
    """
    return [
        (i, j, float(contest.probability[g, i, j]))
        for g in range(len(contest.grounds))
        for i, j in np.argwhere(np.triu(contest.met[g])).tolist()
    ]


def perron_vector(ease_ratios: npt.ArrayLike, *, tolerance: float = 1e-26) -> FloatArray:
    """Return the Perron vector of a matrix of ease ratios, of length 1: the GOHR server's score.

    The server finds it by power iteration from (1, ..., 1); so does this. The largest entry is the
    best algorithm, or the easiest rule.

    Parameters
    ----------
    ease_ratios : array_like of float, shape (n, n)
        Smoothed ratios, above 0; 1 on the diagonal. NaN where two never met: as Harker (1987) has
        it, such an entry is 0 and one more is added to the diagonal of its row.
    tolerance : float
        The iteration ends where the vector moves by less, squared; at 1e-12 in the server.

    Returns
    -------
    ndarray of float, shape (n,)

    Raises
    ------
    ValueError
        An entry is not above 0.

    References
    ----------
    Saaty (1977), J. Math. Psychology 15; class MannWhitney of the GOHR server, as described in its
    documentation.

    Examples
    --------
    >>> perron_vector([[1.0, 4.0], [0.25, 1.0]]).round(4)
    array([0.9701, 0.2425])
    """
    e = np.array(ease_ratios, dtype=np.float64)
    np.fill_diagonal(e, 1.0)
    absent = np.isnan(e)
    if not (e[~absent] > 0.0).all():
        raise ValueError("expected ease ratios above 0; smooth the counts")
    e[absent] = 0.0
    e[np.diag_indices_from(e)] += absent.sum(axis=1)
    x = np.full(len(e), 1.0 / np.sqrt(len(e)))
    for _ in range(100_000):
        y = e @ x
        y /= np.linalg.norm(y)
        if np.sum((y - x) ** 2) < tolerance:
            break
        x = y
    return np.asarray(y)


def difficulty(ease: npt.ArrayLike) -> FloatArray:
    """Return each rule's difficulty from the Perron vector: 1 for the hardest, less for easier.

    Examples
    --------
    >>> difficulty([0.8, 0.4, 0.2])
    array([0.25, 0.5 , 1.  ])
    """
    v = np.asarray(ease, dtype=np.float64)
    return np.asarray(v.min() / v)


def transfer(after: float, naive: float) -> float:
    """Return how much easier a rule is after other rules: 1 - difficulty after / difficulty naive.

    Examples
    --------
    >>> transfer(0.2, 0.8)
    0.75
    """
    return 1.0 - after / naive
