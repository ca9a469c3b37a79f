"""Audits of evaluations: each finding on a table that has it, and on one that has it not."""

import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnomon import audit
from gnomon.scores import ScoreTable


def table_of(matrix, **about):
    """Return a table of one epoch; rows are models."""
    scores = {f"m{i}": np.array([row], dtype=float) for i, row in enumerate(matrix)}
    return ScoreTable.from_arrays(scores, units="items", **about)


def table_of_rows(rows):
    names = ("algorithm", "task", "run", "score", "status", "input_hash")
    full = [dict(zip(names, row, strict=False)) for row in rows]
    return ScoreTable(full, units="items")


def said(found, section):
    return {one.name: one.finding for one in found if one.section == section}


def rasch(k, n, rng, spread=1.0):
    """Return answers of `k` models to `n` items that measure one ability."""
    ability, ease = rng.normal(size=(k, 1)), spread * rng.normal(size=n)
    return (rng.random((k, n)) < 1 / (1 + np.exp(-ability - ease))).astype(float)


def test_what_is_missing_is_told_with_its_reasons_and_what_it_may_change():
    rows = [("a", f"q{i}", 1, 1.0, "ok") for i in range(4)]
    rows += [("b", "q0", 1, None, "error"), ("b", "q1", 1, 1.0, "ok"), ("b", "q2", 1, 0.0, "limit")]
    found = said(audit(table_of_rows(rows)), "missing")
    assert found == {
        "b": "b: 2 of 4 items without a score; 1 item without a sample, 1 sample without a score "
        "(1 error), 1 sample with a score despite its status (1 limit); mean 0.5 over its own "
        "items, 0.5 over 2 shared ones, 0.25 if the others count as 0"
    }
    complete = said(audit(table_of([[1, 0], [0, 1]])), "missing")
    assert complete == {"none": "No score is missing"}


def test_items_with_one_text():
    rows = [("a", q, 1, 1.0, "ok", mark) for q, mark in zip("pqrs", "xxyx", strict=True)]
    found = audit(table_of_rows(rows))
    expected = "2 items with the text of an earlier item (p = q = s)"
    assert said(found, "duplicates")["texts"] == expected
    other = audit(table_of_rows([("a", q, 1, 1.0, "ok", q) for q in "pq"]))
    assert said(other, "duplicates") == {"texts": "No two items have the same text"}


def test_items_with_the_same_scores_of_all_models():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 5, (12, 60)) / 4
    scores[:, 7] = scores[:, 3]
    found = said(audit(table_of(scores)), "duplicates")["scores"]
    assert by_chance(found) == (0, 0, 0)
    assert found.endswith("(0 to 0); possible copies: task_3 = task_7")
    few = said(audit(table_of(rng.integers(0, 3, (2, 30)) / 2)), "duplicates")["scores"]
    assert by_chance(few)[0] > 10
    assert "copies" not in few


def test_scores_of_too_many_values_are_not_compared_with_chance():
    scores = np.random.default_rng(0).random((6, 30))
    found = said(audit(table_of(scores)), "duplicates")["scores"]
    assert found == "Identical scores from all models: 0 pairs of items"
    scores[:, 7] = scores[:, 3]
    found = said(audit(table_of(scores)), "duplicates")["scores"]
    assert re.search("1 pair of items; not compared with chance: .*; task_3 = task_7$", found)


#: "... 24 pairs of items; random tables with the same totals have 1.9 (0 to 11)"
CHANCE = re.compile(r"tables with the same totals have ([\d.,]+) \(([\d,]+) to ([\d,]+)\)")


def by_chance(text):
    return tuple(float(x.replace(",", "")) for x in CHANCE.search(text).groups())


def graded(k, n, rng, spread):
    """Return scores 0, 1/3, 2/3 and 1 of one ability (the partial credit model)."""
    steps = np.array([-1.0, 0.0, 1.0])[:, None] + rng.normal(0.0, spread, n)
    up = np.cumsum(rng.normal(size=(k, 1, 1)) - steps, axis=1)
    best = np.concatenate([np.zeros((k, 1, n)), up], axis=1) + rng.gumbel(size=(k, 4, n))
    return best.argmax(axis=1) / 3.0


@pytest.mark.full
@pytest.mark.parametrize("draw", [rasch, graded])
@pytest.mark.parametrize(("k", "n", "spread"), [(30, 80, 1.0), (12, 60, 2.5), (5, 200, 1.0)])
def test_chance_is_that_of_tables_with_the_same_totals(draw, k, n, spread):
    """Items of unlike ease repeat far more often than independent scores would."""
    rng, real, chance = np.random.default_rng(k), [], []
    for seed in range(6):
        text = said(audit(table_of(draw(k, n, rng, spread)), rng=seed), "duplicates")["scores"]
        mean, least, most = by_chance(text)
        assert least <= mean <= most
        real.append(float(re.search(r": ([\d,]+) pair", text)[1].replace(",", "")))
        chance.append(mean)
    assert np.mean(real) == pytest.approx(np.mean(chance), rel=0.5, abs=1.0)


def test_copies_among_right_and_wrong_items_stand_out():
    scores = rasch(30, 80, np.random.default_rng(5))
    scores[:, 40:60] = scores[:, :20]
    text = said(audit(table_of(scores)), "duplicates")["scores"]
    assert by_chance(text)[2] < 20
    assert "; possible copies: task_" in text


@pytest.mark.parametrize("higher", [True, False])
def test_items_that_all_solve_or_none(higher):
    found = audit(table_of([[1, 0, 1, 1], [1, 0, 0, 1]], higher_is_better=higher))
    both = said(found, "discrimination")
    easy = "Solved by all models: 2 of 4 items (task_0, task_3)"
    hard = "Solved by no model: 1 of 4 items (task_1)"
    if higher:
        assert (both["solved by all"], both["solved by none"]) == (easy, hard)
    assert [one.value for one in found if one.name == "solved by all"] == [2.0 if higher else 1.0]
    assert both["not checked"] == "Item-rest correlations: not checked, fewer than 3 models"
    other = said(audit(table_of([[5, 3], [5, 4]])), "discrimination")
    assert other["same score"].startswith("Same score from all models: 1 of 2 items")


def correlations(scores):
    """Return the correlation of each item with the mean of the others, by NumPy."""
    rest = [np.delete(scores, i, axis=1).mean(axis=1) for i in range(scores.shape[1])]
    return np.array([np.corrcoef(x, y)[0, 1] for x, y in zip(scores.T, rest, strict=True)])


def test_correlations_are_those_of_numpy():
    scores = np.random.default_rng(1).normal(size=(7, 9))
    (found,) = (one for one in audit(table_of(scores)) if one.name == "negative")
    expected = correlations(scores)
    assert found.value == (expected < 0).sum()
    assert found.finding.partition("(")[2].startswith(f"task_{np.argmin(expected)}, ")


def test_items_that_turn_models_round_are_far_below_chance():
    rng = np.random.default_rng(2)
    scores = rasch(20, 400, rng)
    good = {one.name: one.value for one in audit(table_of(scores), rng=3)}
    assert good["far below chance"] <= 4
    scores = scores[:, np.ptp(scores, axis=0) > 0]
    best = np.argsort(-correlations(scores))[:10]
    scores[:, best] = 1 - scores[:, best]
    bad = audit(table_of(scores), rng=3)
    (found,) = (one for one in bad if one.name == "far below chance")
    assert 8 <= found.value <= 14
    assert f"task_{best[0]}" in found.finding
    assert bad == audit(table_of(scores), rng=3)
    assert by_chance(said(bad, "discrimination")["negative"])[0] > 0


def test_negative_correlations_of_one_ability_are_those_of_chance():
    rng, differences = np.random.default_rng(4), []
    for seed in range(12):
        found = {one.name: one for one in audit(table_of(rasch(8, 120, rng)), rng=seed)}
        differences.append(found["negative"].value - by_chance(found["negative"].finding)[0])
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) < 4 * error


def test_ceilings_and_floors():
    found = said(audit(table_of([[1] * 40, [0] * 40, [1, 0] * 20])), "range")
    assert found["ceiling"].startswith("Ceiling: 1 of 3 models within 0.05 of 1 (m0); harder it")
    assert found["floor"].startswith("Floor: 1 of 3 models within 0.05 of 0 (m1)")
    assert "none" in said(audit(table_of([[1, 0]])), "range")
    assert not said(audit(table_of([[7, 9]])), "range")


def test_an_audit_of_items_shows_itself():
    found = audit(table_of([[1, 0, 1], [1, 0, 0]]), rng=5)
    assert str(found).startswith("What the evaluation contains\n---")
    assert set(found.as_records()[0]) == {"section", "name", "finding", "value"}


@given(
    arrays(
        float,
        st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 2)),
        elements=st.sampled_from([0.0, 1.0, 1.0, np.nan, 0.5, 3.0]),
    )
)
@settings(max_examples=60)
def test_any_table_of_items_has_an_audit(scores):
    table = ScoreTable.from_arrays({f"m{i}": x.T for i, x in enumerate(scores)}, units="items")
    sections = {one.section for one in audit(table)}
    assert sections >= {"table", "missing"}


@pytest.mark.full
def test_twenty_models_on_many_items_take_seconds():
    table = table_of(rasch(20, 20_000, np.random.default_rng(6)))
    begin = time.process_time()
    assert table.means().shape == (20, 20_000)
    assert time.process_time() - begin < 1.0
    begin = time.process_time()
    audit(table)
    assert time.process_time() - begin < 6.0


def test_missing_scores_that_could_change_the_order_are_counted():
    scores = {"a": [[1, 1, 1, 0]], "b": [[1, 1, 0, np.nan]], "c": [[0, 0, 0, 0]]}
    (found,) = said(audit(ScoreTable.from_arrays(scores, units="items")), "order").values()
    # b may reach 3 of 4, as many as a, and has 2 at least.
    assert found == "Missing scores cannot change the order of any two models"
    scores["a"] = [[1, 1, 0, 0, np.nan]]
    scores["b"], scores["c"] = [[0, 0, 1, 0, np.nan]], [[0, 0, 0, 0, 0]]
    (found,) = said(audit(ScoreTable.from_arrays(scores, units="items")), "order").values()
    # a has 0.4 to 0.6 and b 0.2 to 0.4: the order holds.
    assert found == "Missing scores cannot change the order of any two models"
    scores["b"] = [[0, 0, np.nan, 1, np.nan]]
    (found,) = said(audit(ScoreTable.from_arrays(scores, units="items")), "order").values()
    assert found == "Missing scores could change the order of 1 pair (a and b)"
