"""Result files of the captive game server: written during a game, and read back.

A *Long* file has a line per episode; a *Compact* one a line per run, then a line per episode of it.
Lines that begin with ``#`` are headers. Attempts on empty cells are not counted, as in the
reference.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import final

from gnomon.errors import GnomonError, ScoreDataError
from gnomon.text_files import read_text

_LONG = "nickname,rule_name,trial_id,board_id,number_of_pieces,number_of_moves,move_acc,if_clear"
_COMPACT_RUN = "nickname,rule_name,trial_id"
_COMPACT = "number_of_moves,number_of_errors,if_clear"


@final
class ResultFile:
    """The results of a run, written episode by episode; a header only into an empty file.

    ``player`` is the nickname, the name of the rule and the number of the run. Raises GnomonError:
    the file cannot be opened.
    """

    def __init__(
        self,
        path: str,
        player: tuple[str, str, int],
        *,
        append: bool = False,
        compact: bool = False,
    ) -> None:
        self._player, self._is_compact = player, compact
        try:
            mode = "a" if append else "w"
            self._file = open(path, mode, encoding="utf-8", newline="")  # noqa: SIM115 - close() closes it
        except OSError as error:
            raise GnomonError(f"{path}: cannot write this file: {error.strerror}") from None
        self._lines = csv.writer(self._file, lineterminator="\n")
        if self._file.tell() == 0:
            self._file.write(f"#.{_COMPACT_RUN}\n#{_COMPACT}\n" if compact else f"#{_LONG}\n")
        if compact:
            self._file.write(".")
            self._lines.writerow(player)

    def write(
        self, episode: int, n_pieces: int, n_attempts: int, n_accepted: int, *, cleared: bool
    ) -> None:
        """Write the result of an episode, numbered from 0."""
        if self._is_compact:
            self._lines.writerow((n_attempts, n_attempts - n_accepted, int(cleared)))
        else:
            accuracy = _java_double(n_accepted / n_attempts if n_attempts else 0.0)
            numbers = episode, n_pieces, n_attempts, accuracy, int(cleared)
            self._lines.writerow((*self._player, *numbers))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _java_double(value: float) -> str:
    """Return a fraction as Java prints it: below a thousandth with an exponent."""
    if value == 0 or value >= 1e-3:
        return repr(value)
    number = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, number.digits))
    exponent = len(digits) - 1 + int(number.exponent)
    return f"{digits[0]}.{digits[1:] or '0'}E{exponent}"


# -- reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlayedRun:
    """A player's episodes on a rule, one after another.

    Errors, and whether the board was cleared, are by episode.
    """

    player: str
    rule: str
    run: int
    errors: list[int] = field(default_factory=list)
    cleared: list[bool] = field(default_factory=list)


def first_line(path: Path) -> str:
    """Return the first line of a file, without the signs of a header; empty if it is no text."""
    try:
        with path.open("rb") as file:
            return file.readline(2000).decode("utf-8-sig").strip().lstrip("#.")
    except (OSError, UnicodeDecodeError):
        return ""


def is_result_file(path: Path) -> bool:
    """Return whether the first line of a file is the header of a result file."""
    return first_line(path) in (_LONG, _COMPACT_RUN)


def read_runs(path: Path) -> list[PlayedRun]:
    """Read the runs of a result file.

    Raises ScoreDataError: the file is none, or a field is not as expected; the message names file,
    row (line of the file) and column.
    """
    lines = read_text(path, error=ScoreDataError).removeprefix("\ufeff").splitlines()
    if not is_result_file(path):
        raise ScoreDataError(
            f"{path}: expected the header of a Long or Compact result file or of a transcript"
        )
    # ⚠ A header may come again in the middle, where files were put together.
    rows = (
        (f"{path}, row {number}", line)
        for number, line in enumerate(lines, 1)
        if line.strip() and line[0] != "#"
    )
    read = _read_compact if lines[0].startswith(("#.", ".")) else _read_long
    runs: dict[tuple[str, str, int], PlayedRun] = {}
    read(rows, runs)
    return list(runs.values())


_Rows = Iterable[tuple[str, str]]
_Runs = dict[tuple[str, str, int], PlayedRun]


def _read_long(rows: _Rows, runs: _Runs) -> None:
    for where, line in rows:
        row = Row.split(where, line, _LONG)
        key = row.text("nickname"), row.text("rule_name"), row.integer("trial_id")
        run = runs.setdefault(key, PlayedRun(*key))
        if row.integer("board_id") != len(run.errors):
            raise row.error("board_id", f"{len(run.errors)}, the next of run {key[2]}")
        pieces, moves = row.integer("number_of_pieces", 1, 36), row.integer("number_of_moves")
        cleared = bool(row.integer("if_clear", 0, 1))
        try:
            right = float(row.text("move_acc")) * moves
            accepted = round(right)
        except ValueError:
            raise row.error("move_acc", "a number from 0 to 1") from None
        if abs(accepted - right) > 1e-6 * max(1, moves) or not 0 <= accepted <= min(moves, pieces):
            raise row.error("move_acc", f"a fraction of {moves} moves with {pieces} pieces")
        if cleared and accepted < pieces:
            raise row.error("move_acc", f"{pieces} accepted moves on a cleared board")
        run.errors.append(moves - accepted)
        run.cleared.append(cleared)


def _read_compact(rows: _Rows, runs: _Runs) -> None:
    run: PlayedRun | None = None
    for where, line in rows:
        if line.startswith("."):
            row = Row.split(where, line[1:], _COMPACT_RUN)
            key = row.text("nickname"), row.text("rule_name"), row.integer("trial_id")
            if key in runs:
                raise row.error("trial_id", f"a number that no earlier run of {key[0]} has")
            run = runs[key] = PlayedRun(*key)
            continue
        row = Row.split(where, line, _COMPACT)
        if run is None:
            raise ScoreDataError(f"{where}: expected the line of a run, .nickname,rule,trial")
        moves = row.integer("number_of_moves")
        run.errors.append(row.integer("number_of_errors", 0, moves))
        run.cleared.append(bool(row.integer("if_clear", 0, 1)))


@dataclass(frozen=True, slots=True)
class Row:
    """The fields of a line by their names, each checked as it is taken."""

    where: str
    values: Mapping[str, str]

    @classmethod
    def split(cls, where: str, line: str, header: str) -> Row:
        """Split a line into the fields of a header, and perhaps further ones."""
        names = [name.strip() for name in header.split(",")]
        try:
            (values,) = csv.reader([line])
        except csv.Error as error:
            raise ScoreDataError(f"{where}: {error}") from None
        if len(values) < len(names):
            raise ScoreDataError(f"{where}: expected {len(names)} fields, found {len(values)}")
        return cls(where, {k: v.strip() for k, v in zip(names, values, strict=False)})

    def error(self, name: str, expected: str) -> ScoreDataError:
        """Return the error about a field."""
        found = self.values[name][:60]
        return ScoreDataError(
            f"{self.where}, column {name!r}: expected {expected}, found {found!r}"
        )

    def text(self, name: str) -> str:
        """Return a text that is not empty."""
        if not self.values[name]:
            raise self.error(name, "a name")
        return self.values[name]

    def integer(self, name: str, least: int = 0, most: int = 2**31 - 1) -> int:
        """Return a whole number in a range."""
        text = self.values[name]
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(text) <= 12):
            raise self.error(name, "a whole number")
        if not least <= int(text) <= most:
            span = f"{least} to {most}" if most < 2**31 - 1 else f"a number from {least}"
            raise self.error(name, span)
        return int(text)
