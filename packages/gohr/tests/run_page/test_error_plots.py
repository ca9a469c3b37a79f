"""Errors of trials drawn: the numbers handed to the artists."""

import numpy as np

from gnomon.plot import Line
from gohr.run_page import box_plots, median_curves


def curve(label, values):
    values = np.array(values, dtype=float)
    return Line(label, np.arange(1, 1 + values.size), values, values - 1, values + 2)


def test_median_curves_have_their_bands_and_names():
    ax = median_curves([curve("a", [2, 4, 6]), curve("b", [3, 30, 300])])
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), [3, 30, 300])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["b", "a"]
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (1, 8)


def test_errors_of_several_sizes_have_a_logarithmic_scale():
    assert "log" in median_curves([curve("a", [2, 400])]).get_ylabel()
    assert "log" not in median_curves([curve("a", [50, 60])]).get_ylabel()
    ax = median_curves([curve("a", [1, 400])])  # its band begins at 0
    assert ax.get_yscale() == "symlog"


def test_a_curve_without_a_band_and_one_of_a_single_episode_are_drawn():
    nan = np.full(3, np.nan)
    ax = median_curves([Line("one", np.arange(1, 4), np.array([1.0, 2, 3]), nan, nan)])
    ax.figure.draw_without_rendering()
    ax = median_curves([curve("a", [3]), curve("b", [4])])
    assert [line.get_ydata()[0] for line in ax.lines[:2]] == [3, 4]


def test_boxes_have_a_dot_for_every_run():
    ax = box_plots({"r": [3.0, 4.0, 8.0], "s": [1.0, 2.0]})
    assert sum(len(c.get_offsets()) for c in ax.collections if len(c.get_offsets()) > 1) == 5
    assert [label.get_text() for label in ax.get_yticklabels()] == ["r", "s"]
    alone = box_plots({"r": [7.0], "s": [9.0]})
    assert [len(dots.get_offsets()) for dots in alone.collections] == [1, 1]
    assert not alone.patches
    box_plots({"r": [7.0], "s": [2.0, 2.0], "t": [0.0, 0.0]}).figure.draw_without_rendering()
