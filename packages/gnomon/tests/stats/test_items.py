"""Verbs on a table of items: published headlines, pairs, groups, missing items, bad input."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import optimize
from scipy import stats as scipy_stats

from gnomon import compare, estimate, rank, read_scores
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError
from gnomon.scores import ScoreTable
from gnomon.stats import mcnemar, tango

EVALS = Path(__file__).parents[4] / ".." / "shared" / "data" / "evals"
published = pytest.mark.skipif(
    not EVALS.is_dir(), reason="the evaluation logs are not in the repository"
)


def table(n=60, n_epochs=1, seed=0, cluster=None, **shift):
    """Return models that solve items of their own difficulty, in topics of unequal sizes."""
    rng = np.random.default_rng(seed)
    difficulty = rng.random(n)
    topics = np.sort(rng.integers(0, 8, n))
    shift = shift or {"a": 0.1, "b": 0.0, "c": -0.2}
    chance = {name: difficulty + by + rng.normal(0.0, 0.15, n) for name, by in shift.items()}
    rows = [
        {"algorithm": name, "task": f"q{i}", "run": e, "topic": f"t{topics[i]}",
         "score": float(rng.random() < chance[name][i])}
        for name in shift for i in range(n) for e in range(n_epochs)
    ]  # fmt: skip
    return ScoreTable(rows, units="items", cluster=cluster)


def scores_of(scores, name):
    return scores.means()[scores.algorithms.index(name)]


@published
def test_alpaca_evals_published_rates_and_errors_are_reproduced():
    with pytest.warns(DegenerateScoresWarning, match="column 'cluster' is not used"):
        scores = read_scores(EVALS / "alpaca_eval2_items.csv", units="items")
    with pytest.warns(DegenerateScoresWarning, match=r"phi-2 lacks 2 of 805 items \(ae131, ae209"):
        found = estimate(scores).to_polars()
    listed = pl.read_csv(EVALS / "alpaca_eval2_published.csv")
    both = found.join(listed, left_on="algorithm", right_on="model", suffix="_listed")
    assert len(both) == 25
    assert (both["value"] * 100 - both["win_rate"]).abs().max() < 1e-4
    assert (both["standard_error"] * 100 - both["standard_error_listed"]).abs().max() < 1e-6


@published
def test_tau_benchs_published_pass_hat_is_reproduced():
    scores = read_scores(EVALS / "tau_airline_gpt4o.csv", units="items")
    found = estimate(scores, [f"pass^{k}" for k in (1, 2, 3, 4)])
    assert [round(one.value, 3) for one in found] == [0.42, 0.273, 0.22, 0.2]
    assert all(one.low < one.value < one.high for one in found)


def test_right_or_wrong_is_tangos_interval_and_mcnemars_test():
    scores = table()
    (one,) = compare(scores, "a", "b")
    gap = scores_of(scores, "a") - scores_of(scores, "b")
    only_a, only_b = int((gap > 0).sum()), int((gap < 0).sum())
    assert (one.low, one.high) == tango(only_a, only_b, 60)
    assert one.p_value == mcnemar(only_a, only_b)
    assert (one.method, one.only_a, one.only_b) == ("tango", only_a, only_b)
    assert one.low > one.value - one.detectable


def test_a_note_speaks_of_columns_that_are_shown():
    two = ScoreTable.from_arrays({"a": [[1, 1, 0, 1] * 8], "b": [[1, 0, 0, 1] * 8]}, units="items")
    assert "p_adjusted" not in str(compare(two))


def test_clusters_make_it_cluster_robust():
    scores = table(cluster="topic")
    (one,) = compare(scores, "a", "b")
    difference = scores_of(scores, "a") - scores_of(scores, "b")
    topics = dict(scores.to_polars().select("task", "topic").iter_rows())
    rows = {"algorithm": ["d"] * 60, "task": scores.tasks, "score": 2.0 * difference}
    rows["topic"] = [topics[t] for t in scores.tasks]
    (doubled,) = estimate(ScoreTable(rows, units="items", cluster="topic"))
    assert (one.method, one.n_clusters, doubled.method) == ("cluster_tango", 8, "cluster_t")
    t = (doubled.high - doubled.value) / doubled.standard_error
    df = optimize.brentq(lambda df: scipy_stats.t.ppf(0.975, df) - t, 1.0, 100.0)
    # Tango's interval of as many independent items as have the variance of the clusters.
    ratio = difference.var(ddof=1) / difference.size / (doubled.standard_error / 2.0) ** 2
    counts = ratio * np.array([one.only_a, one.only_b, one.n_items])
    assert (one.low, one.high) == pytest.approx(tango(*counts, critical=t))
    score = (counts[0] - counts[1]) / np.sqrt(counts[0] + counts[1])
    assert one.p_value == pytest.approx(2.0 * scipy_stats.t.sf(abs(score), df))


def test_epochs_are_compared_by_their_items():
    scores = table(n_epochs=5)
    (one,) = compare(scores, "a", "c")
    assert one.method == "paired_t"
    assert one.n_items == 60
    difference = scores_of(scores, "a") - scores_of(scores, "c")
    assert one.value == pytest.approx(difference.mean())
    (first,) = compare(scores, "a", "c", "pass@3")
    assert first.metric == "pass@3"


def test_the_other_way_round_mirrors_the_comparison():
    for scores in (table(), table(cluster="topic")):
        (one,), (other,) = (compare(scores, *pair) for pair in (("a", "c"), ("c", "a")))
        assert one.value == -other.value
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
        assert one.p_value == pytest.approx(other.p_value)


def test_groups_add_up_to_the_whole():
    found = compare(table(n=400), "a", "c", by="topic")
    whole, *groups = found
    assert whole.task is None
    assert sum(one.contribution for one in groups) == pytest.approx(whole.value)
    assert sum(one.share for one in groups) == pytest.approx(1.0)
    assert sum(one.n_items for one in groups) == whole.n_items
    assert all(one.p_adjusted >= one.p_value for one in groups)
    assert "Holm's correction over 8 groups" in str(found)


def test_no_share_of_a_difference_that_may_be_none():
    scores = table(n=60, a=0.0, b=0.0)
    whole, *groups = compare(scores, "a", "b", by="topic")
    assert whole.low <= 0.0 <= whole.high
    assert all(math.isnan(one.share) for one in groups)


def test_missing_items_are_named_and_left_out_of_the_pair_alone():
    scores = table()
    rows = scores.to_polars().filter(
        ~((pl.col("algorithm") == "b") & pl.col("task").is_in(["q3", "q9"]))
    )
    less = ScoreTable(rows, units="items")
    with pytest.warns(DegenerateScoresWarning, match=r"b lacks 2 of 60 items \(q3, q9\)"):
        found = compare(less)
    assert [one.n_items for one in found] == [58, 60, 58]
    assert len(found.warnings) == 1


def test_all_pairs_are_corrected():
    found = compare(table())
    assert [(one.a, one.b) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(one.p_adjusted >= one.p_value for one in found)


def test_a_sequential_comparison_stops():
    scores = table(n=600, a=0.2, b=-0.1)
    found = compare(scores, "a", "b", sequential="e")
    last = found[-1]
    assert [one.n_items for one in found] == [5, 10, 20, 50, 100, 200, 500, 600]
    assert found.settings["n_stopped"]["mean"] < 600
    assert last.low > 0.0
    assert last.p_value <= 0.05
    assert "no difference is rejected after" in str(found)
    assert found == compare(scores, "a", "b", sequential="e")
    clustered = table(n=600, cluster="topic", a=0.2, b=-0.1)
    clustered = compare(clustered, "a", "b", sequential="e")
    assert [one.n_items for one in clustered][-1] == 600
    assert clustered[-1].value == pytest.approx(last.value)


def test_items_that_seem_sorted_are_named():
    x, y = np.repeat([1.0, 0.0], 100), np.repeat([0.0, 1.0], 100)
    scores = ScoreTable.from_arrays({"a": x[None], "b": y[None]}, units="items")
    with pytest.warns(DegenerateScoresWarning, match="as if they were sorted; shuffle them"):
        compare(scores, "a", "b", sequential="e")


def test_ranks_hold_together_and_models_that_tie_share_a_tier():
    found = rank(table(n=400))
    assert found.settings["method"] == "mean"
    assert found.names == ("a", "b", "c")
    pairs = compare(table(n=400))
    assert np.count_nonzero(found.separated) == 2 * sum(one.p_adjusted <= 0.05 for one in pairs)
    assert found[-1].rank_low == 3
    assert found.separated[0, 2]
    same = rank(ScoreTable.from_arrays({"a": [[1, 0] * 20], "b": [[0, 1] * 20]}, units="items"))
    assert same.tiers == (("a", "b"),)
    errors = ScoreTable.from_arrays(
        {"a": [[1, 0] * 30], "b": [[0, 0] * 30]}, units="items", higher_is_better=False
    )
    assert rank(errors).names == ("b", "a")
    with pytest.warns(DegenerateScoresWarning, match="tasks are treated as a sample"):
        assert rank(table(), "mean-rank").settings["method"] == "mean-rank"


@pytest.mark.parametrize("n_alone", [1, 30])
def test_a_detectable_difference_falls_with_the_root_of_the_items(n_alone):
    scores = np.array([[1.0] * 60, [0.0] * 60])
    scores[:, :n_alone] = scores[::-1, :n_alone]
    few, many = (
        compare(ScoreTable.from_arrays({"a": x[:1], "b": x[1:]}, units="items"), "a", "b")[0]
        for x in (scores, np.tile(scores, 25))
    )
    assert few.detectable == pytest.approx(5.0 * many.detectable, rel=0.1)


def test_bad_input_is_told_with_its_remedy():
    scores, tasks = table(), ScoreTable.from_arrays({"a": [[1, 2]], "b": [[2, 3]]})
    with pytest.raises(ScoreDataError, match="sequential applies to items, found tasks"):
        compare(tasks, "a", "b", sequential="e")
    with pytest.raises(UnknownNameError, match=r"unknown column 'topik'; did you mean 'topic'\?"):
        compare(scores, "a", "b", by="topik")
    with pytest.raises(ScoreDataError, match="no column 'document' of clusters; found topic"):
        table(cluster="document")
    with pytest.raises(ScoreDataError, match="expected one of by="):
        compare(scores, "a", "b", by="topic", sequential="e")
    apart = scores.to_polars().filter((pl.col("algorithm") == "a") == (pl.col("topic") < "t4"))
    with pytest.raises(ScoreDataError, match="a and b share no item with a score"):
        compare(ScoreTable(apart, units="items"), "a", "b")
    far = ScoreTable.from_arrays({"a": [[3.0, 10.0] * 20], "b": [[4.0, 5.0] * 20]}, units="items")
    with pytest.raises(ScoreDataError, match="expected scores between 0 and 1, found 3 to 10"):
        compare(far, "a", "b", sequential="e")
    assert compare(far, "a", "b")[0].method == "paired_t"


def test_one_cluster_is_no_sample():
    rows = table().to_polars().with_columns(pl.lit("one").alias("topic"))
    scores = ScoreTable(rows, units="items", cluster="topic")
    with pytest.warns(
        DegenerateScoresWarning, match=r"1 cluster \(topic\), interval not estimable"
    ):
        (one,) = compare(scores, "a", "b")
    assert one.as_record()["low"] is None
    assert one.value == compare(table(), "a", "b")[0].value


def differing(gap, n, scale=1.0, base=0.25, **about):
    """Return two models whose scores differ by the same on all of `n` items."""
    x = base + scale * np.random.default_rng(n).random(n) * (0.5 if scale <= 1.0 else 1.0)
    rows = [
        {"algorithm": name, "task": f"q{i}", "run": 0, "score": x[i] + by, "doc": f"d{i // 2}"}
        for name, by in (("a", gap), ("b", 0.0)) for i in range(n)
    ]  # fmt: skip
    return ScoreTable(rows, units="items", **about)


quiet = pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")


@quiet
@pytest.mark.parametrize(("cluster", "n", "units"), [(None, 2, 2), (None, 4, 4), ("doc", 10, 5)])
def test_equal_differences_are_no_certainty(cluster, n, units):
    """Differences that do not vary have the p-value of random sign flips and no interval."""
    found = compare(differing(-1.0, n, scale=9.0, cluster=cluster), "a", "b")
    (one,) = found
    assert "do not vary" in found.warnings[0]
    assert one.method == "sign_flips"
    assert one.p_value == 2.0 ** (1 - units)
    assert one.as_record()["low"] is one.as_record()["detectable"] is None
    (same,) = compare(differing(0.0, n, scale=9.0, cluster=cluster), "a", "b")
    assert same.p_value == 1.0
    assert math.isnan(same.low)


@quiet
def test_equal_differences_between_0_and_1_have_the_exact_binomial_bound():
    (one,) = compare(differing(-0.1, 50), "a", "b")
    unlike = 1.0 - 0.025 ** (1 / 50)  # the largest share of other items that 50 may not show
    assert (one.low, one.high) == pytest.approx((-0.1 - 0.9 * unlike, -0.1 + 1.1 * unlike))
    assert one.p_value == 2.0**-49
    (few,) = compare(differing(0.2, 4), "a", "b")
    assert few.low < 0.0 < few.high
    (clustered,) = compare(differing(-0.1, 50, cluster="doc"), "a", "b")
    assert clustered.low < one.low


def test_a_mean_of_equal_scores_has_no_interval_without_bounds():
    with pytest.warns(DegenerateScoresWarning, match="the scores do not vary"):
        (one,) = estimate(small(a=np.full((1, 30), 7.0)))
    assert one.as_record()["low"] is None
    (graded,) = estimate(small(a=np.full((1, 30), 0.3)))
    assert graded.low < 0.3 < graded.high


def small(**runs):
    return ScoreTable.from_arrays({name: np.asarray(x) for name, x in runs.items()}, units="items")


@quiet
@pytest.mark.parametrize("n", [5, 100])
def test_what_is_detectable_is_neither_0_nor_beyond_the_scale(n):
    (apart,) = compare(small(a=np.ones((1, n)), b=np.zeros((1, n))), "a", "b")
    (alike,) = compare(small(a=np.ones((1, n)), b=np.ones((1, n))), "a", "b")
    assert 0.0 < alike.detectable < apart.detectable < 1.0
    half = np.tile([0.0, 1.0, 0.5, 0.5], 3)[:n][None]
    (graded,) = compare(small(a=half, b=1.0 - half), "a", "b")
    assert 0.0 < graded.detectable <= 1.0


@quiet
def test_a_pair_and_the_same_pair_among_all_have_one_answer():
    """Gaps take a path of their own, which gives the numbers of tables without the gaps."""
    rows = table(n=80, n_epochs=3).to_polars()
    for part in (rows, rows[5:]):
        for cluster in (None, "topic"):
            scores = ScoreTable(part, units="items", cluster=cluster)
            for one in compare(scores):
                (alone,) = compare(scores, one.a, one.b)
                for name in ("value", "low", "high", "p_value", "detectable"):
                    assert getattr(alone, name) == pytest.approx(getattr(one, name)), name


def test_few_clusters_and_one_that_rules_are_named():
    rows, big = table().to_polars(), pl.lit("big")
    small = pl.when(pl.col("topic") < "t2").then(pl.lit("small")).otherwise(big)
    several = pl.when(pl.col("topic") < "t4").then("topic").otherwise(big)
    for part, text in (
        (small, r"2 clusters \(part\); intervals were valid"),
        (several, r"one cluster \(part\) has 5\d % of the"),
    ):
        scores = ScoreTable(rows.with_columns(part=part), units="items", cluster="part")
        with pytest.warns(DegenerateScoresWarning, match=text):
            compare(scores, "a", "b")


def test_estimates_by_groups():
    found = estimate(table(n=400, cluster="topic"), by="topic")
    assert {one.task for one in found} == {None, *(f"t{i}" for i in range(8))}
    assert {one.method for one in found} == {"cluster_wilson", "wilson"}
    assert str(found).count("\n") > 26


def test_a_model_without_scores_is_named_and_keeps_nobody_else_from_an_answer():
    rows = (
        table()
        .to_polars()
        .with_columns(
            pl.when(pl.col("algorithm") == "b").then(math.nan).otherwise("score").alias("score")
        )
    )
    scores = ScoreTable(rows, units="items")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        found, pairs, ranks = estimate(scores), compare(scores), rank(scores)
    assert "mean of b: not estimable, it has no item with a score" in found.warnings
    assert found[1].as_record()["value"] is None
    assert "a and b share no item with a score: not estimable" in pairs.warnings
    assert [math.isnan(one.low) for one in pairs] == [True, False, True]
    assert pairs[1].p_adjusted == pairs[1].p_value
    assert [one.name for one in ranks] == ["a", "c", "b"]
    assert (ranks[2].rank_low, ranks[2].rank_high) == (1, 3)
    with pytest.raises(ScoreDataError, match="a and b share no item with a score"):
        compare(scores, "a", "b", sequential="e")
