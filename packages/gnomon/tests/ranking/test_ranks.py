"""Ranks: the same test as compare, coverage by simulation, invariances, degenerate tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.ranking import rank
from gnomon.scores import ScoreTable
from gnomon.stats import compare
from score_tables import censored, quietly, votes_of


def table_of(samples, **options):
    """From samples[task][algorithm], lists of scores."""
    rows = [
        {"algorithm": f"learner-{i}", "task": f"task-{t}", "run": r, "score": float(x)}
        for t, row in enumerate(samples)
        for i, runs in enumerate(row)
        for r, x in enumerate(runs)
    ]
    return ScoreTable(rows, **options)


@st.composite
def samples(draw, missing=True):
    """Runs with ties, of unequal numbers; all pairs share a task unless some are missing."""
    n, n_tasks = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    most, spread = draw(st.sampled_from([1, 2, 6])), draw(st.sampled_from([3, 1000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    means = rng.normal(0, spread / 4, n)
    rows = [
        [np.round(rng.normal(m, spread / 5, rng.integers(1, most + 1))) for m in means]
        for _ in range(n_tasks)
    ]
    if missing and n_tasks > 2:
        rows[0][0] = np.empty(0)
    return rows


@given(samples(), st.booleans(), st.sampled_from([None, "runs", "runs_and_tasks"]))
@settings(max_examples=150, deadline=None)
def test_rank_separates_a_pair_if_and_only_if_compare_does(rows, higher, resampling):
    table = table_of(rows, higher_is_better=higher)
    ranking = quietly(rank, table, resampling=resampling)
    place = {name: i for i, name in enumerate(ranking.names)}
    for one in quietly(compare, table, resampling=resampling):
        i, j = place[one.a], place[one.b]
        assert ranking.separated[i, j] == ranking.separated[j, i] == (one.p_adjusted <= 0.05)
        assert ranking.p_adjusted[i, j] == pytest.approx(one.p_adjusted, nan_ok=True)
        assert ranking.probability[i, j] == pytest.approx(one.value)


def test_tasks_as_a_sample_are_wider():
    rng = np.random.default_rng(0)
    table = table_of([[rng.normal(m, 1, 20) for m in (0, 0.5)] for _ in range(4)])
    fixed, drawn = rank(table), rank(table, resampling="runs_and_tasks")
    assert fixed.separated[0, 1]
    assert not drawn.separated[0, 1]  # four tasks have no p below 2 / 16
    with pytest.raises(ScoreDataError, match=r"^resampling applies to comparisons"):
        compare(table, metrics="mean", resampling="runs_and_tasks")


def simulated(rng, means, n_tasks, n_runs):
    """Learners with these means on tasks of different scale and skewness."""
    return table_of(
        [
            [
                np.exp(rng.normal(m, 1, n_runs)) if t % 2 else 100 * rng.normal(m, 1, n_runs)
                for m in means
            ]
            for t in range(n_tasks)
        ]
    )


def covered(ranking, means):
    """Whether the intervals include every rank that equal means allow."""
    true = np.array(means)[[int(name[8:]) for name in ranking.names]]
    best = 1 + (true[None, :] > true[:, None]).sum(axis=1)
    worst = len(true) - (true[None, :] < true[:, None]).sum(axis=1)
    low, high = (
        np.array([getattr(one, end) for one in ranking]) for end in ("rank_low", "rank_high")
    )
    return bool(((low <= best) & (worst <= high)).all())


@pytest.mark.full
@pytest.mark.parametrize(
    ("n", "n_tasks", "n_runs"), [(6, 10, 5), (6, 26, 2), (10, 1, 10), (8, 20, 1), (4, 3, 3)]
)
def test_equal_learners_are_one_tier(n, n_tasks, n_runs):
    rng = np.random.default_rng(8)
    tables = 100
    one = sum(
        len(quietly(rank, simulated(rng, [0.0] * n, n_tasks, n_runs)).tiers) == 1
        for _ in range(tables)
    )
    assert stats.binomtest(one, tables, 0.95, "less").pvalue > 0.01


@pytest.mark.full
@pytest.mark.parametrize(("n_tasks", "n_runs"), [(10, 5), (30, 1), (1, 20), (5, 3)])
def test_rank_intervals_cover_the_true_ranks(n_tasks, n_runs):
    rng, means, tables = np.random.default_rng(7), (0, 0, 0.3, 0.3, 1.0, 2.0), 100
    good = sum(
        covered(quietly(rank, simulated(rng, means, n_tasks, n_runs)), means) for _ in range(tables)
    )
    assert stats.binomtest(good, tables, 0.95, "less").pvalue > 0.01


def test_decoys_do_not_separate_two_others():
    rng = np.random.default_rng(3)
    for _ in range(15):
        two = [[rng.normal(m, 1, 5) for m in (0, 0.4)] for _ in range(8)]
        alone = rank(table_of(two)).separated[0, 1]
        decoys = [[rng.normal(d / 10, 1, 5) for d in range(20)] for _ in range(8)]
        found = rank(table_of([a + b for a, b in zip(two, decoys, strict=True)]))
        i, j = found.names.index("learner-0"), found.names.index("learner-1")
        assert alone or not found.separated[i, j]


@given(samples(missing=False))
@settings(max_examples=50, deadline=None)
def test_intervals_and_tiers_fit_together(rows):
    found = quietly(rank, table_of(rows))
    n = len(found)
    for i, one in enumerate(found):
        assert 1 <= one.rank_low <= one.rank_high <= n
        better = [j for j in range(n) if found.separated[i, j] and found.probability[j, i] > 0.5]
        worse = [j for j in range(n) if found.separated[i, j] and found.probability[j, i] < 0.5]
        assert (one.rank_low, one.rank_high) == (1 + len(better), n - len(worse))
        assert one.tiers
    for tier in found.tiers:
        at = [found.names.index(name) for name in tier]
        assert at == list(range(at[0], at[-1] + 1))
        assert not found.separated[np.ix_(at, at)].any()
    values = np.round([one.value for one in found], 9)
    assert (np.diff(values) <= 0).all()


@given(samples(missing=False))
@settings(max_examples=40, deadline=None)
def test_a_monotone_transform_of_the_scores_changes_nothing(rows):
    bent = [[np.arctan(x / 300.0) ** 3 for x in row] for row in rows]
    assert quietly(rank, table_of(rows)).as_records() == quietly(rank, table_of(bent)).as_records()


def test_ties_stand_in_the_order_of_their_names():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 3))
    found = quietly(rank, ScoreTable.from_arrays({"b": x, "c": x, "a": x}))
    assert found.names == ("a", "b", "c")
    assert [one.value for one in found] == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("method", ["win-probability", "mean-rank", "gohr-ev", "kemeny"])
def test_every_method_has_the_same_rank_intervals(method):
    rng = np.random.default_rng(2)
    table = simulated(rng, (0, 0, 3), 3, 8)
    found, default = rank(table, method), rank(table)
    assert {(o.name, o.rank_low, o.rank_high) for o in found} == {
        (o.name, o.rank_low, o.rank_high) for o in default
    }
    assert found.names[0] == "learner-2"
    assert found.settings["method"] == method
    assert np.isnan(found[0].low) == (method != "win-probability")


def test_rules_are_ranked_by_difficulty():
    rng = np.random.default_rng(0)
    scores = {name: rng.poisson([20, 21, 200], (20, 3)) for name in ("dqn", "tabular")}
    table = ScoreTable.from_arrays(scores, tasks=["b", "a", "hard"], higher_is_better=False)
    found = rank(table, by="task")
    assert found.names[0] == "hard"
    assert found[0].rank_high == 1
    assert set(found.tiers[1]) == {"a", "b"}


def test_one_learner():
    with pytest.raises(ScoreDataError, match="at least two algorithms with scores to rank, found"):
        rank(table_of([[[1.0, 2.0]]]))


def test_no_common_task():
    table = table_of([[[1.0, 2.0], []], [[], [1.0, 2.0]]])
    with pytest.raises(ScoreDataError, match="two algorithms with scores on the same task"):
        rank(table)


@pytest.mark.filterwarnings("ignore:.*no score in")
def test_pairs_without_a_common_task_are_not_separated():
    rng = np.random.default_rng(0)
    low, high = (lambda: rng.normal(0, 1, 6)), (lambda: rng.normal(9, 1, 6))
    rows = [[low(), high(), [], []], [[], [], low(), high()]] * 3
    table = table_of(rows)
    with pytest.warns(DegenerateScoresWarning, match=r"share no task \(4 such pairs\)"):
        found = rank(table)
    by_name = {one.name: (one.rank_low, one.rank_high) for one in found}
    assert by_name["learner-1"] == (1, 3)
    assert by_name["learner-0"] == (2, 4)
    with pytest.raises(ScoreDataError, match="connected by shared tasks"):
        quietly(rank, table, "kemeny")


def test_all_ties_are_one_tier():
    with pytest.warns(DegenerateScoresWarning, match="all scores on a task are equal"):
        found = rank(table_of([[[7.0] * 6] * 3]))
    assert [(one.rank_low, one.rank_high) for one in found] == [(1, 3)] * 3
    assert len(found.tiers) == 1


def test_censored_runs_are_worst_and_tie():
    scores = {"a": np.full(6, np.inf), "b": np.array([1.0, 2, 3, 4, 5, np.inf])}
    found = rank(censored({name: x[:, None] for name, x in scores.items()}))
    assert found.names == ("b", "a")
    assert found[0].value == pytest.approx(1 - 1 / 12)


def test_missing_scores_are_left_out():
    table = table_of([[[1.0, np.nan, 2.0, 1.5, 1.7], [5.0, 6.0, np.nan, 7.0, 8.0]]])
    with pytest.warns(DegenerateScoresWarning, match="2 of 10 runs have no score"):
        found = rank(table)
    assert found.names == ("learner-1", "learner-0")


@pytest.mark.filterwarnings("ignore:one run per algorithm")
@pytest.mark.parametrize("n_runs", [1, 3])
def test_who_loses_all_has_the_win_probability_zero(n_runs):
    scores = {f"a{i}": np.full((n_runs, 6), i) + np.arange(6) for i in range(8)}
    ranking = rank(ScoreTable.from_arrays(scores))
    assert ranking.settings["resampling"] == ("runs_and_tasks" if n_runs == 1 else "runs")
    assert [ranking[0].value, ranking[-1].value] == [1.0, 0.0]
    assert all(0.0 <= one.low <= one.high <= 1.0 for one in ranking)


@pytest.mark.full
@pytest.mark.parametrize(("n_runs", "n_tasks", "units"), [(1, 60, "tasks"), (10, 8, "tasks"),
                                                          (1, 400, "items")])  # fmt: skip
def test_twice_the_smallest_resolvable_difference_is_separated_and_half_rarely(
    n_runs, n_tasks, units
):
    rng = np.random.default_rng(5)

    def ranked(shift):
        scores = {name: rng.normal(0.0, 1.0, (n_runs, n_tasks)) for name in "abcde"}
        scores["f"] = rng.normal(shift, 1.0, (n_runs, n_tasks))
        return quietly(rank, ScoreTable.from_arrays(scores, units=units))

    least = np.median([ranked(0.0).resolvable for _ in range(20)])
    for times, low, high in ((2.0, 0.95, 1.0), (0.5, 0.0, 0.15)):
        away = times * least
        shift = away if units == "items" else np.sqrt(2.0) * stats.norm.ppf(0.5 + away)
        found = [ranked(shift) for _ in range(60)]
        apart = [x.separated[x.names.index("f"), x.names.index("a")] for x in found]
        assert low <= np.mean(apart) <= high


def test_the_smallest_resolvable_difference_is_one_number():
    wins = np.arange(8) < 7
    small = quietly(rank, ScoreTable.from_arrays({"a": [wins[:4]], "b": [~wins[:4]]}))
    assert small.resolvable is None
    assert "resolvable" not in small[0].as_record()
    assert "No difference of a typical pair can be significant" in str(small)
    table = ScoreTable.from_arrays({"a": [wins], "b": [~wins]})
    found = quietly(rank, table)
    # A sign test of eight tasks is significant at 5 % with eight wins or with none.
    assert found.resolvable == found.as_records()[1]["resolvable"] == pytest.approx(0.5)
    assert "a typical pair: a win probability of 1.00" in str(found)


@pytest.mark.parametrize(("n", "resolvable"), [(5, None), (6, 0.5), (7, 0.5)])
def test_what_a_few_tasks_can_resolve_agrees_with_the_test(n, resolvable):
    table = ScoreTable.from_arrays({"old": [np.arange(n)], "new": [np.arange(n) + 1.0]})
    found = quietly(rank, table)
    assert found.resolvable == pytest.approx(resolvable)
    assert found.separated.any() == (resolvable is not None)


def test_a_sign_test_needs_a_known_number_of_tasks():
    won = np.arange(60) < 36
    found = quietly(rank, ScoreTable.from_arrays({"a": [won], "b": [~won]}))
    # Of 60 tasks 39 must be won, 9 more than half of them, and 6 more are.
    error = np.sqrt(37 / 62 * 25 / 62 / 61)  # a won and a lost task added
    assert found.needed == pytest.approx(60 * ((9 + 60 * 0.8416 * error) / 6) ** 2, rel=1e-3)
    equal = np.arange(60) < 30
    assert quietly(rank, ScoreTable.from_arrays({"a": [equal], "b": [~equal]})).needed == np.inf
    runs = ScoreTable.from_arrays({"a": [won, won], "b": [~won, ~won]})
    assert quietly(rank, runs).needed is None


@pytest.mark.parametrize("kind", ["tasks", "items", "right or wrong", "votes"])
def test_the_first_two_are_separated_by_the_number_needed_of_equal_tasks(kind):
    rng = np.random.default_rng(0)

    def repeated(times):
        if kind == "votes":
            shares = np.repeat([1.0, 0.5, 0.0], [22, 10, 8]), np.repeat([1.0, 0.0], [23, 17])
            share = np.tile(np.concatenate(shares), times)
            first = np.tile(np.repeat(["b", "a"], 40), times)
            other = np.tile(np.repeat(["c", "b"], 40), times)
            return votes_of([*zip(first, other, share, strict=True)])
        scores = {name: np.tile(x, times) for name, x in drawn.items()}
        return ScoreTable.from_arrays(scores, units="tasks" if kind == "tasks" else "items")

    drawn = {name: rng.normal(mean, 1.0, (1, 60)) for name, mean in (("a", 0.4), ("b", 0.1))}
    drawn["c"] = rng.normal(-1.0, 1.0, (1, 60))
    if kind == "right or wrong":
        drawn = {name: (x > 0.0).astype(float) for name, x in drawn.items()}
    first = quietly(rank, repeated(1))
    times = first.needed / (80 if kind == "votes" else 60)
    assert 2.0 < times < 100.0
    # Half of the number suffices where the observed difference repeats exactly; later steps of
    # Holm's correction, and ties of the sign test, make fewer sufficient.
    few, many = (quietly(rank, repeated(n)) for n in (int(0.25 * times), int(times) + 1))
    assert first.names == few.names == many.names
    assert [bool(x.separated[0, 1]) for x in (few, many)] == [False, True]
