"""The table of a ladder."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gnomon as gn
from gnomon.errors import ScoreDataError
from gohr.experiments import ladder, load_suite

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


def test_the_table_that_comes_with_gnomon_has_the_floors():
    found = {
        (one.algorithm, one.rung, one.held_out): one.value
        for one in ladder(gn.load_scores("gohr-induction", "skill"))
    }
    for rung in (*SUITE.rungs, "all"):
        assert abs(found["uniform", rung, False]) < 0.02
        assert found["ideal", rung, False] > 0.99
        assert found["ideal", rung, True] > 0.99
