"""A season of so many learners, written into the tables as if they had played.

Errors are drawn around a skill of each learner, so that the board has an order; there are no logs.
Of a hundred learners two lack their last trial.
"""

from __future__ import annotations

import datetime
import hashlib
from typing import Any

import numpy as np
from sqlalchemy import insert

from gnomon_board import Settings
from gnomon_board.database import Database, upgrade
from gnomon_board.schema import (
    Account,
    Entry,
    EntryAttempt,
    Season,
    SeasonRule,
    Submission,
    VerifiedTrial,
)
from gohr.rules import load_rule_text, rule_info

__all__ = ["fill_season", "filled_board"]

_WHEN = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.UTC)
_RULES = ("clockwise", "color-match", "top-and-bottom", "red-first")


def fill_season(
    database: Database,
    n_learners: int,
    *,
    name: str = "crowd",
    division: str = "replayed",
    trials: int = 5,
    episodes: int = 40,
    seed: int = 0,
) -> int:
    """Add a season with so many verified learners of four rules; return its id."""
    rng = np.random.default_rng(seed)
    with database.writing() as session:
        season = Season(
            name=name,
            title=f"A season of {n_learners:,}",
            description="Nine pieces, four shapes, four colours; the fewest errors win.",
            division=division,
            board={"pieces": [9, 9], "shapes": [4, 4], "colors": [4, 4]},
            rules=[_rule(position, rule) for position, rule in enumerate(_RULES)],
            trials=trials,
            episodes=episodes,
            horizon=100,
            version=2,
            created_at=_WHEN,
        )
        session.add(season)
        session.flush()
        rule_ids = [rule.id for rule in season.rules]
        n_accounts = max(2, n_learners // 3)
        accounts = [
            {"name": f"{name} {i}", "name_key": f"{name} {i}", "created_at": _WHEN}
            for i in range(n_accounts)
        ]
        account_ids = list(session.scalars(insert(Account).returning(Account.id), accounts))
        entries = [_entry(season.id, account_ids[i % n_accounts], i) for i in range(n_learners)]
        entry_ids = list(session.scalars(insert(Entry).returning(Entry.id), entries))
        attempts = [
            {"entry_id": each, "number": 1, "seed": each, "created_at": _WHEN} for each in entry_ids
        ]
        attempt_ids = list(
            session.scalars(insert(EntryAttempt).returning(EntryAttempt.id), attempts)
        )
        rows = [_submission(season.id, name, attempt) for attempt in attempt_ids]
        submission_ids = list(session.scalars(insert(Submission).returning(Submission.id), rows))
        skills = rng.gamma(3.0, 40.0, n_learners)
        session.execute(
            insert(VerifiedTrial),
            [
                _trial(submission, rule, number, skill * hardness, episodes, rng)
                for i, (submission, skill) in enumerate(zip(submission_ids, skills, strict=True))
                for hardness, rule in enumerate(rule_ids, 1)
                for number in range(trials)
                if i % 50 != 7 or hardness < len(rule_ids) or number < trials - 1
            ],
        )
        return season.id


def filled_board(settings: Settings, n_learners: int, **season: Any) -> Database:
    """Make a board with one season of many learners; leave it open."""
    settings.data.mkdir(parents=True, exist_ok=True)
    database = Database(settings.database)
    upgrade(database)
    fill_season(database, n_learners, **season)
    return database


def _rule(position: int, rule: str) -> SeasonRule:
    info = rule_info(rule)
    return SeasonRule(
        position=position,
        name=rule,
        text=load_rule_text(rule),
        family=info.family,
        tags=list(info.tags),
        visibility="public",
    )


def _entry(season_id: int, account_id: int, i: int) -> dict[str, Any]:
    name = f"Learner {i:04d}"
    return {
        "season_id": season_id,
        "account_id": account_id,
        "name": name,
        "name_key": name.casefold(),
        "description": "Drawn, not played.",
        "created_at": _WHEN,
    }


def _submission(season_id: int, name: str, attempt_id: int) -> dict[str, Any]:
    return {
        "season_id": season_id,
        "attempt_id": attempt_id,
        "state": "verified",
        "reason": "",
        "learner": "x",
        "log_sha256": hashlib.sha256(f"{name} {attempt_id}".encode()).hexdigest(),
        "log_bytes": 1000,
        "n_attempts": 1000,
        "created_at": _WHEN,
        "changed_at": _WHEN,
        "verified_at": _WHEN,
    }


def _trial(
    submission: int, rule: int, number: int, mean: float, episodes: int, rng: np.random.Generator
) -> dict[str, Any]:
    counts = rng.poisson(mean * 0.9 ** np.arange(episodes) / 10.0)
    curve = np.cumsum(counts)
    return {
        "submission_id": submission,
        "rule_id": rule,
        "number": number,
        "tce": float(curve[-1]),
        "errors_to_learn": None,
        "n_episodes": episodes,
        "n_attempts": int(curve[-1]) + 9 * episodes,
        "n_moves": 9 * episodes,
        "n_cleared": episodes,
        "curve": curve.tolist(),
        "log_sha256": hashlib.sha256(f"{submission} {rule} {number}".encode()).hexdigest(),
    }
