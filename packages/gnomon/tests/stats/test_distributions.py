"""Quantiles and tails of the package beside those of SciPy, as the intervals show them."""

import numpy as np
import pytest
from scipy import stats

from gnomon.scores import ScoreTable
from gnomon.stats import estimate


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("level", [0.05, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("n", [2, 3, 7, 30, 150, 250, 3000])
def test_intervals_have_scipys_quantiles(n, level):
    x = np.random.default_rng(n).normal(size=n)
    (found,) = estimate(ScoreTable.from_arrays({"a": x[:, None]}), "mean", level=level)
    expected = stats.ttest_1samp(x, 0).confidence_interval(level)
    assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-10)
