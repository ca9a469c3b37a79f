"""The lexer: from a line of rule text to its tokens.

The lexer works line by line: the language has no continuation, and a string ends with its line at
the latest. Columns count characters from 1.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from gohr.errors import RuleSyntaxError

#: The largest number that the language holds: its integers have 32 bits.
MAX_NUMBER = 2**31 - 1

_SYMBOLS = re.compile(r"==|!=|<=|>=|\.\.|[=<>!*,.:+\-/%()\[\]]")
_DIGITS = re.compile(r"[0-9]+")
_ASCII_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")

# Identifiers are Java's. By Unicode category: letters, letter numbers, currency and connectors may
# begin an identifier; digits, marks and invisible characters may follow.
_NAME_START = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Sc", "Pc"})
_NAME_PART = _NAME_START | {"Nd", "Mn", "Mc", "Cf"}
_BLANKS = frozenset(" \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f")

_REMEDIES = {
    "\ufeff": "a byte-order mark: save the file without it",
    "\xa0": "a no-break space: write an ordinary one",
    "{": "a list is written in brackets, [1,2]",
    "}": "a list is written in brackets, [1,2]",
    "|": "alternatives are a list, [red,blue], or further atoms",
    "&": "all conditions of one atom hold together already; separate them by commas",
    ";": "fields are separated by commas",
    "'": 'a name is quoted by ", or not at all',
    "\u2018": 'a name is quoted by ", or not at all',
    "\u2019": 'a name is quoted by ", or not at all',
    "\u201c": 'quote by the plain ", not by a typographic one',
    "\u201d": 'quote by the plain ", not by a typographic one',
}


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a line: its kind, its text (without quotes), and the columns it fills."""

    kind: Literal["number", "name", "text", "symbol", "end"]
    text: str
    column: int
    end_column: int

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end of the line"
        return f'"{self.text}"' if self.kind == "text" else f"'{self.text}'"


def tokenize(source: str, line: int = 1) -> list[Token]:
    """Split a line of rule text into tokens, without comment; the last is of kind ``end``."""
    tokens: list[Token] = []
    position, end = 0, len(source)
    while position < end:
        character = source[position]
        if character == "#":
            break
        if _is_blank(character):
            position += 1
            continue
        token = _token_at(source, position, line)
        tokens.append(token)
        position = token.end_column - 1
    # The end token follows the last token, so that a caret points to where something is missing.
    column = tokens[-1].end_column if tokens else position + 1
    tokens.append(Token("end", "", column, column))
    return tokens


def _token_at(source: str, start: int, line: int) -> Token:
    """Read the token that begins at an index of the line."""
    if source[start] == '"':
        return _quoted(source, start, line)
    if match := _DIGITS.match(source, start):
        # Digits are counted first: converting a number of a million digits would take minutes.
        digits = match.group().lstrip("0")
        if len(digits) > 10 or int(digits or "0") > MAX_NUMBER:
            raise RuleSyntaxError(
                f"expected a number of at most {MAX_NUMBER}, found a larger one",
                line,
                start + 1,
                source,
            )
        return Token("number", digits or "0", start + 1, match.end() + 1)
    if match := _SYMBOLS.match(source, start):
        return Token("symbol", match.group(), start + 1, match.end() + 1)
    end = _name_end(source, start)
    if end == start:
        raise _unexpected(source, start, line)
    return Token("name", source[start:end], start + 1, end + 1)


def _quoted(source: str, start: int, line: int) -> Token:
    """Read a quoted string; it has no escapes."""
    end = source.find('"', start + 1)
    if end < 0:
        message = "expected a closing '\"' before the end of the line, found none"
        raise RuleSyntaxError(message, line, start + 1, source)
    return Token("text", source[start + 1 : end], start + 1, end + 2)


def _name_end(source: str, start: int) -> int:
    """Return the index after the identifier that begins here, or ``start`` if none does."""
    match = _ASCII_NAME.match(source, start)
    end = match.end() if match else start
    if end == start:
        if unicodedata.category(source[start]) not in _NAME_START:
            return start
        end += 1
    while end < len(source) and _continues_name(source[end]):
        end += 1
    return end


def _continues_name(character: str) -> bool:
    if character in _BLANKS:
        return False
    # Java allows control characters, which it ignores, inside an identifier.
    return unicodedata.category(character) in _NAME_PART or unicodedata.category(character) == "Cc"


def _is_blank(character: str) -> bool:
    if character in _BLANKS:
        return True
    # Java's idea of white space leaves the no-break spaces out.
    return character not in "\xa0\u2007\u202f" and unicodedata.category(character) in (
        "Zs",
        "Zl",
        "Zp",
    )


def _unexpected(source: str, at: int, line: int) -> RuleSyntaxError:
    """Report a character that begins no token, and what may have been meant."""
    character = source[at]
    shown = repr(character) if character.isprintable() and character != "'" else f'"{character}"'
    if not character.isprintable():
        shown = f"U+{ord(character):04X}"
    message = f"expected a name, a number, a string or punctuation, found {shown}"
    return RuleSyntaxError(message, line, at + 1, source, remedy=_REMEDIES.get(character))
