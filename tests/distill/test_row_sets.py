"""Sets of complete rows."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gnomon.distill.search.plan import row_sets

presence = hnp.arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 6)))


@given(presence, st.integers(1, 3))
def test_every_subset_has_its_set(present, size):
    n, n_tasks = present.shape
    found = row_sets(present, np.ones(n, dtype=bool), size, 10**9)
    assert found is not None
    known = {tuple(rows.rows.tolist()): rows for rows in found.sets}
    for subset in combinations(range(n_tasks), min(size, n_tasks)):
        rows = tuple(np.flatnonzero(present[:, subset].all(axis=1)).tolist())
        assert rows in known
        assert set(subset) <= set(known[rows].members.tolist())
        at = found.start
        for task in subset:
            at = found.step[at, found.class_of[task]]
        assert at == known[rows].number


def test_too_many_sets_are_given_up():
    present = np.random.default_rng(0).random((200, 40)) < 0.9
    assert row_sets(present, np.ones(200, dtype=bool), 3, n_subsets=9880) is None
