"""Pareto front of cost and error: the subsets that no other beats in both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from gnomon.distill.preparation.preparation import PreparationOptions, prepare
from gnomon.distill.preparation.prepared import PreparedScores, check_tasks
from gnomon.distill.search.folds import Folds
from gnomon.distill.search.search import search_subsets
from gnomon.distill.work import Progress
from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.table import ScoreTable

__all__ = ["ParetoFront", "ParetoPoint", "pareto"]


@dataclass(frozen=True)
class ParetoPoint(FieldRecord):
    """The least error for a cost: no cheaper subset has less.

    Parameters
    ----------
    tasks : tuple of str
    cost, cv_mse : float
    """

    tasks: tuple[str, ...]
    cost: float
    cv_mse: float


@dataclass(frozen=True, eq=False, repr=False)
class ParetoFront(Results[ParetoPoint]):
    """Subsets that no other beats in both cost and error, cheapest first."""

    drawn_by = "gnomon.plot.distillation:pareto_figure"

    notes = ("cv_mse: with the tasks given, chosen on the same rows; too good",)


def pareto(
    scores: ScoreTable | PreparedScores,
    costs: Mapping[str, float],
    *,
    most: int = 5,
    budget: float = float("inf"),
    folds: int = 10,
    n_best: int = 500_000,
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> ParetoFront:
    """Return the subsets that no other beats in both cost and cross-validated error.

    Of each size the `n_best` subsets by error are weighed. The front is exact if no size has more;
    else its cheap end is, as far as smaller subsets reach. Tasks dearer than the budget are no
    candidates.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    costs : mapping from task to float
        Of one run of each candidate.
    most : int
        The greatest number of tasks.
    budget : float
        The greatest total cost.
    folds : int
        Of the cross-validation, shuffled as the Atari-5 paper's code does.
    n_best : int
        How many subsets of a size are weighed.
    progress : function of (done, all), optional
        Told how many subsets of the size at hand are searched.
    **preparation
        How a ScoreTable becomes a matrix, as :func:`gnomon.distill.prepare` takes it.

    Returns
    -------
    ParetoFront
        Each costs more and errs less than the one before.

    Raises
    ------
    UnknownNameError, ScoreDataError
        A cost names no task; a candidate has no cost; nothing fits the budget.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(3, 1, (30, 1)) + rng.normal(0, 0.5, (30, 3))
    >>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    >>> costs = {"task_0": 1.0, "task_1": 2.0, "task_2": 4.0}
    >>> [point.cost for point in pareto(table, costs, transform="identity")]
    [1.0, 3.0, 5.0, 7.0]
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
        points = _affordable(data, costs, most, budget, Folds(folds), n_best, progress)
    points.sort(key=lambda point: (point.cost, point.cv_mse))
    least = np.minimum.accumulate([np.inf, *(p.cv_mse for p in points)])
    front = tuple(p for p, before in zip(points, least[:-1], strict=True) if p.cv_mse < before)
    return ParetoFront(front, {"most": most, "budget": budget, "folds": folds}, tuple(notes))


def _affordable(
    data: PreparedScores,
    costs: Mapping[str, float],
    most: int,
    budget: float,
    folds: Folds,
    n_best: int,
    progress: Progress | None,
) -> list[ParetoPoint]:
    """Return the best subsets of each size that the budget suffices for."""
    check_tasks(tuple(costs), data.tasks)
    missing = [task for task in data.candidates if task not in costs]
    if missing:
        raise ScoreDataError(f"expected a cost for every task; there is none for {missing[0]}")
    affordable = [task for task in data.candidates if costs[task] <= budget]
    points = []
    for size in range(1, min(most, len(affordable)) + 1):
        found = search_subsets(
            data, size, folds=folds, n_best=n_best, candidates=affordable, progress=progress
        )
        for tasks, error in zip(found.subsets, found.errors, strict=True):
            total = sum(costs[task] for task in tasks)
            if total <= budget:
                points.append(ParetoPoint(tasks, total, float(error)))
    if not points:
        raise ScoreDataError(f"no subset of 1 to {most} tasks costs at most {budget:g}")
    return points
