"""Writing the result files and transcripts of the captive game server."""

from __future__ import annotations

import csv
import secrets
import string
import time
from collections.abc import Sequence
from decimal import Decimal
from io import StringIO
from typing import Any, Literal, TextIO

from gnomon.errors import GnomonError
from gnomon.experiments.game_log_rows import COMPACT, COMPACT_RUN, LONG, TRANSCRIPT
from gnomon.game.board import BUCKET_PLACES
from gnomon.game.captive.arguments import GameArguments
from gnomon.game.captive.session import AttemptRecord, EpisodeRecord, GameLog


def open_game_log(arguments: GameArguments, rule_name: str) -> GameLog | None:
    """Open the files that the arguments of a game ask for; None if they ask for none.

    A header is written only into a file that is empty.

    Raises GnomonError: a file cannot be opened.
    """
    if arguments.log is None:
        return None
    results = _opened(arguments.log, "a" if arguments.append else "w")
    transcript = None if arguments.transcript is None else _opened(arguments.transcript, "a")
    player = arguments.nickname, rule_name, arguments.run
    return _Files(player, results, arguments.log_format == "Compact", transcript)


def _opened(path: str, mode: Literal["a", "w"]) -> TextIO:
    try:
        return open(path, mode, encoding="utf-8", newline="")
    except OSError as error:
        raise GnomonError(f"{path}: cannot write this file: {error.strerror}") from None


class _Files:
    """Writes a result file, and a transcript if there is one."""

    def __init__(
        self,
        player: tuple[str, str, int],
        results: TextIO,
        is_compact: bool,
        transcript: TextIO | None,
    ) -> None:
        self._player = player
        self._is_compact = is_compact
        self._results = results
        self._transcript = transcript
        self._episode_id = ""
        self._seen_s = 0.0
        header = f"#{LONG}\n"
        if is_compact:
            header = f"#.{COMPACT_RUN}\n#{COMPACT}\n"
        _write_header(results, header)
        if is_compact:
            self._results.write("." + _csv_line(player))
        if transcript is not None:
            _write_header(transcript, f"#{TRANSCRIPT}\n")

    def begin(self, episode: int) -> None:
        """Note when the player saw the board."""
        self._seen_s = time.time()
        signs = string.digits + string.ascii_uppercase
        random = "".join(secrets.choice(signs) for _ in range(6))
        self._episode_id = f"{_stamp(self._seen_s)}-{random}"

    def attempt(self, record: AttemptRecord) -> None:
        """Write a line of the transcript."""
        if self._transcript is None:
            return
        now_s = time.time()
        piece, (nickname, rule_name, _) = record.piece, self._player
        looks = "PICTURE" if piece.shape is None else f"{piece.color}_{piece.shape}"
        values = (
            *(nickname, "", 0, rule_name, record.episode, self._episode_id, record.number),
            f"{_stamp(now_s)}.{int(now_s * 1000) % 1000:03d}",
            *(0, max(0, int((now_s - self._seen_s) * 1000)) / 1000),
            *(looks, piece.id, piece.y, piece.x),
            *(record.bucket, *BUCKET_PLACES[record.bucket], record.code, record.left),
        )
        self._transcript.write(_csv_line(values))
        self._seen_s = now_s

    def end(self, record: EpisodeRecord) -> None:
        """Write a line of the result file, through to the disk's side of the program."""
        moves, accepted = record.n_attempts, record.n_accepted
        values: Sequence[Any] = (moves, moves - accepted, int(record.cleared))
        if not self._is_compact:
            accuracy = _java_double(accepted / moves if moves else 0.0)
            numbers = record.episode, record.n_pieces, moves, accuracy, int(record.cleared)
            values = (*self._player, *numbers)
        self._results.write(_csv_line(values))
        self._flush()

    def close(self) -> None:
        """Close the files."""
        for file in filter(None, (self._results, self._transcript)):
            file.close()

    def _flush(self) -> None:
        for file in filter(None, (self._results, self._transcript)):
            file.flush()


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
