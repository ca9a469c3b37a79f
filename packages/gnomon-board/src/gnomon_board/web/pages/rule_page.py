"""Page of a rule: its difficulty rank, and the errors of every learner."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon_board.database.schema import EntryAttempt, Season, SeasonRule, Submission, VerifiedTrial
from gnomon_board.leaderboard.seasons import find_rule, find_season
from gnomon_board.leaderboard.standing_snapshots import COUNTED
from gnomon_board.leaderboard.standings import LEVEL, PER_PAGE, Contender, Number, RuleStanding
from gnomon_board.web.api.dependencies import ReadSession, Slug
from gnomon_board.web.api.records import RuleRecord
from gnomon_board.web.pages.figures import box_figure
from gnomon_board.web.pages.interval_bars import intervals
from gnomon_board.web.pages.page_cache import BoardState, CurrentBoard
from gnomon_board.web.pages.page_links import PageLinks
from gnomon_board.web.pages.standings_page import PageNumber, within_pages
from gnomon_board.web.pages.templating import rendered

router = APIRouter(tags=["pages"])

RuleName = Annotated[str, Path(min_length=1, max_length=128)]


@dataclass(frozen=True)
class LearnerLine:
    """What a rule cost a learner: the errors of each trial, and their median."""

    entry_id: int
    learner: str
    errors: list[float]
    median: Number


@dataclass(frozen=True)
class RulePage:
    """A rule of a season; ``learners`` are those of this page, the lowest median first."""

    season: str
    season_title: str
    division: str
    rule: RuleRecord
    ladder: list[RuleStanding]
    learners: list[LearnerLine]
    n_learners: int
    page: int
    n_pages: int
    level: float = LEVEL


def rule_page(
    session: Session, board: BoardState, season: Season, rule: SeasonRule, number: int = 1
) -> RulePage:
    """Return the content of a page of a rule."""
    snapshot = board.snapshot(season)
    rules = snapshot.standings.rules if snapshot else ()
    ranked = [line.contender for line in snapshot.standings.ranked] if snapshot else []
    ordered = _by_median(_errors(session, rule), ranked)
    n_pages = max(1, -(-len(ordered) // PER_PAGE))
    number = min(number, n_pages)
    return RulePage(
        season.name,
        season.title,
        season.division,
        RuleRecord.of(rule, season),
        list(rules),
        # Intervals only for the learners on this page: for thousands they take seconds.
        [_line(*each) for each in ordered[(number - 1) * PER_PAGE : number * PER_PAGE]],
        *(len(ordered), number, n_pages),
    )


def _errors(session: Session, rule: SeasonRule) -> dict[int, list[float]]:
    """Return the errors of each counted trial of a rule, by entry."""
    query = (
        select(EntryAttempt.entry_id, VerifiedTrial.tce)
        .join(Submission, VerifiedTrial.submission_id == Submission.id)
        .join(EntryAttempt, Submission.attempt_id == EntryAttempt.id)
        .where(VerifiedTrial.rule_id == rule.id, Submission.state.in_(COUNTED))
        .order_by(EntryAttempt.entry_id, EntryAttempt.number, VerifiedTrial.number)
    )
    found: dict[int, list[float]] = {}
    for entry, errors in session.execute(query):
        found.setdefault(entry, []).append(errors)
    return found


def _by_median(
    errors: Mapping[int, list[float]], ranked: Sequence[Contender]
) -> list[tuple[Contender, list[float]]]:
    """Return the ranked learners with their errors, the lowest median first."""
    here = [(each, errors[each.entry_id]) for each in ranked if each.entry_id in errors]
    return sorted(here, key=lambda one: (median(one[1]), one[0].name.casefold()))


def _line(contender: Contender, errors: list[float]) -> LearnerLine:
    finite = [x for x in errors if math.isfinite(x)]
    return LearnerLine(contender.entry_id, contender.name, finite, Number.median(errors))


@router.get("/seasons/{season}/rules/{name}", include_in_schema=False)
def rule_html(
    request: Request,
    session: ReadSession,
    board: CurrentBoard,
    season: Slug,
    name: RuleName,
    page: PageNumber = 1,
) -> Response:
    """Show a rule: its place among the others, and the errors of fifty learners at a time."""
    found = find_season(session, season)
    rule = find_rule(found, name)
    page = within_pages(session, found, page)

    def make() -> str:
        told = rule_page(session, board, found, rule, page)
        path = f"/seasons/{told.season}/rules/{quote(told.rule.name)}"
        links = PageLinks(path, {"page": page}, {"page": 1})
        return rendered("board/rule.html", path, told, links=links, **_drawn(told))

    return board.answer(request, found, ("rule", rule.id, page), make)


def _drawn(page: RulePage) -> dict[str, Any]:
    runs = {line.learner: line.errors for line in page.learners[:20]}
    return {
        "boxes": box_figure(runs, "Errors of every trial of each learner"),
        "drawn": intervals([line.median for line in page.learners]),
    }
