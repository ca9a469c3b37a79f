"""Subsets by their number."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.distill.search.pieces import subsets_between


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
