"""Is the server well? For whoever watches it."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel
from sqlalchemy import func, select

from gnomon import __version__
from gnomon.database.tables import Job
from gnomon.web.api.dependencies import ReadSession

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["server"])


class Health(BaseModel):
    """The version, and how much waits."""

    gnomon: str
    queued: int
    running: int


@router.get("/health")
def health(session: ReadSession) -> Health:
    """Tell that the server and its database answer, and how long the queue is."""
    counts = dict(
        session.execute(
            select(Job.state, func.count()).where(Job.finished_at.is_(None)).group_by(Job.state)
        ).all()
    )
    return Health(
        gnomon=__version__, queued=counts.get("queued", 0), running=counts.get("running", 0)
    )
