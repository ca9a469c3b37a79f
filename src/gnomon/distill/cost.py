"""What a benchmark costs: money, power and carbon; and the error that a budget buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.distill.folds import Folds
from gnomon.distill.preparation import PreparedScores, check_tasks
from gnomon.distill.search import search_subsets
from gnomon.errors import ScoreDataError

__all__ = ["Machine", "ParetoPoint", "RunCost", "pareto_front", "run_cost"]


@dataclass(frozen=True)
class Machine:
    """What an hour of a machine costs, and what it draws.

    Parameters
    ----------
    name : str
    standard, preemptive : float
        US dollars an hour, processor and accelerator together.
    watts : float
        NaN if not known.
    """

    name: str
    standard: float
    preemptive: float
    watts: float = float("nan")


@dataclass(frozen=True)
class RunCost:
    """What one run on so many games costs.

    Parameters
    ----------
    algorithm, machine : str
    n_games : int
    hours : float
        Accelerator hours.
    cost_standard, cost_preemptive : float
        US dollars.
    power_kwh, carbon_kg : float
        NaN if the machine's power is not known.
    """

    algorithm: str
    machine: str
    n_games: int
    hours: float
    cost_standard: float
    cost_preemptive: float
    power_kwh: float
    carbon_kg: float


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


#: Pounds of carbon dioxide a kilowatt hour: US mean of 2019 (US Energy Information Administration).
POUNDS_PER_KWH = 0.92
_KG_PER_POUND = 0.45359237


def run_cost(
    algorithm: str,
    machine: Machine,
    hours_per_game: float,
    n_games: int,
    *,
    pounds_per_kwh: float = POUNDS_PER_KWH,
) -> RunCost:
    """Return the cost of one run, as appendix A of the Atari-5 paper estimates it.

    Examples
    --------
    >>> v100 = Machine("V100", standard=2.614, preemptive=0.78)
    >>> cost = run_cost("Rainbow DQN", v100, hours_per_game=240, n_games=57)
    >>> f"{cost.hours:.0f} h, {cost.cost_preemptive:.0f} to {cost.cost_standard:.0f} USD"
    '13680 h, 10670 to 35760 USD'
    """
    hours = hours_per_game * n_games
    kwh = hours * machine.watts / 1000.0
    return RunCost(
        algorithm,
        machine.name,
        n_games,
        hours,
        hours * machine.standard,
        hours * machine.preemptive,
        kwh,
        kwh * pounds_per_kwh * _KG_PER_POUND,
    )


def pareto_front(
    data: PreparedScores,
    costs: Mapping[str, float],
    sizes: Sequence[int],
    *,
    budget: float = float("inf"),
    folds: Folds | None = None,
    n_best: int = 2000,
) -> list[ParetoPoint]:
    """Return the subsets that no other beats in both cost and cross-validated error.

    Of each size the `n_best` subsets by error are weighed, so the cheap end of the front is exact
    only as far as they reach; tasks dearer than the budget are no candidates.

    Parameters
    ----------
    data : PreparedScores
    costs : mapping from task to float
        Of one run of each candidate.
    sizes : sequence of int
        Numbers of tasks to consider.
    budget : float
        Greatest total cost.

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
            data, size, folds=folds, bounded=True, n_best=n_best, candidates=affordable
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
