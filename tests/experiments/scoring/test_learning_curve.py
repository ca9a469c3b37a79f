"""The learning curve: known curves are found again, and no search on a grid does better."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning
from gnomon.experiments import fit_learning_curve
from gnomon.experiments.scoring.learning_curve import _loss


def simulate(n: int, p0: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    g = 0.1 + 0.8 / (1 + np.exp(-0.05 * (t - n / 2)))
    return rng.random(n) < p0 + (1 - p0) * g, np.full(n, p0)


@pytest.mark.parametrize("p0", [0.0, 0.25])
def test_a_known_curve_is_found_again(p0):
    accepted, chance = simulate(3000, p0)
    curve = fit_learning_curve(accepted, chance)
    assert (curve.start, curve.end) == pytest.approx((0.1, 0.9), abs=0.05)
    assert curve.inflection == pytest.approx(1500, abs=50)
    assert curve([0, 2999]) == pytest.approx([curve.start, curve.end], abs=1e-3)
    assert curve.n_attempts == 3000


@pytest.mark.full
def test_no_curve_on_a_grid_is_more_likely():
    accepted, chance = simulate(120, 0.25, seed=4)
    curve = fit_learning_curve(accepted, chance)
    t, good = np.arange(120) / 119, accepted.astype(float)
    skills, places = np.linspace(0, 1, 9), np.linspace(0, 1, 13)
    grid = product(skills, skills, places, [0, 1, 5, 20, 100])
    best = min(_loss(np.array(each), t, good, chance)[0] for each in grid)
    assert -curve.log_likelihood <= best + 1e-9


def test_the_gradient_is_that_of_the_loss():
    accepted, chance = simulate(80, 0.25, seed=2)
    t, good = np.arange(80) / 79, accepted.astype(float)
    at = np.array([0.2, 0.7, 0.4, 8.0])
    _, gradient = _loss(at, t, good, chance)
    for i, step in enumerate(1e-6 * np.eye(4)):
        slope = (_loss(at + step, t, good, chance)[0] - _loss(at - step, t, good, chance)[0]) / 2e-6
        assert gradient[i] == pytest.approx(slope, rel=1e-4)


def test_attempts_at_which_chance_cannot_fail_say_nothing():
    accepted, chance = simulate(400, 0.0)
    sure = np.ones(50)
    with_them = fit_learning_curve([*accepted, *sure], [*chance, *sure])
    assert with_them.n_attempts == 400


@pytest.mark.parametrize("value", [0, 1])
def test_nothing_to_see(value):
    with pytest.warns(DegenerateScoresWarning, match="learning curve: not estimable, there is no"):
        curve = fit_learning_curve([value] * 9)
    assert (curve.start, curve.end) == (value, value)
    assert math.isnan(curve.inflection)
    assert curve([0, 1]).tolist() == [value, value]


def test_what_is_refused():
    with pytest.raises(ValueError, match="expected a chance for each attempt"):
        fit_learning_curve([1, 0], [0.5])
    with pytest.raises(ValueError, match="at least one attempt at which chance could fail"):
        fit_learning_curve([1, 1], [1.0, 1.0])
