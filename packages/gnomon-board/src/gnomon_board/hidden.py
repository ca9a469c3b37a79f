"""Play of the hidden division: learners make attempts through the server, which keeps the rule.

An attempt is committed before its reply is sent, so that no board is played twice. It counts from
its first move: while it is unfinished, its entry has no rank. Once all its trials are over, the
server stores its own log of them and queues it for replay. Closing an attempt, as the end of a
season does, plays its rest with moves that the rule rejects: the unplayed part counts as errors.

Games in play are cached in memory, which only saves a replay: each is checked against its row,
under the row's lock, before it continues.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Select, bindparam, or_, select, update
from sqlalchemy.orm import Session

from gnomon_board.accounts import note
from gnomon_board.database import Database
from gnomon_board.entries import assignment_of, attempt_of, own_entry
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.evidence import keep_bytes
from gnomon_board.remote_game import AttemptPlay, Move, RemoteGame, Reply, TrialState
from gnomon_board.schema import (
    Entry,
    EntryAttempt,
    RemoteTrial,
    Season,
    SeasonRule,
    Submission,
    now,
)
from gnomon_board.seasons import check_open
from gnomon_board.settings import Settings
from gnomon_board.submissions import enqueue
from gohr import ExperimentConfig
from gohr.experiments import write_log

_log = logging.getLogger("gnomon.worker")
#: A row of a query with named columns.
_Row: TypeAlias = Any
_Value = TypeVar("_Value")


class GameCache:
    """The games in play that were used last, and the assignments of their attempts."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._games: dict[int, RemoteGame] = {}
        self._assignments: dict[int, ExperimentConfig] = {}

    def game(self, session: Session, row: _Row) -> RemoteGame:
        """Return the game of a trial in the state of its row."""
        game = self._games.get(row.id)
        if game is None or game.position != row.n_attempts:
            assignment = self._assignments.get(row.attempt_id)
            if assignment is None:
                assignment = assignment_of(session.get_one(EntryAttempt, row.attempt_id))
            self._keep(self._assignments, row.attempt_id, assignment, most=256)
            actions = session.scalar(select(RemoteTrial.actions).where(RemoteTrial.id == row.id))
            game = RemoteGame(assignment, row.rule, row.number, actions or b"")
        self._keep(self._games, row.id, game, most=2048)
        return game

    def _keep(self, kept: dict[int, _Value], key: int, value: _Value, *, most: int) -> None:
        with self._lock:
            kept.pop(key, None)
            kept[key] = value
            while len(kept) > most:
                del kept[next(iter(kept))]

    def has(self, trial: int) -> bool:
        """Return whether the game of a trial is cached."""
        return trial in self._games

    def drop(self, trials: Iterable[int]) -> None:
        """Remove games that have ended, or whose last attempts were not committed."""
        with self._lock:
            for trial in trials:
                self._games.pop(trial, None)


def begin(session: Session, entry_id: int, number: int, *, account_id: int) -> AttemptPlay:
    """Return the trials of an attempt with their current state."""
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
) -> list[Reply]:
    """Make moves in several trials, all of them or none, and return a reply to each.

    The first move of an attempt begins it: from then on it counts and is shown on the board.
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
                _mark_begun(session, session.get_one(EntryAttempt, attempt))
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
                "state": "done" if over else "playing",
                "finished_at": moment if over else None,
            }
        )
    if changed:
        rows_of_trials = update(RemoteTrial).where(RemoteTrial.id == bindparam("trial"))
        session.connection().execute(rows_of_trials, changed)


def _mark_begun(session: Session, attempt: EntryAttempt) -> None:
    attempt.begun_at = now()
    attempt.entry.season.touch()
    by, number = attempt.entry.account_id, attempt.number
    note(session, "first move", "entry", attempt.entry_id, by=by, number=number)


# -- the end of attempts --------------------------------------------------------------------------


def close_attempt(session: Session, entry_id: int, number: int, *, account_id: int) -> None:
    """Close a begun attempt; a worker then scores its unplayed part as errors."""
    attempt = attempt_of(own_entry(session, entry_id, account_id), number)
    session.refresh(attempt, with_for_update=True)
    if attempt.begun_at is None:
        raise Conflict(f"attempt {number} of entry {entry_id} has no move yet: nothing is counted")
    if attempt.closed_at is not None or not _mark_closed(session, attempt, by=account_id):
        raise Conflict(f"attempt {number} of entry {entry_id} is finished or closed already")


def _mark_closed(session: Session, attempt: EntryAttempt, *, by: int | None) -> int:
    """Mark an attempt as closed, unless all its trials are over; return the number of the rest."""
    trials = session.scalars(_open_trials(attempt)).all()
    if trials:
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


def _open_trials(attempt: EntryAttempt) -> Select[RemoteTrial]:
    of_attempt = RemoteTrial.attempt_id == attempt.id, RemoteTrial.state == "playing"
    return select(RemoteTrial).where(*of_attempt).order_by(RemoteTrial.id).with_for_update()


def close_unfinished(database: Database) -> None:
    """Close the open attempts of seasons that are over, and fill the rest of closed ones."""
    with database.reading() as session:
        playing = select(RemoteTrial.attempt_id).where(RemoteTrial.state == "playing")
        over = Season.closes_at <= now(), Season.revealed_at.is_not(None)
        closed = session.scalars(
            select(EntryAttempt.id)
            .join(Entry, EntryAttempt.entry_id == Entry.id)
            .join(Season, Season.id == Entry.season_id)
            .where(
                EntryAttempt.begun_at.is_not(None),
                or_(EntryAttempt.closed_at.is_not(None), *over),
                EntryAttempt.id.in_(playing),
            )
            .order_by(EntryAttempt.id)
        ).all()
    for attempt_id in closed:
        with database.writing() as session:
            attempt = session.get_one(EntryAttempt, attempt_id, with_for_update=True)
            if attempt.closed_at is None:
                _mark_closed(session, attempt, by=None)
            assignment = assignment_of(attempt)
            for trial in session.scalars(_open_trials(attempt)):
                which = trial.rule.name, trial.number, trial.actions
                game = RemoteGame(assignment, *which, reveal=True, interpreted=False)
                game.abandon()
                trial.actions, trial.state = game.actions, "abandoned"
                trial.finished_at = now()


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
        learner, assignment = attempt.entry.name, assignment_of(attempt)
        trials = {
            (trial.rule.name, trial.number): RemoteGame(
                assignment, trial.rule.name, trial.number, trial.actions, interpreted=False
            ).log()
            for trial in attempt.remote_trials
        }
    data = write_log(trials)
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
            manifest={"learner": {"name": learner}},
            log_sha256=sha256,
            log_bytes=len(data),
            n_attempts=sum(log.actions.size for log in trials.values()),
        )
        session.add(submission)
        session.flush()
        enqueue(session, submission, "waiting for a worker")
