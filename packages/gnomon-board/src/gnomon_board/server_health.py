"""Health of a server: faults of its disk, its worker and its evidence; figures for monitoring."""

from __future__ import annotations

import datetime
import errno
import shutil

from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from gnomon_board.errors import NoRoom
from gnomon_board.schema import Job, Submission, now
from gnomon_board.settings import MIB, Settings


def free_bytes(settings: Settings) -> int:
    """Return the free bytes of the disk of the data folder."""
    return shutil.disk_usage(settings.data).free


def jobs_by_state(session: Session) -> dict[str, int]:
    """Return the number of waiting jobs (``queued``) and of jobs with a worker (``running``)."""
    pending = select(Job.state, func.count()).where(Job.finished_at.is_(None)).group_by(Job.state)
    return {"queued": 0, "running": 0} | {str(state): n for state, n in session.execute(pending)}


def faults(session: Session, settings: Settings) -> list[str]:
    """Return the faults of the server, one line each.

    The disk has less than ``min_free_mib`` left; a job is older than the longest verification, and
    no worker has sent a heartbeat in that time (a long queue alone is no fault); or the log of a
    submission was damaged or missing when it was last read.
    """
    found = []
    free = free_bytes(settings) // MIB
    if free < settings.min_free_mib:
        found.append(f"the disk has {free} MiB left, less than {settings.min_free_mib}")
    since = now() - datetime.timedelta(seconds=settings.verify_timeout_s + settings.lease_s)
    oldest = session.scalar(select(func.min(Job.created_at)).where(Job.finished_at.is_(None)))
    if oldest is not None and oldest < since:
        # A job held at this moment is no criterion: between two jobs of a long queue none is.
        heard = session.scalar(select(func.max(Job.heartbeat_at)))
        if heard is None or heard < since:
            found.append(
                f"no worker has taken the job that has waited since {oldest:%Y-%m-%d %H:%M} UTC"
            )
    damaged = select(Submission.id).where(
        Submission.damaged_at.is_not(None), Submission.state.not_in(("withdrawn", "refused"))
    )
    if numbers := session.scalars(damaged.order_by(Submission.id)).all():
        listed = ", ".join(map(str, numbers[:20])) + (", ..." if len(numbers) > 20 else "")
        found.append(f"damaged or missing logs of submissions {listed}: restore them from a backup")
    return found


def no_room(error: Exception) -> NoRoom | None:
    """Return the refusal for an error caused by a full disk; None for other errors."""
    if isinstance(error, OperationalError):
        full = "is full" in str(error) or "No space left" in str(error)
    else:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return NoRoom("the server's disk is full: this request was not stored") if full else None
