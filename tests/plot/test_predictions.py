"""Predictions against the truth, and errors of thirds."""

import numpy as np

from gnomon.distill import transform_of
from gnomon.plot import error_strips, predicted_against_true
from gnomon.plot.subsets import prediction_rows

LOG = transform_of("log")


def test_points_outside_the_interval_stand_apart():
    true = np.array([1.0, 2.0, 3.0, np.nan])
    predicted = np.array([1.1, 2.6, 2.95, 1.0])
    ax = predicted_against_true(predicted, true, LOG, half_width=0.2)
    line, inside, outside = ax.lines
    assert inside.get_xdata().tolist() == [1.0, 3.0]
    assert outside.get_ydata().tolist() == [2.6]
    assert np.array_equal(*line.get_data())
    assert "90%" in ax.texts[0].get_text()


def test_without_an_interval_all_points_are_alike():
    ax = predicted_against_true(np.array([1.0, 9.0]), np.array([1.0, 1.0]), LOG)
    assert [len(line.get_xdata()) for line in ax.lines] == [2, 2, 0]
    assert not ax.texts


def test_axes_are_marked_with_scores():
    ax = predicted_against_true(np.array([1.0, 3.0]), np.array([1.0, 3.0]), LOG)
    shown = [text.get_text() for text in ax.get_xticklabels()]
    assert {"10", "100", "1,000"} <= set(shown)


def test_rows_are_scores():
    rows = prediction_rows(["a"], np.array([2.0]), np.array([1.0]), LOG)
    assert rows == ({"algorithm": "a", "true": 9.0, "predicted": 99.0},)


def test_strips_show_every_error_and_the_mean():
    relative = np.array([0.1, -0.3, 0.2, 0.0])
    drawing = error_strips(relative, {"low": np.array([0, 1]), "high": np.array([2, 3])})
    accuracy, bias = drawing.axes
    assert accuracy.lines[0].get_xdata().tolist() == [10.0, 30.0]
    assert accuracy.lines[1].get_xdata()[0] == 20.0
    assert [text.get_text() for text in bias.texts] == ["-10.0", "10.0"]
    assert accuracy.get_yticklabels()[0].get_text() == "low (2)"
