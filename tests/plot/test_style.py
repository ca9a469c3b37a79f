"""Styles of series: none is used twice where few are shown."""

from itertools import pairwise

import numpy as np
from matplotlib.path import Path

from gnomon.plot.style import MOST_STYLES, series_style


def test_twenty_series_differ_by_colour_and_dash_and_by_colour_and_marker():
    styles = [series_style(i) for i in range(MOST_STYLES)]
    assert len({(one.color, one.dash) for one in styles}) == 20
    assert len({(one.color, one.marker) for one in styles}) == 20
    for one, other in pairwise(styles):
        assert one.color != other.color
        assert one.marker != other.marker


def test_later_series_bear_their_number():
    markers = [series_style(i).marker for i in range(MOST_STYLES, 60)]
    assert all(isinstance(marker, Path) for marker in markers)
    assert len({marker.vertices.tobytes() for marker in markers}) == 40
    np.testing.assert_allclose(markers[0].get_extents().p0, -markers[0].get_extents().p1)
