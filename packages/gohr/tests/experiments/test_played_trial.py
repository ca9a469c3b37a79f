"""What is kept with the attempts: the chance of a random player, unless the rule is hidden."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from gohr.errors import RunFolderError
from gohr.experiments import ExperimentConfig, RunFolder, run
from gohr.game import Board, ReferenceGame

# A rule that stalls, one that knows of turns, one whose boards are stuck as dealt, and one without
# tables for the engine.
RULES = [
    "clockwise",
    "quota-of-one",
    {"name": "never", "text": "(*,pentagon,*,*,0)"},
]
LEARNERS = ["uniform", {"kind": "linear_dqn", "plays_on": True}]


def counted(folder: RunFolder) -> list[float]:
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
    folder = run(config, tmp_path).folder
    p0 = folder.attempts()["p0"]
    np.testing.assert_array_equal(p0, counted(folder))
    assert 0 < np.nanmin(p0) < np.nanmax(p0) <= 1
    assert np.isnan(folder.attempts(rule="never")["p0"]).sum() == 12


def hidden(value: bool) -> ExperimentConfig:
    rule = {"name": "secret", "text": "(*,*,*,*,[0,1])", "hidden": value}
    return ExperimentConfig("season", ["clockwise", rule], ["uniform"], trials=2, episodes=3)


def test_of_a_hidden_rule_nothing_is_kept_that_tells_of_it(tmp_path):
    folder, public = (run(hidden(v), tmp_path / str(v)).folder for v in (True, False))
    for record in folder.trials():
        assert (folder.log(record).p0 is None) == (record.rule == "secret")
    attempts, public_ones = folder.attempts(), public.attempts()
    assert np.isnan(attempts["p0"][attempts["rule"] == "secret"]).all()
    for name in attempts.keys() - {"p0"}:
        np.testing.assert_array_equal(attempts[name], public_ones[name])


def test_hidden_or_not_is_part_of_the_experiment(tmp_path):
    run(hidden(True), tmp_path)
    assert RunFolder.open(tmp_path).config == hidden(True)
    with pytest.raises(RunFolderError, match="holds another experiment"):
        run(hidden(False), tmp_path)


def test_a_rule_that_is_not_hidden_is_written_as_ever():
    assert "hidden" not in json.dumps(hidden(False).to_record())
    assert asdict(hidden(False).rules[0])["hidden"] is False
