"""Error for a budget."""

from itertools import combinations

import numpy as np
import pytest

from gnomon.distill import Folds, pareto
from gnomon.distill.search.row_errors import subset_errors
from gnomon.errors import ScoreDataError, UnknownNameError


def test_the_front_is_exact_on_a_small_suite(make_scores):
    data = make_scores(40, 7)
    costs = {task: 1.0 + (3 * i) % 7 for i, task in enumerate(data.tasks)}
    front = pareto(data, costs, most=3, folds=3)
    every = [s for size in (1, 2, 3) for s in combinations(data.tasks, size)]
    errors = {}
    for size in (1, 2, 3):
        some = [s for s in every if len(s) == size]
        both = subset_errors(data, some, folds=Folds(3))
        errors |= dict(zip(some, both[:, 0], strict=True))
    for point in front:
        better = [s for s in every if sum(map(costs.get, s)) <= point.cost]
        assert point.cv_mse == pytest.approx(min(errors[s] for s in better))
    assert [p.cost for p in front] == sorted({p.cost for p in front})
    assert all(p.nested_relative_error > 0 for p in front)
    alone = pareto(data, costs, most=3, folds=3, nested=False)
    assert [p.tasks for p in alone] == [p.tasks for p in front]
    assert all(np.isnan(p.nested_relative_error) for p in alone)
    budget = pareto(data, costs, most=2, budget=4.0, folds=3)
    assert all(p.cost <= 4 for p in budget)


def test_costs_must_fit(make_scores):
    data = make_scores(40, 3)
    with pytest.raises(ScoreDataError, match="a cost for every task; there is none for t01"):
        pareto(data, {"t00": 1.0}, most=1)
    with pytest.raises(UnknownNameError, match="unknown task 'x'"):
        pareto(data, {"x": 1.0}, most=1)
    costs = dict.fromkeys(data.tasks, 5.0)
    with pytest.raises(ScoreDataError, match="costs at most 4"):
        pareto(data, costs, most=1, budget=4.0)


def test_the_nested_error_repeats_the_choice(make_scores):
    """With a budget for one task alone it is that of the best single task, chosen in each fold."""
    data = make_scores(40, 5)
    (point,) = pareto(data, dict.fromkeys(data.tasks, 1.0), most=1, folds=4)
    fold, relative = Folds(4).of(40), np.empty(40)
    for k in range(4):
        kept = fold != k
        inner = subset_errors(data.rows(kept), [(t,) for t in data.tasks], folds=Folds(4))
        x = data.x[:, int(np.argmin(inner[:, 0]))]
        w = x[kept] @ data.target[kept] / (x[kept] @ x[kept])
        relative[~kept] = data.transform.relative_errors(w * x[~kept], data.target[~kept])
    assert point.nested_relative_error == pytest.approx(np.abs(relative).mean())
