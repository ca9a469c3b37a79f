"""The exact bootstrap of a median, beside every resample there is and beside drawn ones."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.stats import median_interval

NUMBERS = st.one_of(st.integers(-9, 9), st.just(np.inf), st.just(-np.inf))


def middle(values):
    """The median of some values, infinite ones among them, in plain Python."""
    values = sorted(values)
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return low if low == high else (low + high) / 2


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=2, max_size=5), st.sampled_from([0.5, 0.8, 0.95]))
def test_ends_are_those_of_every_resample(x, level):
    x = [float(v) for v in x if v != -np.inf or np.inf not in x]
    if len(x) < 2:
        return
    every = sorted(middle(drawn) for drawn in product(x, repeat=len(x)))
    tail = (1 - level) / 2
    wanted = [every[int(np.ceil(share * len(every) - 1e-6)) - 1] for share in (tail, 1 - tail)]
    assert median_interval(x, level=level) == (middle(x), *wanted)


@pytest.mark.parametrize("n", [6, 7, 40, 101, 1000])
def test_ends_are_those_of_drawn_resamples(n):
    x = np.arange(float(n))
    drawn = np.median(np.random.default_rng(n).integers(n, size=(4000, n)), axis=1)
    for level in (0.95, 0.8, 0.2):
        _, low, high = median_interval(x, level=level)
        _, *turned = median_interval(-x, level=level)
        assert turned == [-high, -low]
        for end, share in ((low, (1 - level) / 2), (high, (1 + level) / 2)):
            slack = 4.5 * np.sqrt(share * (1 - share) / drawn.size)
            assert (drawn < end).mean() - slack <= share <= (drawn <= end).mean() + slack


def test_points_of_a_band_are_intervals_of_their_values(monkeypatch):
    x = np.random.default_rng(3).normal(size=(12, 40)).cumsum(axis=1)
    x[:, 20:] = x[:, [20]]
    band = median_interval(x)
    monkeypatch.setattr("gnomon.stats.medians.MEDIANS", 300)
    np.testing.assert_array_equal(median_interval(x), band)
    for point in range(40):
        assert median_interval(x[:, point]) == tuple(end[point] for end in band)


def test_a_shift_and_a_turn():
    x = np.random.default_rng(5).exponential(size=(31, 3))
    middle_of, low, high = median_interval(x)
    for turned in (3 - 2 * x, x + 7.0):
        again = median_interval(turned)
        wanted = (low, high) if turned[0, 0] > x[0, 0] + 6 else (high, low)
        scale, shift = (1, 7) if wanted[0] is low else (-2, 3)
        np.testing.assert_allclose(again, [scale * v + shift for v in (middle_of, *wanted)])


def test_degenerate_samples():
    assert np.isnan(median_interval([])).all()
    value, low, high = median_interval([3.0])
    assert value == 3.0
    assert np.isnan([low, high]).all()
    assert median_interval([2.0, 2.0, np.nan]) == (2.0, 2.0, 2.0)
    assert [one.size for one in median_interval(np.empty((3, 0)))] == [0, 0, 0]
    with pytest.raises(ValueError, match=r"expected curves \(runs, points\) without NaN"):
        median_interval([[1.0, np.nan]])
