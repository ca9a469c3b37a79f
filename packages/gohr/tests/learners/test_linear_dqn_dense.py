"""The kernels against a dense learner written straight from the paper."""

import math
from functools import cache

import numpy as np
import pytest

from gohr import BoardSpec, compile_rule, draw_boards
from gohr.learners import Learner, LinearDQN
from gohr.rules import load_rule, parse
from trial_loops import play_unfused

SMALL = BoardSpec(
    pieces=5,
    shapes=0,
    colors=0,
    shape_palette=("star", "circle", "square"),
    color_palette=("red", "blue"),
)


@cache
def phi(last, piece, b, n_shapes=4, n_colors=4):
    """Appendix A.1.1: last accepted (shape, color, bucket), what lies here, bucket."""
    none = (None,)
    shapes, colors, buckets = range(n_shapes), range(n_colors), range(4)
    s, c = (-1, -1) if piece is None else piece
    ls, lc, lb = last
    now = {"s": (s, (*shapes,)), "c": (c, (*colors,)), "b": (b, (*buckets,))}
    before = {
        "s": (ls, (*shapes, *none)),
        "c": (lc, (*colors, *none)),
        "b": (lb, (*buckets, *none)),
    }
    x = []
    for v in "csb":
        x += [now[v][0] == u for u in now[v][1]]
    for v, w in ("cs", "cb", "sb"):
        x += [now[v][0] == u and now[w][0] == t for u in now[v][1] for t in now[w][1]]
    for v in "csb":
        x += [before[v][0] == u and now[v][0] == t for u in before[v][1] for t in now[v][1]]
    for u, v in ("sc", "sb", "cb"):
        for y, z in ("sc", "sb", "cb"):
            x += [
                before[u][0] == i and before[v][0] == j and now[y][0] == k and now[z][0] == m
                for i in before[u][1]
                for j in before[v][1]
                for k in now[y][1]
                for m in now[z][1]
            ]
    return np.array(x, dtype=float)


class Dense:
    """Algorithm 1 with dense features and values of all actions, as slow as it gets."""

    def __init__(self, n_colors, n_shapes, rng, params):
        self.p = params
        self.rng = rng
        self.sizes = (n_shapes, n_colors)
        n = len(phi((None,) * 3, None, 0, *self.sizes))
        self.theta, self.target = np.zeros(n), np.zeros(n)
        self.buffer = []
        self.order = list(range(params["buffer_size"]))
        self.n_stored = self.n_moves = self.n_episodes = 0

    def state(self, seen):
        last = (seen.shape - 1, seen.color - 1, seen.bucket - 1) if seen.bucket else (None,) * 3
        cells = tuple(None if k == 0 else divmod(int(k) - 1, self.sizes[1]) for k in seen.board)
        return last, cells

    def values(self, state, theta):
        """Q(s, a) for all 144 actions, -inf for those that are not allowed."""
        last, cells = state
        q = np.array([phi(last, cells[a // 4], a % 4, *self.sizes) @ theta for a in range(144)])
        if self.p["actions"] == "occupied" and any(cells):
            q[[cells[a // 4] is None for a in range(144)]] = -math.inf
        return q

    def act(self, seen):
        self.u = self.rng.random(2 + self.p["batch_size"])
        epsilon = 0.001 + (0.9 - 0.001) * math.exp(-self.n_moves / self.p["epsilon_decay"])
        q = self.values(self.state(seen), self.theta)
        explore = self.u[0] < epsilon
        # Dense and sparse sums round differently, so equal is equal up to that.
        best = np.flatnonzero(q > -math.inf if explore else q > q.max() - 1e-13)
        tied = explore or self.p["tie_break"] == "random"
        return int(best[int(self.u[1] * len(best)) if tied else 0])

    def observe(self, t):
        p = self.p
        terminal = t.terminated or (t.truncated and p["horizon_is_terminal"])
        item = (self.state(t.observation), t.action, t.reward, self.state(t.next_observation))
        if len(self.buffer) < p["buffer_size"]:
            self.buffer.append((*item, terminal))
        else:
            self.buffer[self.n_stored % p["buffer_size"]] = (*item, terminal)
        self.n_stored += 1
        self.n_moves += 1
        if self.n_stored >= p["learning_starts"]:
            self.step()
        if t.terminated or t.truncated:
            self.n_episodes += 1
            if p["epsilon_per"] == "episode":
                self.n_moves = 0
            if self.n_episodes % p["target_period"] == 0:
                self.target = self.theta.copy()

    def batch(self):
        n, b, u = len(self.buffer), self.p["batch_size"], self.u[2:]
        if self.p["replacement"]:
            return [int(u[j] * n) for j in range(b)]
        for j in range(min(n, b)):
            k = j + int(u[j] * (n - j))
            self.order[j], self.order[k] = self.order[k], self.order[j]
        return self.order[: min(n, b)]

    def step(self):
        """Descend the gradient of the mean of (y - Q)^2 over the batch."""
        gradient = np.zeros_like(self.theta)
        batch = self.batch()
        for j in batch:
            (last, cells), a, r, after, terminal = self.buffer[j]
            y = r
            if not terminal:
                y += self.p["gamma"] * self.values(after, self.target).max()
            x = phi(last, cells[a // 4], a % 4, *self.sizes)
            gradient += -2 * (y - x @ self.theta) * x
        self.theta = self.theta - self.p["learning_rate"] * gradient / len(batch)


class Both(Learner):
    """Plays sparse and dense side by side, and compares after each half step."""

    def __init__(self, spec, seed, params):
        names = ["buffer_size", "batch_size", "epsilon_decay", "actions", "tie_break", "gamma"]
        names += ["horizon_is_terminal", "learning_starts", "target_period", "learning_rate"]
        names += ["epsilon_per", "replacement"]
        self.sparse = LinearDQN(spec, rng=np.random.default_rng(seed), **params)
        defaults = LinearDQN.__init__.__kwdefaults__
        full = {name: params.get(name, defaults[name]) for name in names}
        sizes = len(spec.color_palette), len(spec.shape_palette)
        self.dense = Dense(*sizes, np.random.default_rng(seed), full)
        self.plays_on = self.sparse.plays_on
        self.n_steps = 0

    def act(self, observation):
        action = self.sparse.act(observation)
        assert action == self.dense.act(observation), f"step {self.n_steps}"
        return action

    def observe(self, transition):
        self.sparse.observe(transition)
        self.dense.observe(transition)
        self.n_steps += 1
        assert np.abs(self.sparse.theta - self.dense.theta).max() < 1e-12, f"step {self.n_steps}"


@pytest.mark.parametrize("sizes", [(4, 4), (2, 3), (1, 1), (5, 2)])
def test_the_feature_table_is_the_paper_s_vector(sizes):
    n_shapes, n_colors = sizes
    shapes, colors = ([f"{kind}{k}" for k in range(n)] for kind, n in zip("sc", sizes, strict=True))
    table = LinearDQN(BoardSpec(1, 0, 0, shapes, colors)).features
    pieces = [None, *((s, c) for s in range(n_shapes) for c in range(n_colors))]
    lasts = [(None,) * 3, *((s, c, b) for s, c in pieces[1:] for b in range(4))]
    rng = np.random.default_rng(0)
    for number in rng.permutation(len(table.active))[:300].tolist():
        rest, bucket = divmod(number, 4)
        last, code = divmod(rest, len(pieces))
        x = phi(lasts[last], pieces[code], bucket, *sizes)
        assert len(x) == table.n_features
        active = sorted(set(table.active[number].tolist()) - {table.n_features})
        assert np.flatnonzero(x).tolist() == active
    assert not table.active.flags.writeable  # all learners share it


FAST = {"batch_size": 12, "epsilon_decay": 30.0, "target_period": 2}
CONFIGURATIONS = {
    "occupied": {"actions": "occupied"},
    "all cells": {},
    "plays on": {"plays_on": True, "actions": "occupied"},
    "plays on, all cells": {"plays_on": True, "horizon_is_terminal": True},
    "first of ties": {"tie_break": "first", "actions": "occupied", "gamma": 0.9},
    "no replacement": {"replacement": False, "batch_size": 8, "actions": "occupied"},
    "small buffer": {"buffer_size": 7, "replacement": False, "actions": "occupied"},
    "late start": {"learning_starts": 40, "epsilon_per": "episode", "actions": "occupied"},
    "horizon is terminal": {"horizon_is_terminal": True, "gamma": 0.5},
}


@pytest.mark.parametrize("params", CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys())
def test_step_by_step_as_dense(params):
    both = Both(SMALL, 1, FAST | params)
    boards = draw_boards(6, SMALL, rng=np.random.default_rng(2))
    rule = compile_rule(parse("(1,star,*,*,[0,1]) (*,*,red,*,p+1)\n(*,*,*,*,ps)"), SMALL)
    play_unfused(both, rule, boards, 20)
    assert both.n_steps > 40
    assert np.abs(both.dense.theta).max() > 0.01
    assert np.abs(both.dense.target).max() > 0.01


def test_step_by_step_as_dense_with_the_paper_s_settings():
    both = Both(BoardSpec(), 3, {"target_period": 1})
    boards = draw_boards(2, rng=np.random.default_rng(4))
    play_unfused(both, compile_rule(load_rule("clockwise")), boards, 30)
    assert both.n_steps > 40
