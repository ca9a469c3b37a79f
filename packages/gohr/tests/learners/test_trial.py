"""Playing a trial, whichever interpreter plays it."""

import numpy as np
import pytest

from gohr import play
from gohr.game import DEFAULT_SPEC, InterpretedBoards, compile_rule, draw_boards
from gohr.learners import LinearDQN, RulePlayer, Uniform
from gohr.rules import load_rule, parse
from trial_loops import play_unfused


@pytest.mark.parametrize("rule", ["color-match", "clockwise", "b23-then-b01", "b3-then-b1"])
@pytest.mark.parametrize("make", [Uniform, RulePlayer, LinearDQN])
def test_reference_interpreter_and_engine_give_the_same_trial(rule, make):
    rule_set = load_rule(rule)
    boards = draw_boards(8, rng=np.random.default_rng(0))
    engine = play_unfused(make(rng=np.random.default_rng(1)), compile_rule(rule_set), boards, 60)
    interpreted = InterpretedBoards(rule_set, DEFAULT_SPEC, 1)
    reference = play_unfused(make(rng=np.random.default_rng(1)), interpreted, boards, 60)
    for field in ("n_attempts", "actions", "outcomes", "finish"):
        assert np.array_equal(getattr(engine, field), getattr(reference, field))


def test_a_rule_that_does_not_compile_is_played_by_the_reference():
    boards = draw_boards(3, rng=np.random.default_rng(2))
    log = play(boards, RulePlayer(rng=np.random.default_rng(3)), parse("(*,*,*,T,*)"))
    assert log.n_attempts.tolist() == [9, 9, 9]
    rows = log.actions.reshape(3, 9) // 24
    assert (np.diff(rows.astype(int), axis=1) <= 0).all()  # from the top row down


def test_misuse_is_told():
    boards = draw_boards(1, rng=np.random.default_rng(4))
    with pytest.raises(ValueError, match="horizon: expected at least 1, found 0"):
        play(boards, RulePlayer(rng=np.random.default_rng(5)), parse("(*,*,*,*,0)"), horizon=0)
