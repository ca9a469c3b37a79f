"""Stated rules against the hidden one."""

import math

import numpy as np
import pytest

from gnomon.experiments import (
    ExperimentConfig,
    Statements,
    agreement,
    description_length,
    run,
    statements,
)
from gnomon.game import DEFAULT_SPEC, draw_boards
from gnomon.learners import make_learner, play_trial
from gnomon.rules import parse
from learners.language_model.provider import play, serving

BY_COLOR = "(*,*,red,*,0) (*,*,black,*,1) (*,*,blue,*,2) (*,*,yellow,*,3)"
SAME = "(*,*,yellow,*,3) (*,*,[red],*,0) (*,*,black,*,[1]) (*,*,blue,*,2)"


def log_of(rule, n=5):
    rng = np.random.default_rng(0)
    boards = draw_boards(n, rng=rng)
    return play_trial(make_learner("uniform", DEFAULT_SPEC, rng=rng), parse(rule), boards)


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


def test_rules_that_a_model_states_are_scored(monkeypatch, tmp_path):
    monkeypatch.setenv("A_KEY", "k")
    said = iter(["(*,*,red,*,0", f"So:\n```\n{SAME.replace('2', '3')}\n```", SAME, "<think>"])
    with serving() as provider:

        def say(body):
            return next(said) if "What is the rule?" in str(body["messages"][-1]) else play(body)

        provider.say = say
        learner = {
            "kind": "language_model",
            "name": "m",
            "model": "plays",
            "url": f"{provider.url}/chat/completions",
            "key_variable": "A_KEY",
            "state_rule": "language",
            "state_after": "1,2,3",
        }
        rules = [{"name": "by-color", "text": BY_COLOR}]
        config = ExperimentConfig("x", rules, [learner], trials=1, episodes=3, horizon=30)
        found = statements(run(config, tmp_path / "run"))
        prose = learner | {"state_rule": "prose", "state_after": "3"}
        provider.say = lambda body: (
            play(body) if "Your move?" in str(body["messages"][-1]) else "Hm."
        )
        told = ExperimentConfig("y", rules, [prose], trials=1, episodes=3, horizon=30)
        [said_so] = statements(run(told, tmp_path / "prose"))
    assert [x.episode for x in found] == [1, 2, 3]
    assert [x.equivalent for x in found] == [None, False, True]
    assert found[0].error.startswith("line 1, column 13: expected")
    assert math.isnan(found[0].agreement_own)
    assert found[1].agreement_own < found[2].agreement_own == 1.0
    assert found[1].agreement_random < found[2].agreement_random == 1.0
    assert found[2].exact
    assert found[2].length == description_length(SAME)
    assert found.errors_to_state() == {("m", "by-color", 0): 0.0}
    assert Statements(found[:2]).errors_to_state() == {("m", "by-color", 0): math.inf}
    assert "agreement_own" in str(found)
    assert (said_so.text, said_so.equivalent, said_so.error) == ("Hm.", None, None)
