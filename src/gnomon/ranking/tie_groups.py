"""Tie groups: stretches of an order in which nobody is separated from anybody."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["tie_groups"]


def tie_groups(
    order: Sequence[str], names: Sequence[str], separated: npt.NDArray[np.bool_]
) -> tuple[tuple[str, ...], ...]:
    """Return the longest stretches of an order in which no pair is separated; they may overlap.

    Parameters
    ----------
    order : sequence of str
    names : sequence of str
        Of the rows and columns of `separated`.
    separated : ndarray of bool, shape (n, n)

    Examples
    --------
    >>> apart = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> tie_groups("abc", "abc", apart)
    (('a', 'b'), ('b', 'c'))
    """
    place = {name: i for i, name in enumerate(names)}
    at = [place[name] for name in order]
    groups: list[tuple[str, ...]] = []
    reached = 0
    for begin in range(len(at)):
        end = begin + 1
        while end < len(at) and not separated[at[end], at[begin:end]].any():
            end += 1
        if end > reached:
            groups.append(tuple(order[begin:end]))
            reached = end
    return tuple(groups)
