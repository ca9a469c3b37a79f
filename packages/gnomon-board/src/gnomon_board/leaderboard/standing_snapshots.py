"""Cache of standings, computed once for each version of a season, and the scores of the database.

A season of up to `_SMALL` entries is computed while the reader waits, about a second for 200
entries; only entries whose scores have changed are estimated again. A larger one is computed in
another process, while pages show the previous standings with a note. Snapshots in the server's data
folder survive a restart.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock

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
from gnomon_board.leaderboard.hidden import unfinished_attempts
from gnomon_board.leaderboard.standings import (
    Board,
    Contender,
    Known,
    Score,
    Standings,
    standings_of,
)

#: States of submissions whose scores count.
COUNTED = ("verified",)

#: Largest number of entries for which a reader waits for the standings.
_SMALL = 300
#: Format of snapshots; files of other formats are ignored.
SNAPSHOT_FORMAT = 6


@dataclass(frozen=True)
class Snapshot:
    """Standings, and whether they are current."""

    standings: Standings
    is_current: bool


class StandingsCache:
    """Cache of the standings of all seasons.

    Up to ``small`` entries, a reader waits for the newest standings. Snapshots are kept in
    ``folder``.
    """

    def __init__(self, database: Database, folder: Path, *, small: int = _SMALL) -> None:
        self._database = database
        self._folder = folder
        self._small = small
        self._lock = Lock()
        self._known: dict[int, Standings] = {}
        self._errors: dict[int, Known] = {}
        self._digests: dict[int, str] = {}
        self._coming: dict[int, tuple[BaseProcess, Connection, str]] = {}

    def get(self, season_id: int, version: int) -> Snapshot | None:
        """Return the current or previous standings of a season; None if none are ready."""
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
        """Stop running computations."""
        with self._lock:
            for process, connection, _ in self._coming.values():
                process.terminate()
                process.join()
                connection.close()
            self._coming.clear()

    def _renew(self, season_id: int, known: Standings | None) -> Standings | None:
        """Compute now if that is quick; else start the computation in another process."""
        if season_id in self._coming:
            return known
        with self._database.reading() as session:
            board = board_of(session, session.get_one(Season, season_id))
        digest = _digest(board)
        if known is not None and digest == self._digests.get(season_id):
            # The scores are unchanged, for example after a registration without play.
            return self._keep(season_id, replace(known, version=board.version), digest)
        if len(board.contenders) <= self._small:
            found = standings_of(board, self._errors.setdefault(season_id, {}))
            return self._keep(season_id, found, digest)
        # Spawned: a fork of a server with threads may hang. It ends with the server.
        context = multiprocessing.get_context("spawn")
        connection, far_end = context.Pipe(duplex=False)
        process = context.Process(target=_compute, args=(board, far_end), daemon=True)
        process.start()
        far_end.close()
        self._coming[season_id] = process, connection, digest
        return known

    def _collect(self, season_id: int) -> None:
        """Take the result of the process, if there is one."""
        if season_id not in self._coming:
            return
        process, connection, digest = self._coming[season_id]
        if not connection.poll() and process.is_alive():
            return
        del self._coming[season_id]
        # If the process died, there is no result, and the next reader starts it again.
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
        with suppress(OSError):  # a full disk: kept in memory, and computed again later
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(season_id), json.dumps(record, allow_nan=False).encode())
        return standings

    def _read(self, season_id: int, version: int) -> Standings | None:
        """Return the snapshot from before this process began; None if there is none.

        A snapshot newer than the season belongs to the board before a restore, and is ignored.
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
    """Return a hash of all inputs of the standings except the version."""
    used = (board.season, board.rules, board.owed, board.pooled, board.contenders, board.notes)
    return hashlib.sha256(f"{used!r}\n{sorted(board.scores)!r}".encode()).hexdigest()


def _compute(board: Board, connection: Connection) -> None:
    """Compute standings in another process."""
    connection.send(standings_of(board).as_record())
    connection.close()


def board_of(session: Session, season: Season) -> Board:
    """Return all scores of a season from the database."""
    return _board(session, season, _contenders(session, season))


def board_of_some(session: Session, season: Season, contenders: Sequence[Contender]) -> Board:
    """Return the scores of some entries of a season, without reading the others."""
    own = EntryAttempt.entry_id.in_([each.entry_id for each in contenders])
    return _board(session, season, contenders, own)


def _board(
    session: Session, season: Season, contenders: Sequence[Contender], *only: ColumnElement[bool]
) -> Board:
    number = (EntryAttempt.number - 1) * season.trials + VerifiedTrial.number
    rows = session.execute(
        select(EntryAttempt.entry_id, VerifiedTrial.rule_id, number, VerifiedTrial.tce)
        .join(Submission, VerifiedTrial.submission_id == Submission.id)
        .join(EntryAttempt, Submission.attempt_id == EntryAttempt.id)
        .where(Submission.season_id == season.id, Submission.state.in_(COUNTED), *only)
    )
    names = {rule.id: rule.name for rule in season.rules}
    return Board(
        season.name,
        tuple(names.values()),
        season.owed,
        contenders,
        tuple(Score(entry, names[rule], run, errors) for entry, rule, run, errors in rows),
        pooled=season.division == "hidden",
        version=season.version,
    )


def _contenders(session: Session, season: Season) -> list[Contender]:
    """Return the entries with an attempt that was verified, withdrawn or begun in play."""
    dealt = session.execute(
        select(Entry.id, Entry.name, Account.name, Entry.withdrawn_at, func.count())
        .join(Account, Entry.account_id == Account.id)
        .join(EntryAttempt, EntryAttempt.entry_id == Entry.id)
        .where(Entry.season_id == season.id)
        .group_by(Entry.id, Account.id)
        .order_by(Entry.id)
    ).all()
    of_account: dict[str, dict[int, tuple[str, int]]] = {}
    for entry, name, account, _, n_dealt in dealt:
        of_account.setdefault(account, {})[entry] = name, n_dealt
    found = {
        entry: Contender(
            entry,
            name,
            account,
            *(0, 0),
            n_begun=sum(n for _, n in of_account[account].values()),
            also_begun=tuple(n for e, (n, _) in of_account[account].items() if e != entry),
        )
        for entry, name, account, withdrawn_at, _ in dealt
        if withdrawn_at is None
    }
    was_verified = Submission.verified_at.is_not(None)
    counts = session.execute(
        select(EntryAttempt.entry_id, Submission.state, was_verified, func.count())
        .join(Submission, Submission.attempt_id == EntryAttempt.id)
        .where(Submission.season_id == season.id)
        .group_by(EntryAttempt.entry_id, Submission.state, was_verified)
    )
    for entry, state, verified, n in counts:
        if entry in found:
            c = found[entry]
            withdrawn = state == "withdrawn" and bool(verified)
            refused = state in ("refused", "error") or (state == "withdrawn" and not verified)
            found[entry] = replace(
                c,
                n_attempts=c.n_attempts + n,
                n_verified=c.n_verified + n * (state in COUNTED),
                n_withdrawn=c.n_withdrawn + n * withdrawn,
                n_refused=c.n_refused + n * refused,
            )
    for left in unfinished_attempts(session, season.id):
        if left.entry_id in found and not left.closed:
            c = found[left.entry_id]
            found[left.entry_id] = replace(
                c, n_attempts=c.n_attempts + 1, n_unfinished=c.n_unfinished + 1
            )
    return [c for c in found.values() if c.n_verified or c.n_withdrawn or c.n_unfinished]
