"""Pages of submissions, with withdrawal and moderation forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import joinedload

from gnomon.database.schema import Submission, VerifiedTrial
from gnomon.leaderboard.accounts.tokens import Caller
from gnomon.leaderboard.seasons.entry_registration import find_season
from gnomon.leaderboard.submissions.job_queue import place_in_queue
from gnomon.leaderboard.submissions.submission import (
    find_submission,
    refuse_later,
    requeue,
    shows_hidden_rules,
    withdraw,
)
from gnomon.web.api.dependencies import (
    After,
    MaybeCaller,
    ReadSession,
    RowId,
    Slug,
    WriteSession,
    caller,
)
from gnomon.web.api.entries import check_owner
from gnomon.web.api.records import SubmissionRecord, TrialRecord
from gnomon.web.pages.rendering.templating import html_response

__all__ = ["router"]

router = APIRouter(tags=["pages"])

Reason = Annotated[str, Form(max_length=4000)]
_PAGE = 100
#: States that something may still become of.
_LIVE = ("uploading", "queued", "verifying")


@dataclass(frozen=True)
class SubmissionsPage:
    """Submissions of a season in the order they came, a hundred at a time."""

    season: str
    season_title: str
    division: str
    submissions: list[SubmissionRecord]
    more_after: int | None


@dataclass(frozen=True)
class SubmissionPage:
    """A submission with its trials; ``can_replay`` is false while its rules are hidden."""

    submission: SubmissionRecord
    season_title: str
    division: str
    trials: list[TrialRecord]
    can_replay: bool


@router.get("/seasons/{name}/submissions.json")
def submissions_json(session: ReadSession, name: Slug, after: After = 0) -> SubmissionsPage:
    """List the submissions of a season, whatever became of them."""
    season = find_season(session, name)
    query = select(Submission).where(Submission.season_id == season.id, Submission.id > after)
    found = session.scalars(query.order_by(Submission.id).limit(_PAGE + 1)).all()
    shown = found[:_PAGE]
    return SubmissionsPage(
        season.name,
        season.title,
        season.division,
        [
            SubmissionRecord.of(each, place_in_queue(session, each.id) if _waits(each) else None)
            for each in shown
        ],
        shown[-1].id if len(found) > _PAGE else None,
    )


@router.get("/seasons/{name}/submissions", include_in_schema=False)
def submissions_html(
    request: Request, session: ReadSession, name: Slug, after: After = 0
) -> Response:
    """Show the submissions of a season."""
    return html_response(request, "board/submissions.html", submissions_json(session, name, after))


def _waits(submission: Submission) -> bool:
    return submission.state in _LIVE


@router.get("/submissions/{number}.json")
def submission_json(session: ReadSession, number: RowId) -> SubmissionPage:
    """Tell of a submission: its state with the reason, and the scores of its trials."""
    found = find_submission(session, number)
    query = (
        select(VerifiedTrial)
        .where(VerifiedTrial.submission_id == found.id)
        .options(joinedload(VerifiedTrial.rule))
        .order_by(VerifiedTrial.rule_id, VerifiedTrial.number)
    )
    replayed = found.season.division != "open" and found.state == "verified"
    return SubmissionPage(
        SubmissionRecord.of(found, place_in_queue(session, found.id) if _waits(found) else None),
        found.season.title,
        found.season.division,
        [TrialRecord.of(trial) for trial in session.scalars(query)],
        replayed and not shows_hidden_rules(found),
    )


@router.get("/submissions/{number}", include_in_schema=False)
def submission_html(
    request: Request, session: ReadSession, number: RowId, who: MaybeCaller
) -> Response:
    """Show a submission, with what the reader may do about it."""
    page = submission_json(session, number)
    owner = find_submission(session, number).attempt.entry.account_id
    return html_response(
        request,
        "board/submission.html",
        page,
        moderates=who is not None and who.may("moderate"),
        owns=who is not None and (who.account_id == owner or who.may("moderate")),
    )


@router.post("/submissions/{number}/withdraw", include_in_schema=False)
def withdraw_form(
    session: WriteSession,
    number: RowId,
    who: Annotated[Caller, Depends(caller("submit"))],
    reason: Reason = "",
) -> Response:
    """Withdraw a submission; a tombstone stays."""
    found = find_submission(session, number, lock=True)
    check_owner(found.attempt.entry, who)
    withdraw(session, found, reason, by=who.account_id)
    return RedirectResponse(f"/submissions/{number}", 303)


Moderator = Annotated[Caller, Depends(caller("moderate"))]


@router.post("/submissions/{number}/refuse", include_in_schema=False)
def refuse_form(
    session: WriteSession, number: RowId, who: Moderator, reason: Reason = ""
) -> Response:
    """Refuse, as a moderator, with a reason that everybody sees."""
    refuse_later(session, find_submission(session, number, lock=True), reason, by=who.account_id)
    return RedirectResponse(f"/submissions/{number}", 303)


@router.post("/submissions/{number}/requeue", include_in_schema=False)
def requeue_form(session: WriteSession, number: RowId, who: Moderator) -> Response:
    """Have a submission verified again."""
    requeue(session, find_submission(session, number, lock=True), by=who.account_id)
    return RedirectResponse(f"/submissions/{number}", 303)
