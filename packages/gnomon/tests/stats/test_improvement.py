"""P(X > Y): pairs counted, SciPy's tests, Newcombe's interval by a grid, coverage."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from gnomon.errors import DegenerateScoresWarning
from gnomon.ranking import rank
from gnomon.scores import ScoreTable
from gnomon.stats import compare
from score_tables import quietly

scores = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=5)
several = st.lists(st.integers(0, 4).map(float), min_size=2, max_size=5)
suites = st.integers(1, 4).flatmap(
    lambda n: st.tuples(*[st.lists(scores, min_size=n, max_size=n)] * 2)
)


def by_pairs(x, y):
    tasks = zip(x, y, strict=True)
    return np.mean([np.mean([(a > b) + (a == b) / 2 for a in p for b in q]) for p, q in tasks])


def compared(x, y, level=0.95, *, higher_is_better=True, **options):
    """From the runs of two algorithms on each task, which are others on other tasks."""
    rows = [
        (name, f"task_{t}", f"{t} {run}", float(score))
        for name, tasks in (("x", x), ("y", y))
        for t, runs in enumerate(tasks)
        for run, score in enumerate(runs)
    ]
    columns = zip(("algorithm", "task", "run", "score"), zip(*rows, strict=True), strict=True)
    table = ScoreTable(dict(columns), higher_is_better=higher_is_better)
    metric = "probability_of_improvement"
    return quietly(compare, table, "x", "y", metric, level=level, **options)[0]


@given(suites)
@settings(max_examples=50, deadline=None)
def test_pairs_are_counted(both):
    x, y = both
    assert compared(x, y).value == pytest.approx(by_pairs(x, y))
    assert compared(y, x).value == pytest.approx(1 - by_pairs(x, y))
    assert compared(x, y, higher_is_better=False).value == pytest.approx(1 - by_pairs(x, y))


def test_many_runs_are_counted_as_few_are():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, (2, 130)).astype(float)
    assert compared([x], [y]).value == pytest.approx(by_pairs([x], [y]))


@pytest.mark.parametrize("paired", [False, True])
def test_resamples_have_the_spread_of_the_placements(paired):
    """The error of the bootstrap is DeLong's, (R - 1)/R of its variance."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.5, 1, (1, 40)), rng.normal(size=(1, 40))
    y = x - 0.5 + 0.3 * y if paired else y
    found = compared(x, y, 0.6827, method="percentile", paired=paired, n_resamples=20_000)
    won = np.array([[(a > y[0]).mean(), (a < x[0]).mean()] for a in x[0]])
    lost = np.array([(x[0] > b).mean() for b in y[0]])
    parts = (won[:, 0] + lost).var() if paired else won[:, 0].var() + lost.var()
    assert (found.high - found.low) / 2 == pytest.approx(np.sqrt(parts / 40), rel=0.06)


def test_the_error_over_tasks_is_that_of_brunner_and_munzel():
    """Their statistic on one task is (P - 1/2) over the error; two tasks with the same runs."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=12), rng.normal(0.4, size=9)
    expected, found = stats.brunnermunzel(x, y), compared([x, x], [y, y])
    error = abs((found.value - 0.5) / expected.statistic)
    parts = np.array([np.array([(a > y).mean() for a in x]).var(ddof=1) / 12,
                      np.array([(x > b).mean() for b in y]).var(ddof=1) / 9])  # fmt: skip
    df = 2 * parts.sum() ** 2 / (parts**2 / [11, 8]).sum()
    half = stats.t.ppf(0.975, df) * error / np.sqrt(2)
    assert found.high - found.value == pytest.approx(half)


@pytest.mark.full
def test_runs_that_share_an_effect_over_tasks_separate_no_equal_algorithms():
    """Taken for independent tasks, two in five pairs of equals were separated."""
    separated, rng = 0, np.random.default_rng(0)
    for _ in range(100):
        arrays = {
            name: np.exp(rng.normal(size=(5, 27)) + 0.65 * rng.normal(size=(5, 1))) for name in "ab"
        }
        (one,) = quietly(compare, arrays, metrics="probability_of_improvement")
        separated += one.p_value <= 0.05
    assert separated <= 11  # 5 % and three standard errors


def test_a_pair_with_shared_effects_has_one_interval_alone_and_among_others():
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=(5, 27)) + rng.normal(size=(5, 1)) for name in "abc"}
    with pytest.warns(DegenerateScoresWarning, match="vary together over tasks"):
        found = compare(arrays)
    with pytest.warns(DegenerateScoresWarning, match="vary together over tasks"):
        (alone,) = compare(arrays, "a", "b", "probability_of_improvement")
    first = found[0]
    assert (first.low, first.high, first.p_value) == (alone.low, alone.high, alone.p_value)


def inside(theta, value, m, n, z=1.959963984540054):
    """Whether a probability is within z of its own standard errors: Newcombe's method 5."""
    size = (m + n) / 2
    q1, q2 = theta / (2 - theta), 2 * theta**2 / (1 + theta)
    variance = theta * (1 - theta) + (size - 1) * (q1 - theta**2 + q2 - theta**2)
    return abs(value - theta) <= z * np.sqrt(max(variance, 0.0) / (m * n))


@given(several, several)
def test_the_interval_of_one_task_is_newcombes(x, y):
    """In the form of Hanley and McNeil (1982), for every probability in turn."""
    found, value = compared([x], [y]), by_pairs([x], [y])
    assert 0 <= found.low <= value + 1e-12
    assert value - 1e-12 <= found.high <= 1
    for theta in np.linspace(0.001, 0.999, 101):
        if min(abs(theta - found.low), abs(theta - found.high)) > 1e-6:
            outside = theta < found.low or theta > found.high
            # One half is inside where the exact test does not separate the two.
            assert outside == (not inside(theta, value, len(x), len(y))) or (
                found.p_value > 0.05 and 0.5 in (found.low, found.high)
            )


@pytest.mark.parametrize("n", [3, 4, 5, 10, 20])
def test_one_task_won_outright_has_interval_and_test(n):
    found = compared([np.arange(n) + 100.0], [np.arange(n) + 0.0])
    assert found.p_value == pytest.approx(2 / special.comb(2 * n, n))
    assert (found.low <= 0.5) == (found.p_value > 0.05)
    assert (found.high, found.method) == (1.0, "newcombe")


@given(
    st.integers(1, 3).flatmap(lambda n: st.tuples(*[st.lists(several, min_size=n, max_size=n)] * 2))
)
@settings(max_examples=40, deadline=None)
def test_interval_and_test_agree_and_are_mirrored(both):
    for level in (0.8, 0.95):
        one, mirrored = compared(*both, level), compared(*both[::-1], level)
        assert one.low <= one.value <= one.high
        if one.p_value > 1 - level:
            assert one.low <= 0.5 <= one.high
        elif len(both[0]) > 1:
            assert one.low > 0.5 or one.high < 0.5
        assert (mirrored.low, mirrored.high) == pytest.approx((1 - one.high, 1 - one.low))
        assert mirrored.p_value == pytest.approx(one.p_value)
        lower = compared(*both[::-1], level, higher_is_better=False)
        assert (lower.low, lower.high) == pytest.approx((one.low, one.high))
        order = np.random.default_rng(0).permutation(len(both[0]))
        mixed = compared(*([runs[t][::-1] for t in order] for runs in both), level)
        assert (mixed.low, mixed.high) == pytest.approx((one.low, one.high))
        assert mixed.p_value == pytest.approx(one.p_value)


def test_equal_runs_are_even():
    found = compared([[1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0]])
    assert found.p_value == 1.0
    assert found.low + found.high == pytest.approx(1.0)
    assert found.high - found.low > 0.5


def test_tasks_won_outright_claim_no_more_than_the_exact_test():
    """All runs of one beat all of the other: 2 over the number of ways to deal them out."""
    for n_tasks in (2, 3, 6):
        for m, n in ((2, 2), (2, 5), (3, 3), (5, 5), (10, 4)):
            x, y = 100.0 + np.arange(m), np.arange(n) + 0.0
            found = compared([x] * n_tasks, [y] * n_tasks)
            assert 0.98 * 2 / special.comb(m + n, m) ** n_tasks <= found.p_value, (n_tasks, m, n)
            assert (found.low > 0.5) == (found.p_value <= 0.05), (n_tasks, m, n)
            assert found.high == 1.0


def newcombes_over_tasks(value, m, n, n_tasks):
    """The lower end for tasks that are all alike, by a fine grid."""
    grid = np.linspace(0.0, 1.0, 100_001)
    q = grid * (1 - grid)
    variance = q * (1 + ((m + n) / 2 - 1) * (1 + 2 * q) / (2 + q)) / (m * n * n_tasks)
    return grid[(value - grid) ** 2 <= special.ndtri(0.975) ** 2 * variance].min()


@pytest.mark.parametrize(("n_runs", "n_tasks"), [(3, 2), (4, 3), (5, 8)])
def test_tasks_won_outright_have_newcombes_interval_of_all_tasks(n_runs, n_tasks):
    """Its width shrinks with the tasks as the error of their mean does, and not faster."""
    won, lost = np.arange(n_runs) + 100.0, np.arange(n_runs) + 0.0
    found = compared([won] * n_tasks, [lost] * n_tasks)
    expected = newcombes_over_tasks(1.0, n_runs, n_runs, n_tasks)
    assert found.low == pytest.approx(expected, abs=2e-5)


def test_single_runs_are_a_sign_test():
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.3, 1, (30, 1)).round(1), rng.normal(size=(30, 1)).round(1)
    won, lost = (x > y).sum(), (x < y).sum()
    found = compared(x, y)
    assert found.p_value == pytest.approx(stats.binomtest(won, won + lost).pvalue)
    assert found.method == "sign_flips"


def test_single_runs_beside_several_are_compared_over_tasks():
    easy = np.arange(8.0)
    single = {"a": [easy + 9.0], "b": [easy]}
    alone = quietly(compare, ScoreTable.from_arrays(single))[0]
    several = np.random.default_rng(0).normal(size=(5, 8))
    table = ScoreTable.from_arrays({**single, "c": several})
    found = quietly(compare, table)
    assert found.warnings[-1].endswith("from one run per task of a, b and several of others")
    assert found[0] == alone
    assert found[0].method == "sign_flips"
    assert found[0].p_value == pytest.approx(2.0**-7)
    assert found.settings["family"] == "Holm's correction over 3 pairs"
    ranking = quietly(rank, table)
    assert ranking.separated[ranking.names.index("a"), ranking.names.index("b")]
    assert ranking.resolvable == pytest.approx(0.5)  # of 8 tasks, all
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forced = compare(ScoreTable.from_arrays(single), resampling="runs")
    assert forced[0] == alone


@pytest.mark.full
@pytest.mark.parametrize("n_runs", [3, 10])
@pytest.mark.parametrize("shift", [0.0, 2.5])
def test_coverage_of_one_task(n_runs, shift):
    """At least 90 %, normal and skewed; the test keeps its level."""
    rng, n_tables = np.random.default_rng(n_runs), 250
    for draw in (rng.normal, rng.exponential):
        big = np.sort(draw(size=20_000))
        truth = np.searchsorted(big, draw(size=20_000) + shift, "left").mean() / big.size
        held = rejected = 0
        for _ in range(n_tables):
            found = compared([draw(size=n_runs) + shift], [draw(size=n_runs)])
            held += found.low <= truth <= found.high
            rejected += found.p_value <= 0.05
        assert stats.binomtest(held, n_tables, 0.9, "less").pvalue > 0.01
        if shift == 0.0:
            assert stats.binomtest(rejected, n_tables, 0.05, "greater").pvalue > 0.01


@pytest.mark.full
@pytest.mark.parametrize(("n_runs", "n_tasks"), [(3, 2), (5, 2), (3, 3)])
@pytest.mark.parametrize("truth", [0.5, 0.9])
def test_coverage_of_two_or_three_tasks(n_runs, n_tasks, truth):
    """At least 93 %, where one algorithm often wins all runs."""
    rng, n_tables, held = np.random.default_rng(n_runs), 300, 0
    shift = special.ndtri(truth) * np.sqrt(2.0)
    for _ in range(n_tables):
        x, y = rng.normal(size=(2, n_tasks, n_runs))
        found = compared(x + shift, y)
        held += found.low <= truth <= found.high
    assert stats.binomtest(held, n_tables, 0.93, "less").pvalue > 0.01


@pytest.mark.full
@pytest.mark.parametrize("n_runs", [3, 10])
@pytest.mark.parametrize("shift", [0.0, 3.0, 9.0])
def test_coverage_over_tasks(n_runs, shift):
    """At least 91 %, from even to all won."""
    rng, n_tables, held = np.random.default_rng(n_runs), 300, 0
    spreads = np.linspace(0.5, 2.0, 12)
    truth = np.mean(stats.norm.cdf(shift / spreads / np.sqrt(2.0)))
    for _ in range(n_tables):
        x, y = (spreads[:, None] * rng.normal(size=(12, n_runs)) for _ in range(2))
        found = compared(x + shift, y)
        held += found.low <= truth <= found.high
    assert stats.binomtest(held, n_tables, 0.92, "less").pvalue > 0.01
