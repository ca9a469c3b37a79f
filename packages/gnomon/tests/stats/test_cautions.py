import warnings

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import estimate


def in_two_clusters(x):
    """Return whether an estimate warns of two clusters of runs on the first of two tasks."""
    even = 1e-6 * np.arange(len(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = estimate(ScoreTable.from_arrays({"a": np.column_stack([x, even])}), "mean")
    return any("clusters" in text for text in found.warnings)


@pytest.mark.parametrize("n", [5, 7, 10, 14, 19])
def test_one_normal_sample_in_a_hundred_looks_like_two_clusters(n):
    draws = np.random.default_rng(n).normal(size=(300, n))
    flagged = sum(in_two_clusters(x) for x in draws)
    assert stats.binomtest(flagged, 300, 0.02, "greater").pvalue > 0.01
    humps = draws + 12 * (np.arange(n) < n / 2)
    assert np.mean([in_two_clusters(x) for x in humps[:60]]) > (0.3 if n == 5 else 0.8)


def test_runs_that_are_no_clusters():
    assert not in_two_clusters([0.0, 0.0, 9.0, 9.0])  # too few
    assert not in_two_clusters([0.3] * 9)
    assert not in_two_clusters([0.9, 0.9, 0.9, 0.9, 1.0])  # a coarse scale
    assert in_two_clusters([0.0, 1.0, 1.0, 1.0, 0.0])
    draws = np.random.default_rng(3).normal(size=13)
    humps = draws + 12 * (np.arange(13) < 6)
    assert in_two_clusters(humps)
    assert in_two_clusters(-3 * humps + 2)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_tasks_with_two_clusters_are_named():
    x = np.random.default_rng(0).normal(size=(6, 4))
    x[:3, 1] += 90
    x[:, 0] *= 60
    table = ScoreTable.from_arrays({"a": x})
    share = x[:, 1].var() / x.var(axis=0).sum()
    said = [text for text in estimate(table, ["mean", "iqm"]).warnings if "clusters" in text]
    assert said == [
        "a: runs fall in two clusters on 1 of 4 tasks (task_1), with "
        f"{share:.0%} of the variance; intervals may be too short where few runs are in one of them"
    ]
    x[:, 0] *= 20  # beside which the clusters do not matter
    found = estimate(ScoreTable.from_arrays({"a": x}), "mean")
    assert not any("clusters" in text for text in found.warnings)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_a_median_at_the_end_of_a_cluster_is_named():
    rng = np.random.default_rng(2)
    noise = 0.1 * rng.normal(size=(5, 25))
    told = "median of a: its task is the last before a gap of "
    for levels, named in (
        (np.repeat([0.2, 1.0], [12, 13]), True),
        (np.repeat([0.2, 1.0], [13, 12]), True),
        (np.repeat([0.2, 1.0], [5, 20]), False),
        (np.linspace(0.2, 1.0, 25), False),
        (np.ones(25), False),
        (np.repeat([0.2, 1.0], [12, 13])[:2], False),
    ):
        table = ScoreTable.from_arrays({"a": levels + noise[:, : levels.size]})
        found = estimate(table, ["mean", "median"])
        assert any(text.startswith(told) for text in found.warnings) is named, levels


def test_variances_of_the_table():
    x = np.random.default_rng(1).normal(size=(3, 2, 6)) * [[[1.0]], [[2.0]], [[0.5]]]
    table = ScoreTable.from_arrays(dict(zip("abc", x, strict=True)))
    with pytest.warns(DegenerateScoresWarning, match="interval depends on which others are in it"):
        found = estimate(table, ["mean", "iqm", "median"], variances="table", level=0.9)
    methods = ["moderated_t", "moderated_t", "profile_likelihood"]
    assert [one.method for one in found] == methods * 3
    own = x.var(axis=1, ddof=1)
    ratio = np.mean(own / own.mean(axis=0), axis=1)
    for i in range(3):
        moderated = (2 * ratio[i] * own.mean(axis=0) + own[i]) / 3
        terms = moderated / 2 / 36
        df = (1 + 5 / 24) * max(1.0, terms.sum() ** 2 / np.sum(terms**2))
        half = stats.t.ppf(0.95, df) * terms.sum() ** 0.5
        assert found[3 * i].high - found[3 * i].value == pytest.approx(half)
    assert found.settings["variances"] == "table"


def test_variances_of_a_table_that_is_none():
    x = np.random.default_rng(1).normal(size=(3, 6))
    both = ScoreTable.from_arrays({"a": x, "b": x + 1})
    alone = ScoreTable.from_arrays({"a": x})
    for table, options, message in (
        (alone, {}, "expected two algorithms or more, found a alone"),
        (both, {"method": "percentile"}, "expected the method small_sample, found percentile"),
        (both, {"per_task": True}, "over runs of all tasks, found tasks one by one"),
        (both, {"resampling": "runs_and_tasks"}, "over runs of all tasks, found runs_and_tasks"),
    ):
        with pytest.raises(ScoreDataError, match=f"variances of the table: .*{message}"):
            estimate(table, "mean", variances="table", **options)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("n_runs", [2, 3])
def test_coverage_and_width_with_variances_of_the_table(n_runs):
    """A binomial test of coverage; at two runs the intervals are narrower, too."""
    draws = np.random.default_rng(5)
    spreads = draws.lognormal(size=12) * np.array([0.6, 1.0, 1.0, 2.0])[:, None, None]
    held, widths, n = 0, {"own": 0.0, "table": 0.0}, 250
    for _ in range(n):
        x = spreads * draws.standard_t(5, size=(4, n_runs, 12))
        table = ScoreTable.from_arrays(dict(zip("abcd", x, strict=True)))
        for variances in widths:
            found = estimate(table, "mean", variances=variances)
            widths[variances] += sum(one.high - one.low for one in found)
            held += variances == "table" and sum(one.low <= 0.0 <= one.high for one in found)
    assert stats.binomtest(held, 4 * n, 0.945, "less").pvalue > 0.01, held / 4 / n
    assert widths["table"] < (0.87 if n_runs == 2 else 0.98) * widths["own"]
