"""Result files and transcripts of the captive game server: writing and reading them.

A *Long* result file has a line per episode; a *Compact* one a line per run, then a line per episode
of it; a *transcript* has a line per attempt, and studies with people write the same format. Lines
that begin with ``#`` are headers. Attempts on empty cells are not recorded, as in the reference.
"""

from __future__ import annotations

import csv
import math
import secrets
import string
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any, Literal, TextIO

from gnomon.errors import GnomonError, ScoreDataError
from gnomon.files import read_text
from gohr.game.board import BUCKET_PLACES, Piece
from gohr.game.outcomes import ACCEPTED, DENIED, IMMOVABLE

#: Headers: of the line of an episode; of the line of a run and those of its episodes; of the line
#: of an attempt.
LONG = "nickname,rule_name,trial_id,board_id,number_of_pieces,number_of_moves,move_acc,if_clear"
COMPACT_RUN = "nickname,rule_name,trial_id"
COMPACT = "number_of_moves,number_of_errors,if_clear"
TRANSCRIPT = (
    "playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,moveNo,timestamp,mover,reactionTime,"
    "objectType,objectId,y,x,bucketId,by,bx,code,objectCnt"
)


# -- writing ---------------------------------------------------------------------------------------


class ResultFiles:
    """Writes a result file, and a transcript if there is one, while a game is played.

    A header is written only into an empty file.

    Raises GnomonError: a file cannot be opened.

    Parameters
    ----------
    path : str
        The result file.
    player : (str, str, int)
        Nickname, name of the rule, number of the run.
    append : bool
        Whether to append to the result file; a transcript is always appended to.
    compact : bool
        Whether the result file is Compact instead of Long.
    transcript : str, optional
        The file with a line per attempt.
    """

    def __init__(
        self,
        path: str,
        player: tuple[str, str, int],
        *,
        append: bool = False,
        compact: bool = False,
        transcript: str | None = None,
    ) -> None:
        self._player = player
        self._is_compact = compact
        self._results = _opened(path, "a" if append else "w")
        self._transcript = None if transcript is None else _opened(transcript, "a")
        self._episode = 0
        self._episode_id = ""
        self._seen_s = 0.0
        _write_header(self._results, f"#.{COMPACT_RUN}\n#{COMPACT}\n" if compact else f"#{LONG}\n")
        if compact:
            self._results.write("." + _csv_line(player))
        if self._transcript is not None:
            _write_header(self._transcript, f"#{TRANSCRIPT}\n")

    def begin(self, episode: int) -> None:
        """Record that the player sees the board of an episode, numbered from 0."""
        self._episode = episode
        self._seen_s = time.time()
        signs = string.digits + string.ascii_uppercase
        random = "".join(secrets.choice(signs) for _ in range(6))
        self._episode_id = f"{_stamp(self._seen_s)}-{random}"

    def attempt(self, number: int, piece: Piece, bucket: int, code: int, left: int) -> None:
        """Write an attempt of the episode, numbered from 0, with the pieces left after it."""
        if self._transcript is None:
            return
        now_s = time.time()
        nickname, rule_name, _ = self._player
        values = (
            *(nickname, "", 0, rule_name, self._episode, self._episode_id, number),
            f"{_stamp(now_s)}.{int(now_s * 1000) % 1000:03d}",
            *(0, max(0, int((now_s - self._seen_s) * 1000)) / 1000),
            *(f"{piece.color}_{piece.shape}", piece.id, piece.y, piece.x),
            *(bucket, *BUCKET_PLACES[bucket], code, left),
        )
        self._transcript.write(_csv_line(values))
        self._seen_s = now_s

    def end(self, n_pieces: int, n_attempts: int, n_accepted: int, cleared: bool) -> None:
        """Write the result of the episode, and flush the files."""
        values: Sequence[Any] = (n_attempts, n_attempts - n_accepted, int(cleared))
        if not self._is_compact:
            accuracy = _java_double(n_accepted / n_attempts if n_attempts else 0.0)
            numbers = self._episode, n_pieces, n_attempts, accuracy, int(cleared)
            values = (*self._player, *numbers)
        self._results.write(_csv_line(values))
        for file in filter(None, (self._results, self._transcript)):
            file.flush()

    def close(self) -> None:
        """Close the files."""
        for file in filter(None, (self._results, self._transcript)):
            file.close()


def _opened(path: str, mode: Literal["a", "w"]) -> TextIO:
    try:
        return open(path, mode, encoding="utf-8", newline="")
    except OSError as error:
        raise GnomonError(f"{path}: cannot write this file: {error.strerror}") from None


def _write_header(file: TextIO, header: str) -> None:
    if file.tell() == 0:
        file.write(header)


def _csv_line(values: Sequence[Any]) -> str:
    line = StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _stamp(seconds: float) -> str:
    return time.strftime("%Y%m%d-%H%M%S", time.localtime(seconds))


def _java_double(value: float) -> str:
    """Return a fraction as Java prints it: below a thousandth with an exponent."""
    if value == 0 or value >= 1e-3:
        return repr(value)
    number = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, number.digits))
    exponent = len(digits) - 1 + int(number.exponent)
    return f"{digits[0]}.{digits[1:] or '0'}E{exponent}"


# -- reading ---------------------------------------------------------------------------------------


def is_game_log(path: str | Path) -> bool:
    r"""Return whether a file is a result file or a transcript, by its first line."""
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
    # ⚠ Games of two players have a further column, and there may be more.
    return TRANSCRIPT if f"{header},".startswith(f"{TRANSCRIPT},") else None


@dataclass(frozen=True, slots=True)
class PlayedRun:
    """A player's episodes on a rule, one after another.

    A run bears the number that the file gives it; in a transcript they are counted from 0. Errors,
    and whether the board was cleared, are by episode.
    """

    player: str
    rule: str
    run: int
    errors: list[int] = field(default_factory=list)
    cleared: list[bool] = field(default_factory=list)


def read_runs(path: str | Path) -> list[PlayedRun]:
    """Read the runs of a result file or a transcript.

    Raises ScoreDataError: the file is none of these, or a field is not as expected; the message
    names file, row (line of the file) and field.
    """
    path = Path(path)
    lines = read_text(path, error=ScoreDataError).removeprefix("\ufeff").splitlines()
    kind = kind_of(lines[0]) if lines else None
    if kind is None:
        raise ScoreDataError(
            f"{path}: expected the header of a Long or Compact result file or of a transcript"
        )
    # ⚠ A header may come again in the middle, where files were put together.
    rows = (
        (_Row(f"{path}, row {number}"), line)
        for number, line in enumerate(lines, 1)
        if line.strip() and line[0] != "#"
    )
    read = {LONG: _read_long, COMPACT_RUN: _read_compact, TRANSCRIPT: _read_transcript}
    return read[kind](rows)


def _read_long(rows: _Rows) -> list[PlayedRun]:
    runs: dict[tuple[str, str, int], PlayedRun] = {}
    for row, line in rows:
        row.split(line, LONG)
        key = row.text("nickname"), row.text("rule_name"), row.integer("trial_id")
        run = runs.setdefault(key, PlayedRun(*key))
        if row.integer("board_id") != len(run.errors):
            raise row.error("board_id", f"{len(run.errors)}, the next of run {key[2]}")
        pieces, moves = row.integer("number_of_pieces", 1, 36), row.integer("number_of_moves")
        accuracy = row.number("move_acc", 0, 1)
        cleared = bool(row.integer("if_clear", 0, 1))
        accepted = round(moves * accuracy)
        if abs(accepted - moves * accuracy) > 1e-6 * max(1, moves):
            raise row.error("move_acc", f"a fraction of {moves} moves")
        if accepted > pieces or (cleared and accepted < pieces):
            relation = "all" if cleared else "at most"
            raise row.error("move_acc", f"{relation} {pieces} pieces to have been accepted")
        run.errors.append(moves - accepted)
        run.cleared.append(cleared)
    return list(runs.values())


def _read_compact(rows: _Rows) -> list[PlayedRun]:
    runs: dict[tuple[str, str, int], PlayedRun] = {}
    run: PlayedRun | None = None
    for row, line in rows:
        if line.startswith("."):
            row.split(line[1:], COMPACT_RUN)
            key = row.text("nickname"), row.text("rule_name"), row.integer("trial_id")
            if key in runs:
                raise row.error("trial_id", f"another than in an earlier run of {key[0]}")
            run = runs[key] = PlayedRun(*key)
            continue
        row.split(line, COMPACT)
        if run is None:
            raise ScoreDataError(f"{row.where}: expected the line of a run, .nickname,rule,trial")
        moves = row.integer("number_of_moves")
        run.errors.append(row.integer("number_of_errors", 0, moves))
        run.cleared.append(bool(row.integer("if_clear", 0, 1)))
    return list(runs.values())


@dataclass(slots=True)
class _Progress:
    """Position in a transcript of a player on a rule."""

    run: PlayedRun
    series: int
    episode: int = 0
    episode_id: str = ""
    move: int = -1
    left: int = -1


def _read_transcript(rows: _Rows) -> list[PlayedRun]:
    """Read attempts. Runs are distinguished by the numbers of their episodes."""
    runs: list[PlayedRun] = []
    players: dict[tuple[str, str], _Progress] = {}
    n_runs: dict[tuple[str, str], int] = {}
    for row, line in rows:
        row.split(line, TRANSCRIPT)
        key = row.text("playerId"), row.text("ruleId")
        series, episode = row.integer("seriesNo"), row.integer("episodeNo", 0, 100_000)
        at = players.get(key)
        if at is None or series != at.series or _begins_again(at, episode, row):
            run = PlayedRun(*key, n_runs.get(key, 0))
            n_runs[key] = run.run + 1
            runs.append(run)
            at = players[key] = _Progress(run, series)
        _take_attempt(row, at, episode)
    return runs


def _begins_again(at: _Progress, episode: int, row: _Row) -> bool:
    """Return whether an episode belongs to another run: its number is lower than the last one."""
    return episode < at.episode or (
        episode == at.episode and row.text("episodeId") != at.episode_id
    )


def _take_attempt(row: _Row, at: _Progress, episode: int) -> None:
    """Check an attempt, and add it to the run."""
    if row.text("episodeId") != at.episode_id:
        at.episode, at.episode_id, at.move, at.left = episode, row.text("episodeId"), -1, -1
        # An episode without any attempt leaves no line.
        for _ in range(episode + 1 - len(at.run.errors)):
            at.run.errors.append(0)
            at.run.cleared.append(False)
    if row.integer("moveNo") != at.move + 1:
        raise row.error("moveNo", f"{at.move + 1}, the next of its episode")
    at.move += 1
    code, left = row.integer("code", -99, 99), row.integer("objectCnt", 0, 36)
    is_pick = _is_pick(row)
    removed = code == ACCEPTED and not is_pick
    if at.left >= 0 and left != at.left - removed:
        raise row.error("objectCnt", f"{at.left - removed} pieces left after code {code}")
    at.left = left
    at.run.errors[-1] += code in (DENIED, IMMOVABLE)
    at.run.cleared[-1] = left == 0


def _is_pick(row: _Row) -> bool:
    """Check the place fields; return whether a piece was named without a bucket."""
    row.text("timestamp")
    row.text("objectType")
    row.integer("mover", -1, 9)
    if not row.is_empty("reactionTime"):
        row.number("reactionTime", 0, math.inf)
    row.integer("objectId")
    row.integer("y", 1, 6)
    row.integer("x", 1, 6)
    if row.is_empty("bucketId") or row.integer("bucketId", -1, 3) == -1:
        return True
    places = row.integer("by", 0, 7), row.integer("bx", 0, 7)
    if BUCKET_PLACES[row.integer("bucketId", 0, 3)] != places:
        raise row.error("bucketId", f"the bucket at row {places[0]}, column {places[1]}")
    return False


class _Row:
    """A line's fields by name, each checked as it is taken."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._values: dict[str, str] = {}

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
        """Return whether a field is empty."""
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


_Rows = Iterator[tuple[_Row, str]]
