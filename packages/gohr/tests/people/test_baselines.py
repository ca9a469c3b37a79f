"""Learners beside people: on the same rule, with the same count of errors."""

from __future__ import annotations

import numpy as np

from gohr.experiments import ExperimentConfig, episode_errors, trials_of
from gohr.people import Game, baseline_curves
from gohr.rules import load_rule_text

GAME = Game("x", load_rule_text("clockwise"), 5, 6, 50)


def test_every_learner_has_a_curve_that_only_rises():
    found = baseline_curves(GAME, 5)
    assert [each.name for each in found] == ["chance", "frugal", "table", "network"]
    for each in found:
        assert len(each.median) == 6
        assert (np.diff(each.median) >= 0).all()
        assert (np.array(each.low) <= each.median).all()
        assert (np.array(each.median) <= each.high).all()


def test_who_remembers_failures_makes_fewer_than_chance():
    chance, frugal, *_ = baseline_curves(GAME)
    assert frugal.median[-1] < chance.median[-1]


def test_chance_is_the_uniform_learner_of_an_experiment():
    # Other draws, the same distribution: medians of many trials lie in one another's quartiles.
    config = ExperimentConfig(
        "x", ["clockwise"], ["uniform"], trials=40, episodes=6, horizon=50, seed=5
    )
    ends = [episode_errors(trial.play()).sum() for trial in trials_of(config)]
    chance = baseline_curves(GAME, 40)[0]
    assert chance.low[-1] <= np.median(ends) <= chance.high[-1]
