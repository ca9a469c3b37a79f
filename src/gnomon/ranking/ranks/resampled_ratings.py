"""Bootstrap and permutation replicates of tournament graphs and of their ratings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gnomon.ranking.contest import Contest
from gnomon.ranking.ratings.hodge import hodge_ratings
from gnomon.ranking.ratings.methods import Method
from gnomon.ranking.tournament import (
    Tournament,
    Weights,
    check_weights,
    ground_edges,
    ground_weights,
)
from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap.resamples import draw_key

#: Replicates whose edges are held in memory together, at most.
BLOCK = 256
#: Numbers in one block of edges, at most (three arrays of this size).
BLOCK_NUMBERS = 4_000_000
#: Random dealings of runs at least; the data among them, a test at 5 % is exact.
N_DEALINGS = 199


@dataclass(frozen=True, eq=False)
class Edges:
    """Replicates of a tournament graph, from resampled or permuted runs, block by block.

    Parameters
    ----------
    contest : Contest
    smoothing, weights, cap
        As in :meth:`Tournament.of`. Weights by precision are those of the data in every resample.
    draw_grounds : bool
        Whether grounds are drawn too, for a statement about grounds not tried.
    n_threads : int
        Threads that draw; for any number the same bits, as each replicate has draws of its own.
    """

    contest: Contest
    smoothing: float = 1.0
    weights: Weights = "equal"
    cap: float = math.inf
    draw_grounds: bool = False
    n_threads: int = 1

    @cached_property
    def ground_weights(self) -> FloatArray:
        """Weight of each pair that met on each ground, (grounds, n, n), or (grounds, 1, 1)."""
        check_weights(self.contest, self.weights)
        if not isinstance(self.weights, str):
            each = [self.weights.get(name, 1.0) for name in self.contest.grounds]
            return np.array(each, dtype=np.float64)[:, None, None]
        n_grounds, n = self.contest.sizes.shape
        if self.weights == "equal":
            return np.ones((n_grounds, 1, 1))
        found = np.empty((n_grounds, n, n))
        for ground, here in enumerate(self.contest.by_ground()):
            variance = ground_edges(here, self.smoothing, self.cap)[1]
            found[ground] = ground_weights(here, "precision", variance)[0]
        return found

    @cached_property
    def _logs(self) -> FloatArray:
        """Logarithms of all numbers of won pairs that can occur, in halves, smoothed."""
        most = int(self.contest.most_pairs)
        return np.log(np.arange(2 * most + 1) / 2.0 + self.smoothing)

    def resampled(
        self, n_resamples: int, key: np.uint64, *, permuted: bool = False, chances: bool = True
    ) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Yield log-odds, probabilities and weights, each (some replicates, n, n).

        Parameters
        ----------
        n_resamples : int
        key : uint64
            From :func:`gnomon.stats.bootstrap.resamples.draw_key`.
        permuted : bool
            Whether to deal the runs of a ground out to its contestants at random, as if none of
            them were better than another.
        chances : bool
            Whether probabilities are wanted: if not, there are none, shape (0, n, n).
        """
        from gnomon.execution.threads import in_order
        from gnomon.ranking.ranks.resampling_kernel import resample_edges

        n = len(self.contest.names)
        logs = self._logs
        block = max(1, min(BLOCK, BLOCK_NUMBERS // n**2))
        draw_grounds = self.draw_grounds and not permuted

        def drawn(first: int) -> tuple[FloatArray, FloatArray, FloatArray]:
            size = min(block, n_resamples - first)
            odds = np.empty((size, n, n))
            chance = np.empty((size if chances else 0, n, n))
            # Without drawn grounds all replicates have the same weights.
            total = np.empty((size if draw_grounds else 1, n, n))
            resample_edges(
                key, first, permuted, draw_grounds, *self.contest.sorted_runs,
                self.ground_weights, logs, self.cap, odds, chance, total,
            )  # fmt: skip
            return odds, chance, np.broadcast_to(total, odds.shape)

        return in_order(drawn, range(0, n_resamples, block), self.n_threads)


@dataclass(frozen=True, eq=False)
class ResampledRatings:
    """Ratings of bootstrap resamples, and who is connected in each.

    Where grounds are drawn, a resample may lack those that hold contestants together. It then rates
    each part by itself.

    Parameters
    ----------
    ratings : ndarray of float, shape (n_resamples, n)
    parts : ndarray of int, shape (n_resamples, n), or None
        Number of the part of each one's component in which it is; None: none ever falls apart.
    components : tuple of tuples of int
        Who is connected in the data.
    """

    ratings: FloatArray
    parts: npt.NDArray[np.int64] | None
    components: tuple[tuple[int, ...], ...]

    def leads(self, i: int) -> FloatArray:
        """Return i's rating less everybody's, shape (n_resamples, n); NaN where not connected."""
        lead = self.ratings[:, [i]] - self.ratings
        return lead if self.parts is None else np.where(self._together(i), lead, np.nan)

    def _together(self, i: int) -> npt.NDArray[np.bool_]:
        """Return who is in one part with i, or was never connected with it."""
        assert self.parts is not None
        mine = next(part for part in self.components if i in part)
        outside = ~np.isin(np.arange(self.parts.shape[1]), mine)
        return np.asarray((self.parts == self.parts[:, [i]]) | outside)

    @property
    def whole(self) -> FloatArray:
        """Ratings, NaN for all of a component where it falls apart: they add up to 0 in parts."""
        if self.parts is None:
            return self.ratings
        rated = self.ratings.copy()
        for members in map(list, self.components):
            torn = (self.parts[:, members] != self.parts[:, members[:1]]).any(axis=1)
            rated[np.ix_(torn, members)] = np.nan
        return rated


def expected_seconds(n: int, n_grounds: int, n_runs: float, n_resamples: int) -> float:
    """Return about how long the ratings of resamples take on one processor core of 2023.

    Every two of `n` meet on every ground in every resample, each with some runs.
    """
    pairs = float(n) ** 2 * (n_resamples + N_DEALINGS)
    return pairs * (n_grounds * (4e-10 + 5e-11 * n_runs) + 3e-8)


def resampled_ratings(
    edges: Edges,
    tournament: Tournament,
    method: Method,
    n_resamples: int,
    *,
    rng: np.random.Generator,
) -> ResampledRatings:
    """Draw bootstrap replicates of ratings.

    Parameters
    ----------
    edges : Edges
        The contest and how it becomes a graph.
    tournament : Tournament
        The graph of the data.
    method : Method
    n_resamples : int
    rng : numpy.random.Generator
        Source of all draws.
    """
    blocks = _rated(edges, tournament, method, n_resamples, rng)
    if not edges.draw_grounds or edges.contest.sizes.all():
        ratings = np.concatenate([ratings for ratings, _ in blocks])
        return ResampledRatings(ratings, None, tournament.components)
    rated, parts = [], []
    for ratings, weights in blocks:
        rated.append(ratings)
        parts += [_parts(graph) for graph in weights]
    return ResampledRatings(np.concatenate(rated), np.array(parts), tournament.components)


def _rated(
    edges: Edges,
    tournament: Tournament,
    method: Method,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield ratings, (some resamples, n), and how often each two met there, (the same, n, n)."""
    if not method.pooled:
        for _ in range(n_resamples):
            drawn = edges.contest.resampled(draw_grounds=edges.draw_grounds, rng=rng)
            yield method.rate(tournament, drawn)[None], drawn.met.sum(axis=0)[None]
        return
    hodge = method.name == "hodge"
    for odds, chances, weights in edges.resampled(n_resamples, draw_key(rng), chances=not hodge):
        if hodge and edges.draw_grounds:
            ratings = hodge_ratings(odds, weights)
        elif hodge:
            inverse = tournament.laplacian_inverse
            ratings = hodge_ratings(odds, tournament.weights, inverse=inverse)
        else:
            graphs = (
                replace(tournament, log_odds=f, weights=w, probability=p)
                for f, w, p in zip(odds, weights, chances, strict=True)
            )
            ratings = np.array([method.rate(graph, edges.contest) for graph in graphs])
        yield ratings, weights


def _parts(weights: FloatArray) -> npt.NDArray[np.int64]:
    """Return the number of the part in which each one is, shape (n,)."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(weights > 0.0, directed=False)[1], dtype=np.int64)


def spread_p_value(
    edges: Edges, tournament: Tournament, *, level: float = 0.95, key: np.uint64
) -> float:
    """Test by permutation whether all are alike: the range of studentized Hodge ratings.

    Differences are studentized by their spread over random dealings of each ground's runs to the
    contestants there, and the data are counted among these: exact for identical contestants.

    Parameters
    ----------
    edges : Edges
    tournament : Tournament
        The graph of the data.
    level : float
        There are 199 dealings, and beyond 99.5 % as many as the p-value needs to get there.
    key : uint64
        From :func:`gnomon.stats.bootstrap.resamples.draw_key`.

    Returns
    -------
    float
        From 1/200, or ``1 - level`` if that is less, to 1.
    """
    w, inverse = tournament.weights, tournament.laplacian_inverse
    n_dealings = max(N_DEALINGS, math.ceil(1.0 / (1.0 - level)))
    drawn = edges.resampled(n_dealings, key, permuted=True, chances=False)
    dealt = [hodge_ratings(f, w, inverse=inverse) for f, _, _ in drawn]
    own = hodge_ratings(tournament.log_odds, w, inverse=inverse)
    ratings = np.concatenate([own[None, :], *dealt])
    widest = np.zeros(len(ratings))
    for part in tournament.components:
        for i in part:
            lead = np.abs(ratings[:, [i]] - ratings[:, list(part)])
            scale = lead.std(axis=0)
            within = scale > 1e-12
            widest = np.maximum(widest, (lead[:, within] / scale[within]).max(axis=1, initial=0.0))
    return float(np.mean(widest >= widest[0]))
