"""Page of two learners side by side: differences with intervals, won pairs, learning curves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field
from sqlalchemy.orm import Session

from gnomon.database.schema import Entry
from gnomon.leaderboard.learner_comparison import LearnerComparison, compare_learners
from gnomon.leaderboard.refusals import Conflict, Refusal
from gnomon.leaderboard.seasons.entry_registration import find_entry, find_named
from gnomon.leaderboard.standing_records import Contender, Standing
from gnomon.leaderboard.standing_snapshots import board_of_some
from gnomon.web.api.dependencies import ReadSession, RowId
from gnomon.web.api.records import EntryRecord
from gnomon.web.pages.charts import Curve, LineChart, differences, line_chart, shares
from gnomon.web.pages.learner_page import CurveRecord, median_curves, trials_of_entry
from gnomon.web.pages.page_cache import BoardState, CurrentBoard
from gnomon.web.pages.templating import rendered

router = APIRouter(tags=["pages"])

#: Charts of one page: of the rules on which the two differ most.
_MOST_CHARTS = 6
_EntryId = Annotated[int, Field(ge=1, le=2**31 - 1)]


@dataclass(frozen=True)
class ComparePage:
    """Two learners of a season, and what is known of one against the other."""

    season: str
    season_title: str
    division: str
    a: EntryRecord
    b: EntryRecord
    standing_a: Standing | None
    standing_b: Standing | None
    comparison: LearnerComparison
    curves_a: list[CurveRecord]
    curves_b: list[CurveRecord]


def compare_page(session: Session, board: BoardState, a: Entry, b: Entry) -> ComparePage:
    """Put the page of two learners together.

    Raises Refusal: they are one, of two seasons, or have nothing to compare.
    """
    season = a.season
    pair = [Contender(each.id, each.name) for each in (a, b)]
    found = compare_learners(board_of_some(session, season, pair), *pair)
    snapshot = board.standings.get(season.id, season.version)
    ranked = snapshot.standings.ranked if snapshot else ()
    standing = {line.contender.entry_id: line for line in ranked}
    return ComparePage(
        *(season.name, season.title, season.division),
        *(EntryRecord.of(a), EntryRecord.of(b)),
        *(standing.get(a.id), standing.get(b.id)),
        found,
        median_curves(season, trials_of_entry(session, a)),
        median_curves(season, trials_of_entry(session, b)),
    )


def _two(session: Session, a: int, b: int) -> tuple[Entry, Entry]:
    if a == b:
        raise Refusal(f"expected two learners to compare, found entry {a} twice")
    one, other = find_entry(session, a), find_entry(session, b)
    if one.season_id != other.season_id:
        raise Conflict(
            f"entries {a} and {b} are of the seasons {one.season.name} and {other.season.name}: "
            "they have not played the same"
        )
    return one, other


@router.get("/compare", include_in_schema=False)
def choose_two(
    session: ReadSession,
    entry: Annotated[tuple[_EntryId, ...], Query(max_length=100)] = (),
    name: Annotated[str, Query(max_length=128)] = "",
) -> Response:
    """Lead to the page of two learners: ticked in the standings, or one and the other's name."""
    if name.strip() and len(entry) == 1:
        entry += (find_named(session, find_entry(session, entry[0]).season, name).id,)
    if len(entry) != 2:
        raise Refusal(f"tick two learners in the standings to compare them; found {len(entry)}")
    one, other = _two(session, *entry)
    return RedirectResponse(f"/compare/{one.id}/{other.id}", 303)


@router.get("/compare/{a}/{b}", include_in_schema=False)
@router.get("/compare/{a}/{b}.json", response_model=ComparePage)
def compare_json(
    request: Request, session: ReadSession, board: CurrentBoard, a: RowId, b: RowId
) -> Response:
    """Tell of two learners: differences of errors and shares of pairs won, with intervals."""
    one, other = _two(session, a, b)
    told = partial(compare_page, session, board, one, other)

    def html(page: ComparePage) -> str:
        return rendered(
            "board/compare.html", f"/compare/{a}/{b}", page, site=board.site, **_drawn(page)
        )

    return board.twin(request, one.season, ("compare", a, b), told, html)


def _drawn(page: ComparePage) -> dict[str, Any]:
    lines = [page.comparison.whole, *page.comparison.rules]
    return {
        "differences": differences([line.difference for line in lines]),
        "shares": shares([line.won for line in lines]),
        "charts": _charts(page),
    }


def _charts(page: ComparePage) -> list[tuple[str, LineChart | None]]:
    """Lay out the curves of the rules on which the two differ most."""
    of_b = {curve.rule: curve for curve in page.curves_b}
    both = [(curve, of_b[curve.rule]) for curve in page.curves_a if curve.rule in of_b]
    both.sort(key=lambda two: -abs(two[0].median[-1] - two[1].median[-1]))
    return [
        (
            a.rule,
            line_chart(
                [
                    Curve(page.a.name, a.median, a.low, a.high),
                    Curve(page.b.name, b.median, b.low, b.high),
                ],
                x_label="episode",
                y_label="errors so far",
            ),
        )
        for a, b in both[:_MOST_CHARTS]
    ]
