import numpy as np
import pytest
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.scores.table import ScoreTable
from gnomon.stats.planning import (
    interval_widths,
    power_curve,
    runs_needed,
    sequential_compare,
    sequential_levels,
    subsample_table,
    subsampled,
)


def rng():
    return np.random.default_rng(0)


def test_power_is_that_of_the_t_test():
    """A large normal pilot: the power of Welch's test is that of theory."""
    x = rng().normal(size=(4000, 1))
    table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + 1.0})
    points = power_curve(table, "a", "b", "mean", runs=[5, 20], n_simulations=600, rng=rng())
    for point in points:
        n = point.runs
        df, shift = 2 * n - 2, np.sqrt(n / 2)
        critical = stats.t.ppf(0.975, df)
        theory = stats.nct.sf(critical, df, shift) + stats.nct.cdf(-critical, df, shift)
        assert point.power == pytest.approx(theory, abs=0.06)
    assert runs_needed(points) == 20
    assert runs_needed(points, power=0.999) is None


def test_no_difference_is_seldom_found():
    x = rng().normal(size=(100, 3))
    table = ScoreTable.from_arrays({"a": x, "b": x[::-1]})
    (point,) = power_curve(table, "a", "b", "mean", runs=[5], n_simulations=600, rng=rng())
    assert stats.binomtest(round(point.power * 600), 600, 0.05, "greater").pvalue > 0.01


def test_intervals_shrink_with_runs():
    widths = interval_widths(rng().normal(size=(10, 5)), "mean", runs=[5, 20], rng=rng())
    assert 2.0 < widths[5] / widths[20] < 3.0


def test_subsamples_of_all_runs_are_the_data():
    x = rng().normal(size=(6, 5))
    assert set(subsampled(x, "median", n_runs=6, n_draws=5, rng=rng()).round(12)) == {
        np.median(x.mean(axis=0)).round(12)
    }
    few = subsampled(x, "median", n_runs=2, rng=rng())
    many = subsampled(x, "median", n_runs=5, rng=rng())
    assert few.std() > many.std()
    with pytest.raises(ValueError, match="expected 1 to 6 runs, found 7"):
        subsampled(x, n_runs=7, rng=rng())


def test_the_error_of_all_looks_is_that_of_the_whole():
    assert (1 - sequential_levels([3, 5, 10], level=0.9)).sum() == pytest.approx(0.1)
    draws = np.random.default_rng(8)
    false = 0
    for _ in range(200):
        table = ScoreTable.from_arrays(dict(zip("ab", draws.normal(size=(2, 10, 3)), strict=True)))
        result = sequential_compare(table, "a", "b", "mean", looks=[4, 7, 10], rng=draws)
        false += result.decided
    assert stats.binomtest(false, 200, 0.05, "greater").pvalue > 0.01


def test_runs_not_made_yet_are_not_needed():
    x = rng().normal(size=(4, 3))
    table = ScoreTable.from_arrays({"a": x, "b": x[::-1]})
    result = sequential_compare(table, "a", "b", "mean", looks=[4, 8], rng=rng())
    assert (result.decided, result.runs) == (False, 4)
    with pytest.raises(ScoreDataError, match="expected 8 runs per task at the first look, found 4"):
        sequential_compare(table, "a", "b", looks=[8, 16], rng=rng())


def test_misuse():
    table = ScoreTable.from_arrays({"a": [[1.0], [2.0]], "b": [[1.0], [3.0]]})
    with pytest.raises(ScoreDataError, match="median: planning needs a metric with a standard"):
        power_curve(table, "a", "b", "median", rng=rng())
    with pytest.raises(ValueError, match="expected at least 2 runs, found 1"):
        power_curve(table, "a", "b", runs=[1], rng=rng())
    single = ScoreTable.from_arrays({"a": [[1.0]], "b": [[1.0]]})
    with pytest.raises(ScoreDataError, match="expected at least two finite pilot runs on every"):
        power_curve(single, "a", "b", rng=rng())
    with pytest.raises(ValueError, match="expected ascending numbers of runs"):
        sequential_levels([5, 5])


def test_subsamples_of_a_table():
    x = np.random.default_rng(0).normal(size=(10, 4))
    table = ScoreTable.from_arrays({"a": x, "b": np.where(np.arange(10)[:, None] < 3, x, np.nan)})
    found = subsample_table(table, "mean", n_draws=50, rng=np.random.default_rng(1))
    assert [(one.algorithm, one.runs) for one in found] == [("a", 2), ("a", 3), ("a", 5), ("b", 2)]
    assert found[0].draws.std() > found[2].draws.std()
    # All of the runs, when asked for, say what they say.
    found = subsample_table(table, "mean", runs=[3], n_draws=5, rng=np.random.default_rng(1))
    assert found[1].draws.tolist() == pytest.approx([found[1].value] * 5)
    with pytest.raises(ScoreDataError, match="expected an algorithm with more than 2 runs"):
        subsample_table(table, "mean", runs=[20], rng=np.random.default_rng(1))
