"""Numbers as papers and leaderboards print them."""

from __future__ import annotations

import math
import re

__all__ = ["reported_number"]

_NOTHING = ("", "-", "–", "—", "na", "n/a", "nan", "null", "none", "?")
_PLAIN = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?"
_SPREAD = r"\s*(?:(?:±|\+/-|\\pm)\s*[\d.,]+\s*%?|\([\d.,]+\s*%?\))?"
_REPORTED = re.compile(rf"({_PLAIN})\s*%?{_SPREAD}\s*%?")


def reported_number(text: object) -> float | None:
    """Return the number that a cell reports, NaN for an empty one, None if there is none in it.

    Thousands may be apart by commas, a sign of per cent and a deviation behind ± or in brackets
    are passed over.

    Examples
    --------
    >>> [reported_number(x) for x in ("1,234", "94.5%", "12.3 ± 0.4", "7.1 (0.2)", "12,3", "MIT")]
    [1234.0, 94.5, 12.3, 7.1, None, None]
    >>> reported_number(" - "), reported_number(3)
    (nan, 3.0)
    """
    if isinstance(text, bool):
        return None
    plain = "" if text is None else str(text).strip().replace("\N{MINUS SIGN}", "-")
    if plain.lower() in _NOTHING:
        return math.nan
    found = _REPORTED.fullmatch(plain)
    try:
        return float(found[1].replace(",", "")) if found else None
    except ValueError:
        return None
