"""How far a tournament is from any rating, with its interval and beside what chance gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gnomon.ranking.audits.triangles import Triangle, worst_triangles
from gnomon.ranking.contest import Contest
from gnomon.ranking.ratings.hodge import (
    HodgeDecomposition,
    hodge_decomposition,
    hodge_ratings,
    intransitivity,
)
from gnomon.ranking.tournament import Edges, Tournament, Weights
from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap.quantiles import quantiles
from gnomon.stats.bootstrap.resamples import draw_key

__all__ = ["Intransitivity", "measure_intransitivity"]


@dataclass(frozen=True, eq=False)
class Intransitivity:
    """The length of the cyclic part of a tournament over that of all its edges, from 0 to 1.

    Identical contestants do not show 0: compare the value with its null band. A value above the
    band is no proof of cycles either, since edges near their bound do not add up; the cycles
    themselves are in `cycles`.

    Parameters
    ----------
    value, low, high : float
        With the percentile interval of the bootstrap; NaN where all edges are 0. Resamples are
        noisier than the data, and noise is cyclic: both ends may lie above the value.
    null_low, null_high : float
        5 % and 95 % quantile where runs are dealt out to contestants at random.
    p_value : float
        Share of such dealings that show at least as much.
    level : float
        Of the interval.
    decomposition : HodgeDecomposition
    cycles : tuple of Triangle
        Threes that beat one another in a circle, the worst first.
    triangles : tuple of Triangle
        The threes whose edges add up worst, in a circle or not.
    """

    value: float
    low: float
    high: float
    null_low: float
    null_high: float
    p_value: float
    level: float
    decomposition: HodgeDecomposition
    cycles: tuple[Triangle, ...]
    triangles: tuple[Triangle, ...]


def measure_intransitivity(
    contest: Contest,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    smoothing: float = 1.0,
    weights: Weights = "equal",
    cap: float = math.inf,
    draw_grounds: bool = False,
    n_triangles: int = 10,
    rng: np.random.Generator,
) -> Intransitivity:
    """Measure how far a contest is from any rating.

    Parameters
    ----------
    contest : Contest
    level : float
        Confidence level of the interval.
    n_resamples : int
        Number of resamples, and of random dealings.
    smoothing, weights, cap
        As in :meth:`gnomon.ranking.tournament.Tournament.of`.
    draw_grounds : bool
        Whether the interval is about grounds like these, which are drawn too. Single runs have no
        other interval.
    n_triangles : int
        How many triangles to name.
    rng : numpy.random.Generator
        Source of all draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> samples = tuple(tuple(rng.normal(size=(4, 30))) for _ in range(5))
    >>> found = measure_intransitivity(
    ...     Contest(tuple("abcd"), tuple("pqrst"), samples), n_resamples=200, rng=rng
    ... )
    >>> found.null_low < found.value < found.null_high
    True
    """
    tournament = Tournament.of(contest, smoothing=smoothing, weights=weights, cap=cap)
    decomposition = hodge_decomposition(tournament)
    edges = Edges(contest, smoothing, weights, cap, draw_grounds)
    triangles = worst_triangles(tournament, n_triangles)
    cycles = worst_triangles(tournament, n_triangles, cycles_only=True)
    drawn, positive = _resampled(edges, n_resamples, draw_key(rng), [*triangles, *cycles])
    null, _ = _resampled(edges, n_resamples, draw_key(rng), [], permuted=True)
    # Where a dealing leaves all even, there is nothing to take a share of.
    null = null[~np.isnan(null)]
    tail = (1.0 - level) / 2.0
    low, high = _ends(drawn[~np.isnan(drawn)], tail, 1.0 - tail)
    null_low, null_high = _ends(null, 0.05, 0.95)
    value = decomposition.intransitivity
    # What is above by rounding is not above.
    more = int(np.sum(null >= value - 1e-9))
    rated = [
        replace(t, sign_frequency=p) for t, p in zip([*triangles, *cycles], positive, strict=True)
    ]
    return Intransitivity(
        value,
        low,
        high,
        null_low,
        null_high,
        math.nan if math.isnan(value) else (1 + more) / (1 + null.size),
        level,
        decomposition,
        tuple(rated[len(triangles) :]),
        tuple(rated[: len(triangles)]),
    )


def _ends(shares: FloatArray, lower: float, upper: float) -> tuple[float, float]:
    """Return two quantiles; NaN if there are no shares."""
    if not shares.size:
        return math.nan, math.nan
    low, high = quantiles(shares, [lower, upper])
    return float(low), float(high)


def _resampled(
    edges: Edges,
    n_resamples: int,
    key: np.uint64,
    triangles: list[Triangle],
    *,
    permuted: bool = False,
) -> tuple[FloatArray, list[float]]:
    """Return each replicate's intransitivity, and how often each triangle's sum is positive."""
    place = {name: i for i, name in enumerate(edges.contest.names)}
    corners = [tuple(place[name] for name in t.names) for t in triangles]
    shares, positive = [], np.zeros(len(triangles))
    for f, _, w in edges.resampled(n_resamples, key, permuted=permuted):
        # Without drawn grounds all replicates have the same weights.
        w = w if edges.draw_grounds and not permuted else w[0]
        shares.append(intransitivity(f, w, hodge_ratings(f, w)))
        for t, (a, b, c) in enumerate(corners):
            positive[t] += np.sum(f[:, a, b] + f[:, b, c] + f[:, c, a] > 0.0)
    return np.concatenate(shares), (positive / n_resamples).tolist()
