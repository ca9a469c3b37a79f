"""Logarithmic axes, with and without zeros."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.plot import MedianCurve, median_curves


def drawn(values):
    """Return the axes of a curve of these numbers of errors."""
    x = np.asarray(values, dtype=float)
    return median_curves([MedianCurve("a", x, np.full_like(x, np.nan), np.full_like(x, np.nan), 1)])


@settings(max_examples=30)
@given(st.lists(st.integers(0, 10**7), min_size=2, max_size=20, unique=True))
def test_all_values_fit_in_their_order_and_ticks_are_inside(x):
    ax = drawn(x)
    low, high = ax.get_ylim()
    assert low <= min(x) < max(x) <= high
    ticks = ax.get_yticks()
    assert ((low <= ticks) & (ticks <= high)).all()
    assert ("1 + " in ax.get_ylabel()) == (min(x) == 0)
    places = ax.transData.transform([(1.0, value) for value in sorted(x)])[:, 1]
    assert (np.diff(places) > 0).all()


@pytest.mark.parametrize("x", [[np.nan], [np.inf], [0, 0], [5], [0, np.inf], [1e6, 1e6]])
def test_degenerate_values_give_an_axis_that_draws(x):
    ax = drawn(x)
    ax.figure.draw_without_rendering()
    low, high = ax.get_ylim()
    assert np.isfinite([low, high]).all()
    assert low < high


def test_there_are_neither_too_few_nor_too_many_ticks():
    for low in (1, 30, 400, 5000):
        for factor in (1.3, 2, 5, 10, 40, 100, 1000, 10**5):
            assert 2 <= len(drawn([low, low * factor]).get_yticks()) <= 8
