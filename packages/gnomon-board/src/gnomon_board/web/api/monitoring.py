"""Health and metrics of the server, for its operator."""

from __future__ import annotations

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

from gnomon import __version__
from gnomon_board.errors import NotAllowed
from gnomon_board.server_health import faults, free_bytes, jobs_by_state
from gnomon_board.web.api.dependencies import CurrentSettings, ReadSession
from gnomon_board.web.middleware import address_of

router = APIRouter(tags=["server"])

#: Programs of this machine may read the metrics. A trusted proxy reports its client's address.
_THIS_MACHINE = ("127.0.0.1", "::1")


class Figures:
    """Counts and times of requests, and what is looked up when they are asked for."""

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
    figures.free.set(free_bytes(settings))
    figures.faults.set(len(faults(session, settings)))
    return PlainTextResponse(generate_latest(figures.registry), media_type=CONTENT_TYPE_LATEST)
