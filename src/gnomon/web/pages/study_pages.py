"""Pages of studies: plans, invitations, players, transcripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from sqlalchemy.orm import Session

from gnomon.database.schema import Study
from gnomon.leaderboard.accounts.rate_limits import HOUR_S, count_or_refuse
from gnomon.leaderboard.accounts.tokens import Caller
from gnomon.leaderboard.refusals import Conflict, Missing
from gnomon.leaderboard.server_settings import ServerSettings
from gnomon.studies.game_store import find_game
from gnomon.studies.study_plan import StudyPlan
from gnomon.studies.study_store import (
    PlayerRecord,
    StudyLine,
    close_study,
    find_invitation,
    find_player,
    go_on,
    invite_anew,
    join,
    make_study,
    players_of,
    scores_text,
    study_lines,
    study_transcript,
)
from gnomon.web.api.dependencies import (
    CsrfChecked,
    CurrentSettings,
    ReadSession,
    RowId,
    WriteSession,
    caller,
)
from gnomon.web.middleware import address_of
from gnomon.web.pages.game_pages import Key
from gnomon.web.pages.templating import html_response, twin

router = APIRouter(tags=["studies"])

Admin = Annotated[Caller, Depends(caller("admin"))]
Checked = Annotated[None, CsrfChecked]

#: What the form for a new study begins with.
EXAMPLE = """\
name = "pilot"
title = "Which rules do people find?"
consent = \"\"\"
You will play three puzzles of up to eight boards each. Every attempt and its time is kept, under a
number that says nothing of you. You may stop at any time by closing the page.\"\"\"
episodes = 8
memory_aid = true
show_curves = false

[lists]   # a new player gets the list with the fewest
a = ["clockwise", "color-match", "red-first"]
b = ["red-first", "color-match", "clockwise"]
"""


@dataclass(frozen=True)
class StudiesPage:
    """All studies of the server."""

    studies: list[StudyLine]


@dataclass(frozen=True)
class StudyPage:
    """A study: its plan, its players by pseudonym, and whether it is closed."""

    id: int
    name: str
    title: str
    closed: bool
    plan: StudyPlan
    players: list[PlayerRecord]


@dataclass(frozen=True)
class InvitationPage:
    """What somebody who is invited reads first."""

    title: str
    consent: str
    n_rules: int
    episodes: int


@dataclass(frozen=True)
class PlayerPage:
    """Where a player of a study stands."""

    title: str
    n_played: int
    n_rules: int
    finished: bool


# -- for those who make studies ----------------------------------------------------------------


@twin(router, "/studies", "play/studies.html", example=EXAMPLE)
def studies_json(session: ReadSession, who: Admin) -> StudiesPage:
    """List the studies."""
    return StudiesPage(study_lines(session))


@router.post("/studies", include_in_schema=False)
def make_form(
    request: Request,
    session: WriteSession,
    settings: CurrentSettings,
    who: Admin,
    plan: Annotated[str, Form(max_length=100_000)],
) -> Response:
    """Make a study, and show its invitation, once."""
    study, key = make_study(session, StudyPlan.from_toml(plan), by=who.account_id)
    return _invited(request, settings, study, key)


def _invited(request: Request, settings: ServerSettings, study: Study, key: str) -> Response:
    """Show an invitation, once."""
    base = settings.public_url or str(request.base_url).rstrip("/")
    line = StudyLine.of(study)
    link = f"{base}/join/{key}"
    return html_response(request, "play/study_made.html", line, json=False, status=201, link=link)


@router.post("/studies/{number}/invitation", include_in_schema=False)
def invite_form(
    request: Request,
    session: WriteSession,
    settings: CurrentSettings,
    who: Admin,
    number: RowId,
) -> Response:
    """Make another invitation, and show it, once."""
    study = _find(session, number)
    return _invited(request, settings, study, invite_anew(session, study, by=who.account_id))


@router.post("/studies/{number}/close", include_in_schema=False)
def close_form(session: WriteSession, who: Admin, number: RowId) -> Response:
    """Let nobody else join."""
    close_study(session, _find(session, number), by=who.account_id)
    return RedirectResponse(f"/studies/{number}", 303)


@twin(router, "/studies/{number}", "play/study.html")
def study_json(session: ReadSession, who: Admin, number: RowId) -> StudyPage:
    """Tell of a study."""
    study = _find(session, number)
    plan = StudyPlan.from_record(study.plan)
    line = StudyLine.of(study)
    players = players_of(session, study)
    return StudyPage(study.id, study.name, study.title, line.closed, plan, players)


@router.get("/studies/{number}/transcript.csv", response_class=PlainTextResponse)
def transcript(session: ReadSession, who: Admin, number: RowId) -> Response:
    """Return every attempt, in the detailed format of the reference game server."""
    study = _find(session, number)
    return _file(f"{study.name}-transcript.csv", study_transcript(session, study))


@router.get("/studies/{number}/scores.csv", response_class=PlainTextResponse)
def scores(session: ReadSession, who: Admin, number: RowId) -> Response:
    """Return the scores as a tidy table: players as algorithms, rules as tasks."""
    study = _find(session, number)
    return _file(f"{study.name}-scores.csv", scores_text(session, study))


def _find(session: Session, number: int) -> Study:
    study = session.get(Study, number)
    if study is None:
        raise Missing(f"there is no study {number}")
    return study


def _file(name: str, text: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


# -- for those who are invited -----------------------------------------------------------------


@twin(router, "/join/{key}", "play/invitation.html")
def invitation_json(session: ReadSession, key: Key) -> InvitationPage:
    """Tell what one is invited to."""
    study = find_invitation(session, key)
    plan = StudyPlan.from_record(study.plan)
    n_rules = max(len(rules) for rules in plan.lists.values())
    return InvitationPage(study.title, study.consent, n_rules, plan.episodes)


@router.post("/join/{key}", include_in_schema=False)
def join_form(
    request: Request,
    session: WriteSession,
    settings: CurrentSettings,
    key: Key,
    _: Checked,
    agree: Annotated[str, Form(max_length=8)] = "",
) -> Response:
    """Take in a player who agrees."""
    study = find_invitation(session, key)
    if agree != "yes":
        raise Conflict("without consent nobody takes part")
    most = settings.max_play_sessions_per_hour
    count_or_refuse(session, f"play {address_of(request.scope)}", most, HOUR_S)
    return RedirectResponse(f"/players/{join(session, study)}", 303)


@twin(router, "/players/{key}", "play/player.html")
def player_json(session: ReadSession, key: Key) -> PlayerPage:
    """Tell where a player stands."""
    player = find_player(session, key)
    plan = StudyPlan.from_record(player.study.plan)
    n_rules = len(plan.lists[player.rule_list])
    return PlayerPage(player.study.title, player.n_played, n_rules, player.finished_at is not None)


@router.post("/players/{key}/begin", include_in_schema=False)
def begin_form(session: WriteSession, key: Key, _: Checked) -> Response:
    """Lead a player to the game that is to be played now."""
    player = find_player(session, key)
    series, last = 0, key
    while (game := go_on(session, player, series, last)) is not None:
        session.flush()
        if find_game(session, game).session.state != "ended":
            return RedirectResponse(f"/play/games/{game}", 303)
        series, last = series + 1, game
    return RedirectResponse(f"/players/{key}", 303)


@router.post("/play/games/{key}/continue", include_in_schema=False)
def continue_form(request: Request, session: WriteSession, key: Key, _: Checked) -> Response:
    """Lead from a game that is over to the next one of the study."""
    game = find_game(session, key)
    player = game.row.assignment
    if player is None:
        return RedirectResponse("/play", 303)
    following = go_on(session, player, game.row.series + 1, key)
    if following is not None:
        return RedirectResponse(f"/play/games/{following}", 303)
    n_rules = len(StudyPlan.from_record(player.study.plan).lists[player.rule_list])
    page = PlayerPage(player.study.title, n_rules, n_rules, finished=True)
    return html_response(request, "play/player.html", page, json=False, key="")
