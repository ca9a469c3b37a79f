import math

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import estimate
from score_tables import censored


def rng(seed=0):
    return np.random.default_rng(seed)


def over_tasks(x, metrics, **options):
    return estimate(
        ScoreTable.from_arrays({"a": x}, unit="points"),
        metrics,
        resampling="runs_and_tasks",
        **options,
    )


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("n_tasks", [6, 57])
def test_expanded_ends_are_those_of_the_percentile_moved(n_tasks, level):
    x = rng(n_tasks).normal(size=(3, n_tasks))
    (found,), (plain,) = (
        over_tasks(x, "mean", level=level, method=method) for method in ("auto", "percentile")
    )
    upper = (1 + level) / 2
    ratio = stats.t.ppf(upper, n_tasks - 1) / stats.norm.ppf(upper)
    factor = math.sqrt(n_tasks / (n_tasks - 1)) * ratio
    ends = [found.value + factor * (end - found.value) for end in (plain.low, plain.high)]
    assert (found.low, found.high) == pytest.approx(ends)
    (gap,) = over_tasks(np.sign(x), "optimality_gap", level=level)
    assert 0.0 <= gap.low < gap.high


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_estimates_over_tasks_like_these():
    x = rng().normal(size=(5, 8)) + rng(1).normal(size=8)
    names = ["mean", "median", "iqm", "optimality_gap"]
    found = over_tasks(x, names)
    assert {one.method for one in found} == {"expanded"}
    assert all(one.low <= one.value <= one.high for one in found)
    said = "\n".join(found.warnings)
    assert "mean with tasks as the sample: intervals may be too short" in said
    for name in names[1:]:
        assert f"{name} over" not in said
    moved = over_tasks(3.0 * x + 7.0, names[:3])
    for one, other in zip(found, moved, strict=False):
        ends = (3.0 * one.low + 7.0, 3.0 * one.high + 7.0)
        assert (other.low, other.high) == pytest.approx(ends)
    plain = over_tasks(x, "mean", method="percentile")[0]
    assert plain.method == "percentile"
    assert found[0].low < plain.low < plain.high < found[0].high


def test_too_few_tasks_are_refused():
    for method in ("auto", "percentile"):
        with pytest.raises(ScoreDataError, match="runs_and_tasks: expected 6 tasks or more"):
            over_tasks(rng().normal(size=(5, 5)), "median", method=method)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_one_run_a_task_is_enough_and_censored_ones_are_cut():
    x = rng().normal(size=(1, 9))
    (found,) = over_tasks(x, "median")
    assert found.low < found.value < found.high
    runs = np.r_[x, x + 0.1, np.r_[[-np.inf], x[0, 1:]][None]]
    table = censored({"a": runs}, higher_is_better=True)
    median, iqm = estimate(table, ["median", "iqm"], resampling="runs_and_tasks")
    assert np.isfinite([median.low, median.high, iqm.low, iqm.high]).all()


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("n_tasks", [6, 16])
def test_coverage_over_tasks(n_tasks):
    """A binomial test: tasks drawn from skewed and from heavy-tailed pools."""
    n, draws = 400, rng(21)
    least = {"median": 0.94, "iqm": 0.93, "mean": 0.9}
    pools = {"gamma": draws.gamma(1.5, size=3000), "t3": draws.standard_t(3, size=3000)}
    for name, pool in pools.items():
        held = dict.fromkeys(least, 0)
        noisy = pool + draws.normal(size=(300, 3000)) * 0.3
        truth = {
            "median": np.median(pool),
            "iqm": stats.trim_mean(noisy.ravel(), 0.25),
            "mean": pool.mean(),
        }
        for _ in range(n):
            x = draws.choice(pool, n_tasks) + draws.normal(size=(5, n_tasks)) * 0.3
            for one in over_tasks(x, [*least], n_resamples=500, rng=draws):
                held[one.metric] += one.low <= truth[one.metric] <= one.high
        for metric, share in least.items():
            test = stats.binomtest(held[metric], n, share, "less")
            assert test.pvalue > 0.01, (name, metric, held[metric] / n)
