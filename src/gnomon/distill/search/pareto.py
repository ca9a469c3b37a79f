"""Pareto front of cost and error: the subsets that no other beats in both."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, Unpack

import numpy as np

from gnomon.distill.preparation.preparation import PreparationOptions, prepare
from gnomon.distill.preparation.prepared import PreparedScores, check_tasks
from gnomon.distill.search.folds import Folds
from gnomon.distill.search.search import search_subsets
from gnomon.distill.validation.other_methods import other_errors_for
from gnomon.distill.work import Progress
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.table import ScoreTable

#: Subsets of a size that are weighed in a fold of the nested validation.
_MOST_INSIDE = 20_000


@dataclass(frozen=True)
class ParetoPoint(FieldRecord):
    """The least error for a cost: no cheaper subset has less.

    Parameters
    ----------
    tasks : tuple of str
    cost, cv_mse : float
    nested_relative_error : float
        Of algorithms that the choice for this cost had not seen; NaN if it was not asked for.
    """

    tasks: tuple[str, ...]
    cost: float
    cv_mse: float
    nested_relative_error: float = nan


@dataclass(frozen=True, eq=False, repr=False)
class ParetoFront(Results[ParetoPoint]):
    """Subsets that no other beats in both cost and error, cheapest first.

    Parameters
    ----------
    others : mapping from {"adaptive", "random"} to tuple of float
        Nested errors, for each cost, of tasks chosen one by one for each algorithm, and of random
        ones; empty if they were not asked for.
    """

    others: Mapping[str, tuple[float, ...]] = field(default_factory=dict, kw_only=True)

    drawn_by = "gnomon.plot.distillation:pareto_figure"

    notes = (
        "cv_mse: with the tasks given, chosen on the same rows; too good",
        "nested_relative_error: the choice for this cost repeated without the algorithms predicted",
    )

    def as_records(self) -> list[dict[str, Any]]:
        """Return the records, with the errors of other ways to spend as much."""
        return [
            one.as_record() | {f"{name}_error": errors[i] for name, errors in self.others.items()}
            for i, one in enumerate(self)
        ]


def pareto(
    scores: ScoreTable | PreparedScores,
    costs: Mapping[str, float],
    *,
    most: int = 5,
    budget: float = float("inf"),
    folds: int = 10,
    n_best: int = 500_000,
    nested: bool = True,
    others: bool = False,
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
    nested : bool
        Also repeat the choice for each cost without each fold of the algorithms in turn, of at most
        20,000 subsets a size.
    others : bool
        Also the errors, for each cost, of tasks chosen for each algorithm, and of random ones.
    progress : function of (done, all), optional
        Told how many subsets of the size at hand are searched, then of the folds of the others.
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

        def front_of(some: PreparedScores, n: int) -> list[ParetoPoint]:
            return _unbeaten(_affordable(some, costs, most, budget, Folds(folds), n, progress))

        front = front_of(data, n_best)
        if nested:
            with warnings.catch_warnings():
                # What a fold alone lacks is no news of the table.
                warnings.simplefilter("ignore", DegenerateScoresWarning)
                front = _with_nested(front, data, Folds(folds), front_of)
        paid = [point.cost for point in front]
        told: dict[str, Any] = {"folds": folds, "seed": 0, "progress": progress}
        beside = other_errors_for(data, costs, paid, **told) if others else {}
    settings = {"most": most, "budget": budget, "folds": folds, "nested": nested}
    return ParetoFront(tuple(front), settings, tuple(notes), others=beside)


def _unbeaten(points: list[ParetoPoint]) -> list[ParetoPoint]:
    """Return those that err less than all that cost no more, cheapest first."""
    points = sorted(points, key=lambda point: (point.cost, point.cv_mse))
    least = np.minimum.accumulate([np.inf, *(p.cv_mse for p in points)])
    return [p for p, before in zip(points, least[:-1], strict=True) if p.cv_mse < before]


def _with_nested(
    front: list[ParetoPoint],
    data: PreparedScores,
    folds: Folds,
    front_of: Callable[[PreparedScores, int], list[ParetoPoint]],
) -> list[ParetoPoint]:
    """Return the points with the error of choosing for their cost, algorithms held out.

    In each fold the search for the front is repeated once; what it has for a cost is fitted by
    least squares and predicts the algorithms of the fold that have all its scores.
    """
    relative = np.full((len(front), len(data.algorithms)), nan)
    fold = folds.of(len(data.algorithms))
    for k in range(folds.n_folds):
        train, held = data.rows(fold != k), np.flatnonzero(fold == k)
        inside = front_of(train, _MOST_INSIDE)
        for i, point in enumerate(front):
            paid = [one for one in inside if one.cost <= point.cost]
            if paid:
                columns = data.columns(paid[-1].tasks)
                x, y = train.x[:, columns], train.target
                whole = ~np.isnan(x).any(axis=1) & ~np.isnan(y)
                w = np.linalg.lstsq(x[whole], y[whole], rcond=None)[0]
                predicted = data.x[held][:, columns] @ w
                relative[i, held] = data.transform.relative_errors(predicted, data.target[held])
    errors = [np.abs(row[~np.isnan(row)]) for row in relative]
    return [
        replace(point, nested_relative_error=float(e.mean()) if e.size else nan)
        for point, e in zip(front, errors, strict=True)
    ]


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
