"""Badges (SVG) for the pages of others, and pictures (PNG) that stand for a link (OpenGraph)."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from threading import Lock
from typing import Any

from fastapi import APIRouter, Request, Response

from gnomon.database.schema import Entry
from gnomon.errors import counted
from gnomon.leaderboard.seasons.entry_registration import find_entry, find_season
from gnomon.leaderboard.standing_records import Standing
from gnomon.web.api.dependencies import ReadSession, RowId, Slug
from gnomon.web.pages.charts import MOST_LOG_ODDS
from gnomon.web.pages.home_page import current_season
from gnomon.web.pages.page_cache import CachedPage, CurrentBoard, cached_response
from gnomon.web.pages.templating import rendered

router = APIRouter(tags=["pages"])

#: Pictures are there for the pages of others.
_FOR_OTHERS = {"Cross-Origin-Resource-Policy": "cross-origin"}
_TOP = 5
_SIZE = 1200, 630
#: Matplotlib keeps fonts and layouts in common.
_DRAWING = Lock()
_PAGE, _INK, _MUTED, _LINE, _DOT, _YOU = (
    *("#faf8f3", "#1f2933", "#5b6671", "#e2dccd", "#0068a8", "#8a5300"),
)


@router.get("/entries/{entry_id}/badge.svg", response_class=Response)
def badge(request: Request, session: ReadSession, board: CurrentBoard, entry_id: RowId) -> Response:
    """Return a badge with the rank of a learner."""
    entry = find_entry(session, entry_id)

    def make() -> str:
        left = _short(entry.season.title, 34)
        right = _rank_words(entry, board.ranked(entry.season))
        return rendered(
            "sharing/badge.svg",
            f"/entries/{entry_id}/badge.svg",
            entry.name,
            json=False,
            left=left,
            right=right,
            widths=(_width(left), _width(right)),
        )

    kept = board.page(entry.season, ("badge", entry.id), make, "image/svg+xml")
    return _for_others(request, kept)


def _place(entry: Entry, ranked: Sequence[Standing]) -> int | None:
    """Return the place of an entry among the standings, from 0; None if it has no rank."""
    return next((i for i, line in enumerate(ranked) if line.contender.entry_id == entry.id), None)


def _rank_words(entry: Entry, ranked: Sequence[Standing]) -> str:
    if entry.withdrawn_at is not None:
        return "withdrawn"
    at = _place(entry, ranked)
    if at is None:
        return "no rank"
    said = ", reported" if entry.season.division == "open" else ""
    return f"rank {_ranks(ranked[at])} of {len(ranked):,}{said}"


def _ranks(line: Standing) -> str:
    to = "" if line.rank_low == line.rank_high else f"–{line.rank_high}"
    return f"{line.rank_low}{to}"


def _short(text: str, most: int) -> str:
    """Return a text of at most so many letters.

    Examples
    --------
    >>> _short("abcdef", 4), _short("abc", 4)
    ('abc…', 'abc')
    """
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _width(text: str) -> int:
    """Return about how wide a text is at 11 px; the badge holds it to that."""
    return 12 + math.ceil(sum(4 if letter in " .,:;il|!’" else 6.7 for letter in text))


@router.get("/picture.png", response_class=Response)
def board_picture(request: Request, session: ReadSession, board: CurrentBoard) -> Response:
    """Return the picture of the board: the top of the current season."""
    season = current_season(session)
    if season is None:
        title, text = "Gnomon", "A score is believed when it can be replayed."
        kept = board.pages.get("picture", lambda: _drawn(title, text, [], 0), "image/png")
        return _for_others(request, kept)
    return season_picture(request, session, board, season.name)


@router.get("/seasons/{name}/picture.png", response_class=Response)
def season_picture(
    request: Request, session: ReadSession, board: CurrentBoard, name: Slug
) -> Response:
    """Return the picture of a season: the top of its standings."""
    season = find_season(session, name)

    def make() -> bytes:
        ranked = board.ranked(season)
        checked = ", nothing checked" if season.division == "open" else ""
        counts = counted(len(season.rules), "rule"), counted(len(ranked), "learner")
        about = " · ".join([f"{season.division} division{checked}", *counts])
        return _drawn(season.title, about, ranked[:_TOP], 0)

    return _for_others(request, board.page(season, ("picture",), make, "image/png"))


@router.get("/entries/{entry_id}/picture.png", response_class=Response)
def entry_picture(
    request: Request, session: ReadSession, board: CurrentBoard, entry_id: RowId
) -> Response:
    """Return the picture of a learner: its place, beside those around it."""
    entry = find_entry(session, entry_id)

    def make() -> bytes:
        season, ranked = entry.season, board.ranked(entry.season)
        about = f"{_rank_words(entry, ranked)} · {season.title}, {season.division} division"
        at = _place(entry, ranked)
        first = 0 if at is None else max(0, min(at - 2, len(ranked) - _TOP))
        beside = () if at is None else ranked[first : first + _TOP]
        return _drawn(entry.name, about, beside, entry.id)

    kept = board.page(entry.season, ("entry picture", entry.id), make, "image/png")
    return _for_others(request, kept)


def _for_others(request: Request, page: CachedPage) -> Response:
    answer = cached_response(request, page)
    answer.headers.update(_FOR_OTHERS)
    return answer


def _drawn(title: str, about: str, lines: Sequence[Standing], you: int) -> bytes:
    """Draw a title and some learners with their intervals; ``you`` is the one that stands out."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with _DRAWING, warnings.catch_warnings():
        # A letter that the typeface lacks is drawn as a box.
        warnings.simplefilter("ignore", UserWarning)
        width, height = _SIZE
        figure = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=_PAGE)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()

        def say(x: float, y: float, text: str, size: float, color: str, **more: Any) -> None:
            axes.text(x, y, text, fontsize=size, color=color, parse_math=False, **more)

        say(70, 118, _short(title, 34), 38, _INK, weight="bold")
        say(70, 172, _short(about, 74), 19, _MUTED)
        most = max((abs(x) for line in lines for x in _ends(line)), default=1.0) * 1.03 or 1.0
        for i, line in enumerate(lines):
            y = 255 + 66 * i
            is_you = line.contender.entry_id == you
            color = _YOU if is_you else _INK
            say(70, y + 10, _ranks(line), 19, color, weight="bold")
            say(190, y + 10, _short(line.contender.name, 28), 19, color)
            axes.plot([680, 1130], [y, y], color=_LINE, linewidth=1.5)
            axes.plot([905, 905], [y - 12, y + 12], color=_LINE, linewidth=1.5)
            low, value, high = (905 + 225 * x / most for x in _ends(line))
            if line.rating is not None:
                own = _YOU if is_you else _DOT
                axes.plot([low, high], [y, y], color=own, linewidth=5, alpha=0.5)
                axes.plot([value, value], [y - 11, y + 11], color=own, linewidth=6)
        say(70, 596, "Gnomon", 19, _YOU, weight="bold")
        say(215, 596, "pairs of trials won, with intervals" if lines else "", 17, _MUTED)
        out = io.BytesIO()
        figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _ends(line: Standing) -> tuple[float, float, float]:
    """Return the ends of the interval of a rating, and the rating between them; 0 for none."""
    rating = line.rating
    if rating is None:
        return (0.0, 0.0, 0.0)
    low, value, high = (
        max(-MOST_LOG_ODDS, min(x or 0.0, MOST_LOG_ODDS))
        for x in (rating.low, rating.value, rating.high)
    )
    return low, value, high
