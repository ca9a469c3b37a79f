"""The interval rule: Student's and Welch's intervals, slow loops of its formulas, coverage."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import ScoreTable
from gnomon.stats import METRICS, Metric, compare, estimate


def rng(seed=0):
    return np.random.default_rng(seed)


def table(*arrays, **options):
    return ScoreTable.from_arrays({f"a{i}": x for i, x in enumerate(arrays)}, **options)


def apart(x):
    """Return a table whose run labels differ from task to task."""
    rows = [
        {"algorithm": f"a{i}", "task": f"t{t}", "run": f"{t}-{r}", "score": float(score)}
        for (i, r, t), score in np.ndenumerate(np.asarray(x))
        if np.isfinite(score)
    ]
    return ScoreTable(rows)


def ends(found):
    return found.low, found.high


def slow_variances(x):
    """Moderate the variances of (algorithms, runs, tasks) by plain loops over the formulas."""
    n_algorithms, n_runs, n_tasks = x.shape
    own = [[np.var(x[a, :, t], ddof=1) for t in range(n_tasks)] for a in range(n_algorithms)]
    common = [sum(own[a][t] for a in range(n_algorithms)) / n_algorithms for t in range(n_tasks)]
    found = []
    for a in range(n_algorithms):
        ratio = sum(own[a][t] / common[t] for t in range(n_tasks)) / n_tasks
        d = n_runs - 1
        found.append([(2 * ratio * common[t] + d * own[a][t]) / (2 + d) for t in range(n_tasks)])
    return np.array(found)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("n_runs", [2, 3, 7])
def test_means_are_those_of_a_slow_loop(n_runs):
    x = (0.5 + np.arange(4)[:, None, None]) * rng(3).normal(size=(4, n_runs, 5)) + np.arange(5)
    moderated = slow_variances(x) / n_runs / 25

    def interval(value, terms, level):
        df = max(n_runs - 1, sum(terms) ** 2 / sum(term**2 / (n_runs - 1) for term in terms))
        half = stats.t.ppf((1 + level) / 2, df) * sum(terms) ** 0.5
        p_value = 2 * stats.t.sf(abs(value) / sum(terms) ** 0.5, df)
        return (value, value - half, value + half), p_value

    estimates = estimate(apart(x), "mean", level=0.9)
    for a, found in enumerate(estimates):
        expected, _ = interval(x[a].mean(), moderated[a], 0.9)
        assert (found.value, *ends(found)) == pytest.approx(expected)
    pairs = compare(apart(x), metrics="mean", level=0.9)
    for found, (a, b) in zip(pairs, combinations(range(4), 2), strict=True):
        terms = [*moderated[a], *moderated[b]]
        expected, p_value = interval(x[a].mean() - x[b].mean(), terms, 0.9)
        assert (found.value, *ends(found)) == pytest.approx(expected)
        assert found.p_value == pytest.approx(p_value)


def test_own_variances_do_not_depend_on_the_others():
    x = rng().normal(size=(3, 5, 4)) * [[[1.0]], [[2.0]], [[9.0]]]
    alone = estimate(apart(x[:1]), ["mean", "iqm"])
    among = estimate(apart(x), ["mean", "iqm"], variances="own").where(algorithm="a0")
    assert [ends(one) for one in alone] == [ends(one) for one in among]
    moderated = estimate(apart(x), ["mean", "iqm"]).where(algorithm="a0")
    assert [ends(one) for one in moderated] != [ends(one) for one in among]


def test_a_metric_with_a_formula_has_the_error_of_many_resamples():
    x = rng(4).gamma(1.5, size=(2, 6, 5))
    matrix = Metric.of_matrix("by_resamples", lambda one: float(np.maximum(1 - one, 0).mean()))
    exact, drawn = estimate(apart(x), ["optimality_gap", matrix], n_resamples=20_000)[:2]
    assert drawn.high - drawn.low == pytest.approx(exact.high - exact.low, rel=0.03)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_a_single_run_borrows_its_variance():
    x = np.array([[[0.0, 5.0], [2.0, np.nan]]])
    (found,) = estimate(apart(x), "mean")
    # Variance 2 in both tasks, over 2 runs and over 1, each task weighing a half; one difference
    # shows it.
    half = stats.t.ppf(0.975, 1) * np.sqrt((2 / 2 + 2 / 1) / 4)
    assert found.high - found.value == pytest.approx(half)
    (iqm,) = estimate(apart(np.tile(x, (1, 3, 3))), "iqm")
    assert iqm.low < iqm.value < iqm.high


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("counts", [[1, 1, 1, 1, 5, 5, 5, 5], [1, 1, 1, 1, 1, 1, 1, 2]])
def test_single_pairs_borrow_their_variance(counts):
    """They covered 67 % without a variance, and 75 % of one variable task as if all varied."""
    held = {"mean": 0, "iqm": 0}
    for seed in range(150):
        draws = rng(seed)
        rows = [
            {"algorithm": a, "task": f"t{t}", "run": r, "score": draws.normal(t / 4)}
            for a in "ab"
            for t, n in enumerate(counts)
            for r in range(n)
        ]
        scores = ScoreTable(rows)
        for one in compare(scores, "a", "b", [*held], paired=True, n_resamples=200):
            held[one.metric] += one.low <= 0.0 <= one.high
    for n in held.values():
        assert stats.binomtest(n, 150, 0.95, alternative="less").pvalue > 0.01, held


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("metric", ["mean", "iqm", "median"])
def test_intervals_move_with_the_scores(metric):
    x = rng(1).normal(size=(3, 5, 6))
    first = compare(apart(x), metrics=metric)
    moved = compare(apart(3.0 * x + 7.0), metrics=metric)
    for one, other in zip(first, moved, strict=True):
        assert ends(other) == pytest.approx((3 * one.low, 3 * one.high), rel=1e-6)
        assert other.p_value == pytest.approx(one.p_value)


def test_single_tasks_have_one_kind_of_interval():
    for other in ({"resampling": "runs_and_tasks"}, {"method": "percentile"}):
        with pytest.raises(ScoreDataError, match=r"^per_task=True cannot be combined with"):
            estimate(table(rng().normal(size=(3, 2))), per_task=True, **other)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_intervals_keep_to_what_a_metric_can_be():
    x = np.array([[1.1, 2.5, 0.9], [1.5, 3.0, 4.0]])
    (one,) = estimate(apart(x[None]), "optimality_gap")
    assert 0.0 <= one.low < one.value < one.high


def sharing(draws, n_runs, correlation, n_tasks=27):
    common = np.sqrt(correlation) * draws.normal(size=(n_runs, 1))
    return common + np.sqrt(1 - correlation) * draws.normal(size=(n_runs, n_tasks))


@pytest.mark.parametrize("factor", [1e-150, 1e98])
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_differences_of_shared_effects_move_with_scores_of_any_size(factor):
    x, y = sharing(rng(1), 5, 0.6), sharing(rng(2), 5, 0.6)
    (one,), (other,) = (
        compare(table(x, y), metrics="mean"),
        compare(table(factor * x, factor * y), metrics="mean"),
    )
    assert ends(other) == pytest.approx((factor * one.low, factor * one.high), rel=1e-6, abs=0)


def test_effects_that_runs_share_over_tasks_widen_intervals():
    x = sharing(rng(1), 5, 0.6)
    with pytest.warns(DegenerateScoresWarning, match="a0: runs with the same label vary together"):
        (found,) = estimate(table(x), "mean")
    means = stats.ttest_1samp(x.mean(axis=1), 0).confidence_interval()
    assert ends(found) == pytest.approx(tuple(means))
    (independent,) = estimate(apart(x[None]), "mean")
    assert independent.high - independent.low < (found.high - found.low) / 2
    assert found.low < found.value < found.high


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_a_shared_effect_is_reported_as_found_only_where_all_algorithms_together_show_it():
    """In about 5 % of independent tables; the test at 20 % of each alone would in half of them."""
    draws, found, allowed = rng(3), 0, 0
    for _ in range(300):
        result = estimate(table(*draws.normal(size=(3, 5, 6))), "mean")
        said = " ".join((*result.notes, *result.warnings))
        found += "label vary together" in said
        allowed += "label may vary together" in said
    assert found <= 300 * 0.05 + 2 * np.sqrt(300 * 0.05 * 0.95)
    assert allowed > found
    x = [sharing(draws, 5, 0.3) for _ in range(3)]
    with pytest.warns(DegenerateScoresWarning, match="vary together"):
        one = compare(table(*x), "a0", "a1", "mean")
    assert "vary together over tasks (all algorithms together, p " in one.notes[-1]


def test_labels_in_another_order_are_the_same_runs():
    x = sharing(rng(1), 5, 0.6, 6)
    rows = [
        {"algorithm": "a0", "task": f"t{t}", "run": (r + t) % 5, "score": x[(r + t) % 5, t]}
        for t in range(6)
        for r in range(5)
    ]
    with pytest.warns(DegenerateScoresWarning, match="vary together"):
        (shuffled,) = estimate(ScoreTable(rows), "mean")
    with pytest.warns(DegenerateScoresWarning, match="vary together"):
        (plain,) = estimate(table(x), "mean")
    assert ends(shuffled) == pytest.approx(ends(plain))


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("metric", ["mean", "iqm"])
def test_effects_of_few_runs_are_moderated_over_the_table(metric):
    """Five algorithms together show the factor; alone, two runs have one degree of freedom."""
    draws = rng(2)
    x = [sharing(draws, 2, 0.5) for _ in range(5)]
    among = estimate(table(*x), metric)
    alone = [estimate(table(one), metric)[0] for one in x]
    assert np.mean([one.high - one.low for one in among]) < np.mean(
        [one.high - one.low for one in alone]
    )
    independent = estimate(apart(x), metric)
    for one, other in zip(among, independent, strict=True):
        assert one.high - one.low > 1.5 * (other.high - other.low)
    own = estimate(table(*x), metric, variances="own")
    assert [ends(one) for one in own] == [ends(one) for one in alone]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize(
    ("n_runs", "correlation", "n_algorithms"), [(5, 0.0, 1), (5, 0.3, 1), (2, 0.3, 4), (3, 0.3, 4)]
)
def test_coverage_where_runs_share_an_effect(n_runs, correlation, n_algorithms):
    """A binomial test; intervals that take tasks for independent cover 65 % at 0.3."""
    draws, n, held = rng(5), 150, 0
    for _ in range(n):
        x = [sharing(draws, n_runs, correlation) for _ in range(n_algorithms)]
        one, *_ = estimate(table(*x), "mean")
        held += one.low <= 0.0 <= one.high
    assert stats.binomtest(held, n, 0.94, "less").pvalue > 0.01, held / n


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("name", METRICS)
def test_coverage_with_few_runs(name):
    """At least nominal minus noise on normal scores; the percentile interval covers 70-89 %."""
    draws, n, held = rng(11), 150, 0
    true = estimate(table(draws.normal(size=(20_000, 9)) + np.arange(9) / 3), name, n_resamples=25)
    for _ in range(n):
        x = draws.normal(size=(4, 3, 9)) + np.arange(9) / 3
        one = estimate(table(*x), [name], rng=draws, n_resamples=400)[0]
        held += one.low <= true[0].value <= one.high
    assert stats.binomtest(held, n, 0.95, alternative="less").pvalue > 0.01, held / n
