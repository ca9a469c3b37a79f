"""Static export of a leaderboard: HTML pages, and every table as JSON and CSV.

::

    index.html, seasons/..., ...    the pages, linked to each other by file names
    data/NAME.json, data/NAME.csv   seasons, rules, entries, attempts, submissions, trials, audit
    logs/N.FORMAT                   the logs, if wanted: from them every number can be made again

What the pages do not tell, such as the texts of hidden rules and who signed in, is not in it.
"""

from __future__ import annotations

import asyncio
import datetime
import html
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from gnomon._io.csv_cells import csv_text
from gnomon.database.engine import Database
from gnomon.database.schema import AuditRecord, Entry, Season, Submission, VerifiedTrial
from gnomon.errors import LeaderboardError
from gnomon.leaderboard.server_settings import ServerSettings
from gnomon.leaderboard.submissions.submission import shows_hidden_rules
from gnomon.leaderboard.submissions.uploaded_logs import evidence_path
from gnomon.web.api.records import (
    AuditLine,
    EntryRecord,
    SeasonRecord,
    SubmissionRecord,
    TrialRecord,
)

if TYPE_CHECKING:
    from fastapi import FastAPI

#: What needs a server: signing in, playing, programs.
_NEEDS_SERVER = re.compile(
    r"^/(api|account|sign-in|sign-out|submit|play|study|studies|compare|openapi\.json)(/|$)"
    r"|^/.*(/card|feed\.atom)$"
)
#: The same page in another order or with another summary of the errors; and its other pages.
_VIEWS = re.compile(
    r"^/seasons/[^?]+\?(metric=[a-z]+|by=errors|(by=errors&|show=[a-z]+&)?page=\d+|show=[a-z]+)$"
)
_LINK = re.compile(r'\b(href|src)="(/[^"]*)"')
_FORM = re.compile(r"<form\b.*?</form>", re.DOTALL)
_MOST_PAGES = 100_000


def write_pages(settings: ServerSettings, database: Database, out: Path) -> list[Path]:
    """Write every page that can be reached from the first one without signing in.

    Returns the files, the pages with what they need.
    """
    from gnomon.web.app import create_app

    unhurried = replace(settings, requests_per_minute=10 * _MOST_PAGES)
    pages = asyncio.run(_collect(create_app(unhurried, database)))
    paths = []
    for address, page in pages.items():
        path = out / page.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_relinked(address, pages) if page.is_html else page.body)
        paths.append(path)
    return paths


@dataclass(frozen=True)
class _Page:
    """An answer that is kept, under the name of a file."""

    body: bytes
    kind: str
    file: str

    @property
    def is_html(self) -> bool:
        return self.kind.startswith("text/html")


async def _collect(app: FastAPI) -> dict[str, _Page]:
    """Follow every link from the first page."""
    pages: dict[str, _Page] = {}
    waiting, seen = ["/"], {"/"}
    while waiting and len(pages) < _MOST_PAGES:
        address = waiting.pop()
        status, kind, body = await _get(app, address)
        if status != 200:
            continue
        is_html = kind.startswith("text/html")
        text = _FORM.sub("", body.decode()) if is_html else ""
        links = {_address(link) for _, link in _LINK.findall(text) if _is_kept(_address(link))}
        pages[address] = _Page(text.encode() if is_html else body, kind, _file_of(address, is_html))
        waiting += sorted(links - seen)
        seen |= links
    return pages


def _address(link: str) -> str:
    """Return what a link asks for, without the place on a page or the version of a static file."""
    address = html.unescape(link.partition("#")[0])
    return address.partition("?")[0] if address.startswith("/static/") else address


def _is_kept(link: str) -> bool:
    if link.startswith("//") or _NEEDS_SERVER.match(link):
        return False
    return "?" not in link or _VIEWS.match(link) is not None


def _file_of(address: str, is_html: bool) -> str:
    """Return the name of an address's file; nothing in an address leads out of the folder."""
    parts = [part for part in address.partition("#")[0].split("/") if part not in ("", ".", "..")]
    name = "/".join(re.sub(r"[^A-Za-z0-9._~-]", "_", part) for part in parts)
    if not is_html:
        return name
    return f"{name}.html" if name else "index.html"


def _relinked(address: str, pages: dict[str, _Page]) -> bytes:
    """Return a page whose links are names of files; one that leads nowhere is a link no more."""
    here = pages[address]
    folder = os.path.dirname(here.file) or "."

    def to_file(match: re.Match[str]) -> str:
        target, fragment = _address(match[2]), match[2].partition("#")[2]
        if target not in pages:
            return ""
        there = os.path.relpath(pages[target].file, folder)
        return f'{match[1]}="{there}{"#" + fragment if fragment else ""}"'

    text = _LINK.sub(to_file, here.body.decode())
    return _as_copy(text, datetime.datetime.now(datetime.UTC)).encode()


def _as_copy(page: str, made: datetime.datetime) -> str:
    """Say on a page that it is a copy, and let the style sheet hide what leads nowhere."""
    note = (
        f'<p class="notice">A copy of a leaderboard, made on {made:%Y-%m-%d}. '
        "What needs a server is not in it: playing, submitting, and watching replays.</p>"
    )
    page = page.replace("<html ", '<html class="copy" ', 1)
    return re.sub(r"<main\b[^>]*>", lambda match: f"{match[0]}\n{note}", page, count=1)


async def _get(app: FastAPI, address: str) -> tuple[int, str, bytes]:
    """Ask the application for a page, in this process."""
    said: list[dict[str, Any]] = []
    path, _, query = address.partition("#")[0].partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost"), (b"accept", b"text/html,*/*")],
        "client": ("127.0.0.1", 0),
        "server": ("localhost", 80),
    }

    asked = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if asked.is_set():
            await asyncio.Event().wait()  # nobody hangs up; whoever waits for it is cancelled
        asked.set()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        said.append(message)

    await app(scope, receive, send)
    headers = dict(said[0]["headers"])
    kind = headers.get(b"content-type", b"").decode()
    return said[0]["status"], kind, b"".join(part.get("body", b"") for part in said[1:])


_Record = Mapping[str, Any]


def export_board(
    settings: ServerSettings, database: Database, out: Path, *, logs: bool = False
) -> list[Path]:
    """Write everything that the board shows into a new folder.

    The server may be running. Returns the files.

    Raises LeaderboardError: the folder is not empty.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise LeaderboardError(f"{out}: expected a new or empty folder")
    (out / "data").mkdir(parents=True)
    with database.reading() as session:
        paths = [
            path
            for name, rows in _tables(session).items()
            for path in _write_table(out / "data", name, rows)
        ]
        if logs:
            paths += _copy_logs(settings, session, out / "logs")
    return paths + write_pages(settings, database, out)


def _tables(session: Session) -> dict[str, list[_Record]]:
    seasons = [SeasonRecord.of(x) for x in session.scalars(select(Season).order_by(Season.id))]
    entries = [EntryRecord.of(x) for x in session.scalars(select(Entry).order_by(Entry.id))]
    submissions = session.scalars(select(Submission).order_by(Submission.id))
    trials = select(VerifiedTrial).options(joinedload(VerifiedTrial.rule))
    trials = trials.order_by(VerifiedTrial.id).execution_options(yield_per=1000)
    public = select(AuditRecord).where(AuditRecord.public).order_by(AuditRecord.id)
    return {
        "seasons": [_plain(season, "rules") for season in seasons],
        "rules": [{"season": s.name} | _plain(rule) for s in seasons for rule in s.rules],
        "entries": [_plain(entry, "attempts") for entry in entries],
        "attempts": [{"entry": e.id} | _plain(attempt) for e in entries for attempt in e.attempts],
        "submissions": [_plain(SubmissionRecord.of(x), "ahead", "expected_s") for x in submissions],
        "trials": [
            {"submission": x.submission_id} | _plain(TrialRecord.of(x)) | {"curve": x.curve}
            for x in session.scalars(trials)
        ],
        "audit_log": [_plain(AuditLine.of(x)) for x in session.scalars(public)],
    }


def _plain(record: BaseModel, *without: str) -> dict[str, Any]:
    """Return a record as JSON can hold it, without some of its fields."""
    return record.model_dump(mode="json", exclude=set(without))


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
