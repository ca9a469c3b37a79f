"""Correction of ranks for contestants of which each is the best of several (Bonferroni)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from gnomon.errors import ScoreDataError, listed, shortened
from gnomon.ranking.ranks.ranking import Ranking
from gnomon.ranking.ranks.tie_groups import group_numbers, possible_ranks, tie_groups
from gnomon.ranking.ratings.method_orders import rounded
from gnomon.scores.table import ScoreTable


def candidates_of(table: ScoreTable, column: str) -> dict[str, int]:
    """Return from a column of a table of how many candidates each algorithm is the best.

    Raises
    ------
    ScoreDataError
        There is no such column, or an algorithm has not one whole number from 1 up in it.
    """
    if column not in table.attributes:
        known = ", ".join(table.attributes) or "none"
        raise ScoreDataError(
            f"expected a column with numbers of candidates, found no {shortened(column)!r}; "
            f"columns: {known}"
        )
    found = {}
    for (name,), rows in table.frame.group_by("algorithm", maintain_order=True):
        told = rows[column].unique(maintain_order=True)
        values = told.cast(pl.Float64, strict=False).to_list()
        if len(values) != 1 or values[0] is None or values[0] < 1 or values[0] % 1:
            raise ScoreDataError(
                f"{column} of {shortened(str(name))!r}: expected one whole number from 1 up in all "
                f"its rows, found {listed(map(str, told), 3)}"
            )
        found[str(name)] = int(values[0])
    return found


def corrected_for_selection(
    ranking: Ranking, n_candidates: Mapping[str, int], again: Callable[[float], Ranking]
) -> Ranking:
    """Return a ranking in which each contestant may be the best of several that were tried.

    A pair is separated if it is at the level ``1 - (1 - level) / k``, ``k`` the larger number of
    candidates of the two: whoever shows the best of k equals is then surely above another no more
    often than who had one (Bonferroni). The interval of a rating holds at its own such level.

    Parameters
    ----------
    ranking : Ranking
        At the level that is stated.
    n_candidates : mapping from str to int
        From 1; who is not named has 1.
    again : callable
        Ranks the same scores, with the same draws, at another level.
    """
    n = np.array([n_candidates.get(name, 1) for name in ranking.names])
    larger = np.maximum.outer(n, n)
    separated, records = ranking.separated.copy(), list(ranking)
    for k in sorted(set(n.tolist()) - {1}):
        wider = again(1.0 - (1.0 - ranking.level) / k)
        separated[larger == k] = wider.separated[larger == k]
        for i in np.flatnonzero(n == k).tolist():
            records[i] = replace(records[i], low=wider[i].low, high=wider[i].high)
    lead = np.subtract.outer(*2 * (rounded(ranking.ratings),))
    best, worst = possible_ranks(separated, lead)
    groups = tuple(
        group for part in ranking.components for group in tie_groups(part, ranking.names, separated)
    )
    ranked = tuple(
        replace(
            one,
            rank_low=int(best[i]),
            rank_high=int(worst[i]),
            groups=group_numbers(groups, one.name),
        )
        for i, one in enumerate(records)
    )
    settings = dict(ranking.settings) | {"best_of": dict(n_candidates)}
    return replace(ranking, records=ranked, settings=settings, groups=groups, separated=separated)
