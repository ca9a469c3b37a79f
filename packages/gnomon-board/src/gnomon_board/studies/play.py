"""Games of people: creation, look-up by key, and storage of each attempt.

A game is found by the key of its player and the number of the series: ``KEY.0``.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields, replace
from typing import Any, TypeAlias, cast

from pydantic import TypeAdapter
from sqlalchemy import Table, bindparam, select
from sqlalchemy.orm import Session

from gnomon_board.errors import Conflict, Missing
from gnomon_board.game_cache import GameCache
from gnomon_board.schema import PlayAttempt, StudyAnswer, StudyAssignment, now
from gnomon_board.schema import PlaySession as Row
from gnomon_board.studies.plan import Ending, StudyPlan
from gnomon_board.tokens import digest_of
from gohr.people import Attempt, ClientTimes, Game, PlaySession

_GAME = TypeAdapter(Game)
#: A game, and when its row changed.
GameAt: TypeAlias = tuple[datetime.datetime, PlaySession]


@dataclass(frozen=True, eq=False)
class StoredGame:
    """A game and its row in the database.

    ``ending`` is the ending of the study for the player, empty before it.
    """

    row: Row
    session: PlaySession
    ending: str = ""

    @property
    def guess_due(self) -> bool:
        """Whether the player must guess the rule now."""
        due = {
            "never": False,
            "board": self.session.state in ("board over", "ended"),
            "series": self.session.state == "ended",
            "mastery": self.session.is_mastered,
        }[self.session.game.terms.guess]
        return due and not self.has_guessed

    @property
    def has_guessed(self) -> bool:
        """Whether the player has guessed the rule after this board."""
        return self.session.episode in self.row.guessed

    @property
    def is_test(self) -> bool:
        """Whether the boards are test boards, on which there are no replies."""
        return self.row.evidence is not None

    @property
    def has_left(self) -> bool:
        """Whether the player stopped taking part without finishing."""
        return self.ending not in ("", "finished")


def begin_game(
    session: Session,
    player: StudyAssignment,
    series: int,
    rule: str,
    game: Game,
    evidence: dict[str, Any] | None,
) -> None:
    """Create the game of a series, with a seed of its own; ``evidence`` is shown before it.

    The row has the text of the rule as it is now: the boards follow from it, and a library may
    change.
    """
    record = _GAME.dump_python(replace(game, seed=secrets.randbits(62)), mode="json")
    which = {"assignment_id": player.id, "series": series, "rule": rule}
    session.add(Row(**which, game=record, evidence=evidence))


def find_game(session: Session, key: str, games: GameCache[GameAt] | None = None) -> StoredGame:
    """Return the game of a key, from a cache if its row has not changed since."""
    row, ending = _found(session, key)
    changed_at, played = (games and games.take(row.id)) or (None, None)
    if played is None or changed_at != row.changed_at:
        return rebuild_game(session, row, ending)
    return StoredGame(row, played, ending)


_FIND = (
    select(Row, StudyAssignment.ending)
    .join(Row.assignment)
    .where(StudyAssignment.key == bindparam("this_key"), Row.series == bindparam("this_series"))
)


def _found(session: Session, key: str) -> tuple[Row, str]:
    """Return the row of a game, and the ending of the study for its player."""
    player, _, series = key.partition(".")
    values = {"this_key": digest_of(player), "this_series": int(series)}
    found = session.execute(_FIND, values).one_or_none()
    if found is None:
        raise Missing("there is no such game")
    return found[0], found[1]


def rebuild_game(session: Session, row: Row, ending: str = "") -> StoredGame:
    """Return the game of a row in its current state."""
    rows = session.execute(
        select(*_COLUMNS).where(PlayAttempt.session_id == row.id).order_by(PlayAttempt.id)
    )
    played = PlaySession(
        _GAME.validate_python(row.game),
        _attempts(rows),
        n_boards=row.n_episodes,
        gave_up=row.gave_up,
        seen_at=row.changed_at.timestamp(),
    )
    return StoredGame(row, played, ending)


_TIMES = tuple(f"client_{field.name}" for field in fields(ClientTimes))
_KEPT = ("episode", "number", "cell", "bucket", "outcome", "finish")
_COLUMNS = [getattr(PlayAttempt, name) for name in (*_KEPT, "reaction_ms", "at", *_TIMES)]


def _attempts(rows: Iterable[Any]) -> Iterable[Attempt]:
    for row in rows:
        kept = dict(zip(_KEPT, row, strict=False))
        reaction_ms, at, *times = row[len(_KEPT) :]
        client = None if None in times else ClientTimes(*times)
        seconds = (reaction_ms or 0) / 1000
        yield Attempt(**kept, reaction_s=seconds, at=at.timestamp(), client=client)


_CHANGED = ("n_episodes", "changed_at", "gave_up", "points", "state", "finished_at")
_ROWS, _ATTEMPTS = cast(Table, Row.__table__), cast(Table, PlayAttempt.__table__)
#: Built once, since building the statement takes longer than executing it.
_CHANGE = (
    _ROWS.update()
    .where(
        _ROWS.c.id == bindparam("this_id"),
        _ROWS.c.state == "playing",
        _ROWS.c.n_episodes == bindparam("this_board"),
        _ROWS.c.changed_at == bindparam("this_change"),
    )
    .values({name: bindparam(name) for name in _CHANGED})
)


def store_changes(
    session: Session, game: StoredGame, attempt: Attempt | None = None
) -> datetime.datetime:
    """Store the changes since the game was found: an attempt, another board, or the end.

    Returns the time of the change.

    The game may come from a closed session, since computing a move takes longer than writing it.
    """
    row, played = game.row, game.session
    changed_at = now()
    if attempt is not None:
        changed_at = datetime.datetime.fromtimestamp(attempt.at, datetime.UTC)
    ended = played.state == "ended"
    changes = {
        "this_id": row.id,
        "this_board": row.n_episodes,
        "this_change": row.changed_at,
        "n_episodes": played.n_boards,
        "changed_at": changed_at,
        "gave_up": played.gave_up,
        "points": sum(played.points_by_board()),
        "state": "ended" if ended else "playing",
        "finished_at": changed_at if ended else None,
    }
    connection = session.connection()
    if not connection.execute(_CHANGE, changes).rowcount:
        raise Conflict("this game has changed in the meantime")
    if attempt is not None:
        times = astuple(attempt.client) if attempt.client else (None,) * len(_TIMES)
        kept = {name: getattr(attempt, name) for name in _KEPT}
        kept |= {"session_id": row.id, "at": changed_at, **dict(zip(_TIMES, times, strict=True))}
        kept["reaction_ms"] = min(round(1000 * attempt.reaction_s), 2**31 - 1)
        connection.execute(_ATTEMPTS.insert(), kept)
    if ended:
        player = session.get_one(StudyAssignment, row.assignment_id)
        session.refresh(player, with_for_update=True)
        end_series(player, row.series)
    return changed_at


def end_series(player: StudyAssignment, series: int) -> None:
    """Record the end of a series for a player; after the last one the study is over.

    Nothing changes for a player who no longer takes part.
    """
    if player.has_left:
        return
    plan = StudyPlan.from_record(player.study.plan)
    player.n_played = max(player.n_played, series + 1)
    if player.n_played >= len(plan.lists[player.rule_list]) and not player.ending:
        end_study(player, plan, "finished")


def end_study(player: StudyAssignment, plan: StudyPlan, ending: Ending) -> None:
    """Store the ending of a study for a player, with its completion code."""
    player.ending = ending
    completion = plan.recruitment.completion(ending)
    player.completion_code = "" if completion is None else completion.new_code()
    if ending == "finished":
        player.finished_at = now()


def store_guess(
    session: Session, game: StoredGame, text: str, confidence: int | None = None
) -> None:
    """Store a player's guess at the rule, once after each board."""
    if not game.guess_due:
        raise Conflict("no guess is asked for now")
    row = session.get_one(Row, game.row.id)
    session.refresh(row, with_for_update=True)
    if game.session.episode in row.guessed:
        # Another request sent the same guess at the same time.
        return
    session.add(
        StudyAnswer(
            assignment_id=game.row.assignment_id,
            page="guess",
            name="guess",
            text=text.replace("\0", "").strip()[:2000],
            series=game.row.series,
            episode=game.session.episode,
            confidence=confidence,
        )
    )
    row.guessed, row.changed_at = [*row.guessed, game.session.episode], now()
