from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from gnomon.errors import DegenerateScoresWarning
from gnomon.scores import ScoreTable
from gnomon.stats import compare, compare_all, moderated_variances


def rng(seed=3):
    return np.random.default_rng(seed)


def suite(n_algorithms=4, n_runs=4, n_tasks=5, seed=0):
    draws = rng(seed)
    spread = 0.5 + np.arange(n_algorithms)[:, None, None]
    return spread * draws.normal(size=(n_algorithms, n_runs, n_tasks)) + np.arange(n_tasks)


def table(x):
    return ScoreTable.from_arrays({f"a{i}": one for i, one in enumerate(x)})


def slow_moderated(x):
    """Moderate the variances of (algorithms, runs, tasks) by plain loops over the formulas."""
    n_algorithms, n_runs, n_tasks = x.shape
    own = [
        [np.var(x[a, :, t].tolist(), ddof=1) for t in range(n_tasks)] for a in range(n_algorithms)
    ]
    common = [sum(own[a][t] for a in range(n_algorithms)) / n_algorithms for t in range(n_tasks)]
    found = []
    for a in range(n_algorithms):
        ratios = [own[a][t] / common[t] for t in range(n_tasks) if common[t] > 0]
        factor = sum(ratios) / len(ratios)
        d = n_runs - 1
        found.append([(2 * factor * common[t] + d * own[a][t]) / (2 + d) for t in range(n_tasks)])
    return np.array(found)


def slow_pair(x, a, b, level):
    """Return interval, p-value, standard error and degrees of freedom of a difference of means."""
    n_runs, n_tasks = x.shape[1:]
    moderated = slow_moderated(x)
    terms = [moderated[i][t] / n_runs / n_tasks**2 for i in (a, b) for t in range(n_tasks)]
    variance = sum(terms)
    df = max(n_runs - 1, variance**2 / sum(term**2 / (n_runs - 1) for term in terms))
    difference = float(np.mean(x[a]) - np.mean(x[b]))
    half = stats.t.ppf((1 + level) / 2, df) * variance**0.5
    p = 2 * stats.t.sf(abs(difference) / variance**0.5, df)
    return difference, difference - half, difference + half, p, variance**0.5, df


@pytest.mark.parametrize("n_runs", [2, 3, 7])
def test_all_pairs_are_those_of_a_slow_loop(n_runs):
    x = suite(n_runs=n_runs)
    found = compare_all(table(x), "mean", level=0.9)
    pairs = list(combinations(range(4), 2))
    slow = [slow_pair(x, a, b, 0.9) for a, b in pairs]
    order = sorted(range(6), key=lambda i: slow[i][3])
    adjusted, largest = {}, 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (6 - place) * slow[i][3]))
        adjusted[i] = largest
    for i, one in enumerate(found):
        assert (one.value, one.low, one.high, one.p_value) == pytest.approx(slow[i][:4])
        assert one.p_adjusted == pytest.approx(adjusted[i])
        assert one.method == "moderated_t"


def test_moderation_by_hand():
    own = np.array([[1.0, 0.0, 5.0, 2.0], [3.0, 0.0, 9.0, 2.0], [2.0, 0.0, 9.0, 9.0]])
    dfs = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]])
    found = moderated_variances(own, dfs)
    assert found[:, 1].tolist() == [0.0, 0.0, 0.0]  # nobody varies
    assert found[0, 2:].tolist() == [5.0, 2.0]  # nobody else is known
    # The first varies by the factors 1/2, 1 and 1 of the common variances 2, 5 and 2.
    assert found[0, 0] == pytest.approx((2 * (2.5 / 3) * 2 + 1) / 3)
    assert found[1, 2] == pytest.approx(1.5 * 5.0)  # all of it from the prior
    nobody = moderated_variances(np.ones((2, 1)), np.zeros((2, 1)))
    assert np.isnan(nobody).all()
    assert moderated_variances(np.ones((1, 3)), np.ones((1, 3))).tolist() == [[1.0, 1.0, 1.0]]


def test_two_algorithms_alone_are_compared_as_by_compare():
    x = table(suite(n_algorithms=2))
    assert compare_all(x, ["mean", "iqm"]) == compare(x, "a0", "a1", ["mean", "iqm"])


def test_comparisons_are_equivariant():
    x = suite()
    (first, *_), (moved, *_) = (compare_all(table(z), ["iqm"]) for z in (x, 3.0 * x + 7.0))
    scaled = [3.0 * end for end in (first.value, first.low, first.high)]
    assert (moved.value, moved.low, moved.high) == pytest.approx(scaled)
    assert moved.p_adjusted == pytest.approx(first.p_adjusted)
    turned = compare_all(table(x[::-1]), ["iqm"])[-1]
    assert (-turned.high, -turned.low) == pytest.approx((first.low, first.high))


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_ragged_and_incomplete_tables():
    x = suite()
    x[0, 2:, 1] = np.nan
    x[1, 1:, 2] = np.nan  # one run: its variance is that of the others
    x[3, :, 4] = np.nan
    found = compare_all(table(x), ["mean", "iqm", "median"])
    assert {one.method for one in found} == {"moderated_t", "profile_likelihood"}
    assert all(one.low < one.value < one.high for one in found)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_doubtful_tables_are_named():
    said = compare_all(table(suite(n_algorithms=7, n_runs=2)), "mean").warnings
    assert said[0].startswith("mean: 2 runs of 7 algorithms: the tails of Student's t")
    x = suite(n_algorithms=3)
    x[:, :, 3] *= 40
    *_, said = compare_all(table(x), "mean").warnings
    assert said.startswith("mean: in 3 of 3 pairs more than half of the variance is that of one")
    assert "task, task_3; their intervals may be too short" in said


def two_humps(draws, shape):
    """Return runs of which two fifths land on the lower of two humps on every third task."""
    n_tasks = shape[-1]
    low = draws.random(shape) < 0.4
    humps = np.where(low, -1.2, 0.8) * (np.arange(n_tasks) % 3 == 0)
    return humps + 0.2 * draws.normal(size=shape) + np.arange(n_tasks) / 4


NULLS = {
    "two humps": lambda draws, n_runs: two_humps(draws, (5, n_runs, 9)),
    "t2.5": lambda draws, n_runs: (
        np.array([0.4, 0.7, 1.0, 1.6, 2.4])[:, None, None]
        * draws.standard_t(2.5, size=(5, n_runs, 9))
    ),
}


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.full
@pytest.mark.parametrize("population", NULLS)
@pytest.mark.parametrize(("metric", "most"), [("mean", 0.065), ("iqm", 0.085)])
def test_familywise_error_of_all_pairs(population, metric, most):
    """A binomial test: tables without a difference, in which any pair is found."""
    n, draws = 300, rng(11)
    for n_runs in (3, 5):
        false = sum(
            any(
                one.p_adjusted <= 0.05
                for one in compare_all(table(NULLS[population](draws, n_runs)), metric)
            )
            for _ in range(n)
        )
        assert stats.binomtest(false, n, most, "greater").pvalue > 0.01, (n_runs, false)


def test_what_is_claimed_and_what_is_corrected_together_is_said():
    scores = table(rng().normal(size=(4, 5, 12)))
    found = compare_all(scores, ["mean", "iqm"])
    assert found.notes == (
        "mean, iqm: by how much a is better, in units of the score; a few tasks may decide it.",
        "gnomon rank counts wins against everybody and may separate other pairs: gnomon audit "
        "names them.",
        "p_adjusted: Holm's correction over 6 pairs, for each of 2 metrics by itself.",
    )
    # Of each metric by itself: asked alone it says the same.
    assert found.where(metric="iqm") == compare_all(scores, "iqm").records
    better = "probability_of_improvement"
    assert compare_all(scores, better).notes[0] == (
        f"{better}: how often a run of a beats one of b on the same task; by how much does not "
        "count."
    )


def test_formulas_are_taken_where_resamples_could_separate_none_of_so_many_pairs():
    draws = rng()
    far = table(draws.normal(size=(12, 20, 2)) + 9.0 * np.arange(12)[:, None, None])
    found = compare_all(far, "mean", n_resamples=200)
    assert {one.n_resamples for one in found} == {0}
    assert all(one.p_adjusted < 0.05 for one in found)
    few = compare_all(far.select(algorithms=["a0", "a1"]), "mean", n_resamples=200)
    assert few[0].n_resamples == 200
    with pytest.warns(DegenerateScoresWarning, match="give no p-value below 0.01, which corrected"):
        asked = compare_all(far, "mean", method="percentile", n_resamples=200)
    assert all(one.p_adjusted > 0.05 for one in asked)
    assert asked.warnings[-1].endswith(
        "over 66 pairs is above 0.05: none can be separated; take 2,640 resamples (--resamples) or "
        "more"
    )


def test_one_censored_algorithm_leaves_the_others_compared():
    x = suite(3)
    rows = [
        {"algorithm": f"a{i}", "task": t, "run": r, "score": s, "censored": bool(np.isinf(s))}
        for i, runs in enumerate(np.where(np.arange(3)[:, None, None] == 2, np.inf, x))
        for r, one in enumerate(runs)
        for t, s in enumerate(one.tolist())
    ]
    scores = ScoreTable.from_records(rows, higher_is_better=False)
    with pytest.warns(DegenerateScoresWarning, match="censored"):
        found = compare_all(scores, "mean")
    assert [np.isnan(one.p_value) for one in found] == [False, True, True]
