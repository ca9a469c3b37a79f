"""Ratings from resampled runs, and from runs dealt out at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

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
    if not method.pooled:
        drawn = (
            edges.contest.resampled(draw_grounds=edges.draw_grounds, rng=rng)
            for _ in range(n_resamples)
        )
        return np.array([method.rate(tournament, contest) for contest in drawn])
    blocks = []
    for odds, chances, weights in edges.resampled(n_resamples, draw_key(rng)):
        if method.name == "hodge":
            # Without drawn grounds all replicates have the weights of the data.
            blocks.append(hodge_ratings(odds, weights if edges.draw_grounds else weights[0]))
        else:
            graphs = (
                replace(tournament, log_odds=f, weights=w, probability=p)
                for f, w, p in zip(odds, weights, chances, strict=True)
            )
            blocks.append(np.array([method.rate(graph, edges.contest) for graph in graphs]))
    return np.concatenate(blocks)


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
