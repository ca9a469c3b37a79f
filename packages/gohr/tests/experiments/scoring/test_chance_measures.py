"""Scores of single attempts: against what a random player and the rule player must score."""

from __future__ import annotations

import numpy as np
import pytest

import gohr
from gohr import play
from gohr.experiments import METRICS, TrialAttempts, score_trial
from gohr.game import DEFAULT_SPEC, draw_boards
from gohr.learners import make_learner


def played(kind: str, rule: str = "color-match", n: int = 300) -> TrialAttempts:
    rng = np.random.default_rng(0)
    rule_set = gohr.load_rule(rule)
    learner = make_learner(kind, DEFAULT_SPEC, rng=rng)
    log = play(draw_boards(n, rng=rng), learner, rule_set)
    return TrialAttempts(log, rule_set, DEFAULT_SPEC)


def test_a_random_player_scores_what_chance_scores():
    """Some 10,800 attempts at p0 = 1/4: 0 within 1 % at one standard error."""
    uniform = played("uniform")
    score = score_trial(uniform.log, "skill", rule_set=uniform.rule_set)
    assert score == pytest.approx(0, abs=0.03)
    assert score == 1 - (~uniform.accepted).sum() / (1 - uniform.p0).sum()


def test_a_player_without_errors():
    yardstick = played("rule_player", n=20)
    scores = {m.name: m.compute(yardstick) for m in METRICS.values() if m.needs != "episodes"}
    assert scores.pop("informative") > 0
    assert 0.5 < scores.pop("positive_tests") <= 1
    assert scores == {"m_star": 0, "skill": 1}


def test_a_rule_on_which_nobody_errs():
    free = played("uniform", "anything-goes", n=3)
    assert np.isnan(METRICS["skill"].compute(free))


def test_what_is_refused():
    with pytest.raises(ValueError, match="m_star: expected the rule that the trial was played on"):
        score_trial(played("uniform", n=1).log, "m_star")
