"""Forms of registration and upload in a browser."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select

from gnomon.database.engine import Database
from gnomon.database.schema import Season
from gnomon.leaderboard.accounts.rate_limits import HOUR_S, count_or_refuse
from gnomon.leaderboard.accounts.tokens import Caller
from gnomon.leaderboard.hidden.begun_attempts import keep_address
from gnomon.leaderboard.refusals import Refusal, TooLarge
from gnomon.leaderboard.seasons.entry_registration import (
    assignment_of,
    attempt_of,
    find_entry,
    find_season,
    new_attempt,
    register,
    takes_entries,
)
from gnomon.leaderboard.seasons.learner_card import LearnerCard
from gnomon.leaderboard.server_settings import ServerSettings
from gnomon.leaderboard.submissions.manifest import Manifest, read_manifest
from gnomon.leaderboard.submissions.submission import announce
from gnomon.leaderboard.submissions.uploaded_logs import FORMATS, receive, receiving, take_in
from gnomon.web.api.dependencies import (
    CurrentSettings,
    DatabaseOf,
    MaybeCaller,
    ReadSession,
    RowId,
    WriteSession,
    caller,
    site_of,
)
from gnomon.web.api.seasons import check_owner
from gnomon.web.client_limits import Intake, count_upload
from gnomon.web.middleware import address_of
from gnomon.web.pages.card_page import KINDS, CardForm
from gnomon.web.pages.templating import html_response

router = APIRouter(tags=["pages"])

Submitter = Annotated[Caller, Depends(caller("submit"))]
_CHUNK = 1 << 20


@dataclass(frozen=True)
class OpenSeason:
    """A season that takes entries now."""

    name: str
    title: str
    division: str


@dataclass(frozen=True)
class SubmitPage:
    """The seasons that take entries now."""

    seasons: list[OpenSeason]


@dataclass(frozen=True)
class AttemptPage:
    """An attempt that waits for its log; with what its season has to be played."""

    entry: int
    learner: str
    attempt: int
    season: str
    season_title: str
    division: str
    rules: list[str]
    trials: int
    episodes: int
    horizon: int
    board: dict[str, Any]


@router.get("/submit.json")
def submit_json(session: ReadSession) -> SubmitPage:
    """List the seasons that take entries now."""
    seasons = session.scalars(select(Season).order_by(Season.division == "open", Season.id.desc()))
    return SubmitPage(
        [
            OpenSeason(season.name, season.title, season.division)
            for season in seasons
            if takes_entries(season)
        ]
    )


@router.get("/submit", include_in_schema=False)
def submit_html(request: Request, session: ReadSession, who: MaybeCaller) -> Response:
    """Show how a learner gets onto the board, with the form to register one."""
    may = who is not None and who.may("submit")
    blank = LearnerCard()
    return html_response(
        request, "board/submit.html", submit_json(session), may=may,
        server=site_of(request), kinds=KINDS, blank=blank,
    )  # fmt: skip


@router.post("/submit/register", include_in_schema=False)
def register_form(
    session: WriteSession,
    who: Submitter,
    card: CardForm,
    season: Annotated[str, Form(max_length=128)],
    name: Annotated[str, Form(max_length=200)],
    description: Annotated[str, Form(max_length=8000)] = "",
    link: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """Register a learner, and lead to its first attempt."""
    found = find_season(session, season)
    entry = register(
        session, found, who.account_id, name, description=description, link=link, card=card
    )
    return RedirectResponse(f"/entries/{entry.id}/attempts/1/submit", 303)


@router.post("/entries/{entry_id}/attempts", include_in_schema=False)
def new_attempt_form(session: WriteSession, who: Submitter, entry_id: RowId) -> Response:
    """Assign the next attempt, and lead to it."""
    entry = find_entry(session, entry_id)
    check_owner(entry, who)
    attempt = new_attempt(session, entry)
    return RedirectResponse(f"/entries/{entry_id}/attempts/{attempt.number}/submit", 303)


@router.get("/entries/{entry_id}/attempts/{number}/submit.json")
def attempt_json(session: ReadSession, entry_id: RowId, number: RowId) -> AttemptPage:
    """Tell of an attempt that waits for its log."""
    entry = find_entry(session, entry_id)
    attempt = attempt_of(entry, number)
    season = entry.season
    return AttemptPage(
        *(entry.id, entry.name, attempt.number, season.name, season.title, season.division),
        *([rule.name for rule in season.rules], season.trials, season.episodes),
        *(season.horizon, season.board),
    )


@router.get("/entries/{entry_id}/attempts/{number}/submit", include_in_schema=False)
def attempt_html(
    request: Request, session: ReadSession, who: MaybeCaller, entry_id: RowId, number: RowId
) -> Response:
    """Show the form by which a log is sent."""
    page = attempt_json(session, entry_id, number)
    owner = find_entry(session, entry_id).account_id
    may = who is not None and who.may("submit") and who.account_id == owner
    shown, server = "board/attempt.html", site_of(request)
    return html_response(request, shown, page, may=may, formats=FORMATS, server=server)


@router.post("/entries/{entry_id}/attempts/{number}/submit", include_in_schema=False)
async def send_form(
    request: Request,
    database: DatabaseOf,
    settings: CurrentSettings,
    who: Submitter,
    entry_id: RowId,
    number: RowId,
    log: Annotated[UploadFile, File()],
    log_format: Annotated[str, Form(max_length=16)] = "parquet",
    learner: Annotated[str, Form(max_length=128)] = "",
    manifest: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Take in a log, and lead to the submission."""
    told = None
    if manifest is not None and manifest.filename:
        told = await manifest.read(settings.max_manifest_bytes + 1)
        if len(told) > settings.max_manifest_bytes:
            raise TooLarge(f"expected a manifest of at most {settings.max_manifest_bytes} bytes")
    intake: Intake = request.app.state.intake
    with intake.uploads.held(who.account_id), receiving(settings) as incoming:
        await receive(_parts(log), incoming, settings.max_upload_bytes)
        address = address_of(request.scope)
        await run_in_threadpool(count_upload, database, settings, who, address, incoming.n_bytes)
        facts = {
            "log_format": log_format,
            "log_sha256": incoming.sha256,
            "log_bytes": incoming.n_bytes,
        }
        number_of = await run_in_threadpool(
            _announced, database, settings, who, address, entry_id, number, told, learner, facts
        )
        take = partial(take_in, database, settings, number_of, incoming)
        await intake.read(request, (who.account_id, address), take)
    return RedirectResponse(f"/submissions/{number_of}", 303)


async def _parts(log: UploadFile) -> AsyncIterator[bytes]:
    while part := await log.read(_CHUNK):
        yield part


def _announced(
    database: Database,
    settings: ServerSettings,
    who: Caller,
    address: str,
    entry_id: int,
    number: int,
    told: bytes | None,
    learner: str,
    facts: dict[str, Any],
) -> int:
    """Announce the log that has come, and return the number of its submission."""
    if facts["log_format"] not in FORMATS:
        raise Refusal(f"log_format: expected one of {', '.join(FORMATS)}")
    if not facts["log_bytes"]:
        raise Refusal("log: expected a file, found nothing")
    with database.writing() as session:
        key = f"submit {who.account_id}"
        count_or_refuse(session, key, settings.submissions_per_hour, HOUR_S)
    with database.writing() as session:
        entry = find_entry(session, entry_id)
        check_owner(entry, who)
        attempt = attempt_of(entry, number)
        if told is not None:
            manifest = read_manifest(told).model_copy(update=facts)
        else:
            # Without a manifest nothing is claimed but that this is what was assigned.
            config = tomllib.loads(assignment_of(attempt).to_toml())
            record = {"learner": learner or entry.name, "config": config, **facts}
            manifest = Manifest.model_validate(record)
        keep_address(session, attempt, address)
        return announce(session, settings, attempt, manifest).id
