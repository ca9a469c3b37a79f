"""The lines of result files, transcripts and tables: their headers, and fields that are checked.

Every message names file, row (the line of the file, from 1) and field.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from gnomon.errors import ScoreDataError

#: Headers: of a line an episode, of a line a run and those of its episodes, of a line an attempt.
LONG = "nickname,rule_name,trial_id,board_id,number_of_pieces,number_of_moves,move_acc,if_clear"
COMPACT_RUN = "nickname,rule_name,trial_id"
COMPACT = "number_of_moves,number_of_errors,if_clear"
TRANSCRIPT = (
    "playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,moveNo,timestamp,mover,reactionTime,"
    "objectType,objectId,y,x,bucketId,by,bx,code,objectCnt"
)

#: Columns by which tables of series are known, each with its scores.
SERIES_SCORES = {
    frozenset({"ruleSetName", "mStar"}): ("m_star", "m_dagger"),
    frozenset({"playerId", "rule", "attempts", "removed"}): ("errors",),
}
#: And by which tables of rules are, with what these are.
TABLES_OF_RULES = {
    frozenset({"Rule set name", "EV score"}): "a ranking of rules",
    frozenset({"rule", "avgAttempts"}): "averages of rules",
    frozenset({"rule1", "rule2", "distance"}): "distances of rules",
    frozenset({"key"}): "a matrix of rules",
}


def is_game_log(path: str | Path) -> bool:
    r"""Tell by its first line whether a file is a result file or a transcript."""
    try:
        with Path(path).open("rb") as file:
            first = file.readline(1000).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return False
    return kind_of(first) is not None


def kind_of(first_line: str) -> str | None:
    """Return LONG, COMPACT_RUN or TRANSCRIPT for a file that begins with this line, else None."""
    header = first_line.strip().removeprefix("#")
    if header == LONG:
        return LONG
    if header.removeprefix(".") == COMPACT_RUN:
        return COMPACT_RUN
    # ⚠ Games of two people have a further column, and there may be more.
    return TRANSCRIPT if f"{header},".startswith(f"{TRANSCRIPT},") else None


def header_names(line: str) -> list[str]:
    """Return the names of the columns; a ``#`` before the first is no part of it."""
    return [name.strip() for name in line.strip().lstrip("#").split(",")]


def is_reference_table(first_line: str) -> bool:
    """Tell by its first line whether a table is one of series, or of rules.

    Examples
    --------
    >>> is_reference_table("#ruleSetName,mStar"), is_reference_table("#key,a,b")
    (True, True)
    >>> is_reference_table("key,a,b")
    False
    """
    names = frozenset(header_names(first_line))
    known = [*SERIES_SCORES, *(TABLES_OF_RULES if first_line.lstrip().startswith("#") else ())]
    return any(columns <= names for columns in known)


class Rows:
    """The lines of a file that are not comments, with their numbers."""

    def __init__(self, path: Path, lines: Iterator[tuple[int, str]]) -> None:
        self._path = path
        self._lines = lines

    def __iter__(self) -> Iterator[tuple[Row, str]]:
        for number, line in self._lines:
            yield Row(f"{self._path}, row {number}", {}), line


class Row:
    """A line's fields by name, each checked as it is taken."""

    def __init__(self, where: str, values: dict[str, str]) -> None:
        self.where = where
        self._values = values

    def split(self, line: str, header: str) -> None:
        """Split a line into the fields of a header, and perhaps further ones."""
        names = header.split(",")
        try:
            (values,) = csv.reader([line])
        except csv.Error as error:
            raise ScoreDataError(f"{self.where}: {error}") from None
        if len(values) < len(names):
            raise ScoreDataError(f"{self.where}: expected {len(names)} fields, found {len(values)}")
        self._values = {k: v.strip() for k, v in zip(names, values, strict=False)}

    def error(self, name: str, expected: str) -> ScoreDataError:
        """Return the error about a field."""
        found = self._values[name][:60]
        return ScoreDataError(f"{self.where}, field {name!r}: expected {expected}, found {found!r}")

    def text(self, name: str) -> str:
        """Return a text that is not empty."""
        if not self._values[name]:
            raise self.error(name, "a name")
        return self._values[name]

    def is_empty(self, name: str) -> bool:
        """Tell whether there is nothing in a field."""
        return self._values[name].lower() in ("", "null")

    def integer(self, name: str, least: int = 0, most: int = 2**31 - 1) -> int:
        """Return a whole number in a range."""
        text = self._values[name]
        if not (text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()):
            raise self.error(name, "a whole number")
        if len(text) > 12 or not least <= int(text) <= most:
            span = f"{least} to {most}" if most < 2**31 - 1 else f"a number from {least}"
            raise self.error(name, span)
        return int(text)

    def number(self, name: str, least: float, most: float) -> float:
        """Return a number in a range."""
        try:
            value = float(self._values[name])
        except ValueError:
            raise self.error(name, "a number") from None
        if not least <= value <= most:
            raise self.error(name, f"{least:g} to {most:g}")
        return value
