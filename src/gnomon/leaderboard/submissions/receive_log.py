"""A log has come: it is read by another process, kept under its hash, and put into the queue."""

from __future__ import annotations

from gnomon.database.engine import Database
from gnomon.leaderboard.refusals import Refusal
from gnomon.leaderboard.settings import ServerSettings
from gnomon.leaderboard.submissions.submission import announced_sha256, find_submission, log_arrived
from gnomon.leaderboard.submissions.upload import Incoming, keep, read_log

__all__ = ["take_in"]


def take_in(
    database: Database, settings: ServerSettings, submission_id: int, incoming: Incoming
) -> None:
    """Take in the log of a submission.

    The order matters: the log is on the disk before a row says so, and whoever is killed between
    the two leaves a file that nobody misses and a client that asks again.

    Raises
    ------
    Refusal
        It is not the log that was announced, or not a log; the submission waits for another.
    """
    with database.reading() as session:
        submission = find_submission(session, submission_id)
    if submission.state != "uploading":
        return
    expected = announced_sha256(submission)
    if incoming.sha256 != expected:
        raise Refusal(
            f"log: expected the bytes with SHA-256 {expected}, "
            f"found {incoming.n_bytes} bytes with {incoming.sha256}"
        )
    n_rows = read_log(settings, incoming, submission.log_format)
    keep(settings, incoming)
    with database.writing() as session:
        locked = find_submission(session, submission_id, lock=True)
        log_arrived(session, locked, incoming.sha256, n_bytes=incoming.n_bytes, n_rows=n_rows)
