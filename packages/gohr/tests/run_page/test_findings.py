"""The numbers of a report are those of the statistics, and its sentences say the same."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import gnomon as gn
from gohr.experiments import ExperimentConfig, Run, run, score
from gohr.run_page import findings_of

from .conftest import HOSTILE


@pytest.fixture(scope="module")
def findings(run_folder):
    return findings_of(run_folder)


def test_the_errors_are_those_of_the_run(findings, run_folder):
    table = score(run_folder, "cumulated_errors")
    for pair, found in findings.performances.items():
        _, errors = table.curves(*pair)
        np.testing.assert_array_equal(found.errors, errors)
        assert found.tce.value == np.median(errors[:, -1])
        assert found.n_trials == 6


def test_learned_trials_are_counted(findings, run_folder):
    table = score(run_folder, "errors_to_learn")
    for (learner, rule), found in findings.performances.items():
        runs = table.runs(learner, rule)
        assert found.n_learned == np.isfinite(runs).sum()
    assert findings.performances["rule_player", "b3-then-b1"].n_learned == 6


def test_order_tests_and_decisions_belong_together(findings):
    ends = {rule: x.ends for rule, x in findings.of_learner("uniform").items()}
    assert list(findings.orders["uniform"]) == sorted(ends, key=lambda rule: -np.median(ends[rule]))
    # None of its trials learned a rule: their errors are lower bounds, and show no order.
    assert findings.separated["uniform"] == frozenset()


def test_duels_say_who_makes_fewer_errors(findings):
    duel = next(d for d in findings.duels if (d.a, d.b) == ("uniform", "rule_player"))
    assert duel.task == HOSTILE
    assert duel.value == 0.0
    assert findings.winner(duel) == "rule_player"
    assert findings.winner(replace(duel, p_adjusted=0.2)) is None
    assert findings.winner(replace(duel, p_adjusted=float("nan"))) is None


def test_a_run_of_a_learner_that_is_not_ours_is_reported(tmp_path, monkeypatch):
    (tmp_path / "elsewhere.py").write_text(
        "from gohr.learners import Uniform\n\n\nclass Theirs(Uniform):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    learner = {"kind": "elsewhere:Theirs", "name": "theirs"}
    config = ExperimentConfig("one", ["clockwise"], [learner], trials=1, episodes=3)
    path = run(config, tmp_path / "run").path
    monkeypatch.undo()
    monkeypatch.delitem(sys.modules, "elsewhere")
    assert findings_of(Run.open(path)).caveats() == ()


@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
def test_they_are_those_of_the_verbs(findings, run_folder):
    table = gn.read_scores(run_folder.path)
    for row in gn.estimate(table, per_task=True):
        tce = findings.performances[row.algorithm, row.task].tce
        np.testing.assert_array_equal(
            [tce.value, tce.low, tce.high], [row.value, row.low, row.high]
        )
    pairs = gn.compare(table, metrics="probability_of_improvement", per_task=True)
    ours = {(x.a, x.b, x.task): (x.value, x.p_adjusted) for x in findings.duels}
    assert ours == {(x.a, x.b, x.task): (x.value, x.p_adjusted) for x in pairs if x.task}


def test_one_trial_gives_no_interval(lonely_folder):
    findings = findings_of(lonely_folder)
    found = findings.performances["rule_player", "clockwise"]
    assert found.tce.value == 0
    assert np.isnan([found.tce.low, found.tce.high]).all()
    assert findings.duels == []


def test_a_run_without_trials_has_no_findings(tmp_path, run_folder):
    empty = Run.create(tmp_path / "empty", run_folder.config)
    findings = findings_of(empty)
    assert not findings.performances
    assert sum(findings.missing.values()) == 36


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (((0.9, 1e-5),), "a makes fewer errors than b on r1 (p < 0.0001)."),
        (
            ((0.9, 1e-5), (0.8, 0.012)),
            "a makes fewer errors than b on all 2 rules (p ≤ 0.012 each).",
        ),
        (
            ((0.1, 1e-5), (0.2, 1e-5), (0.9, 1e-5)),
            "b makes fewer errors than a on r1 and r2 (p < 0.0001 each), a fewer on r3.",
        ),
        (
            ((0.9, 1e-5), (0.5, 1.0)),
            "a makes fewer errors than b on r1 (p < 0.0001); undecided on r2.",
        ),
        (
            ((0.9, 1e-5),) * 6 + ((0.5, 1.0),) * 5,
            "a makes fewer errors than b on 6 rules (p < 0.0001 each); undecided on 5 rules.",
        ),
        (((0.5, 1.0),), "a and b do not differ significantly on r1."),
        (((0.5, 1.0), (0.6, 0.4)), "a and b do not differ significantly on any of 2 rules."),
        ((), "a and b share no rule."),
    ],
)
def test_who_is_better(findings, found, sentence):
    one = replace(findings.duels[0], a="a", b="b")
    duels = tuple(
        replace(one, task=f"r{i}", value=share, p_adjusted=p, better="a" if share > 0.5 else "b")
        for i, (share, p) in enumerate(found, start=1)
    )
    assert replace(findings, duels=duels).comparison("a", "b") == sentence


def test_an_order_shows_what_is_decided(findings):
    order = findings.orders["uniform"]
    assert findings.order_of("uniform") == " ≈ ".join(order)
    decided = replace(findings, separated={"uniform": {frozenset(order)}})
    assert decided.order_of("uniform") == " > ".join(order)


def test_a_tie_is_not_called_hardest(findings):
    assert "no rule stands out" in findings.difficulty("rule_player")
    assert "made most errors on b3-then-b1 (median" in findings.difficulty("uniform")


def test_caveats_name_failed_and_missing_trials(findings):
    gaps = {(f"a{i}", "r"): 2 for i in range(60)}
    shown, failed, missing = replace(
        findings, failed=("trial 0 of a on r: ValueError",), missing=gaps
    ).caveats()
    assert shown.startswith("rule_player was shown what the rule permits")
    assert failed == "1 trial failed and is left out: trial 0 of a on r: ValueError."
    assert missing.startswith("120 trials not played yet: 2 of a0 on r, ")
    assert missing.endswith("2 of a5 on r and some of 54 other pairs.")
