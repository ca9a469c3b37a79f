"""Agreement of two orders."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from gnomon.distill.validation import kendall_tau, order_agreement

values = st.lists(st.integers(-4, 4).map(float), min_size=3, max_size=12)


@given(values, st.randoms())
def test_tau_is_that_of_scipy(x, random):
    y = x.copy()
    random.shuffle(y)
    expected = kendalltau(x, y).statistic
    assert kendall_tau(np.array(x), np.array(y)) == pytest.approx(expected, nan_ok=True)


def test_the_figures_of_atari5(paper):
    """Cross-validated, Atari-5 keeps 900 of 946 pairs in order."""
    from gnomon.distill.procedures.least_squares import PaperProcedure
    from gnomon.distill.validation import cross_validate

    games = ("battlezone", "doubledunk", "namethisgame", "phoenix", "qbert")
    held = cross_validate(paper, PaperProcedure(), games)
    inverse = paper.transform.inverse
    agreement = order_agreement(inverse(paper.target + held.residuals[0]), inverse(paper.target))
    assert (agreement.n_concordant, agreement.n_pairs) == (900, 946)
    assert agreement.tau == pytest.approx(0.903, abs=5e-4)
    assert agreement.clear_concordance == pytest.approx(0.991, abs=5e-4)


def test_what_differs_clearly():
    """By a quarter of the smaller one, also below zero."""
    true = [1.0, 1.2, 1.6, -4.0, -4.4]
    agreement = order_agreement(true, true)
    assert (agreement.n_pairs, agreement.n_clear) == (10, 8)
    assert agreement.clear_concordance == 1.0


def test_nothing_to_compare():
    agreement = order_agreement([1.0], [2.0])
    assert np.isnan(agreement.concordance)
    assert np.isnan(agreement.clear_concordance)
    assert np.isnan(agreement.tau)
