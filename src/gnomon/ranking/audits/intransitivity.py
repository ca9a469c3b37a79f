"""Intransitivity of a tournament: the cyclic share of its edges, and the triangles behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gnomon.ranking.contest import Contest
from gnomon.ranking.ranks.resampled_ratings import Edges
from gnomon.ranking.ratings.hodge import (
    HodgeDecomposition,
    hodge_decomposition,
    hodge_ratings,
    intransitivity,
)
from gnomon.ranking.tournament import EVEN, Tournament, Weights
from gnomon.results import generator
from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap.quantiles import quantiles
from gnomon.stats.bootstrap.resamples import draw_key


@dataclass(frozen=True, eq=False)
class Intransitivity:
    """Intransitivity: the length of the cyclic part of a tournament over that of its edges, 0 to 1.

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

    Examples
    --------
    >>> import gnomon as gn
    >>> circle = {"rock": [[0, 2, 0]], "paper": [[1, 0, 2]], "scissors": [[2, 1, 1]]}
    >>> contest = Contest.from_table(gn.ScoreTable.from_arrays(circle))
    >>> found = measure_intransitivity(contest, n_resamples=50, rng=np.random.default_rng(0))
    >>> round(found.value, 2), found.level
    (0.33, 0.95)
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
    rng: np.random.Generator | int | None = None,
) -> Intransitivity:
    """Estimate the intransitivity of a contest, with its interval and its permutation null band.

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
    rng : numpy.random.Generator or int, optional
        Source of all draws, or its seed; 0 if none is given.

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
    rng = generator(rng)
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


@dataclass(frozen=True, slots=True)
class Triangle:
    """A triangle of a tournament, and its curl: the sum of the edges around it.

    Parameters
    ----------
    names : tuple of str
        In the direction in which the sum is positive.
    curl : float
        f_ij + f_jk + f_ki.
    is_cycle : bool
        Whether each beats the next one: the first the second, the second the third, the third the
        first. If not, their order is clear and only the sizes of the edges do not add up.
    sign_frequency : float
        Share of resamples in which the sum is positive; NaN if none were drawn.

    Examples
    --------
    >>> Triangle(("rock", "paper", "scissors"), 3.0, True).is_cycle
    True
    """

    names: tuple[str, str, str]
    curl: float
    is_cycle: bool
    sign_frequency: float = math.nan


def worst_triangles(
    tournament: Tournament, n: int = 10, *, cycles_only: bool = False
) -> list[Triangle]:
    """Return the triangles with the largest curl, the largest first.

    Parameters
    ----------
    tournament : Tournament
    n : int
        How many at most.
    cycles_only : bool
        Whether to return only those in which each beats the next.

    Examples
    --------
    >>> import gnomon as gn
    >>> circle = {"rock": [[0, 2, 0]], "paper": [[1, 0, 2]], "scissors": [[2, 1, 1]]}
    >>> contest = Contest.from_table(gn.ScoreTable.from_arrays(circle))
    >>> len(worst_triangles(Tournament.of(contest)))
    1
    """
    f, edge = tournament.log_odds, tournament.weights > 0.0
    found: list[Triangle] = []
    for i in range(len(f)):
        # All j < k that make a triangle with i < j.
        both = edge[i] & (np.arange(len(f)) > i)
        around = f[i, :, None] + f - f[i, None, :]
        usable = np.triu(edge & both & both[:, None], 1)
        if cycles_only:
            up = f > EVEN
            usable &= (up[i, :, None] & up & up[:, i]) | (up[:, i, None] & up.T & up[i])
        j, k = np.nonzero(usable)
        size = np.abs(around[j, k])
        order = np.argsort(-size, kind="stable")[:n]
        pairs = np.stack([j[order], k[order]], axis=1).tolist()
        found += [_triangle(tournament, i, a, b) for a, b in pairs]
        found = sorted(found, key=lambda t: -t.curl)[:n]
    return found


def _triangle(tournament: Tournament, i: int, j: int, k: int) -> Triangle:
    """Return three contestants in the direction in which their sum is positive."""
    f, names = tournament.log_odds, tournament.names
    curl = float(f[i, j] + f[j, k] + f[k, i])
    if curl < 0.0:
        j, k, curl = k, j, -curl
    is_cycle = bool(f[i, j] > EVEN and f[j, k] > EVEN and f[k, i] > EVEN)
    return Triangle((names[i], names[j], names[k]), curl, is_cycle)


def n_cycles(tournament: Tournament) -> int:
    """Return the number of cycles of three: each beats the next.

    Examples
    --------
    >>> n_cycles(Tournament.from_log_odds("RPS", [[0, 1, -1], [-1, 0, 1], [1, -1, 0]]))
    1
    """
    beats = (tournament.log_odds > EVEN).astype(np.float64)
    return round(float(np.sum((beats @ beats) * beats.T)) / 3.0)
