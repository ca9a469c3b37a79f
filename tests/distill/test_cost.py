"""Money, power, carbon; error for a budget."""

from itertools import combinations

import pytest

from gnomon.distill.atari import PUBLISHED_COSTS
from gnomon.distill.cost import Machine, pareto_front, run_cost
from gnomon.distill.folds import Folds
from gnomon.distill.search import subset_errors
from gnomon.errors import ScoreDataError, UnknownNameError


def test_costs_are_proportional():
    machine = Machine("m", standard=2.0, preemptive=1.0, watts=500.0)
    cost = run_cost("a", machine, hours_per_game=10, n_games=5)
    assert (cost.hours, cost.cost_standard, cost.cost_preemptive) == (50, 100, 50)
    assert cost.power_kwh == 25
    assert cost.carbon_kg == pytest.approx(25 * 0.92 * 0.45359237)


def test_five_games_cost_an_eleventh():
    name, machine, hours = PUBLISHED_COSTS[0]
    whole, five = (run_cost(name, machine, hours, n) for n in (57, 5))
    assert five.cost_standard / whole.cost_standard == pytest.approx(5 / 57)


def test_the_front_is_exact_on_a_small_suite(make_scores):
    data = make_scores(40, 7)
    costs = {task: 1.0 + (3 * i) % 7 for i, task in enumerate(data.tasks)}
    front = pareto_front(data, costs, [1, 2, 3], folds=Folds(3))
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
    budget = pareto_front(data, costs, [1, 2], budget=4.0, folds=Folds(3))
    assert all(p.cost <= 4 for p in budget)


def test_costs_must_fit(make_scores):
    data = make_scores(40, 3)
    with pytest.raises(ScoreDataError, match="a cost for every task; there is none for t01"):
        pareto_front(data, {"t00": 1.0}, [1])
    with pytest.raises(UnknownNameError, match="unknown task 'x'"):
        pareto_front(data, {"x": 1.0}, [1])
    costs = dict.fromkeys(data.tasks, 5.0)
    with pytest.raises(ScoreDataError, match="costs at most 4"):
        pareto_front(data, costs, [1], budget=4.0)
