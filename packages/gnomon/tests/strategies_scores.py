"""Tables and samples of scores for property tests."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

scores = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 6))


@st.composite
def matrices(draw, min_runs=1, max_runs=6, max_tasks=6):
    """Complete (runs, tasks) arrays, with ties."""
    shape = (draw(st.integers(min_runs, max_runs)), draw(st.integers(1, max_tasks)))
    values = st.one_of(scores, st.integers(-3, 3).map(float))
    return draw(hnp.arrays(np.float64, shape, elements=values))


@st.composite
def ragged_runs(draw, max_runs=6, max_tasks=6):
    """One array of runs for each task, of different lengths."""
    sizes = draw(st.lists(st.integers(1, max_runs), min_size=1, max_size=max_tasks))
    values = st.one_of(scores, st.integers(-3, 3).map(float))
    return [draw(hnp.arrays(np.float64, n, elements=values)) for n in sizes]
