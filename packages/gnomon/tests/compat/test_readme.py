"""What rliable's README shows, with only the imports changed, and the signatures of its names."""

import inspect

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from gnomon.compat.rliable import library as rly
from gnomon.compat.rliable import metrics, plot_utils

mpl.use("Agg")

ALGORITHMS = ["DQN (Nature)", "C51", "Rainbow", "IQN"]
DRAWS = np.random.default_rng(0)
#: Runs x games x frames; the scores of the last frame are those of the table.
FRAMES = {name: DRAWS.gamma(2.0, 0.5 + 0.2 * i, (5, 8, 6)).cumsum(axis=-1) / 6
          for i, name in enumerate(ALGORITHMS)}  # fmt: skip
SCORES = {name: x[..., -1] for name, x in FRAMES.items()}


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_aggregate_metrics():
    def aggregate_func(x):
        return np.array(
            [
                metrics.aggregate_median(x),
                metrics.aggregate_iqm(x),
                metrics.aggregate_mean(x),
                metrics.aggregate_optimality_gap(x),
            ]
        )

    scores, cis = rly.get_interval_estimates(SCORES, aggregate_func, reps=500)
    for name in ALGORITHMS:
        assert scores[name].shape == (4,)
        assert ((cis[name][0] <= scores[name]) & (scores[name] <= cis[name][1])).all()
    fig, axes = plot_utils.plot_interval_estimates(
        scores,
        cis,
        metric_names=["Median", "IQM", "Mean", "Optimality Gap"],
        algorithms=ALGORITHMS,
        xlabel="Human Normalized Score",
    )
    assert [ax.get_title() for ax in axes] == ["Median", "IQM", "Mean", "Optimality Gap"]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ALGORITHMS
    assert len(fig.axes) == 4


def test_probability_of_improvement():
    pairs = {
        f"{x},{y}": (SCORES[x], SCORES[y]) for x, y in (("Rainbow", "C51"), ("IQN", "DQN (Nature)"))
    }
    average, cis = rly.get_interval_estimates(pairs, metrics.probability_of_improvement, reps=200)
    ax = plot_utils.plot_probability_of_improvement(average, cis)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Rainbow", "IQN"]
    assert cis["Rainbow,C51"].shape == (2, 1)


def test_sample_efficiency_curve():
    frames = np.array([1, 2, 4, 6]) - 1
    of_frames = {algorithm: score[:, :, frames] for algorithm, score in FRAMES.items()}

    def iqm(scores):
        return np.array(
            [metrics.aggregate_iqm(scores[..., frame]) for frame in range(scores.shape[-1])]
        )

    points, cis = rly.get_interval_estimates(of_frames, iqm, reps=200)
    ax = plot_utils.plot_sample_efficiency_curve(
        frames + 1,
        points,
        cis,
        algorithms=ALGORITHMS,
        xlabel=r"Number of Frames (in millions)",
        ylabel="IQM Human Normalized Score",
    )
    assert len(ax.lines) == len(ALGORITHMS)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), frames + 1)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), points[ALGORITHMS[0]])
    every = plot_utils.plot_sample_efficiency_curve(frames + 1, points, cis)
    assert len(every.lines) == len(ALGORITHMS)


def test_performance_profiles():
    thresholds = np.linspace(0.0, 8.0, 81)
    profiles, cis = rly.create_performance_profile(SCORES, thresholds)
    colors = dict(zip(ALGORITHMS, ["#000000", "#0072B2", "#D55E00", "#009E73"], strict=True))
    for options in ({}, {"use_non_linear_scaling": True, "xticks": [0.0, 0.5, 1.0, 2.0, 4.0, 8.0]}):
        _, ax = plt.subplots(ncols=1, figsize=(7, 5))
        plot_utils.plot_performance_profiles(
            profiles,
            thresholds,
            performance_profile_cis=cis,
            colors=colors,
            xlabel=r"Human Normalized Score $(\tau)$",
            ax=ax,
            **options,
        )
        assert [line.get_color() for line in ax.lines] == list(colors.values())


#: Names and defaults of rliable 1.2.0; ours may have more at the end.
SIGNATURES = {
    rly.StratifiedBootstrap: "args random_state=None task_bootstrap=False kwargs",
    rly.StratifiedIndependentBootstrap: "args random_state=None kwargs",
    rly.get_interval_estimates: "score_dict func method='percentile' task_bootstrap=False "
    "reps=50000 confidence_interval_size=0.95 random_state=None",
    rly.run_score_deviation: "scores tau",
    rly.mean_score_deviation: "scores tau",
    rly.create_performance_profile: "score_dict tau_list use_score_distribution=True "
    "custom_profile_func=None method='percentile' task_bootstrap=False reps=2000 "
    "confidence_interval_size=0.95",
    metrics.aggregate_mean: "scores",
    metrics.aggregate_median: "scores",
    metrics.aggregate_iqm: "scores",
    metrics.aggregate_optimality_gap: "scores gamma=1",
    metrics.probability_of_improvement: "scores_x scores_y",
    plot_utils.plot_performance_profiles: "performance_profiles tau_list "
    "performance_profile_cis=None use_non_linear_scaling=False ax=None colors=None "
    "color_palette='colorblind' alpha=0.15 figsize=(10,5) xticks=None yticks=None",
    plot_utils.plot_interval_estimates: "point_estimates interval_estimates metric_names "
    "algorithms=None colors=None color_palette='colorblind' max_ticks=4 subfigure_width=3.4 "
    "row_height=0.37 xlabel_y_coordinate=-0.1",
    plot_utils.plot_sample_efficiency_curve: "frames point_estimates interval_estimates "
    "algorithms=None colors=None color_palette='colorblind' figsize=(7,5)",
    plot_utils.plot_probability_of_improvement: "probability_estimates "
    "probability_interval_estimates pair_separator=',' ax=None figsize=(4,3) colors=None "
    "color_palette='colorblind' alpha=0.75 xticks=None",
}


@pytest.mark.parametrize("function", SIGNATURES, ids=lambda function: function.__name__)
def test_the_arguments_are_rliables(function):
    ours = []
    for parameter in inspect.signature(function).parameters.values():
        default = parameter.default
        shown = "" if default is parameter.empty else f"={default!r}".replace(" ", "")
        ours.append(parameter.name + shown)
    theirs = SIGNATURES[function].split()
    assert ours[: len(theirs)] == theirs
