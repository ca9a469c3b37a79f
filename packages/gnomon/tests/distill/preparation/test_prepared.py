"""Transforms of scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.distillation import transform_of


@given(st.floats(0.01, 0.99))
def test_every_inverse_inverts(z):
    for transform in map(transform_of, ("log", "identity", "logit")):
        there = transform.forward(np.array([z]))
        assert transform.inverse(there)[0] == pytest.approx(z)


def test_relative_errors_are_those_of_appendix_g():
    true, predicted = np.array([2.0]), np.array([2.004])
    relative = transform_of("log").relative_errors(predicted, true)
    assert relative[0] == pytest.approx(0.004 * np.log(10))
    plain = transform_of("identity").relative_errors(predicted, true)
    assert plain[0] == pytest.approx(0.002)
