"""Verification of a log in one limited process: read, check, replay and score it.

``python -m gnomon_board.verification`` is that process. Its request holds the path of
the log, the assignment and the manifest. It answers with the scores of each trial; or ``refused``
with the first difference, or ``damaged`` if the log does not have the hash under which it was kept.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.errors import GnomonError
from gnomon_board.errors import Refusal
from gohr import ExperimentConfig, TrialLog
from gohr.child_process import answer_one_request
from gohr.experiments import METRICS, Verdict, attempt_bytes, episode_errors, read_log, verify_log
from gohr.game import ACCEPTED, CLEARED
from gohr.learners import is_shown_the_rule


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the scores of the trials of a log, or that it is damaged.

    Raises GnomonError: the log is refused, with the reason.
    """
    try:
        data = Path(request["log"]).read_bytes()
    except OSError:
        return {"damaged": True}
    if hashlib.sha256(data).hexdigest() != request["sha256"]:
        return {"damaged": True}
    trials = verified_trials(
        data,
        request["manifest"],
        request["assignment"],
        origin=request["origin"],
        max_rows=request["max_rows"],
        max_bytes=request["max_bytes"],
    )
    return {"trials": trials}


def verified_trials(
    data: bytes,
    manifest: Mapping[str, Any],
    assignment: Mapping[str, Any],
    *,
    origin: str = "upload",
    **limits: int,
) -> list[dict[str, Any]]:
    """Return the scores of each trial of a log, with the hash of its attempts.

    ``limits`` are those of :func:`gohr.experiments.read_log`.

    Raises GnomonError: the log is refused, with the first place that differs.
    """
    assigned = ExperimentConfig.from_record(assignment, trusted=False)
    if origin == "upload":
        _check_config(manifest["config"], assigned)
    claims = {(row["rule"], row["trial"]): row for row in manifest["totals"]}
    trials = []
    log = read_log(data, **limits)
    for verdict in verify_log(log, assigned, learner=manifest["learner"]):
        if not verdict.ok:
            raise _refusal(verdict, verdict.reason)
        trial = log[verdict.rule, verdict.trial]
        scores = trial_scores(trial)
        for name, claimed in claims.pop((verdict.rule, verdict.trial), {}).items():
            if name in ("n_attempts", "tce", "errors_to_learn") and claimed != scores[name]:
                raise _refusal(verdict, f"{name}: expected {scores[name]}, found {claimed}")
        named = {"rule": verdict.rule, "number": verdict.trial}
        digest = hashlib.sha256(attempt_bytes(trial)).hexdigest()
        trials.append(named | scores | {"log_sha256": digest})
    for rule, number in claims:
        raise Refusal(f"rule {rule}, trial {number}: totals of a trial that was not assigned")
    return trials


def _check_config(config: Mapping[str, Any], assigned: ExperimentConfig) -> None:
    """Refuse a run whose configuration differs, or whose learner is shown the rule."""
    try:
        difference = assigned.difference(ExperimentConfig.from_record(config, trusted=False))
    except (GnomonError, TypeError, ValueError, AttributeError) as error:
        raise Refusal(f"the config cannot be read: {str(error).splitlines()[0][:200]}") from None
    if difference is not None:
        raise Refusal(f"differs from the assignment: {difference}")
    for learner in config.get("learners", ()):
        kind = learner.get("kind") if isinstance(learner, Mapping) else learner
        told = isinstance(learner, Mapping) and learner.get("reveal") is True
        if told or is_shown_the_rule(str(kind)):
            raise Refusal(f"the learner {str(kind)[:64]!r} was shown the rule")


def _refusal(verdict: Verdict, reason: str) -> Refusal:
    """Return the refusal of a log, with the place of its first difference."""
    places = {
        "rule": verdict.rule,
        "trial": verdict.trial,
        "episode": verdict.episode,
        "attempt": verdict.attempt,
    }
    where = ", ".join(f"{name} {value}" for name, value in places.items() if value is not None)
    return Refusal(f"{where}: {reason}")


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


if __name__ == "__main__":
    answer_one_request(answer)
