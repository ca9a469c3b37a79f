"""Styles of series: none is used twice where few are shown."""

from gnomon.plot.style import series_style


def test_series_differ_by_colour_and_dash_and_by_colour_and_marker():
    styles = [series_style(i) for i in range(36)]
    assert len({(one.color, one.dash) for one in styles[:12]}) == 12
    assert len({(one.color, one.marker) for one in styles}) == 36
