import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from gnomon.scores import ScoreTable
from gnomon.stats import Resamples, Strata, compare, placements, probability_of_improvement
from gnomon.stats.comparisons.improvement import (
    Improvement,
    newcombe_interval,
    resampled_improvement,
)

scores = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=5)
suites = st.integers(1, 4).flatmap(
    lambda n: st.tuples(*[st.lists(scores, min_size=n, max_size=n)] * 2)
)


def by_pairs(x, y):
    tasks = zip(x, y, strict=True)
    return np.mean([np.mean([(a > b) + (a == b) / 2 for a in p for b in q]) for p, q in tasks])


@given(suites)
def test_pairs_are_counted(both):
    x, y = (Strata.from_runs(runs) for runs in both)
    assert probability_of_improvement(x, y) == pytest.approx(by_pairs(*both))
    assert probability_of_improvement(y, x) == pytest.approx(1 - by_pairs(*both))
    lower = probability_of_improvement(x, y, higher_is_better=False)
    assert lower == pytest.approx(1 - by_pairs(*both))


@settings(max_examples=40, deadline=None)
@given(suites, st.booleans())
def test_resamples_are_those_of_the_bootstrap(both, higher):
    x, y = (Strata.from_runs(runs) for runs in both)
    keys = (np.uint64(5), np.uint64(6))
    found = resampled_improvement(x, y, n_resamples=4, keys=keys, higher_is_better=higher)
    drawn = [
        [one.per_task() for one in Resamples(s, n_resamples=4, key=key).drawn()]
        for s, key in zip((x, y), keys, strict=True)
    ]
    expected = [by_pairs(p, q) for p, q in zip(*drawn, strict=True)]
    np.testing.assert_allclose(found if higher else 1 - found, expected)


def test_the_error_is_that_of_brunner_and_munzel():
    """One task: their statistic is (P - 1/2) over the error of the placements."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=12), rng.normal(1.0, size=9)
    found = placements(x, y)
    expected = stats.brunnermunzel(x, y)
    t = (found.value - 0.5) / np.sqrt(found.error().variance)
    assert abs(t) == pytest.approx(abs(expected.statistic))
    assert found.error().p_value(found.value - 0.5) == pytest.approx(expected.pvalue, rel=1e-6)


def test_different_tasks_are_refused():
    with pytest.raises(ValueError, match="expected the same tasks, found 1 and 2"):
        probability_of_improvement([[1.0]], [[1.0, 2.0]])


def inside(theta, value, m, n, z=1.959963984540054):
    """Whether a probability is within z of its own standard errors: Newcombe's method 5."""
    size = (m + n) / 2
    q1, q2 = theta / (2 - theta), 2 * theta**2 / (1 + theta)
    variance = theta * (1 - theta) + (size - 1) * (q1 - theta**2 + q2 - theta**2)
    return abs(value - theta) <= z * np.sqrt(max(variance, 0.0) / (m * n))


@given(st.integers(1, 20), st.integers(1, 20), st.floats(0, 1))
def test_newcombes_interval_by_a_grid(m, n, value):
    """In the form of Hanley and McNeil (1982), for every probability in turn."""
    low, high = newcombe_interval(value, m, n, 0.95)
    assert 0 <= low <= value <= high <= 1
    assert newcombe_interval(1 - value, n, m, 0.95) == pytest.approx((1 - high, 1 - low))
    for theta in np.linspace(0.001, 0.999, 101):
        if min(abs(theta - low), abs(theta - high)) > 1e-6:
            assert inside(theta, value, m, n) == (low < theta < high)


def improvement_interval(a, b, level, **options):
    found = Improvement.of(a, b, **options)
    return found.interval(level), found.p_value


def task(*runs):
    return [Strata.from_runs([one]) for one in runs]


@pytest.mark.parametrize("n", [3, 4, 5, 10, 20])
def test_one_task_won_outright_has_interval_and_test(n):
    interval, p = improvement_interval(*task(np.arange(n) + 100.0, np.arange(n) + 0.0), 0.95)
    assert p == pytest.approx(2 / special.comb(2 * n, n))
    assert (interval.low <= 0.5) == (p > 0.05)
    assert interval.high == 1.0
    assert interval.method == "newcombe"


@given(scores, scores)
def test_an_interval_without_one_half_has_a_test_that_agrees(x, y):
    for level in (0.8, 0.95):
        interval, p = improvement_interval(*task(x, y), level)
        assert interval.low <= by_pairs([x], [y]) + 1e-12
        assert by_pairs([x], [y]) <= interval.high + 1e-12
        if p > 1 - level:
            assert interval.low <= 0.5 <= interval.high
        mirrored, same = improvement_interval(*task(y, x), level)
        assert (mirrored.low, mirrored.high) == pytest.approx((1 - interval.high, 1 - interval.low))
        assert same == pytest.approx(p)
        lower, _ = improvement_interval(*task(y, x), level, higher_is_better=False)
        assert (lower.low, lower.high) == pytest.approx((interval.low, interval.high))


def test_equal_runs_are_even():
    interval, p = improvement_interval(*task([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]), 0.95)
    assert p == 1.0
    assert interval.low + interval.high == pytest.approx(1.0)
    assert interval.high - interval.low > 0.5


def test_over_tasks_it_is_the_placements_unless_most_are_won():
    rng = np.random.default_rng(0)
    x, y = (Strata.from_matrix(rng.normal(size=(5, 8))) for _ in range(2))
    found, (interval, p) = placements(x, y), improvement_interval(x, y, 0.95)
    half = found.error().half_width(0.95)
    assert (interval.low, interval.high) == pytest.approx((found.value - half, found.value + half))
    assert p == pytest.approx(found.error().p_value(found.value - 0.5))

    won = Strata.from_matrix(rng.normal(size=(3, 8)) + 50.0)
    interval, p = improvement_interval(won, Strata.from_matrix(rng.normal(size=(4, 8))), 0.95)
    theta, k, z = (12 + 0.5) / 13, 2.5, stats.norm.ppf(0.975)
    q = 1 - theta
    v = theta * q / 12 * (1 + k * q / (1 + q) + k * theta / (1 + theta))
    assert interval.high == 1.0
    assert interval.low == pytest.approx(1 - z * np.sqrt(v / 8))
    rank_sums = 8 * (3 + 4 + 1) / (12 * 12) / 64
    assert p == pytest.approx(2 * stats.norm.sf((0.5 - 0.5 / 96) / np.sqrt(rank_sums)))
    assert interval.method == "delta_t"


def test_tasks_won_outright_claim_no_more_than_the_exact_test():
    """All runs of one beat all of the other: 2 over the number of ways to deal them out."""
    for n_tasks in (2, 3, 6):
        for m, n in ((2, 2), (2, 5), (3, 3), (5, 5), (10, 4)):
            x = Strata.from_matrix(100.0 + np.arange(m * n_tasks).reshape(m, n_tasks))
            y = Strata.from_matrix(np.arange(n * n_tasks).reshape(n, n_tasks))
            interval, p = improvement_interval(x, y, 0.95)
            assert 0.98 * 2 / special.comb(m + n, m) ** n_tasks <= p, (n_tasks, m, n)
            assert (interval.low > 0.5) == (p <= 0.05), (n_tasks, m, n)


@given(suites)
def test_interval_and_test_over_tasks_agree(both):
    x, y = (Strata.from_runs(runs) for runs in both)
    interval, p = improvement_interval(x, y, 0.95)
    assert 0.0 <= interval.low <= interval.high <= 1.0
    if x.n_tasks > 1:
        assert (p <= 0.05) == (interval.low > 0.5 or interval.high < 0.5)
        order = np.random.default_rng(0).permutation(x.n_tasks)
        mixed = [Strata.from_runs([runs[t][::-1] for t in order]) for runs in both]
        again, same = improvement_interval(*mixed, 0.95)
        assert (again.low, again.high, same) == pytest.approx((interval.low, interval.high, p))


def test_a_task_of_a_comparison():
    table = ScoreTable.from_arrays({"a": [[5.0], [6.0], [7.0], [8.0]], "b": [[1.0], [2.0], [3.0]]})
    (one,) = compare(table, "a", "b", ["probability_of_improvement"])
    assert (one.value, one.high, one.method, one.n_resamples) == (1.0, 1.0, "newcombe", 0)
    assert one.p_value == pytest.approx(2 / 35)
    assert one.low == 0.5
    many = {"a": 9.0 + np.arange(30.0)[:, None], "b": np.arange(30.0)[:, None] - 30.0}
    (one,) = compare(ScoreTable.from_arrays(many), "a", "b", ["probability_of_improvement"])
    assert (one.method, one.high) == ("newcombe", 1.0)
    assert one.low > 0.9
    (paired,) = compare(
        ScoreTable.from_arrays({"a": [[1.0], [3.0], [2.0]], "b": [[2.0], [1.0], [2.5]]}),
        "a", "b", ["probability_of_improvement"], paired=True,
    )  # fmt: skip
    assert paired.method == "delta_t"


@pytest.mark.full
@pytest.mark.parametrize("n_runs", [3, 5, 10])
@pytest.mark.parametrize("shift", [0.0, 0.8, 2.5])
def test_coverage_of_one_task(n_runs, shift):
    """At least 90 %, normal and skewed; the test keeps its level."""
    rng, n_tables = np.random.default_rng(n_runs), 600
    for draw in (rng.normal, rng.exponential):
        big = np.sort(draw(size=20_000))
        truth = np.searchsorted(big, draw(size=20_000) + shift, "left").mean() / big.size
        held = rejected = 0
        for _ in range(n_tables):
            x, y = draw(size=n_runs) + shift, draw(size=n_runs)
            interval, p = improvement_interval(*task(x, y), 0.95)
            held += interval.low <= truth <= interval.high
            rejected += p <= 0.05
        assert stats.binomtest(held, n_tables, 0.9, "less").pvalue > 0.01
        if shift == 0.0:
            assert stats.binomtest(rejected, n_tables, 0.05, "greater").pvalue > 0.01


@pytest.mark.full
@pytest.mark.parametrize("n_runs", [3, 5, 10])
@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0, 9.0])
def test_coverage_over_tasks(n_runs, shift):
    """At least 91 %, from even to all won."""
    rng, n_tables, held = np.random.default_rng(n_runs), 400, 0
    spreads = np.linspace(0.5, 2.0, 12)
    truth = np.mean(stats.norm.cdf(shift / spreads / np.sqrt(2.0)))
    for _ in range(n_tables):
        x, y = (spreads * rng.normal(size=(n_runs, 12)) for _ in range(2))
        pair = Strata.from_matrix(x + shift), Strata.from_matrix(y)
        interval, _ = improvement_interval(*pair, 0.95)
        held += interval.low <= truth <= interval.high
    assert stats.binomtest(held, n_tables, 0.92, "less").pvalue > 0.01
