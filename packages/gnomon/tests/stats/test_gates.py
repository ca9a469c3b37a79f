"""The gate: what it decides, what it refuses, and how often it is wrong."""

import numpy as np
import pytest
from scipy.stats import multinomial, norm

from gnomon import gate
from gnomon.errors import DegenerateScoresWarning, GnomonError
from gnomon.scores import ScoreTable
from gnomon.stats import compare, holm
from score_tables import quietly

BASE = np.repeat([1.0, 0.0], [160, 40])


def model(scores, document=None, **about):
    """Return a table of one model on items q0, q1, ...; None is an empty score."""
    n = np.arange(len(scores))
    columns = {
        "algorithm": ["m"] * n.size,
        "task": [f"q{i}" for i in n],
        "topic": [f"t{i}" for i in n % 4],
        "document": n // 5 if document is None else document,
        "score": np.array(scores, dtype=float),
    }
    return ScoreTable(columns, units="items", **about)


def lost(n, base=BASE):
    """Return the base without its first n right answers."""
    return np.where(np.arange(base.size) < n, 0.0, base)


def decided(new, base=BASE, **claims):
    found = gate(model(new), model(base), **claims)
    return [one.holds for one in found]


def test_claims_are_decided_together():
    every = {"non_inferior": 0.02, "regression": True, "superior": True}
    assert decided(BASE, **every) == [False, True, False]
    assert decided(BASE, **every | {"non_inferior": 0.05}) == [True, True, False]
    assert decided(lost(20), **every) == [False, False, False]
    assert decided(BASE, lost(20), **every) == [True, True, True]
    found = gate(model(lost(20)), model(BASE), **every)
    (same,) = compare(ScoreTable.from_arrays({"new": [lost(20)], "old": [BASE]}, units="items"))
    for one in found:
        ends = one.value, one.low, one.high
        assert ends == pytest.approx((same.value, same.low, same.high))
    assert not found.passed
    text = str(found)
    assert "Fail: all: a loss of more than 0.02 is not ruled out.\n" in text
    assert "Fail: all: NEW is significantly worse.\n" in text
    assert "decision: 2.5 % at most (Holm's correction over 3 claims).\n" in text
    assert text.endswith("Gate failed: 3 of 3 claims.")


def test_low_scores_have_their_direction():
    low = {"higher_is_better": False}
    for new, base, holds in ((BASE, lost(20), False), (lost(20), BASE, True)):
        found = gate(model(new, **low), model(base, **low), regression=True, superior=True)
        assert [one.holds for one in found] == [holds, holds]
    crashed = model([None, *BASE[1:]], **low)
    (one,) = gate_quietly(crashed, model(lost(1), **low), superior=True, missing="wrong")
    assert one.value == pytest.approx(1 / 200)  # an error, where errors are counted


def gate_quietly(*tables, **options):
    return quietly(gate, *tables, **options)


def test_a_margin_in_per_cent_is_one_of_the_mean_of_base():
    new = lost(4)
    (percent,) = gate(model(new), model(BASE), non_inferior="5%")
    (points,) = gate(model(new), model(BASE), non_inferior=0.04)
    assert percent.percent == points.percent == pytest.approx(-2.5)
    assert percent.p_value == pytest.approx(points.p_value)
    assert decided(new, non_inferior="10%") == decided(new, non_inferior=0.08) == [True]
    for margin in ("2 points", -0.1, "100%", float("nan")):
        with pytest.raises(GnomonError, match="expected a margin such as"):
            gate(model(new), model(BASE), non_inferior=margin)


def test_groups_are_decided_too_and_the_error_is_that_of_all_claims():
    new = np.where(np.arange(200) % 4 == 0, 0.0, BASE)  # topic t0 is lost
    found = gate(model(new), model(BASE), regression=True, superior=True, by="topic")
    assert [one.group for one in found][::2] == [None, "t0", "t1", "t2", "t3"]
    assert [one.holds for one in found][::2] == [False, False, True, True, True]
    alone = [
        gate_quietly(*(model(x[i::4] if i is not None else x) for x in (new, BASE)), **claim)[0]
        for i in (None, 0, 1, 2, 3)
        for claim in ({"regression": True}, {"superior": True})
    ]
    together = holm([one.p_value for one in alone]).tolist()
    assert [one.p_value for one in found] == pytest.approx(together)
    assert "Fail: t0: NEW is significantly worse" in str(found)
    with pytest.raises(GnomonError, match="did you mean 'topic'"):
        gate(model(new), model(BASE), regression=True, by="topik")


def test_missing_is_not_passed():
    """Of 200 samples of a worse branch 70 crash: those that it would have lost."""
    worse, base = lost(70), model(BASE)
    crashed = model([None if i < 70 else x for i, x in enumerate(worse)])
    absent = model(worse)
    absent = absent.select(tasks=absent.tasks[70:])
    for new in (crashed, absent, model([*([float("nan")] * 70), *worse[70:]])):
        with pytest.raises(GnomonError, match="70 of 200 items of BASE are missing in NEW"):
            gate(new, base, regression=True)
        with pytest.raises(GnomonError, match="70 of 200"):
            gate(new, base, regression=True, require=0.99)
        with pytest.warns(DegenerateScoresWarning, match="70 of 200 .* worst score"):
            found = gate(new, base, regression=True, missing="wrong")
        assert (found.passed, found[0].n_missing) == (False, 70)
        assert found[0].value == pytest.approx(-0.35)
        with pytest.warns(DegenerateScoresWarning, match="70 of 200 .* left out"):
            found = gate(new, base, regression=True, missing="drop")
        assert (found.passed, found[0].n_missing, found[0].percent) == (True, 70, 0.0)
        assert gate_quietly(new, base, regression=True, require=0.6).passed
        groups = gate_quietly(new, base, regression=True, missing="drop", by="topic")
        assert sum(one.n_missing for one in groups[1:]) == 70


def test_a_crashed_epoch_is_missing():
    rows = [{"model": "m", "item": i, "epoch": e, "score": 1.0} for i in range(40) for e in (1, 2)]
    with pytest.raises(GnomonError, match="1 of 40 items"):
        gate(rows[1:], rows, regression=True)
    (one,) = gate_quietly(rows[1:], rows, regression=True, missing="wrong")
    assert one.value == pytest.approx(-0.5 / 40)
    once = [row for row in rows if row["epoch"] == 1]
    assert gate(once, rows, regression=True)[0].n_missing == 0


def test_scores_without_bounds_need_a_worst_score():
    base = 10.0 + np.arange(40.0)
    new = model([None, *base[1:]])
    with pytest.raises(GnomonError, match="worst=0"):
        gate_quietly(new, model(base), regression=True, missing="wrong")
    (one,) = gate_quietly(new, model(base), regression=True, missing="wrong", worst=2.0)
    assert one.value == pytest.approx(-8.0 / 40)


@pytest.mark.parametrize(
    ("new", "message", "options"),
    [
        (model(BASE[:3]), "197 of 200", {}),
        (model(BASE[:3]), "expected 6 shared items or more, found 3", {"missing": "drop"}),
        (model(100 * BASE), "expected one scale; scores of NEW reach 100", {}),
        (model(BASE, metric="f1"), "expected one scorer; NEW has scorer 'f1'", {}),
        (model(BASE, higher_is_better=False), "expected one direction", {}),
        (model([*BASE, 1.0]), "NEW has 1 item that BASE lacks", {"missing": "wrong"}),
        (model([1.0, 1.0]), "198 of 200", {"require": 0.9}),
        ({"m": [[1.0, 2.0]], "n": [[1.0, 2.0]]}, "NEW: expected one algorithm, found m, n", {}),
        ({"m": [[1.0, 0.0]]}, "that NEW and BASE share", {}),
        (model(BASE), "expected a claim to decide", {"regression": False}),
        (model(BASE), "a worst score needs missing='wrong'", {"worst": 0.0}),
        (model(BASE), "require: expected a share", {"require": 1.5}),
    ],
)
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_what_cannot_be_compared_is_refused(new, message, options):
    with pytest.raises(GnomonError, match=message):
        gate(new, model(BASE), **{"regression": True} | options)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_scores_that_do_not_vary_are_no_certainty():
    """The exact bound or the sign test decides, never a variance of 0."""
    for shape, ones in (("right", np.ones(8)), ("graded", np.full(8, 0.5)), ("free", np.ones(8))):
        base = 3.0 * ones if shape == "free" else ones
        new = base - ones * (1.0 if shape != "graded" else 0.25)
        (worse,) = gate(model(new), model(base), regression=True)
        assert worse.p_value >= 2.0**-8, shape
    for n, holds in ((36, True), (35, False)):  # 0.9 ** 36 = 0.0225
        for equal in (np.ones(n), np.full(n, 0.5)):
            assert decided(equal, equal, non_inferior=0.1) == [holds]
    with pytest.raises(GnomonError, match="expected 6 shared items or more, found 2"):
        decided(np.zeros(2), np.ones(2), regression=True)


def test_what_is_detectable_is_never_more_than_the_scale_allows():
    for base in (0.98, 0.5, 0.02):
        right = (np.arange(100) < 100 * base).astype(float)
        for one in gate(model(right), model(right), regression=True, superior=True):
            room = base if one.claim == "regression" else 1.0 - base
            assert np.isnan(one.detectable) or 0.0 < one.detectable <= room
    assert np.isnan(gate(model(right), model(right), regression=True)[0].detectable)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_the_error_by_enumeration():
    """Over how many of 20 items only one of two models solves, in 2.5 % at most."""
    n, margin = 20, 0.1
    for options, loss, most in (
        ({"regression": True}, 0.0, 0.025),
        ({"non_inferior": margin}, margin, 0.0275),
    ):
        wrong = {}
        for down in range(n + 1):
            for up in range(max(0, down - 1) if loss else 0, n + 1 - down if loss else down):
                old, new = np.zeros((2, n))
                old[:down], new[down : down + up] = 1.0, 1.0
                holds = gate(model(new), model(old), **options).passed
                wrong[up, down] = holds == ("non_inferior" in options)
        cells = [cell for cell, is_wrong in wrong.items() if is_wrong]
        for share in (0.1, 0.2, 0.5, 0.9):
            chances = (share - loss) / 2, (share + loss) / 2, 1.0 - share
            error = sum(multinomial.pmf((*cell, n - sum(cell)), n, chances) for cell in cells)
            assert error <= most, (options, share)


@pytest.mark.full
def test_a_gate_with_claims_on_groups_errs_as_often_as_it_says():
    """Equal models, three claims on four topics: a wrong decision in at most 2.5 %."""
    rng, n_studies = np.random.default_rng(0), 150
    wrong = found = 0
    for _ in range(n_studies):
        ease = rng.beta(3, 1, 200)
        old, new = (rng.random((2, 200)) < ease).astype(float)
        every = gate(model(new), model(old), regression=True, superior=True, by="topic")
        wrong += any(one.holds == (one.claim == "superior") for one in every)
        worse = (rng.random(200) < ease - every[0].detectable).astype(float)
        found += not gate(model(worse), model(old), regression=True).passed
    assert wrong / n_studies < 0.025 + 3 * np.sqrt(0.025 * 0.975 / n_studies)
    assert found / n_studies > 0.75


@pytest.mark.full
@pytest.mark.parametrize("sizes", [(5,) * 40, (20, 9, 8, 5, 3, 1, 1, 1, 1, 1)], ids=len)
def test_clustered_items_near_the_ceiling(sizes):
    """A margin of the true loss is passed in 2.5 %, and equal models fail in 2.5 %."""
    rng, n_studies = np.random.default_rng(3), 200
    codes = np.repeat(np.arange(len(sizes)), sizes)
    n, wrong, failed, found = codes.size, 0, 0, 0

    def answers(share, shared):
        own = rng.normal(size=len(sizes))[codes] * 0.5 + rng.normal(size=n) * 0.75**0.5
        return ((shared + own) / 2**0.5 < norm.ppf(share)).astype(float)

    for _ in range(n_studies):
        shared = rng.normal(size=len(sizes))[codes] * 0.5 + rng.normal(size=n) * 0.75**0.5
        old, same, new = (answers(share, shared) for share in (0.98, 0.98, 0.93))
        old, same, new = (model(x, codes, cluster="document") for x in (old, same, new))
        failed += not gate(same, old, regression=True).passed
        margin, loss = gate(new, old, non_inferior=0.05, regression=True)
        wrong += margin.holds
        found += not loss.holds
    error = 3 * np.sqrt(0.025 * 0.975 / n_studies)
    assert failed / n_studies < 0.025 + error
    assert wrong / n_studies < 0.025 + error
    assert found / n_studies > (0.5 if len(sizes) == 40 else 0.0)


RUNS = {name: np.random.default_rng(i).normal(0, 1, (8, 6)) for i, name in enumerate(("a", "b"))}


def runs(name, shift=0.0, **about):
    return ScoreTable.from_arrays({name: RUNS[name] + shift}, **about)


@pytest.mark.parametrize("metric", ["mean", "median", "iqm", "probability_of_improvement"])
def test_tables_of_tasks_are_decided_by_one_metric(metric):
    claims = {"regression": True, "superior": True}
    for shift, holds in ((3.0, [True, True]), (-3.0, [False, False])):
        found = gate(runs("a", shift), runs("b"), metric, **claims)
        assert [one.holds for one in found] == holds
        low = {"higher_is_better": False}
        found = gate(runs("a", -shift, **low), runs("b", **low), metric, **claims)
        assert [one.holds for one in found] == holds
        both = {"new": RUNS["a"] + shift, "old": RUNS["b"]}
        (same,) = compare(ScoreTable.from_arrays(both), "new", "old", metric)
        (one,) = gate(runs("a", shift), runs("b"), metric, superior=True)
        assert (one.value, one.low, one.high) == (same.value, same.low, same.high)
    far, near = {"non_inferior": 0.45}, {"non_inferior": 0.01}
    if metric != "probability_of_improvement":
        far = {"non_inferior": 2.0}
    found = gate(runs("a"), runs("b"), metric, **far)
    assert found.passed
    assert ("minus" in found.title) == (metric != "probability_of_improvement")
    assert not gate(runs("a"), runs("b"), metric, **near).passed


def test_a_margin_is_ruled_out_where_the_interval_lies_above_it():
    for metric in ("mean", "median", "iqm", "probability_of_improvement"):
        (one,) = gate(runs("a"), runs("b"), metric, regression=True)
        end = 0.5 - one.low if metric == "probability_of_improvement" else -one.low
        for step, holds in ((0.01, True), (-0.01, False)):
            (one,) = gate(runs("a"), runs("b"), metric, non_inferior=end + step)
            assert one.holds == holds, metric
    (share,) = gate(runs("a", 10.0), runs("b", 10.0), "mean", non_inferior="20%")
    (points,) = gate(runs("a", 10.0), runs("b", 10.0), "mean", non_inferior=2.0)
    assert share.holds == points.holds is True


def test_runs_with_one_label_may_be_pairs():
    shared = np.random.default_rng(2).normal(0, 5, (8, 6))
    new, old = {"new": RUNS["a"] + shared + 1.5}, {"old": RUNS["b"] + shared}
    (same,) = compare(ScoreTable.from_arrays(new | old), "new", "old", "mean", paired=True)
    (one,) = gate(new, old, "mean", superior=True, paired=True)
    assert (one.holds, one.low, one.high) == (True, same.low, same.high)
    assert one.p_value == pytest.approx(same.p_value / 2.0)
    assert not gate(new, old, "mean", superior=True).passed
    with pytest.raises(GnomonError, match="paired applies to tasks"):
        gate(model(BASE), model(BASE), regression=True, paired=True)


def test_each_task_is_a_group_and_missing_runs_are_not_passed():
    worse = RUNS["a"].copy()
    worse[:, 0] -= 4.0
    found = gate({"a": worse}, {"b": RUNS["b"]}, "mean", regression=True, by="task")
    assert [one.group for one in found] == [None, *(f"task_{i}" for i in range(6))]
    assert [one.holds for one in found[1:]] == [False, *[True] * 5]
    crashed = worse.copy()
    crashed[:6, 0] = np.nan
    with pytest.raises(GnomonError, match="1 of 6 tasks of BASE are missing in NEW or lack"):
        gate({"a": crashed}, {"b": RUNS["b"]}, "mean", regression=True)
    options = {"regression": True, "by": "task"}
    worst = gate_quietly(
        {"a": crashed}, {"b": RUNS["b"]}, "mean", missing="wrong", worst=-4, **options
    )
    assert (worst[1].n_missing, worst[2].n_missing, worst[1].holds) == (1, 0, False)
    assert worst[1].value == pytest.approx((crashed[6:, 0].sum() - 24) / 8 - RUNS["b"][:, 0].mean())
    fewer = ScoreTable.from_arrays({"a": worse[:, 1:]}, tasks=[f"task_{i}" for i in range(1, 6)])
    dropped = gate_quietly(fewer, {"b": RUNS["b"]}, "mean", missing="drop", **options)
    assert (dropped[0].n_missing, len(dropped), dropped.passed) == (1, 6, True)


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_runs_that_do_not_vary_are_decided_by_permutations():
    for n, holds in ((3, False), (5, True)):  # 1 / 20 and 1 / 252 of all orders
        new, old = {"a": np.full((n, 2), 1.0)}, {"b": np.full((n, 2), 2.0)}
        assert gate(new, old, "mean", regression=True).passed != holds
        assert gate(old, old, "mean", non_inferior=0.5).passed == holds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "claims are about one metric: expected one of mean, median, iqm"),
        ({"metric": "optimality_gap"}, "unknown metric of a gate"),
        ({"metric": "probability_of_improvement", "non_inferior": "2%"}, "margin such as 0.05"),
        ({"metric": "mean", "by": "tsk"}, "unknown column"),
    ],
)
def test_what_tasks_do_not_take_is_refused(options, message):
    with pytest.raises(GnomonError, match=message):
        gate(runs("a"), runs("b"), **{"regression": True} | options)
    with pytest.raises(TypeError, match="metric: expected the name of one metric"):
        gate(runs("a"), runs("b"), ["mean", "iqm"], regression=True)
    single = {"a": RUNS["a"][:1]}
    with pytest.raises(GnomonError, match="expected a difference with a test to decide by"):
        gate_quietly(single, {"b": RUNS["b"][:1]}, "mean", regression=True)
