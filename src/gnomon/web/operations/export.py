"""The whole board as files that need no server: pages, and every table as JSON and as CSV.

::

    index.html, seasons/..., ...    the pages, linked to each other
    data/NAME.json, data/NAME.csv   seasons, rules, entries, attempts, submissions, trials, audit
    logs/N.FORMAT                   the logs, if wanted: from them every number can be made again

What the pages do not tell, such as the texts of hidden rules and who signed in, is not in it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from gnomon.database.engine import Database
from gnomon.database.tables import (
    AuditRecord,
    Entry,
    Season,
    Submission,
    VerifiedTrial,
)
from gnomon.errors import LeaderboardError
from gnomon.leaderboard.csv_cells import csv_text
from gnomon.leaderboard.settings import ServerSettings
from gnomon.leaderboard.submissions.submission import shows_hidden_rules
from gnomon.leaderboard.submissions.upload import evidence_path
from gnomon.web.api.records import (
    AuditLine,
    EntryRecord,
    SeasonRecord,
    SubmissionRecord,
    TrialRecord,
)
from gnomon.web.operations.static_pages import write_pages

__all__ = ["export_board"]

_Record = Mapping[str, Any]


def export_board(
    settings: ServerSettings, database: Database, out: Path, *, logs: bool = False
) -> list[Path]:
    """Write everything that the board shows into a new folder.

    Parameters
    ----------
    settings, database
        Of a server, which may be running.
    out : Path
        New, or empty.
    logs : bool
        Whether to copy the logs too.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    LeaderboardError
        The folder is not empty.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise LeaderboardError(f"{out}: expected a new or empty folder")
    (out / "data").mkdir(parents=True)
    with database.reading() as session:
        paths = [
            path
            for name, rows in _tables(session).items()
            for path in _write_table(out / "data", name, list(rows))
        ]
        if logs:
            paths += _copy_logs(settings, session, out / "logs")
    return paths + write_pages(settings, database, out)


def _tables(session: Session) -> dict[str, Iterator[_Record]]:
    return {
        "seasons": _seasons(session),
        "rules": _rules(session),
        "entries": _entries(session),
        "attempts": _attempts(session),
        "submissions": _submissions(session),
        "trials": _trials(session),
        "audit_log": _audit_log(session),
    }


def _seasons(session: Session) -> Iterator[_Record]:
    for season in session.scalars(select(Season).order_by(Season.id)):
        yield SeasonRecord.of(season).model_dump(mode="json", exclude={"rules"})


def _rules(session: Session) -> Iterator[_Record]:
    for season in session.scalars(select(Season).order_by(Season.id)):
        for rule in SeasonRecord.of(season).rules:
            yield {"season": season.name} | rule.model_dump(mode="json")


def _entries(session: Session) -> Iterator[_Record]:
    for entry in session.scalars(select(Entry).order_by(Entry.id)):
        yield EntryRecord.of(entry).model_dump(mode="json", exclude={"attempts"})


def _attempts(session: Session) -> Iterator[_Record]:
    for entry in session.scalars(select(Entry).order_by(Entry.id)):
        for attempt in EntryRecord.of(entry).attempts:
            yield {"entry": entry.id} | attempt.model_dump(mode="json")


def _submissions(session: Session) -> Iterator[_Record]:
    unsent = {"ahead", "expected_s"}
    for each in session.scalars(select(Submission).order_by(Submission.id)):
        yield SubmissionRecord.of(each).model_dump(mode="json", exclude=unsent)


def _trials(session: Session) -> Iterator[_Record]:
    rows = select(VerifiedTrial).options(joinedload(VerifiedTrial.rule)).order_by(VerifiedTrial.id)
    for trial in session.scalars(rows.execution_options(yield_per=1000)):
        record = TrialRecord.of(trial).model_dump(mode="json")
        yield {"submission": trial.submission_id} | record | {"curve": trial.curve}


def _audit_log(session: Session) -> Iterator[_Record]:
    rows = select(AuditRecord).where(AuditRecord.public).order_by(AuditRecord.id)
    for record in session.scalars(rows):
        yield AuditLine.of(record).model_dump(mode="json")


def _write_table(folder: Path, name: str, rows: list[_Record]) -> list[Path]:
    as_json, as_csv = folder / f"{name}.json", folder / f"{name}.csv"
    as_json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    as_csv.write_text(csv_text(rows, list(rows[0]) if rows else []), encoding="utf-8")
    return [as_json, as_csv]


def _copy_logs(settings: ServerSettings, session: Session, folder: Path) -> list[Path]:
    """Copy the logs that may be seen now."""
    folder.mkdir()
    paths = []
    for each in session.scalars(select(Submission)):
        if each.log_sha256 is not None and not shows_hidden_rules(each):
            path = folder / f"{each.id}.{each.log_format}"
            shutil.copyfile(evidence_path(settings, each.log_sha256), path)
            paths.append(path)
    return paths
