"""Entries of a season: registration of learners, further attempts, withdrawal."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.accounts import clean_link, clean_name, clean_text, name_key, note
from gnomon_board.database.columns import now
from gnomon_board.database.schema import Entry, EntryAttempt, Season, Submission
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.leaderboard.assignment import assign
from gnomon_board.leaderboard.seasons import check_open

#: Most learners that one account may register in a season.
MAX_ENTRIES = 50


def find_entry(session: Session, entry_id: int) -> Entry:
    """Return an entry; raise :class:`Missing` if there is none."""
    entry = session.get(Entry, entry_id)
    if entry is None:
        raise Missing(f"there is no entry {entry_id}")
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
