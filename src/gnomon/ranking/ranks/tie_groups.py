"""Tie groups: the longest stretches of an order in which no pair is separated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


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


def group_numbers(groups: Sequence[Sequence[str]], name: str) -> tuple[int, ...]:
    """Return the numbers, from 1, of the groups of which one is a member.

    Examples
    --------
    >>> group_numbers([("a", "b"), ("b", "c")], "b")
    (1, 2)
    """
    return tuple(number for number, group in enumerate(groups, 1) if name in group)


def group_letters(groups: Sequence[int]) -> str:
    """Return groups by letters, a to z and then a2, as in a compact letter display.

    Whoever shares a letter is not separated. Whoever shares none need not be: groups are stretches,
    and one who is separated from somebody between the two ends them.

    Parameters
    ----------
    groups : sequence of int
        Numbers from 1.

    Examples
    --------
    >>> group_letters([1, 2]), group_letters([27])
    ('ab', 'a2')
    """
    places = [divmod(group - 1, 26) for group in groups]
    return "".join(chr(ord("a") + i) + (str(turn + 1) if turn else "") for turn, i in places)


def possible_ranks(
    separated: npt.NDArray[np.bool_], lead: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the best and the worst rank that the separated pairs leave possible.

    Parameters
    ----------
    separated : ndarray of bool, shape (n, n)
    lead : ndarray of float, shape (n, n)
        By how much i is better than j.

    Examples
    --------
    >>> apart = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> lead = np.subtract.outer([3.0, 2.0, 1.0], [3.0, 2.0, 1.0])
    >>> possible_ranks(apart, lead)
    (array([1, 1, 2]), array([2, 3, 3]))
    """
    better = np.count_nonzero(separated & (lead < 0.0), axis=1)
    worse = np.count_nonzero(separated & (lead > 0.0), axis=1)
    return 1 + better, len(lead) - worse
