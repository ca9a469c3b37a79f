"""Scores of single attempts: against what a random player and the rule player must score."""

from __future__ import annotations

import numpy as np
import pytest

import gohr
from gohr import BoardSpec, TrialLog, draw_boards, play
from gohr.experiments import METRICS, score_trial
from gohr.learners import make_learner
from gohr.rules import RuleSet


def played(kind: str, rule: str = "color-match", n: int = 300) -> tuple[TrialLog, RuleSet]:
    rng = np.random.default_rng(0)
    rule_set = gohr.load_rule(rule)
    learner = make_learner(kind, BoardSpec(), rng=rng)
    return play(draw_boards(n, rng=rng), learner, rule_set), rule_set


def test_a_random_player_scores_what_chance_scores():
    """Some 10,800 attempts at p0 = 1/4: 0 within 1 % at one standard error."""
    log, rule_set = played("uniform")
    assert score_trial(log, "skill", rule_set=rule_set) == pytest.approx(0, abs=0.03)


def test_a_player_without_errors():
    log, rule_set = played("rule_player", n=20)
    scores = {
        m.name: score_trial(log, m.name, rule_set=rule_set)
        for m in METRICS.values()
        if m.of_attempts
    }
    assert scores == {"m_star": 0, "skill": 1}


def test_a_rule_on_which_nobody_errs():
    log, rule_set = played("uniform", "anything-goes", n=3)
    assert np.isnan(score_trial(log, "skill", rule_set=rule_set))


def test_what_is_refused():
    with pytest.raises(ValueError, match="m_star: expected the rule that the trial was played on"):
        score_trial(played("uniform", n=1)[0], "m_star")
