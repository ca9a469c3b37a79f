"""Least squares of a subset."""

import numpy as np
import pytest

from gnomon.distillation import fit_least_squares
from gnomon.errors import ScoreDataError


def test_least_squares_is_that_of_numpy(make_scores):
    data = make_scores()
    model = fit_least_squares(data, ["t00", "t03"], weights="any")
    expected = np.linalg.lstsq(data.x[:, [0, 3]], data.target, rcond=None)[0]
    assert model.weights == pytest.approx(expected)
    assert model.intercept == 0.0
    assert model.n_rows == 40
    line = fit_least_squares(data, ["t02"], intercept=True, weights="any")
    slope, intercept = np.polyfit(data.x[:, 2], data.target, 1)
    assert (line.weights[0], line.intercept) == pytest.approx((slope, intercept))


def test_weights_are_not_negative_unless_wanted(make_scores):
    data = make_scores()
    target = data.x[:, 0] - 0.5 * data.x[:, 1]
    free = fit_least_squares(data, ["t00", "t01"], target=target, weights="any")
    assert free.weights == pytest.approx((1.0, -0.5))
    bound = fit_least_squares(data, ["t00", "t01"], target=target)
    assert bound.weights[1] == 0.0


def test_too_few_rows_are_refused(make_scores):
    data = make_scores(3, 8)
    with pytest.raises(ScoreDataError, match=r"at least 4 algorithms .*; found 3"):
        fit_least_squares(data, data.tasks[:4])
