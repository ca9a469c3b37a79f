"""The text of a rule: where it comes from, and how a terminal shows it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gnomon._io.text_file import read_text
from gnomon.errors import RuleSyntaxError, UnknownNameError, visible
from gnomon.rules.catalogue import available_rules, load_rule_text
from gnomon.rules.lexer import tokenize

__all__ = ["printable", "read_rule_text"]

#: Kind of token -> the number of its colour on a terminal.
_COLORS = {"number": 36, "name": 32, "text": 33, "symbol": 0}
_DIM = 2
#: A rule file is a page at most; this much tells one from a film, or from a device without end.
_MOST_BYTES = 1_000_000


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
    if not os.path.exists(name_or_path):
        raise UnknownNameError("rule or file", name_or_path, available_rules())
    return read_text(Path(name_or_path), noun="rule file", most_bytes=_MOST_BYTES)


def printable(text: str) -> str:
    """Return a text as standard output takes it: in colours on a terminal, untouched in a pipe."""
    if not sys.stdout.isatty():
        return text
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    lines = (visible(line.rstrip("\r")) for line in text.split("\n"))
    return "\n".join(lines if plain else map(_colored, lines))


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
