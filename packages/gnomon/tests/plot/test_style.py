"""Styles of series: none is used twice where few are shown."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gnomon.plot import new_drawing, series_style
from gnomon.plot.style import MOST_STYLES, mark_numbers, tick_labels


def test_twenty_series_differ_by_colour_and_dash_and_by_colour_and_marker():
    styles = [series_style(i) for i in range(MOST_STYLES)]
    assert len({(one.color, one.dash) for one in styles}) == 20
    assert len({(one.color, one.marker) for one in styles}) == 20
    for one, other in pairwise(styles):
        assert one.color != other.color
        assert one.marker != other.marker


def test_later_series_bear_their_number():
    assert {series_style(i).numeral for i in range(MOST_STYLES)} == {""}
    assert [series_style(i).numeral for i in range(MOST_STYLES, 23)] == ["21", "22", "23"]
    assert series_style(22).named("dqn") == "23: dqn"


def test_millions_are_short_on_an_axis():
    ax = new_drawing(4, 2).subplots()
    ax.plot([0, 200_000_000], [0, 1])
    mark_numbers(ax.xaxis, most=5)
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert {"0", "50M", "100M", "150M", "200M"} <= {*labels}


def test_ticks_that_differ_little_are_told_apart():
    assert tick_labels([1_000_001, 1_000_002]) == ["1.000001M", "1.000002M"]
    assert tick_labels([0.1234, 0.1235]) == ["0.1234", "0.1235"]
    assert tick_labels([-2.5e9, 0, 2.5e9]) == ["-2.5B", "0", "2.5B"]
    assert tick_labels([0.01, 1, 100, 1e4, 1e6]) == ["0.01", "1", "100", "10k", "1M"]
    assert tick_labels([5e-7, 1e-6]) == ["5e-07", "1e-06"]
    assert tick_labels([0.0]) == ["0"]
    assert tick_labels([]) == []


@given(st.floats(-1e12, 1e12), st.floats(1e-3, 1e9), st.integers(2, 9))
def test_no_two_ticks_have_one_label(start, step, n):
    ticks = np.unique(start + step * np.arange(n))
    if ticks.size == n and np.diff(ticks).min() > 1e-9 * max(abs(ticks[0]), abs(ticks[-1])):
        assert len({*tick_labels(ticks)}) == n
