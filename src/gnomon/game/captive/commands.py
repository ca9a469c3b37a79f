"""The commands of the protocol: what a line of a client asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gnomon.errors import RuleSyntaxError
from gnomon.rules.lexer import Token, tokenize

__all__ = [
    "HELP",
    "Command",
    "InvalidLineError",
    "InvalidMoveError",
    "read_command",
    "read_move",
    "read_plain_move",
]

#: What HELP answers.
HELP = (
    "Commands available:",
    "FEATURES",
    "MOVE row col bucket_row bucket_col",
    "MOVE piece_id bucket_id",
    "NEW",
    "DISPLAY",
    "DISPLAYFULL",
    "MODE <BRIEF|STANDARD|FULL>",
    "COND <train|test>",
    "EXIT",
)

_PLAIN_MOVE = re.compile(
    r"\s*MOVE\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([0-9]{1,9})\s+([0-9]{1,9}))?\s*",
    re.IGNORECASE | re.ASCII,
)


class InvalidLineError(Exception):
    """A line that is no command; its text is what the client is told."""


class InvalidMoveError(Exception):
    """A MOVE whose arguments are not numbers, or not two or four of them."""


@dataclass(frozen=True, slots=True)
class Command:
    """A word, upper case, and the words and signs that follow it."""

    word: str
    arguments: tuple[Token, ...]


def read_command(line: str) -> Command | None:
    """Read a line; None if it is blank.

    Raises InvalidLineError: the line cannot be split as a rule line is, or does not begin with a
    word.
    """
    if not line.strip():
        return None
    try:
        *tokens, _ = tokenize(line.strip())
    except RuleSyntaxError:
        raise InvalidLineError("Invalid input - cannot parse") from None
    if not tokens or tokens[0].kind != "name":
        raise InvalidLineError("Invalid input")
    return Command(tokens[0].text.upper(), tuple(tokens[1:]))


def read_plain_move(line: str) -> tuple[int, ...] | None:
    """Read a MOVE with two or four numbers and nothing else; None for any other line.

    Examples
    --------
    >>> read_plain_move("move 0 1"), read_plain_move("MOVE 6 1 0 7"), read_plain_move("MOVE a 1")
    ((0, 1), (6, 1, 0, 7), None)
    """
    match = _PLAIN_MOVE.fullmatch(line)
    return None if match is None else tuple(int(n) for n in match.groups() if n is not None)


def read_move(command: Command) -> tuple[int, ...]:
    """Read the two or four numbers of a MOVE.

    Raises InvalidMoveError: with what the client is told.
    """
    if len(command.arguments) not in (2, 4):
        raise InvalidMoveError("Invalid input")
    for token in command.arguments:
        if token.kind != "number":
            shown = f"ID.{token.text}" if token.kind == "name" else token.text
            raise InvalidMoveError(f"Invalid input: {shown}")
    return tuple(int(token.text) for token in command.arguments)
