"""Stated rules against the hidden one."""

import math

import numpy as np
import pytest

from gohr import play
from gohr.experiments import (
    ExperimentConfig,
    Statements,
    agreement,
    description_length,
    run,
    statements,
)
from gohr.game import DEFAULT_SPEC, draw_boards
from gohr.learners import make_learner
from gohr.rules import parse

BY_COLOR = "(*,*,red,*,0) (*,*,black,*,1) (*,*,blue,*,2) (*,*,yellow,*,3)"
SAME = "(*,*,yellow,*,3) (*,*,[red],*,0) (*,*,black,*,[1]) (*,*,blue,*,2)"


def log_of(rule, n=5):
    rng = np.random.default_rng(0)
    boards = draw_boards(n, rng=rng)
    return play(boards, make_learner("uniform", DEFAULT_SPEC, rng=rng), parse(rule))


def test_agreement_is_the_share_of_attempts_that_are_foretold():
    log = log_of(BY_COLOR)
    assert agreement(parse(SAME), log) == 1.0
    nothing = agreement(parse("(*,*,*,*,p)"), log)  # accepts nothing, so it loses each board soon
    first = [log.outcomes[k:].tolist().index(0) for k in np.cumsum([0, *log.n_attempts[:-1]])]
    assert nothing == pytest.approx(sum(first) / len(log.outcomes))
    assert nothing < agreement(parse("(*,*,[red,black,blue],*,[0,1,2])"), log) < 1.0
    # What accepts everything foretells what was accepted, and follows to the end.
    assert agreement(parse("(*,*,*,*,*)"), log) == np.mean(log.outcomes == 0)
    empty = log_of(BY_COLOR, 0)
    assert math.isnan(agreement(parse(SAME), empty))


def test_the_length_counts_tokens():
    assert (
        description_length("(*,*,red,*,0)") == description_length(parse("( *,*,RED,*,0) # x")) == 11
    )
    assert description_length("(*,*,*,*,p+1)\n(*,*,*,*,[1,2])") == 13 + 15


def test_stated_rules_are_scored(tmp_path):
    said = ["(*,*,red,*,0", f"So:\n```\n{SAME.replace('2', '3')}\n```", SAME]
    rules = [{"name": "by-color", "text": BY_COLOR}]
    config = ExperimentConfig("x", rules, ["rule_player"], trials=1, episodes=3, horizon=30)
    ran = run(config, tmp_path / "run")
    stated = [("rule_player", "by-color", 0, k + 1, text) for k, text in enumerate(said)]
    found = statements(ran, stated)
    assert [x.episode for x in found] == [1, 2, 3]
    assert [x.equivalent for x in found] == [None, False, True]
    assert found[0].error.startswith("line 1, column 13: expected")
    assert math.isnan(found[0].agreement_own)
    assert found[1].agreement_own < found[2].agreement_own == 1.0
    assert found[1].agreement_random < found[2].agreement_random == 1.0
    assert found[2].exact
    assert found[2].length == description_length(SAME)
    assert found.errors_to_state() == {("rule_player", "by-color", 0): 0.0}
    assert Statements(found[:2]).errors_to_state() == {("rule_player", "by-color", 0): math.inf}
    assert "agreement_own" in str(found)
    with pytest.raises(ValueError, match="trial 1: expected a trial that is done"):
        statements(ran, [("rule_player", "by-color", 1, 1, SAME)])
