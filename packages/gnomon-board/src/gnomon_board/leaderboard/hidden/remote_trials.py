"""Trials of the hidden division in the database: moves, replies, and a cache of games.

An attempt is committed before its reply is sent, so that no board is played twice. Games in play
are cached in memory, which only saves a replay: each is checked against its row, under the row's
lock, before it continues.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, TypeAlias

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from gnomon_board.database.columns import now
from gnomon_board.database.engine import Database
from gnomon_board.database.schema import Entry, EntryAttempt, RemoteTrial, Season, SeasonRule
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.leaderboard.assignment import assignment_of
from gnomon_board.leaderboard.entries import attempt_of, find_entry
from gnomon_board.leaderboard.hidden.begun_attempts import mark_begun
from gnomon_board.leaderboard.hidden.protocol import AttemptPlay, Move, Reply, TrialState, TrialView
from gnomon_board.leaderboard.hidden.remote_game import RemoteGame, Stretch
from gnomon_board.leaderboard.seasons import check_open
from gohr.experiments import Assignment

#: Size of the cache of assignments, in attempts.
_MOST_ASSIGNMENTS = 256


class RemoteGameCache:
    """LRU cache of games in play, so that a trial is not replayed at each move."""

    def __init__(self, most: int = 2048) -> None:
        self._most = most
        self._games: OrderedDict[int, RemoteGame] = OrderedDict()
        self._assignments: OrderedDict[int, Assignment] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, trial: int) -> bool:
        with self._lock:
            return trial in self._games

    def get(self, trial: int, position: int) -> RemoteGame | None:
        """Return the game of a trial, if it is cached with that number of attempts."""
        with self._lock:
            game = self._games.get(trial)
            if game is None or game.position != position:
                return None
            self._games.move_to_end(trial)
            return game

    def put(self, trial: int, game: RemoteGame) -> None:
        """Store a game."""
        with self._lock:
            self._games[trial] = game
            while len(self._games) > self._most:
                self._games.popitem(last=False)

    def drop(self, trials: Sequence[int]) -> None:
        """Remove games that have ended, or whose last attempts were not committed."""
        with self._lock:
            for trial in trials:
                self._games.pop(trial, None)

    def assignment(self, session: Session, attempt_id: int) -> Assignment:
        """Return the assignment of an attempt."""
        with self._lock:
            found = self._assignments.get(attempt_id)
        if found is None:
            found = assignment_of(session.get_one(EntryAttempt, attempt_id))
            with self._lock:
                self._assignments[attempt_id] = found
                while len(self._assignments) > _MOST_ASSIGNMENTS:
                    self._assignments.popitem(last=False)
        return found


#: A row of a query with named columns.
_Row: TypeAlias = Any

_PLAYING, _DONE, _ABANDONED = "playing", "done", "abandoned"


def begin(session: Session, entry_id: int, number: int, *, account_id: int) -> AttemptPlay:
    """Return the trials of an attempt with their current state.

    Raises Refusal: this account has no such attempt, the season is of another division or not open,
    or the entry is withdrawn.
    """
    entry = find_entry(session, entry_id)
    if entry.account_id != account_id:
        raise NotAllowed(f"entry {entry_id} is another account's")
    season = entry.season
    if season.division != "hidden":
        raise NotAllowed(f"season {season.name} is of the {season.division} division: send a log")
    _check_may_play(season, entry)
    attempt = attempt_of(entry, number)
    rows = (
        select(
            RemoteTrial.id,
            SeasonRule.name,
            RemoteTrial.number,
            RemoteTrial.state,
            RemoteTrial.n_attempts.label("n"),
        )
        .join(SeasonRule, SeasonRule.id == RemoteTrial.rule_id)
        .where(RemoteTrial.attempt_id == attempt.id)
        .order_by(RemoteTrial.id)
    )
    return AttemptPlay(
        season=season.name,
        entry=entry.id,
        learner=entry.name,
        attempt=number,
        board=season.board,
        episodes=season.episodes,
        horizon=season.horizon,
        trials=[
            TrialState(
                trial=row.id, rule=row.name, number=row.number, state=row.state, position=row.n
            )
            for row in session.execute(rows)
        ],
    )


def _check_may_play(season: Season | _Row, entry: Entry | _Row) -> None:
    """Check that an attempt may be played now; rows of a query are accepted."""
    check_open(season)
    if season.revealed_at is not None:
        raise NotAllowed(f"season {season.name} has been revealed")
    if entry.withdrawn_at is not None:
        raise NotAllowed("this entry is withdrawn")


def make_moves(
    database: Database,
    live: RemoteGameCache,
    moves: Sequence[Move],
    *,
    account_id: int,
    address: str = "",
) -> list[Reply]:
    """Make moves in several trials, all of them or none, and return a reply to each.

    The first move of an attempt begins it: from then on it counts and is shown on the board. A
    keyed hash of the ``address`` is stored.

    Raises Refusal: a trial belongs to another account or may not be played now; a trial occurs
    twice; or the attempts before a move differ from the recorded ones.
    """
    wanted = [move.trial for move in moves]
    if len(set(wanted)) < len(wanted):
        raise Conflict("expected one move in each trial, found two in one")
    _warm(database, live, [trial for trial in wanted if trial not in live], account_id)
    try:
        with database.writing() as session:
            rows = _lock(session, wanted, account_id)
            games = {row.id: _game(session, live, row) for row in rows.values()}
            replies = [_reply(move, games[move.trial]) for move in moves]
            _write(session, rows, games)
            begun = {rows[t].attempt_id for t, game in games.items() if game.position}
            mark_begun(
                session, begun & {r.attempt_id for r in rows.values() if not r.begun_at}, address
            )
    except BaseException:
        # The cache may be ahead of the committed state.
        live.drop(wanted)
        raise
    for trial, game in games.items():
        if game.over:
            live.drop([trial])
    return replies


def _warm(database: Database, live: RemoteGameCache, cold: Sequence[int], account_id: int) -> None:
    """Rebuild games that are not in memory, before the write lock is taken."""
    if not cold:
        return
    with database.reading() as session:
        asked = {"trials": list(cold), "account": account_id}
        for row in session.execute(_FIND, asked):
            _game(session, live, row)


def _lock(session: Session, trials: Sequence[int], account_id: int) -> dict[int, _Row]:
    """Return the trials, locked until the session ends."""
    found = session.execute(_FIND_LOCKED, {"trials": list(trials), "account": account_id})
    rows = {row.id: row for row in found}
    for trial in trials:
        if trial not in rows:
            raise Missing(f"there is no trial {trial} of this account")
    for row in rows.values():
        _check_may_play(row, row)
        # After a wait for the lock the trial is current, but its attempt is not.
        if row.closed_at is not None or row.state == _ABANDONED:
            raise NotAllowed(f"trial {row.id}: its attempt was closed; what was left is errors")
    return rows


_TRIAL = (
    select(
        RemoteTrial.id,
        RemoteTrial.n_attempts,
        RemoteTrial.number,
        RemoteTrial.attempt_id,
        RemoteTrial.state,
        SeasonRule.name.label("rule"),
    )
    .join(SeasonRule, SeasonRule.id == RemoteTrial.rule_id)
    .join(EntryAttempt, EntryAttempt.id == RemoteTrial.attempt_id)
    .join(Entry, Entry.id == EntryAttempt.entry_id)
)
# Built once, since it runs at every attempt.
_FIND = (
    _TRIAL.join(Season, Season.id == Entry.season_id)
    .add_columns(
        *(Entry.withdrawn_at, EntryAttempt.begun_at, EntryAttempt.closed_at),
        *(Season.name, Season.opens_at, Season.closes_at, Season.revealed_at),
    )
    .where(
        RemoteTrial.id.in_(bindparam("trials", expanding=True)),
        Entry.account_id == bindparam("account"),
    )
    .order_by(RemoteTrial.id)
)
_FIND_LOCKED = _FIND.with_for_update(of=RemoteTrial)


def _game(session: Session, live: RemoteGameCache, row: _Row) -> RemoteGame:
    """Return the game of a trial in the state of its row."""
    game = live.get(row.id, row.n_attempts)
    if game is None:
        actions = session.scalar(select(RemoteTrial.actions).where(RemoteTrial.id == row.id))
        assignment = live.assignment(session, row.attempt_id)
        game = RemoteGame.of(assignment, row.rule, row.number, actions or b"")
        live.put(row.id, game)
    return game


def _reply(move: Move, game: RemoteGame) -> Reply:
    """Make the attempts that are new, and return the outcomes of all."""
    if move.position > game.position:
        raise Conflict(
            f"trial {move.trial} has {game.position} attempts, and not the {move.position} that "
            "are to come before this one"
        )
    if not move.actions:
        return _told(move.trial, move.position, game.stretch(move.position, 0))
    known = game.actions[move.position : move.position + len(move.actions)]
    if known:
        return _repeated(move, game, known)
    return _told(move.trial, move.position, game.make(move.actions))


def _repeated(move: Move, game: RemoteGame, known: bytes) -> Reply:
    """Return the earlier reply to attempts that were made before."""
    stretch = game.stretch(move.position, len(move.actions))
    for i, (given, made) in enumerate(
        zip(move.actions, known[: len(stretch.outcomes)], strict=False)
    ):
        if given != made:
            raise Conflict(
                f"trial {move.trial}: attempt {move.position + i} was {made}, and not {given}; "
                "a trial goes on from where it is"
            )
    left = move.actions[len(stretch.outcomes) :]
    if left and not stretch.ended:
        # The rest has not been made yet.
        more = game.make(left)
        outcomes = stretch.outcomes + more.outcomes
        stretch = Stretch(outcomes, more.finish, more.ended, more.episode, more.dealt, more.over)
    return _told(move.trial, move.position, stretch)


def _told(trial: int, position: int, stretch: Stretch) -> Reply:
    return Reply(
        trial=trial,
        position=position + len(stretch.outcomes),
        outcomes=list(stretch.outcomes),
        finish=stretch.finish,
        ended=stretch.ended,
        episode=stretch.episode,
        dealt=[list(board) for board in stretch.dealt],
        over=stretch.over,
    )


def _write(session: Session, rows: Mapping[int, _Row], games: Mapping[int, RemoteGame]) -> None:
    """Write the changes to the database."""
    changed, moment = [], now()
    for trial, game in games.items():
        over = game.over
        if rows[trial].state == _DONE or (game.position == rows[trial].n_attempts and not over):
            continue
        changed.append(
            {
                "trial": trial,
                "actions": game.actions,
                "n_attempts": game.position,
                "n_errors": game.n_errors,
                "episode": game.episode,
                "state": _DONE if over else _PLAYING,
                "changed_at": moment,
                "finished_at": moment if over else None,
            }
        )
    if changed:
        rows_of_trials = update(RemoteTrial).where(RemoteTrial.id == bindparam("trial"))
        session.connection().execute(rows_of_trials, changed)


def view(session: Session, trial: int, *, account_id: int) -> TrialView:
    """Return the player's current view of a trial.

    Raises Missing if this account has no such trial.
    """
    own = _TRIAL.where(RemoteTrial.id == trial, Entry.account_id == account_id)
    row = session.execute(own).first()
    if row is None:
        raise Missing(f"there is no trial {trial} of this account")
    # A separate copy: the game in memory may be in use.
    game = _game(session, RemoteGameCache(), row)
    return TrialView(
        trial=trial,
        rule=row.rule,
        number=row.number,
        state=row.state,
        position=game.position,
        episode=game.episode,
        attempt=0 if game.over else game.n_attempts,
        board=list(game.codes),
        last=list(game.last),
    )
