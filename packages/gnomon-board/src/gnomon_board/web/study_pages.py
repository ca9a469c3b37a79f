"""Pages of studies: for researchers, the studies and their players; for participants, all steps.

Studies are made, closed and exported by ``gnomon-board study``.
"""

from __future__ import annotations

from typing import Annotated, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Body, Path, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, Field
from sqlalchemy import select

from gnomon_board.database import find_row
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.schema import Study
from gnomon_board.studies.participants import (
    Step,
    find_invitation,
    find_player,
    join,
    leave,
    next_game,
    player_counts,
    prepare_game,
    quiz_tries,
    returning,
    step_of,
    take_step,
)
from gnomon_board.studies.plan import AnswerError, Ending, Question, StudyPlan
from gnomon_board.studies.play import find_game
from gnomon_board.web.api.dependencies import (
    Admin,
    CurrentSettings,
    DatabaseOf,
    ReadSession,
    RowId,
    WriteSession,
)
from gnomon_board.web.limits import HOUR_S
from gnomon_board.web.middleware import address_of
from gnomon_board.web.page_cache import CurrentBoard
from gnomon_board.web.play_pages import Checked
from gnomon_board.web.templating import html_response

router = APIRouter(tags=["studies"])

# -- for researchers -------------------------------------------------------------------------------


@router.get("/studies", include_in_schema=False)
def studies(request: Request, session: ReadSession, who: Admin) -> Response:
    """List the studies of the server."""
    found = session.scalars(select(Study).order_by(Study.id.desc())).all()
    return html_response(request, "play/studies.html", studies=found)


@router.get("/studies/{number}", include_in_schema=False)
def study(request: Request, session: ReadSession, who: Admin, number: RowId) -> Response:
    """Show a study: its lists, and its players by pseudonym."""
    found = find_row(session, Study, number)
    plan = StudyPlan.from_record(found.plan)
    return html_response(
        request, "play/study.html", study=found, plan=plan, players=player_counts(session, found)
    )


# -- for participants ------------------------------------------------------------------------------

Key = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9_-]{32}$", description="Key of an invitation or participant.")
]
#: Seconds that a browser keeps the key of a participant: 90 days.
_COOKIE_S = 90 * 86_400


class Lead(BaseModel):
    """The page that comes next."""

    address: str


class Taken(Lead):
    """The result of answers: the page that comes next, or the questions with wrong answers.

    ``page`` is the number with which they are sent again.
    """

    wrong: tuple[str, ...] = ()
    detail: str = ""
    page: int = 0


@router.get("/join/{key}", include_in_schema=False)
def invitation_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show the consent text; lead a participant who joined in this browser to the current step.

    Without an identifier two people may share a browser: then the page offers to continue.
    """
    found = find_invitation(session, key)
    plan = StudyPlan.from_record(found.plan)
    kept = plan.recruitment.kept(request.query_params)
    held = request.cookies.get(_cookie(found), "")
    begun, notice = "", ""
    try:
        if returning(session, found, kept, held):
            return RedirectResponse(f"/players/{held}", 303)
        if found.is_closed:
            raise NotAllowed("this study is over")
        if held and plan.recruitment.identity not in kept:
            player = find_player(session, held)
            begun = "" if player.ending or player.study_id != found.id else f"/players/{held}"
    except Missing:
        pass
    except Conflict as error:
        notice = str(error)
    return html_response(
        request,
        "play/invitation.html",
        status=409 if notice else 200,
        title=found.title,
        consent=plan.consent,
        begun=begun,
        notice=notice,
        action=f"/api/join/{key}?{urlencode(kept)}",
    )


def _cookie(study: Study) -> str:
    return f"gnomon_study_{study.id}"


@router.post("/api/join/{key}", status_code=201)
def join_study(
    request: Request,
    response: Response,
    session: WriteSession,
    settings: CurrentSettings,
    key: Key,
    _: Checked,
    agree: Annotated[bool, Body(embed=True)] = False,
) -> Lead:
    """Add a participant who agrees; a cookie keeps the key, by which the same browser continues.

    The parameters of the address that the plan names are kept. An identifier that joined in another
    browser is refused with 409.
    """
    found = find_invitation(session, key)
    if not agree:
        raise Conflict("expected consent")
    most = settings.max_play_sessions_per_hour
    counts = request.app.state.intake.counts
    counts.count(f"play {address_of(request.scope)}", most=most, window_s=HOUR_S)
    held, agent = request.cookies.get(_cookie(found), ""), request.headers.get("user-agent", "")
    player = join(session, found, request.query_params, held=held, agent=agent)
    response.set_cookie(
        _cookie(found),
        player,
        max_age=_COOKIE_S,
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )
    return Lead(address=f"/players/{player}")


@router.get("/players/{key}", include_in_schema=False)
def player_html(request: Request, session: ReadSession, key: Key) -> Response:
    """Show a player the current step of the study."""
    player = find_player(session, key)
    plan = StudyPlan.from_record(player.study.plan)
    step, number = step_of(player, plan)
    text, asked = "", tuple[Question, ...]()
    match step:
        case "instructions":
            text = plan.instructions[number]
        case "quiz":  # its pages are numbered by the tries
            number = quiz_tries(session, player, plan)
            asked = plan.quiz.questions if plan.quiz else ()
        case "demographics":
            text, asked = plan.demographics_page, plan.demographics
        case "end" if player.ending == "finished":
            text = plan.debrief.replace("{completionCode}", player.completion_code)
    # The code is shown after the last questions.
    ending = cast(Ending, player.ending) if step == "end" and player.ending else None
    completion = None if ending is None else plan.recruitment.completion(ending)
    code, identifiers = player.completion_code, player.identifiers
    listed = plan.lists[player.rule_list]
    return html_response(
        request,
        "play/player.html",
        key=key,
        title=player.study.title,
        step=step,
        number=number,
        text=text,
        pages=plan.instructions,
        questions=asked,
        n_played=player.n_played,
        n_rules=len(listed),
        ending=player.ending,
        points=player.points if step == "end" and any(x.points for x in listed) else None,
        completion_code=code if ending else "",
        completion_url="" if completion is None else completion.address(code, identifiers),
        # No reply is given on test boards, so that their players are not asked for few errors.
        has_evidence=any(each.evidence for each in listed),
    )


_Answer = Annotated[str, Field(max_length=2000)]
StepForm = Annotated[dict[_Answer, _Answer], Field(max_length=100)]


@router.post("/api/players/{key}/step", response_model=Taken)
def take(database: DatabaseOf, key: Key, form: StepForm, _: Checked) -> Taken | JSONResponse:
    """Take the answers of a page: its ``step``, its ``page``, and each answer by its question.

    A missing or invalid answer is refused with 422.
    """
    try:
        with database.writing() as session:
            player = find_player(session, key)
            plan = StudyPlan.from_record(player.study.plan)
            step = cast(Step, form.get("step", ""))
            wrong = take_step(session, player, step, form)
            session.flush()
            if wrong and not player.ending:
                told = "Some answers are not right. Read the instructions again."
                tries = quiz_tries(session, player, plan)
                return Taken(address=f"/players/{key}", wrong=wrong, detail=told, page=tries)
    except AnswerError as error:
        told = "Please look again at the question that is marked."
        return JSONResponse({"detail": told, "wrong": [error.question]}, 422)
    return Taken(address=f"/players/{key}")


@router.post("/api/players/{key}/go-on")
def go_on(board: CurrentBoard, database: DatabaseOf, key: Key, _: Checked) -> Lead:
    """Lead a player to the game to play now, or to the page after the last one."""
    with database.reading() as session:
        prepare_game(session, find_player(session, key))
    with database.writing() as session:
        game = next_game(session, find_player(session, key), key)
        if game is None:
            return Lead(address=f"/players/{key}")
        session.flush()
        found = find_game(session, game, board.games)
    board.games.put_back(found.row.id, (found.row.changed_at, found.session))
    shows = found.is_test and not found.session.attempts
    return Lead(address=f"/play/games/{game}{'/evidence' if shows else ''}")


@router.post("/api/players/{key}/leave")
def leave_study(session: WriteSession, key: Key, _: Checked) -> Lead:
    """End the study for a player who leaves."""
    leave(session, find_player(session, key))
    return Lead(address=f"/players/{key}")
