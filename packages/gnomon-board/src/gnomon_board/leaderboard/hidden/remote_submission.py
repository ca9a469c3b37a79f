"""Submission of remotely played attempts for verification, once all trials are over.

The server assembles its own log, stores it as evidence, and queues it for replay.
"""

from __future__ import annotations

import hashlib
import io
import logging

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.database.engine import Database
from gnomon_board.database.schema import EntryAttempt, Job, RemoteTrial, SeasonRule, Submission
from gnomon_board.leaderboard.assignment import assignment_of
from gnomon_board.leaderboard.evidence import keep_bytes
from gnomon_board.leaderboard.hidden.remote_game import RemoteGame
from gnomon_board.leaderboard.server_settings import Settings
from gnomon_board.leaderboard.submissions import set_state
from gohr.experiments import frame_of

_log = logging.getLogger("gnomon.worker")


def queue_played(database: Database, settings: Settings) -> int:
    """Submit every attempt whose trials have all been played; return their number.

    The server's own log is queued and replayed like any other log.
    """
    with database.reading() as session:
        unplayed = select(RemoteTrial.attempt_id).where(RemoteTrial.state == "playing")
        submitted = select(Submission.attempt_id)
        ready = session.scalars(
            select(RemoteTrial.attempt_id)
            .where(
                RemoteTrial.attempt_id.not_in(unplayed), RemoteTrial.attempt_id.not_in(submitted)
            )
            .distinct()
        ).all()
    for attempt_id in ready:
        try:
            _submit(database, settings, attempt_id)
        except Exception:
            # Tried again at the next sweep; the other attempts continue.
            _log.exception("attempt %d was played, and cannot be submitted", attempt_id)
    return len(ready)


def _submit(database: Database, settings: Settings, attempt_id: int) -> None:
    """Assemble the log of an attempt, and queue it."""
    with database.reading() as session:
        attempt = session.get_one(EntryAttempt, attempt_id)
        learner = attempt.entry.name
        data = _whole_log(session, attempt_id, learner)
    sha256 = hashlib.sha256(data).hexdigest()
    keep_bytes(settings, sha256, data)
    with database.writing() as session:
        attempt = session.get_one(EntryAttempt, attempt_id, with_for_update=True)
        if session.scalar(select(Submission.id).where(Submission.attempt_id == attempt_id)):
            return
        n_attempts = session.scalar(
            select(func.sum(func.length(RemoteTrial.actions))).where(
                RemoteTrial.attempt_id == attempt_id
            )
        )
        submission = Submission(
            season_id=attempt.entry.season_id,
            attempt_id=attempt_id,
            origin="server",
            manifest={"format": 1, "learner": learner, "config": {}, "card": None, "totals": []},
            log_sha256=sha256,
            log_format="parquet",
            log_bytes=len(data),
            n_attempts=n_attempts,
        )
        session.add(submission)
        session.flush()
        set_state(session, submission, "queued", "waiting for a worker")
        session.add(Job(submission_id=submission.id))


def _whole_log(session: Session, attempt_id: int, learner: str) -> bytes:
    """Return the log of an attempt as one Parquet file, in the form of an upload."""
    import polars as pl

    rows = session.execute(
        select(
            SeasonRule.name,
            RemoteTrial.number,
            RemoteTrial.actions,
        )
        .join(SeasonRule, SeasonRule.id == RemoteTrial.rule_id)
        .where(RemoteTrial.attempt_id == attempt_id)
        .order_by(RemoteTrial.id)
    ).all()
    assignment = assignment_of(session.get_one(EntryAttempt, attempt_id))
    frames = [
        frame_of(RemoteGame.of(assignment, row.name, row.number, row.actions).log()).select(
            pl.lit(learner).alias("learner"),
            pl.lit(row.name).alias("rule"),
            pl.lit(row.number, dtype=pl.Int32).alias("trial"),
            pl.all(),
        )
        for row in rows
    ]
    out = io.BytesIO()
    pl.concat(frames).write_parquet(out, compression="zstd", statistics=False)
    return out.getvalue()
