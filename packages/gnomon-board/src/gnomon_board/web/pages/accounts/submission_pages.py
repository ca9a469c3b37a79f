"""Pages of submissions: lists, scores, replays of episodes, moderation and its log."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from gnomon_board.accounts import Registration, registration, waiting_requests
from gnomon_board.database.schema import AuditRecord, Season, Submission, VerifiedTrial
from gnomon_board.leaderboard.hidden.begun_attempts import accounts_of_one_address
from gnomon_board.leaderboard.submissions import find_submission, shows_hidden_rules
from gnomon_board.web.api.dependencies import MaybeCaller, ReadSession, RowId
from gnomon_board.web.api.records import (
    AuditLine,
    SubmissionRecord,
    TokenRequestRecord,
    TrialRecord,
)
from gnomon_board.web.pages.templating import html_response, page

router = APIRouter(tags=["pages"])

_PAGE = 100


@dataclass(frozen=True)
class SubmissionPage:
    """A submission with its trials; ``can_replay`` is false while its rules are hidden."""

    submission: SubmissionRecord
    season_title: str
    division: str
    trials: list[TrialRecord]
    can_replay: bool


def submission_page(session: Session, number: int) -> SubmissionPage:
    """Return a submission: its state with the reason, and the scores of its trials."""
    found = find_submission(session, number)
    query = (
        select(VerifiedTrial)
        .where(VerifiedTrial.submission_id == found.id)
        .options(joinedload(VerifiedTrial.rule))
        .order_by(VerifiedTrial.rule_id, VerifiedTrial.number)
    )
    return SubmissionPage(
        SubmissionRecord.of(found, session),
        found.season.title,
        found.season.division,
        [TrialRecord.of(trial) for trial in session.scalars(query)],
        found.state == "verified" and not shows_hidden_rules(found),
    )


@router.get("/submissions/{number}", include_in_schema=False)
def submission_html(
    request: Request, session: ReadSession, number: RowId, who: MaybeCaller
) -> Response:
    """Show a submission, with what the reader may do about it."""
    content = submission_page(session, number)
    owner = find_submission(session, number).attempt.entry.account_id
    return html_response(
        request,
        "board/submission.html",
        content,
        public=True,
        moderates=who is not None and who.may("moderate"),
        owns=who is not None and (who.account_id == owner or who.may("moderate")),
    )


_OPEN = ("uploading", "queued", "verifying", "error")
Before = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


@dataclass(frozen=True)
class SharedAddress:
    """Accounts that began or sent attempts of a season from one address, which is not kept."""

    season: str
    accounts: tuple[str, ...]


@dataclass(frozen=True)
class ModerationPage:
    """The newest entries of the log, a hundred at a time, and the submissions that wait.

    ``everything`` says whether the reader is a moderator; ``one_address`` then has the accounts
    that began attempts of a season from one address, ``requests`` the waiting requests for a token
    by network, and ``registration`` is the switch.
    """

    lines: list[AuditLine]
    waiting: list[SubmissionRecord]
    everything: bool
    older_before: int | None
    one_address: list[SharedAddress]
    requests: list[list[TokenRequestRecord]]
    registration: Registration


@page(router, "/moderation", "board/moderation.html", public=True)
def moderation_page(
    session: ReadSession, who: MaybeCaller, before: Before = None
) -> ModerationPage:
    """List the newest records of the log, and the submissions that wait."""
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
        [SubmissionRecord.of(each, session) for each in waiting],
        everything,
        found[_PAGE - 1].id if len(found) > _PAGE else None,
        _of_one_address(session) if everything else [],
        _requests(session) if everything else [],
        registration(session),
    )


def _requests(session: Session) -> list[list[TokenRequestRecord]]:
    found = map(TokenRequestRecord.of, waiting_requests(session))
    return [[*group] for _, group in itertools.groupby(found, lambda each: each.network)]


def _of_one_address(session: Session) -> list[SharedAddress]:
    return [
        SharedAddress(season.name, names)
        for season in session.scalars(select(Season).order_by(Season.id)).all()
        for names in accounts_of_one_address(session, season.id)
    ]
