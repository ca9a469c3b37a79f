"""Play of the hidden division: learners make attempts through the server, which keeps the rule.

An attempt is committed before its reply is sent, so that no board is played twice. An assignment
counts from its first move: while it is unfinished, its entry has no rank. Once all its trials are
over, the server stores its own log of them and queues it for replay. Closing an assignment, as the
end of a season does, plays its rest with moves that the rule rejects: the unplayed part counts as
errors.

Games in play are cached in memory: each is checked against its row, under the row's lock, before it
continues.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import Select, bindparam, or_, select, update
from sqlalchemy.orm import Session

from gnomon_board.database import Database, note
from gnomon_board.entries import assignment_of, attempt_of, own_entry
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.evidence import keep_bytes
from gnomon_board.game_cache import GameCache
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


def begin(session: Session, entry_id: int, number: int, *, account_id: int) -> AttemptPlay:
    """Return the trials of an assignment with their current state."""
    entry = own_entry(session, entry_id, account_id)
    season = entry.season
    if season.division != "hidden":
        raise NotAllowed(f"season {season.name} is of the {season.division} division: send a log")
    check_open(season)
    trials = session.execute(_TRIAL.where(RemoteTrial.attempt_id == attempt_of(entry, number).id))
    return AttemptPlay(
        season=season.name,
        entry=entry.id,
        learner=entry.name,
        attempt=number,
        board=season.board,
        episodes=season.episodes,
        horizon=season.horizon,
        trials=[TrialState(**row._mapping) for row in trials],
    )


#: The fields of a :class:`TrialState`.
_TRIAL = (
    select(
        RemoteTrial.id.label("trial"),
        SeasonRule.name.label("rule"),
        RemoteTrial.number,
        RemoteTrial.state,
        RemoteTrial.n_attempts.label("position"),
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
        *(RemoteTrial.attempt_id, EntryAttempt.begun_at, EntryAttempt.closed_at),
        *(Season.name, Season.opens_at, Season.closes_at),
    )
    .where(
        RemoteTrial.id.in_(bindparam("trials", expanding=True)),
        Entry.account_id == bindparam("account"),
    )
)
_FIND_LOCKED = _FIND.with_for_update(of=RemoteTrial)


def make_moves(
    database: Database, live: GameCache[RemoteGame], moves: Sequence[Move], *, account_id: int
) -> list[Reply]:
    """Make moves in several trials, all of them or none, and return a reply to each.

    The first move of an assignment begins it: from then on it counts and is shown on the board.
    """
    wanted = [move.trial for move in moves]
    if len(set(wanted)) < len(wanted):
        raise Conflict("expected one move in each trial, found two in one")
    games: dict[int, RemoteGame] = {}
    if cold := [trial for trial in wanted if trial not in live]:
        # Rebuilt before the write lock is taken.
        with database.reading() as session:
            found = session.execute(_FIND, {"trials": cold, "account": account_id})
            games = _rebuilt(session, found.all())
    with database.writing() as session:
        found = session.execute(_FIND_LOCKED, {"trials": wanted, "account": account_id})
        rows = {row.trial: row for row in found}
        for trial in wanted:
            _check_in_play(rows.get(trial), trial)
        games |= {t: game for t in wanted if t not in games and (game := live.take(t)) is not None}
        current = {t for t, game in games.items() if game.position == rows[t].position}
        games |= _rebuilt(session, [row for t, row in rows.items() if t not in current])
        replies = [games[move.trial].play(move) for move in moves]
        _write(session, rows, games)
        begun = {rows[t].attempt_id for t, game in games.items() if game.position}
        for number in begun & {row.attempt_id for row in rows.values() if not row.begun_at}:
            attempt = session.get_one(EntryAttempt, number)
            attempt.begun_at, entry = now(), attempt.entry
            entry.season.touch()
            by = entry.account_id
            note(session, "first move", "entry", entry.id, by=by, number=attempt.number)
    for trial, game in games.items():
        if not game.over:
            live.put_back(trial, game)
    return replies


def _rebuilt(session: Session, rows: Iterable[_Row]) -> dict[int, RemoteGame]:
    """Return the game of each trial in the state of its row."""
    assignments: dict[int, ExperimentConfig] = {}
    games = {}
    for row in rows:
        if row.attempt_id not in assignments:
            attempt = session.get_one(EntryAttempt, row.attempt_id)
            assignments[row.attempt_id] = assignment_of(attempt)
        actions = session.scalar(select(RemoteTrial.actions).where(RemoteTrial.id == row.trial))
        which = row.rule, row.number, actions or b""
        games[row.trial] = RemoteGame(assignments[row.attempt_id], *which)
    return games


def _check_in_play(row: _Row | None, trial: int) -> None:
    if row is None:
        raise Missing(f"there is no trial {trial} of this account")
    check_open(row)
    # After a wait for the lock the trial is current, but its assignment is not.
    if row.closed_at is not None or row.state == "abandoned":
        raise NotAllowed(f"trial {trial}: its assignment was closed; the rest is scored as errors")


def _write(session: Session, rows: Mapping[int, _Row], games: Mapping[int, RemoteGame]) -> None:
    """Write the changes to the database."""
    changed, moment = [], now()
    for trial, game in games.items():
        over = game.over
        if rows[trial].state == "done" or (game.position == rows[trial].position and not over):
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


# -- the end of assignments -----------------------------------------------------------------------


def close_attempt(session: Session, entry_id: int, number: int, *, account_id: int) -> None:
    """Close a begun assignment; a worker then scores its unplayed part as errors."""
    attempt = attempt_of(own_entry(session, entry_id, account_id), number)
    session.refresh(attempt, with_for_update=True)
    if attempt.begun_at is None:
        raise Conflict(
            f"assignment {number} of entry {entry_id} has no move yet: nothing is counted"
        )
    if attempt.closed_at is not None or not _mark_closed(session, attempt, by=account_id):
        raise Conflict(f"assignment {number} of entry {entry_id} is finished or closed already")


def _mark_closed(session: Session, attempt: EntryAttempt, *, by: int | None) -> bool:
    """Mark an assignment as closed; return False if all its trials are over."""
    n_open = len(session.scalars(_open_trials(attempt)).all())
    if n_open:
        attempt.closed_at = now()
        attempt.entry.season.touch()
        entry, number = attempt.entry_id, attempt.number
        note(session, "assignment closed", "entry", entry, by=by, number=number, trials=n_open)
    return n_open > 0


def _open_trials(attempt: EntryAttempt) -> Select[RemoteTrial]:
    of_attempt = RemoteTrial.attempt_id == attempt.id, RemoteTrial.state == "playing"
    return select(RemoteTrial).where(*of_attempt).order_by(RemoteTrial.id).with_for_update()


def close_unfinished(database: Database) -> None:
    """Close the open assignments of seasons that are over, and fill the rest of closed ones."""
    with database.reading() as session:
        playing = select(RemoteTrial.attempt_id).where(RemoteTrial.state == "playing")
        closed = session.scalars(
            select(EntryAttempt.id)
            .join(Entry, EntryAttempt.entry_id == Entry.id)
            .join(Season, Season.id == Entry.season_id)
            .where(
                EntryAttempt.begun_at.is_not(None),
                or_(EntryAttempt.closed_at.is_not(None), Season.closes_at <= now()),
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
    """Submit every assignment whose trials have all been played; return their number.

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
            # Tried again at the next sweep; the others continue.
            _log.exception("assignment %d was played, and cannot be submitted", attempt_id)
    return len(ready)


def _submit(database: Database, settings: Settings, attempt_id: int) -> None:
    """Store the log of an assignment, and queue it."""
    with database.reading() as session:
        attempt = session.get_one(EntryAttempt, attempt_id)
        learner, assignment = attempt.entry.name, assignment_of(attempt)
        trials = {
            (trial.rule.name, trial.number): RemoteGame(
                assignment, trial.rule.name, trial.number, trial.actions, interpreted=False
            ).trial.log()
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
            learner=learner,
            log_sha256=sha256,
            log_bytes=len(data),
            n_attempts=sum(log.actions.size for log in trials.values()),
        )
        session.add(submission)
        session.flush()
        enqueue(session, submission, "waiting for a worker")
