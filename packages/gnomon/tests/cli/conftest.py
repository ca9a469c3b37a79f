"""Files of scores that tests of several verbs read."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.scores import ScoreTable, write_scores


@pytest.fixture
def suite(tmp_path):
    """Write suite.csv: the scores of 30 algorithms on 8 tasks."""
    rng = np.random.default_rng(0)
    scores = rng.normal(2, 1, (30, 1)) + rng.normal(0, 0.4, (30, 8))
    rows = {f"a{i:02}": [row] for i, row in enumerate(scores)}
    tasks = [f"t{j}" for j in range(8)]
    write_scores(ScoreTable.from_arrays(rows, tasks=tasks), tmp_path / "suite.csv")
    return "suite.csv"


@pytest.fixture
def scores(command):
    """Write scores.csv and curves.csv, of three and of two algorithms; go to their folder."""
    draws = np.random.default_rng(0)
    x = draws.gamma(4.0, 0.25, (3, 6, 5))
    names = ("dqn", "sac", "ppo")
    write_scores(ScoreTable.from_arrays(dict(zip(names, x, strict=True))), "scores.csv")
    curves = {n: x[i, :, :, None] * np.arange(1.0, 5.0) for i, n in enumerate(names[:2])}
    write_scores(ScoreTable.from_arrays(curves), "curves.csv")
