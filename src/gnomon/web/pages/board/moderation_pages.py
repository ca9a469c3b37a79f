"""Pages of the audit log and of the methods by which scores are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import joinedload

from gnomon._version import __version__
from gnomon.database.schema import AuditRecord, Submission
from gnomon.leaderboard.standings.board_records import LEVEL, METRICS
from gnomon.leaderboard.submissions.job_queue import place_in_queue
from gnomon.web.api.dependencies import MaybeCaller, ReadSession
from gnomon.web.api.records import AuditLine, SubmissionRecord
from gnomon.web.pages.rendering.templating import html_response

__all__ = ["router"]

router = APIRouter(tags=["pages"])

_PAGE = 100
_OPEN = ("uploading", "queued", "verifying", "error")
Before = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


@dataclass(frozen=True)
class ModerationPage:
    """The newest entries of the log, a hundred at a time, and the submissions that wait.

    ``everything`` says whether the reader sees what is not for everybody.
    """

    lines: list[AuditLine]
    waiting: list[SubmissionRecord]
    everything: bool
    older_before: int | None


@router.get("/moderation.json")
def moderation_json(
    session: ReadSession, who: MaybeCaller, before: Before = None
) -> ModerationPage:
    """Tell what was done, the newest first, and which submissions wait."""
    everything = who is not None and who.may("moderate")
    query = select(AuditRecord).options(joinedload(AuditRecord.account))
    if not everything:
        query = query.where(AuditRecord.public)
    if before is not None:
        query = query.where(AuditRecord.id < before)
    found = session.scalars(query.order_by(AuditRecord.id.desc()).limit(_PAGE + 1)).all()
    waiting = session.scalars(
        select(Submission).where(Submission.state.in_(_OPEN)).order_by(Submission.id).limit(_PAGE)
    )
    return ModerationPage(
        [AuditLine.of(record) for record in found[:_PAGE]],
        [SubmissionRecord.of(each, place_in_queue(session, each.id)) for each in waiting],
        everything,
        found[_PAGE - 1].id if len(found) > _PAGE else None,
    )


@router.get("/moderation", include_in_schema=False)
def moderation_html(
    request: Request, session: ReadSession, who: MaybeCaller, before: Before = None
) -> Response:
    """Show what was done."""
    return html_response(request, "board/moderation.html", moderation_json(session, who, before))


@dataclass(frozen=True)
class MethodsPage:
    """The methods of this board, by name, and the version of the program."""

    gnomon: str
    level: float
    score: str
    metrics: tuple[str, ...]
    ranking: str


def _page() -> MethodsPage:
    return MethodsPage(__version__, LEVEL, "tce", METRICS, "hodge")


@router.get("/methods.json")
def methods_json() -> MethodsPage:
    """Tell by which methods scores and ranks are made."""
    return _page()


@router.get("/methods", include_in_schema=False)
def methods_html(request: Request) -> Response:
    """Show how scores are made."""
    return html_response(request, "board/methods.html", _page())
