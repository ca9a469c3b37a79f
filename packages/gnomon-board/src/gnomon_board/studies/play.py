"""Games of people: creation, look-up by key, and storage of each attempt.

A game is found by the key of its player and the number of the series: ``KEY.0``.
"""

from __future__ import annotations

import datetime
import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from threading import Lock
from typing import Any, cast

from sqlalchemy import Table, bindparam, select
from sqlalchemy.orm import Session

from gnomon_board.errors import Conflict, Missing
from gnomon_board.schema import PlayAttempt, StudyAnswer, StudyAssignment, now
from gnomon_board.schema import PlaySession as Row
from gnomon_board.studies.plan import Ending, StudyPlan
from gnomon_board.tokens import digest_of
from gohr import BoardSpec
from gohr.people import Attempt, ClientTimes, Game, PlaySession, SeriesTerms


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
        return self.session.episode in self.row.settings.get("guessed", [])

    @property
    def is_test(self) -> bool:
        """Whether the boards are test boards, on which there are no replies."""
        return "evidence" in self.row.settings

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
    evidence: dict[str, Any] | None = None,
) -> None:
    """Create the game of a series; players see the name of ``game`` instead of the ``rule``.

    A game with ``evidence`` consists of test boards.
    """
    settings = {
        "shown": game.rule_name,
        "episodes": game.episodes,
        "horizon": game.horizon,
        "gave_up": False,
        "terms": game.terms.model_dump(mode="json"),
        # As it is now: the boards follow from it, and a library may change.
        "text": game.rule_text,
    }
    if evidence is not None:
        settings["evidence"] = evidence
    session.add(
        Row(
            assignment_id=player.id,
            rule=rule,
            series=series,
            seed=secrets.randbits(62),
            board=game.board.record(),
            settings=settings,
            n_episodes=1,
        )
    )


def find_game(session: Session, key: str) -> StoredGame:
    """Return the game of a key."""
    return rebuild_game(session, *_found(session, key))


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


class PlayedGameCache:
    """LRU cache of games in play, so that a game is not replayed at each move.

    A game is taken out for a move, and put back when the move is stored. It is used only if its row
    has not changed since.
    """

    def __init__(self, size: int = 1000) -> None:
        self._size = size
        self._lock = Lock()
        self._games: OrderedDict[int, tuple[datetime.datetime, PlaySession]] = OrderedDict()

    def take(self, session: Session, key: str) -> StoredGame:
        """Return the game of a key, as :func:`find_game` does."""
        row, ending = _found(session, key)
        with self._lock:
            changed_at, played = self._games.pop(row.id, (None, None))
        if played is None or changed_at != row.changed_at:
            return rebuild_game(session, row, ending)
        return StoredGame(row, played, ending)

    def put_back(self, game: StoredGame, changed_at: datetime.datetime) -> None:
        """Store a game in its state at a time."""
        with self._lock:
            self._games[game.row.id] = changed_at, game.session
            while len(self._games) > self._size:
                self._games.popitem(last=False)


def rebuild_game(session: Session, row: Row, ending: str = "") -> StoredGame:
    """Return the game of a row in its current state."""
    rows = session.execute(
        select(*_COLUMNS).where(PlayAttempt.session_id == row.id).order_by(PlayAttempt.id)
    )
    settings = row.settings
    played = PlaySession(
        Game(
            settings["shown"],
            settings["text"],
            row.seed,
            settings["episodes"],
            settings["horizon"],
            BoardSpec(**row.board),
            SeriesTerms.model_validate(settings["terms"]),
        ),
        _attempts(rows),
        n_boards=row.n_episodes,
        gave_up=settings["gave_up"],
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


_CHANGED = ("n_episodes", "changed_at", "settings", "state", "finished_at")
_ROWS, _ATTEMPTS = cast(Table, Row.__table__), cast(Table, PlayAttempt.__table__)
#: Built once, since building the statement takes longer than executing it.
_CHANGE = (
    _ROWS.update()
    .where(
        _ROWS.c.id == bindparam("this_id"),
        _ROWS.c.state == "playing",
        _ROWS.c.n_episodes == bindparam("this_board"),
        # Even a guess is a conflict, since the settings are written as a whole.
        _ROWS.c.changed_at == bindparam("this_change"),
    )
    .values({name: bindparam(name) for name in _CHANGED})
)
_ADD = _ATTEMPTS.insert()


def store_changes(
    session: Session, game: StoredGame, attempt: Attempt | None = None
) -> datetime.datetime:
    """Store the changes since the game was found: an attempt, another board, or the end.

    Returns the time of the change.

    The game may come from a closed session, since computing a move takes longer than writing it.
    """
    row, played = game.row, game.session
    changed_at = now() if attempt is None else _moment(attempt.at)
    ended = played.state == "ended"
    settings = {**row.settings, "gave_up": played.gave_up}
    if played.game.terms.points is not None:
        settings["points"] = sum(played.points_by_board())
    changes = {
        "this_id": row.id,
        "this_board": row.n_episodes,
        "this_change": row.changed_at,
        "n_episodes": played.n_boards,
        "changed_at": changed_at,
        "settings": settings,
        "state": "ended" if ended else "playing",
        "finished_at": changed_at if ended else None,
    }
    connection = session.connection()
    if not connection.execute(_CHANGE, changes).rowcount:
        raise Conflict("this game has changed in the meantime")
    if attempt is not None:
        connection.execute(_ADD, _values_of(game, attempt))
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
    guessed = row.settings.get("guessed", [])
    if game.session.episode in guessed:
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
    row.settings = {**row.settings, "guessed": [*guessed, game.session.episode]}
    row.changed_at = now()


def _values_of(game: StoredGame, attempt: Attempt) -> dict[str, Any]:
    times = astuple(attempt.client) if attempt.client else (None,) * len(_TIMES)
    return {
        "session_id": game.row.id,
        **{name: getattr(attempt, name) for name in _KEPT},
        "at": _moment(attempt.at),
        "reaction_ms": min(round(1000 * attempt.reaction_s), 2**31 - 1),
        **dict(zip(_TIMES, times, strict=True)),
    }


def _moment(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)
