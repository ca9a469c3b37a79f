"""Cost against score of models on items: the mean cost of a sample, and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError, counted, joined
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.table import ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.estimates import Estimate
from gnomon.stats.item_results import estimate_items
from gnomon.stats.items import counted_as, item_settings

#: Columns in which readers of logs give costs, and the quantity in each.
COSTS = {
    "total_tokens": "tokens",
    "output_tokens": "output tokens",
    "input_tokens": "input tokens",
    "reasoning_tokens": "reasoning tokens",
    "cost": "cost",
    "working_time_s": "working seconds",
    "time_s": "seconds",
}


@dataclass(frozen=True)
class ModelCost(FieldRecord):
    """The mean cost of a model's samples, beside its score.

    Parameters
    ----------
    algorithm : str
        The model.
    column : str
        The column of costs, such as ``total_tokens``.
    cost : float
        Mean over the samples that have one.
    n_samples : int
        How many have one.
    score, low, high : float
        The mean over items, with its interval.
    on_front : bool
        Whether no other model is at least as good at no higher cost, and better in one of both.
    dominated_by : str or None
        Of the models that are, the one with the best score.
    """

    algorithm: str
    column: str
    cost: float
    n_samples: int
    score: float
    low: float
    high: float
    on_front: bool
    dominated_by: str | None


@dataclass(frozen=True, eq=False, repr=False)
class CostFront(Results[ModelCost]):
    """Models by cost, the cheapest first; see :func:`cost_front`."""

    columns = ("algorithm", "cost", "score", "low", "high", "on_front", "dominated_by")
    drawn_by = "gnomon.plot.dots:cost_figure"

    @property
    def front(self) -> tuple[str, ...]:
        """The models on the front, the cheapest first."""
        return tuple(one.algorithm for one in self if one.on_front)


def cost_columns(scores: ScoreTable) -> tuple[str, ...]:
    """Return the columns of a table that hold costs, among those that readers of logs give."""
    found = {name: scores.rows.numbers(name) for name in COSTS if name in scores.rows}
    return tuple(x for x, cost in found.items() if cost is not None and not np.isnan(cost).all())


def cost_front(
    scores: ScoreTable,
    cost: str | None = None,
    *,
    cluster: str | None = None,
    level: float = 0.95,
    estimates: Sequence[Estimate] | None = None,
) -> CostFront:
    """Return the score and the cost of each model, and the Pareto front of both.

    Points are compared, not intervals: of two models that are not significantly different, one may
    be off the front by chance.

    Parameters
    ----------
    scores : ScoreTable
        Of items.
    cost : str, optional
        The column of costs; by default the first of ``total_tokens, output_tokens, ...``.
    cluster : str, optional
        The column of clusters of items; by default that of the table.
    level : float
        Confidence level of the scores.
    estimates : sequence of Estimate, optional
        Means of the models, if they are known already.

    Raises
    ------
    UnknownNameError
        There is no such column.
    ScoreDataError
        No column holds costs, or a column holds none.

    Warns
    -----
    DegenerateScoresWarning
        A model has no costs and is left out, or some of its samples have none.

    Examples
    --------
    >>> rows = [
    ...     {"algorithm": a, "task": f"q{i}", "run": 1, "score": int(i % n == 0), "cost": 90 * n}
    ...     for a, n in (("large", 2), ("small", 3), ("wordy", 4)) for i in range(30)
    ... ]
    >>> found = cost_front(ScoreTable.from_records(rows, units="items"), "cost")
    >>> [(one.algorithm, one.cost, one.on_front) for one in found]
    [('large', 180.0, True), ('small', 270.0, False), ('wordy', 360.0, False)]
    """
    scores = counted_as(scores, "items", cluster)
    known = cost_columns(scores)
    if cost is None and not known:
        raise ScoreDataError(f"expected a column of costs ({', '.join(COSTS)}); found none")
    column = known[0] if cost is None else cost
    if column not in scores.attributes or scores.rows.numbers(column) is None:
        raise UnknownNameError("column of costs", column, known)
    with recorded() as notes:
        costs = _costs(scores, column)
        means = estimates or estimate_items(scores, "mean", level=level)
        of = {one.algorithm: one for one in means}
    names = sorted(costs, key=lambda name: (costs[name][0], name))
    price = np.array([costs[name][0] for name in names])
    gain = np.array([of[name].value for name in names]) * (1 if scores.higher_is_better else -1)
    found = []
    for i, name in enumerate(names):
        no_worse = (price <= price[i]) & (gain >= gain[i])
        better = np.flatnonzero(no_worse & ((price < price[i]) | (gain > gain[i])))
        by = names[better[np.argmax(gain[better])]] if better.size else None
        ends = of[name].value, of[name].low, of[name].high
        found.append(ModelCost(name, column, *costs[name], *ends, by is None, by))
    return CostFront(tuple(found), item_settings(scores, level, cost=column), tuple(notes))


def _costs(scores: ScoreTable, column: str) -> dict[str, tuple[float, int]]:
    """Return mean cost of a sample, and the number of samples that have one, for each model."""
    price, code = scores.rows.numbers(column), scores.rows["algorithm"].codes
    assert price is not None
    known = ~np.isnan(price)
    n_samples = np.bincount(code)
    n = np.bincount(code[known], minlength=n_samples.size)
    total = np.bincount(code[known], price[known], minlength=n_samples.size)
    found = {
        name: (float(total[i]) / int(n[i]), int(n[i]))
        for i, name in enumerate(scores.algorithms)
        if n[i]
    }
    for i, name in enumerate(scores.algorithms):
        if 0 < n[i] < n_samples[i]:
            of = counted(int(n_samples[i]), "sample")
            warn(f"{name}: {column} known for {n[i]:,} of {of}")
    if not found:
        raise ScoreDataError(f"column {column!r}: expected costs, found none")
    if without := [name for name in scores.algorithms if name not in found]:
        warn(f"{joined(without)}: no {column}, left out of costs")
    return found
