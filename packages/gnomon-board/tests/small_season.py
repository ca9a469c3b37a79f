"""A small leaderboard: accounts with tokens, and a season of two rules."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Boolean, Float, Integer, LargeBinary, String, Table, insert, select

from gnomon_board import Settings, token_for
from gnomon_board.database import Database, upgrade
from gnomon_board.schema import (
    AuditRecord,
    Base,
    Entry,
    EntryAttempt,
    Season,
    SeasonRule,
    Submission,
    VerifiedTrial,
    now,
)
from gohr.rules import load_rule

__all__ = ["add_submission", "empty_board", "fill", "make_account", "make_season"]


def empty_board(folder: Path) -> None:
    """Make the data folder of a server that has been started once."""
    folder.mkdir(parents=True)
    database = Database(Settings(folder).database)
    upgrade(database)
    token_for(database, "admin", ["admin"])
    database.close()


def make_account(database: Database, name: str, *scopes: str) -> str:
    """Add an account, and return a token of it."""
    return token_for(database, name, scopes)


def make_season(
    database: Database, name: str = "spring", division: str = "replayed", **changes: Any
) -> Season:
    """Add a small season: two rules, 2 trials of 3 episodes; the second rule may be hidden."""
    fields: dict[str, Any] = {
        "title": name.title(),
        "board": {"pieces": [9, 9], "shapes": [4, 4], "colors": [4, 4]},
        "trials": 2,
        "episodes": 3,
        "horizon": 50,
    } | changes
    hidden = division == "hidden"
    rules = [
        SeasonRule(position=0, name="clockwise", text=str(load_rule("clockwise"))),
        SeasonRule(
            position=1,
            name="s1-h01" if hidden else "color-match",
            text=str(load_rule("color-match")),
            visibility="hidden" if hidden else "public",
        ),
    ]
    with database.writing() as session:
        session.add(Season(**{"name": name, "division": division, "rules": rules} | fields))
    with database.reading() as session:
        season = session.scalar(select(Season).where(Season.name == name))
        assert season is not None
        assert season.rules
        return season


def fill(database: Database, settings: Settings, *, n_entries: int = 3) -> None:
    """Add a season whose every table has rows, with verified submissions and their evidence."""
    season = make_season(database, "filled")
    make_account(database, "ada", "submit", "moderate")
    for k in range(n_entries):
        add_submission(database, settings, season, k)
    with database.writing() as session:
        for table in Base.metadata.sorted_tables:
            if table.name not in _FILLED:
                session.execute(insert(table).values(_any_row(table)))


#: Filled by name; every other table gets one row of anything that its columns can hold.
_FILLED = {
    "accounts", "attempts", "audit_log", "entries",
    "season_rules", "seasons", "submissions", "tokens", "trials",
}  # fmt: skip


def _any_row(table: Table) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column in table.columns:
        if column.name == "id" or column.nullable:
            continue
        kind = column.type
        if isinstance(kind, Boolean):
            row[column.name] = True
        elif isinstance(kind, Integer):
            row[column.name] = 1
        elif isinstance(kind, String):
            row[column.name] = f"{table.name} {column.name}"[: kind.length]
        elif isinstance(kind, LargeBinary):
            row[column.name] = b"\x00\xff"
        elif isinstance(kind, Float):
            row[column.name] = 0.5
        elif isinstance(kind, JSON):
            row[column.name] = {"é": [1, None, "x"]}
        else:
            row[column.name] = now()
    return row


def add_submission(database: Database, settings: Settings, season: Season, k: int) -> Submission:
    """Add an entry with a verified submission, as if a worker had been there."""
    log = f"log {season.id} {k}".encode()
    sha256 = hashlib.sha256(log).hexdigest()
    kept = settings.evidence / sha256[:2] / sha256
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(log)
    with database.writing() as session:
        entry = Entry(
            season_id=season.id, account_id=1, name=f"Learner {k}", name_key=f"learner{k}"
        )
        attempt = EntryAttempt(entry=entry, number=1, seed=2**63 - 1 - k)
        submission = Submission(
            season_id=season.id,
            attempt=attempt,
            learner=f"Learner {k}",
            log_sha256=sha256,
            log_bytes=len(log),
            state="verified",
            reason="as if",
            verified_at=now(),
        )
        submission.trials = [
            VerifiedTrial(
                rule_id=rule.id,
                number=number,
                tce=10.0 * k + number,
                errors_to_learn=None if number else 3.5,
                n_episodes=3,
                n_attempts=100,
                n_moves=27,
                n_cleared=3,
                curve=[1, 2, 10 * k],
                log_sha256=hashlib.sha256(f"{k} {rule.id} {number}".encode()).hexdigest(),
            )
            for rule in season.rules
            for number in range(season.trials)
        ]
        session.add(submission)
        session.flush()
        session.get_one(Season, season.id).touch()
        session.add(AuditRecord(action="submission verified", subject="submission"))
    return submission
