"""Page of a game's result: a person's errors beside those of learners on the same rule."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from fastapi import APIRouter
from sqlalchemy.orm import Session

from gnomon_board.database.schema import StudyAssignment
from gnomon_board.errors import Conflict
from gnomon_board.studies.languages import texts
from gnomon_board.studies.plan import StudyPlan
from gnomon_board.studies.play import StoredGame, find_game
from gnomon_board.studies.puzzle import verified_learners
from gnomon_board.web.api.dependencies import ReadSession
from gnomon_board.web.pages.figures import curve_figure
from gnomon_board.web.pages.play.game_pages import Key, language_of
from gnomon_board.web.pages.templating import page
from gohr.game import CLEARED
from gohr.people import Yardstick, attempts_to_master, baseline_curves
from gohr.run_page import MedianCurve

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
    points: int | None
    language: str
    learners: list[Yardstick]


def _chart(page: ResultPage) -> dict[str, Any]:
    """Draw the errors of the person and of learners."""
    t = texts(page.language)
    names = [t[f"name_{one.name}"] if one.kind else one.name for one in page.learners]
    mine = np.asarray(page.cumulated, dtype=np.float64)
    curves = [MedianCurve(t["you"], mine, mine, mine, 1)]
    for name, each in zip(names, page.learners, strict=True):
        median, low, high = (np.asarray(x) for x in (each.median, each.low, each.high))
        curves.append(MedianCurve(name, median, low, high, each.n_trials))
    alt = t["curves_beside"] if page.learners else t["curves_name"]
    chart = curve_figure(curves, alt, xlabel=t["board"], ylabel=t["errors_so_far"])
    return {"t": dict(t), "language": page.language, "names": names, "chart": chart}


@router.get("/api/play/games/{key}/result")
@page(router, "/play/games/{key}/result", "play/result.html", drawn=_chart)
def result(session: ReadSession, key: Key) -> ResultPage:
    """Return the score of a game beside those of learners on the same rule."""
    game = find_game(session, key)
    if game.session.state != "ended":
        raise Conflict("expected a game that is over; this one is in progress")
    played = game.session
    errors = played.errors_by_board()[: played.n_played]
    attempts, points = played.attempts, played.view().points
    mastered = attempts_to_master([made.accepted for made in attempts if made.counts])
    return ResultPage(
        played.game.rule_name,
        game.row.assignment_id is not None,
        errors,
        list(itertools.accumulate(errors)),
        len(attempts),
        sum(made.accepted and made.counts for made in attempts),
        int((played.log().finish == CLEARED).sum()),
        played.left_off,
        int(mastered) if mastered < float("inf") else None,
        None if points is None else points.total,
        language_of(game)["language"],
        _learners(session, game, len(errors)),
    )


def _learners(session: Session, game: StoredGame, n_boards: int) -> list[Yardstick]:
    if game.row.assignment_id is not None:
        assignment = session.get_one(StudyAssignment, game.row.assignment_id)
        if not StudyPlan.from_record(assignment.study.plan).show_curves:
            return []
    # The same for all players of this rule, so it is computed once.
    here = baseline_curves(replace(game.session.game, rule_name="", seed=0))
    measured = verified_learners(session, game.row, game.session.game, n_boards)
    if measured:
        here = tuple(each for each in here if each.name in _BESIDE_MEASURED)
    return [*measured, *(_cut(each, n_boards) for each in here)]


def _cut(learner: Yardstick, n: int) -> Yardstick:
    return replace(learner, median=learner.median[:n], low=learner.low[:n], high=learner.high[:n])
