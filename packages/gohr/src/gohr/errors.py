"""Errors of rules, experiments and runs; subclasses of those in :mod:`gnomon.errors`."""

from __future__ import annotations

import unicodedata

from gnomon.errors import GnomonError, GnomonWarning, shortened, visible

#: Maximum number of characters of a message that are shown: a name in it may fill a file.
_LONGEST = 300


class RuleSyntaxError(GnomonError):
    """A rule text that does not parse.

    Parameters
    ----------
    message : str
        The expected and the found value.
    line, column : int
        Where, counted from 1.
    source_line : str
        The line of text with the error, printed above the caret; only an excerpt if it is long.
    file : str, optional
        Name of the file, if known.
    remedy : str, optional
        How to correct a common mistake; shown in brackets after the message.

    Examples
    --------
    >>> print(RuleSyntaxError("expected ')', found end of line", 1, 9, "(*,*,*,*"))
    line 1, column 9: expected ')', found end of line
      (*,*,*,*
              ^
    """

    def __init__(
        self,
        message: str,
        line: int,
        column: int,
        source_line: str,
        file: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.message = message
        self.line = line
        self.column = column
        self.source_line = source_line
        self.file = file
        self.remedy = remedy
        where = f"{file}, " if file else ""
        what = visible(shortened(f"{message} ({remedy})" if remedy else message, _LONGEST))
        super().__init__(
            f"{where}line {line}, column {column}: {what}\n{excerpt(source_line, column)}"
        )

    def in_file(self, file: str) -> RuleSyntaxError:
        """Return the same error with the name of the file it came from."""
        where = self.line, self.column, self.source_line, file
        return RuleSyntaxError(self.message, *where, self.remedy)


class RuleError(GnomonError):
    """A rule that parses but cannot be played.

    It names an order that does not exist, does arithmetic on a name, or is larger than the engine's
    tables.

    Parameters
    ----------
    message : str
        The part of the rule, and what is wrong with it.
    line, column : int
        Place in the text, counted from 1; 0 if unknown.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        self.message, self.line, self.column = message, line, column
        super().__init__(f"line {line}, column {column}: {message}" if line else message)


class ConfigError(GnomonError):
    """An experiment file with a field that is missing, misspelt or of the wrong kind."""


class RunFolderError(GnomonError):
    """A folder that is not a run folder, or of another version or experiment."""


class DamagedRunWarning(GnomonWarning):
    """A run was damaged: its undamaged trials were kept, and the others are played again."""


class StuckRuleWarning(GnomonWarning):
    """A rule lets no piece move on most boards as they are dealt, so that no error is possible."""


#: Number of characters to show on either side of a place in a long line.
_AROUND = 60


def excerpt(line: str, column: int) -> str:
    """Return a line with a caret below a column (from 1); only an excerpt if the line is long."""
    begin = max(0, column - 1 - _AROUND) if len(line) > 2 * _AROUND else 0
    end = begin + 2 * _AROUND
    before = ("... " if begin else "") + visible(line[begin : column - 1])
    after = visible(line[column - 1 : end].rstrip("\r\n")) + (" ..." if end < len(line) else "")
    # The width of a tab depends on the terminal, so the caret's indent repeats the tabs before it.
    indent = "".join("\t" if c == "\t" else " " * _width(c) for c in before)
    return f"  {before}{after}\n  {indent}^"


def _width(character: str) -> int:
    """Return the width of a character in terminal columns."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
