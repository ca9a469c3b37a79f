import numpy as np
import pytest
from scipy.stats import chisquare

from gnomon.game import BoardSpec, compile_rule, draw_boards
from gnomon.learners import FusedLearner, Observation, Uniform, play_trial
from gnomon.learners.trial import play_unfused
from gnomon.rules import available_rules, load_rule, parse


@pytest.mark.parametrize("rule", ["color-match", "clockwise", "b23-then-b01", "b3-then-b1"])
@pytest.mark.parametrize("horizon", [1, 7, 100])
def test_the_fused_loop_is_act(rule, horizon):
    assert rule in available_rules()
    boards = draw_boards(20, rng=np.random.default_rng(0))
    compiled = compile_rule(load_rule(rule))
    fused, plain = (Uniform(rng=np.random.default_rng(1)) for _ in range(2))
    assert isinstance(fused, FusedLearner)
    a = fused.play_trial(compiled, boards, horizon)
    b = play_unfused(plain, compiled, boards, horizon)
    for field in ("boards", "n_attempts", "actions", "outcomes", "finish"):
        assert getattr(a, field).dtype == getattr(b, field).dtype
        assert getattr(a, field).tobytes() == getattr(b, field).tobytes()


def test_every_attempt_on_an_occupied_cell_is_as_probable():
    board = np.zeros(36, dtype=np.uint8)
    board[[0, 17, 35]] = 1, 5, 16
    mask = np.repeat(board > 0, 4).astype(np.int8)
    learner = Uniform(rng=np.random.default_rng(2))
    seen = Observation(board, 0, 0, 0, mask)
    counts = np.bincount([learner.act(seen) for _ in range(6000)], minlength=144)
    assert (counts[mask == 0] == 0).all()
    assert chisquare(counts[mask == 1]).pvalue > 1e-3


def test_errors_on_a_rule_that_wants_one_bucket():
    # Each attempt succeeds with probability 1/4, so 9 pieces take 36 attempts on average.
    spec = BoardSpec(9, 0, 0)
    boards = draw_boards(400, spec, rng=np.random.default_rng(3))
    learner = Uniform(rng=np.random.default_rng(4))
    log = play_trial(learner, parse("(*,*,*,*,2)"), boards, horizon=1000)
    spread = np.sqrt(9 * 0.75) / 0.25 / np.sqrt(400)
    assert abs(log.n_attempts.mean() - 36) < 4 * spread


def test_boards_that_are_over_as_dealt_take_no_attempt():
    boards = draw_boards(3, rng=np.random.default_rng(5))
    learner = Uniform(rng=np.random.default_rng(6))
    log = play_trial(learner, parse("(*,pentagon,*,*,0)"), boards)
    assert log.n_attempts.tolist() == [0, 0, 0]
    assert log.finish.tolist() == [2, 2, 2]
    assert len(log.actions) == 0


def test_misuse_is_told():
    boards = draw_boards(1, rng=np.random.default_rng(7))
    learner = Uniform(rng=np.random.default_rng(8))
    rule = compile_rule(load_rule("clockwise"))
    with pytest.raises(ValueError, match="horizon: expected at least 1, found 0"):
        learner.play_trial(rule, boards, 0)
    with pytest.raises(ValueError, match="not of the rule's palettes"):
        learner.play_trial(rule, np.full((1, 36), 200, dtype=np.uint8), 10)
