import numpy as np
import pytest
from scipy.stats import chisquare

from gohr import BoardSpec, draw_boards, play
from gohr.learners import Frugal, Observation, RulePlayer, Uniform
from gohr.rules import load_rule, parse


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
    log = play(boards, learner, parse("(*,*,*,*,2)"), horizon=1000)
    spread = np.sqrt(9 * 0.75) / 0.25 / np.sqrt(400)
    assert abs(log.n_attempts.mean() - 36) < 4 * spread


def test_no_failure_is_repeated_before_the_board_changes():
    boards = draw_boards(30, rng=np.random.default_rng(2))
    log = play(boards, Frugal(rng=np.random.default_rng(3)), load_rule("topmost-first"))
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
    log = play(boards, Frugal(rng=np.random.default_rng(5)), parse("(*,*,*,*,2)"), horizon=400)
    expected = sum((4 * k + 1) / (k + 1) for k in range(1, 10))
    spread = log.n_attempts.std() / np.sqrt(len(boards))
    assert abs(log.n_attempts.mean() - expected) < 4 * spread


def test_the_rule_player_varies_its_play():
    boards = draw_boards(40, rng=np.random.default_rng(2))
    log = play(boards, RulePlayer(rng=np.random.default_rng(3)), load_rule("clockwise"))
    assert set((log.actions[::9] % 4).tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("permitted", [None, np.zeros(144, dtype=np.int8)])
def test_the_rule_player_needs_to_be_shown_the_answer(permitted):
    mask = np.ones(144, dtype=np.int8)
    seen = Observation(np.ones(36, dtype=np.uint8), 0, 0, 0, mask, permitted)
    with pytest.raises(ValueError, match="at least one permitted attempt"):
        RulePlayer(rng=np.random.default_rng(4)).act(seen)
