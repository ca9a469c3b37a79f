"""Styles of series: none is used twice where few are shown."""

from itertools import pairwise

from gnomon.plot.style import MOST_STYLES, mark_numbers, new_drawing, series_style


def test_twenty_series_differ_by_colour_and_dash_and_by_colour_and_marker():
    styles = [series_style(i) for i in range(MOST_STYLES)]
    assert len({(one.color, one.dash) for one in styles}) == 20
    assert len({(one.color, one.marker) for one in styles}) == 20
    for one, other in pairwise(styles):
        assert one.color != other.color
        assert one.marker != other.marker


def test_ticks_have_units_from_ten_thousand_on():
    ax = new_drawing(4, 2).subplots()
    for ends, expected in (((0, 1e6), "500k"), ((-2.5e9, 2.5e9), "-2B"), ((0, 4000), "2000")):
        ax.set_xlim(*ends)
        mark_numbers(ax.xaxis, most=4)
        assert expected in [label.get_text() for label in ax.get_xticklabels()]
