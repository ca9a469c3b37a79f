"""Where the nodes of a small graph go: joined ones near, all apart, nothing random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.scores.table import FloatArray

__all__ = ["stress_layout"]

_N_STEPS = 200
#: Parts that are not joined stand so much further apart than the longest way within one.
_APART = 0.7


def stress_layout(n: int, edges: Sequence[tuple[int, int]]) -> FloatArray:
    """Place nodes so that distances on the page are those along the edges, as nearly as may be.

    By majorisation of the stress (Gansner, Koren and North 2004), from a circle, so that the same
    graph looks the same each time.

    Parameters
    ----------
    n : int
        Number of nodes.
    edges : sequence of (int, int)
        Which are joined.

    Returns
    -------
    ndarray of float, shape (n, 2)
        Between 0 and 1 in both directions.

    Examples
    --------
    >>> stress_layout(3, [(0, 1), (1, 2)])[:, 0].round(2).tolist()
    [1.0, 0.46, 0.0]
    """
    wanted = _ways(n, edges)
    np.fill_diagonal(wanted, 1.0)
    weight = 1.0 / wanted**2
    np.fill_diagonal(weight, 0.0)
    angle = 2.0 * np.pi * np.arange(n) / max(n, 1)
    place = np.column_stack([np.cos(angle), np.sin(angle)])
    for _ in range(_N_STEPS):
        away = place[:, np.newaxis] - place
        distance = np.maximum(np.sqrt((away**2).sum(axis=-1)), 1e-9)
        goal = place[np.newaxis] + away * (wanted / distance)[..., np.newaxis]
        total = np.maximum(weight.sum(axis=1), 1e-12)
        # Half of the way: all nodes move at once, and would overshoot.
        best = (weight[..., np.newaxis] * goal).sum(axis=1) / total[:, np.newaxis]
        place = (place + best) / 2.0
    low, high = place.min(axis=0), place.max(axis=0)
    flat = high - low < 1e-6
    return np.asarray(np.where(flat, 0.5, (place - low) / np.where(flat, 1.0, high - low)))


def _ways(n: int, edges: Sequence[tuple[int, int]]) -> FloatArray:
    """Return the number of edges between each two nodes; more than any, if there is no way."""
    ways = np.full((n, n), np.inf)
    np.fill_diagonal(ways, 0.0)
    for i, j in edges:
        ways[i, j] = ways[j, i] = 1.0
    for k in range(n):
        ways = np.minimum(ways, ways[:, k, np.newaxis] + ways[k])
    longest = ways[np.isfinite(ways)].max(initial=1.0)
    return np.where(np.isfinite(ways), ways, _APART * longest + 1.0)
