"""Registration of learners as entries of a season, and assignment of their attempts."""

from __future__ import annotations

import hashlib

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.accounts import clean_link, clean_name, clean_text, name_key, note, server_secret
from gnomon_board.database.columns import now
from gnomon_board.database.schema import (
    Account,
    Entry,
    EntryAttempt,
    RemoteTrial,
    Season,
    SeasonRule,
    Submission,
)
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gohr import ExperimentConfig
from gohr.experiments import Assignment, assigned_seed

#: How many learners one account may register in a season.
MAX_ENTRIES = 50


def find_season(session: Session, name: str) -> Season:
    """Return a season by its name; a :class:`Missing` tells that there is none."""
    season = session.scalar(select(Season).where(Season.name == name))
    if season is None:
        raise Missing(f"there is no season {name[:64]!r}")
    return season


def find_rule(season: Season, name: str) -> SeasonRule:
    """Return a rule of a season; a :class:`Missing` tells that there is none."""
    for rule in season.rules:
        if rule.name == name:
            return rule
    raise Missing(f"season {season.name} has no rule {name[:64]!r}")


def find_entry(session: Session, entry_id: int) -> Entry:
    """Return an entry; a :class:`Missing` tells that there is none."""
    entry = session.get(Entry, entry_id)
    if entry is None:
        raise Missing(f"there is no entry {entry_id}")
    return entry


def attempt_of(entry: Entry, number: int) -> EntryAttempt:
    """Return an attempt of an entry; a :class:`Missing` tells that there is none."""
    for attempt in entry.attempts:
        if attempt.number == number:
            return attempt
    raise Missing(f"entry {entry.id} has no attempt {number}")


def check_open(season: Season) -> None:
    """Refuse with a :class:`NotAllowed` what comes before the season opens or after it closed."""
    if season.opens_at is not None and now() < season.opens_at:
        raise NotAllowed(f"season {season.name} opens on {season.opens_at:%Y-%m-%d %H:%M} UTC")
    if season.closes_at is not None and now() >= season.closes_at:
        raise NotAllowed(f"season {season.name} closed on {season.closes_at:%Y-%m-%d %H:%M} UTC")


def takes_entries(season: Season) -> bool:
    """Whether a season is open now."""
    try:
        check_open(season)
    except NotAllowed:
        return False
    return True


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

    Raises Refusal: the season is not open, a text cannot be shown, the name is that of another
    entry or looks like it, or the account has fifty entries already.
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
    _assign(session, entry, 1)
    season.touch()
    note(session, "entry registered", "entry", entry.id, by=account_id, season=season.name)
    return entry


def new_attempt(session: Session, entry: Entry) -> EntryAttempt:
    """Assign the next attempt, on other boards; it is counted from now on, played or not.

    Raises Refusal: the season is not open, the entry is withdrawn, the last attempt has not been
    submitted yet, or there are no more.
    """
    check_open(entry.season)
    if entry.withdrawn_at is not None:
        raise NotAllowed(f"entry {entry.id} is withdrawn")
    last = max(entry.attempts, key=lambda attempt: attempt.number)
    used = session.scalar(select(Submission).where(Submission.attempt_id == last.id))
    if used is None or used.state == "uploading":
        raise Conflict(f"attempt {last.number} of entry {entry.id} is still to be submitted")
    most = entry.season.max_attempts
    if most is not None and last.number >= most:
        raise NotAllowed(f"season {entry.season.name} allows {most} attempts of an entry")
    attempt = _assign(session, entry, last.number + 1)
    entry.season.touch()
    note(session, "attempt assigned", "entry", entry.id, by=entry.account_id, number=attempt.number)
    return attempt


def withdraw_entry(session: Session, entry: Entry, reason: str, *, by: int) -> None:
    """Take an entry off the board; everything of it stays to be seen, with the reason."""
    if entry.withdrawn_at is not None:
        raise Conflict(f"entry {entry.id} is withdrawn already")
    entry.withdrawn_at, entry.withdrawn_reason = now(), clean_text(reason, "reason")
    entry.season.touch()
    note(session, "entry withdrawn", "entry", entry.id, by=by)


def assignment_of(attempt: EntryAttempt) -> Assignment:
    """Return what an attempt has to play, with the texts of its rules, hidden ones too."""
    season = attempt.entry.season
    rules = season.rules
    if season.division == "hidden":
        rules = list(dict.fromkeys(trial.rule for trial in attempt.remote_trials))
    config = ExperimentConfig.from_record(
        {
            "name": f"{season.name}-entry-{attempt.entry_id}-attempt-{attempt.number}",
            "rules": [{"name": rule.name, "text": rule.text} for rule in rules],
            "learners": ["uniform"],
            "trials": season.trials,
            "episodes": season.episodes,
            "horizon": season.horizon,
            "seed": attempt.seed,
            "board": season.board,
        },
        try_learners=False,
    )
    return Assignment.of(config)


def _assign(session: Session, entry: Entry, number: int) -> EntryAttempt:
    season = entry.season
    seed = assigned_seed(server_secret(session), season.name, entry.id, number)
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

    The draw follows from the season's salt and the numbers of entry and attempt, so that it can be
    checked after the reveal.
    """
    entry, season = attempt.entry, attempt.entry.season
    # Of two attempts that one account begins at once the second one waits here.
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
            f"season {season.name} deals a rule to an account once: an attempt takes {n}, and "
            f"{len(left)} are left"
        )
    text = f"{season.salt} {entry.id} {attempt.number}"
    rng = np.random.default_rng(int(hashlib.sha256(text.encode()).hexdigest(), 16))
    return [left[i] for i in rng.permutation(len(left))[:n].tolist()]
