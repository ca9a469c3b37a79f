"""The arguments of the names of rliable."""

import inspect

import matplotlib as mpl
import pytest

from gnomon.compat.rliable import library as rly
from gnomon.compat.rliable import metrics, plot_utils

mpl.use("Agg")

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
