"""Page of a result: errors board by board, beside those of learners."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from sqlalchemy.orm import Session

from gnomon.database.schema import StudyAssignment
from gnomon.experiments.scoring.mastery import attempts_to_master
from gnomon.game.outcomes import CLEARED
from gnomon.leaderboard.refusals import Conflict
from gnomon.studies.baselines import Yardstick, baseline_curves
from gnomon.studies.game_store import StoredGame, find_game
from gnomon.studies.study_plan import StudyPlan
from gnomon.studies.verified_learners import verified_learners
from gnomon.web.api.dependencies import ReadSession
from gnomon.web.pages.play.game_pages import Key
from gnomon.web.pages.rendering.charts import Curve, line_chart
from gnomon.web.pages.rendering.templating import html_response

__all__ = ["router"]

router = APIRouter(tags=["play"])


#: Who plays here even where learners of the leaderboard were measured: the floor, and the paper's.
_BESIDE_MEASURED = ("chance", "network")


@dataclass(frozen=True)
class ResultPage:
    """A game that is over.

    ``errors`` counts those of each board that was touched; ``cumulated`` adds them up.
    ``left_off``: the last board was stopped at, so that its errors are not those of a whole one.
    ``mastered_after`` is the number of attempts before the first ten in a row that were right, null
    if there were none.
    ``learners``: those of the leaderboard that were measured on this very rule, with chance and the
    network of the paper; where there are none, four that play it here. Empty in a study that does
    not show them.
    """

    rule: str
    study: bool
    errors: list[int]
    cumulated: list[int]
    attempts: int
    moves: int
    cleared: int
    left_off: bool
    mastered_after: int | None
    learners: list[Yardstick]


def result_page(session: ReadSession, key: Key) -> ResultPage:
    """Return the result of a game."""
    game = find_game(session, key)
    if game.session.state != "ended":
        raise Conflict("expected a game that is over; this one is in progress")
    played = game.session
    errors = played.errors_by_board()[: played.n_played]
    mastered = attempts_to_master([attempt.accepted for attempt in played.attempts])
    return ResultPage(
        played.game.rule_name,
        game.row.assignment_id is not None,
        errors,
        list(itertools.accumulate(errors)),
        len(played.attempts),
        sum(attempt.accepted for attempt in played.attempts),
        int((played.log().finish == CLEARED).sum()),
        played.left_off,
        int(mastered) if mastered < float("inf") else None,
        _learners(session, game, len(errors)),
    )


Result = Annotated[ResultPage, Depends(result_page)]


def _learners(session: Session, game: StoredGame, n_boards: int) -> list[Yardstick]:
    if game.row.assignment_id is not None:
        assignment = session.get_one(StudyAssignment, game.row.assignment_id)
        if not StudyPlan.from_record(assignment.study.plan).show_curves:
            return []
    # The same for everybody who plays this rule, so that it is computed once.
    here = baseline_curves(replace(game.session.game, rule_name="", seed=0))
    measured = verified_learners(session, game.row, game.session.game, n_boards)
    if measured:
        here = tuple(each for each in here if each.name in _BESIDE_MEASURED)
    return [*measured, *(_cut(each, n_boards) for each in here)]


def _cut(learner: Yardstick, n: int) -> Yardstick:
    return replace(learner, median=learner.median[:n], low=learner.low[:n], high=learner.high[:n])


@router.get("/play/games/{key}/result.json")
def result_json(page: Result) -> ResultPage:
    """Tell what a game was worth, and what the rule would have cost learners."""
    return page


@router.get("/play/games/{key}/result", include_in_schema=False)
def result_html(request: Request, key: Key, page: Result) -> Response:
    """Show what a game was worth."""
    return html_response(request, "play/result.html", page, key=key, chart=_chart(page))


def _chart(page: ResultPage) -> Any:
    curves = [Curve("you", page.cumulated, you=True)]
    curves += [Curve(each.name, each.median, each.low, each.high) for each in page.learners]
    return line_chart(curves, x_label="board", y_label="errors so far", log=True)
