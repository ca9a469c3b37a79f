"""Entries of a season and their assignments, rows of the table of attempts."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.accounts import clean_name, clean_text, name_key, server_secret
from gnomon_board.database import find_row, note
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.schema import (
    Account,
    Entry,
    EntryAttempt,
    RemoteTrial,
    Season,
    SeasonRule,
    Submission,
)
from gnomon_board.seasons import check_open
from gohr import ExperimentConfig

#: Most learners that one account may register in a season.
MAX_ENTRIES = 50


def own_entry(session: Session, entry_id: int, account_id: int) -> Entry:
    """Return an entry of an account; raise NotAllowed for another's."""
    entry = find_row(session, Entry, entry_id)
    if entry.account_id != account_id:
        raise NotAllowed(f"entry {entry_id} is another account's")
    return entry


def attempt_of(entry: Entry, number: int) -> EntryAttempt:
    """Return an assignment of an entry; raise :class:`Missing` if there is none."""
    for attempt in entry.attempts:
        if attempt.number == number:
            return attempt
    raise Missing(f"entry {entry.id} has no assignment {number}")


def register(
    session: Session, season: Season, account_id: int, name: str, description: str = ""
) -> Entry:
    """Register a learner, and assign it its first boards.

    If the account has registered this name before, its entry is returned.
    """
    name = clean_name(name)
    other = session.scalar(
        select(Entry).where(Entry.season_id == season.id, Entry.name_key == name_key(name))
    )
    if other is not None and (other.account_id, other.name) == (account_id, name):
        return other
    check_open(season)
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
    )
    session.add(entry)
    session.flush()
    assign(session, entry, 1)
    season.touch()
    note(session, "entry registered", "entry", entry.id, by=account_id, season=season.name)
    return entry


def new_attempt(session: Session, entry: Entry) -> EntryAttempt:
    """Make the next assignment, of other boards; it counts from now on, played or not."""
    check_open(entry.season)
    last = max(entry.attempts, key=lambda attempt: attempt.number)
    used = session.scalar(select(Submission).where(Submission.attempt_id == last.id))
    if used is None or used.state == "uploading":
        if last.remote_trials and all(trial.finished_at for trial in last.remote_trials):
            raise Conflict(
                f"the log of assignment {last.number} of entry {entry.id} is still being written; "
                "try again in a few seconds"
            )
        raise Conflict(
            f"assignment {last.number} of entry {entry.id} has no log yet: finish or send it"
        )
    most = entry.season.max_attempts
    if most is not None and last.number >= most:
        raise NotAllowed(f"season {entry.season.name} allows {most} assignments of an entry")
    attempt = assign(session, entry, last.number + 1)
    entry.season.touch()
    note(session, "assignment made", "entry", entry.id, by=entry.account_id, number=attempt.number)
    return attempt


# -- assignment ------------------------------------------------------------------------------------


def assignment_of(attempt: EntryAttempt) -> ExperimentConfig:
    """Return what an assignment has to play, with the texts of its rules, hidden ones included."""
    season = attempt.entry.season
    rules = season.rules
    if season.division == "hidden":
        rules = list(dict.fromkeys(trial.rule for trial in attempt.remote_trials))
    return ExperimentConfig.from_record(
        {
            "name": f"{season.name}-entry-{attempt.entry_id}-attempt-{attempt.number}",
            "rules": [{"name": rule.name, "text": rule.text} for rule in rules],
            "learners": ["uniform"],
            "trials": season.trials,
            "episodes": season.episodes,
            "horizon": season.horizon,
            "seed": attempt.seed,
            "board": season.board,
        }
    )


def assign(session: Session, entry: Entry, number: int) -> EntryAttempt:
    """Add an assignment of an entry with its seed and, in a hidden season, its rules."""
    season = entry.season
    # An HMAC of its number, which cannot be predicted; databases and TOML readers take 63 bits.
    message = f"{season.name}\x00{entry.id}\x00{number}".encode()
    digest = hmac.new(server_secret(session), message, hashlib.sha256).digest()
    seed = int.from_bytes(digest, "big") >> (256 - 63)
    attempt = EntryAttempt(entry=entry, number=number, seed=seed)
    session.add(attempt)
    session.flush()
    if season.division == "hidden":
        session.add_all(
            RemoteTrial(attempt_id=attempt.id, rule_id=rule.id, number=number)
            for rule in _dealt_rules(session, attempt)
            for number in range(season.trials)
        )
        session.flush()
    return attempt


def _dealt_rules(session: Session, attempt: EntryAttempt) -> list[SeasonRule]:
    """Draw rules that the account has not been dealt before, in the order of play.

    The draw follows from the season's salt and the numbers of entry and assignment, so that it can
    be checked after the reveal.
    """
    entry, season = attempt.entry, attempt.entry.season
    # If one account begins two assignments at once, the second waits here.
    session.get_one(Account, entry.account_id, with_for_update=True)
    before = set(
        session.scalars(
            select(RemoteTrial.rule_id)
            .join(EntryAttempt, EntryAttempt.id == RemoteTrial.attempt_id)
            .join(Entry, Entry.id == EntryAttempt.entry_id)
            .where(Entry.season_id == season.id, Entry.account_id == entry.account_id)
        )
    )
    left = [rule for rule in season.rules if rule.id not in before]
    n = season.rules_per_attempt or len(season.rules)
    if len(left) < n:
        raise NotAllowed(
            f"season {season.name} deals a rule to an account once: an assignment takes {n}, "
            f"and {len(left)} are left"
        )
    text = f"{season.salt} {entry.id} {attempt.number}"
    rng = np.random.default_rng(int(hashlib.sha256(text.encode()).hexdigest(), 16))
    return [left[i] for i in rng.permutation(len(left))[:n].tolist()]
