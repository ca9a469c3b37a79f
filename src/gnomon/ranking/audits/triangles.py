"""Threes in a tournament: those whose edges do not add up, and those that run in a circle."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gnomon.ranking.tournament import EVEN, Tournament

__all__ = ["Triangle", "n_cycles", "worst_triangles"]


@dataclass(frozen=True, slots=True)
class Triangle:
    """Three contestants and how far going around them is from coming back to 0.

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
    """

    names: tuple[str, str, str]
    curl: float
    is_cycle: bool
    sign_frequency: float = math.nan


def worst_triangles(
    tournament: Tournament, n: int = 10, *, cycles_only: bool = False
) -> list[Triangle]:
    """Return the triangles whose edges add up worst, the worst first.

    Parameters
    ----------
    tournament : Tournament
    n : int
        How many at most.
    cycles_only : bool
        Whether to return only those in which each beats the next.
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
    """Return the number of threes that beat one another in a circle.

    Examples
    --------
    >>> n_cycles(Tournament.from_log_odds("RPS", [[0, 1, -1], [-1, 0, 1], [1, -1, 0]]))
    1
    """
    beats = (tournament.log_odds > EVEN).astype(np.float64)
    return round(float(np.sum((beats @ beats) * beats.T)) / 3.0)
