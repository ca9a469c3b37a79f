"""Transcripts of people: the attempts that a study exports, written, read as trials and scored.

A transcript has a line for each attempt and names columns as the reference game server does since
its version 8; the export also has a table of boards, with a line for each piece. A board is known
only if the table of boards is read too. Attempts on empty cells are not in such files, and a
stalemate looks like an episode that was given up.
"""

from __future__ import annotations

import csv
import datetime
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, check_word
from gnomon.text_files import read_text
from gohr.board import BUCKET_PLACES, DEFAULT_SPEC, N_BUCKETS, N_CELLS, Board, Piece
from gohr.captive_log import Row, first_line
from gohr.outcomes import ACCEPTED, CLEARED, DENIED, EMPTY_CELL, IMMOVABLE, IN_PROGRESS
from gohr.people.mastery import TARGET_STREAK, attempts_to_master, likelihood_ratios
from gohr.people.session import PlaySession
from gohr.playing import TrialLog

if TYPE_CHECKING:
    from gnomon import ScoreTable
    from gohr.rules.syntax import RuleSet


#: The header of a transcript.
_TRANSCRIPT = (
    "playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,moveNo,timestamp,mover,reactionTime,"
    "objectType,objectId,y,x,bucketId,by,bx,code,objectCnt"
)
#: And that of a table of boards.
_BOARDS = "playerId,episodeId,objectId,y,x,shape,color,objectType"


@dataclass(frozen=True, eq=False)
class PlayedGame:
    """A game of one person, with its place in a study.

    Parameters
    ----------
    player : str
        A pseudonym.
    rule_list : str
        The list of the study, empty outside of one.
    series : int
        Which rule of the list, from 0.
    rule : str
        The rule's own name.
    session : PlaySession
        The game that was played.
    """

    player: str
    rule_list: str
    series: int
    rule: str
    session: PlaySession

    def episode_names(self) -> dict[int, str]:
        """Return a name for each episode in a transcript: when it began, and whose it is."""
        found: dict[int, str] = {}
        for made in self.session.attempts:
            # The reference system writes no line for an attempt on an empty cell.
            if made.outcome != EMPTY_CELL and made.episode not in found:
                moment = _moment(made.at - made.reaction_s).partition(".")[0]
                found[made.episode] = f"{moment}-{self.player}-{self.series}-{made.episode}"
        return found


def transcript_text(games: Iterable[PlayedGame]) -> tuple[str, str]:
    r"""Return the detailed transcript of games, and the table of their boards.

    The transcript has a line for each attempt, with moments in UTC; the table a line for each piece
    as it was dealt, on boards with an attempt. The columns are those of the reference game server
    since version 8.031, so that people and learners share one table; :func:`gnomon.read_scores`
    reads it.

    Examples
    --------
    >>> from gohr.people import Game, PlaySession
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=1))
    >>> _ = session.attempt(session.view().pieces[0]["cell"], 2)
    >>> text, boards = transcript_text([PlayedGame("p1", "a", 0, "anything-goes", session)])
    >>> text.splitlines()[1].split(",")[:5], boards.count("\n")
    (['p1', 'a', '0', 'anything-goes', '0'], 10)
    """
    games = list(games)
    pieces = (
        (
            *(game.player, name, each.id, each.y, each.x),
            *(each.shape, each.color, f"{each.color}_{each.shape}"),
        )
        for game in games
        for episode, name in game.episode_names().items()
        for each in game.session.board(episode).pieces
    )
    attempts = (row for game in games for row in _rows_of_attempts(game))
    return _table(_TRANSCRIPT, attempts), _table(_BOARDS, pieces)


def _rows_of_attempts(game: PlayedGame) -> Iterator[Sequence[Any]]:
    names = game.episode_names()
    written = (made for made in game.session.attempts if made.outcome != EMPTY_CELL)
    for episode, attempts in groupby(written, key=lambda made: made.episode):
        pieces = {piece.pos: piece for piece in game.session.board(episode).pieces}
        left = len(pieces)
        for number, made in enumerate(attempts):
            piece = pieces[made.cell]
            left -= made.accepted
            yield (
                *(game.player, game.rule_list, game.series, game.rule, episode, names[episode]),
                *(number, _moment(made.at), 0, f"{made.reaction_s:.3f}"),
                *(f"{piece.color}_{piece.shape}", piece.id, piece.y, piece.x),
                *(made.bucket, *BUCKET_PLACES[made.bucket], made.outcome, left),
            )


def _table(header: str, rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    out.write(f"#{header}\n")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _moment(seconds: float) -> str:
    at = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{at:%Y%m%d-%H%M%S}.{at.microsecond // 1000:03d}"


# -- reading ---------------------------------------------------------------------------------------

#: Columns by which the two kinds of files are known.
_ATTEMPTS = frozenset(
    (
        *("playerId", "seriesNo", "ruleId", "episodeNo", "episodeId", "moveNo", "mover"),
        *("y", "x", "bucketId", "code", "objectCnt"),
    )
)
_PIECES = frozenset(("episodeId", "objectId", "y", "x", "shape", "color"))
_CODES = (ACCEPTED, DENIED, IMMOVABLE)


@dataclass(frozen=True, slots=True, eq=False)
class PlayedSeries:
    """The boards that one person played on one rule, one after another.

    Parameters
    ----------
    player, rule : str
    number : int
        Which series of the player, from 0.
    log : TrialLog
        Every attempt; a failed pick is an attempt at bucket 0, and an accepted pick is none. Boards
        without a table of boards are empty.
    boards_known : bool
        Whether all boards are known.
    """

    player: str
    rule: str
    number: int
    log: TrialLog
    boards_known: bool


@dataclass(slots=True)
class _Episode:
    """Data of an episode: actions and outcomes, and whether the board was cleared."""

    actions: list[int]
    outcomes: list[int]
    n_lines: int = 0
    cleared: bool = False


def is_transcript(path: str | Path) -> bool:
    """Return whether the first line of a file is the header of a transcript."""
    return _header(Path(path)) >= _ATTEMPTS


def read_transcripts(sources: str | Path | Iterable[str | Path]) -> tuple[PlayedSeries, ...]:
    r"""Read the series of people from transcripts, and their boards from tables of boards.

    Parameters
    ----------
    sources : path or iterable of paths
        Transcripts and tables of boards, or folders in which to look for them.

    Returns
    -------
    tuple of PlayedSeries
        Player by player, in the order of the files. A line that several files have counts once.

    Raises
    ------
    ScoreDataError
        There is no transcript, or a field is invalid; the message names file, row and column.

    Examples
    --------
    >>> import tempfile
    >>> header = "#playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,moveNo,timestamp,mover,"
    >>> header += "reactionTime,objectType,objectId,y,x,bucketId,by,bx,code,objectCnt"
    >>> line = "p1,a,0,clockwise,0,e1,0,20260101-000000.000,0,1.5,RED_STAR,0,2,1,3,0,0,4,9"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "transcript.csv"
    ...     _ = path.write_text(f"{header}\n{line}\n")
    ...     [series] = read_transcripts(path)
    >>> series.player, series.log.actions, series.log.outcomes
    ('p1', array([27], dtype=uint8), array([4], dtype=int8))
    """
    listed = [sources] if isinstance(sources, str | Path) else list(sources)
    files = _files(Path(source) for source in listed)
    played: dict[tuple[str, str, int], dict[tuple[int, str], _Episode]] = {}
    for path in files:
        if is_transcript(path):
            for line in _lines(path):
                _take(line, played)
    if not played:
        raise ScoreDataError(f"{listed[0]}: expected a transcript of people; found none")
    boards = _boards(path for path in files if _header(path) >= _PIECES)
    found = []
    for (player, rule, number), episodes in played.items():
        log, known = _log(f"{listed[0]}, {player} on {rule}", episodes, boards)
        found.append(PlayedSeries(player, rule, number, log, known))
    return tuple(found)


def _files(sources: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for source in sources:
        if not source.exists():
            raise ScoreDataError(f"{source}: expected transcripts or a folder of them; found none")
        found += sorted(source.rglob("*.csv")) if source.is_dir() else [source]
    return found


def _header(path: Path) -> frozenset[str]:
    return frozenset(name.strip() for name in first_line(path).split(","))


def _lines(path: Path) -> Iterator[Row]:
    text = read_text(path, error=ScoreDataError).removeprefix("\ufeff")
    header, *lines = text.splitlines()
    for number, line in enumerate(lines, 2):
        if line and not line.startswith("#"):
            yield Row.split(f"{path}, row {number}", line, header.lstrip("#"))


def _take(line: Row, played: dict[tuple[str, str, int], dict[tuple[int, str], _Episode]]) -> None:
    """Add an attempt to its episode, unless it was read before."""
    key = line.text("playerId"), line.text("ruleId"), line.integer("seriesNo", 0, 10**6)
    place = line.integer("episodeNo", 0, 10**6), line.text("episodeId")
    episode = played.setdefault(key, {}).setdefault(place, _Episode([], []))
    number, code = line.integer("moveNo", 0, 10**6), line.integer("code", -99, 99)
    line.integer("mover", -1, 0)
    if number < episode.n_lines:
        return
    if number > episode.n_lines:
        raise line.error("moveNo", f"{episode.n_lines}, the next of its episode")
    if code not in _CODES:
        raise line.error("code", f"one of {', '.join(map(str, _CODES))}")
    episode.n_lines += 1
    is_pick = line.values["bucketId"].lower() in ("", "null", "-1")
    if is_pick and code == ACCEPTED:
        return
    bucket = 0 if is_pick else line.integer("bucketId", 0, N_BUCKETS - 1)
    if not is_pick and {"by", "bx"} <= line.values.keys():
        place_of = line.integer("by", 0, 7), line.integer("bx", 0, 7)
        if BUCKET_PLACES[bucket] != place_of:
            raise line.error("bucketId", f"the bucket at row {place_of[0]}, column {place_of[1]}")
    episode.actions.append(N_BUCKETS * _cell(line) + bucket)
    episode.outcomes.append(code)
    episode.cleared = line.integer("objectCnt", 0, 36) == 0


def _cell(line: Row) -> int:
    """Return the cell, from 0."""
    return 6 * (line.integer("y", 1, 6) - 1) + line.integer("x", 1, 6) - 1


def _boards(paths: Iterable[Path]) -> dict[str, list[int]]:
    """Return the codes of each board that consists of pieces of the default palettes."""
    pieces: dict[str, dict[int, Piece]] = {}
    for path in paths:
        for line in _lines(path):
            number, cell = line.integer("objectId", 0, 10**6), _cell(line)
            shape, color = line.values["shape"].upper(), line.values["color"].upper()
            own = pieces.setdefault(line.text("episodeId"), {})
            own[number] = Piece(number, cell + 1, shape, color)
    found = {}
    for episode, board in pieces.items():
        known = [p.shape in DEFAULT_SPEC.shape_palette for p in board.values()]
        known += [p.color in DEFAULT_SPEC.color_palette for p in board.values()]
        if all(known):
            found[episode] = list(Board(tuple(board.values())).codes(DEFAULT_SPEC))
    return found


def _log(
    where: str, episodes: Mapping[tuple[int, str], _Episode], boards: Mapping[str, Sequence[int]]
) -> tuple[TrialLog, bool]:
    """Return the trial of a series, and whether all of its boards are known."""
    names = dict(episodes.keys())
    if len(names) < len(episodes):
        (number, name) = next(place for place in episodes if names[place[0]] != place[1])
        raise ScoreDataError(
            f"{where}: expected one episode {number} in a series; found {name} and {names[number]}"
        )
    by_number = {number: one for (number, _), one in episodes.items()}
    # An episode without an attempt leaves no line.
    played = [by_number.get(k, _Episode([], [])) for k in range(max(names) + 1)]
    empty = [0] * N_CELLS
    codes = [boards.get(names.get(k, ""), empty) for k in range(len(played))]
    ends = [CLEARED if one.cleared else IN_PROGRESS for one in played]
    log = TrialLog(
        boards=np.array(codes, dtype=np.uint8),
        n_attempts=np.array([len(one.actions) for one in played], dtype=np.int64),
        actions=np.array([a for one in played for a in one.actions], dtype=np.uint8),
        outcomes=np.array([o for one in played for o in one.outcomes], dtype=np.int8),
        finish=np.array(ends, dtype=np.int8),
    )
    return log, all(name in boards for name in names.values())


def score_series(
    series: Iterable[PlayedSeries],
    metric: str = "m_star",
    *,
    target_streak: int | None = None,
    target_r: float | None = None,
    rules: str | Path | None = None,
    by: Literal["player", "people"] = "player",
) -> ScoreTable:
    """Return a score of every series as a table: players as algorithms, rules as tasks.

    Parameters
    ----------
    series : iterable of PlayedSeries
    metric : str
        One of :data:`gohr.experiments.METRICS`.
    target_streak : int, optional
        For ``m_star``: mastery is this number of successes in a row; 10 if no criterion is given.
    target_r : float, optional
        For ``m_star``: or a product of likelihood ratios of this size, each that of a player who
        knows the rule against one who tries at random. The first criterion that is met counts.
    rules : path, optional
        A folder of rule texts, ``NAME.txt``; otherwise rules of the library. Needed for
        `target_r` and for ``skill``.
    by : {"player", "people"}
        Each player is an algorithm, whose series on a rule are runs 0, 1, ...; or all are runs of
        the one algorithm ``people``, labelled by the player and that number.

    Returns
    -------
    ScoreTable
        As of :func:`gohr.score`. The attributes ``series`` and ``n_attempts`` are the number of
        the player's series, and its length.

    Raises
    ------
    ScoreDataError
        There is no series; a rule is not found; or a score needs boards that are not known.
    UnknownNameError
        The metric does not exist.

    Examples
    --------
    >>> log = TrialLog(
    ...     boards=np.zeros((1, 36), dtype=np.uint8),
    ...     n_attempts=np.array([4]),
    ...     actions=np.array([0, 4, 8, 12], dtype=np.uint8),
    ...     outcomes=np.array([4, 0, 0, 4], dtype=np.int8),
    ...     finish=np.array([0], dtype=np.int8),
    ... )
    >>> series = PlayedSeries("p1", "clockwise", 0, log, boards_known=False)
    >>> score_series([series], target_streak=2).runs("p1", "clockwise")
    array([1.])
    """
    from gohr.experiments.entries import RuleEntry
    from gohr.experiments.metrics import metric_named, score_trial

    check_word("by", by, ("player", "people"))
    chosen = metric_named(metric)
    if rules is not None and not Path(rules).is_dir():
        raise ScoreDataError(f"{rules}: expected a folder of rules; there is none")
    if metric != "m_star" and (target_streak, target_r) != (None, None):
        raise ScoreDataError(f"{metric}: a target is for m_star")

    def rule_of(one: PlayedSeries, what: str) -> RuleSet:
        """Return the rule of a series, for a score that needs its boards too."""
        if not one.boards_known:
            raise ScoreDataError(
                f"{one.player} on {one.rule}: {what} needs the boards; expected a table of "
                "boards beside the transcript, with ordinary pieces"
            )
        text = text_of_rule(one.rule, rules)
        if text is None:
            where = "a folder of rules (--rules)" if rules is None else f"{rules}/{one.rule}.txt"
            raise ScoreDataError(f"rule {one.rule!r}: expected its text in {where}; found none")
        return RuleEntry(one.rule, text).found(Path()).rule_set

    def score(one: PlayedSeries) -> float | npt.NDArray[np.float64]:
        """Return the score of a series, or one for each episode."""
        if metric != "m_star":
            if not chosen.of_attempts:
                return score_trial(one.log, metric)
            return score_trial(one.log, metric, rule_set=rule_of(one, metric))
        good = one.log.outcomes == ACCEPTED
        if target_r is None:
            return attempts_to_master(good, target=target_streak or TARGET_STREAK)
        ratios = likelihood_ratios(rule_of(one, "a likelihood ratio"), one.log)
        return attempts_to_master(good, target=target_streak, ratios=ratios, target_r=target_r)

    played, met = [*series], Counter[tuple[str, str]]()
    if not played:
        raise ScoreDataError("expected at least one series of a person; found none")
    runs = []
    for one in played:
        n = met[one.player, one.rule]
        runs.append(str(n) if by == "player" else f"{one.player} {n}")
        met[one.player, one.rule] += 1
    columns: dict[str, Sequence[object]] = {
        "algorithm": [one.player if by == "player" else "people" for one in played],
        "task": [one.rule for one in played],
        "run": runs,
        "series": [one.number for one in played],
        "n_attempts": [int(one.log.n_attempts.sum()) for one in played],
    }
    counted = "attempts on empty cells left out, as transcripts do"
    return chosen.table(columns, map(score, played), ("people", counted))


def text_of_rule(name: str, folder: str | Path | None = None) -> str | None:
    """Return the text of a rule: of a file in a folder, of the library or of suite gohr-basic."""
    from gohr.experiments.suites import load_suite
    from gohr.rules.catalogue import available_rules, load_rule_text

    file = Path(folder or "") / f"{name}.txt"
    if folder is not None and file.is_file():
        return read_text(file)
    if name in available_rules():
        return load_rule_text(name)
    return load_suite("gohr-basic").texts.get(name)
