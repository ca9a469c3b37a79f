"""The table of a ladder, and the difference between published rules and their variants."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gnomon as gn
from gnomon.errors import ScoreDataError
from gnomon.experiments import contamination, ladder, load_suite
from gnomon.experiments.scoring.ladder import with_people

SUITE = load_suite("gohr-induction")
RULES = SUITE.rules


def table(rows):
    records = [
        {"algorithm": who, "task": task, "run": run, "score": score}
        for who, task, run, score in rows
    ]
    return gn.ScoreTable.from_records(records)


def test_a_rung_is_the_mean_over_rules_of_the_means_over_trials():
    rng = np.random.default_rng(0)
    scores = {rule: rng.normal(size=3 if k % 2 else 5) for k, rule in enumerate(RULES)}
    found = ladder(table([("a", r, n, x) for r, xs in scores.items() for n, x in enumerate(xs)]))
    for one in found:
        rules = RULES if one.rung == "all" else list(SUITE.rungs[one.rung])
        mean = math.nan if one.held_out else np.mean([scores[rule].mean() for rule in rules])
        assert one.value == pytest.approx(mean, nan_ok=True)
        assert one.held_out or one.low < one.value < one.high
        assert one.n_rules == len(rules)
    assert [one.rung for one in found] == [*SUITE.rungs, "all"] * 2
    assert found.by_algorithm(held_out=True) == []


def test_a_rung_that_lacks_a_rule_has_no_score():
    found = ladder(table([("a", rule, 0, 1.0) for rule in RULES[1:]]))
    assert math.isnan(found[0].value)
    assert found[1].value == 1.0
    with pytest.raises(ScoreDataError, match="'gohr-core' has no rungs"):
        ladder(table([("a", "clockwise", 0, 1.0)]), "gohr-core")


def test_who_knows_the_published_rules_alone_does_worse_on_variants():
    rng = np.random.default_rng(1)
    rows = [
        (who, f"{rule}{variant}", run, rng.normal(float(who == "reader" and not variant), 0.1))
        for who in ("reader", "honest")
        for rule in RULES[:6]
        for variant in ("", "@1", "@2", "@3", "@4")
        for run in range(5)
    ]
    rows += [("few", f"{rule}{at}", 0, 0.5) for rule in RULES[:6] for at in ("", "@1", "@2")]
    found = contamination(table([*rows, ("other", "clockwise", 0, 1.0)]))
    reader, honest, few = found
    assert found.warnings == (
        "few: cannot tell from 12 variants of 6 rules; expected 20 or more of 6 or more; "
        "further seeds give more",
    )
    assert math.isnan(few.low)
    assert math.isnan(few.p_value)
    assert (reader.a, reader.b) == ("reader, held out", "reader, published")
    assert reader.value == pytest.approx(-1.0, abs=0.1)
    assert reader.high < -0.5
    assert honest.low < 0 < honest.high
    with pytest.raises(ScoreDataError, match="found no player of both"):
        contamination(table([("other", "clockwise", 0, 1.0)]))


def test_the_table_that_comes_with_gnomon_has_the_floors():
    found = {
        (one.algorithm, one.rung, one.held_out): one.value
        for one in ladder(gn.load_scores("gohr-induction", "skill"))
    }
    for rung in (*SUITE.rungs, "all"):
        assert abs(found["uniform", rung, False]) < 0.02
        assert found["ideal", rung, False] > 0.99
        assert found["ideal", rung, True] > 0.99


def test_people_are_one_player_with_a_run_each():
    rules = list(SUITE.rungs["memory"])
    learner = table([("a", rule, 0, 1.0) for rule in RULES])
    people = table([(who, rules[k % 3], 0, k / 4) for k, who in enumerate("pqrs")])
    both = ladder(with_people(learner, people)).played()
    found = {x.rung: x for x in both if x.algorithm == "people"}
    assert len(rules) == 3
    assert found["memory"].value == pytest.approx(np.mean([(0 + 0.75) / 2, 0.25, 0.5]))
    assert math.isnan(found["feature"].value)
