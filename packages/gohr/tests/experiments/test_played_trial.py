"""What is kept with the attempts: the chance of a random player."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gohr import Board, ReferenceGame
from gohr.experiments import ExperimentConfig, Run, run

# A rule that stalls, one that knows of turns, one whose boards are stuck as dealt, and one without
# tables for the engine.
RULES = [
    "clockwise",
    "quota-of-one",
    {"name": "never", "text": "(*,pentagon,*,*,0)"},
]
LEARNERS = ["uniform", {"kind": "linear_dqn", "plays_on": True}]


def counted(folder: Run) -> list[float]:
    """Count what is permitted before each attempt with the reference interpreter."""
    chances: list[float] = []
    rules = {entry.name: entry.rule_set for entry in folder.config.rules}
    for record in folder.trials():
        log = folder.log(record)
        row = 0
        for board, n_attempts in zip(log.boards, log.n_attempts.tolist(), strict=True):
            game = ReferenceGame(rules[record.rule], Board.from_codes(board, folder.config.board))
            chances += [math.nan] * (n_attempts == 0)
            for action in log.actions[row : row + n_attempts].tolist():
                n_pieces = len(game.pieces)
                permitted = len(game.legal_moves()) if game.finish == 0 else 0
                chances.append(permitted / (4 * n_pieces) if n_pieces else 0.0)
                game.attempt_at(action // 4 + 1, action % 4)
            row += n_attempts
    return chances


@pytest.mark.filterwarnings("ignore::gohr.errors.StuckRuleWarning")
def test_every_attempt_has_the_chance_that_the_reference_counts(tmp_path):
    config = ExperimentConfig("chances", RULES, LEARNERS, trials=2, episodes=3, horizon=30)
    folder = run(config, tmp_path)
    p0 = folder.attempts()["p0"]
    np.testing.assert_array_equal(p0, counted(folder))
    assert 0 < np.nanmin(p0) < np.nanmax(p0) <= 1
    assert np.isnan(folder.attempts(rule="never")["p0"]).sum() == 12
