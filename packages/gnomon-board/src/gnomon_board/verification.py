"""Verification of a log in one limited process: read, check, replay and score it.

``python -m gnomon_board.verification`` is that process. Its request holds the path of
the log and the assignment. It answers with the scores of each trial; or ``refused``
with the first difference, or ``damaged`` if the log does not have the hash under which it was kept.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gnomon_board.errors import Refusal
from gohr import ExperimentConfig, TrialLog
from gohr.child_process import answer_one_request
from gohr.experiments import METRICS, attempt_bytes, episode_errors, read_log, verify_log, write_log
from gohr.outcomes import ACCEPTED, CLEARED
from gohr.playing import TrialInPlay


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the scores of the trials of a log, or that it is damaged."""
    try:
        data = Path(request["log"]).read_bytes()
    except OSError:
        return {"damaged": True}
    if hashlib.sha256(data).hexdigest() != request["sha256"]:
        return {"damaged": True}
    trials = verified_trials(
        data,
        request["assignment"],
        request["learner"],
        max_rows=request["max_rows"],
        max_bytes=request["max_bytes"],
    )
    return {"trials": trials}


def verified_trials(
    data: bytes, assignment: Mapping[str, Any], learner: str, **limits: Any
) -> list[dict[str, Any]]:
    """Return the scores of each trial of a log, with the hash of its attempts.

    ``limits`` are those of :func:`gohr.experiments.read_log`.
    """
    assigned = ExperimentConfig.from_record(assignment, trusted=False)
    trials = []
    log = read_log(data, max_trials=len(assigned.rules) * assigned.trials, **limits)
    for verdict in verify_log(log, assigned, learner=learner):
        if not verdict.ok:  # with the place of the first difference
            names = ("rule", "trial", "episode", "attempt")
            places = {name: getattr(verdict, name) for name in names}
            where = (f"{name} {value}" for name, value in places.items() if value is not None)
            raise Refusal(f"{', '.join(where)}: {verdict.reason}")
        trial = log[verdict.rule, verdict.trial]
        digest = hashlib.sha256(attempt_bytes(trial)).hexdigest()
        named = {"rule": verdict.rule, "number": verdict.trial, "log_sha256": digest}
        trials.append(named | trial_scores(trial))
    return trials


def trial_scores(log: TrialLog) -> dict[str, Any]:
    """Return the scores of a trial as JSON values; an infinite one is null."""
    errors = episode_errors(log)
    to_learn = float(METRICS["errors_to_learn"].compute(errors, log.finish))
    return {
        "tce": float(METRICS["tce"].compute(errors, log.finish)),
        "errors_to_learn": to_learn if math.isfinite(to_learn) else None,
        "n_episodes": int(log.n_attempts.size),
        "n_attempts": int(log.n_attempts.sum()),
        "n_moves": int(np.count_nonzero(log.outcomes == ACCEPTED)),
        "n_cleared": int(np.count_nonzero(log.finish == CLEARED)),
        "curve": np.cumsum(errors).tolist(),
    }


def load_kernels() -> None:
    """Verify a trial of one board, so that the kernels of the engine are loaded."""
    config = ExperimentConfig("kernels", ["anything-goes"], ["uniform"], trials=1, episodes=1)
    (rule,) = config.rules
    trial = TrialInPlay(config.deal(rule, 0), rule.rule_set, board_spec=config.board)
    while not trial.over:
        trial.attempt(int(trial.observation.action_mask.argmax()))
    verified_trials(write_log({(rule.name, 0): trial.log()}), config.to_record(), "uniform")


if __name__ == "__main__":
    answer_one_request(answer, load_kernels)
