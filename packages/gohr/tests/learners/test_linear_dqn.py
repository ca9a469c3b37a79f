import numpy as np
import pytest

from gohr import BoardSpec, compile_rule, draw_boards, play
from gohr.learners import LinearDQN
from gohr.rules import load_rule, parse
from trial_loops import play_unfused

SIX_PIECES = BoardSpec(6, 0, 0, ("star", "circle", "square"), ("red", "blue"))


def test_play_goes_on_to_the_horizon():
    boards = draw_boards(4, rng=np.random.default_rng(10))
    learner = LinearDQN(rng=np.random.default_rng(11), plays_on=True, actions="occupied")
    log = play(boards, learner, parse("(*,*,*,*,*)"), horizon=30)
    assert log.n_attempts.tolist() == [30] * 4
    assert log.finish.tolist() == [1] * 4
    assert log.outcomes.tolist() == ([0] * 9 + [-4] * 21) * 4


def test_a_learner_that_diverged_still_plays_on_occupied_cells():
    learner = LinearDQN(rng=np.random.default_rng(12), learning_rate=1e6, actions="occupied")
    boards = draw_boards(30, rng=np.random.default_rng(13))
    log = play(boards, learner, load_rule("clockwise"))
    assert not np.isfinite(learner.theta).all()
    assert not (log.outcomes == 3).any()


def test_a_board_of_other_palettes_is_refused():
    learner = LinearDQN(SIX_PIECES, rng=np.random.default_rng(0))
    boards = draw_boards(2, rng=np.random.default_rng(1))
    with pytest.raises(ValueError, match="not of the learner's palettes"):
        play_unfused(learner, compile_rule(load_rule("clockwise")), boards, 100)


def test_the_most_combinations_that_fit():
    spec = BoardSpec(30, 0, 0, [f"s{k}" for k in range(31)], ["red", "blue"])
    boards = draw_boards(4, spec, rng=np.random.default_rng(2))
    rule = compile_rule(parse("(*,*,red,*,0) (*,*,blue,*,1)"), spec)
    fused, plain = (LinearDQN(spec, rng=np.random.default_rng(3)) for _ in range(2))
    log = play(boards, fused, rule, horizon=100)
    assert boards.max() > 58
    assert np.array_equal(log.actions, play_unfused(plain, rule, boards, 100).actions)
