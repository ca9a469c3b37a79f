"""Labels that do not lie on one another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["spread"]


def spread(places: npt.ArrayLike, *, gap: float) -> npt.NDArray[np.float64]:
    """Move places apart until neighbours are at least a gap apart, each as little as may be.

    Places that are too close become a block around their middle; a block that meets the next one
    joins it.

    Parameters
    ----------
    places : array_like of float, shape (n,)
        In any order, which is kept.
    gap : float
        Least distance.

    Examples
    --------
    >>> spread([0.5, 0.52, 0.9], gap=0.1).round(2).tolist()
    [0.46, 0.56, 0.9]
    """
    wanted = np.asarray(places, dtype=np.float64)
    order = np.argsort(wanted, kind="stable")
    blocks: list[list[float]] = []  # wanted places of each block, ascending
    for place in wanted[order]:
        blocks.append([float(place)])
        while len(blocks) > 1 and _edge(blocks[-1], gap, -1) - _edge(blocks[-2], gap, 1) < gap:
            last = blocks.pop()
            blocks[-1] += last
    moved = np.empty_like(wanted)
    moved[order] = [_edge(block, gap, -1) + gap * i for block in blocks for i in range(len(block))]
    return moved


def _edge(block: list[float], gap: float, side: int) -> float:
    """Return the first (-1) or last (1) place of a block laid out evenly around its middle."""
    return float(np.mean(block)) + side * gap * (len(block) - 1) / 2
