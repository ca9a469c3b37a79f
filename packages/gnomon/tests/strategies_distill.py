"""Prepared scores with gaps, for property tests of distillation."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from gnomon.distillation import prepare
from gnomon.scores import ScoreTable


def prepared(algorithms, tasks, x, y, *, candidates=None, groups=None):
    """Return prepared scores of any matrix, with the target `y`."""
    some = ScoreTable.from_arrays({"a": [[1.0, 2.0]], "b": [[2.0, 4.0]]})
    return replace(
        prepare(some, transform="identity"),
        algorithms=algorithms,
        tasks=tasks,
        x=x,
        target=y,
        smoothed=y,
        candidates=candidates or tasks,
        groups=groups or algorithms,
    )


@st.composite
def gapped_scores(draw, max_tasks=6):
    """Twenty to thirty algorithms; a few tasks with gaps in the same or in different rows."""
    n = draw(st.integers(20, 30))
    n_tasks = draw(st.integers(4, max_tasks))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    x = rng.normal(1.0, 1.0, size=(n, 1)) + rng.normal(size=(n, n_tasks))
    y = np.median(x, axis=1)
    for _ in range(draw(st.integers(0, 3))):
        rows = rng.choice(n, draw(st.integers(1, n // 2)), replace=False)
        columns = rng.choice(n_tasks, draw(st.integers(1, 3)), replace=False)
        x[np.ix_(rows, columns)] = np.nan
    names = tuple(f"t{j}" for j in range(n_tasks))
    algorithms = tuple(f"a{i:02}" for i in range(n))
    kept = tuple(t for t, c in zip(names, x.T, strict=True) if (~np.isnan(c)).sum() > 1)
    return prepared(algorithms, names, x, y, candidates=kept)
