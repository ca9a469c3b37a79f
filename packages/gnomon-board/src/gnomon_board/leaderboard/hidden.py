"""The hidden division: trials played through the server, which keeps the rule.

An attempt is committed before its reply is sent, so that no board is played twice. It counts from
its first move: while it is unfinished, its entry has no rank. Closing it plays the rest with moves
that the rule rejects, so that the log is complete, is replayed like any other, and the unplayed
part counts as errors. The end of a season closes all open attempts. Once all trials of an attempt
are over, the server stores its own log of them and queues it for replay.

Games in play are cached in memory, which only saves a replay: each is checked against its row,
under the row's lock, before it continues.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeAlias, TypeVar

from sqlalchemy import bindparam, func, or_, select, update
from sqlalchemy.orm import Session

from gnomon_board.accounts import note, server_secret
from gnomon_board.database.columns import now
from gnomon_board.database.engine import Database
from gnomon_board.database.schema import (
    Account,
    Entry,
    EntryAttempt,
    Job,
    RemoteTrial,
    Season,
    SeasonRule,
    Submission,
)
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.leaderboard.assignment import assignment_of
from gnomon_board.leaderboard.entries import attempt_of, find_entry
from gnomon_board.leaderboard.evidence import keep_bytes
from gnomon_board.leaderboard.remote_game import AttemptPlay, Move, RemoteGame, Reply, TrialState
from gnomon_board.leaderboard.seasons import check_open
from gnomon_board.leaderboard.server_settings import Settings
from gnomon_board.leaderboard.submissions import set_state
from gohr import ExperimentConfig
from gohr.experiments import write_log

_log = logging.getLogger("gnomon.worker")
#: A row of a query with named columns.
_Row: TypeAlias = Any
_Value = TypeVar("_Value")


class _Recent(Generic[_Value]):
    """The values that were used last, by a number; for several threads."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._kept: OrderedDict[int, _Value] = OrderedDict()

    def get(self, number: int) -> _Value | None:
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
            return self._kept.get(number)

    def put(self, number: int, value: _Value) -> None:
        with self._lock:
            self._kept[number] = value
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def drop(self, numbers: Iterable[int]) -> None:
        with self._lock:
            for number in numbers:
                self._kept.pop(number, None)


class GameCache:
    """Cache of the games in play and of the assignments of their attempts."""

    def __init__(self) -> None:
        self._games: _Recent[RemoteGame] = _Recent(2048)
        self._assignments: _Recent[ExperimentConfig] = _Recent(256)

    def game(self, session: Session, row: _Row) -> RemoteGame:
        """Return the game of a trial in the state of its row."""
        game = self._games.get(row.id)
        if game is None or game.position != row.n_attempts:
            game = self.fresh_game(session, row)
            self._games.put(row.id, game)
        return game

    def fresh_game(self, session: Session, row: _Row) -> RemoteGame:
        """Rebuild the game of a trial from its attempts."""
        assignment = self._assignments.get(row.attempt_id)
        if assignment is None:
            assignment = assignment_of(session.get_one(EntryAttempt, row.attempt_id))
            self._assignments.put(row.attempt_id, assignment)
        actions = session.scalar(select(RemoteTrial.actions).where(RemoteTrial.id == row.id))
        return RemoteGame.of(assignment, row.rule, row.number, actions or b"")

    def has(self, trial: int) -> bool:
        """Return whether the game of a trial is cached."""
        return self._games.get(trial) is not None

    def drop(self, trials: Iterable[int]) -> None:
        """Remove games that have ended, or whose last attempts were not committed."""
        self._games.drop(trials)


def own_entry(session: Session, entry_id: int, account_id: int) -> Entry:
    """Return an entry of an account; raise NotAllowed if it is another account's."""
    entry = find_entry(session, entry_id)
    if entry.account_id != account_id:
        raise NotAllowed(f"entry {entry_id} is another account's")
    return entry


def begin(session: Session, entry_id: int, number: int, *, account_id: int) -> AttemptPlay:
    """Return the trials of an attempt with their current state.

    Raises Refusal: this account has no such attempt, the season is of another division or not open,
    or the entry is withdrawn.
    """
    entry = own_entry(session, entry_id, account_id)
    season = entry.season
    if season.division != "hidden":
        raise NotAllowed(f"season {season.name} is of the {season.division} division: send a log")
    _check_may_play(season, entry)
    attempt = attempt_of(entry, number)
    return AttemptPlay(
        season=season.name,
        entry=entry.id,
        learner=entry.name,
        attempt=number,
        board=season.board,
        episodes=season.episodes,
        horizon=season.horizon,
        trials=[
            TrialState(
                trial=row.id,
                rule=row.rule,
                number=row.number,
                state=row.state,
                position=row.n_attempts,
            )
            for row in session.execute(_TRIAL.where(RemoteTrial.attempt_id == attempt.id))
        ],
    )


def _check_may_play(season: Season | _Row, entry: Entry | _Row) -> None:
    """Check that an attempt may be played now; rows of a query are accepted."""
    check_open(season)
    if season.revealed_at is not None:
        raise NotAllowed(f"season {season.name} has been revealed")
    if entry.withdrawn_at is not None:
        raise NotAllowed("this entry is withdrawn")


_TRIAL = (
    select(
        RemoteTrial.id,
        RemoteTrial.n_attempts,
        RemoteTrial.number,
        RemoteTrial.attempt_id,
        RemoteTrial.state,
        SeasonRule.name.label("rule"),
    )
    .join(SeasonRule, SeasonRule.id == RemoteTrial.rule_id)
    .join(EntryAttempt, EntryAttempt.id == RemoteTrial.attempt_id)
    .join(Entry, Entry.id == EntryAttempt.entry_id)
    .order_by(RemoteTrial.id)
)
# Built once, since it runs at every attempt.
_FIND = (
    _TRIAL.join(Season, Season.id == Entry.season_id)
    .add_columns(
        *(Entry.withdrawn_at, EntryAttempt.begun_at, EntryAttempt.closed_at),
        *(Season.name, Season.opens_at, Season.closes_at, Season.revealed_at),
    )
    .where(
        RemoteTrial.id.in_(bindparam("trials", expanding=True)),
        Entry.account_id == bindparam("account"),
    )
)
_FIND_LOCKED = _FIND.with_for_update(of=RemoteTrial)


def make_moves(
    database: Database,
    live: GameCache,
    moves: Sequence[Move],
    *,
    account_id: int,
    address: str = "",
) -> list[Reply]:
    """Make moves in several trials, all of them or none, and return a reply to each.

    The first move of an attempt begins it: from then on it counts and is shown on the board. A
    keyed hash of the ``address`` is stored.

    Raises Refusal: a trial belongs to another account or may not be played now; a trial occurs
    twice; or the attempts before a move differ from the recorded ones.
    """
    wanted = [move.trial for move in moves]
    if len(set(wanted)) < len(wanted):
        raise Conflict("expected one move in each trial, found two in one")
    if cold := [trial for trial in wanted if not live.has(trial)]:
        # Rebuilt before the write lock is taken.
        with database.reading() as session:
            for row in session.execute(_FIND, {"trials": cold, "account": account_id}):
                live.game(session, row)
    try:
        with database.writing() as session:
            found = session.execute(_FIND_LOCKED, {"trials": wanted, "account": account_id})
            rows = {row.id: row for row in found}
            for trial in wanted:
                _check_in_play(rows.get(trial), trial)
            games = {row.id: live.game(session, row) for row in rows.values()}
            replies = [games[move.trial].play(move) for move in moves]
            _write(session, rows, games)
            begun = {rows[t].attempt_id for t, game in games.items() if game.position}
            for attempt in begun & {r.attempt_id for r in rows.values() if not r.begun_at}:
                _mark_begun(session, session.get_one(EntryAttempt, attempt), address)
    except BaseException:
        # The cache may be ahead of the committed state.
        live.drop(wanted)
        raise
    live.drop(trial for trial, game in games.items() if game.over)
    return replies


def _check_in_play(row: _Row | None, trial: int) -> None:
    if row is None:
        raise Missing(f"there is no trial {trial} of this account")
    _check_may_play(row, row)
    # After a wait for the lock the trial is current, but its attempt is not.
    if row.closed_at is not None or row.state == "abandoned":
        raise NotAllowed(f"trial {trial}: its attempt was closed; the rest is scored as errors")


def _write(session: Session, rows: Mapping[int, _Row], games: Mapping[int, RemoteGame]) -> None:
    """Write the changes to the database."""
    changed, moment = [], now()
    for trial, game in games.items():
        over = game.over
        if rows[trial].state == "done" or (game.position == rows[trial].n_attempts and not over):
            continue
        changed.append(
            {
                "trial": trial,
                "actions": game.actions,
                "n_attempts": game.position,
                "n_errors": game.n_errors,
                "episode": game.episode,
                "state": "done" if over else "playing",
                "changed_at": moment,
                "finished_at": moment if over else None,
            }
        )
    if changed:
        rows_of_trials = update(RemoteTrial).where(RemoteTrial.id == bindparam("trial"))
        session.connection().execute(rows_of_trials, changed)


def _mark_begun(session: Session, attempt: EntryAttempt, address: str) -> None:
    attempt.begun_at = now()
    keep_address(session, attempt, address)
    attempt.entry.season.touch()
    by, number = attempt.entry.account_id, attempt.number
    note(session, "first move", "entry", attempt.entry_id, by=by, number=number)


def keep_address(session: Session, attempt: EntryAttempt, address: str) -> None:
    """Store a keyed hash of the address of an attempt's first move or log."""
    if attempt.begun_from is None:
        key = server_secret(session) + attempt.entry.season.name.encode()
        attempt.begun_from = hmac.new(key, address.encode(), hashlib.sha256).hexdigest()


# -- attempts in play ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An attempt that was begun and not played to its end; it prints as a sentence.

    Parameters
    ----------
    entry_id : int
    attempt, n_attempts : int
        Its number, and how many attempts its entry has begun.
    episode, n_episodes : int
        Number of finished episodes of the unfinished trial that is furthest, and of its boards.
    n_done, n_trials : int
        Trials played to their end, and trials in all.
    errors : int
        Attempts so far that were not accepted, in all trials.
    closed : bool
        Whether it was closed, so that its unplayed part is scored as errors.
    """

    entry_id: int
    attempt: int
    n_attempts: int
    episode: int
    n_episodes: int
    n_done: int
    n_trials: int
    errors: int
    closed: bool

    def __str__(self) -> str:
        which = f"attempt {self.attempt} of {self.n_attempts}"
        where = f"episode {self.episode + 1} of {self.n_episodes}"
        done = f"{self.n_done} of {self.n_trials} trials done, {self.errors} errors so far"
        if self.closed:
            return f"{which} abandoned at {where}: {done}, the rest scored as errors"
        return f"{which} unfinished at {where}: {done}"


def unfinished_attempts(
    session: Session, season_id: int, entry_id: int | None = None
) -> list[Unfinished]:
    """Return the unfinished attempts of a season in their current state, oldest first.

    With ``entry_id``, return those of one entry only.
    """
    playing = RemoteTrial.state != "done"
    of_entry = (
        select(func.count())
        .where(EntryAttempt.entry_id == Entry.id)
        .correlate(Entry)
        .scalar_subquery()
    )
    query = (
        select(
            Entry.id,
            EntryAttempt.number,
            of_entry,
            func.max(RemoteTrial.episode).filter(playing),
            Season.episodes,
            func.count().filter(RemoteTrial.state == "done"),
            func.count(),
            func.sum(RemoteTrial.n_errors),
            EntryAttempt.closed_at.is_not(None),
        )
        .join(EntryAttempt, EntryAttempt.entry_id == Entry.id)
        .join(RemoteTrial, RemoteTrial.attempt_id == EntryAttempt.id)
        .join(Season, Season.id == Entry.season_id)
        .where(Entry.season_id == season_id, EntryAttempt.begun_at.is_not(None))
        .group_by(Entry.id, EntryAttempt.id, Season.id)
        .having(func.count().filter(playing) > 0)
        .order_by(EntryAttempt.id)
    )
    if entry_id is not None:
        query = query.where(Entry.id == entry_id)
    return [Unfinished(*row) for row in session.execute(query)]


def accounts_of_one_address(session: Session, season_id: int) -> list[tuple[str, ...]]:
    """Return the groups of accounts that began attempts from the same address, for moderators."""
    query = (
        select(EntryAttempt.begun_from, Account.name)
        .join(Entry, EntryAttempt.entry_id == Entry.id)
        .join(Account, Account.id == Entry.account_id)
        .where(Entry.season_id == season_id, EntryAttempt.begun_from.is_not(None))
        .distinct()
        .order_by(EntryAttempt.begun_from, Account.name)
    )
    groups: dict[str, list[str]] = {}
    for address, account in session.execute(query):
        groups.setdefault(str(address), []).append(account)
    return sorted({tuple(names) for names in groups.values() if len(names) > 1})


def close_attempt(session: Session, entry_id: int, number: int, *, account_id: int) -> None:
    """Close a begun attempt: its unplayed part is scored as errors.

    Raises Refusal: this account has no such attempt, or the attempt was not begun or has no open
    trial.
    """
    attempt = attempt_of(own_entry(session, entry_id, account_id), number)
    if attempt.begun_at is None:
        raise Conflict(f"attempt {number} of entry {entry_id} has no move yet: nothing is counted")
    if _close(session, attempt, by=account_id) == 0:
        raise Conflict(f"attempt {number} of entry {entry_id} is finished or closed already")


def close_unfinished(database: Database) -> int:
    """Close the open attempts of seasons that are over; return their number."""
    with database.reading() as session:
        playing = select(RemoteTrial.attempt_id).where(RemoteTrial.state == "playing")
        over = session.scalars(
            select(EntryAttempt.id)
            .join(Entry, EntryAttempt.entry_id == Entry.id)
            .join(Season, Season.id == Entry.season_id)
            .where(
                EntryAttempt.begun_at.is_not(None),
                EntryAttempt.closed_at.is_(None),
                or_(Season.closes_at <= now(), Season.revealed_at.is_not(None)),
                EntryAttempt.id.in_(playing),
            )
            .order_by(EntryAttempt.id)
        ).all()
    for attempt_id in over:
        with database.writing() as session:
            _close(session, session.get_one(EntryAttempt, attempt_id), by=None)
    return len(over)


def _close(session: Session, attempt: EntryAttempt, *, by: int | None) -> int:
    """Fill the rest of an attempt with errors; return the number of open trials."""
    trials = session.scalars(
        select(RemoteTrial)
        .where(RemoteTrial.attempt_id == attempt.id, RemoteTrial.state == "playing")
        .order_by(RemoteTrial.id)
        .with_for_update()
    ).all()
    if not trials:
        return 0
    assignment = assignment_of(attempt)
    for trial in trials:
        game = RemoteGame.of(assignment, trial.rule.name, trial.number, trial.actions, reveal=True)
        game.abandon()
        trial.actions, trial.state = game.actions, "abandoned"
        trial.changed_at = trial.finished_at = now()
    attempt.closed_at = now()
    attempt.entry.season.touch()
    note(
        session,
        "attempt closed",
        "entry",
        attempt.entry_id,
        by=by,
        number=attempt.number,
        trials=len(trials),
    )
    return len(trials)


# -- played attempts -------------------------------------------------------------------------------


def queue_played(database: Database, settings: Settings) -> int:
    """Submit every attempt whose trials have all been played; return their number.

    The server's own log is queued and replayed like any other log.
    """
    with database.reading() as session:
        unplayed = select(RemoteTrial.attempt_id).where(RemoteTrial.state == "playing")
        submitted = select(Submission.attempt_id)
        ready = session.scalars(
            select(RemoteTrial.attempt_id)
            .where(
                RemoteTrial.attempt_id.not_in(unplayed), RemoteTrial.attempt_id.not_in(submitted)
            )
            .distinct()
        ).all()
    for attempt_id in ready:
        try:
            _submit(database, settings, attempt_id)
        except Exception:
            # Tried again at the next sweep; the other attempts continue.
            _log.exception("attempt %d was played, and cannot be submitted", attempt_id)
    return len(ready)


def _submit(database: Database, settings: Settings, attempt_id: int) -> None:
    """Store the log of an attempt, and queue it."""
    with database.reading() as session:
        attempt = session.get_one(EntryAttempt, attempt_id)
        learner = attempt.entry.name
        data, n_attempts = _whole_log(attempt)
    sha256 = hashlib.sha256(data).hexdigest()
    keep_bytes(settings, sha256, data)
    with database.writing() as session:
        attempt = session.get_one(EntryAttempt, attempt_id, with_for_update=True)
        if session.scalar(select(Submission.id).where(Submission.attempt_id == attempt_id)):
            return
        submission = Submission(
            season_id=attempt.entry.season_id,
            attempt_id=attempt_id,
            origin="server",
            manifest={"format": 1, "learner": learner, "config": {}, "card": None, "totals": []},
            log_sha256=sha256,
            log_format="zip",
            log_bytes=len(data),
            n_attempts=n_attempts,
        )
        session.add(submission)
        session.flush()
        set_state(session, submission, "queued", "waiting for a worker")
        session.add(Job(submission_id=submission.id))


def _whole_log(attempt: EntryAttempt) -> tuple[bytes, int]:
    """Return the log of an attempt in the form of an upload, and its number of attempts."""
    assignment = assignment_of(attempt)
    trials = {
        (trial.rule.name, trial.number): RemoteGame.of(
            assignment, trial.rule.name, trial.number, trial.actions
        ).log()
        for trial in attempt.remote_trials
    }
    return write_log(trials), sum(log.actions.size for log in trials.values())
