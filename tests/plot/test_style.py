"""Styles of series: none is used twice where few are shown."""

from itertools import pairwise

from gnomon.plot.style import MOST_STYLES, series_style


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
