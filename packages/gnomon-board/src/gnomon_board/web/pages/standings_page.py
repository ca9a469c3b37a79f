"""Page of the standings: search, filters, order and pages by query parameters, without a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.database.schema import Entry, Season, Submission
from gnomon_board.leaderboard.hidden.begun_attempts import Unfinished, unfinished_attempts
from gnomon_board.leaderboard.seasons import find_season
from gnomon_board.leaderboard.standing_snapshots import Snapshot
from gnomon_board.leaderboard.standings import (
    PER_PAGE,
    Order,
    Selection,
    StandingQuery,
    Standings,
    select_standings,
)
from gnomon_board.web.api.dependencies import CurrentSettings, ReadSession, Slug
from gnomon_board.web.api.records import SeasonRecord
from gnomon_board.web.pages.interval_bars import intervals
from gnomon_board.web.pages.page_cache import CurrentBoard
from gnomon_board.web.pages.page_links import PageLinks
from gnomon_board.web.pages.season_archive import Citation
from gnomon_board.web.pages.templating import rendered

router = APIRouter(tags=["pages"])

PageNumber = Annotated[int, Query(ge=1, le=100_000, description="Which page, from 1.")]
_WAITING = ("uploading", "queued", "verifying")
#: Most entries without a rank, and withdrawn ones, below the first page of ranked ones.
_FEW = 20


@dataclass(frozen=True)
class StandingsQuery:
    """The parameters of the page."""

    q: str
    verified: str
    by: Order
    show: Literal["ranked", "unranked", "withdrawn"]
    page: int

    def for_standings(self) -> StandingQuery:
        """Return the query of the standings."""
        return StandingQuery(
            "unranked" if self.show == "unranked" else "ranked",
            self.q.strip(),
            bool(self.verified),
            self.by,
            self.page,
        )


async def standings_query(
    q: Annotated[str, Query(max_length=128)] = "",
    verified: Literal["", "yes"] = "",
    by: Order = "rank",
    show: Literal["ranked", "unranked", "withdrawn"] = "ranked",
    page: PageNumber = 1,
) -> StandingsQuery:
    """Return the parameters of the page: the shown part of the standings, and its order."""
    return StandingsQuery(q, verified, by, show, page)


Asked = Annotated[StandingsQuery, Depends(standings_query)]
DEFAULTS = StandingsQuery("", "", "rank", "ranked", 1)


@dataclass(frozen=True)
class Tombstone:
    """An entry that was taken off the board, and why."""

    entry_id: int
    name: str
    reason: str


@dataclass(frozen=True)
class StandingsPage:
    """A page of the board of a season.

    ``standings`` is null while the first ones are computed; ``is_current`` is false while newer
    ones are; its ``ranked``, ``unranked``, and ``withdrawn``, hold what stands on this page, of
    ``n_ranked``, ``n_unranked`` and ``n_withdrawn`` in all. ``n_found`` are those that were asked
    for, on ``n_pages`` pages. ``waiting`` counts the submissions that are not judged
    yet; ``unfinished`` are the attempts of entries on this page that are in play.
    """

    season: SeasonRecord
    standings: Standings | None
    is_current: bool
    asked: StandingsQuery
    n_ranked: int
    n_unranked: int
    n_withdrawn: int
    n_found: int
    page: int
    n_pages: int
    waiting: int
    withdrawn: list[Tombstone]
    unfinished: list[Unfinished]

    @property
    def first(self) -> int:
        """The number of the first line of the page among the found ones."""
        return (self.page - 1) * PER_PAGE + 1


def standings_page(
    session: Session,
    season: Season,
    snapshot: Snapshot | None,
    unfinished: Sequence[Unfinished],
    asked: StandingsQuery = DEFAULTS,
) -> StandingsPage:
    """Return a page of the standings of a season with its other content."""
    whole = snapshot.standings if snapshot else Standings(season.name, 0)
    found = select_standings(whole, asked.for_standings())
    n_withdrawn, page_withdrawn, withdrawn = _withdrawn(session, season, asked)
    page = found.page if asked.show != "withdrawn" else page_withdrawn
    shown = _shown(whole, found, asked)
    here = {line.contender.entry_id for line in (*shown.ranked, *shown.unranked)}
    n_found = n_withdrawn if asked.show == "withdrawn" else found.n_found
    return StandingsPage(
        SeasonRecord.of(season),
        None if snapshot is None else shown,
        snapshot is not None and snapshot.is_current,
        asked,
        *(len(whole.ranked), len(whole.unranked), n_withdrawn),
        *(n_found, page, max(1, -(-n_found // PER_PAGE))),
        _waiting(session, season),
        withdrawn,
        [left for left in unfinished if left.entry_id in here],
    )


def _shown(whole: Standings, found: Selection, asked: StandingsQuery) -> Standings:
    """Return the standings with only the lines of this page."""
    if asked.show == "ranked":
        beside = StandingQuery("unranked", asked.q.strip())
        few = select_standings(whole, beside).lines[:_FEW] if _is_first(asked) else ()
        return replace(whole, ranked=found.lines, unranked=few)
    unranked = found.lines if asked.show == "unranked" else ()
    return replace(whole, ranked=(), unranked=unranked)


def _is_first(asked: StandingsQuery) -> bool:
    """Return whether the page also shows entries without a rank: no filter but a name."""
    return replace(asked, q="", by="rank") == DEFAULTS


def _withdrawn(
    session: Session, season: Season, asked: StandingsQuery
) -> tuple[int, int, list[Tombstone]]:
    """Return the number of withdrawn entries, the page number, and the entries on the page."""
    gone = Entry.season_id == season.id, Entry.withdrawn_at.is_not(None)
    n_gone = session.scalar(select(func.count()).select_from(Entry).where(*gone)) or 0
    page = min(asked.page, max(1, -(-n_gone // PER_PAGE)))
    most, after = 0, 0
    if asked.show == "withdrawn":
        most, after = PER_PAGE, (page - 1) * PER_PAGE
    elif _is_first(asked) and not asked.q:
        most = _FEW
    rows = session.scalars(select(Entry).where(*gone).order_by(Entry.id).offset(after).limit(most))
    return n_gone, page, [Tombstone(e.id, e.name, e.withdrawn_reason) for e in rows]


def within_pages(session: Session, season: Season, number: int) -> int:
    """Return the number of a page, at most that of the last page of all entries.

    This prevents the cache from holding the last page under many numbers.
    """
    if number == 1:
        return 1
    of_season = select(func.count()).select_from(Entry).where(Entry.season_id == season.id)
    return min(number, max(1, -(-(session.scalar(of_season) or 0) // PER_PAGE)))


def _waiting(session: Session, season: Season) -> int:
    query = select(func.count()).select_from(Submission)
    of_season = Submission.season_id == season.id, Submission.state.in_(_WAITING)
    return session.scalar(query.where(*of_season)) or 0


@router.get("/seasons/{name}", include_in_schema=False)
def standings_html(
    request: Request,
    session: ReadSession,
    settings: CurrentSettings,
    board: CurrentBoard,
    name: Slug,
    asked: Asked,
) -> Response:
    """Show the standings of a season, fifty at a time: estimates, rank intervals, tiers."""
    season = find_season(session, name)
    asked = replace(asked, page=within_pages(session, season, asked.page))
    # Moves change the state of attempts in play, but not the version of the season.
    unfinished = unfinished_attempts(session, season.id) if season.division == "hidden" else []
    # The result of a search is not cached, since others do not request it.
    key = () if asked.q else ("standings", asked)

    def make() -> str:
        snapshot = board.snapshot(season)
        page = standings_page(session, season, snapshot, unfinished, asked)
        links = PageLinks(f"/seasons/{season.name}", asdict(page.asked), asdict(DEFAULTS))
        lines = page.standings.ranked if page.standings else ()
        drawn = intervals([line.errors for line in lines])
        return rendered(
            "board/standings.html", links.path, page, links=links, drawn=drawn,
            bibtex=Citation.of(season, settings).bibtex,
        )  # fmt: skip

    return board.answer(request, season, key, make, tuple(unfinished))
