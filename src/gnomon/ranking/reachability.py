"""Who can be reached from whom along the arrows of a graph, and its strong components."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["reachable", "strong_components"]


def reachable(arrows: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return whether a chain of arrows leads from i to j, shape (n, n); everyone reaches itself.

    Examples
    --------
    >>> reachable(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)).astype(int)
    array([[1, 1, 1],
           [0, 1, 1],
           [0, 0, 1]])
    """
    reach = arrows | np.eye(len(arrows), dtype=bool)
    # Each product doubles the length of the chains.
    for _ in range(len(arrows).bit_length()):
        reach = (reach.astype(np.float64) @ reach) > 0.0
    return reach


def strong_components(arrows: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return the groups in which everyone reaches everyone, so that no arrow leads backwards.

    Parameters
    ----------
    arrows : ndarray of bool, shape (n, n)
        ``arrows[i, j]``: there is one from i to j.

    Examples
    --------
    >>> strong_components(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0]], dtype=bool))
    [[1, 2], [0]]
    """
    reach = reachable(arrows)
    both = reach & reach.T
    # Who reaches another, and is not reached by it, reaches more.
    order = np.argsort(-reach.sum(axis=1), kind="stable")
    return [np.flatnonzero(both[i]).tolist() for i in order if not both[i, :i].any()]
