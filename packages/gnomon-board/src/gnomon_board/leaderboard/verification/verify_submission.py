"""Verification of one submission, as the program of a limited child process.

``python -m gnomon_board.leaderboard.verification.verify_submission`` is started by
:mod:`gnomon_board.leaderboard.submissions.worker`. It receives what was assigned and claimed,
reads the rows of the log, and answers with the verdict and the scores: the very verification of
``gohr verify``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gnomon.errors import GnomonError
from gohr.child_process import answer_one_request
from gohr.experiments import (
    Assignment,
    Verdict,
    attempt_bytes,
    episode_errors,
    score_trial,
    verify_log,
)
from gohr.game import ACCEPTED, CLEARED
from gohr.learners import TrialLog, is_shown_the_rule


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Verify the log of a request; ``trials`` if all is well, else ``refused`` and the place."""
    import polars as pl

    assignment = Assignment.from_record(request["assignment"])
    manifest = request["manifest"]
    refusal = _refusal_of_config(assignment, manifest) if request["origin"] == "upload" else None
    if refusal is not None:
        return {"refused": refusal}
    totals = {
        (row["rule"], row["trial"]): {n: v for n, v in row.items() if n not in ("rule", "trial")}
        for row in manifest["totals"]
    }
    frame = pl.read_parquet(request["log"])
    trials = []
    for verdict in verify_log(frame, assignment, learner=manifest["learner"], totals=totals):
        if verdict.log is None:
            return {"refused": _sentence(verdict)}
        trials.append(trial_record(verdict.rule, verdict.trial, verdict.log))
    return {"trials": trials}


def _refusal_of_config(assignment: Assignment, manifest: Mapping[str, Any]) -> str | None:
    """Say why a run is refused by what its config says, if it is."""
    config = manifest["config"]
    try:
        difference = assignment.difference(Assignment.from_record(config))
    except (GnomonError, TypeError, ValueError, AttributeError) as error:
        return f"the config cannot be read: {str(error).splitlines()[0][:200]}"
    if difference is not None:
        return f"not what was assigned: {difference}"
    for learner in config.get("learners", ()):
        kind = learner.get("kind") if isinstance(learner, Mapping) else learner
        told = isinstance(learner, Mapping) and learner.get("reveal") is True
        if told or is_shown_the_rule(str(kind)):
            return f"the learner {str(kind)[:64]!r} was shown the rule"
    return None


def _sentence(verdict: Verdict) -> str:
    """Say where a trial first differs."""
    where = f"rule {verdict.rule}, trial {verdict.trial}"
    if verdict.episode is not None:
        where += f", episode {verdict.episode}"
    if verdict.attempt is not None:
        where += f", attempt {verdict.attempt}"
    return f"{where}: {verdict.reason}"


def trial_record(rule: str, number: int, log: TrialLog) -> dict[str, Any]:
    """Return the scores of a trial, as JSON can hold them: an infinite one is null."""
    to_learn = float(score_trial(log, "errors_to_learn"))
    errors = episode_errors(log)
    return {
        "rule": rule,
        "number": number,
        "tce": float(score_trial(log, "tce")),
        "errors_to_learn": to_learn if math.isfinite(to_learn) else None,
        "n_episodes": int(log.n_attempts.size),
        "n_attempts": int(log.n_attempts.sum()),
        "n_moves": int(np.count_nonzero(log.outcomes == ACCEPTED)),
        "n_cleared": int(np.count_nonzero(log.finish == CLEARED)),
        "curve": np.cumsum(errors).astype(int).tolist(),
        "log_sha256": hashlib.sha256(attempt_bytes(log)).hexdigest(),
    }


if __name__ == "__main__":
    answer_one_request(answer)
