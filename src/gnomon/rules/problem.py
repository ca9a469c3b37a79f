"""The record of something that surely is not meant: where, what, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gnomon.errors import shortened
from gnomon.rules.syntax import Span

__all__ = ["Finding", "Severity"]

#: As many characters are shown: a name in a text may fill a file.
_LONGEST = 300

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One finding in a rule text.

    Parameters
    ----------
    line, column : int
        Where, counted from 1; 0 for a tree that was not read from a text.
    severity : {'error', 'warning', 'note'}
        An error: the rule does not parse, or cannot be played. A warning: some part of it does
        nothing, or not what it seems to say. A note: worth knowing.
    message, remedy : str
        What was found, and how to mend it.
    """

    line: int
    column: int
    severity: Severity
    message: str
    remedy: str

    @classmethod
    def at(cls, span: Span | None, severity: Severity, message: str, remedy: str) -> Finding:
        """Make a finding at the beginning of a node."""
        return cls(span.line if span else 0, span.column if span else 0, severity, message, remedy)

    def __str__(self) -> str:
        message, remedy = shortened(self.message, _LONGEST), shortened(self.remedy, _LONGEST)
        return f"line {self.line}, column {self.column}: {self.severity}: {message}; {remedy}"
