"""Pages of studies: plans, invitations, players, transcripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from sqlalchemy.orm import Session

from gnomon_board.database.engine import Database
from gnomon_board.database.schema import Study, StudyAssignment
from gnomon_board.errors import Conflict, Missing
from gnomon_board.leaderboard.accounts.rate_limits import HOUR_S, count_or_refuse
from gnomon_board.leaderboard.accounts.tokens import Caller
from gnomon_board.studies.export.study_export import study_transcript
from gnomon_board.studies.game_store import find_game
from gnomon_board.studies.languages import texts
from gnomon_board.studies.participants import (
    Step,
    end_key,
    find_invitation,
    find_player,
    go_on,
    join,
    leave,
    quiz_tries,
    step_of,
    take_step,
)
from gnomon_board.studies.plan.questionnaire import (
    AnswerError,
    AskedQuestion,
    Question,
    without_answers,
)
from gnomon_board.studies.plan.recruitment import Ending, completion_address
from gnomon_board.studies.plan.study_plan import StudyPlan
from gnomon_board.studies.plan_check import PlanFinding, check_plan
from gnomon_board.studies.study_store import (
    PlayerRecord,
    StudyLine,
    close_study,
    exclude,
    invite_anew,
    make_study,
    players_of,
    points_of_player,
    study_lines,
)
from gnomon_board.web.api.dependencies import (
    CurrentSettings,
    DatabaseOf,
    ReadSession,
    RowId,
    WriteSession,
    caller,
    site_of,
)
from gnomon_board.web.middleware import address_of
from gnomon_board.web.pages.play.game_pages import Checked, Key
from gnomon_board.web.pages.templating import html_response, twin

router = APIRouter(tags=["studies"])

Admin = Annotated[Caller, Depends(caller("admin"))]

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
    """A study: its plan, its players by pseudonym, whether it is closed, and errors in its plan."""

    id: int
    name: str
    title: str
    closed: bool
    plan: StudyPlan
    players: list[PlayerRecord]
    findings: list[PlanFinding]


@dataclass(frozen=True)
class InvitationPage:
    """What somebody who is invited reads first."""

    title: str
    consent: str


@dataclass(frozen=True)
class PlayerPage:
    """Where a player of a study stands, and what is to be read or answered there.

    ``step`` is ``consent``, ``instructions``, ``quiz``, ``play``, ``demographics`` or ``end``;
    ``number`` counts the pages of instructions from 0, or how often a quiz was answered. ``wrong``
    are questions that were just answered wrongly.
    """

    title: str
    step: Step
    number: int
    n_pages: int
    text: str
    pages: tuple[str, ...]
    questions: tuple[AskedQuestion, ...]
    wrong: tuple[str, ...]
    n_played: int
    n_rules: int
    finished: bool
    ending: str
    points: int | None
    completion_code: str
    completion_url: str


# -- for those who make studies ----------------------------------------------------------------


@twin(router, "/studies", "play/studies.html", example=EXAMPLE)
def studies_json(session: ReadSession, who: Admin) -> StudiesPage:
    """List the studies."""
    return StudiesPage(study_lines(session))


@router.post("/studies", include_in_schema=False)
def make_form(
    request: Request,
    session: WriteSession,
    who: Admin,
    plan: Annotated[str, Form(max_length=100_000)],
) -> Response:
    """Make a study, and show its invitation, once."""
    study, key = make_study(session, StudyPlan.from_toml(plan), by=who.account_id)
    return _invited(request, study, key)


def _invited(request: Request, study: Study, key: str) -> Response:
    """Show an invitation, once."""
    line = StudyLine.of(study)
    odd = _odd(StudyPlan.from_record(study.plan))
    page, link = "play/study_made.html", f"{site_of(request)}/join/{key}"
    return html_response(request, page, line, status=201, json=False, link=link, findings=odd)


def _odd(plan: StudyPlan) -> list[PlanFinding]:
    """Return the errors and warnings of a plan."""
    return [each for each in check_plan(plan).findings if each.severity != "note"]


@router.post("/studies/{number}/invitation", include_in_schema=False)
def invite_form(request: Request, session: WriteSession, who: Admin, number: RowId) -> Response:
    """Make another invitation, and show it, once."""
    study = _find(session, number)
    return _invited(request, study, invite_anew(session, study, by=who.account_id))


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
    return StudyPage(study.id, study.name, study.title, line.closed, plan, players, _odd(plan))


@router.post("/studies/{number}/players/{player}/exclude", include_in_schema=False)
def exclude_form(session: WriteSession, who: Admin, number: RowId, player: str) -> Response:
    """Take a player out of the balance of the lists, or put one back."""
    exclude(session, _find(session, number), player, by=who.account_id)
    return RedirectResponse(f"/studies/{number}", 303)


@router.get("/studies/{number}/transcript.csv", response_class=PlainTextResponse)
def transcript(session: ReadSession, who: Admin, number: RowId) -> Response:
    """Return every attempt, in the detailed format of the reference game server."""
    study = _find(session, number)
    return _file(f"{study.name}-transcript.csv", study_transcript(session, study))


def _find(session: Session, number: int) -> Study:
    study = session.get(Study, number)
    if study is None:
        raise Missing(f"there is no study {number}")
    return study


def _file(name: str, text: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


# -- for those who are invited -----------------------------------------------------------------


@router.get("/join/{key}.json")
def invitation_json(session: ReadSession, key: Key) -> InvitationPage:
    """Tell what one is invited to."""
    study = find_invitation(session, key)
    return InvitationPage(study.title, study.consent)


@router.get("/join/{key}", include_in_schema=False)
def invitation_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show what one is invited to; the form hands on what the plan keeps of the address."""
    study = find_invitation(session, key)
    plan = StudyPlan.from_record(study.plan)
    kept = urlencode(plan.recruitment.kept(request.query_params))
    shown = {"action": f"/join/{key}{'?' if kept else ''}{kept}", **_language(plan)}
    page = InvitationPage(study.title, study.consent)
    return html_response(request, "play/invitation.html", page, key=key, **shown)


def _language(plan: StudyPlan) -> dict[str, Any]:
    """Return what a template needs to speak the language of a study, and to show its pictures."""
    return {
        "language": plan.language,
        "t": dict(texts(plan.language)),
        "pictures": plan.pictures,
    }


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
    return RedirectResponse(f"/players/{join(session, study, request.query_params)}", 303)


def _player_page(
    session: Session, player: StudyAssignment, wrong: Sequence[str] = ()
) -> PlayerPage:
    plan = StudyPlan.from_record(player.study.plan)
    step, number = step_of(player, plan)
    text, asked = "", tuple[Question, ...]()
    match step:
        case "consent":
            text = player.study.consent
        case "instructions":
            text = plan.instructions[number]
        case "quiz":
            number = quiz_tries(session, player, plan)
            asked = plan.quiz.questions if plan.quiz else ()
        case "demographics":
            text, asked = plan.demographics_page, plan.demographics
        case "end" if player.ending == "finished":
            text = plan.debrief.replace("{completionCode}", player.completion_code)
    # Who has finished has still to answer; the code is there at the end.
    ending = cast(Ending, player.ending) if step == "end" and player.ending else None
    completion = None if ending is None else plan.recruitment.completion(ending)
    is_paid = bool(player.rule_list) and any(
        series.points is not None for series in plan.series(player.rule_list)
    )
    return PlayerPage(
        title=player.study.title,
        step=step,
        number=number,
        n_pages=len(plan.instructions),
        text=text,
        pages=plan.instructions if wrong else (),
        questions=without_answers(asked),
        wrong=tuple(wrong),
        n_played=player.n_played,
        n_rules=len(plan.lists.get(player.rule_list, ())),
        finished=player.finished_at is not None,
        ending=player.ending,
        points=points_of_player(session, player) if is_paid and step == "end" else None,
        completion_code=player.completion_code if ending else "",
        completion_url=completion_address(completion, player.completion_code, player.identifiers),
    )


def _shown(
    request: Request,
    session: Session,
    player: StudyAssignment,
    key: str,
    wrong: Sequence[str] = (),
    **more: Any,
) -> Response:
    page = _player_page(session, player, wrong)
    more |= _language(StudyPlan.from_record(player.study.plan))
    return html_response(request, "play/player.html", page, key=key, **more)


@router.get("/players/{key}.json")
def player_json(session: ReadSession, key: Key) -> PlayerPage:
    """Tell where a player stands."""
    return _player_page(session, find_player(session, key))


@router.get("/players/{key}", include_in_schema=False)
def player_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show a player where the study stands."""
    return _shown(request, session, find_player(session, key), key)


@router.post("/players/{key}/step", include_in_schema=False)
async def step_form(request: Request, database: DatabaseOf, key: Key, _: Checked) -> Response:
    """Take the answers of a page, and lead to the next."""
    form = await request.form(max_fields=100)
    given = {name: value for name, value in form.items() if isinstance(value, str)}
    return await run_in_threadpool(_stepped, request, database, key, given)


def _stepped(request: Request, database: Database, key: str, given: Mapping[str, str]) -> Response:
    try:
        with database.writing() as session:
            player = find_player(session, key)
            step = cast(Step, given.get("step", ""))
            wrong = take_step(session, player, step, given)
            session.flush()
            if wrong and not player.ending:
                return _shown(request, session, player, key, wrong)
    except AnswerError as error:
        with database.reading() as session:
            player, wrong = find_player(session, key), (error.question,)
            return _shown(request, session, player, key, wrong, given=given, status=422)
    return RedirectResponse(f"/players/{key}", 303)


@router.post("/players/{key}/leave", include_in_schema=False)
def leave_form(session: WriteSession, key: Key, _: Checked) -> Response:
    """End the study for a player who wants to go."""
    leave(session, find_player(session, key))
    return RedirectResponse(f"/players/{key}", 303)


@router.post("/players/{key}/begin", include_in_schema=False)
def begin_form(session: WriteSession, key: Key, _: Checked) -> Response:
    """Lead a player to the game that is to be played now."""
    player = find_player(session, key)
    series, last = 0, key
    while (game := go_on(session, player, series, last)) is not None:
        session.flush()
        found = find_game(session, game)
        if found.session.state != "ended" or found.guess_due:
            return RedirectResponse(f"/play/games/{game}", 303)
        series, last = series + 1, game
    return RedirectResponse(f"/players/{key}", 303)


@router.post("/play/games/{key}/continue", include_in_schema=False)
def continue_form(session: WriteSession, key: Key, _: Checked) -> Response:
    """Lead from a game that is over to the next one of the study, or to its end."""
    game = find_game(session, key)
    player = game.row.assignment
    if player is None:
        return RedirectResponse("/play", 303)
    if game.is_ended:
        return RedirectResponse(f"/players/{end_key(player, key)}", 303)
    if game.guess_due:
        return RedirectResponse(f"/play/games/{key}", 303)
    following = go_on(session, player, game.row.series + 1, key)
    if following is not None:
        return RedirectResponse(f"/play/games/{following}", 303)
    return RedirectResponse(f"/players/{end_key(player, key)}", 303)


@router.post("/play/games/{key}/leave", include_in_schema=False)
def leave_game_form(session: WriteSession, key: Key, _: Checked) -> Response:
    """End the study for a player who wants to go in the middle of a game."""
    player = find_game(session, key).row.assignment
    if player is None:
        raise Conflict("this game is part of no study")
    leave(session, player)
    return RedirectResponse(f"/players/{end_key(player, key)}", 303)
