"""The worker: takes submissions from the queue and has each verified in a limited process.

It keeps nothing of its own: killed at any moment, its job goes to the next worker when the lease
runs out, and the result of a job is written in one transaction with its end, once.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon._io.child_process import ProcessFailure, run_limited
from gnomon.database.engine import Database
from gnomon.database.tables import SeasonRule, Submission, VerifiedTrial
from gnomon.errors import LeaderboardError, visible
from gnomon.leaderboard.hidden.remote_submission import queue_played
from gnomon.leaderboard.seasons.entries import assignment_of
from gnomon.leaderboard.settings import ServerSettings
from gnomon.leaderboard.submissions import queue
from gnomon.leaderboard.submissions.submission import find_submission, set_state
from gnomon.leaderboard.submissions.upload import canonical_path

__all__ = ["work", "work_on_one"]

_log = logging.getLogger("gnomon.worker")
#: Between two looks into an empty queue, in seconds.
_PAUSE_S = 0.5
_SWEEP_S = 5.0


def work(
    database: Database, settings: ServerSettings, owner: str, stopped: threading.Event
) -> None:
    """Verify what the queue has, until stopped.

    Parameters
    ----------
    database : Database
    settings : ServerSettings
    owner : str
        The worker's name, which no other has.
    stopped : threading.Event
        Set by whoever wants it to end; a job that is running is given back.
    """
    swept = 0.0
    while not stopped.is_set():
        try:
            if time.monotonic() - swept > _SWEEP_S:
                # First: whatever goes wrong here must not keep the queue from being worked on.
                swept = time.monotonic()
                queue.sweep(database, settings)
                queue_played(database, settings)
            busy = work_on_one(database, settings, owner, stopped)
        except Exception:
            # Such as a database that is away for a while: the worker outlives it.
            _log.exception("the worker goes on after an error")
            busy = False
        if not busy:
            stopped.wait(_PAUSE_S)


def work_on_one(
    database: Database,
    settings: ServerSettings,
    owner: str,
    stopped: threading.Event | None = None,
) -> bool:
    """Verify the submission that has waited longest; return whether there was one."""
    held = queue.claim(database, owner, lease_s=settings.lease_s)
    if held is None:
        return False
    began = time.monotonic()

    most = settings.max_job_attempts

    def tick() -> None:
        nonlocal most
        queue.heartbeat(database, held, lease_s=settings.lease_s)
        if stopped is not None and stopped.is_set():
            most = held.n_attempts + 1  # that was nothing of the submission's doing
            raise ProcessFailure("the worker was stopped")

    try:
        with database.reading() as session:
            request = _request(session, settings, held.submission_id)
        answer = run_limited(
            "gnomon.leaderboard.verification.verify_submission",
            request,
            timeout_s=settings.verify_timeout_s,
            memory_mb=settings.verify_memory_mb,
            tick=tick,
            tick_s=settings.heartbeat_s,
        )
        with database.writing() as session:
            submission = queue.finish(session, held)
            _write(session, submission, answer, time.monotonic() - began)
    except queue.LeaseLost:
        _log.warning("job %d was given to another worker", held.job_id)
    except ProcessFailure as failure:
        queue.give_back(database, held, str(failure), most=most)
    except Exception as error:
        _log.exception("job %d", held.job_id)
        reason = f"the server failed: {type(error).__name__}"
        queue.give_back(database, held, reason, most=most)
    return True


def _request(session: Session, settings: ServerSettings, submission_id: int) -> dict[str, Any]:
    """Return what the verifying process has to know."""
    submission = find_submission(session, submission_id)
    if submission.log_sha256 is None:
        raise LeaderboardError(f"submission {submission_id} has no log")
    return {
        "log": str(canonical_path(settings, submission.log_sha256)),
        "origin": submission.origin,
        "manifest": submission.manifest,
        "assignment": assignment_of(submission.attempt).to_record(),
    }


def _write(
    session: Session, submission: Submission, answer: dict[str, Any], seconds: float
) -> None:
    """Write the verdict and the scores."""
    # Of an earlier verification; the same trials are told anew.
    for old in list(submission.trials):
        session.delete(old)
    session.flush()
    if "refused" in answer:
        set_state(session, submission, "refused", visible(str(answer["refused"]), kept="")[:500])
        return
    trials = answer["trials"]
    hashes = [trial["log_sha256"] for trial in trials]
    earlier = _same_trials(session, submission, hashes)
    if len(earlier) == len(trials) and trials:
        first = min(earlier.values())
        set_state(
            session, submission, "refused", f"every trial is one of submission {first}: a repeat"
        )
        return
    rules = dict(
        session.execute(
            select(SeasonRule.name, SeasonRule.id).where(
                SeasonRule.season_id == submission.season_id
            )
        ).all()
    )
    session.add_all(
        VerifiedTrial(
            submission_id=submission.id,
            rule_id=rules[trial["rule"]],
            **{name: value for name, value in trial.items() if name != "rule"},
        )
        for trial in trials
    )
    submission.n_attempts = sum(trial["n_attempts"] for trial in trials)
    submission.warnings = [
        f"rule {rule}, trial {number}: the same attempts as in submission {earlier[sha256]}"
        for trial in trials
        if (sha256 := trial["log_sha256"]) in earlier
        for rule, number in [(trial["rule"], trial["number"])]
    ][:100]
    n = submission.n_attempts
    set_state(session, submission, "verified", f"{n} attempts replayed in {seconds:.1f} s")


def _same_trials(session: Session, submission: Submission, hashes: list[str]) -> dict[str, int]:
    """Return which trials other submissions have too, and the first that has each."""
    found: dict[str, int] = {}
    for start in range(0, len(hashes), 500):
        rows = session.execute(
            select(VerifiedTrial.log_sha256, VerifiedTrial.submission_id)
            .where(
                VerifiedTrial.log_sha256.in_(hashes[start : start + 500]),
                VerifiedTrial.submission_id != submission.id,
            )
            .order_by(VerifiedTrial.submission_id.desc())
        )
        found.update((sha256, submission_id) for sha256, submission_id in rows)
    return found
