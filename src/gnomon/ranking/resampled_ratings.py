"""Ratings from resampled runs, and from runs dealt out at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gnomon.ranking.hodge import hodge_ratings
from gnomon.ranking.methods import Method
from gnomon.ranking.tournament import Edges, Tournament
from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap import draw_key

__all__ = ["resampled_ratings", "spread_p_value"]

#: Random dealings of runs; the data among them, a test at 5 % is exact.
N_DEALINGS = 199


def resampled_ratings(
    edges: Edges,
    tournament: Tournament,
    method: Method,
    n_resamples: int,
    *,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the ratings of each resample, shape (n_resamples, n).

    Where grounds are drawn, a resample may lack those that hold contestants together. Those who are
    then not connected with most others of their component have no rating there, but NaN.

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
        return np.concatenate([ratings for ratings, _ in blocks])
    return np.concatenate(
        [
            np.where([_left_apart(graph, tournament) for graph in weights], np.nan, ratings)
            for ratings, weights in blocks
        ]
    )


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
    for odds, chances, weights in edges.resampled(n_resamples, draw_key(rng)):
        if method.name == "hodge":
            # Without drawn grounds all replicates have the weights of the data.
            ratings = hodge_ratings(odds, weights if edges.draw_grounds else weights[0])
        else:
            graphs = (
                replace(tournament, log_odds=f, weights=w, probability=p)
                for f, w, p in zip(odds, weights, chances, strict=True)
            )
            ratings = np.array([method.rate(graph, edges.contest) for graph in graphs])
        yield ratings, weights


def _left_apart(weights: FloatArray, tournament: Tournament) -> npt.NDArray[np.bool_]:
    """Return who is not connected with the largest part of the own component, shape (n,)."""
    from scipy.sparse.csgraph import connected_components

    part = connected_components(weights > 0.0, directed=False)[1]
    largest = np.empty_like(part)
    for members in map(list, tournament.components):
        largest[members] = np.bincount(part[members]).argmax()
    return np.asarray(part != largest)


def spread_p_value(edges: Edges, tournament: Tournament, *, key: np.uint64) -> float:
    """Test whether contestants are all alike: by the widest difference of two Hodge ratings.

    Differences are studentized by their spread over 199 random dealings of each ground's runs to
    the contestants there, and the data are counted among these: exact for identical contestants.

    Parameters
    ----------
    edges : Edges
    tournament : Tournament
        The graph of the data.
    key : uint64
        From :func:`gnomon.stats.bootstrap.draw_key`.

    Returns
    -------
    float
        From 1/200 to 1.
    """
    w = tournament.weights
    dealt = [hodge_ratings(f, w) for f, _, _ in edges.resampled(N_DEALINGS, key, permuted=True)]
    ratings = np.concatenate([hodge_ratings(tournament.log_odds, w)[None, :], *dealt])
    widest = np.zeros(len(ratings))
    for part in tournament.components:
        for i in part:
            lead = np.abs(ratings[:, [i]] - ratings[:, list(part)])
            scale = lead.std(axis=0)
            within = scale > 1e-12
            widest = np.maximum(widest, (lead[:, within] / scale[within]).max(axis=1, initial=0.0))
    return float(np.mean(widest >= widest[0]))
