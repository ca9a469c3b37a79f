"""The kernels against a dictionary, and what the learner can and cannot learn."""

import math
from collections import defaultdict

import numpy as np
import pytest

from gohr import BoardSpec, compile_rule, draw_boards, play
from gohr.learners import Learner, TabularQ
from gohr.rules import load_rule, parse
from trial_loops import play_unfused

SETTINGS = {
    "defaults": {},
    "all cells": {"actions": "all", "gamma": 0.9},
    "first of ties": {"tie_break": "first", "learning_rate": 0.1, "gamma": 1.0},
    "epsilon": {"epsilon_start": 0.9, "epsilon_end": 0.05, "epsilon_decay": 60.0},
    "hopeful": {"initial_value": 0.0, "gamma": 0.5},
}


class Dictionary(Learner):
    """Q-learning as the textbook has it."""

    def __init__(self, rng, settings):
        fields = {**TabularQ.__init__.__kwdefaults__, **settings}
        self.p, self.rng, self.n = fields, rng, 0
        self.q = defaultdict(lambda: fields["initial_value"])

    def options(self, seen):
        last = (seen.shape, seen.color, seen.bucket)
        allowed = [a for a in range(144) if self.p["actions"] == "all" or seen.board[a // 4]]
        return allowed, {a: (last, int(seen.board[a // 4]), a % 4) for a in allowed}

    def act(self, seen):
        u = self.rng.random(2)
        start, end = self.p["epsilon_start"], self.p["epsilon_end"]
        explore = u[0] < end + (start - end) * math.exp(-self.n / self.p["epsilon_decay"])
        allowed, key = self.options(seen)
        best = max(self.q[key[a]] for a in allowed)
        if not explore:
            allowed = [a for a in allowed if self.q[key[a]] == best]
        tied = explore or self.p["tie_break"] == "random"
        return allowed[int(u[1] * len(allowed)) if tied else 0]

    def observe(self, t):
        self.n += 1
        key = self.options(t.observation)[1][t.action]
        target = t.reward
        if not t.terminated:
            allowed, after = self.options(t.next_observation)
            target += self.p["gamma"] * max(self.q[after[a]] for a in allowed)
        self.q[key] += self.p["learning_rate"] * (target - self.q[key])


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("rule", ["clockwise", "quota-of-two"])
def test_the_attempts_are_those_of_a_dictionary(settings, rule):
    boards = draw_boards(25, rng=np.random.default_rng(0))
    compiled = compile_rule(load_rule(rule))
    fused = play(boards, TabularQ(rng=np.random.default_rng(1), **settings), compiled, horizon=60)
    slow = play_unfused(Dictionary(np.random.default_rng(1), settings), compiled, boards, 60)
    for field in ("n_attempts", "actions", "outcomes", "finish"):
        assert getattr(fused, field).tobytes() == getattr(slow, field).tobytes()


def test_rules_of_features_are_learned_and_rules_of_cells_are_not():
    boards = draw_boards(200, rng=np.random.default_rng(2))
    late = {}
    for rule in ("color-match", "nearby"):
        log = play(boards, TabularQ(rng=np.random.default_rng(3)), load_rule(rule))
        late[rule] = (log.n_attempts[-20:] - 9).sum()
    assert late["color-match"] < 30
    assert late["nearby"] > 10 * late["color-match"]


def test_small_palettes_and_their_rules():
    spec = BoardSpec(3, 0, 0, ("star", "circle"), ("red",))
    rule = compile_rule(parse("(*,*,*,*,1)"), spec)
    learner = TabularQ(spec, rng=np.random.default_rng(4))
    assert learner.values.shape == (9, 3, 4)
    play(draw_boards(3, spec, rng=np.random.default_rng(5)), learner, rule, horizon=20)
