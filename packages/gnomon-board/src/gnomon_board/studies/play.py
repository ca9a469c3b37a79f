"""Puzzles and games of people: creation, look-up by key, and storage of each attempt.

A puzzle is a rule that can be played: a rule of the library, by its name or by a number that
reveals nothing, or a rule of a season once it is public. The game of a study is found by
the key of its player and the number of the series, ``KEY.0``; any other game has its own key.
"""

from __future__ import annotations

import datetime
import hashlib
import re
import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cache
from threading import Lock
from typing import Any, cast

from sqlalchemy import Table, bindparam, select
from sqlalchemy.orm import Session

from gnomon.errors import UnknownNameError
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.schema import PlayAttempt, Season, SeasonRule, StudyAnswer, StudyAssignment, now
from gnomon_board.schema import PlaySession as Row
from gnomon_board.studies.plan import Ending, StudyPlan
from gnomon_board.tokens import digest_of
from gohr import BoardSpec, available_rules
from gohr.experiments import season_board_spec
from gohr.people import Attempt, ClientTimes, Game, PlaySession, SeriesTerms
from gohr.rules import load_rule_text


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A rule that can be played: its own name, and the game, with the name that players see."""

    rule: str
    game: Game
    season_rule_id: int | None = None


@cache
def puzzles() -> tuple[str, ...]:
    """Return the names of the rules in the order of their numbers, from 1."""
    return tuple(sorted(available_rules(), key=lambda name: hashlib.sha256(name.encode()).digest()))


def puzzle_named(name: str) -> Puzzle:
    """Return the puzzle of a rule's name, or of ``puzzle-7``, which hides the name.

    Raises UnknownNameError: there is no such rule.

    Examples
    --------
    >>> [puzzle_named(name).game.rule_name for name in ("puzzle-7", "clockwise")]
    ['Puzzle 7', 'clockwise']
    """
    numbered = re.fullmatch(r"puzzle-([1-9][0-9]{0,3})", name)
    if numbered and int(numbered[1]) <= len(puzzles()):
        rule = puzzles()[int(numbered[1]) - 1]
        return Puzzle(rule, Game(f"Puzzle {numbered[1]}", load_rule_text(rule), 0))
    if numbered or name not in available_rules():
        raise UnknownNameError("rule", name, available_rules())
    return Puzzle(name, Game(name, load_rule_text(name), 0))


def puzzle_of(season: Season, rule: SeasonRule) -> Puzzle:
    """Return a rule of a season as a puzzle, on boards like those of its learners.

    Raises NotAllowed: the rule is still hidden, and playing it would reveal something of it.
    """
    if rule.visibility == "hidden" and season.revealed_at is None:
        raise NotAllowed("this rule is hidden until the season is revealed")
    spec = season_board_spec(season.board)
    game = Game(rule.name, rule.text, 0, horizon=season.horizon, board=spec)
    fewer = replace(game, episodes=min(game.episodes, season.episodes))
    return Puzzle(rule.name, fewer, rule.id)


# -- games -----------------------------------------------------------------------------------------


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
    def is_ended(self) -> bool:
        """Whether the player stopped taking part without finishing."""
        return self.ending not in ("", "finished")


def begin_game(
    session: Session,
    puzzle: Puzzle,
    *,
    player: StudyAssignment | None = None,
    series: int = 0,
) -> str:
    """Create a game, and return its key, which is of no use for the game of a study."""
    key, game = secrets.token_urlsafe(24), puzzle.game
    settings = {
        "shown": game.rule_name,
        "episodes": game.episodes,
        "horizon": game.horizon,
        "gave_up": False,
        "terms": game.terms.model_dump(mode="json"),
        # As it is now: the boards follow from it, and a library may change.
        "text": game.rule_text,
    }
    session.add(
        Row(
            key=digest_of(key),
            assignment_id=None if player is None else player.id,
            season_rule_id=puzzle.season_rule_id,
            rule=puzzle.rule,
            series=series,
            seed=secrets.randbits(62),
            board=game.board.record(),
            settings=settings,
            n_episodes=1,
        )
    )
    return key


def find_game(session: Session, key: str) -> StoredGame:
    """Return the game of a key.

    Raises Missing: there is none.
    """
    return rebuild_game(session, *_found(session, key))


_FOUND = select(Row, StudyAssignment.ending).outerjoin(Row.assignment)
_BY_KEY = _FOUND.where(Row.key == bindparam("this_key"))
_OF_PLAYER = _FOUND.where(
    StudyAssignment.key == bindparam("this_key"), Row.series == bindparam("this_series")
)


def _found(session: Session, key: str) -> tuple[Row, str]:
    """Return the row of a game, and the ending of the study for its player."""
    key, of_study, series = key.partition(".")
    values = {"this_key": digest_of(key)} | ({"this_series": int(series)} if of_study else {})
    found = session.execute(_OF_PLAYER if of_study else _BY_KEY, values).one_or_none()
    if found is None:
        raise Missing("there is no such game")
    return found[0], found[1] or ""


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


_COLUMNS = (
    PlayAttempt.episode,
    PlayAttempt.number,
    PlayAttempt.cell,
    PlayAttempt.bucket,
    PlayAttempt.outcome,
    PlayAttempt.finish,
    PlayAttempt.reaction_ms,
    PlayAttempt.at,
    PlayAttempt.client_touch_ms,
    PlayAttempt.client_action_ms,
    PlayAttempt.client_away_ms,
    PlayAttempt.client_animation_ms,
)


def _attempts(rows: Iterable[Any]) -> Iterable[Attempt]:
    for episode, number, cell, bucket, outcome, finish, reaction_ms, at, *times in rows:
        seconds = (reaction_ms or 0) / 1000
        client = None if times[1] is None else ClientTimes(*times)
        yield Attempt(
            episode, number, cell, bucket, outcome, finish, seconds, at.timestamp(), client
        )


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

    Raises Conflict: another request has changed the game; nothing is stored.
    """
    row, played = game.row, game.session
    changed_at = now() if attempt is None else _moment(attempt.at)
    ended = played.state == "ended"
    changes = {
        "this_id": row.id,
        "this_board": row.n_episodes,
        "this_change": row.changed_at,
        "n_episodes": played.n_boards,
        "changed_at": changed_at,
        "settings": _changed_settings(game),
        "state": "ended" if ended else "playing",
        "finished_at": changed_at if ended else None,
    }
    connection = session.connection()
    if not connection.execute(_CHANGE, changes).rowcount:
        raise Conflict("this game has changed in the meantime")
    if attempt is not None:
        connection.execute(_ADD, _values_of(game, attempt))
    if ended and row.assignment_id is not None:
        player = session.get_one(StudyAssignment, row.assignment_id)
        session.refresh(player, with_for_update=True)
        end_series(player, row.series)
    return changed_at


def _changed_settings(game: StoredGame) -> dict[str, Any]:
    played = game.session
    changed = {**game.row.settings, "gave_up": played.gave_up}
    if played.game.terms.points is not None:
        changed["points"] = sum(played.points_by_board())
    return changed


def end_series(player: StudyAssignment, series: int) -> None:
    """Record the end of a series for a player; after the last one the study is over.

    Nothing changes for a player who no longer takes part.
    """
    if player.ending not in ("", "finished"):
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
    """Store a player's guess at the rule, once after each board.

    Raises Conflict: no guess is due now.
    """
    if not game.guess_due or game.row.assignment_id is None:
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
    first = attempt.number == 1
    codes = game.session.board(attempt.episode).codes(game.session.game.board) if first else None
    return {
        "session_id": game.row.id,
        "episode": attempt.episode,
        "number": attempt.number,
        "cell": attempt.cell,
        "bucket": attempt.bucket,
        "outcome": attempt.outcome,
        "finish": attempt.finish,
        "board": None if codes is None else codes.tobytes(),
        "at": _moment(attempt.at),
        "reaction_ms": min(round(1000 * attempt.reaction_s), 2**31 - 1),
        **{
            f"client_{field.name}": getattr(attempt.client, field.name, None)
            for field in fields(ClientTimes)
        },
    }


def _moment(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)
