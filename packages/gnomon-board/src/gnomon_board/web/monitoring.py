"""Health and metrics of the server, for its operator."""

from __future__ import annotations

import datetime
import errno

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from gnomon import __version__
from gnomon_board.errors import NoRoom, NotAllowed
from gnomon_board.schema import Submission, now
from gnomon_board.settings import MIB, Settings
from gnomon_board.web.api.dependencies import CurrentSettings, ReadSession
from gnomon_board.web.middleware import address_of

router = APIRouter(tags=["server"])

#: Programs of this machine may read the metrics. A trusted proxy reports its client's address.
_THIS_MACHINE = ("127.0.0.1", "::1")


_IN_QUEUE = Submission.state.in_(("queued", "verifying"))


def jobs_by_state(session: Session) -> dict[str, int]:
    """Return the numbers of submissions that wait for a worker, and that one verifies."""
    pending = select(Submission.state, func.count()).where(_IN_QUEUE).group_by(Submission.state)
    return {"queued": 0, "verifying": 0} | dict(session.execute(pending).all())


def faults(session: Session, settings: Settings) -> list[str]:
    """Return the faults of the server, one line each.

    The disk has less than ``min_free_mib`` left; a submission waits longer than the longest
    verification, and no worker has sent a heartbeat in that time (a long queue alone is no fault);
    or the log of a submission was damaged or missing when it was last read.
    """
    found = []
    free = settings.free_bytes() // MIB
    if free < settings.min_free_mib:
        found.append(f"the disk has {free} MiB left, less than {settings.min_free_mib}")
    since = now() - datetime.timedelta(seconds=settings.verify_timeout_s + settings.lease_s)
    oldest = session.scalar(select(func.min(Submission.queued_at)).where(_IN_QUEUE))
    if oldest is not None and oldest < since:
        # Whether one is held at this moment is no criterion: between two of a long queue none is.
        heard = session.scalar(select(func.max(Submission.heartbeat_at)))
        if heard is None or heard < since:
            found.append(f"a submission has waited for a worker since {oldest:%Y-%m-%d %H:%M} UTC")
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


class Figures:
    """Counts and times of requests, and gauges that are read when ``/metrics`` is requested."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "gnomon_requests", "Requests answered.", ["method", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "gnomon_request_seconds", "Seconds until a response begins.", registry=self.registry
        )
        self.jobs = Gauge("gnomon_jobs", "Jobs, by state.", ["state"], registry=self.registry)
        self.free = Gauge(
            "gnomon_disk_free_bytes", "Bytes free on the disk of the data.", registry=self.registry
        )
        self.faults = Gauge(
            "gnomon_faults", "Problems that /healthz reports.", registry=self.registry
        )

    def told(self, method: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.requests.labels(method, str(status)).inc()
        self.seconds.observe(seconds)


@router.get("/healthz", include_in_schema=False)
def healthz(session: ReadSession, settings: CurrentSettings) -> Response:
    """Answer 200 if all is well, else 503, with the faults and the length of the queue."""
    found = faults(session, settings)
    record = {"gnomon": __version__, "faults": found, **jobs_by_state(session)}
    return JSONResponse(record, 503 if found else 200)


@router.get("/metrics", include_in_schema=False)
def metrics(request: Request, session: ReadSession, settings: CurrentSettings) -> Response:
    """Return figures in the format of Prometheus, to programs of this machine."""
    if address_of(request.scope) not in _THIS_MACHINE:
        raise NotAllowed("the metrics can be read on the server's machine only")
    figures: Figures = request.app.state.figures
    for state, n in jobs_by_state(session).items():
        figures.jobs.labels(state).set(n)
    figures.free.set(settings.free_bytes())
    figures.faults.set(len(faults(session, settings)))
    return PlainTextResponse(generate_latest(figures.registry), media_type=CONTENT_TYPE_LATEST)
