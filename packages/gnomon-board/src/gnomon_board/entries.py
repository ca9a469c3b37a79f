"""Entries of a season and their attempts: registration, further attempts, progress, withdrawal."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.accounts import clean_link, clean_name, clean_text, name_key, note, server_secret
from gnomon_board.assignment import assign
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.schema import Account, Entry, EntryAttempt, RemoteTrial, Season, Submission, now
from gnomon_board.seasons import check_open

#: Most learners that one account may register in a season.
MAX_ENTRIES = 50


def find_entry(session: Session, entry_id: int) -> Entry:
    """Return an entry; raise :class:`Missing` if there is none."""
    entry = session.get(Entry, entry_id)
    if entry is None:
        raise Missing(f"there is no entry {entry_id}")
    return entry


def own_entry(session: Session, entry_id: int, account_id: int) -> Entry:
    """Return an entry of an account; raise NotAllowed if it is another account's."""
    entry = find_entry(session, entry_id)
    if entry.account_id != account_id:
        raise NotAllowed(f"entry {entry_id} is another account's")
    return entry


def attempt_of(entry: Entry, number: int) -> EntryAttempt:
    """Return an attempt of an entry; raise :class:`Missing` if there is none."""
    for attempt in entry.attempts:
        if attempt.number == number:
            return attempt
    raise Missing(f"entry {entry.id} has no attempt {number}")


def register(
    session: Session,
    season: Season,
    account_id: int,
    name: str,
    *,
    description: str = "",
    link: str = "",
) -> Entry:
    """Register a learner, and assign it the boards of its first attempt.

    Raises Refusal: the season is not open, a text cannot be shown, the name equals or looks like
    that of another entry, or the account has fifty entries already.
    """
    check_open(season)
    name = clean_name(name)
    other = session.scalar(
        select(Entry).where(Entry.season_id == season.id, Entry.name_key == name_key(name))
    )
    if other is not None:
        raise Conflict(f"name: {name!r} is taken, or looks like {other.name!r} (entry {other.id})")
    of_account = select(func.count()).where(
        Entry.season_id == season.id, Entry.account_id == account_id
    )
    if (session.scalar(of_account) or 0) >= MAX_ENTRIES:
        raise NotAllowed(f"expected at most {MAX_ENTRIES} entries of an account in a season")
    entry = Entry(
        season=season,
        account_id=account_id,
        name=name,
        name_key=name_key(name),
        description=clean_text(description),
        link=clean_link(link),
    )
    session.add(entry)
    session.flush()
    assign(session, entry, 1)
    season.touch()
    note(session, "entry registered", "entry", entry.id, by=account_id, season=season.name)
    return entry


def new_attempt(session: Session, entry: Entry) -> EntryAttempt:
    """Assign the next attempt, on other boards; it counts from now on, played or not.

    Raises Refusal: the season is not open, the entry is withdrawn, the last attempt has not been
    submitted yet, or no attempts are left.
    """
    check_open(entry.season)
    if entry.withdrawn_at is not None:
        raise NotAllowed(f"entry {entry.id} is withdrawn")
    last = max(entry.attempts, key=lambda attempt: attempt.number)
    used = session.scalar(select(Submission).where(Submission.attempt_id == last.id))
    if used is None or used.state == "uploading":
        raise Conflict(
            f"attempt {last.number} of entry {entry.id} has no log yet: finish or submit it first"
        )
    most = entry.season.max_attempts
    if most is not None and last.number >= most:
        raise NotAllowed(f"season {entry.season.name} allows {most} attempts of an entry")
    attempt = assign(session, entry, last.number + 1)
    entry.season.touch()
    note(session, "attempt assigned", "entry", entry.id, by=entry.account_id, number=attempt.number)
    return attempt


def withdraw_entry(session: Session, entry: Entry, reason: str, *, by: int) -> None:
    """Withdraw an entry from the board; its data stay visible, with the reason."""
    if entry.withdrawn_at is not None:
        raise Conflict(f"entry {entry.id} is withdrawn already")
    entry.withdrawn_at, entry.withdrawn_reason = now(), clean_text(reason, "reason")
    entry.season.touch()
    note(session, "entry withdrawn", "entry", entry.id, by=by)


# -- attempts that have begun ---------------------------------------------------------------------


def keep_address(session: Session, attempt: EntryAttempt, address: str) -> None:
    """Store a keyed hash of the address of an attempt's first move or log."""
    if attempt.begun_from is None:
        key = server_secret(session) + attempt.entry.season.name.encode()
        attempt.begun_from = hmac.new(key, address.encode(), hashlib.sha256).hexdigest()


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
