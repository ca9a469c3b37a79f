"""Page of two learners of a season, compared by `gnomon.compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon.results import noted
from gnomon_board.database.schema import Entry
from gnomon_board.errors import Missing
from gnomon_board.leaderboard.entries import find_entry
from gnomon_board.leaderboard.standing_snapshots import board_of_some
from gnomon_board.leaderboard.standings import LEVEL, Contender, score_table
from gnomon_board.web.api.dependencies import ReadSession
from gnomon_board.web.pages.page_cache import CurrentBoard
from gnomon_board.web.pages.templating import rendered

if TYPE_CHECKING:
    from gnomon.stats import Comparison

router = APIRouter(tags=["pages"])

#: Compared metrics: the first determines ranks, the others show the size of differences.
METRICS = ("probability_of_improvement", "iqm", "mean")
EntryNumber = Annotated[int, Query(ge=1, le=2**31 - 1, description="The number of an entry.")]


@dataclass(frozen=True)
class ComparePage:
    """Two entries of a season, what `gnomon.compare` returns of them, and its warnings.

    ``overall`` has a record for each metric, ``rules`` one for each rule that both have played.
    """

    season: str
    season_title: str
    a: Contender
    b: Contender
    overall: Sequence[Comparison]
    rules: Sequence[Comparison]
    notes: Sequence[str]
    level: float = LEVEL


def compare_page(session: Session, a: Entry, b: Entry) -> ComparePage:
    """Compare two entries by all their counted trials.

    Raises Missing: they are the same, of different seasons, or without a score.
    """
    from gnomon import compare

    if a.id == b.id or a.season_id != b.season_id:
        raise Missing("expected two learners of one season")
    two = [Contender(each.id, each.name, each.account.name) for each in (a, b)]
    board = board_of_some(session, a.season, two)
    if {row.entry for row in board.scores} < {a.id, b.id}:
        raise Missing("expected two learners with verified trials")
    table = score_table(board, two)
    with noted() as notes:
        overall = list(compare(table, a.name, b.name, METRICS, level=LEVEL, variances="own"))
        rules: list[Comparison] = []
        if len(table.tasks) > 1:
            found = compare(
                *(table, a.name, b.name, "mean"), per_task=True, level=LEVEL, variances="own"
            )
            rules = [one for one in found if one.task is not None]
    return ComparePage(a.season.name, a.season.title, two[0], two[1], overall, rules, notes)


@router.get("/compare", include_in_schema=False)
def compare_html(
    request: Request, session: ReadSession, board: CurrentBoard, a: EntryNumber, b: EntryNumber
) -> Response:
    """Show which of two learners is better, by how much, and on which rules."""
    first, second = find_entry(session, a), find_entry(session, b)

    def make() -> str:
        found = compare_page(session, first, second)
        others = session.execute(
            select(Entry.id, Entry.name)
            .where(Entry.season_id == first.season_id, Entry.withdrawn_at.is_(None))
            .order_by(Entry.name)
        ).all()
        return rendered("board/compare.html", "/compare", found, others=others)

    return board.answer(request, first.season, ("compare", a, b), make)
