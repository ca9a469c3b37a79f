"""How long the paper's learner takes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import gohr
from benchmarks.record import Measurement, best_seconds
from gohr import play
from gohr.game import DEFAULT_SPEC, draw_boards
from gohr.game.environments.registration import SAMPLE_RULES
from gohr.learners import make_learner


def _play(rule: str, seed: int, **settings: object) -> None:
    """Play one trial of 200 episodes with the paper's linear DQN."""
    rng = np.random.default_rng(seed)
    boards = draw_boards(200, rng=rng)
    learner = make_learner("linear_dqn", DEFAULT_SPEC, rng=rng, learning_rate=0.03, **settings)
    play(boards, learner, gohr.load_rule(rule), horizon=100)


def measure() -> Iterator[Measurement]:
    """Measure a trial, the paper's 4 x 100 trials, and trials that go on after clearing."""
    rules = list(SAMPLE_RULES.values())
    for rule in rules:
        _play(rule, 0)
        seconds = np.median([best_seconds(partial(_play, rule, s), 1) for s in range(11)])
        yield Measurement(
            f"DQN trial, {rule}",
            1e3 * float(seconds),
            "ms",
            30.0,
            higher_is_better=False,
            note="median of 11; 200 episodes, rate .03, 144 actions, ends when cleared",
        )
    everything = best_seconds(lambda: [_play(r, s) for r in rules for s in range(100)], 1)
    yield Measurement("DQN, 4 rules x 100 trials", everything, "s", 15.0, higher_is_better=False)
    for rule in rules:
        seconds = best_seconds(partial(_play, rule, 0, plays_on=True), 3)
        yield Measurement(
            f"DQN trial, {rule}, always 100 attempts", seconds, "s", 0.25, higher_is_better=False
        )
