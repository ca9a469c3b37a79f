"""Page of a rule: its difficulty rank, and the errors of every learner."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from sqlalchemy.orm import Session

from gnomon.database.schema import Season, SeasonRule
from gnomon.leaderboard.seasons.entry_registration import find_rule, find_season
from gnomon.leaderboard.standing_records import LEVEL, Contender, Number
from gnomon.leaderboard.standing_snapshots import board_of
from gnomon.leaderboard.standings import score_table
from gnomon.web.api.dependencies import ReadSession, Slug
from gnomon.web.api.records import RuleRecord
from gnomon.web.pages.charts import intervals, strips
from gnomon.web.pages.page_cache import BoardState, CurrentBoard, cached_response, json_text
from gnomon.web.pages.templating import rendered

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
class LadderLine:
    """A rung of the ladder of difficulty: the hardest rule first."""

    rule: str
    hidden: bool
    rank_low: int | None
    rank_high: int | None
    groups: list[int]


@dataclass(frozen=True)
class RulePage:
    """A rule of a season."""

    season: str
    season_title: str
    division: str
    rule: RuleRecord
    ladder: list[LadderLine]
    learners: list[LearnerLine]
    level: float = LEVEL


def rule_page(session: Session, board: BoardState, season: Season, rule: SeasonRule) -> RulePage:
    """Put the page of a rule together."""
    snapshot = board.standings.get(season.id, season.version)
    rules = snapshot.standings.rules if snapshot else ()
    ranked = [line.contender for line in snapshot.standings.ranked] if snapshot else []
    names = ("name", "hidden", "rank_low", "rank_high", "groups")
    return RulePage(
        season.name,
        season.title,
        season.division,
        RuleRecord.of(rule, season),
        [LadderLine(*(each[name] for name in names)) for each in rules],
        _learners(session, season, rule, ranked),
    )


def _learners(
    session: Session, season: Season, rule: SeasonRule, ranked: list[Contender]
) -> list[LearnerLine]:
    """Return the ranked learners, the fewest errors first."""
    if not ranked:
        return []
    table = score_table(board_of(session, season), ranked)
    lines = []
    for contender in ranked:
        errors = table.runs(contender.name, rule.name)
        number = Number.median(errors)
        finite = [float(x) for x in errors if math.isfinite(x)]
        lines.append(LearnerLine(contender.entry_id, contender.name, finite, number))
    return sorted(
        lines, key=lambda line: math.inf if line.median.value is None else line.median.value
    )


@router.get("/seasons/{season}/rules/{name}.json", response_model=RulePage)
def rule_json(
    request: Request, session: ReadSession, board: CurrentBoard, season: Slug, name: RuleName
) -> Response:
    """Tell of a rule: its place among the others, and the errors of every learner."""
    found = find_season(session, season)
    rule = find_rule(found, name)

    def make() -> str:
        return json_text(rule_page(session, board, found, rule))

    return cached_response(request, board.page(found, ("rule", rule.id), make, "application/json"))


@router.get("/seasons/{season}/rules/{name}", include_in_schema=False)
def rule_html(
    request: Request, session: ReadSession, board: CurrentBoard, season: Slug, name: RuleName
) -> Response:
    """Show a rule."""
    found = find_season(session, season)
    rule = find_rule(found, name)

    def make() -> str:
        page = rule_page(session, board, found, rule)
        path = f"/seasons/{page.season}/rules/{page.rule.name}"
        return rendered("board/rule.html", path, page, **_drawn(page))

    return cached_response(request, board.page(found, ("rule", rule.id), make))


def _drawn(page: RulePage) -> dict[str, Any]:
    rows = [(line.learner, line.errors, line.median.value or 0.0) for line in page.learners]
    numbers = [(line.median.value, line.median.low, line.median.high) for line in page.learners]
    return {"strips": strips(rows[:40]), "drawn": intervals(numbers, width=220)}
