"""First page: the top of the current season, a replay of the game as a picture, how to enter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon_board.database.columns import now
from gnomon_board.database.engine import Database
from gnomon_board.database.schema import EntryAttempt, Season, Submission
from gnomon_board.errors import Refusal
from gnomon_board.leaderboard.evidence import attempts_of_trial
from gnomon_board.leaderboard.seasons import takes_entries
from gnomon_board.leaderboard.server_settings import Settings
from gnomon_board.leaderboard.standing_snapshots import Snapshot
from gnomon_board.leaderboard.standings import Standing
from gnomon_board.web.api.dependencies import CurrentSettings, DatabaseOf, ReadSession
from gnomon_board.web.pages.interval_bars import intervals
from gnomon_board.web.pages.page_cache import CurrentBoard
from gnomon_board.web.pages.replay_page import ReplayPage, check_replay, demonstration, replay_of
from gnomon_board.web.pages.season_pages import SeasonLine, Seasons
from gnomon_board.web.pages.templating import rendered
from gohr.experiments import episode_errors

router = APIRouter(tags=["pages"])

_TOP = 5
#: Number of leaders whose attempts are tried; in most seasons those of the first can be shown.
_LEADERS = 3


@dataclass(frozen=True)
class CurrentSeason:
    """The season that takes entries now, or else the newest: its top, and a rule of it to play.

    ``rule`` is empty if all of its rules are hidden.
    """

    name: str
    title: str
    division: str
    is_open: bool
    rule: str
    n_ranked: int
    top: list[Standing]


@dataclass(frozen=True)
class HomePage:
    """What a visitor came for.

    ``episode`` is one of a leader of the current season; of submission 0 if none may be watched,
    and then one that was recorded once.
    """

    current: CurrentSeason | None
    episode: ReplayPage
    seasons: list[SeasonLine]


def home_page(
    session: Session,
    database: Database,
    settings: Settings,
    season: Season | None,
    snapshot: Snapshot | None,
    seasons: Sequence[SeasonLine],
) -> HomePage:
    """Return the content of the first page."""
    ranked = snapshot.standings.ranked if snapshot else ()
    current = None
    if season is not None:
        public = [rule.name for rule in season.rules if rule.visibility == "public"]
        current = CurrentSeason(
            *(season.name, season.title, season.division, takes_entries(season)),
            *(next(iter(public), ""), len(ranked), list(ranked[:_TOP])),
        )
    episode = _leaders_episode(session, database, settings, ranked) or demonstration()
    return HomePage(current, episode, list(seasons))


def current_season(session: Session) -> Season | None:
    """Return the newest season that takes entries now, else the newest; None without seasons."""
    return max(
        session.scalars(select(Season)),
        key=lambda season: (takes_entries(season), season.id),
        default=None,
    )


def _leaders_episode(
    session: Session, database: Database, settings: Settings, ranked: Sequence[Standing]
) -> ReplayPage | None:
    """Return an informative episode of a leader; None if none may be shown."""
    for line in ranked[:_LEADERS]:
        submission = session.scalar(
            select(Submission)
            .join(EntryAttempt, Submission.attempt_id == EntryAttempt.id)
            .where(EntryAttempt.entry_id == line.contender.entry_id, Submission.state == "verified")
            .order_by(EntryAttempt.number)
            .limit(1)
        )
        if submission is None:
            continue
        rule = submission.trials[0].rule.name
        try:
            check_replay(submission)
            log = attempts_of_trial(database, settings, submission, rule, 0)
        except Refusal:
            continue
        return replay_of(submission, log, rule, 0, _telling(episode_errors(log).tolist()), 0)
    return None


def _telling(errors: Sequence[int]) -> int:
    """Return the first episode with a few errors, which is more informative than none or many.

    Examples
    --------
    >>> _telling([30, 12, 3, 0]), _telling([0, 0]), _telling([40, 30])
    (2, 0, 1)
    """
    few = [i for i, n in enumerate(errors) if 1 <= n <= 6]
    return few[0] if few else min(range(len(errors)), key=lambda i: (errors[i] == 0, errors[i]))


@router.get("/", include_in_schema=False)
def home_html(
    request: Request,
    session: ReadSession,
    database: DatabaseOf,
    settings: CurrentSettings,
    board: CurrentBoard,
    seasons: Seasons,
) -> Response:
    """Show the current season: its top, an episode of a leader; and the list of seasons."""
    season = current_season(session)
    snapshot = board.snapshot(season) if season else None
    state = tuple(seasons.seasons), season and takes_entries(season), now().date()

    def make() -> str:
        page = home_page(session, database, settings, season, snapshot, seasons.seasons)
        drawn = intervals([line.errors for line in page.current.top] if page.current else [])
        return rendered("board/home.html", "/", page, drawn=drawn)

    return board.answer(request, season, ("home",), make, state)
