"""Cached standings, computed once for each version of a season, large ones in the background.

A small board is computed while the reader waits. A large one takes longer (of 200 learners three
seconds, of 2,000 three to four minutes and 1.5 GB), so it is computed in a process of its own,
while pages show the board as it was, and say so. A change after which the scores are the same costs
nothing. What was computed is kept in the server's data folder too: a server that starts again need
not do it again.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock

import polars as pl
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from gnomon.files import write_atomically
from gnomon_board.database.engine import Database
from gnomon_board.database.schema import (
    Account,
    Entry,
    EntryAttempt,
    Season,
    Submission,
    VerifiedTrial,
)
from gnomon_board.leaderboard.hidden.begun_attempts import (
    BegunEntry,
    begun_entries,
    unfinished_attempts,
)
from gnomon_board.leaderboard.standing_records import Board, Contender, Standings
from gnomon_board.leaderboard.standings import standings_of

#: States of submissions whose scores count.
COUNTED = ("verified",)

#: So many learners that were registered and never shown are worth a word.
_MANY_MORE = 3
#: Entries times rules that are computed at once, in less time than a reader minds.
_SMALL = 150
#: How a snapshot is written; another number makes old files worthless.
SNAPSHOT_FORMAT = 5


@dataclass(frozen=True)
class Snapshot:
    """Standings, and whether they are those of the season as it is now."""

    standings: Standings
    is_current: bool


class StandingsCache:
    """Cache of the standings of all seasons, as new as can be had without waiting.

    Up to ``small`` entries times rules, a reader waits for the newest standings. Snapshots are kept
    in ``folder``.
    """

    def __init__(self, database: Database, folder: Path, *, small: int = _SMALL) -> None:
        self._database = database
        self._folder = folder
        self._small = small
        self._lock = Lock()
        self._known: dict[int, Standings] = {}
        self._digests: dict[int, str] = {}
        self._coming: dict[int, tuple[BaseProcess, Connection, str]] = {}

    def get(self, season_id: int, version: int) -> Snapshot | None:
        """Return the standings of a season, new or as they were before; None if none are ready."""
        known = self._known.get(season_id)
        if known is not None and known.version == version:
            return Snapshot(known, True)
        with self._lock:
            self._collect(season_id)
            known = self._known.get(season_id) or self._read(season_id, version)
            if known is None or known.version < version:
                known = self._renew(season_id, known)
        return None if known is None else Snapshot(known, known.version >= version)

    def close(self) -> None:
        """End what is being computed."""
        with self._lock:
            for process, connection, _ in self._coming.values():
                process.terminate()
                process.join()
                connection.close()
            self._coming.clear()

    def _renew(self, season_id: int, known: Standings | None) -> Standings | None:
        """Compute now if that is quick; else see to it that it is being computed."""
        if season_id in self._coming:
            return known
        with self._database.reading() as session:
            board = board_of(session, session.get_one(Season, season_id))
        digest = _digest(board)
        if known is not None and digest == self._digests.get(season_id):
            # Something else has changed: somebody registered who has played nothing yet.
            return self._keep(season_id, replace(known, version=board.version), digest)
        if len(board.contenders) * len(board.rules) <= self._small:
            return self._keep(season_id, standings_of(board), digest)
        # Spawned: a fork of a server with threads may hang. It ends with the server.
        context = multiprocessing.get_context("spawn")
        connection, far_end = context.Pipe(duplex=False)
        process = context.Process(target=_compute, args=(board, far_end), daemon=True)
        process.start()
        far_end.close()
        self._coming[season_id] = process, connection, digest
        return known

    def _collect(self, season_id: int) -> None:
        """Take what the process has computed, if it has."""
        if season_id not in self._coming:
            return
        process, connection, digest = self._coming[season_id]
        if not connection.poll() and process.is_alive():
            return
        del self._coming[season_id]
        # If the process died, there is nothing to take, and the next reader has it begun again.
        if connection.poll():
            with suppress(EOFError):
                self._keep(season_id, Standings.from_record(connection.recv()), digest)
        connection.close()
        process.join()

    def _keep(self, season_id: int, standings: Standings, digest: str) -> Standings:
        self._known[season_id], self._digests[season_id] = standings, digest
        record = {
            "format": SNAPSHOT_FORMAT,
            "digest": digest,
            "standings": standings.as_record(),
        }
        with suppress(OSError):  # a disk without room: it is known here, and computed again later
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(season_id), json.dumps(record, allow_nan=False).encode())
        return standings

    def _read(self, season_id: int, version: int) -> Standings | None:
        """Return what was computed before this process began; None if it is not to be had.

        What is newer than the season itself is of a board that was there before a restore.
        """
        try:
            record = json.loads(self._path(season_id).read_bytes())
            if record["format"] != SNAPSHOT_FORMAT:
                return None
            digest = record["digest"]
            found = Standings.from_record(record["standings"])
            if found.version > version:
                return None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        self._known[season_id], self._digests[season_id] = found, digest
        return found

    def _path(self, season_id: int) -> Path:
        return self._folder / f"{season_id}.json"


def _digest(board: Board) -> str:
    """Return a hash of all that standings are made of; the version is not part of it."""
    told = (board.season, dict(board.rules), board.trials, board.contenders, board.notes)
    scores = board.scores.sort("entry", "rule", "run").write_csv()
    return hashlib.sha256(f"{told!r}\n{scores}".encode()).hexdigest()


def _compute(board: Board, connection: Connection) -> None:
    """Compute standings in another process."""
    connection.send(standings_of(board).as_record())
    connection.close()


def board_of(session: Session, season: Season) -> Board:
    """Return all scores of a season, as the database has them."""
    contenders = _contenders(session, season)
    notes = _of_many(session, season, contenders)
    return _board(season, contenders, _scores(session, season), notes)


def board_of_some(session: Session, season: Season, contenders: Sequence[Contender]) -> Board:
    """Return the scores of some entries of a season, without reading those of all others."""
    only = VerifiedTrial.submission_id.in_(
        select(Submission.id)
        .join(EntryAttempt, Submission.attempt_id == EntryAttempt.id)
        .where(EntryAttempt.entry_id.in_([each.entry_id for each in contenders]))
    )
    return _board(season, contenders, _scores(session, season, only), ())


def _scores(session: Session, season: Season, *only: ColumnElement[bool]) -> pl.DataFrame:
    """Return a row for each trial that counts: entry, rule, run, score."""
    columns = (Entry.id, VerifiedTrial.rule_id, EntryAttempt.number, VerifiedTrial.number)
    rows = session.execute(
        select(*columns, VerifiedTrial.tce)
        .join(Submission, VerifiedTrial.submission_id == Submission.id)
        .join(EntryAttempt, Submission.attempt_id == EntryAttempt.id)
        .join(Entry, EntryAttempt.entry_id == Entry.id)
        .where(Submission.season_id == season.id, Submission.state.in_(COUNTED), *only)
    ).all()
    names = {rule.id: rule.name for rule in season.rules}
    kinds = {
        "entry": pl.Int64,
        "rule_id": pl.Int64,
        "attempt": pl.Int64,
        "number": pl.Int64,
        "score": pl.Float64,
    }
    frame = pl.DataFrame([tuple(row) for row in rows], schema=kinds, orient="row")
    return frame.select(
        "entry",
        pl.col("rule_id").replace_strict(names, return_dtype=pl.String).alias("rule"),
        ((pl.col("attempt") - 1) * season.trials + pl.col("number")).alias("run"),
        "score",
    )


def _board(
    season: Season, contenders: Sequence[Contender], scores: pl.DataFrame, notes: tuple[str, ...]
) -> Board:
    return Board(
        season.name,
        {rule.name: rule.visibility == "hidden" for rule in season.rules},
        season.trials,
        contenders,
        scores,
        season.version,
        season.id,
        notes,
    )


def _of_many(session: Session, season: Season, shown: Sequence[Contender]) -> tuple[str, ...]:
    """Say which accounts have registered many more learners than stand on the board."""
    registered = session.execute(
        select(Account.name, func.count())
        .join(Entry, Entry.account_id == Account.id)
        .where(Entry.season_id == season.id)
        .group_by(Account.id, Account.name)
        .order_by(Account.id)
    )
    here = Counter(contender.account for contender in shown)
    return tuple(
        f"{account} has registered {n} learners, of which {here[account]} are shown: "
        "the best of many looks better than it is"
        for account, n in registered
        if here[account] and n - here[account] >= _MANY_MORE
    )


def _contenders(session: Session, season: Season) -> list[Contender]:
    """Return the entries of which something was verified, with all their attempts counted."""
    entries = session.execute(
        select(Entry.id, Entry.name, Account.name)
        .join(Account, Entry.account_id == Account.id)
        .where(Entry.season_id == season.id, Entry.withdrawn_at.is_(None))
        .order_by(Entry.id)
    ).all()
    found = {entry: Contender(entry, name, account, 0, 0, 0) for entry, name, account in entries}
    counts = session.execute(
        select(
            EntryAttempt.entry_id,
            Submission.state,
            Submission.verified_at.is_not(None),
            func.count(),
        )
        .join(Submission, Submission.attempt_id == EntryAttempt.id)
        .where(Submission.season_id == season.id)
        .group_by(EntryAttempt.entry_id, Submission.state, Submission.verified_at.is_not(None))
    )
    for entry, state, was_verified, n in counts:
        if entry in found:
            c = found[entry]
            found[entry] = replace(
                c,
                n_attempts=c.n_attempts + n,
                n_verified=c.n_verified + n * (state in COUNTED),
                n_withdrawn=c.n_withdrawn + n * (state == "withdrawn" and bool(was_verified)),
                n_refused=c.n_refused + n * _is_lost(state, bool(was_verified)),
            )
    for left in unfinished_attempts(session, season.id):
        if left.entry_id in found and not left.closed:
            c = found[left.entry_id]
            found[left.entry_id] = replace(
                c, n_attempts=c.n_attempts + 1, n_unfinished=c.n_unfinished + 1
            )
    seen = [c for c in found.values() if c.n_verified or c.n_withdrawn or c.n_unfinished]
    begun = begun_entries(session, season.id)
    by_account: dict[int, dict[int, BegunEntry]] = {}
    for entry, each in begun.items():
        by_account.setdefault(each.account_id, {})[entry] = each
    return [
        _beside_others(c, by_account[begun[c.entry_id].account_id]) if c.entry_id in begun else c
        for c in seen
    ]


def _beside_others(contender: Contender, of_account: Mapping[int, BegunEntry]) -> Contender:
    """Say what else the account of an entry has begun."""
    return replace(
        contender,
        n_begun_of_account=sum(each.n_attempts for each in of_account.values()),
        also_begun=tuple(b.name for e, b in of_account.items() if e != contender.entry_id),
    )


def _is_lost(state: str, was_verified: bool) -> bool:
    """Whether an attempt was used up, and never counted."""
    return state in ("refused", "error") or (state == "withdrawn" and not was_verified)
