"""Scripts in the manner of ten public users of rliable, of which only the import is changed."""

import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("Agg")

DATA = """
import numpy as np
import matplotlib.pyplot as plt
rng = np.random.default_rng(0)
names = ["A2C", "PPO", "SAC"]
scores = {name: rng.gamma(2.0, 0.3 + 0.1 * i, (5, 6)) for i, name in enumerate(names)}
curves = {name: x[..., None] * np.linspace(0.1, 1.0, 8) for name, x in scores.items()}
"""  # fmt: skip

SCRIPTS = {
    "the notebook of rliable": """
from rliable import library as rly
from rliable import metrics
from rliable import plot_utils

StratifiedBootstrap = rly.StratifiedBootstrap
IQM = lambda x: metrics.aggregate_iqm(x)
OG = lambda x: metrics.aggregate_optimality_gap(x, 1.0)
MEAN = lambda x: metrics.aggregate_mean(x)
MEDIAN = lambda x: metrics.aggregate_median(x)
aggregate_func = lambda x: np.array([MEDIAN(x), IQM(x), MEAN(x), OG(x)])
points, cis = rly.get_interval_estimates(scores, aggregate_func, reps=500)
fig, axes = plot_utils.plot_interval_estimates(
    points, cis, metric_names=["Median", "IQM", "Mean", "Optimality Gap"],
    algorithms=["A2C", "PPO", "SAC"], xlabel_y_coordinate=-0.16, xlabel="Human Normalized Score")
n_runs = StratifiedBootstrap(scores["A2C"], random_state=np.random.RandomState(42))
assert n_runs.conf_int(IQM, reps=200, method="percentile", size=0.9).shape == (2, 1)
assert len(axes) == 4 and all((cis[a][0] <= points[a]).all() for a in points)
""",
    "torchrl": """
from rliable import library, metrics
from rliable.plot_utils import plot_interval_estimates, plot_sample_efficiency_curve

def iqm(x):
    return np.array([metrics.aggregate_iqm(x)])

means, intervals = library.get_interval_estimates(scores, iqm, reps=300)
figure, _ = plot_interval_estimates(means, intervals, metric_names=["IQM"], color_palette="tab10")
along = lambda s: np.array([metrics.aggregate_iqm(s[..., i]) for i in range(s.shape[-1])])
means, intervals = library.get_interval_estimates(curves, along, reps=300)
ax = plot_sample_efficiency_curve(
    np.arange(8) + 1, means, intervals, algorithms=None, xlabel="Frames", ylabel="IQM")
assert intervals["SAC"].shape == (2, 8) and ax.get_ylabel() == "IQM"
""",
    "tianshou": """
import scipy.stats as sst
from rliable import library as rly
from rliable import plot_utils

fig, (ax1, ax2) = plt.subplots(ncols=2, figsize=(14, 5), layout="constrained")
iqm = lambda x: sst.trim_mean(x, proportiontocut=0.25, axis=None)
along = lambda s: np.array([iqm(s[..., i]) for i in range(s.shape[-1])])
points, cis = rly.get_interval_estimates(curves, along, reps=40)
plot_utils.plot_sample_efficiency_curve(
    np.arange(8), points, cis, algorithms=list(curves), xlabel="env step",
    ylabel="IQM episode return", ax=ax1)
thresholds = np.linspace(0.0, 3.0, 101)
profiles, bands = rly.create_performance_profile(scores, thresholds)
plot_utils.plot_performance_profiles(
    profiles, thresholds, performance_profile_cis=bands, xlabel=r"Episode return $(\\tau)$", ax=ax2)
assert len(ax1.lines) == len(ax2.lines) == 3
""",
    "CleanRL": """
import rliable.library as rly
import rliable.metrics as metrics
import rliable.plot_utils as plot_utils

final = {name: x[:, :, -1] for name, x in curves.items()}
aggregate = lambda x: np.array([
    metrics.aggregate_median(x), metrics.aggregate_iqm(x), metrics.aggregate_mean(x),
    metrics.aggregate_optimality_gap(x)])
points, cis = rly.get_interval_estimates(final, aggregate, reps=200)
fig, axes = plot_utils.plot_interval_estimates(
    points, cis, metric_names=["Median", "IQM", "Mean", "Optimality Gap"],
    algorithms=list(final), colors=dict(zip(final, ["r", "g", "b"])), row_height=0.5)
fig.savefig("aggregate.png", bbox_inches="tight")
""",
    "marl-eval": """
from rliable import library as rly
from rliable import metrics, plot_utils
from rliable.plot_utils import _annotate_and_decorate_axis

pairs = {"SAC,PPO": (scores["SAC"], scores["PPO"]), "SAC,A2C": (scores["SAC"], scores["A2C"])}
chances, cis = rly.get_interval_estimates(pairs, metrics.probability_of_improvement, reps=100)
ax = plot_utils.plot_probability_of_improvement(chances, cis, pair_separator=",", alpha=0.5)
assert 0.0 <= chances["SAC,PPO"] <= 1.0 and cis["SAC,A2C"].shape == (2, 1)
_, ax = plt.subplots(figsize=(7, 5))
for name, x in curves.items():
    ax.plot(np.arange(8), x.mean(axis=(0, 1)), label=name)
ax = _annotate_and_decorate_axis(
    ax, xlabel="Timesteps", ylabel="Return", labelsize="xx-large", ticklabelsize=8, legend=True)
assert not ax.spines["top"].get_visible()
""",
    "Mava": """
from rliable import library as rly, metrics, plot_utils
from rliable.plot_utils import _decorate_axis

normalised = {name: (x - x.min()) / (x.max() - x.min()) for name, x in scores.items()}
tau = np.linspace(0.0, 1.0, 51)
profiles, bands = rly.create_performance_profile(normalised, tau, use_score_distribution=False)
fig, ax = plt.subplots()
plot_utils.plot_performance_profiles(
    profiles, tau, performance_profile_cis=bands, colors=dict(zip(scores, ["k", "r", "b"])),
    use_non_linear_scaling=True, xticks=[0.0, 0.25, 0.5, 1.0], ax=ax, legend=True)
_decorate_axis(ax, hrect=5)
assert all(profiles[name][-1] == 0.0 for name in profiles)
""",
    "openrlbenchmark": """
from rliable import library as rly
from rliable import metrics, plot_utils

frames = np.array([0, 2, 4, 7])
some = {name: x[:, :, frames] for name, x in curves.items()}
for function in (metrics.aggregate_iqm, metrics.aggregate_mean, metrics.aggregate_median):
    along = lambda s: np.array([function(s[..., frame]) for frame in range(s.shape[-1])])
    points, cis = rly.get_interval_estimates(some, along, reps=100)
    ax = plot_utils.plot_sample_efficiency_curve(
        frames + 1, points, cis, algorithms=list(some), colors=dict(zip(some, ["k", "r", "b"])),
        xlabel=r"Number of Frames (in millions)", ylabel=function.__name__, labelsize="large")
    np.testing.assert_allclose(points["A2C"][-1], function(scores["A2C"]))
""",
    "sb3-zoo": """
from rliable import library as rly
from rliable import metrics, plot_utils

def aggregate(x):
    return np.array([f(x) for f in (metrics.aggregate_median, metrics.aggregate_iqm)])

for method in ("percentile", "bc", "bca", "basic"):
    points, cis = rly.get_interval_estimates(scores, aggregate, method=method, reps=200)
    assert all((cis[a][0] <= points[a]).all() and (points[a] <= cis[a][1]).all() for a in points)
fig, axes = plot_utils.plot_interval_estimates(
    points, cis, metric_names=["Median", "IQM"], algorithms=["PPO", "SAC"], max_ticks=3,
    color_palette=["r", "b"])
assert [ax.get_title() for ax in axes] == ["Median", "IQM"]
""",
    "imitation": """
from rliable import library as rly
from rliable import metrics

for name in ("A2C", "PPO"):
    bootstrap = rly.StratifiedIndependentBootstrap(
        scores["SAC"][:3], scores[name], random_state=np.random.RandomState(0))
    both = lambda x, y: metrics.probability_of_improvement(x, y)
    low, high = bootstrap.conf_int(both, reps=300, method="percentile", size=0.95)[:, 0]
    assert low <= metrics.probability_of_improvement(scores["SAC"][:3], scores[name]) <= high
""",
    "Stoix": """
from rliable import library as rly, metrics

def all_at_once(x):
    return np.stack([metrics.aggregate_mean(x), metrics.aggregate_median(x)])

single = {name: x.reshape(-1, 1) for name, x in scores.items()}
points, cis = rly.get_interval_estimates(
    single, all_at_once, task_bootstrap=True, reps=200, confidence_interval_size=0.8)
assert cis["PPO"].shape == (2, 2)
deviation = rly.get_interval_estimates(
    scores, lambda x: rly.run_score_deviation(x, 0.5), reps=100)[0]
assert deviation["SAC"] == np.mean(scores["SAC"] > 0.5)
""",
}


@pytest.mark.parametrize("user", SCRIPTS)
def test_a_script_runs_with_its_import_changed(user, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changed = re.sub(r"\b(from|import) rliable\b", r"\1 gnomon.compat.rliable", SCRIPTS[user])
    assert "gnomon.compat.rliable" in changed
    exec(compile(DATA + changed, user, "exec"), {})
    plt.close("all")
