"""Runs of several learners, and antisymmetric matrices, for property tests."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from gnomon.scores import ScoreTable

values = st.one_of(st.integers(0, 4).map(float), st.floats(-50, 50).map(lambda x: round(x, 3)))


class Runs(NamedTuple):
    """Names, tasks, and samples[task][name]."""

    names: tuple
    grounds: tuple
    samples: tuple

    @property
    def table(self):
        """The same as a table."""
        rows = [
            {"algorithm": n, "task": g, "run": r, "score": float(x), "censored": bool(np.isinf(x))}
            for g, row in zip(self.grounds, self.samples, strict=True)
            for n, runs in zip(self.names, row, strict=True)
            for r, x in enumerate(runs)
        ]
        return ScoreTable(rows)


@st.composite
def contests(draw, min_names=2, max_names=5, max_grounds=4, max_runs=5, missing=True):
    """Runs with ties, runs that never got there, and cells without runs."""
    n = draw(st.integers(min_names, max_names))
    n_grounds = draw(st.integers(1, max_grounds))
    one = st.one_of(values, st.just(-np.inf)) if missing else values
    cell = st.lists(one, min_size=0 if missing else 1, max_size=max_runs)
    row = st.lists(cell, min_size=n, max_size=n)
    rows = draw(st.lists(row, min_size=n_grounds, max_size=n_grounds))
    if sum(len(cell) for cell in rows[0]) == 0:
        rows[0] = [[0.0]] * n
    samples = tuple(tuple(np.array(cell, dtype=float) for cell in row) for row in rows)
    names = tuple(f"learner-{i}" for i in range(n))
    return Runs(names, tuple(f"rule-{g}" for g in range(n_grounds)), samples)
