"""The scores of a season from the database, and its standings, computed once for each version.

Another process computes them, in half a second for 200 entries. A reader waits a little; if it
takes longer, pages show the previous standings with a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from gnomon_board.computation import Computation
from gnomon_board.database import Database
from gnomon_board.schema import (
    Account,
    Entry,
    EntryAttempt,
    RemoteTrial,
    Season,
    Submission,
    VerifiedTrial,
)
from gnomon_board.standings import Board, Contender, Score, Standings, standings_of

#: States of submissions whose scores count.
COUNTED = ("verified",)

#: Seconds that a reader waits for the standings.
_PATIENCE_S = 3.0


@dataclass(frozen=True)
class Snapshot:
    """Standings, and whether they are current."""

    standings: Standings
    is_current: bool


class StandingsCache:
    """Cache of the standings of all seasons, in memory.

    The reader who finds them old waits up to ``patience_s`` for the newest.
    """

    def __init__(self, database: Database, *, patience_s: float = _PATIENCE_S) -> None:
        self._database, self._patience_s, self._lock = database, patience_s, Lock()
        #: The last standings of each season, with the digest of their scores.
        self._known: dict[int, tuple[Standings, int]] = {}
        self._coming: dict[int, tuple[Computation[Standings], int]] = {}

    def get(self, season_id: int, version: int) -> Snapshot | None:
        """Return the current or previous standings of a season; None if none are ready."""
        known = self._known.get(season_id)
        if known is None or known[0].version < version:
            with self._lock:
                self._renew(season_id, version)
            known = self._known.get(season_id)
        return None if known is None else Snapshot(known[0], known[0].version >= version)

    def close(self) -> None:
        """Stop running computations."""
        with self._lock:
            for computation, _ in self._coming.values():
                computation.stop()
            self._coming.clear()

    def _renew(self, season_id: int, version: int) -> None:
        """Compute the standings of a version unless they are known or on the way."""
        self._collect(season_id)
        known = self._known.get(season_id)
        if season_id in self._coming or (known is not None and known[0].version >= version):
            return
        with self._database.reading() as session:
            board = board_of(session, session.get_one(Season, season_id))
        contenders, scores = tuple(board.contenders), frozenset(board.scores)
        digest = hash((board.rules, board.owed, board.pooled, board.notes, contenders, scores))
        if known is not None and known[1] == digest:
            # The scores are unchanged, for example after a registration without play.
            self._known[season_id] = replace(known[0], version=board.version), digest
        else:
            self._coming[season_id] = Computation(standings_of, board), digest
            self._collect(season_id, self._patience_s)

    def _collect(self, season_id: int, most_s: float = 0.0) -> None:
        """Take the standings that come within some seconds."""
        computation, digest = self._coming.get(season_id, (None, 0))
        if computation is not None and computation.is_over(most_s):
            del self._coming[season_id]
            with suppress(EOFError):  # the process died: the next reader starts another one
                self._known[season_id] = computation.result(), digest


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
    n_begun = Counter[str]()
    for _, _, account, _, n_dealt in dealt:
        n_begun[account] += n_dealt
    found = {
        entry: Contender(entry, name, account, 0, 0, n_begun=n_begun[account])
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
    playing = select(RemoteTrial.attempt_id).where(RemoteTrial.state == "playing")
    unfinished = session.execute(
        select(EntryAttempt.entry_id, func.count())
        .join(Entry, EntryAttempt.entry_id == Entry.id)
        .where(
            Entry.season_id == season.id,
            EntryAttempt.begun_at.is_not(None),
            EntryAttempt.id.in_(playing),
        )
        .group_by(EntryAttempt.entry_id)
    )
    for entry, n in unfinished:
        if entry in found:
            c = found[entry]
            found[entry] = replace(c, n_attempts=c.n_attempts + n, n_unfinished=n)
    return [c for c in found.values() if c.n_verified or c.n_withdrawn or c.n_unfinished]
