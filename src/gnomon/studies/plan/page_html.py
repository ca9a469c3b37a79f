"""Pages in HTML, cleaned by an allowlist of elements and attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from gnomon._io.text_file import read_text

#: What a page begins with that is HTML, and not Markdown.
HTML_PAGE = "<!DOCTYPE html>"


_KEPT = frozenset((
    "p", "div", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "b", "strong",
    "i", "em", "u", "s", "small", "sub", "sup", "code", "pre", "blockquote", "table", "caption",
    "thead", "tbody", "tr", "th", "td", "a",
))  # fmt: skip
_VOID = frozenset(("br", "hr"))
#: Elements of which not even the text is kept.
_DROPPED = frozenset((
    "script", "style", "title", "template", "noscript", "iframe", "object", "svg", "math", "select",
    "textarea", "button",
))  # fmt: skip
#: The page has a heading of the first rank already; centred text is a block.
_RENAMED = {"h1": "h2", "center": "div"}


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
    >>> clean_html('<h1 onclick="x()">Hi<script>x()</script><b>you')
    '<h2>Hi<b>you</b></h2>'
    """
    cleaner = _Cleaner(pictures)
    cleaner.feed(page)
    cleaner.close()
    return "".join(cleaner.parts) + "".join(f"</{tag}>" for tag in reversed(cleaner.open))


class _Cleaner(HTMLParser):
    def __init__(self, pictures: Mapping[str, str] | None) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.open: list[str] = []
        self._pictures = pictures
        self._dropping: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        tag = _RENAMED.get(tag, tag)
        given = {name: value or "" for name, value in attrs}
        if tag in _DROPPED:
            self._dropping.append(tag)
        elif not self._dropping:
            if tag == "img":
                self.parts.append(self._picture(given))
            elif tag in _VOID:
                self.parts.append(f"<{tag}>")
            elif tag in _KEPT:
                self.open.append(tag)
                self.parts.append(f"<{tag}{_attributes(tag, given)}>")

    def handle_endtag(self, tag: str) -> None:
        tag = _RENAMED.get(tag, tag)
        if tag in self._dropping:
            del self._dropping[self._dropping.index(tag) :]
        while not self._dropping and tag in self.open:
            last = self.open.pop()
            self.parts.append(f"</{last}>")
            if last == tag:
                break

    def handle_data(self, data: str) -> None:
        if not self._dropping:
            self.parts.append(escape(data))

    def _picture(self, given: Mapping[str, str]) -> str:
        name, text = given.get("src", ""), escape(given.get("alt", ""))
        if self._pictures is None:
            return f'<img src="{escape(name)}" alt="{text}">' if _is_own(name) else text
        address = self._pictures.get(name) or self._pictures.get(PurePosixPath(name).name)
        return text if address is None else f'<img src="{escape(address)}" alt="{text}">'


def _attributes(tag: str, given: Mapping[str, str]) -> str:
    if tag == "a" and _scheme(given.get("href", "")) in ("http", "https", "mailto"):
        return f' href="{escape(given["href"])}" rel="noopener noreferrer"'
    if tag in ("td", "th"):
        spans = ((name, given.get(name, "")) for name in ("colspan", "rowspan"))
        return "".join(f' {n}="{v}"' for n, v in spans if re.fullmatch(r"[1-9][0-9]?", v))
    return ""


def _scheme(address: str) -> str:
    """Return the scheme of an address, empty for none or for what is no address."""
    try:
        return urlsplit(address).scheme
    except ValueError:
        return ""


def _is_own(name: str) -> bool:
    return bool(name) and not _scheme(name) and not name.startswith("/")


def pictures_of_html(page: str) -> list[str]:
    """Return the names of the pictures that a page in HTML shows."""
    return re.findall(r'<img src="([^"]+)"', clean_html(page))


def html_page(path: Path) -> str:
    """Return the page of an HTML file, cleaned."""
    return f"{HTML_PAGE}\n{clean_html(read_text(path))}"
