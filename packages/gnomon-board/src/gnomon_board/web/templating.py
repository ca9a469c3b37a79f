"""Rendering of Jinja templates: autoescaping, strict undefined names, filters, error pages."""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from gnomon import __version__, printing
from gnomon.errors import counted
from gnomon_board.standings import LEVEL
from gnomon_board.studies.plan_check import COLOR_CODES
from gnomon_board.web.api.dependencies import COOKIE, csrf_token
from gnomon_board.web.page_cache import cached_response

STATIC = Path(__file__).with_name("static")


def number(value: float | None) -> str:
    """Return a number for people; None is not estimable."""
    return printing.number(math.nan if value is None else value).replace("-", "−")


def moment(value: datetime.datetime | str | None) -> Markup:
    """Return a time in UTC for people and machines."""
    if value is None:
        return Markup("–")
    at = datetime.datetime.fromisoformat(value) if isinstance(value, str) else value
    return Markup('<time datetime="{}">{}</time>').format(
        at.isoformat(timespec="seconds"), f"{at:%Y-%m-%d %H:%M} UTC"
    )


def piece_words(piece: Any) -> str:
    """Return the colour and the shape of a piece in words, or the number of an empty cell.

    >>> piece_words({"cell": 7, "color": None, "shape": None})
    'empty cell 7'
    """
    got = piece.get if isinstance(piece, Mapping) else partial(getattr, piece)
    words = [str(got(name)).lower() for name in ("color", "shape") if got(name)]
    return " ".join(words) or f"empty cell {got('cell')}"


_WHY_UNRANKED = {
    "incomplete": "trials are missing",
    "withdrawn attempt": "a verified assignment was withdrawn",
    "refused attempt": "an assignment was refused or withdrawn",
    "unverified attempt": "the server could not verify an assignment",
    "unfinished attempt": "an assignment was begun and is not finished",
}


def lines(text: str) -> Markup:
    """Return a plain text with its line breaks, with any markup escaped."""
    return Markup("<br>").join(escape(line) for line in text.splitlines())


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def page_markup(text: str) -> Markup:
    """Return a page in Markdown as HTML, with any HTML in it escaped."""
    return Markup(_MARKDOWN.render(text))


@dataclass(frozen=True)
class PageLinks:
    """Links of a page to itself with changed parameters; the others are kept."""

    path: str
    values: Mapping[str, Any]
    defaults: Mapping[str, Any]

    def to(self, **changes: Any) -> str:
        """Return the address with some parameters changed, without those at their default."""
        values = {**self.values, **changes}
        given = {k: v for k, v in values.items() if v != self.defaults.get(k)}
        return f"{self.path}?{urlencode(given)}" if given else self.path


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("gnomon_board.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "why_unranked": _WHY_UNRANKED.__getitem__,
        "number": number,
        "moment": moment,
        "piece": piece_words,
        "counted": counted,
        "lines": lines,
        "page_markup": page_markup,
    }
    environment.globals |= {
        "version": __version__,
        "level": f"{LEVEL:.0%}",
        "static": _static,
        "color_codes": dict(COLOR_CODES),
    }
    return environment


def compile_templates() -> None:
    """Compile all templates, so that first pages need not wait for them."""
    for name in _environment().list_templates():
        _environment().get_template(name)


@cache
def _static(name: str) -> str:
    """Return the address of a static file, which changes with its content."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:10]
    return f"/static/{name}?v={digest}"


def rendered(template: str, path: str, *, csrf: str = "", **values: Any) -> str:
    """Return a page as text; ``csrf`` is the token that its forms send back."""
    return _environment().get_template(template).render(path=path, csrf=csrf, **values)


def html_response(
    request: Request, template: str, *, status: int = 200, public: bool = False, **values: Any
) -> Response:
    """Return a rendered page as a response that is not cached: it may hold a form.

    ``public``: whether the page is the same for all readers who are not signed in; for them it is
    packed, and sent again only after a change.
    """
    cookie = request.cookies.get(COOKIE)
    csrf = csrf_token(cookie) if cookie else ""
    text = rendered(template, request.url.path, csrf=csrf, **values)
    if public and not cookie and "authorization" not in request.headers:
        return cached_response(request, None, lambda: text, anonymous=True)
    return HTMLResponse(text, status, headers={"Cache-Control": "no-store"})


def error_page(request: Request, status: int, detail: str) -> Response:
    """Return the page of an HTTP error: its status, and one sentence."""
    title = "Wrong address" if status == 422 else HTTPStatus(status).phrase
    return html_response(
        request, "problem.html", status=status, problem=status, title=title, detail=detail
    )
