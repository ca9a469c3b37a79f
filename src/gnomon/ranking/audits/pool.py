"""Whether the order of some depends on who else is in the pool of competitors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.ranking.contest import Contest
from gnomon.ranking.ratings.method_orders import order_of, reversed_pairs, rounded
from gnomon.ranking.ratings.methods import method_named
from gnomon.ranking.tournament import Tournament

__all__ = ["PoolEffect", "pool_effects"]

#: What methods that rate a graph alone are given in the place of its contest.
NOBODY = Contest((), (), ())


@dataclass(frozen=True)
class PoolEffect:
    """What becomes of the others' order if one contestant leaves.

    Parameters
    ----------
    left_out : str
    method : str
    reversed_pairs : tuple of (str, str)
        Pairs of others that are rated one way before, and the other way after.
    """

    left_out: str
    method: str
    reversed_pairs: tuple[tuple[str, str], ...]


def pool_effects(
    tournament: Tournament,
    methods: Sequence[str] = ("hodge", "borda"),
    *,
    leavers: Sequence[str] | None = None,
) -> list[PoolEffect]:
    """Return who changes places when a contestant leaves the pool, for each and each method.

    Parameters
    ----------
    tournament : Tournament
        Its edges do not depend on who else is there.
    methods : sequence of str
        Of those that look at the tournament graph alone.
    leavers : sequence of str, optional
        Who leaves, one at a time; by default everyone. One without whom the others fall into
        groups that cannot be ordered is left out.

    Examples
    --------
    >>> graph = Tournament.from_log_odds("abc", [[0, 1, 9], [-1, 0, 9], [-9, -9, 0]])
    >>> [effect.reversed_pairs for effect in pool_effects(graph, ["hodge"])]
    [(), (), ()]
    """
    if len(tournament.names) < 3:
        return []
    rules = [method_named(name) for name in methods]
    if not all(rule.pooled for rule in rules):
        raise ValueError(f"expected methods that rate a graph alone, found {', '.join(methods)}")
    before = [rule.rate(tournament, NOBODY) for rule in rules]
    found = []
    for name in tournament.names if leavers is None else leavers:
        at = tournament.names.index(name)
        others = tournament.without(name)
        if len(others.components) > 1:
            continue
        for rule, ratings in zip(rules, before, strict=True):
            old, new = rounded(np.delete(ratings, at)), rounded(rule.rate(others, NOBODY))
            pairs = reversed_pairs(others.names, order_of(old), old, new)
            found.append(PoolEffect(name, rule.name, pairs))
    return found
