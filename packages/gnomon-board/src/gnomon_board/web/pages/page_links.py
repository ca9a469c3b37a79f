"""Links of a page to itself with changed parameters; the others are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode


@dataclass(frozen=True)
class PageLinks:
    """The address of a page, its parameters, and their defaults.

    Examples
    --------
    >>> links = PageLinks("/seasons/spring", {"q": "a&b", "page": 3}, {"q": "", "page": 1})
    >>> links.to(page=4), links.to(q="", page=1)
    ('/seasons/spring?q=a%26b&page=4', '/seasons/spring')
    """

    path: str
    values: Mapping[str, Any]
    defaults: Mapping[str, Any]

    def to(self, **changes: Any) -> str:
        """Return the address with some parameters changed, without those at their default."""
        values = {**self.values, **changes}
        given = {k: v for k, v in values.items() if v != self.defaults.get(k)}
        return f"{self.path}?{urlencode(given)}" if given else self.path

    @property
    def here(self) -> str:
        """The address of the page itself."""
        return self.to()
