"""Errors of trials drawn: the numbers handed to the artists."""

import numpy as np

from gohr.run_page import MedianCurve, box_plots, median_curves


def curve(label, values):
    values = np.array(values, dtype=float)
    return MedianCurve(label, values, values - 1, values + 2, 5)


def test_median_curves_have_their_bands_and_names():
    ax = median_curves([curve("a", [2, 4, 6]), curve("b", [3, 30, 300])])
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), [3, 30, 300])
    assert [text.get_text() for text in ax.texts] == ["a  6", "b  300"]
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (1, 8)


def test_names_of_curves_that_end_alike_do_not_overlap():
    ax = median_curves([curve(name, [5, 50]) for name in "abcd"])
    places = [text.xy[1] for text in ax.texts]
    assert -np.diff(places).max() > 0.07
    assert 0 <= min(places) <= max(places) <= 1


def test_zeros_make_the_scale_say_so():
    assert "1 + errors" in median_curves([curve("a", [1, 1])]).get_ylabel()
    assert "1 + errors" not in median_curves([curve("a", [5, 6])]).get_ylabel()


def test_a_curve_without_a_band_and_one_of_a_single_episode_are_drawn():
    nan = np.full(3, np.nan)
    ax = median_curves([MedianCurve("one", np.array([1.0, 2, 3]), nan, nan, 1)])
    ax.figure.draw_without_rendering()
    ax = median_curves([curve("a", [3]), curve("b", [4])])
    assert [line.get_ydata()[0] for line in ax.lines[:2]] == [3, 4]


def test_boxes_have_a_dot_for_every_run():
    ax = box_plots({"r": [3.0, 4.0, 8.0], "s": [1.0, 2.0]})
    assert sum(len(c.get_offsets()) for c in ax.collections if len(c.get_offsets()) > 1) == 5
    assert [label.get_text() for label in ax.get_yticklabels()] == ["r", "s"]


def test_a_single_run_and_equal_runs_are_drawn():
    ax = box_plots({"r": [7.0], "s": [2.0, 2.0], "t": [0.0, 0.0]})
    ax.figure.draw_without_rendering()
