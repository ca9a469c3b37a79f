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
        assert one.published == pytest.approx(np.mean([scores[rule].mean() for rule in rules]))
        assert math.isnan(one.held_out)
        assert one.n_rules == len(rules)
    assert [one.rung for one in found] == [*SUITE.rungs, "all"]
    assert found.by_algorithm(held_out=True) == []


def test_a_rung_that_lacks_a_rule_has_no_score():
    found = ladder(table([("a", rule, 0, 1.0) for rule in RULES[1:]]))
    assert math.isnan(found[0].published)
    assert found[1].published == 1.0
    with pytest.raises(ScoreDataError, match="'gohr-core' has no rungs"):
        ladder(table([("a", "clockwise", 0, 1.0)]), "gohr-core")


def test_who_knows_the_published_rules_alone_does_worse_on_variants():
    rng = np.random.default_rng(1)
    rows = [
        (who, f"{rule}{variant}", run, rng.normal(float(who == "reader" and not variant), 0.1))
        for who in ("reader", "honest")
        for rule in RULES[:6]
        for variant in ("", "@1", "@2")
        for run in range(5)
    ]
    reader, honest = contamination(table([*rows, ("other", "clockwise", 0, 1.0)]), rng=0)
    assert (reader.a, reader.b) == ("reader, held out", "reader, published")
    assert reader.value == pytest.approx(-1.0, abs=0.1)
    assert reader.high < -0.5
    assert honest.low < 0 < honest.high
    with pytest.raises(ScoreDataError, match="found no player of both"):
        contamination(table([("other", "clockwise", 0, 1.0)]))


def test_the_table_that_comes_with_gnomon_has_the_floors():
    found = {
        (one.algorithm, one.rung): one for one in ladder(gn.load_scores("gohr-induction", "skill"))
    }
    for rung in (*SUITE.rungs, "all"):
        assert abs(found["uniform", rung].published) < 0.02
        assert found["ideal", rung].published > 0.99
        assert found["ideal", rung].held_out > 0.99


def test_people_are_one_player_with_a_run_each():
    rules = list(SUITE.rungs["memory"])
    learner = table([("a", rule, 0, 1.0) for rule in RULES])
    people = table([(who, rules[k % 3], 0, k / 4) for k, who in enumerate("pqrs")])
    found = {x.rung: x for x in ladder(with_people(learner, people)) if x.algorithm == "people"}
    assert len(rules) == 3
    assert found["memory"].published == pytest.approx(np.mean([(0 + 0.75) / 2, 0.25, 0.5]))
    assert math.isnan(found["feature"].published)
