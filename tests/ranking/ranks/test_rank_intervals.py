"""Ranks and their uncertainty: coverage by simulation, invariances, and input that has no order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.ranking import METHODS, Contest, rank, separation
from gnomon.scores import ScoreTable
from strategies_ranking import contests

N_TABLES = 400


def simulated(rng, means, n_rules, n_runs):
    """Learners with these means on rules of different difficulty and skewness."""
    samples = tuple(
        tuple(np.exp(rng.normal(mean, 1, n_runs) * rng.uniform(0.5, 1)) for mean in means)
        if g % 2
        else tuple(rng.normal(mean, 1, n_runs) for mean in means)
        for g in range(n_rules)
    )
    names = tuple(f"{i}" for i in range(len(means)))
    return Contest(names, tuple(f"r{g}" for g in range(n_rules)), samples)


def covered(ranking, means):
    """Whether the intervals hold every rank that equal means allow."""
    true = np.array(means)[[int(name) for name in ranking.names]]
    best = 1 + (true[None, :] > true[:, None]).sum(axis=1)
    worst = len(true) - (true[None, :] < true[:, None]).sum(axis=1)
    return (ranking.rank_low <= best) & (worst <= ranking.rank_high)


def not_below_95_percent(n_good, n=N_TABLES):
    return stats.binomtest(n_good, n, 0.95, "less").pvalue > 0.05


@pytest.mark.full
@pytest.mark.parametrize(
    ("means", "n_rules", "n_runs"),
    [((0, 0.3, 0.6, 0.6, 1.5), 4, 8), ((0, 0, 0.5, 1.0, 1.0), 1, 20)],
)
def test_rank_intervals_cover_the_true_ranks(means, n_rules, n_runs):
    rng = np.random.default_rng(7)
    together = alone = 0
    for _ in range(N_TABLES):
        contest = simulated(rng, means, n_rules, n_runs)
        together += covered(rank(contest, n_resamples=200, rng=rng), means).all()
        alone += covered(rank(contest, n_resamples=200, marginal=True, rng=rng), means)[0]
    assert not_below_95_percent(together)
    assert not_below_95_percent(alone)


IN_STEPS = [method.name for method in METHODS.values() if method.steps]


@pytest.mark.full
@pytest.mark.parametrize("method", IN_STEPS)
def test_ratings_in_steps_cover_too(method):
    """Two that are alike beside a worse one: their places hardly change from draw to draw."""
    rng, means = np.random.default_rng(7), (0, 0, 1.0)
    good = 0
    for _ in range(N_TABLES):
        ranking = rank(simulated(rng, means, 5, 8), method, n_resamples=40, rng=rng)
        good += covered(ranking, means).all()
    assert not_below_95_percent(good)


def gambler(rng, n_rules, n_runs):
    """0 wins most of its runs against either, but not by much; 1 wins nearly all against 2."""
    samples = tuple(
        (
            np.where(rng.random(n_runs) < 0.58, 9.0, -9.0) + rng.normal(0, 1, n_runs),
            rng.normal(1.6, 1, n_runs),
            rng.normal(-1.6, 1, n_runs),
        )
        for _ in range(n_rules)
    )
    return Contest(("0", "1", "2"), tuple(f"r{g}" for g in range(n_rules)), samples)


@pytest.mark.full
@pytest.mark.parametrize("method", IN_STEPS)
def test_ratings_in_steps_cover_their_own_order(method):
    """What ``hodge`` is sure of, 1 above 0, is none of theirs.

    Those who rate against the best alone see no difference between 1 and 2 either.
    """
    rng = np.random.default_rng(7)
    true = (2, 1, 1) if method in ("nash", "alpha-rank") else (2, 1, 0)
    good = 0
    for _ in range(N_TABLES):
        ranking = rank(gambler(rng, 4, 8), method, n_resamples=40, rng=rng)
        good += covered(ranking, true).all()
    assert not_below_95_percent(good)
    assert rank(gambler(rng, 4, 8), rng=rng).separated[0, 1]


def test_shares_that_are_all_but_none_have_no_order():
    """alpha-Rank gives 1e-120 to one and 1e-200 to another: neither is listed as the better one."""
    contest = simulated(np.random.default_rng(3), (0, 0.5, 1, 2, 3), 5, 20)
    found = rank(contest, "alpha-rank", n_resamples=100, rng=np.random.default_rng(1))
    assert found.names[0] == "4"
    assert found.rank_low.tolist() == [1, 2, 2, 2, 2]
    assert found.rank_high.tolist() == [1, 5, 5, 5, 5]
    assert separation(found, "0", "1").needed == np.inf


@pytest.mark.full
@pytest.mark.parametrize(("n", "n_rules", "n_runs"), [(4, 3, 6), (3, 1, 5)])
def test_identical_learners_fall_into_one_tie_group(n, n_rules, n_runs):
    rng = np.random.default_rng(8)
    one_group = 0
    for _ in range(N_TABLES):
        ranking = rank(simulated(rng, (0,) * n, n_rules, n_runs), n_resamples=200, rng=rng)
        one_group += len(ranking.groups) == 1
    assert not_below_95_percent(one_group)


def test_clear_learners_are_separated():
    rng = np.random.default_rng(0)
    ranking = rank(simulated(rng, (0, 2, 4), 4, 10), rng=rng)
    assert ranking.names == ("2", "1", "0")
    assert ranking.rank_low.tolist() == ranking.rank_high.tolist() == [1, 2, 3]
    assert ranking.groups == (("2",), ("1",), ("0",))
    assert (ranking.low < ranking.ratings).all()
    assert (ranking.ratings < ranking.high).all()
    assert ranking.above[0, 2] == 1.0


def test_complete_separation_by_many_runs_counts_and_by_three_does_not():
    """Resamples of runs that never cross do not vary: certainty must not come of that."""
    rng = np.random.default_rng(0)
    many = Contest(("a", "b"), ("r",), ((np.arange(20.0) + 100, np.arange(20.0)),))
    few = Contest(("a", "b"), ("r",), ((np.arange(3.0) + 100, np.arange(3.0)),))
    assert rank(many, rng=rng).separated[0, 1]
    with pytest.warns(DegenerateScoresWarning, match="not estimable from so few runs"):
        assert not rank(few, rng=rng).separated[0, 1]


@settings(max_examples=15)
@given(contests(missing=False, min_names=3), st.randoms())
def test_names_do_not_matter(contest, random):
    order = list(range(len(contest.names)))
    random.shuffle(order)
    moved = Contest(
        tuple(contest.names[i] for i in order),
        contest.grounds,
        tuple(tuple(row[i] for i in order) for row in contest.samples),
    )
    one, other = (quiet_rank(c) for c in (contest, moved))
    rating = dict(zip(other.names, other.ratings, strict=True))
    assert one.ratings == pytest.approx([rating[name] for name in one.names], abs=1e-9)


def quiet_rank(contest, **options):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        return rank(contest, n_resamples=50, rng=np.random.default_rng(1), **options)


@settings(max_examples=15)
@given(contests(missing=False))
def test_a_monotone_transform_of_the_scores_changes_nothing(contest):
    bent = tuple(tuple(np.arctan(x / 30.0) ** 3 for x in row) for row in contest.samples)
    one, other = quiet_rank(contest), quiet_rank(Contest(contest.names, contest.grounds, bent))
    assert one.as_records() == other.as_records()


@settings(max_examples=15)
@given(contests(missing=False, min_names=3, max_names=4))
def test_intervals_and_groups_fit_together(contest):
    found = quiet_rank(contest)
    n = len(found.names)
    assert (found.rank_low >= 1).all()
    assert (found.rank_high <= n).all()
    place = np.arange(1, n + 1)
    known = ~np.isnan(found.ratings)
    assert (found.rank_low <= place)[known].all()
    assert (place <= found.rank_high)[known].all()
    alone = quiet_rank(contest, marginal=True)
    assert (alone.rank_low >= found.rank_low).all()
    assert (alone.rank_high <= found.rank_high).all()
    for group in found.groups:
        at = [found.names.index(name) for name in group]
        assert not found.separated[np.ix_(at, at)].any()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_rank_intervals(method):
    rng = np.random.default_rng(2)
    contest = simulated(rng, (0, 0, 3), 3, 8)
    found = rank(contest, method, n_resamples=60, rng=rng)
    assert found.names[0] == "2"
    assert found.rank_low[0] == 1
    assert found.method == method


@pytest.mark.parametrize("method", METHODS)
def test_intervals_of_ratings_keep_to_what_the_method_can_give(method):
    rng = np.random.default_rng(2)
    found = rank(simulated(rng, (0, 0.2, 0.4, 0.5), 3, 6), method, n_resamples=60, rng=rng)
    least, most = METHODS[method].bounds(4)
    known = ~np.isnan(found.low)
    assert known.any()
    assert (least <= found.low)[known].all()
    assert (found.low <= found.ratings)[known].all()
    assert (found.ratings <= found.high)[known].all()
    assert (found.high <= most)[known].all()


def test_rules_are_ranked_by_difficulty():
    rng = np.random.default_rng(0)
    scores = {name: rng.poisson([20, 21, 200], (20, 3)) for name in ("dqn", "tabular")}
    table = ScoreTable.from_arrays(scores, tasks=["b", "a", "hard"], higher_is_better=False)
    found = rank(table, by="task", rng=rng)
    assert found.names[0] == "hard"
    assert found.rank_high[0] == 1
    assert found.groups[1:] == (found.names[1:],)


def test_missing_subsets_are_corrected_for():
    """The weaker learner solved only the easy rule: its mean error misleads, its rank does not."""
    rng = np.random.default_rng(0)
    errors = {"weak": [30, None], "strong": [20, 200], "middle": [25, 220]}
    records = [
        {"algorithm": a, "task": t, "run": i, "score": float(rng.normal(mean, 2))}
        for a, means in errors.items()
        for t, mean in zip(("easy", "hard"), means, strict=True)
        if mean is not None
        for i in range(15)
    ]
    found = rank(ScoreTable.from_records(records, higher_is_better=False), rng=rng)
    assert found.names == ("strong", "middle", "weak")


def test_the_same_rng_gives_the_same_answer():
    contest = simulated(np.random.default_rng(0), (0, 1, 1), 2, 6)
    first = rank(contest, rng=np.random.default_rng(5))
    np.random.default_rng().random()
    again = rank(contest, rng=np.random.default_rng(5))
    assert first.as_records() == again.as_records()
    assert np.array_equal(first.above, again.above)


# Input that has no order


def table_of(rows, **options):
    records = [
        {"algorithm": a, "task": t, "run": i, "score": s, "censored": bool(np.isinf(s))}
        for a, t, runs in rows
        for i, s in enumerate(runs)
    ]
    return ScoreTable.from_records(records, higher_is_better=False, **options)


def test_one_learner():
    with pytest.raises(
        ScoreDataError, match="at least two algorithms with scores to rank, found dqn"
    ):
        rank(table_of([("dqn", "r", [1.0, 2.0])]), rng=np.random.default_rng(0))


def test_no_common_task():
    table = table_of([("dqn", "x", [1.0, 2.0]), ("sac", "y", [1.0, 2.0])])
    with pytest.raises(ScoreDataError) as error:
        rank(table, rng=np.random.default_rng(0))
    assert str(error.value) == (
        "expected two algorithms with scores on a common task; found none, so there is nothing to "
        "order them by"
    )


def test_all_ties():
    table = table_of([(a, "r", [7.0] * 6) for a in "abc"])
    with pytest.warns(
        DegenerateScoresWarning, match="nothing can be told apart: all scores on a task are equal"
    ):
        found = rank(table, rng=np.random.default_rng(0))
    assert found.groups == (("a", "b", "c"),)
    assert found.rank_low.tolist() == [1, 1, 1]
    assert found.rank_high.tolist() == [3, 3, 3]
    assert [r["low"] for r in found.as_records()] == [None] * 3


def test_all_unlearned():
    table = table_of([(a, "r", [np.inf] * 6) for a in "ab"])
    with pytest.warns(
        DegenerateScoresWarning, match="nothing can be told apart: every run is censored"
    ):
        found = rank(table, rng=np.random.default_rng(0))
    assert found.groups == (("a", "b"),)


def test_missing_scores_are_left_out():
    table = table_of(
        [("a", "r", [1.0, np.nan, 2.0, 1.5, 1.7]), ("b", "r", [5.0, 6.0, np.nan, 7.0, 8.0])]
    )
    with pytest.warns(DegenerateScoresWarning, match="2 of 10 runs have no score"):
        found = rank(table)
    assert found.names == ("a", "b")
    assert found.warnings == ("2 of 10 runs have no score and are left out",)
    assert np.isfinite(found.ratings).all()


def disconnected():
    rng = np.random.default_rng(0)
    return table_of(
        [
            *((a, "x", rng.normal(m, 1, 12)) for a, m in (("a", 0), ("b", 5), ("c", 9))),
            *((a, "y", rng.normal(m, 1, 12)) for a, m in (("p", 0), ("q", 5))),
        ]
    )


def test_a_disconnected_graph_is_ordered_part_by_part_and_no_further():
    with pytest.warns(DegenerateScoresWarning) as caught:
        found = rank(disconnected(), rng=np.random.default_rng(0))
    assert str(caught[0].message) == (
        "2 groups share no task and cannot be ordered against each other: a, b, c; p, q"
    )
    assert found.components == (("a", "b", "c"), ("p", "q"))
    assert found.separated[0, 1]
    assert not found.separated[:3, 3:].any()
    assert found.rank_low.tolist() == [1, 2, 3, 1, 2]  # p may be the best of all
    assert found.rank_high.tolist() == [3, 4, 5, 4, 5]


def test_other_methods_refuse_a_disconnected_graph():
    with pytest.raises(
        ScoreDataError, match="borda: expected algorithms that common tasks connect"
    ):
        rank(disconnected(), "borda", rng=np.random.default_rng(0))


def test_single_runs_on_many_tasks_are_a_statement_about_tasks():
    rng = np.random.default_rng(0)
    table = ScoreTable.from_arrays({"a": rng.normal(0, 1, (1, 30)), "b": rng.normal(2, 1, (1, 30))})
    with pytest.warns(DegenerateScoresWarning, match="tasks are drawn instead of runs"):
        found = rank(table, rng=rng)
    assert found.resampling == "runs_and_tasks"
    assert found.names == ("b", "a")
    assert found.separated[0, 1]


def test_single_runs_of_one_learner_are_not_certain():
    rng = np.random.default_rng(0)
    records = [
        {"algorithm": a, "task": "r", "run": i, "score": float(rng.normal(m, 1))}
        for a, m, n in (("a", 0, 20), ("b", 9, 20), ("paper", 20, 1))
        for i in range(n)
    ]
    with pytest.warns(DegenerateScoresWarning, match="the ratings of paper are"):
        found = rank(ScoreTable.from_records(records), rng=rng)
    assert found.names[0] == "paper"
    assert np.isnan(found.low[0])
    assert found.rank_high[0] == 3


def test_a_level_out_of_range():
    contest = simulated(np.random.default_rng(0), (0, 1), 2, 5)
    with pytest.raises(ValueError, match="expected a level between 0 and 1, found 95"):
        rank(contest, level=95, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="expected at least 2 resamples, found 1"):
        rank(contest, n_resamples=1, rng=np.random.default_rng(0))


# Runs needed


@pytest.mark.full
def test_as_many_runs_as_said_separate_in_four_of_five_cases():
    """Of pilots with fewer runs, each told what the true difference is in place of its own.

    Few runs make errors longer than their number alone does, so it may be some more than four.
    """
    rng = np.random.default_rng(0)

    def two(n_runs):
        return simulated(rng, (0, 0.4), 4, n_runs)

    pilots = [rank(two(12), n_resamples=200, rng=rng) for _ in range(100)]
    leads = [np.subtract(*p.ratings) * (1 if p.names[0] == "1" else -1) for p in pilots]
    said = [separation(p, "0", "1").needed * (lead / np.mean(leads)) ** 2
            for p, lead in zip(pilots, leads, strict=True)]  # fmt: skip
    needed = round(float(np.median(said)))
    assert 12 < needed < 60
    n_sure = sum(rank(two(needed), n_resamples=200, rng=rng).separated[0, 1] for _ in range(200))
    assert stats.binomtest(int(n_sure), 200, 0.8, "less").pvalue > 0.01
    assert n_sure < 0.95 * 200


@pytest.mark.parametrize("method", ["copeland", "kemeny"])
def test_places_need_as_many_runs_as_what_decides_about_them(method):
    """Places themselves hardly vary: by them three runs would do."""
    contest = simulated(np.random.default_rng(3), (0, 0.15, 1, 2), 5, 8)
    by = {m: rank(contest, m, rng=np.random.default_rng(1)) for m in ("hodge", method)}
    of = {m: separation(ranking, "0", "1").needed for m, ranking in by.items()}
    assert of[method] == pytest.approx(of["hodge"], rel=0.25)


def test_separated_ones_need_no_more():
    rng = np.random.default_rng(0)
    found = rank(simulated(rng, (0, 3), 4, 10), rng=rng)
    assert separation(found, "0", "1").further == 0.0
    assert separation(found, "0", "1").a == "1"


def test_equal_ones_need_infinitely_many():
    x = np.arange(10.0)
    found = rank(Contest(("a", "b"), ("r",), ((x, x),)), rng=np.random.default_rng(0))
    assert separation(found, "a", "b").needed == np.inf


def test_a_ranking_says_what_a_place_is_and_over_what_it_is_decided():
    table = ScoreTable.from_arrays(
        {name: np.arange(8.0).reshape(4, 2) + i for i, name in enumerate("abc")}
    )
    notes = rank(table, n_resamples=20).notes
    assert notes[0].startswith("A place is by wins, run against run on common tasks, against every")
    assert "Decided over 3 pairs together (max-t)." in notes
    alone = rank(table, n_resamples=20, marginal=True).notes
    assert "Ranks are decided pair by pair, letters over all pairs together (max-t)." in alone
