"""How fast a run is verified: every attempt of every trial made again and compared."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.record import Measurement, best_seconds
from gohr import Board, ReferenceGame
from gohr.experiments import ExperimentConfig, run, verify, verify_log

RULES = ["clockwise", "color-match", "leftmost-first", "quota-of-two"]


def measure() -> Iterator[Measurement]:
    """Verify runs whose trials are long and short, as folders and as logs."""
    for learner, note in [("uniform", "long trials"), ("linear_dqn", "short trials")]:
        config = ExperimentConfig("verified", RULES, [learner], trials=10)
        with tempfile.TemporaryDirectory() as out:
            folder = run(config, Path(out) / "run")
            n = sum(record.n_attempts for record in folder.trials())
            log = {(x.rule, x.trial): each for x, each in folder.each(folder.trials())}
            assert verify(folder).ok
            of_folder = best_seconds(lambda at=folder: verify(at))
            of_log = best_seconds(lambda c=config, rows=log: list(verify_log(rows, c)))
        told = f"{note}: {n / config.n_trials:.0f} attempts, 200 episodes; boards dealt again"
        for what, seconds in [("run folder", of_folder), ("log", of_log)]:
            name = f"verifying a {what}, {learner}"
            yield Measurement(name, n / seconds / 1e6, "M attempts/s", 1.0, note=told)
    yield _by_reference()


def _by_reference() -> Measurement:
    """Time what the reference interpreter takes for the same, as the peer."""
    config = ExperimentConfig("peer", RULES[:1], ["uniform"], trials=1, episodes=50)
    with tempfile.TemporaryDirectory() as out:
        folder = run(config, Path(out) / "run")
        log = folder.log(folder.trials()[0])

    def replay() -> None:
        at = 0
        for board, n in zip(log.boards, log.n_attempts.tolist(), strict=True):
            game = ReferenceGame(config.rules[0].rule_set, Board.from_codes(board))
            for action in log.actions[at : at + n].tolist():
                game.attempt_at(action // 4 + 1, action % 4)
            at += n

    rate = log.actions.size / best_seconds(replay, 3) / 1e6
    return Measurement("peer: the reference interpreter", rate, "M attempts/s")
