"""Pages in HTML, cleaned by an allowlist of elements and attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from gnomon._io.text_file import read_text

#: What a page begins with that is HTML, and not Markdown.
HTML_PAGE = "<!DOCTYPE html>"

_KEPT = {
    "p", "div", "center", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd",
    "b", "strong", "i", "em", "u", "s", "small", "sub", "sup", "code", "pre", "blockquote", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "a", "img", "br", "hr",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}
#: Elements of which not even the text is kept.
_DROPPED = {
    "script", "style", "title", "template", "noscript", "iframe", "object", "svg", "math", "select",
    "textarea", "button",
}  # fmt: skip


def is_html(page: str) -> bool:
    """Tell whether a page is HTML."""
    return page.lstrip().lower().startswith(HTML_PAGE.lower())


def clean_html(page: str, pictures: Mapping[str, str] | None = None) -> str:
    """Return the HTML of a page, cleaned by an allowlist of elements and attributes.

    Elements that structure a text are kept, without their attributes; a link keeps its address if
    that is ``http``, ``https`` or ``mailto``, a picture its name and its text. Scripts, styles,
    frames, forms and drawings go; text always stays text; every element is closed.

    Parameters
    ----------
    page : str
    pictures : mapping of str to str, optional
        The data addresses of the pictures that the page may show, by name: then those stand in
        place of the names, and a picture that is not among them is only its text.

    Examples
    --------
    >>> clean_html('<h2 onclick="x()">Hi<script>x()</script><b>you')
    '<h2>Hi<b>you</b></h2>'
    """
    import nh3

    def kept(tag: str, name: str, value: str) -> str | None:
        if name == "href":
            return value if urlsplit(value).scheme else None
        if name == "src" and pictures is not None:
            return pictures.get(value) or pictures.get(PurePosixPath(value).name)
        return value if name != "src" or _is_own(value) else None

    cleaned = nh3.clean(
        page,
        tags=_KEPT,
        clean_content_tags=_DROPPED,
        attributes=_ATTRIBUTES,
        attribute_filter=kept,
        url_schemes={"http", "https", "mailto"},
    )
    return cleaned.replace("<img>", "")


def _is_own(name: str) -> bool:
    """Return whether a picture's address names a file beside the page."""
    parts = urlsplit(name)
    return bool(name) and not (parts.scheme or parts.netloc or name.startswith("/"))


def pictures_of_html(page: str) -> list[str]:
    """Return the names of the pictures that a page in HTML shows."""
    return re.findall(r'<img [^>]*src="([^"]+)"', clean_html(page))


def html_page(path: Path) -> str:
    """Return the page of an HTML file, cleaned."""
    return f"{HTML_PAGE}\n{clean_html(read_text(path))}"
