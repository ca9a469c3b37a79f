import numpy as np
import pytest
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import Metric, PowerPoint, interval_widths, plan, power_curve, runs_needed


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


@pytest.mark.parametrize("metric", ["mean", "iqm", "median", "probability_of_improvement"])
def test_power_has_an_interval_and_a_conservative_value(metric):
    x = rng().normal(size=(5, 4))
    for sign in (1.0, -1.0):
        table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + sign})
        (point,) = power_curve(table, "a", "b", metric, runs=[8], n_simulations=60, rng=rng())
        assert 0.0 <= point.low <= point.assured <= point.power <= point.high <= 1.0
        assert point.low < point.high


def test_a_large_pilot_leaves_little_doubt():
    x = rng().normal(size=(4000, 1))
    table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + 1.0})
    (point,) = power_curve(table, "a", "b", "mean", runs=[15], n_simulations=600, rng=rng())
    assert point.high - point.low < 0.12


def test_what_a_plan_says_of_the_number_of_runs():
    x = rng().normal(size=(6, 5))
    table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + 0.8})
    told = []
    found = plan(
        table, metrics="mean", runs=[3, 6, 12, 24], n_simulations=80,
        progress=lambda *done: told.append(done),
    )  # fmt: skip
    assert told == [(n, 4) for n in range(5)]
    least, middle, most, assured = (
        runs_needed(found, 0.8, by=by) or "more than 24"
        for by in ("high", "power", "low", "assured")
    )
    assert found.notes == (
        f"a, b (mean): power 0.8 takes {middle} runs (95%: {least} to {most}); "
        f"with {assured} runs 80% of pilots reach it",
    )
    assert list(found.as_records()[0]) == [
        "a", "b", "metric", "runs", "power", "low", "high", "assured",
    ]  # fmt: skip


def test_a_pilot_of_equal_runs_on_all_but_one_side_still_plans():
    table = ScoreTable.from_arrays({"a": [[1.0], [1.0], [1.0]], "b": [[2.0], [4.0], [3.0]]})
    (point,) = power_curve(table, "a", "b", "mean", runs=[4], n_simulations=20, rng=rng())
    assert np.isfinite([point.low, point.high, point.assured]).all()
    assert PowerPoint("a", "b", "mean", 4, 0.5).as_record()["assured"] is None


@pytest.mark.full
def test_four_of_five_pilots_reach_the_conservative_power():
    """A binomial test: how often the true power is at least what a pilot of 5 runs assures."""
    draws, n, shift, runs = np.random.default_rng(4), 200, 1.2, 12
    critical = stats.t.ppf(0.975, 2 * runs - 2)
    true = stats.nct.sf(critical, 2 * runs - 2, shift * np.sqrt(runs / 2))
    held = {"assured": 0, "low": 0}
    for _ in range(n):
        x, y = draws.normal(size=(2, 5, 1))
        table = ScoreTable.from_arrays({"a": x + shift, "b": y})
        (point,) = power_curve(table, "a", "b", "mean", runs=[runs], n_simulations=150, rng=draws)
        for by in held:
            held[by] += getattr(point, by) <= true
    assert stats.binomtest(held["assured"], n, 0.8).pvalue > 0.01, held
    assert stats.binomtest(held["low"], n, 0.96, "less").pvalue > 0.01, held


def test_misuse():
    table = ScoreTable.from_arrays({"a": [[1.0], [2.0]], "b": [[1.0], [3.0]]})
    with pytest.raises(ValueError, match="expected at least 2 runs, found 1"):
        power_curve(table, "a", "b", runs=[1], rng=rng())
    single = ScoreTable.from_arrays({"a": [[1.0]], "b": [[1.0]]})
    with pytest.raises(ScoreDataError, match="expected at least two finite pilot runs on every"):
        power_curve(single, "a", "b", rng=rng())
    with pytest.raises(ScoreDataError, match="expected a metric of one algorithm"):
        interval_widths([[1.0], [2.0]], "probability_of_improvement", runs=[2], rng=rng())


@pytest.mark.full
@pytest.mark.parametrize("metric", ["median", "probability_of_improvement", "iqm"])
def test_power_grows_with_runs_and_with_the_difference(metric):
    x = rng().normal(size=(30, 7))
    power = {}
    for shift in (0.0, 1.0):
        table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + shift})
        points = power_curve(table, "a", "b", metric, runs=[3, 12], n_simulations=100, rng=rng())
        power[shift] = [point.power for point in points]
    assert max(power[0.0]) < 0.15
    assert power[0.0][1] < power[1.0][0] + 0.1 < power[1.0][1] + 0.11
    assert power[1.0][1] > 0.8


def test_a_metric_of_ones_own_is_planned():
    x = rng().normal(size=(8, 3))
    table = ScoreTable.from_arrays({"a": x, "b": x[::-1] + 1.0})
    own = Metric.of_matrix("own", lambda scores: float(scores.mean()))
    powers = [
        power_curve(table, "a", "b", metric, runs=[6], n_simulations=100, rng=rng())[0].power
        for metric in ("mean", own)
    ]
    assert powers[0] == pytest.approx(powers[1], abs=0.1)


def test_the_gap_looks_in_the_direction_of_the_scores():
    """Errors far above the target vary in the gap; taken for scores they would all reach it."""
    errors = rng().normal(10.0, 1.0, size=(5, 3))
    options = {"runs": [5], "gamma": 2.0, "higher_is_better": False, "n_simulations": 50}
    gap = interval_widths(errors, "optimality_gap", rng=rng(), **options)
    mean = interval_widths(errors, "mean", runs=[5], n_simulations=50, rng=rng())
    assert gap[5] == pytest.approx(mean[5])


def test_a_pilot_that_does_not_vary_plans_nothing():
    table = ScoreTable.from_arrays({"a": [[1.0], [1.0]], "b": [[2.0], [2.0]]})
    with pytest.raises(ScoreDataError, match="a and b: expected pilot runs that vary"):
        power_curve(table, "a", "b", rng=rng())
    with pytest.raises(ScoreDataError, match="expected pilot runs that vary"):
        interval_widths([[1.0], [1.0]], runs=[3], rng=rng())
