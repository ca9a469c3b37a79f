"""Series of people: their transcripts, boards, tables and trial lists put together.

Attempts tell what was done; which rule it was done on stands in the detailed transcripts, or in the
server's table of episodes with the trial lists.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gnomon.errors import DegenerateScoresWarning, GnomonError, ScoreDataError, listed
from gnomon.experiments.series.transcript_files import (
    Kind,
    RecordedAttempt,
    files_by_kind,
    read_attempts,
    read_initial_boards,
    transcript_rows,
)
from gnomon.game.board import Piece
from gnomon.game.formats.trial_lists import ParameterSet, read_trial_list


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    """A board of a series: the attempts on it, and its pieces as dealt if they are known."""

    name: str
    attempts: tuple[RecordedAttempt, ...]
    board: tuple[Piece, ...] | None = None


@dataclass(frozen=True, slots=True)
class PlayedSeries:
    """What one player, or one pair of partners, did on one rule.

    Parameters
    ----------
    player, rule : str
    number : int
        Which row of the trial list, from 0.
    episodes : tuple of PlayedEpisode
        In the order in which they were played.
    plan, trial_list : str
        Empty where the files do not say them.
    only_movable : bool
        Whether the page let nobody try what cannot be moved (feedback ``fixed``).
    mover : int or None
        Of two adversaries, whose attempts count: 0 or 1. The boards are those of both.

    Examples
    --------
    >>> PlayedSeries("p1", "clockwise", 0, ()).countable
    ()
    """

    player: str
    rule: str
    number: int
    episodes: tuple[PlayedEpisode, ...]
    plan: str = ""
    trial_list: str = ""
    only_movable: bool = False
    mover: int | None = None

    def counts(self, attempt: RecordedAttempt) -> bool:
        """Tell whether an attempt is a success or an error of this player: no accepted pick is."""
        mine = self.mover is None or attempt.mover == self.mover
        return mine and not attempt.is_accepted_pick

    @property
    def countable(self) -> tuple[RecordedAttempt, ...]:
        """The attempts that are a success or an error of this player, all boards in a row."""
        return tuple(a for e in self.episodes for a in e.attempts if self.counts(a))


@dataclass(frozen=True)
class _Player:
    plan: str
    trial_list: str
    partner: str
    name: str


@dataclass
class _Context:
    """What the tables and trial lists say about players and episodes."""

    players: dict[str, _Player] = field(default_factory=dict)
    by_number: dict[str, _Player] = field(default_factory=dict)
    series_of: dict[str, tuple[int, str]] = field(default_factory=dict)
    lists: dict[tuple[str, str], tuple[ParameterSet, ...]] = field(default_factory=dict)


def read_series(
    sources: Iterable[Path], *, trial_lists: Path | None = None, as_reference: bool = False
) -> tuple[PlayedSeries, ...]:
    r"""Read the series of all players from files or folders of the reference game server.

    Parameters
    ----------
    sources : iterable of Path
        Transcripts, detailed transcripts, split transcripts, boards, and exported tables of players
        and episodes, of any version; folders are searched.
    trial_lists : Path, optional
        A folder of trial lists, ``PLAN/LIST.csv``. They tell the rule of a series where the
        transcripts do not, and which feedback the page gave.
    as_reference : bool
        Lines of an episode that come again after those of another one are counted again.

    Returns
    -------
    tuple of PlayedSeries
        By player, in the order in which they played.

    Raises
    ------
    ScoreDataError
        A file cannot be read, or no file tells of any episode which rule it belongs to.

    Warns
    -----
    DegenerateScoresWarning
        Episodes are left out, of which no file tells that.

    Examples
    --------
    >>> import tempfile
    >>> line = "clockwise,p1,plan,list,0,0,20250304-090016-AAAAAA,0,20250304-090022.979,5,3,0,7,4"
    >>> header = (
    ...     "ruleSetName,playerId,experimentPlan,trialListId,seriesNo,orderInSeries,episodeId,"
    ...     "moveNo,timestamp,y,x,by,bx,code")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "split.csv"
    ...     _ = path.write_text(f"{header}\n{line}\n")
    ...     [series] = read_series([path])
    >>> series.player, series.rule, len(series.countable)
    ('p1', 'clockwise', 1)
    """
    files = files_by_kind(sources)
    attempts = read_attempts(files.get("attempts", ()), as_reference=as_reference)
    if not attempts:
        empty = ", ".join(map(str, files.get("attempts", ()))) or "no transcript"
        raise ScoreDataError(f"{empty}: expected an attempt; found none")
    boards = read_initial_boards(files.get("boards", ()))
    context = _context(files, trial_lists)
    found: dict[tuple[str, int], list[PlayedEpisode]] = {}
    heads: dict[tuple[str, int], PlayedSeries] = {}
    unknown: list[ScoreDataError] = []
    for name, of_episode in attempts.items():
        if not of_episode:
            continue
        try:
            head = _head(of_episode[0], context)
        except ScoreDataError as error:
            unknown.append(error)
            continue
        key = head.player, head.number
        heads.setdefault(key, head)
        board = boards.get(of_episode[0].episode) or _touched_pieces(of_episode)
        found.setdefault(key, []).append(PlayedEpisode(name, tuple(of_episode), board))
    _warn_of(unknown, any_known=bool(found))
    series = [replace(heads[key], episodes=_in_order(found[key])) for key in sorted(found)]
    return tuple(part for one in series for part in _by_mover(one, context))


def _warn_of(unknown: Sequence[ScoreDataError], *, any_known: bool) -> None:
    """Warn of episodes that are left out, or raise the first error if all are."""
    if unknown and not any_known:
        raise unknown[0]
    if unknown:
        text = f"{len(unknown)} episodes are left out; the first: {unknown[0]}"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=3)


def _in_order(episodes: list[PlayedEpisode]) -> tuple[PlayedEpisode, ...]:
    """Sort episodes by their number in the series, where files tell it; else as they came."""

    def number(episode: PlayedEpisode) -> int:
        for name in ("episodeNo", "orderInSeries"):
            text = episode.attempts[0].cells.get(name, "")
            if text.isdigit():
                return int(text)
        return 0

    return tuple(sorted(episodes, key=number))


def _context(files: Mapping[Kind, Sequence[Path]], trial_lists: Path | None) -> _Context:
    context = _Context()
    for path in files.get("players", ()):
        for row in transcript_rows(path):
            player = _Player(
                row.text("experimentPlan"),
                row.text("trialListId"),
                row.text("partnerPlayerId"),
                row.text("playerId"),
            )
            context.players[player.name] = player
            context.by_number[row.text("id")] = player
    for path in files.get("episodes", ()):
        for row in transcript_rows(path):
            number = row.integer("seriesNo", 0, 10**6)
            context.series_of[row.text("episodeId")] = number, row.text("PLAYER_ID")
    if trial_lists is not None:
        context.lists = _read_lists(trial_lists)
    return context


def _read_lists(folder: Path) -> dict[tuple[str, str], tuple[ParameterSet, ...]]:
    """Read every trial list of a folder, by plan and name."""
    if not folder.is_dir():
        raise ScoreDataError(f"{folder}: expected a folder of trial lists; there is none")
    found = {}
    for path in sorted(folder.rglob("*.csv")):
        if path.name == "defect.csv":
            continue
        try:
            found[path.parent.relative_to(folder).as_posix(), path.stem] = read_trial_list(path)
        except GnomonError as error:
            raise ScoreDataError(str(error)) from None
    return found


def _head(attempt: RecordedAttempt, context: _Context) -> PlayedSeries:
    """Return the series that an attempt belongs to, without its episodes."""
    cells = attempt.cells
    number, row_of_player = context.series_of.get(attempt.episode, (None, ""))
    if number is None and cells.get("seriesNo", "").isdigit():
        number = int(cells["seriesNo"])
    info = context.players.get(attempt.player) or context.by_number.get(row_of_player)
    plan = cells.get("experimentPlan") or (info.plan if info else "")
    trial_list = cells.get("trialListId") or (info.trial_list if info else "")
    listed_plan, row = _list_row(context, plan, trial_list, number)
    rule = cells.get("ruleId") or cells.get("ruleSetName") or (row.rule_id if row else None)
    if number is None or rule is None:
        lacks = "which series it is of" if number is None else "which rule it is on"
        raise ScoreDataError(
            f"{attempt.where}: no file tells of episode {attempt.episode} {lacks}; expected its "
            "detailed transcript, or the table of episodes with --trial-lists"
        )
    fixed = row is not None and not str(row.others.get("feedback_switches", "free")).startswith(
        "free"
    )
    return PlayedSeries(
        attempt.player, rule, number, (), plan or listed_plan, trial_list, only_movable=fixed
    )


def _list_row(
    context: _Context, plan: str, trial_list: str, number: int | None
) -> tuple[str, ParameterSet | None]:
    """Return the plan and the row of the trial list that a series was played by, if any."""
    fitting = {key: rows for key, rows in context.lists.items() if key[1] == trial_list}
    fitting = {k: v for k, v in fitting.items() if plan and _ends_with(k[0], plan)} or fitting
    if len(fitting) > 1:
        places = listed(f"{where}/{name}" for where, name in fitting)
        raise ScoreDataError(
            f"trial list {trial_list}: expected one of this name, found {places}; the table of "
            "players tells the plan"
        )
    for (where, _), rows in fitting.items():
        return where, rows[number] if number is not None and number < len(rows) else None
    return "", None


def _ends_with(folder: str, plan: str) -> bool:
    return folder == plan or folder.endswith(f"/{plan}") or plan.endswith(f"/{folder}")


def _touched_pieces(attempts: Sequence[RecordedAttempt]) -> tuple[Piece, ...] | None:
    """Rebuild a board from attempts that name every piece of it; None if some was never touched."""
    first = attempts[0]
    left = first.cells.get("objectCnt", "")
    if not left.isdigit():
        return None
    pieces: dict[int, Piece] = {}
    for attempt in attempts:
        color, _, shape = attempt.cells.get("objectType", "").partition("_")
        number = attempt.cell if attempt.piece is None else attempt.piece
        pieces.setdefault(number, Piece(number, attempt.cell, shape.upper(), color.upper()))
    whole = len(pieces) == int(left) + first.removed
    return tuple(pieces.values()) if whole and all(p.shape for p in pieces.values()) else None


def _by_mover(series: PlayedSeries, context: _Context) -> list[PlayedSeries]:
    """Return a series as it is, or of two adversaries one for each.

    ⚠ The reference counts the second adversary's attempts for the first one as well.
    """
    info = context.players.get(series.player)
    alone = info is not None and not any(a.mover for e in series.episodes for a in e.attempts)
    if not series.plan.rpartition("/")[2].startswith("adve.") or alone:
        return [series]
    partner = info.partner if info and info.partner else f"{series.player}:1"
    return [replace(series, mover=0), replace(series, mover=1, player=partner)]
