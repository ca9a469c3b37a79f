"""Numbers as papers and leaderboards print them."""

from __future__ import annotations

import math
import re

_NOTHING = ("", "-", "–", "—", "na", "n/a", "nan", "null", "none", "?")
_PLAIN = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?"
_SPREAD = r"(?:(?:±|\+/-|\\pm)\s*[\d.,]+\s*%?|\([\d.,]+\s*%?\))"
#: As Markdown has it: bold or slanted, or with a star that points to a note.
_EMPHASIS = "*_"
_REPORTED = re.compile(rf"({_PLAIN})\s*%?[{_EMPHASIS}]*\s*({_SPREAD})?\s*%?")


def reported_number(text: object) -> float | None:
    """Return the number that a cell reports, NaN for an empty one, None if there is none in it.

    Thousands may be apart by commas; a sign of per cent, a deviation behind ± or in brackets, and
    asterisks and underscores around a number are passed over.

    Examples
    --------
    >>> [reported_number(x) for x in ("1,234", "94.5%", "12.3 ± 0.4", "7.1 (0.2)", "12,3", "MIT")]
    [1234.0, 94.5, 12.3, 7.1, None, None]
    >>> reported_number(" - "), reported_number(3), reported_number("**15.0** ± 2")
    (nan, 3.0, 15.0)
    """
    if isinstance(text, bool):
        return None
    plain = _bare(text)
    if plain.lower() in _NOTHING:
        return math.nan
    found = _REPORTED.fullmatch(plain)
    try:
        return float(found[1].replace(",", "")) if found else None
    except ValueError:
        return None


def has_deviation(text: object) -> bool:
    """Return whether a cell reports a number and, behind ± or in brackets, its deviation.

    Examples
    --------
    >>> [has_deviation(x) for x in ("12.3 ± 0.4", "7.1 (0.2)", "94.5%", "dqn (2)")]
    [True, True, False, False]
    """
    found = _REPORTED.fullmatch(_bare(text))
    return bool(found and found[1] and found[2])


def _bare(text: object) -> str:
    """Return a cell as text, without what only changes its look."""
    plain = "" if text is None else str(text).strip().replace("\N{MINUS SIGN}", "-")
    # A star alone is no empty cell, but points to a note.
    return plain.strip(_EMPHASIS).strip() or plain
