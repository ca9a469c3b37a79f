"""Prediction from whatever scores there are."""

import numpy as np
import pytest
from scipy.optimize import nnls

from gnomon.distill.models import Moments


def moments_of(z, *, positive=True):
    covariance = np.cov(z.T, bias=True)
    return Moments(tuple(z.mean(axis=0)), tuple(map(tuple, covariance)), positive=positive)


def test_it_is_the_regression_on_the_scores_at_hand():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    moments = moments_of(z, positive=False)
    for seen in ([True, False, True], [False, True, False], [True, True, True]):
        mask = np.array(seen)
        design = np.column_stack([z[:, :3][:, mask], np.ones(50)])
        expected, (residual,), *_ = np.linalg.lstsq(design, z[:, 3], rcond=None)
        w, intercept = moments.weights(mask)
        assert [*w, intercept] == pytest.approx(expected)
        assert moments.spread(mask) == pytest.approx(np.sqrt(residual / 50))
        row = np.where(mask, z[7, :3], np.nan)
        assert moments.predict(row) == pytest.approx(design[7] @ expected)


def test_weights_are_not_negative_unless_wanted():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 2)) + rng.normal(size=(60, 1))
    z = np.column_stack([x, x[:, 0] - 0.6 * x[:, 1]])
    both = np.array([True, True])
    assert moments_of(z, positive=False).weights(both)[0] == pytest.approx([1.0, -0.6])
    centered = z - z.mean(axis=0)
    expected = nnls(centered[:, :2], centered[:, 2])[0]
    assert moments_of(z).weights(both)[0] == pytest.approx(expected)


def test_nothing_to_predict_from():
    assert np.isnan(Moments((0.0, 0.0), ((1.0, 0.5), (0.5, 1.0))).predict([np.nan]))
