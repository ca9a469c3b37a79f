"""Pages of a submission, of its replays, and of the log of moderation."""

from __future__ import annotations

import itertools
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import joinedload

from gnomon_board.accounts import registration, waiting_requests
from gnomon_board.database import find_row
from gnomon_board.errors import Conflict, NotAllowed
from gnomon_board.evidence import attempts_of_trial
from gnomon_board.schema import AuditRecord, Submission, VerifiedTrial
from gnomon_board.submissions import shows_hidden_rules
from gnomon_board.web.api.dependencies import (
    CurrentSettings,
    DatabaseOf,
    MaybeCaller,
    ReadSession,
    RowId,
)
from gnomon_board.web.api.records import (
    AuditLine,
    SubmissionRecord,
    TokenRequestRecord,
    TrialRecord,
)
from gnomon_board.web.replays import replay_of
from gnomon_board.web.templating import PageLinks, html_response
from gohr import BoardSpec

router = APIRouter(tags=["pages"])

_MOST = 2**31 - 1


@router.get("/submissions/{number}", include_in_schema=False)
def submission(request: Request, session: ReadSession, number: RowId, who: MaybeCaller) -> Response:
    """Show a submission: its state with the reason, its scores, and what the reader may do."""
    found = find_row(session, Submission, number)
    trials = session.scalars(
        select(VerifiedTrial)
        .where(VerifiedTrial.submission_id == found.id)
        .options(joinedload(VerifiedTrial.rule))
        .order_by(VerifiedTrial.rule_id, VerifiedTrial.number)
    )
    moderates = who is not None and who.may("moderate")
    return html_response(
        request,
        "board/submission.html",
        public=True,
        submission=SubmissionRecord.with_place(found, session),
        season_title=found.season.title,
        division=found.season.division,
        trials=[TrialRecord.of(trial) for trial in trials],
        can_replay=found.state == "verified" and not shows_hidden_rules(found),
        moderates=moderates,
        owns=moderates or (who is not None and who.account_id == found.attempt.entry.account_id),
    )


# -- replays ---------------------------------------------------------------------------------------


@router.get("/submissions/{number}/replay", include_in_schema=False)
def replay(
    request: Request,
    session: ReadSession,
    database: DatabaseOf,
    settings: CurrentSettings,
    number: RowId,
    rule: Annotated[str, Query(max_length=128)] = "",
    trial: Annotated[int, Query(ge=0, le=_MOST)] = 0,
    episode: Annotated[int, Query(ge=0, le=_MOST)] = 0,
    step: Annotated[int, Query(ge=0, le=_MOST)] = 0,
) -> Response:
    """Show every attempt of an episode; without a rule, of the first one."""
    found = find_row(session, Submission, number)
    if found.state != "verified":
        raise Conflict(f"submission {found.id} is {found.state}: it has no replay")
    if shows_hidden_rules(found):
        raise NotAllowed("replays are shown once the hidden rules are revealed")
    rules = [each.name for each in found.season.rules]
    rule = rule or rules[0]
    log = attempts_of_trial(database, settings, found, rule, trial)
    learner = found.attempt.entry.name
    shown = replay_of(log, BoardSpec(**found.season.board), learner, rule, episode, step)
    values = {"rule": rule, "trial": trial, "episode": episode, "step": shown.step}
    defaults = {"trial": 0, "episode": 0, "step": 0}
    return html_response(
        request,
        "board/replay.html",
        public=True,
        submission=found,
        entry=found.attempt.entry,
        season=found.season,
        rules=rules,
        trial=trial,
        replay=shown,
        links=PageLinks(f"/submissions/{number}/replay", values, defaults),
    )


# -- moderation ------------------------------------------------------------------------------------

_PAGE = 100
_OPEN = ("uploading", "queued", "verifying", "error")


@router.get("/moderation", include_in_schema=False)
def moderation(
    request: Request,
    session: ReadSession,
    who: MaybeCaller,
    before: Annotated[int | None, Query(ge=1, le=_MOST)] = None,
) -> Response:
    """List the newest records of the log, a hundred at a time, and the submissions that wait.

    Moderators also see requests for tokens by network, and the switch of registration.
    """
    moderates = who is not None and who.may("moderate")
    query = select(AuditRecord).options(joinedload(AuditRecord.account))
    if not moderates:
        query = query.where(AuditRecord.public)
    if before is not None:
        query = query.where(AuditRecord.id < before)
    found = session.scalars(query.order_by(AuditRecord.id.desc()).limit(_PAGE + 1)).all()
    waiting = session.scalars(
        select(Submission).where(Submission.state.in_(_OPEN)).order_by(Submission.id).limit(_PAGE)
    )
    asked = [TokenRequestRecord.of(each) for each in waiting_requests(session) if moderates]
    return html_response(
        request,
        "board/moderation.html",
        public=True,
        lines=[AuditLine.of(record) for record in found[:_PAGE]],
        older_before=found[_PAGE - 1].id if len(found) > _PAGE else None,
        waiting=[SubmissionRecord.with_place(each, session) for each in waiting],
        moderates=moderates,
        registration=registration(session),
        requests=[[*group] for _, group in itertools.groupby(asked, lambda each: each.network)],
    )
