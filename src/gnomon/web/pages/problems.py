"""What went wrong, as a page."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from gnomon.web.pages.templating import html_response

__all__ = ["error_page"]

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
    """Return the page that tells of an error."""
    problem = Problem(status, _TITLES.get(status, "That did not work"), detail)
    return html_response(request, "problem.html", problem, status=status, json=False)
