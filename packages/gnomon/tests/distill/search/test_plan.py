"""What can be chosen, and sets of complete rows."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gnomon.distillation.search.plan import free_tasks, row_sets
from gnomon.errors import ScoreDataError, UnknownNameError

TASKS = ["u", "v", "w"]


def test_forced_tasks_are_not_free_and_need_not_be_candidates():
    assert free_tasks(["u", "v"], TASKS, 2, forced=["w"]) == ["u", "v"]


@pytest.mark.parametrize(
    ("candidates", "size", "forced", "said"),
    [
        (TASKS, 4, [], "expected a size from 1 to 3, found 4: 3 tasks to choose from and 0 forced"),
        (TASKS, 1, ["u"], "expected a size from 2 to 3, found 1"),
        (TASKS, 2, ["u", "u"], "u is forced twice"),
        ([], 1, [], "expected tasks to choose from, whose scores differ; there are none"),
    ],
)
def test_what_does_not_fit_is_said(candidates, size, forced, said):
    with pytest.raises(ScoreDataError, match=said):
        free_tasks(candidates, TASKS, size, forced=forced)


def test_an_unknown_forced_task():
    with pytest.raises(UnknownNameError, match="unknown task 'x'"):
        free_tasks(TASKS, TASKS, 2, forced=["x"])


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
