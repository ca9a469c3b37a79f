"""The scores of a season from the database, and its standings, computed once for each version.

Another process computes them, in half a second for 200 entries. A reader waits a little; if it
takes longer, pages show the previous standings with a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import Any

from sqlalchemy import Select, select
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
from gnomon_board.standings import EXCLUSIONS, Board, Contender, Score, Standings, standings_of

#: Seconds that a reader waits for the standings.
_PATIENCE_S = 3.0


class StandingsCache:
    """Cache of the standings of all seasons, in memory.

    The reader who finds them old waits up to ``patience_s`` for the newest.
    """

    def __init__(self, database: Database, *, patience_s: float = _PATIENCE_S) -> None:
        self._database, self._patience_s, self._lock = database, patience_s, Lock()
        #: The last standings of each season, with the digest of their scores.
        self._known: dict[int, tuple[Standings, int]] = {}
        self._coming: dict[int, tuple[Computation[Standings], int]] = {}

    def get(self, season: Season) -> Standings:
        """Return the current or previous standings of a season; of version 0 if none are ready."""
        known = self._known.get(season.id)
        if known is None or known[0].version < season.version:
            with self._lock:
                self._renew(season.id, season.version)
            known = self._known.get(season.id)
        return Standings(season.name, 0) if known is None else known[0]

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


def counted_trials(*columns: Any) -> Select[Any]:
    """Return a query of columns of the trials of verified submissions, and of the assignment."""
    trials = select(*columns).select_from(VerifiedTrial).join(VerifiedTrial.submission)
    return trials.join(Submission.attempt).where(Submission.state == "verified")


def board_of(
    session: Session, season: Season, contenders: Sequence[Contender] | None = None
) -> Board:
    """Return the scores of a season from the database; with ``contenders``, only theirs."""
    number = (EntryAttempt.number - 1) * season.trials + VerifiedTrial.number
    columns = EntryAttempt.entry_id, VerifiedTrial.rule_id, number, VerifiedTrial.tce
    rows = counted_trials(*columns).where(Submission.season_id == season.id)
    if contenders is not None:
        rows = rows.where(EntryAttempt.entry_id.in_([each.entry_id for each in contenders]))
    names = {rule.id: rule.name for rule in season.rules}
    return Board(
        season.name,
        tuple(names.values()),
        season.owed,
        _contenders(session, season) if contenders is None else contenders,
        tuple(Score(e, names[rule], run, tce) for e, rule, run, tce in session.execute(rows)),
        pooled=season.division == "hidden",
        version=season.version,
    )


def _contenders(session: Session, season: Season) -> list[Contender]:
    """Return the entries with an assignment that has ended, or has begun in play."""
    playing = select(RemoteTrial.attempt_id).where(RemoteTrial.state == "playing")
    is_unfinished = EntryAttempt.begun_at.is_not(None) & EntryAttempt.id.in_(playing)
    attempts = session.execute(
        select(Entry.id, Entry.name, Account.name)
        .add_columns(Submission.state, Submission.verified_at, is_unfinished)
        .join(Account, Entry.account_id == Account.id)
        .join(EntryAttempt, EntryAttempt.entry_id == Entry.id)
        .outerjoin(Submission, Submission.attempt_id == EntryAttempt.id)
        .where(Entry.season_id == season.id)
        .order_by(Entry.id)
    )
    n_begun, found = Counter[str](), dict[tuple[int, str, str], Counter[str]]()
    for entry, name, account, state, verified_at, unfinished in attempts:
        n_begun[account] += 1
        counts = found.setdefault((entry, name, account), Counter())
        if state == "verified":
            counts["verified"] += 1
        elif state == "withdrawn" and verified_at is not None:
            counts["withdrawn attempt"] += 1
        elif state in ("refused", "withdrawn"):
            counts["refused attempt"] += 1
        elif state == "error":
            counts["unverified attempt"] += 1
        elif state is not None:
            counts["waiting"] += 1
        elif unfinished:
            counts["unfinished attempt"] += 1
    return [
        Contender(
            *which,
            n_attempts=n.total(),
            n_verified=n["verified"],
            n_begun=n_begun[which[2]],
            excluded=next((why for why in EXCLUSIONS if n[why]), None),
        )
        for which, n in found.items()
        if n.keys() - {"waiting"}
    ]
