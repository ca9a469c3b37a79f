"""Cost against score of models on items: what a sample takes, and the Pareto front of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError, counted, joined
from gnomon.results import FieldRecord, Results, made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.items.item_estimates import ItemEstimate, estimate_items
from gnomon.stats.items.item_units import counted_as

#: Columns that readers of logs give costs in, and what is measured in them.
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
    """What a model's samples cost on average, beside its score.

    Parameters
    ----------
    algorithm : str
    column : str
        Where the cost stands, such as ``total_tokens``.
    cost : float
        Mean over the samples that have one.
    n_samples : int
        How many have one.
    score, low, high : float
        The mean over items, with its interval.
    on_front : bool
        Whether no other model costs no more and scores no less, and is better in one of both.
    dominated_by : str or None
        Of the models that do, the one with the best score.

    Examples
    --------
    >>> ModelCost("a", "total_tokens", 120.5, 40, 0.5, 0.4, 0.6, True, None).as_record()["cost"]
    120.5
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
    """Models by cost, the cheapest first; see :func:`cost_front`.

    Examples
    --------
    >>> scores = {"a": [[1, 1, 0, 1] * 8], "b": [[1, 0, 0, 1] * 8]}
    >>> table = ScoreTable.from_arrays(scores, units="items")
    >>> priced = table.rows.with_columns({"cost": np.repeat([2.0, 1.0], 32)})
    >>> cost_front(ScoreTable(priced, units="items"), "cost").front
    ('b', 'a')
    """

    columns = ("algorithm", "cost", "score", "low", "high", "on_front", "dominated_by")
    drawn_by = "gnomon.plot.dots:cost_figure"

    @property
    def front(self) -> tuple[str, ...]:
        """The models on the front, the cheapest first."""
        return tuple(one.algorithm for one in self if one.on_front)


def cost_columns(scores: ScoreTable) -> tuple[str, ...]:
    """Return the columns of a table that hold costs, of those that readers of logs give."""
    found = {name: scores.rows.numbers(name) for name in COSTS if name in scores.rows}
    return tuple(x for x, cost in found.items() if cost is not None and not np.isnan(cost).all())


def cost_front(
    scores: ScoreTable,
    cost: str | None = None,
    *,
    cluster: str | None = None,
    level: float = 0.95,
    estimates: Sequence[ItemEstimate] | None = None,
) -> CostFront:
    """Set the score of each model against what a sample costs it, and find the Pareto front.

    A model is on the front if none that costs no more scores as much or more. Points are compared,
    not their intervals: of two that the items do not separate, one may be off the front by chance.

    Parameters
    ----------
    scores : ScoreTable
        Of items; a low score is good if the table says so.
    cost : str, optional
        The column of costs; the first of ``total_tokens, output_tokens, ...`` that there is.
    cluster : str, optional
        The column that tells which items belong together; as the table has it.
    level : float
        Confidence level of the scores.
    estimates : sequence of ItemEstimate, optional
        Means of the models, if they are known already.

    Raises
    ------
    UnknownNameError
        There is no such column.
    ScoreDataError
        No column holds costs, or none of a model does.

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
    column = _column(scores, cost)
    with recorded() as notes:
        costs = _costs(scores, column)
        of = {
            one.algorithm: one for one in estimates or estimate_items(scores, "mean", level=level)
        }
    names = sorted(costs, key=lambda name: (costs[name][0], name))
    price = np.array([costs[name][0] for name in names])
    sign = 1.0 if scores.higher_is_better else -1.0
    gain = sign * np.array([of[name].value for name in names])
    better = [_better(price, gain, i) for i in range(len(names))]
    records = tuple(
        ModelCost(
            algorithm=name,
            column=column,
            cost=float(costs[name][0]),
            n_samples=costs[name][1],
            score=of[name].value,
            low=of[name].low,
            high=of[name].high,
            on_front=better[i] is None,
            dominated_by=None if (at := better[i]) is None else names[at],
        )
        for i, name in enumerate(names)
    )
    settings = made_by(
        None, cost=column, scale=scores.scale, higher_is_better=scores.higher_is_better,
        units="items", cluster=scores.cluster, level=level,
    )  # fmt: skip
    return CostFront(records, settings, tuple(notes))


def _column(scores: ScoreTable, cost: str | None) -> str:
    known = cost_columns(scores)
    if cost is None:
        if not known:
            raise ScoreDataError(f"expected a column of costs ({', '.join(COSTS)}); found none")
        return known[0]
    if cost not in scores.attributes or scores.rows.numbers(cost) is None:
        raise UnknownNameError("column of costs", cost, known)
    return cost


def _costs(scores: ScoreTable, column: str) -> dict[str, tuple[float, int]]:
    """Return mean cost of a sample, and the number of samples that have one, of each model."""
    price, code = scores.rows.numbers(column), scores.rows["algorithm"].codes
    assert price is not None
    known = ~np.isnan(price)
    total = np.bincount(code)
    n = np.bincount(code[known], minlength=total.size)
    sums = np.bincount(code[known], price[known], minlength=total.size)
    each = list(zip(scores.algorithms, sums.tolist(), n.tolist(), total.tolist(), strict=True))
    found = {name: (sum_ / size, size) for name, sum_, size, _ in each if size}
    without = [name for name in scores.algorithms if name not in found]
    if not found:
        raise ScoreDataError(f"column {column!r}: expected costs, found none")
    if without:
        warn(f"{joined(without)}: no {column}, left out of costs")
    for name, _, size, of in each:
        if 0 < size < of:
            warn(f"{name}: {column} of {size:,} of {counted(of, 'sample')}")
    return found


def _better(price: FloatArray, gain: FloatArray, i: int) -> int | None:
    """Return the model with the best score of those that dominate one, None if none does."""
    no_worse = (price <= price[i]) & (gain >= gain[i])
    found = np.flatnonzero(no_worse & ((price < price[i]) | (gain > gain[i])))
    return int(found[np.argmax(gain[found])]) if found.size else None
