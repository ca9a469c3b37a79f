"""Assignment of an attempt: the seed of its boards, and the rules that a hidden season deals it."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon_board.accounts import server_secret
from gnomon_board.errors import NotAllowed
from gnomon_board.schema import Account, Entry, EntryAttempt, RemoteTrial, SeasonRule
from gohr import ExperimentConfig

#: Seeds are integers that every database and every TOML reader can represent.
_SEED_BITS = 63


def assignment_of(attempt: EntryAttempt) -> ExperimentConfig:
    """Return the assignment of an attempt, with the texts of its rules, hidden ones included."""
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


def assigned_seed(secret: bytes, season: str, entry: int, attempt: int) -> int:
    """Return the seed of an attempt, an HMAC of its number, which cannot be chosen or predicted.

    ``secret``, at least 32 bytes, is known to the server only; attempts count from 1.

    Examples
    --------
    >>> assigned_seed(bytes(32), "spring", 7, 1) == assigned_seed(bytes(32), "spring", 7, 2)
    False
    """
    if len(secret) < 32:
        raise ValueError(f"secret: expected at least 32 bytes, found {len(secret)}")
    message = f"{season}\x00{entry}\x00{attempt}".encode()
    digest = hmac.new(secret, message, hashlib.sha256).digest()
    return int.from_bytes(digest, "big") >> (256 - _SEED_BITS)


def assign(session: Session, entry: Entry, number: int) -> EntryAttempt:
    """Add an attempt of an entry with its seed and, in a hidden season, its rules."""
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
    # If one account begins two attempts at once, the second waits here.
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
