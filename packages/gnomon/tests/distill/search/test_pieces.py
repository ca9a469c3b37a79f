"""Subsets by their number, and the best of many, part by part."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.distillation.search.pieces import BestSubsets, subsets_between


@given(st.data())
def test_they_are_those_of_itertools(data):
    n = data.draw(st.integers(1, 9))
    size = data.draw(st.integers(1, n))
    every = list(combinations(range(n), size))
    stop = data.draw(st.integers(0, len(every)))
    start = data.draw(st.integers(0, stop))
    found = subsets_between(n, size, start, stop)
    assert [tuple(row) for row in found.tolist()] == every[start:stop]


@pytest.mark.parametrize(("n", "size"), [(120, 4), (3000, 2), (57, 10)])
def test_the_last_of_many(n, size):
    last = subsets_between(n, size, comb(n, size) - 1, comb(n, size))
    assert np.array_equal(last[0], np.arange(n - size, n))


def test_parts_give_what_the_whole_gives():
    rng = np.random.default_rng(0)
    errors = rng.integers(0, 50, 400).astype(float)  # Many ties.
    errors[rng.random(400) < 0.1] = np.nan
    columns = np.array(np.unravel_index(np.arange(400), (20, 20))).T
    best = BestSubsets(7)
    for part in np.array_split(rng.permutation(400), 60):
        best.add((errors[part], columns[part]))
    found = best.found()
    order = sorted((e, tuple(c)) for e, c in zip(errors, columns.tolist(), strict=True) if e == e)
    assert [(e, tuple(c)) for e, c in zip(*map(np.ndarray.tolist, found), strict=True)] == order[:7]


def test_nothing_is_nothing():
    best = BestSubsets(3)
    best.add((np.array([np.nan]), np.array([[1, 2]])))
    best.add((np.empty(0), np.empty((0, 0), dtype=np.int64)))
    assert best.found()[0].size == 0
