"""What a stranger wrote, as a message shows it: short, and nothing that a terminal would obey."""

from __future__ import annotations

import unicodedata

__all__ = ["excerpt", "shortened", "visible"]

#: Number of characters to show on either side of a place in a long line.
_AROUND = 60


def visible(text: str, *, kept: str = "\n\t\xa0") -> str:
    r"""Return a text with what does not print, except for the characters `kept`, as escapes.

    Names and texts come from files, and a terminal obeys the control characters in what it is
    given: it would change its title, hide a line, or turn the direction of writing.

    Examples
    --------
    >>> print(visible("a\x1b[2J\u202eb"))
    a\x1b[2J\u202eb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else _escape(c) for c in text)


def shortened(text: str, most: int = 60) -> str:
    """Return a text of at most so many characters: of a longer one, how it begins and ends.

    Examples
    --------
    >>> shortened("abcdefghijklmnopqrstuvwxyz", most=12)
    'abcdef...xyz'
    """
    if len(text) <= most:
        return text
    end = (most - 3) // 3
    return f"{text[: most - 3 - end]}...{text[-end:]}"


def excerpt(line: str, column: int) -> str:
    r"""Return a line with a caret below a column (from 1); of a long line, what is around it.

    Examples
    --------
    >>> print(excerpt("red\x1bgreen", 5))
      red\x1bgreen
             ^
    """
    begin = max(0, column - 1 - _AROUND) if len(line) > 2 * _AROUND else 0
    end = begin + 2 * _AROUND
    before = ("... " if begin else "") + visible(line[begin : column - 1])
    after = visible(line[column - 1 : end].rstrip("\r\n")) + (" ..." if end < len(line) else "")
    # A tab is as wide as the terminal says, so the caret's indent repeats the tabs it passes.
    indent = "".join("\t" if c == "\t" else " " * _width(c) for c in before)
    return f"  {before}{after}\n  {indent}^"


def _width(character: str) -> int:
    """Return how many columns of a terminal a character fills."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()
