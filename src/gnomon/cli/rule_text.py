"""The text of a rule: where it comes from, and how a terminal shows it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gnomon.errors import GnomonError, RuleSyntaxError, UnknownNameError
from gnomon.rules.catalogue import available_rules, load_rule_text
from gnomon.rules.lexer import tokenize

__all__ = ["excerpt", "printable", "read_rule_text"]

#: Kind of token -> the number of its colour on a terminal.
_COLORS = {"number": 36, "name": 32, "text": 33, "symbol": 0}
_DIM = 2
#: A rule file is a page at most; this much tells one from a film, or from a device without end.
_MOST_BYTES = 1_000_000
#: Number of characters to show on either side of a place in a long line.
_AROUND = 60


def read_rule_text(name_or_path: str) -> str:
    """Return the text of a rule of the catalogue, or else of a file, whether it parses or not.

    Raises
    ------
    UnknownNameError
        If it is neither, with the nearest names.
    GnomonError
        If the file cannot be read, or is not UTF-8 text.
    """
    if name_or_path in available_rules():
        return load_rule_text(name_or_path)
    path = Path(name_or_path)
    if not os.path.exists(name_or_path):
        raise UnknownNameError("rule or file", name_or_path, available_rules())
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise GnomonError(f"{path}: expected a rule file of at most {_MOST_BYTES:,} bytes")
        return data.decode("utf-8")
    except OSError as error:
        raise GnomonError(f"{path}: cannot read this rule file: {error.strerror}") from None
    except UnicodeDecodeError as error:
        found = f"byte 0x{error.object[error.start]:02x} at offset {error.start}"
        raise GnomonError(f"{path}: expected UTF-8 text, found {found}") from None


def printable(text: str) -> str:
    """Return a text as standard output takes it: in colours on a terminal, untouched in a pipe."""
    if not sys.stdout.isatty():
        return text
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    lines = map(_visible, text.split("\n"))
    return "\n".join(lines if plain else map(_colored, lines))


def excerpt(line: str, column: int) -> str:
    """Return a line with a caret below a column (from 1); of a long line, what is around it."""
    begin = max(0, column - 1 - _AROUND) if len(line) > 2 * _AROUND else 0
    end = begin + 2 * _AROUND
    before = "... " if begin else ""
    shown = before + _visible(line[begin:end]) + (" ..." if end < len(line) else "")
    # A tab is as wide as the terminal says, so the caret's indent repeats the tabs it passes.
    indent = "".join("\t" if c == "\t" else " " for c in before + line[begin : column - 1])
    return f"  {shown}\n  {indent}^"


def _visible(line: str) -> str:
    """Return a line without control characters: no terminal is to obey what a file says."""
    return "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in line.rstrip("\r"))


def _colored(line: str) -> str:
    """Return a line with the colours of its tokens; what does not parse stays as it is."""
    try:
        tokens = tokenize(line)
    except RuleSyntaxError:
        return line
    shown, end = "", 0
    for token in tokens[:-1]:
        shown += line[end : token.column - 1]
        shown += _in_color(line[token.column - 1 : token.end_column - 1], _COLORS[token.kind])
        end = token.end_column - 1
    return shown + _in_color(line[end:], _DIM)


def _in_color(text: str, color: int) -> str:
    return f"\x1b[{color}m{text}\x1b[0m" if text and color else text
