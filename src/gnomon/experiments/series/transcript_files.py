"""Files of the reference game server about people: transcripts, boards and tables, of all versions.

Columns go by their names, never by their places, since every version of the server added some.
Local times without a zone are kept as they stand.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gnomon._io.csv_cells import plain_text
from gnomon._io.text_file import read_text
from gnomon.errors import GnomonError, ScoreDataError
from gnomon.game.board import BUCKET_PLACES, Piece
from gnomon.game.formats.picture_pieces import find_picture
from gnomon.game.outcomes import DENIED, EMPTY_CELL, IMMOVABLE

Kind = Literal["attempts", "boards", "episodes", "players", "guesses"]

#: The columns by which a file is known; the first kind whose columns are all there.
_KNOWN_BY: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("attempts", frozenset({"episodeId", "moveNo", "y", "x", "by", "bx", "code"})),
    ("boards", frozenset({"episodeId", "y", "x", "shape", "color"})),
    ("players", frozenset({"playerId", "experimentPlan", "trialListId"})),
    ("episodes", frozenset({"episodeId", "seriesNo", "finishCode"})),
    ("guesses", frozenset({"playerId", "ruleId", "guess"})),
)


#: Codes of attempts that were not accepted; 2, of very old files, is a stalemate.
_REFUSALS = (2, EMPTY_CELL, DENIED, IMMOVABLE)


@dataclass(frozen=True, slots=True)
class TranscriptRow:
    """A line of a file by the names of its columns, and its place for messages."""

    where: str
    cells: Mapping[str, str]

    def text(self, *names: str) -> str:
        """Return the first of some columns that the file has; empty without any."""
        return next((self.cells[name] for name in names if name in self.cells), "")

    def integer(self, name: str, least: int, most: int) -> int:
        """Return a whole number in a range, or raise a ScoreDataError that names the place."""
        found = self.cells.get(name, "")
        try:
            value = int(found)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            expected = f"a whole number from {least} to {most}"
            raise ScoreDataError(
                f"{self.where}, field {name!r}: expected {expected}, found {found!r}"
            )
        return value

    def optional(self, name: str, least: int, most: int) -> int | None:
        """Return such a number, or None where the file does not say it."""
        empty = self.cells.get(name, "").lower() in ("", "null")
        return None if empty else self.integer(name, least, most)


@dataclass(frozen=True, slots=True)
class RecordedAttempt:
    """An attempt of a person as a transcript tells it.

    Parameters
    ----------
    player, episode : str
        Identifiers.
    number : int
        Which attempt of the episode, from 0.
    time : str
        When the server handled it: its local time, ``yyyyMMdd-HHmmss.SSS``.
    mover : int
        Which of two players, 0 or 1.
    piece : int or None
        The piece's number on its board, if the file has it.
    cell : int
        1 to 36.
    bucket : int or None
        0 to 3; None for a pick, which names a piece only.
    code : int
        0 accepted, 4 denied, 7 immovable; before 5.007 an immovable piece gave 4, too.
    where : str
        File and row.
    cells : mapping of str to str
        All columns of the line, as they stand.

    Examples
    --------
    >>> attempt = RecordedAttempt("p", "e", 0, "", 0, None, 27, None, 0, "a.csv, row 2", {})
    >>> attempt.is_accepted_pick
    True
    """

    player: str
    episode: str
    number: int
    time: str
    mover: int
    piece: int | None
    cell: int
    bucket: int | None
    code: int
    where: str
    cells: Mapping[str, str]

    @property
    def is_accepted_pick(self) -> bool:
        """Whether a piece was named that could be moved: no success, and no error."""
        return self.bucket is None and self.code == 0

    @property
    def removed(self) -> bool:
        """Whether the attempt took the piece from the board."""
        return self.bucket is not None and self.code == 0


def kind_of_file(path: Path) -> Kind | None:
    """Tell by its header what a file holds; None if it is none of them.

    Examples
    --------
    >>> kind_of_file(Path("no-such-file.csv")) is None
    True
    """
    try:
        with path.open("rb") as file:
            first = file.readline(2000).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return kind_of_header(first)


def kind_of_header(line: str) -> Kind | None:
    """Tell the same by the header itself.

    Examples
    --------
    >>> kind_of_header("#pid,episodeId,moveNo,timestamp,y,x,by,bx,code")
    'attempts'
    """
    names = set(_header(line))
    return next((kind for kind, columns in _KNOWN_BY if columns <= names), None)


def _header(line: str) -> list[str]:
    return [name.strip() for name in line.removeprefix("\ufeff").strip().lstrip("#").split(",")]


def transcript_rows(path: Path) -> Iterator[TranscriptRow]:
    """Read a file of the server line by line; a header may come again, as in files put together.

    Raises ScoreDataError: the file cannot be read, or a line has fewer fields than the header.
    """
    lines = read_text(path, error=ScoreDataError).removeprefix("\ufeff").splitlines()
    names: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if not names or kind_of_header(line) is not None:
            names = _header(line)
        elif not line.startswith("#"):
            where = f"{path}, row {number}"
            yield TranscriptRow(where, _cells(where, line, names))


def _cells(where: str, line: str, names: list[str]) -> dict[str, str]:
    try:
        (values,) = csv.reader([line])
    except csv.Error as error:
        raise ScoreDataError(f"{where}: {error}") from None
    # ⚠ Split transcripts name neither the mover nor the piece, which stand behind the moment.
    if names[0] == "ruleSetName" and len(values) > len(names) and "mover" not in names:
        unnamed = ["mover", "objectId"][: len(values) - len(names)]
        at = names.index("timestamp") + 1
        names = [*names[:at], *unnamed, *names[at:]]
    if len(values) < len(names):
        raise ScoreDataError(f"{where}: expected {len(names)} fields, found {len(values)}")
    return {name: value.strip() for name, value in zip(names, values, strict=False)}


def read_attempts(
    paths: Iterable[Path], *, as_reference: bool = False
) -> dict[str, list[RecordedAttempt]]:
    """Read the attempts of each episode, in their order, each once.

    Lines written twice are known by episode and number, wherever in the file they stand; attempts
    on empty cells (code 3, in older files) are dropped. Of an attempt that several files tell, the
    columns are put together. The reference system takes an episode of which more lines come after
    those of another one for a further episode: ``as_reference`` does so, too, under the name
    ``EPISODE 2``.

    Raises ScoreDataError: a field is not what it should be; the message names file, row and field.
    """
    found: dict[str, dict[int, RecordedAttempt]] = {}
    for path in paths:
        stretches: dict[str, int] = {}
        before_it = ""
        for row in transcript_rows(path):
            attempt = _attempt(row)
            if attempt.episode != before_it:
                stretches[attempt.episode] = stretches.get(attempt.episode, 0) + 1
            before_it, n = attempt.episode, stretches[attempt.episode]
            again = as_reference and n > 1
            of_episode = found.setdefault(f"{before_it} {n}" if again else before_it, {})
            before = of_episode.setdefault(attempt.number, attempt)
            if before is not attempt:
                of_episode[attempt.number] = _merged(before, attempt)
    return {
        episode: [a for _, a in sorted(attempts.items()) if a.code != EMPTY_CELL]
        for episode, attempts in found.items()
    }


def _merged(a: RecordedAttempt, b: RecordedAttempt) -> RecordedAttempt:
    """Return an attempt with what two files tell of it; the first is believed."""
    return replace(a, cells={**b.cells, **a.cells})


def _attempt(row: TranscriptRow) -> RecordedAttempt:
    y, x = row.integer("y", 1, 6), row.integer("x", 1, 6)
    return RecordedAttempt(
        player=_named(row, "pid", "playerId"),
        episode=_named(row, "episodeId"),
        number=row.integer("moveNo", 0, 10**6),
        time=row.text("timestamp"),
        mover=row.optional("mover", -1, 9) or 0,
        piece=row.optional("objectId", 0, 10**6),
        cell=(y - 1) * 6 + x,
        bucket=_bucket(row),
        code=_code(row),
        where=row.where,
        cells=row.cells,
    )


def _code(row: TranscriptRow) -> int:
    code = row.integer("code", -99, IMMOVABLE)
    if code > 0 and code not in _REFUSALS:
        raise ScoreDataError(
            f"{row.where}, field 'code': expected 0 or {', '.join(map(str, _REFUSALS))} or a "
            f"negative one, found '{code}'"
        )
    return code


def _named(row: TranscriptRow, *names: str) -> str:
    found = row.text(*names)
    if not found:
        raise ScoreDataError(f"{row.where}, field {names[-1]!r}: expected a name, found ''")
    return found


def _bucket(row: TranscriptRow) -> int | None:
    by, bx = row.optional("by", 0, 7), row.optional("bx", 0, 7)
    if by is None and bx is None:
        return None
    if by is None or bx is None or (by, bx) not in BUCKET_PLACES:
        places = ", ".join(f"{y} {x}" for y, x in BUCKET_PLACES)
        raise ScoreDataError(
            f"{row.where}, fields 'by', 'bx': expected one of {places}, or both empty, "
            f"found {row.text('by')!r} {row.text('bx')!r}"
        )
    return BUCKET_PLACES.index((by, bx))


def read_initial_boards(paths: Iterable[Path]) -> dict[str, tuple[Piece, ...]]:
    """Read the pieces that each episode began with; a piece written twice is taken once.

    The properties of pictures are not in the file, but in a folder ``shapes`` beside it, as a study
    is exported, and in the names of composite ones. Boards with others are left out.

    Raises ScoreDataError: a field is not what it should be.
    """
    boards: dict[str, dict[int, Piece | None]] = {}
    for path in paths:
        for row in transcript_rows(path):
            number, piece = _piece(row, path.parent / "shapes")
            boards.setdefault(_named(row, "episodeId"), {}).setdefault(number, piece)
    return {
        episode: tuple(piece for piece in pieces.values() if piece is not None)
        for episode, pieces in boards.items()
        if None not in pieces.values()
    }


def _piece(row: TranscriptRow, shapes: Path) -> tuple[int, Piece | None]:
    """Return a piece with its number; None of a picture whose properties are not known."""
    cell = (row.integer("y", 1, 6) - 1) * 6 + row.integer("x", 1, 6)
    number = row.optional("objectId", 0, 10**6)
    # Before 8.x a piece has no number; its cell tells it.
    number = cell if number is None else number
    shape, color = row.text("shape").upper(), row.text("color").upper()
    if shape and color and "NULL" not in (shape, color):
        return number, Piece(number, cell, shape, color)
    image = row.text("objectType")
    try:
        found = find_picture(shapes, image)
    except GnomonError:
        return number, None
    return number, Piece(number, cell, properties=found.properties, image=image)


def hold_attempts(sources: Iterable[Path]) -> bool:
    """Tell whether there is a transcript, of any version, among files or in folders."""
    return any(
        kind_of_file(path) == "attempts"
        for source in sources
        for path in ([source] if source.is_file() else source.rglob("*.csv"))
    )


def files_by_kind(sources: Iterable[Path]) -> dict[Kind, list[Path]]:
    """Return the files that lie in some places, by what they hold; folders are searched.

    Raises ScoreDataError if a place is not there, or a file that was named is none of them.
    """
    found: dict[Kind, list[Path]] = {}
    for source in sources:
        if not source.exists():
            raise ScoreDataError(f"{source}: expected transcripts or a folder of them; found none")
        paths = sorted(source.rglob("*.csv")) if source.is_dir() else [source]
        for path in paths:
            kind = kind_of_file(path)
            # Hints have the form of attempts, and were never made.
            hints = ".bot-assist" in path.name or path.parent.name == "bot-assist"
            if kind is not None and not hints:
                found.setdefault(kind, []).append(path)
            elif path is source:
                raise ScoreDataError(
                    f"{path}: expected a transcript, boards or a table of the game server"
                )
    return found


@dataclass(frozen=True, slots=True)
class Guess:
    """What a player thought the rule was.

    Parameters
    ----------
    player, rule : str
    series, episode : int
        In which row of the trial list, and after which of its boards, both from 0.
    text : str
    confidence : int or None
        As the player gave it.

    Examples
    --------
    >>> Guess("p1", "hue", 0, 3, "by colour", 4).confidence
    4
    """

    player: str
    rule: str
    series: int
    episode: int
    text: str
    confidence: int | None


def read_guesses(sources: Iterable[Path]) -> list[Guess]:
    """Read the guesses that lie in some places, each once."""
    found: dict[tuple[str | int, ...], Guess] = {}
    for path in files_by_kind(sources).get("guesses", ()):
        for row in transcript_rows(path):
            confidence = row.text("guessConfidence", "quessConfidence")
            guess = Guess(
                _named(row, "playerId"),
                row.text("ruleId"),
                row.optional("seriesNo", 0, 10**6) or 0,
                row.optional("episodeNo", 0, 10**6) or 0,
                plain_text(row.text("guess")),
                int(confidence) if confidence.lstrip("-").isdigit() else None,
            )
            place = guess.player, guess.rule, guess.series, guess.episode
            found.setdefault((*place, guess.text), guess)
    return list(found.values())
