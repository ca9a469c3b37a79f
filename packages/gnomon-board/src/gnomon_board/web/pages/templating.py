"""Rendering of Jinja templates: autoescaping, strict undefined names, filters, error pages."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from gnomon import __version__
from gnomon.errors import counted
from gnomon_board.leaderboard.standings import Why
from gnomon_board.studies.languages import COLOR_CODES, texts
from gnomon_board.web.api.dependencies import COOKIE, csrf_token
from gnomon_board.web.pages.page_cache import CachedPage, cached_response
from gohr.game import INSTRUCTIONS

_STATIC = Path(__file__).with_name("static")
_Handler = TypeVar("_Handler", bound=Callable[..., Any])


def number(value: float | None) -> str:
    """Return a number for people: about three digits, or words for a missing value.

    Examples
    --------
    >>> [number(x) for x in (1234.5, 56.78, 0.1234, 7.0, None, math.inf)]
    ['1,234', '56.8', '0.123', '7', 'not estimable', 'not reached']
    """
    if value is None or math.isnan(value):
        return "not estimable"
    if math.isinf(value):
        return "not reached"
    digits = ",.0f" if value == round(value) or abs(value) >= 100 else ".3g"
    return f"{value:{digits}}".replace("-", "−")


def moment(value: datetime.datetime | str | None) -> Markup:
    """Return a time in UTC for people and machines."""
    if value is None:
        return Markup("–")
    at = datetime.datetime.fromisoformat(value) if isinstance(value, str) else value
    return Markup('<time datetime="{}">{}</time>').format(
        at.isoformat(timespec="seconds"), f"{at:%Y-%m-%d %H:%M} UTC"
    )


def piece_words(piece: Any) -> str:
    """Return the shape and colour of a piece in words.

    Examples
    --------
    >>> piece_words({"shape": "STAR", "color": "RED"})
    'red star'
    """
    names = ("color", "shape")
    words = [piece[n] if isinstance(piece, Mapping) else getattr(piece, n) for n in names]
    return " ".join(str(word).lower() for word in words if word) or "empty cell"


_CHOICE = ", so that what is left may be a choice"
_WHY = {
    "incomplete": "trials are missing",
    "withdrawn attempt": f"a verified attempt was withdrawn{_CHOICE}",
    "refused attempt": f"an attempt was used up and does not count{_CHOICE}",
    "unfinished attempt": f"an attempt was begun and is not finished{_CHOICE}",
}


def why_unranked(why: Why) -> str:
    """Return the reason in words why an entry has no rank.

    Examples
    --------
    >>> why_unranked("incomplete")
    'trials are missing'
    """
    return _WHY[why]


def lines(text: str) -> Markup:
    """Return a plain text with its line breaks, with any markup escaped.

    Examples
    --------
    >>> lines("a < b")
    Markup('a &lt; b')
    """
    return Markup("<br>").join(escape(line) for line in text.splitlines())


def page_markup(text: str, pictures: Mapping[str, str] | None = None) -> Markup:
    r"""Return a page in Markdown as HTML, with any HTML in it escaped.

    ``pictures`` are the data addresses of the pictures that a page may show, by name.

    Examples
    --------
    >>> page_markup("Find **it**. <b>")
    Markup('<p>Find <strong>it</strong>. &lt;b&gt;</p>\n')
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for token in [*tokens, *(inner for each in tokens for inner in each.children or ())]:
        source = str(token.attrs.get("src", ""))
        if token.type == "image" and source in (pictures or {}):
            token.attrs["src"] = (pictures or {})[source]
    return Markup(parser.renderer.render(tokens, parser.options, {}))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("gnomon_board.web.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "why_unranked": why_unranked,
        "number": number,
        "moment": moment,
        "piece": piece_words,
        "counted": counted,
        "lines": lines,
        "zip": zip,
        "page_markup": page_markup,
    }
    environment.globals |= {
        "version": __version__,
        "static": _static,
        "color_codes": dict(COLOR_CODES),
        "instructions": INSTRUCTIONS,
    }
    return environment


def compile_templates() -> None:
    """Compile all templates, so that first pages need not wait for them."""
    for name in _environment().list_templates():
        _environment().get_template(name)


@cache
def _static(name: str) -> str:
    """Return the address of a static file, which changes with the version."""
    import hashlib

    digest = hashlib.sha256((_STATIC / name).read_bytes()).hexdigest()[:10]
    return f"/static/{name}?v={digest}"


def rendered(
    template: str,
    path: str,
    page: Any,
    *,
    csrf: str = "",
    **more: Any,
) -> str:
    """Return a page as text.

    ``page`` is its content, ``more`` holds values for the drawing only, and ``csrf`` is the token
    that its forms send back.
    """
    more.setdefault("t", texts("en"))
    more.setdefault("language", "en")
    found = _environment().get_template(template)
    return found.render(page=page, path=path, csrf=csrf, **more)


def html_response(
    request: Request,
    template: str,
    page: Any,
    *,
    status: int = 200,
    public: bool = False,
    **more: Any,
) -> Response:
    """Return a rendered page as a response that is not cached: it may hold a form.

    ``public``: whether the page is the same for all readers who are not signed in; for them it is
    packed, and sent again only after a change.
    """
    cookie = request.cookies.get(COOKIE)
    csrf = csrf_token(cookie) if cookie else ""
    text = rendered(template, request.url.path, page, csrf=csrf, **more)
    if public and not cookie and "authorization" not in request.headers:
        answer = cached_response(request, CachedPage.of(text))
        answer.headers["Vary"] = "Accept-Encoding, Cookie, Authorization"
        return answer
    return HTMLResponse(text, status, headers={"Cache-Control": "no-store"})


def page(
    router: APIRouter,
    path: str,
    template: str,
    *,
    drawn: Callable[[Any], dict[str, Any]] = lambda page: {},
    **more: Any,
) -> Callable[[_Handler], _Handler]:
    """Decorate the function that returns the content of the page at ``path``.

    The template gets this content, the parameters of the path, the query, ``more``, and the result
    of ``drawn`` for the content.
    """

    def register(handler: _Handler) -> _Handler:
        content = Depends(handler)

        def html(request: Request, page: Any = content) -> Response:
            given = {**request.path_params, "query": request.url.query, **more, **drawn(page)}
            return html_response(request, template, page, **given)

        router.get(path, include_in_schema=False)(html)
        return handler

    return register


_TITLES = {
    400: "That request could not be read",
    401: "Sign in first",
    403: "Not allowed",
    404: "Not here",
    405: "Not that way",
    409: "Not now",
    413: "Too large",
    422: "That is not as it should be",
    429: "Too many requests",
    500: "A mistake of ours",
}


@dataclass(frozen=True)
class Problem:
    """A status, its name for people, and one sentence."""

    status: int
    title: str
    detail: str


def error_page(request: Request, status: int, detail: str) -> Response:
    """Return the page of an HTTP error."""
    problem = Problem(status, _TITLES.get(status, "That did not work"), detail)
    return html_response(request, "problem.html", problem, status=status)
