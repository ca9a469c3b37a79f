from dataclasses import replace

import numpy as np
import pytest

from gohr import Board, BoardSpec, ReferenceGame, draw_boards, play
from gohr.learners import Uniform, chance_of_success, make_learner
from gohr.replays import replay_log
from gohr.rules import load_rule, parse

RULES = ["clockwise", "color-match", "topmost-first", "quota-of-two", "stars-first"]


def played(kind, rule, n_boards=6, horizon=40, **settings):
    rng = np.random.default_rng(1)
    learner = make_learner(kind, BoardSpec(), rng=rng, **settings)
    return play(draw_boards(n_boards, rng=rng), learner, rule, horizon=horizon)


def by_the_reference(rule, log):
    """Count with the reference interpreter, one attempt at a time."""
    rows = iter(log.actions.tolist())
    for board, n in zip(log.boards, log.n_attempts.tolist(), strict=True):
        game = ReferenceGame(rule, Board.from_codes(board))
        for action in (next(rows) for _ in range(n)):
            over = game.finish != 0
            yield 4 * len(game.pieces), 0 if over else len(game.legal_moves())
            game.attempt_at(action // 4 + 1, action % 4)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("kind", "settings"),
    [("uniform", {}), ("frugal", {}), ("linear_dqn", {}), ("linear_dqn", {"plays_on": True})],
)
def test_counts_are_the_reference_s(rule, kind, settings):
    rule = load_rule(rule)
    log = played(kind, rule, n_boards=23, **settings)  # more than are replayed side by side
    counts = replay_log(log, rule)
    expected = np.array(list(by_the_reference(rule, log)))
    assert (4 * counts.n_pieces).tolist() == expected[:, 0].tolist()
    assert counts.n_permitted.tolist() == expected[:, 1].tolist()


def test_a_log_of_another_rule_is_refused():
    log = played("uniform", load_rule("clockwise"))
    with pytest.raises(ValueError, match="played under this rule, found other outcomes"):
        chance_of_success(load_rule("color-match"), log)


@pytest.mark.parametrize("code", [0, 3, 4, 7, -4])
def test_no_other_outcome_is_believed(code):
    rule = parse("(*,star,*,*,0)")
    log = played("linear_dqn", rule, n_boards=23, plays_on=True)
    assert set(log.outcomes.tolist()) == {0, 3, 4, 7, -4}
    for row in np.flatnonzero(log.outcomes != code)[::97]:
        outcomes = log.outcomes.copy()
        outcomes[row] = code
        with pytest.raises(ValueError, match="played under this rule"):
            replay_log(replace(log, outcomes=outcomes), rule)


def test_an_attempt_that_is_none_is_no_attempt_of_the_rule():
    rule = load_rule("clockwise")
    log = played("uniform", rule)
    log.actions[5] = 144
    with pytest.raises(ValueError, match="from 0 to 143"):
        replay_log(log, rule)


def test_episodes_without_attempts_are_passed_over():
    rule = parse("(*,star,*,*,[0,2])")
    spec = BoardSpec(pieces=(1, 3), shapes=0, colors=0)
    rng = np.random.default_rng(1)
    log = play(draw_boards(60, spec, rng=rng), Uniform(rng=rng), rule, board_spec=spec)
    assert 10 < (log.n_attempts == 0).sum() < 50
    counts = replay_log(log, rule, board_spec=spec)
    expected = np.array(list(by_the_reference(rule, log)))
    assert counts.n_permitted.tolist() == expected[:, 1].tolist()


def test_a_trial_without_attempts_has_no_chances():
    rule = parse("(*,pentagon,*,*,0)")
    assert chance_of_success(rule, played("uniform", rule)).tolist() == []
