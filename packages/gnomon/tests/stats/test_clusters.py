"""Cluster-robust errors: against statsmodels, explicit matrices and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from gnomon.scores import ScoreTable
from gnomon.stats import estimate

pytestmark = pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")


def clustered(sizes, correlation, rng):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.normal(size=len(sizes))[codes]
    own = rng.normal(size=codes.size)
    return math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own, codes


def mean_of(x, codes):
    rows = {"algorithm": ["a"] * x.size, "task": [f"q{i}" for i in range(x.size)]}
    rows |= {"score": x, "doc": [f"d{c}" for c in codes]}
    return estimate(ScoreTable(rows, units="items", cluster="doc"))[0]


def half_width(variance, df):
    return scipy_stats.t.ppf(0.975, df) * math.sqrt(variance)


def test_equal_clusters_are_those_of_statsmodels():
    """Of equal clusters CR2 is CR1, which statsmodels has; of others it is not."""
    ols = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(1)
    for sizes in ((4,) * 6, (10,) * 30):
        x, codes = clustered(sizes, 0.3, rng)
        fit = ols.OLS(x, np.ones(x.size)).fit(cov_type="cluster", cov_kwds={"groups": codes})
        found = mean_of(x, codes)
        assert found.standard_error == pytest.approx(fit.bse[0], rel=1e-9)
        half = half_width(fit.bse[0] ** 2, len(sizes) - 1)
        assert found.high - found.value == pytest.approx(half)


def by_matrices(x, codes):
    """Bell and McCaffrey (2002) in full matrices, for a regression on a constant."""
    n = x.size
    design = np.ones((n, 1))
    hat = design @ design.T / n
    residuals = x - x.mean()
    rows, total = [], 0.0
    for g in np.unique(codes):
        at = np.flatnonzero(codes == g)
        inner = np.eye(at.size) - hat[np.ix_(at, at)]
        values, vectors = np.linalg.eigh(inner)
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        ones = design[at, 0] / n
        total += float(ones @ root @ residuals[at]) ** 2
        rows.append((np.eye(n) - hat)[:, at] @ root @ ones)
    eigenvalues = np.linalg.eigvalsh(np.array(rows) @ np.array(rows).T)
    return total, eigenvalues.sum() ** 2 / np.square(eigenvalues).sum()


def test_any_clusters_are_those_of_the_matrices():
    rng = np.random.default_rng(3)
    for sizes in ((1, 7, 3, 12, 2), (20, 1, 1, 1, 1, 1), (5, 5), (1,) * 9):
        x, codes = clustered(sizes, 0.2, rng)
        variance, df = by_matrices(x, codes)
        found = mean_of(x, codes)
        assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-9), sizes
        assert found.high - found.value == pytest.approx(half_width(variance, df), rel=1e-7)


@pytest.mark.full
@pytest.mark.parametrize(
    "sizes",
    [(10,) * 5, (10,) * 20, (1, 2, 4, 8, 40), (90,) + (10,) * 9, (76,) + (4,) * 19],
    ids=lambda sizes: f"{len(sizes)}-of-{sum(sizes)}",
)
def test_coverage_with_few_and_unequal_clusters(sizes):
    rng = np.random.default_rng(5)
    held, n = 0, 500
    for _ in range(n):
        found = mean_of(*clustered(sizes, 0.2, rng))
        held += found.low <= 0.0 <= found.high
    assert scipy_stats.binomtest(held, n, 0.93, "less").pvalue > 0.01
    assert scipy_stats.binomtest(held, n, 0.985, "greater").pvalue > 0.01
