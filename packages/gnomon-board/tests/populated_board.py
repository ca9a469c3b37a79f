"""A leaderboard with life in it: learners that really played, verified, refused, withdrawn, queued.

Everything on it follows from its seeds, so that screenshots of it are the same each time.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select

from gnomon_board import Settings
from gnomon_board.database import Database
from gnomon_board.schema import (
    Account,
    AuditRecord,
    Entry,
    EntryAttempt,
    Season,
    SeasonRule,
    Submission,
    VerifiedTrial,
)
from gohr import TrialLog
from gohr.experiments import (
    ExperimentConfig,
    attempt_bytes,
    episode_errors,
    score_trial,
    trials_of,
    write_log,
)
from gohr.rules import load_rule_text, rule_info

__all__ = ["LEARNERS", "copied", "populate", "populate_two_seasons"]

#: Name on the board, account, learner, and how often it was submitted.
LEARNERS: Sequence[tuple[str, str, dict[str, Any], int]] = (
    ("Slow and steady", "ada", {"kind": "reinforce"}, 1),
    ("REINFORCE, hasty", "grace", {"kind": "reinforce", "learning_rate": 0.4}, 1),
    ("Q-table", "grace", {"kind": "tabular_q"}, 2),
    ("Linear DQN", "edsger", {"kind": "linear_dqn", "actions": "occupied"}, 1),
    ("Never twice", "edsger", {"kind": "frugal"}, 1),
    ("Pure chance", "edsger", {"kind": "uniform"}, 1),
)

_WHEN = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.UTC)


def populate(
    database: Database,
    settings: Settings,
    *,
    name: str = "spring-2026",
    division: str = "replayed",
    rules: Sequence[str] = ("clockwise", "color-match", "top-and-bottom", "red-first"),
    hidden: Sequence[str] = (),
    learners: Sequence[tuple[str, str, dict[str, Any], int]] = LEARNERS,
    trials: int = 5,
    episodes: int = 40,
) -> int:
    """Add a season in which everything has happened that can happen; return its id."""
    config = {"trials": trials, "episodes": episodes, "horizon": 100}
    with database.writing() as session:
        season = _season(name, division, rules, hidden, config)
        session.add(season)
        session.flush()
        for learner, account, settings_of, n_attempts in learners:
            entry = _entry(session, season, learner, account)
            for number in range(1, n_attempts + 1):
                _verified(session, settings, season, entry, number, settings_of)
        _others(session, season)
        season.version += 1
        return season.id


def populate_two_seasons(database: Database, settings: Settings) -> None:
    """Add two seasons: one replayed, one with hidden rules."""
    populate(database, settings)
    populate(
        database,
        settings,
        name="autumn-2026",
        division="hidden",
        rules=(),
        hidden=(
            *("quadrant-clockwise", "stars-first", "clockwise", "color-match"),
            *("top-and-bottom", "red-first"),
        ),
        trials=1,
    )


def copied(folder: Path, to: Path) -> Settings:
    """Copy the data folder of a board; return the settings of the copy."""
    shutil.copytree(folder, to)
    return Settings(to)


def _season(
    name: str, division: str, rules: Sequence[str], hidden: Sequence[str], config: dict[str, Any]
) -> Season:
    rows = [
        SeasonRule(
            position=i,
            name=f"s-h{i - len(rules) + 1:02d}" if rule in hidden else rule,
            text=load_rule_text(rule),
            family=rule_info(rule).family,
            tags=list(rule_info(rule).tags),
            visibility="hidden" if rule in hidden else "public",
        )
        for i, rule in enumerate([*rules, *hidden])
    ]
    return Season(
        name=name,
        title=name.replace("-", " ").capitalize(),
        description="Nine pieces, four shapes, four colours; the fewest errors win.",
        division=division,
        board={"pieces": [9, 9], "shapes": [4, 4], "colors": [4, 4]},
        rules=rows,
        commitment=hashlib.sha256(name.encode()).hexdigest() if hidden else None,
        salt="never shown" if hidden else None,
        created_at=_WHEN,
        **config,
    )


def _account(session: Any, name: str) -> Any:
    found = session.scalar(select(Account).where(Account.name == name))
    if found is None:
        found = Account(name=name, name_key=name)
        session.add(found)
        session.flush()
    return found


def _entry(session: Any, season: Season, name: str, account: str, description: str = "") -> Entry:
    entry = Entry(
        season_id=season.id,
        account_id=_account(session, account).id,
        name=name,
        name_key=name.casefold(),
        description=description or f"{name}, as it comes with Gnomon.",
        created_at=_WHEN,
    )
    session.add(entry)
    session.flush()
    return entry


def _attempt(session: Any, entry: Entry, number: int) -> EntryAttempt:
    attempt = EntryAttempt(
        entry_id=entry.id, number=number, seed=1000 * entry.id + number, created_at=_WHEN
    )
    session.add(attempt)
    session.flush()
    return attempt


def _submission(session: Any, season: Season, attempt: EntryAttempt, **fields: Any) -> Submission:
    digest = hashlib.sha256(f"{season.name} {attempt.id}".encode()).hexdigest()
    values = {
        "state": "queued",
        "learner": attempt.entry.name,
        "log_sha256": digest,
        "log_bytes": 1000,
        "created_at": _WHEN,
        "changed_at": _WHEN,
        "queued_at": _WHEN,
    } | fields
    submission = Submission(season_id=season.id, attempt_id=attempt.id, **values)
    session.add(submission)
    session.flush()
    return submission


def _verified(
    session: Any,
    settings: Settings,
    season: Season,
    entry: Entry,
    number: int,
    learner: dict[str, Any],
) -> None:
    """Let a learner play, and put down what a verified submission leaves."""
    attempt = _attempt(session, entry, number)
    config = ExperimentConfig(
        season.name,
        [{"name": rule.name, "text": rule.text} for rule in season.rules],
        [{**learner, "name": entry.name}],
        trials=season.trials,
        episodes=season.episodes,
        horizon=season.horizon,
        seed=attempt.seed,
    )
    ids = {rule.name: rule.id for rule in season.rules}
    logs, rows = {}, []
    for trial in trials_of(config):
        log = trial.play()
        rows.append(_scores(log) | {"rule": trial.rule.name, "number": trial.number})
        logs[trial.rule.name, trial.number] = log
    data = write_log(logs)
    digest = hashlib.sha256(data).hexdigest()
    place = settings.evidence / digest[:2] / digest
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    submission = _submission(
        session,
        season,
        attempt,
        log_sha256=digest,
        learner=entry.name,
        state="verified",
        reason=f"all {len(rows)} trials were replayed",
        verified_at=_WHEN,
        n_attempts=sum(row["n_attempts"] for row in rows),
        origin="server" if season.division == "hidden" else "upload",
    )
    session.add_all(
        VerifiedTrial(submission_id=submission.id, rule_id=ids[row.pop("rule")], **row)
        for row in rows
    )
    _note(session, "submission verified", "submission", submission.id)


def _note(session: Any, action: str, subject: str, number: int) -> None:
    session.add(AuditRecord(action=action, subject=subject, subject_id=number))


def _scores(log: TrialLog) -> dict[str, Any]:
    """Return what a verified trial says of its attempts."""
    to_learn = float(score_trial(log, "errors_to_learn"))
    return {
        "tce": float(score_trial(log, "tce")),
        "errors_to_learn": to_learn if math.isfinite(to_learn) else None,
        "n_episodes": int(log.n_attempts.size),
        "n_attempts": int(log.n_attempts.sum()),
        "n_moves": int((log.outcomes == 0).sum()),
        "n_cleared": int((log.finish == 1).sum()),
        "curve": np.cumsum(episode_errors(log)).astype(int).tolist(),
        "log_sha256": hashlib.sha256(attempt_bytes(log)).hexdigest(),
    }


def _others(session: Any, season: Season) -> None:
    """Add what every board has besides: one refused, one waiting, one given up, one withdrawn."""
    for name, state, reason in (
        (
            "Too good",
            "refused",
            "rule clockwise, trial 3, episode 12, attempt 4: denied, not accepted",
        ),
        ("Half done", "queued", ""),
        ("Out of memory", "error", "verifying was given up: it took more than 4096 MB"),
    ):
        entry = _entry(session, season, name, "ada")
        _submission(session, season, _attempt(session, entry, 1), state=state, reason=reason)
    gone = _entry(session, season, "Second thoughts", "grace")
    attempt = _attempt(session, gone, 1)
    _submission(
        session, season, attempt, state="withdrawn", reason="the learner had a mistake in it"
    )
