"""The kernels against a dense program that stores the episode."""

import numpy as np
import pytest

from gohr import BoardSpec, compile_rule, draw_boards
from gohr.learners import Learner, Reinforce
from gohr.rules import parse
from trial_loops import play_unfused

SETTINGS = {
    "defaults": {},
    "all cells": {"actions": "all", "gamma": 0.9, "learning_rate": 0.01},
    "no baseline": {"baseline": "none", "gamma": 1.0, "learning_rate": 0.003},
    "quick baseline": {"baseline_rate": 1.0, "gamma": 0.5, "learning_rate": 0.05},
}
SMALL = BoardSpec(5, 0, 0, ("star", "circle", "square"), ("red", "blue"))


class Dense(Learner):
    """The textbook: keep the episode, then sum (G_t - b) grad log pi over it."""

    def __init__(self, spec, rng, settings):
        self.p = {**Reinforce.__init__.__kwdefaults__, **settings}
        self.rng, self.spec, self.b, self.steps = rng, spec, 0.0, []
        features = Reinforce(spec).features
        self.phi = np.zeros((len(features.active), features.n_features + 1))
        np.put_along_axis(self.phi, features.active.astype(int), 1.0, axis=1)
        self.phi = self.phi[:, :-1]
        self.theta = np.zeros(features.n_features)

    def policy(self, seen):
        last = 0
        if seen.bucket:
            n_colors = len(self.spec.color_palette)
            last = 4 * ((seen.shape - 1) * n_colors + seen.color - 1) + seen.bucket
        inputs = [
            (last * self.spec.n_codes + int(seen.board[a // 4])) * 4 + a % 4 for a in range(144)
        ]
        x = self.phi[inputs]
        h = x @ self.theta
        if self.p["actions"] == "occupied":
            h[[seen.board[a // 4] == 0 for a in range(144)]] = -np.inf
        pi = np.exp(h - h.max())
        return x, pi / pi.sum()

    def act(self, seen):
        _, pi = self.policy(seen)
        return int(np.searchsorted(np.cumsum(pi), self.rng.random(), side="right"))

    def observe(self, t):
        x, pi = self.policy(t.observation)
        self.steps.append((t.reward, x[t.action] - pi @ x))
        if t.terminated or t.truncated:
            g, returns = 0.0, []
            for r, _ in reversed(self.steps):
                g = r + self.p["gamma"] * g
                returns.insert(0, g)
            for g, (_, score) in zip(returns, self.steps, strict=True):
                self.theta += self.p["learning_rate"] * (g - self.b) * score
            if self.p["baseline"] == "mean":
                self.b += self.p["baseline_rate"] * (np.mean(returns) - self.b)
            self.steps = []


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_the_attempts_and_weights_are_those_of_the_dense_program(settings):
    boards = draw_boards(12, SMALL, rng=np.random.default_rng(0))
    rule = compile_rule(parse("(1,star,*,*,[0,1]) (*,*,red,*,p+1)\n(*,*,*,*,ps)"), SMALL)
    sparse = Reinforce(SMALL, rng=np.random.default_rng(1), **settings)
    dense = Dense(SMALL, np.random.default_rng(1), settings)
    a = play_unfused(sparse, rule, boards, 25)
    b = play_unfused(dense, rule, boards, 25)
    assert a.actions.tolist() == b.actions.tolist()
    assert np.abs(sparse.theta).max() > 0.01
    np.testing.assert_allclose(sparse.theta, dense.theta, rtol=1e-9, atol=1e-12)
