"""The numbers of a report are those of the statistics, computed once and from one seed."""

import sys

import numpy as np
import pytest

from gnomon.stats import mann_whitney
from gohr.experiments import ExperimentConfig, RunFolder, run, score_table
from gohr.run_page import Duel, findings_of

from .conftest import HOSTILE


@pytest.fixture(scope="module")
def findings(run_folder):
    return findings_of(run_folder, n_resamples=200)


def test_the_errors_are_those_of_the_run(findings, run_folder):
    table = score_table(run_folder, "cumulated_errors")
    for pair, found in findings.performances.items():
        _, errors = table.curves(*pair)
        np.testing.assert_array_equal(found.errors, errors)
        assert found.tce.value == np.median(errors[:, -1])
        assert found.tce.low <= found.tce.value <= found.tce.high
        assert found.tce.value == found.curve.values[-1]
        assert found.n_trials == 6


def test_learned_trials_are_counted_and_the_others_are_infinite(findings, run_folder):
    table = score_table(run_folder, "errors_to_learn")
    for (learner, rule), found in findings.performances.items():
        runs = table.runs(learner, rule)
        assert found.n_learned == np.isfinite(runs).sum()
    assert findings.performances["rule_player", "b3-then-b1"].n_learned == 6
    assert findings.performances["uniform", "b3-then-b1"].to_learn.value == np.inf


def test_order_tests_and_decisions_belong_together(findings):
    ends = {rule: x.ends for rule, x in findings.of_learner("uniform").items()}
    assert list(findings.orders["uniform"]) == sorted(ends, key=lambda rule: -np.median(ends[rule]))
    assert findings.separated["uniform"] == {frozenset(ends)}
    assert findings.separated["rule_player"] == frozenset()


def test_duels_say_who_makes_fewer_errors(findings):
    duel = next(d for d in findings.duels if (d.a, d.b) == ("uniform", "rule_player"))
    assert duel.rule == HOSTILE
    assert duel.share == 0.0
    assert duel.winner(0.95) == "rule_player"
    ends = [findings.performances[x, HOSTILE].ends for x in (duel.a, duel.b)]
    assert duel.p_value >= mann_whitney(*ends)[1]
    assert Duel("r", "a", "b", 0.9, 0.2).winner(0.95) is None
    assert Duel("r", "a", "b", 0.9, float("nan")).winner(0.95) is None


def test_who_was_shown_the_rule_is_known(findings):
    assert findings.revealed == ("rule_player",)


def test_a_run_of_a_learner_that_is_not_ours_is_reported(tmp_path, monkeypatch):
    (tmp_path / "elsewhere.py").write_text(
        "from gohr.learners import Uniform\n\n\nclass Theirs(Uniform):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    learner = {"kind": "elsewhere:Theirs", "name": "theirs"}
    config = ExperimentConfig("one", ["clockwise"], [learner], trials=1, episodes=3)
    path = run(config, tmp_path / "run").folder.path
    monkeypatch.undo()
    monkeypatch.delitem(sys.modules, "elsewhere")
    assert findings_of(RunFolder.open(path), n_resamples=20).revealed == ()


def test_the_global_generator_decides_nothing(run_folder):
    first = findings_of(run_folder, n_resamples=50, seed=1)
    np.random.seed(3)  # noqa: NPY002 - to show that the global generator does not matter
    second = findings_of(run_folder, n_resamples=50, seed=1)
    assert first.estimates == second.estimates
    for one, same in zip(first.performances.values(), second.performances.values(), strict=True):
        np.testing.assert_array_equal(one.curve.low, same.curve.low)


def test_one_trial_gives_no_interval(lonely_folder):
    findings = findings_of(lonely_folder, n_resamples=50)
    found = findings.performances["rule_player", "clockwise"]
    assert found.tce.value == 0
    assert np.isnan([found.tce.low, found.tce.high]).all()
    assert (findings.duels, findings.estimates) == ((), None)


def test_a_run_without_trials_has_no_findings(tmp_path, run_folder):
    empty = RunFolder.create(tmp_path / "empty", run_folder.config)
    findings = findings_of(empty)
    assert not findings.performances
    assert sum(findings.missing.values()) == 36
