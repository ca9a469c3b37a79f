"""The error that a budget buys: subsets that no other beats in both cost and error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.distill.prepared import PreparedScores, check_tasks
from gnomon.distill.search.folds import Folds
from gnomon.distill.search.search import search_subsets
from gnomon.distill.work import Progress
from gnomon.errors import ScoreDataError

__all__ = ["ParetoPoint", "pareto_front"]


@dataclass(frozen=True)
class ParetoPoint:
    """The least error for a cost: no cheaper subset has less.

    Parameters
    ----------
    tasks : tuple of str
    cost, cv_mse : float
    """

    tasks: tuple[str, ...]
    cost: float
    cv_mse: float


def pareto_front(
    data: PreparedScores,
    costs: Mapping[str, float],
    sizes: Sequence[int],
    *,
    budget: float = float("inf"),
    folds: Folds | None = None,
    n_best: int = 500_000,
    progress: Progress | None = None,
) -> list[ParetoPoint]:
    """Return the subsets that no other beats in both cost and cross-validated error.

    Of each size the `n_best` subsets by error are weighed. The front is exact if no size has more;
    else its cheap end is, as far as smaller subsets reach. Tasks dearer than the budget are no
    candidates.

    Parameters
    ----------
    data : PreparedScores
    costs : mapping from task to float
        Of one run of each candidate.
    sizes : sequence of int
        Numbers of tasks to consider.
    budget : float
        Greatest total cost.
    folds : Folds, optional
        Ten, shuffled as the Atari-5 paper's code does, if not given.
    n_best : int
        How many subsets of a size are weighed.
    progress : function of (done, all), optional
        Told how many subsets of the size at hand are searched.

    Returns
    -------
    list of ParetoPoint
        Cheapest first; each costs more and errs less than the one before.

    Raises
    ------
    UnknownNameError, ScoreDataError
        A cost names no task; a candidate has no cost; nothing fits the budget.
    """
    check_tasks(tuple(costs), data.tasks)
    missing = [task for task in data.candidates if task not in costs]
    if missing:
        raise ScoreDataError(f"expected a cost for every task; there is none for {missing[0]}")
    affordable = [task for task in data.candidates if costs[task] <= budget]
    points = []
    for size in sizes:
        if size > len(affordable):
            continue
        found = search_subsets(
            data,
            size,
            folds=folds,
            n_best=n_best,
            candidates=affordable,
            progress=progress,
        )
        for tasks, error in zip(found.subsets, found.errors, strict=True):
            total = sum(costs[task] for task in tasks)
            if total <= budget:
                points.append(ParetoPoint(tasks, total, float(error)))
    if not points:
        raise ScoreDataError(f"no subset of {list(sizes)} tasks costs at most {budget:g}")
    points.sort(key=lambda point: (point.cost, point.cv_mse))
    least = np.minimum.accumulate([np.inf, *(p.cv_mse for p in points)])
    return [p for p, before in zip(points, least[:-1], strict=True) if p.cv_mse < before]
