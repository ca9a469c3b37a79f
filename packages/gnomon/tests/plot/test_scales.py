"""Logarithmic axes, with and without zeros."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.plot import new_drawing
from gnomon.plot.scales import ErrorScale

values = st.lists(st.floats(0, 1e7), min_size=1, max_size=20)


@given(values)
def test_all_values_fit_and_ticks_are_inside(x):
    scale = ErrorScale.fit(x)
    assert scale.low <= min(x)
    assert max(x) <= scale.high
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks())
    assert scale.shift == (1.0 if min(x) == 0 else 0.0)


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=20, unique=True))
def test_positions_keep_the_order_and_turn_back_into_values(x):
    scale = ErrorScale.fit(x)
    ordered = np.sort(np.array(x, dtype=float))
    assert (np.diff(scale.units(ordered)) > 0).all()
    np.testing.assert_allclose(scale.values(scale.units(ordered)), ordered, atol=1e-6)


@pytest.mark.parametrize("x", [[], [np.nan], [np.inf], [0, 0], [5], [0, np.inf], [1e6, 1e6]])
def test_degenerate_values_give_an_axis_that_draws(x):
    ax = new_drawing(3, 2).subplots()
    ErrorScale.fit(x).apply(ax, "y")
    ax.figure.draw_without_rendering()
    low, high = ax.get_ylim()
    assert np.isfinite([low, high]).all()
    assert low < high


def test_there_are_neither_too_few_nor_too_many_ticks():
    for low in (1, 30, 400, 5000):
        for factor in (1.3, 2, 5, 10, 40, 100, 1000, 10**5):
            assert 2 <= len(ErrorScale.fit([low, low * factor]).ticks()) <= 8
