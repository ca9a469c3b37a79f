"""How scores are made, in words, with the versions that made them."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from gnomon import __version__
from gnomon.leaderboard.standings.compute import LEVEL, METRICS
from gnomon.web.pages.templating import html_response

__all__ = ["router"]

router = APIRouter(tags=["pages"])


@dataclass(frozen=True)
class MethodsPage:
    """The methods of this board, by name, and the version of the program."""

    gnomon: str
    level: float
    score: str
    metrics: tuple[str, ...]
    ranking: str


def _page() -> MethodsPage:
    return MethodsPage(__version__, LEVEL, "tce", METRICS, "hodge")


@router.get("/methods.json")
def methods_json() -> MethodsPage:
    """Tell by which methods scores and ranks are made."""
    return _page()


@router.get("/methods", include_in_schema=False)
def methods_html(request: Request) -> Response:
    """Show how scores are made."""
    return html_response(request, "methods.html", _page())
