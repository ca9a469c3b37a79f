import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from gnomon.compat.rliable import library as rly
from gnomon.compat.rliable import metrics, plot_utils

mpl.use("Agg")

RNG = np.random.default_rng(0)
SCORES = {"dqn": RNG.normal(size=(5, 4)), "sac": RNG.normal(1.0, size=(5, 4))}


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def two(x):
    return np.array([metrics.aggregate_iqm(x), metrics.aggregate_mean(x)])


def test_interval_panels_show_the_ends():
    points, ends = rly.get_interval_estimates(SCORES, two, reps=100, random_state=0)
    fig, axes = plot_utils.plot_interval_estimates(
        points, ends, ["IQM", "Mean"], algorithms=["dqn", "sac"]
    )
    assert [ax.get_title() for ax in axes] == ["IQM", "Mean"]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["dqn", "sac"]
    bar = axes[1].patches[1]
    assert (bar.get_x(), bar.get_x() + bar.get_width()) == pytest.approx(tuple(ends["sac"][:, 1]))
    assert fig is axes[0].figure


@pytest.mark.parametrize("nonlinear", [False, True])
def test_profiles_are_drawn_as_given(nonlinear):
    tau = np.linspace(-2, 3, 21)
    profiles, bands = rly.create_performance_profile(SCORES, tau, reps=50, random_state=0)
    ax = plot_utils.plot_performance_profiles(
        profiles,
        tau,
        bands,
        use_non_linear_scaling=nonlinear,
        colors={"dqn": "#000000", "sac": "#0072B2"},
        linewidth=3,
        legend=True,
    )
    assert [line.get_color() for line in ax.lines] == ["#000000", "#0072B2"]
    for line, name in zip(ax.lines, SCORES, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), profiles[name])
        assert line.get_linewidth() == 3
    if not nonlinear:
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), tau)


def test_sample_efficiency_curves():
    frames = [1, 2, 3]
    points = {"dqn": [0.1, 0.2, 0.3]}
    ends = {"dqn": np.array([[0.0, 0.1, 0.2], [0.2, 0.3, 0.4]])}
    ax = plot_utils.plot_sample_efficiency_curve(frames, points, ends, None)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), points["dqn"])
    assert ax.get_xlabel() == "Number of Frames (in millions)"


def test_improvement_bars_name_both_algorithms():
    pairs = {"sac,dqn": [SCORES["sac"], SCORES["dqn"]]}
    points, ends = rly.get_interval_estimates(
        pairs, metrics.probability_of_improvement, reps=100, random_state=0
    )
    ax = plot_utils.plot_probability_of_improvement(points, ends)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["sac"]
    (twin,) = [other for other in ax.figure.axes if other is not ax]
    assert [t.get_text() for t in twin.get_yticklabels()] == ["dqn"]
