"""Pages of studies: plans, invitations, players, transcripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from gnomon_board.database.schema import Study, StudyAssignment
from gnomon_board.errors import Conflict, Missing
from gnomon_board.studies.export import study_transcript
from gnomon_board.studies.languages import texts
from gnomon_board.studies.participants import (
    Step,
    check_open,
    end_key,
    find_invitation,
    find_player,
    go_on,
    join,
    leave,
    quiz_tries,
    returning,
    step_of,
    take_step,
)
from gnomon_board.studies.plan import (
    AnswerError,
    AskedQuestion,
    Ending,
    Question,
    StudyPlan,
    completion_address,
    without_answers,
)
from gnomon_board.studies.plan_check import PlanFinding, check_plan
from gnomon_board.studies.play import find_game
from gnomon_board.studies.store import (
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
from gnomon_board.tokens import Caller
from gnomon_board.web.api.dependencies import (
    CurrentSettings,
    DatabaseOf,
    ReadSession,
    RowId,
    WriteSession,
    caller,
    site_of,
)
from gnomon_board.web.limits import HOUR_S
from gnomon_board.web.middleware import address_of
from gnomon_board.web.pages.play.game_pages import Checked, Key
from gnomon_board.web.pages.templating import html_response, page

router = APIRouter(tags=["studies"])

Admin = Annotated[Caller, Depends(caller("admin"))]

#: Seconds that a browser keeps the key of a participant: 90 days.
_COOKIE_S = 90 * 86_400
#: Initial text of the form for a new study.
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
    """The consent text of a study.

    ``begun`` is the address of a participant who joined in this browser, ``notice`` the reason why
    this browser cannot join.
    """

    title: str
    consent: str
    begun: str = ""
    notice: str = ""


class PlanForm(BaseModel):
    """The plan of a study, in TOML."""

    model_config = ConfigDict(extra="forbid")
    plan: Annotated[str, Field(max_length=100_000)]


class InvitationRecord(BaseModel):
    """The invitation to a study, shown only once."""

    id: int
    name: str
    invitation: str


class JoinForm(BaseModel):
    """Whether the invited person agrees to take part."""

    model_config = ConfigDict(extra="forbid")
    agree: bool = False


class Lead(BaseModel):
    """The page that comes next."""

    address: str


class Taken(Lead):
    """What came of answers: the page that comes next, or which are wrong, and what to do then.

    ``page`` is the number with which they are sent again.
    """

    wrong: tuple[str, ...] = ()
    detail: str = ""
    page: int = 0


@dataclass(frozen=True)
class PlayerPage:
    """Where a player of a study stands, and what is to be read or answered there.

    ``step`` is ``consent``, ``instructions``, ``quiz``, ``play``, ``demographics`` or ``end``;
    ``number`` counts the pages of instructions from 0, or how often a quiz was answered.
    """

    title: str
    step: Step
    number: int
    n_pages: int
    text: str
    pages: tuple[str, ...]
    questions: tuple[AskedQuestion, ...]
    n_played: int
    n_rules: int
    finished: bool
    ending: str
    points: int | None
    completion_code: str
    completion_url: str


# -- for administrators ------------------------------------------------------------------------


@router.get("/api/studies")
@page(router, "/studies", "play/studies.html", example=EXAMPLE)
def studies(session: ReadSession, who: Admin) -> StudiesPage:
    """List the studies."""
    return StudiesPage(study_lines(session))


@router.post("/api/studies", status_code=201)
def make(request: Request, session: WriteSession, who: Admin, form: PlanForm) -> InvitationRecord:
    """Make a study, and show its invitation once."""
    study, key = make_study(session, StudyPlan.from_toml(form.plan), by=who.account_id)
    return _invited(request, study, key)


def _invited(request: Request, study: Study, key: str) -> InvitationRecord:
    return InvitationRecord(
        id=study.id, name=study.name, invitation=f"{site_of(request)}/join/{key}"
    )


def _odd(plan: StudyPlan) -> list[PlanFinding]:
    """Return the errors and warnings of a plan."""
    return [each for each in check_plan(plan).findings if each.severity != "note"]


@router.post("/api/studies/{number}/invitation")
def invite(request: Request, session: WriteSession, who: Admin, number: RowId) -> InvitationRecord:
    """Make another invitation, and show it once."""
    study = _find(session, number)
    return _invited(request, study, invite_anew(session, study, by=who.account_id))


@router.post("/api/studies/{number}/close", status_code=204)
def close(session: WriteSession, who: Admin, number: RowId) -> None:
    """Close a study to new players."""
    close_study(session, _find(session, number), by=who.account_id)


@router.get("/api/studies/{number}")
@page(router, "/studies/{number}", "play/study.html")
def study_record(session: ReadSession, who: Admin, number: RowId) -> StudyPage:
    """Describe a study."""
    study = _find(session, number)
    plan = StudyPlan.from_record(study.plan)
    line = StudyLine.of(study)
    players = players_of(session, study)
    return StudyPage(study.id, study.name, study.title, line.closed, plan, players, _odd(plan))


@router.post("/api/studies/{number}/players/{player}/exclude", status_code=204)
def exclude_player(session: WriteSession, who: Admin, number: RowId, player: str) -> None:
    """Take a player out of the balance of the lists, or put one back."""
    exclude(session, _find(session, number), player, by=who.account_id)


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


# -- for participants --------------------------------------------------------------------------


@router.get("/join/{key}", include_in_schema=False)
def invitation_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show the consent text; lead a participant who joined in this browser to where it stands.

    Without an identifier two people may share a browser: then the page offers to continue.
    """
    study = find_invitation(session, key)
    plan = StudyPlan.from_record(study.plan)
    kept = plan.recruitment.kept(request.query_params)
    held = request.cookies.get(_cookie(study), "")
    begun, notice = "", ""
    try:
        if returning(session, study, kept, held):
            return RedirectResponse(f"/players/{held}", 303)
        check_open(study)
        if held and plan.recruitment.identity not in kept:
            player = find_player(session, held)
            begun = "" if player.ending or player.study_id != study.id else f"/players/{held}"
    except Missing:
        pass
    except Conflict as error:
        notice = str(error)
    shown = {"action": f"/api/join/{key}?{urlencode(kept)}", **_language(plan)}
    page = InvitationPage(study.title, study.consent, begun, notice)
    status = 409 if notice else 200
    return html_response(request, "play/invitation.html", page, status=status, key=key, **shown)


def _cookie(study: Study) -> str:
    return f"gnomon_study_{study.id}"


def _language(plan: StudyPlan) -> dict[str, Any]:
    """Return the template variables for the language and the pictures of a study."""
    return {
        "language": plan.language,
        "t": dict(texts(plan.language)),
        "pictures": plan.pictures,
    }


@router.post("/api/join/{key}", status_code=201)
def join_study(
    request: Request,
    response: Response,
    session: WriteSession,
    settings: CurrentSettings,
    key: Key,
    form: JoinForm,
    _: Checked,
) -> Lead:
    """Add a participant who agrees; a cookie keeps the key, by which the same browser continues.

    The parameters of the address that the plan names are kept. An identifier that joined in another
    browser is refused with 409.
    """
    study = find_invitation(session, key)
    if not form.agree:
        raise Conflict("expected consent")
    most = settings.max_play_sessions_per_hour
    counts = request.app.state.intake.counts
    counts.count(f"play {address_of(request.scope)}", most=most, window_s=HOUR_S)
    held, agent = request.cookies.get(_cookie(study), ""), request.headers.get("user-agent", "")
    player = join(session, study, request.query_params, held=held, agent=agent)
    response.set_cookie(
        _cookie(study),
        player,
        max_age=_COOKIE_S,
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )
    return Lead(address=f"/players/{player}")


def _player_page(session: Session, player: StudyAssignment) -> PlayerPage:
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
    # The code is shown after the last questions.
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
        pages=plan.instructions if step == "quiz" else (),
        questions=without_answers(asked),
        n_played=player.n_played,
        n_rules=len(plan.lists.get(player.rule_list, ())),
        finished=player.finished_at is not None,
        ending=player.ending,
        points=points_of_player(session, player) if is_paid and step == "end" else None,
        completion_code=player.completion_code if ending else "",
        completion_url=completion_address(completion, player.completion_code, player.identifiers),
    )


@router.get("/api/players/{key}")
def player_record(session: ReadSession, key: Key) -> PlayerPage:
    """Return where a player stands."""
    return _player_page(session, find_player(session, key))


@router.get("/players/{key}", include_in_schema=False)
def player_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show a player where the study stands."""
    player = find_player(session, key)
    more = _language(StudyPlan.from_record(player.study.plan))
    return html_response(
        request, "play/player.html", _player_page(session, player), key=key, **more
    )


_Answer = Annotated[str, Field(max_length=2000)]
StepForm = Annotated[dict[_Answer, _Answer], Field(max_length=100)]


@router.post("/api/players/{key}/step", response_model=Taken)
def take(
    request: Request, database: DatabaseOf, key: Key, form: StepForm, _: Checked
) -> Taken | JSONResponse:
    """Take the answers of a page: its ``step``, its ``page``, and each answer by its question.

    An answer that is missing, or is none, is refused with 422.
    """
    try:
        with database.writing() as session:
            player = find_player(session, key)
            plan = StudyPlan.from_record(player.study.plan)
            t = texts(plan.language)
            step = cast(Step, form.get("step", ""))
            agent = request.headers.get("user-agent", "")
            wrong = take_step(session, player, step, form, agent=agent)
            session.flush()
            if wrong and not player.ending:
                told, tries = t["quiz_wrong"], quiz_tries(session, player, plan)
                return Taken(address=f"/players/{key}", wrong=wrong, detail=told, page=tries)
    except AnswerError as error:
        return JSONResponse({"detail": t["answer_wrong"], "wrong": [error.question]}, 422)
    return Taken(address=f"/players/{key}")


@router.post("/api/players/{key}/leave")
def leave_study(session: WriteSession, key: Key, _: Checked) -> Lead:
    """End the study for a player who wants to go."""
    leave(session, find_player(session, key))
    return Lead(address=f"/players/{key}")


@router.post("/api/players/{key}/begin")
def go_to_game(session: WriteSession, key: Key, _: Checked) -> Lead:
    """Lead a player to the game that is to be played now."""
    player = find_player(session, key)
    series, last = 0, key
    while (game := go_on(session, player, series, last)) is not None:
        session.flush()
        found = find_game(session, game)
        if found.session.state != "ended" or found.guess_due:
            return Lead(address=f"/play/games/{game}")
        series, last = series + 1, game
    return Lead(address=f"/players/{key}")


@router.post("/api/play/games/{key}/continue")
def go_to_next(session: WriteSession, key: Key, _: Checked) -> Lead:
    """Lead from a game that is over to the next one of the study, or to its end."""
    game = find_game(session, key)
    player = game.row.assignment
    if player is None:
        return Lead(address="/play")
    if game.is_ended:
        return Lead(address=f"/players/{end_key(player, key)}")
    if game.guess_due:
        return Lead(address=f"/play/games/{key}")
    following = go_on(session, player, game.row.series + 1, key)
    if following is not None:
        return Lead(address=f"/play/games/{following}")
    return Lead(address=f"/players/{end_key(player, key)}")


@router.post("/api/play/games/{key}/leave")
def leave_game(session: WriteSession, key: Key, _: Checked) -> Lead:
    """End the study for a player who wants to go in the middle of a game."""
    player = find_game(session, key).row.assignment
    if player is None:
        raise Conflict("this game is part of no study")
    leave(session, player)
    return Lead(address=f"/players/{end_key(player, key)}")
