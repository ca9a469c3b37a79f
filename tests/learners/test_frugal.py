import numpy as np
import pytest

from gnomon.game import BoardSpec, compile_rule, draw_boards
from gnomon.learners import Frugal, FusedLearner, play_trial
from gnomon.learners.trial import play_unfused
from gnomon.rules import load_rule, parse


@pytest.mark.parametrize("rule", ["color-match", "clockwise", "topmost-first", "b3-then-b1"])
@pytest.mark.parametrize("horizon", [1, 7, 100])
def test_the_fused_loop_is_act(rule, horizon):
    boards = draw_boards(20, rng=np.random.default_rng(0))
    compiled = compile_rule(load_rule(rule))
    fused, plain = (Frugal(rng=np.random.default_rng(1)) for _ in range(2))
    assert isinstance(fused, FusedLearner)
    a = fused.play_trial(compiled, boards, horizon)
    b = play_unfused(plain, compiled, boards, horizon)
    for field in ("boards", "n_attempts", "actions", "outcomes", "finish"):
        assert getattr(a, field).dtype == getattr(b, field).dtype
        assert getattr(a, field).tobytes() == getattr(b, field).tobytes()


def test_no_failure_is_repeated_before_the_board_changes():
    boards = draw_boards(30, rng=np.random.default_rng(2))
    log = play_trial(Frugal(rng=np.random.default_rng(3)), load_rule("topmost-first"), boards)
    tried: set[int] = set()
    stuck: set[int] = set()
    rows = iter(zip(log.actions.tolist(), log.outcomes.tolist(), strict=True))
    for n in log.n_attempts.tolist():
        tried, stuck = set(), set()
        for action, outcome in (next(rows) for _ in range(n)):
            assert action not in tried
            assert action // 4 not in stuck
            tried.add(action)
            if outcome == 7:
                stuck.add(action // 4)
            if outcome == 0:
                tried, stuck = set(), set()


def test_attempts_needed_are_those_of_drawing_without_replacement():
    # One bucket for any of k pieces: 4k attempts of which k work, so (4k + 1) / (k + 1) each.
    boards = draw_boards(800, BoardSpec(9, 0, 0), rng=np.random.default_rng(4))
    log = play_trial(
        Frugal(rng=np.random.default_rng(5)), parse("(*,*,*,*,2)"), boards, horizon=400
    )
    expected = sum((4 * k + 1) / (k + 1) for k in range(1, 10))
    spread = log.n_attempts.std() / np.sqrt(len(boards))
    assert abs(log.n_attempts.mean() - expected) < 4 * spread
