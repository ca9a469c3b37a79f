import numpy as np
import pytest

from gnomon.game import draw_boards
from gnomon.learners import Observation, RulePlayer, play_trial
from gnomon.rules import load_rule


@pytest.mark.parametrize("rule", ["color-match", "clockwise", "b23-then-b01", "b3-then-b1"])
def test_it_never_errs(rule):
    boards = draw_boards(10, rng=np.random.default_rng(0))
    log = play_trial(RulePlayer(rng=np.random.default_rng(1)), load_rule(rule), boards)
    assert log.n_attempts.tolist() == [9] * 10
    assert log.finish.tolist() == [1] * 10
    assert not log.outcomes.any()


def test_it_varies_its_play():
    boards = draw_boards(40, rng=np.random.default_rng(2))
    log = play_trial(RulePlayer(rng=np.random.default_rng(3)), load_rule("clockwise"), boards)
    assert set((log.actions[::9] % 4).tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("permitted", [None, np.zeros(144, dtype=np.int8)])
def test_it_needs_to_be_shown_the_answer(permitted):
    mask = np.ones(144, dtype=np.int8)
    seen = Observation(np.ones(36, dtype=np.uint8), 0, 0, 0, mask, permitted)
    with pytest.raises(ValueError, match="at least one permitted attempt"):
        RulePlayer(rng=np.random.default_rng(4)).act(seen)
