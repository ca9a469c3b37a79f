"""Attempts in play: the first move, unfinished attempts, and closing.

While an attempt is unfinished after its first move, its entry has no rank. Closing it plays the
rest with moves that the rule rejects, so that the log is complete, is replayed like any other, and
the unplayed part counts as errors. The end of a season closes all open attempts.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from gnomon_board.accounts import note, server_secret
from gnomon_board.database.columns import now
from gnomon_board.database.engine import Database
from gnomon_board.database.schema import (
    Account,
    Entry,
    EntryAttempt,
    RemoteTrial,
    Season,
    SeasonRule,
)
from gnomon_board.errors import Conflict, NotAllowed
from gnomon_board.leaderboard.assignment import assignment_of
from gnomon_board.leaderboard.entries import attempt_of, find_entry
from gnomon_board.leaderboard.hidden.remote_game import RemoteGame


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An attempt that was begun and not played to its end.

    Parameters
    ----------
    entry_id, learner, account
        Whose it is.
    attempt, n_attempts : int
        Which of how many that its entry has begun.
    episode, n_episodes : int
        How many episodes of its trial that went furthest without ending are over, of how many.
    n_done, n_trials : int
        Trials played to their end, and trials in all.
    errors : int
        Attempts so far that were not accepted, of all its trials.
    closed : bool
        Whether it was given up, so that its unplayed part is scored as errors.
    """

    entry_id: int
    learner: str
    account: str
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


def mark_begun(session: Session, attempts: Collection[int], address: str) -> None:
    """Mark attempts as begun by their first move, so that they count from now on."""
    for attempt in attempts:
        row = session.get_one(EntryAttempt, attempt)
        row.begun_at = now()
        keep_address(session, row, address)
        row.entry.season.touch()
        note(
            session, "first move", "entry", row.entry_id, by=row.entry.account_id, number=row.number
        )


def keep_address(session: Session, attempt: EntryAttempt, address: str) -> None:
    """Store a keyed hash of the address of an attempt's first move or log."""
    if attempt.begun_from is None:
        key = server_secret(session) + attempt.entry.season.name.encode()
        attempt.begun_from = hmac.new(key, address.encode(), hashlib.sha256).hexdigest()


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
            Entry.name,
            Account.name,
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
        .join(Account, Account.id == Entry.account_id)
        .join(Season, Season.id == Entry.season_id)
        .where(Entry.season_id == season_id, EntryAttempt.begun_at.is_not(None))
        .group_by(Entry.id, Account.id, EntryAttempt.id, Season.id)
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
    entry = find_entry(session, entry_id)
    if entry.account_id != account_id:
        raise NotAllowed(f"entry {entry_id} is another account's")
    attempt = attempt_of(entry, number)
    if attempt.begun_at is None:
        raise Conflict(f"attempt {number} of entry {entry_id} has no move yet: nothing is counted")
    if _close(session, attempt, by=account_id) == 0:
        raise Conflict(f"attempt {number} of entry {entry_id} is finished or closed already")


def close_unfinished(database: Database) -> int:
    """Close the open attempts of seasons that are over; return their number."""
    with database.reading() as session:
        over = session.scalars(_unfinished_of_ended_seasons()).all()
    for attempt_id in over:
        with database.writing() as session:
            _close(session, session.get_one(EntryAttempt, attempt_id), by=None)
    return len(over)


def _unfinished_of_ended_seasons() -> Select[int]:
    return (
        select(EntryAttempt.id)
        .join(Entry, EntryAttempt.entry_id == Entry.id)
        .join(Season, Season.id == Entry.season_id)
        .where(
            EntryAttempt.begun_at.is_not(None),
            EntryAttempt.closed_at.is_(None),
            or_(Season.closes_at <= now(), Season.revealed_at.is_not(None)),
            EntryAttempt.id.in_(
                select(RemoteTrial.attempt_id).where(RemoteTrial.state == "playing")
            ),
        )
        .order_by(EntryAttempt.id)
    )


def _close(session: Session, attempt: EntryAttempt, *, by: int | None) -> int:
    """Fill the rest of an attempt with errors; return the number of open trials."""
    rows: Sequence[tuple[RemoteTrial, str]] = session.execute(
        select(RemoteTrial, SeasonRule.name)
        .join(SeasonRule, SeasonRule.id == RemoteTrial.rule_id)
        .where(RemoteTrial.attempt_id == attempt.id, RemoteTrial.state == "playing")
        .order_by(RemoteTrial.id)
        .with_for_update(of=RemoteTrial)
    ).all()
    if not rows:
        return 0
    assignment = assignment_of(attempt)
    for trial, rule in rows:
        game = RemoteGame.of(assignment, rule, trial.number, trial.actions)
        game.abandon()
        trial.actions, trial.state = game.actions, "abandoned"
        trial.changed_at = trial.finished_at = now()
    attempt.closed_at = now()
    attempt.entry.season.touch()
    note(
        session, "attempt closed", "entry", attempt.entry_id, by=by, number=attempt.number,
        trials=len(rows),
    )  # fmt: skip
    return len(rows)
