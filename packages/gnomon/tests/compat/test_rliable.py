import numpy as np
import pytest
from scipy import stats

from gnomon.compat.rliable import library as rly
from gnomon.compat.rliable import metrics

X = np.random.default_rng(0).normal(size=(6, 9))
Y = np.random.default_rng(1).normal(size=(4, 9))


def four(x):
    return np.array(
        [
            metrics.aggregate_median(x),
            metrics.aggregate_iqm(x),
            metrics.aggregate_mean(x),
            metrics.aggregate_optimality_gap(x, 0.5),
        ]
    )


def test_metrics_are_rliables():
    assert metrics.aggregate_iqm(X) == pytest.approx(stats.trim_mean(X, 0.25, axis=None))
    assert metrics.aggregate_median(X) == np.median(X.mean(axis=0))
    assert metrics.aggregate_optimality_gap(X, 2.0) == 2.0 - np.minimum(X, 2.0).mean()
    pairs = [(a > b) + (a == b) / 2 for t in range(9) for a in X[:, t] for b in Y[:, t]]
    assert metrics.probability_of_improvement(X, Y) == pytest.approx(np.mean(pairs))


def test_mean_and_median_of_curves_are_curves():
    curves = np.stack([X, 2 * X, X + 1], axis=-1)
    for metric in (metrics.aggregate_mean, metrics.aggregate_median):
        expected = [metric(curves[..., i]) for i in range(3)]
        np.testing.assert_allclose(metric(curves), expected)
        points, ends = rly.get_interval_estimates({"x": curves}, metric, reps=50)
        np.testing.assert_allclose(points["x"], expected)
        assert ends["x"].shape == (2, 3)


def test_curves_are_resampled_as_whole_runs():
    curves = np.stack([X, X + 1.0], axis=-1)

    def both(scores):
        return np.array([metrics.aggregate_iqm(scores[..., i]) for i in range(scores.shape[-1])])

    drawn = rly.StratifiedBootstrap(curves, random_state=0).apply(both, 200)
    np.testing.assert_allclose(drawn[:, 1] - drawn[:, 0], 1.0)


@pytest.mark.parametrize("task_bootstrap", [False, True])
def test_resampled_data_is_what_the_index_says(task_bootstrap):
    z = np.stack([X, 2 * X], axis=-1)
    bs = rly.StratifiedBootstrap(X, y=-X, z=z, task_bootstrap=task_bootstrap)
    for data, named in bs.bootstrap(3):
        np.testing.assert_array_equal(X[bs.index], data[0])
        np.testing.assert_array_equal(-X[bs.index], named["y"])
        np.testing.assert_array_equal(z[bs.index], bs.z)
    independent = rly.StratifiedIndependentBootstrap(X, y=Y)
    for data, named in independent.bootstrap(3):
        positions, by_name = independent.index
        np.testing.assert_array_equal(X[positions[0]], data[0])
        np.testing.assert_array_equal(Y[by_name["y"]], named["y"])


@pytest.mark.parametrize("method", ["percentile", "basic", "bc", "bca"])
def test_intervals_enclose_their_points(method):
    points, ends = rly.get_interval_estimates({"x": X, "y": Y}, four, method, reps=500)
    for name in points:
        assert ends[name].shape == (2, 4)
        assert (ends[name][0] < points[name]).all()
        assert (points[name] < ends[name][1]).all()


def test_the_random_state_is_honoured():
    found = [
        rly.get_interval_estimates({"x": X}, four, reps=50, random_state=seed)[1]["x"]
        for seed in (0, 0, np.random.RandomState(5), np.random.RandomState(5), 1)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[3])
    assert (found[0] != found[4]).any()


def test_bca_of_one_statistic_does_not_depend_on_its_neighbours():
    def alone(x):
        return np.array([metrics.aggregate_mean(x)])

    def beside_a_large_one(x):
        return np.array([metrics.aggregate_mean(x), metrics.aggregate_mean(x) * 1000])

    x = np.random.default_rng(3).gamma(1.0, size=(10, 8))
    ends = [
        rly.get_interval_estimates({"x": x}, f, "bca", reps=500, random_state=0)[1]["x"][:, 0]
        for f in (alone, beside_a_large_one)
    ]
    np.testing.assert_allclose(ends[0], ends[1])


@pytest.mark.parametrize("use_score_distribution", [True, False])
def test_profiles(use_score_distribution):
    tau = np.linspace(-2, 2, 9)
    profiles, bands = rly.create_performance_profile(
        {"x": X}, tau, use_score_distribution, reps=200
    )
    means = X if use_score_distribution else X.mean(axis=0)
    np.testing.assert_allclose(profiles["x"], [(means > t).mean() for t in tau])
    assert bands["x"].shape == (2, 9)
    custom, _ = rly.create_performance_profile(
        {"x": X}, tau, custom_profile_func=lambda x, t: (x.max() > t) * 1.0, reps=20
    )
    np.testing.assert_array_equal(custom["x"], (X.max() > tau) * 1.0)


def test_misuse():
    with pytest.raises(ValueError, match="unknown method 'normal'"):
        rly.StratifiedBootstrap(X).conf_int(np.mean, reps=10, method="normal")
    with pytest.raises(ValueError, match="task_bootstrap is not possible for several arrays"):
        rly.get_interval_estimates({"x": [X, Y]}, four, task_bootstrap=True, reps=10)
    with pytest.raises(ValueError, match="expected the same tasks, found 9 and 1"):
        metrics.probability_of_improvement(X, Y[:, :1])
