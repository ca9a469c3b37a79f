"""Money, power, carbon."""

import pytest

from gnomon.distill.atari.run_costs import PUBLISHED_COSTS, Machine, run_cost


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
