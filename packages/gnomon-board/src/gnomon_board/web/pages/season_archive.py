"""Archive of a season: its tables, standings and citation in one file.

The same state of a season gives the same bytes, so that a checksum identifies the cited state. Logs
are not included; ``SHA256SUMS`` and the hashes of the logs identify those that belong to it.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Self
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from gnomon.files import csv_text, write_atomically
from gnomon_board.database.schema import Entry, EntryAttempt, Season, Submission, VerifiedTrial
from gnomon_board.errors import Conflict
from gnomon_board.leaderboard.server_settings import Settings
from gnomon_board.leaderboard.standing_snapshots import Snapshot
from gnomon_board.web.api.records import EntryRecord, SeasonRecord, SubmissionRecord

_SUBJECT = "standings of a season of the Game of Hidden Rules"
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
#: One at a time: for a season with thousands of entries it takes seconds.
_BUILDING = Lock()
_TRIALS = (
    *("submission", "entry", "rule", "trial", "tce", "errors_to_learn", "n_episodes"),
    *("n_attempts", "n_moves", "n_cleared", "log_sha256"),
)
_README = """{title}

Season {season} of a Gnomon leaderboard, as it was at version {version}. How to cite it:
citation.bib. A row of scores.csv is a trial;
`gnomon rank scores.csv --where ranked=yes` compares the learners. In standings.json each account
counts once. trials.csv lists the submission of each trial, and the SHA-256 of its log.
SHA256SUMS is read by `sha256sum --check`.
"""


@dataclass(frozen=True)
class Citation:
    """A season as a reference: what it is called, of which state, from where.

    Parameters
    ----------
    season, title : str
    version : int
        Of the season: it counts every change.
    date : date
        When the season ended, or began if it goes on.
    url : str
        Of its standings; empty if the world has none.
    publisher : str
        Who runs the board.
    """

    season: str
    title: str
    version: int
    date: datetime.date
    url: str
    publisher: str

    @property
    def bibtex(self) -> str:
        r"""The entry for BibTeX.

        Examples
        --------
        >>> date = datetime.date(2026, 3, 2)
        >>> cited = Citation("spring", "50% {x}", 3, date, "https://b.org/seasons/spring", "b.org")
        >>> print(cited.bibtex, end="")
        @misc{gnomon-spring-v3,
          title = {{50\% \{x\}}: standings of a season of the Game of Hidden Rules},
          author = {{b.org}},
          year = {2026},
          version = {3},
          howpublished = {\url{https://b.org/seasons/spring}},
        }
        """
        fields = {
            "title": f"{{{_latex(self.title)}}}: {_SUBJECT}",
            "author": f"{{{_latex(self.publisher)}}}",
            "year": str(self.date.year),
            "version": str(self.version),
            "howpublished": rf"\url{{{self.url}}}" if self.url else "",
        }
        lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
        return f"@misc{{gnomon-{self.season}-v{self.version},\n{''.join(lines)}}}\n"

    @classmethod
    def of(cls, season: Season, settings: Settings) -> Self:
        """Return the citation of the current state of a season."""
        site = settings.public_url.rstrip("/")
        return cls(
            season.name,
            season.title,
            season.version,
            (season.closes_at or season.created_at).date(),
            f"{site}/seasons/{season.name}" if site else "",
            urlsplit(site).netloc or "Gnomon leaderboard",
        )


@dataclass(frozen=True)
class Archive:
    """A written archive: its path, name and checksum."""

    path: Path
    name: str
    sha256: str


def season_archive(
    session: Session,
    settings: Settings,
    season: Season,
    snapshot: Snapshot | None,
    scores: Iterable[str],
    citation: Citation,
) -> Archive:
    """Return the archive of the current state of a season, made once for each version.

    ``scores`` returns the text of the table of scores when needed.

    Raises Conflict: the standings are still being computed, or an archive is being made.
    """
    if snapshot is None or not snapshot.is_current:
        raise Conflict("the standings are being computed; ask for the archive again in a minute")
    folder = settings.archives
    path = folder / f"{season.id}-{season.version}.zip"
    if not path.exists():
        # Other requests do not wait: hundreds of waiting ones would hold all threads.
        if not _BUILDING.acquire(blocking=False):
            raise Conflict("an archive is being made; ask again in a minute")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            files = _files(session, season, snapshot, "".join(scores), citation)
            write_atomically(path, _packed(f"{season.name}-v{season.version}", files))
        finally:
            _BUILDING.release()
        for older in set(folder.glob(f"{season.id}-*.zip")) - {path}:
            older.unlink(missing_ok=True)
    name = f"{season.name}-v{season.version}.zip"
    return Archive(path, name, _sha256_of(path, path.stat().st_mtime_ns))


@lru_cache(maxsize=64)
def _sha256_of(path: Path, changed_ns: int) -> str:
    """Return the checksum of a file at a modification time; each is read once."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(
    session: Session, season: Season, snapshot: Snapshot, scores: str, citation: Citation
) -> dict[str, str]:
    entries = session.scalars(
        select(Entry)
        .where(Entry.season_id == season.id)
        .options(joinedload(Entry.account), selectinload(Entry.attempts))
        .order_by(Entry.id)
    )
    submissions = session.scalars(
        select(Submission)
        .where(Submission.season_id == season.id)
        .options(
            joinedload(Submission.attempt)
            .joinedload(EntryAttempt.entry)
            .selectinload(Entry.attempts)
        )
        .order_by(Submission.id)
    )
    return {
        "README.md": _README.format(title=season.title, season=season.name, version=season.version),
        "citation.bib": citation.bibtex,
        "season.json": _json(SeasonRecord.of(season).model_dump(mode="json")),
        "entries.json": _json([EntryRecord.of(x).model_dump(mode="json") for x in entries]),
        "submissions.json": _json([_submission(x) for x in submissions]),
        "trials.csv": csv_text(_trials(session, season), _TRIALS),
        "scores.csv": scores,
        "standings.json": _json(snapshot.standings.as_record()),
    }


def _submission(submission: Submission) -> dict[str, Any]:
    return SubmissionRecord.of(submission).model_dump(mode="json", exclude={"ahead", "expected_s"})


def _trials(session: Session, season: Season) -> Iterator[Mapping[str, Any]]:
    names = {rule.id: rule.name for rule in season.rules}
    columns = [getattr(VerifiedTrial, name) for name in _TRIALS[4:]]
    rows = session.execute(
        select(
            VerifiedTrial.submission_id,
            EntryAttempt.entry_id,
            VerifiedTrial.rule_id,
            VerifiedTrial.number,
            *columns,
        )
        .join(Submission, VerifiedTrial.submission_id == Submission.id)
        .join(EntryAttempt, Submission.attempt_id == EntryAttempt.id)
        .where(Submission.season_id == season.id)
        .order_by(VerifiedTrial.id)
    )
    for row in rows:
        record = dict(zip(_TRIALS, row, strict=True))
        yield record | {"rule": names[record["rule"]]}


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _packed(folder: str, files: Mapping[str, str]) -> bytes:
    """Return a ZIP file that depends on the files only, without dates and owners.

    Examples
    --------
    >>> _packed("a", {"b": "c"}) == _packed("a", {"b": "c"})
    True
    """
    data = {name: text.encode() for name, text in files.items()}
    sums = "".join(f"{hashlib.sha256(x).hexdigest()}  {name}\n" for name, x in data.items())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in {**data, "SHA256SUMS": sums.encode()}.items():
            info = zipfile.ZipInfo(f"{folder}/{name}", (1980, 1, 1, 0, 0, 0))
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(info, content)
    return out.getvalue()


def _latex(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in re.sub(r"\s+", " ", text))
