"""Choice of as many tasks as a budget pays for, or as a target error needs.

The number of tasks is part of the choice, so a nested validation repeats it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack

import numpy as np

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation.prepared import PreparedScores, check_tasks
from gnomon.distillation.procedures.factor import FactorProcedure, residual_variance
from gnomon.distillation.procedures.procedure import (
    ChoiceOptions,
    ChoiceSettings,
    Procedure,
    Subsets,
)
from gnomon.distillation.validation.cross_validation import nested_error
from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

#: More subsets than these are not enumerated: tasks are added and exchanged.
_MOST_TRIED = 300_000
#: A target error is sought with so many tasks at most, by so many folds inside.
_MOST_TASKS, _INNER_FOLDS = 10, 5


def check_costs(costs: Mapping[str, float], tasks: Sequence[str]) -> None:
    """Raise an error unless every task has a cost above 0.

    Raises
    ------
    ScoreDataError
        A task has none, or one that is not above 0.
    UnknownNameError
        A cost is of an unknown task.
    """
    check_tasks(list(costs), tasks)
    for task in tasks:
        if not costs.get(task, 1.0) > 0:
            raise ScoreDataError(f"expected a cost of {task} above 0, found {costs[task]:g}")


@dataclass(frozen=True)
class BudgetProcedure(Procedure):
    """Tasks that a budget pays for, each the one that leaves least variance for its cost.

    At small budgets the gain per cost finds cheap tasks; where a plain list, by the gain alone, is
    as cheap and leaves less variance, that is taken.

    Parameters
    ----------
    costs : mapping from task to float
        A task without a cost is no candidate.
    budget : float
        In the same unit.
    base : FactorProcedure
        What fits.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> costs = dict.fromkeys(data.candidates, 1.0)
    >>> len(BudgetProcedure(costs, 3.0).choose(data, 0)[0])
    3
    """

    costs: Mapping[str, float] = field(hash=False)
    budget: float
    base: FactorProcedure = field(default_factory=FactorProcedure)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.base.name} within {self.budget:g}"

    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        """Return the tasks that the budget pays for; the size is not asked for."""
        del size
        forced = ChoiceSettings(**options).forced
        names, every = self.base.covariance(data)
        covariance = every.covariance
        price = np.array([self.costs.get(name, np.inf) for name in names])
        start = [names.index(task) for task in forced]
        lists = [self._list(covariance, price, start, per_cost=per) for per in (True, False)]
        best = min(lists, key=lambda picks: residual_variance(covariance, picks) if picks else 1e9)
        if not best:
            raise ScoreDataError(
                f"expected a budget that pays for a task: the cheapest costs {price.min():g}, "
                f"the budget is {self.budget:g}"
            )
        return (tuple(sorted(names[j] for j in best)),)

    def _list(
        self, gram: FloatArray, price: FloatArray, start: Sequence[int], *, per_cost: bool
    ) -> list[int]:
        """Return tasks added one by one, by the variance that they take away, while it is paid."""
        chosen, left = list(start), self.budget - float(price[list(start)].sum())
        before = residual_variance(gram, chosen) if chosen else float(gram[-1, -1])
        while True:
            able = [j for j in range(len(price)) if j not in chosen and price[j] <= left]
            if not able:
                return chosen
            gains = [before - residual_variance(gram, [*chosen, j]) for j in able]
            worth = np.array(gains) / (price[able] if per_cost else 1.0)
            j = able[int(np.argmax(worth))]
            chosen.append(j)
            left -= float(price[j])
            before = residual_variance(gram, chosen)

    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the model of a subset."""
        return self.base.fit(data, tasks)

    def with_spread(self, data: PreparedScores, model: SubsetModel) -> SubsetModel:
        """Return a fitted model that knows how unsure it is."""
        return self.base.with_spread(data, model)


@dataclass(frozen=True)
class TargetErrorProcedure(Procedure):
    """The fewest tasks whose error inside, the choice repeated, is at most a target.

    Parameters
    ----------
    target : float
        Relative error, for example 0.1.
    base : FactorProcedure
        What chooses and fits.
    """

    target: float
    base: FactorProcedure = field(default_factory=FactorProcedure)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.base.name} to {self.target:.0%}"

    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        """Return the smallest subset that reaches the target, or the best if none does."""
        del size
        forced = ChoiceSettings(**options).forced
        errors = {}
        for n in range(max(1, len(forced)), min(_MOST_TASKS, len(data.candidates)) + 1):
            errors[n] = self._error(data, n, forced)
            if errors[n] <= self.target:
                break
        n = n if errors[n] <= self.target else min(errors, key=lambda m: errors[m])
        return self._quick.choose(data, n, forced=forced)

    @property
    def _quick(self) -> FactorProcedure:
        """The procedure that enumerates few subsets: this choice is repeated hundreds of times."""
        return replace(self.base, most_subsets=_MOST_TRIED)

    def _error(self, data: PreparedScores, n: int, forced: Sequence[str]) -> float:
        held = nested_error(
            data,
            self._quick,
            n,
            n_folds=min(_INNER_FOLDS, len(data.algorithms)),
            forced=forced,
            rng=np.random.default_rng(0),
        )
        return held.relative_error

    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the model of a subset."""
        return self.base.fit(data, tasks)

    def with_spread(self, data: PreparedScores, model: SubsetModel) -> SubsetModel:
        """Return a fitted model that knows how unsure it is."""
        return self.base.with_spread(data, model)
