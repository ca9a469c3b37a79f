"""Plan of a study: consent, lists of rules, and the assignment of players to lists.

A new player gets the list with the fewest players that count. As in the reference system, a player
counts who has finished, or who still plays. One who came, looked and left takes no place.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from gnomon._io.text_file import read_text
from gnomon.errors import ConfigError
from gnomon.game.board import BoardSpec

#: A player who has done nothing for so many seconds, and has not finished, has left.
ACTIVE_S = 3600.0


@dataclass(frozen=True, slots=True)
class PlayerCount:
    """A player of a study, as far as balancing is concerned.

    ``finished``: all rules of the list were played, or given up. ``idle_s`` are seconds since the
    last thing the player did.
    """

    rule_list: str
    finished: bool
    n_attempts: int
    idle_s: float

    @property
    def counts(self) -> bool:
        """Whether the player takes a place in the list."""
        return self.idle_s < ACTIVE_S or (self.finished and self.n_attempts > 0)


def next_list(names: Sequence[str], players: Iterable[PlayerCount]) -> str:
    """Return the list for the next player; of several equally short ones the first.

    Raises ValueError if there is no list.

    References
    ----------
    The reference game server, ``web/balancing.html``.
    """
    if not names:
        raise ValueError("expected at least one list")
    taken = dict.fromkeys(names, 0)
    for player in players:
        if player.rule_list in taken and player.counts:
            taken[player.rule_list] += 1
    return min(names, key=lambda name: taken[name])


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_Range = int | Annotated[list[int], Field(min_length=2, max_length=2)]


class BoardPlan(BaseModel):
    """How the boards of a study are drawn; see :class:`gnomon.game.board.BoardSpec`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pieces: _Range = 9
    shapes: _Range = 4
    colors: _Range = 4

    def spec(self) -> BoardSpec:
        """Return the board as the game knows it."""
        return BoardSpec(self.pieces, self.shapes, self.colors)


class StudyPlan(BaseModel):
    """A study, as its TOML file says it.

    Examples
    --------
    >>> plan = StudyPlan(name="pilot", title="A pilot", consent="I agree.",
    ...                  lists={"a": ["clockwise"], "b": ["color-match"]})
    >>> plan.episodes, plan.board.spec().pieces
    (8, (9, 9))
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(max_length=64)]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    consent: Annotated[str, Field(min_length=1, max_length=20_000)]
    lists: Annotated[dict[str, list[str]], Field(min_length=1, max_length=100)]
    episodes: Annotated[int, Field(ge=1, le=200)] = 8
    horizon: Annotated[int, Field(ge=1, le=1000)] = 100
    memory_aid: bool = True
    show_curves: bool = False
    board: BoardPlan = BoardPlan()

    @field_validator("name")
    @classmethod
    def _is_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("expected letters, digits, '_', '.' and '-'")
        return name

    @field_validator("lists")
    @classmethod
    def _lists_have_names_and_rules(cls, lists: dict[str, list[str]]) -> dict[str, list[str]]:
        for name, rules in lists.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r}: expected letters, digits, '_', '.' and '-'")
            if not 1 <= len(rules) <= 50:
                raise ValueError(f"{name!r}: expected 1 to 50 rules, found {len(rules)}")
            if len(set(rules)) < len(rules):
                raise ValueError(f"{name!r}: expected different rules")
        return lists

    @model_validator(mode="after")
    def _board_can_be_drawn(self) -> StudyPlan:
        self.board.spec()
        return self

    @property
    def rules(self) -> tuple[str, ...]:
        """Every rule of the plan, once, in the order of the lists."""
        return tuple(dict.fromkeys(rule for rules in self.lists.values() for rule in rules))

    @classmethod
    def from_record(cls, record: Mapping[str, Any], where: str = "study plan") -> StudyPlan:
        """Check a plan.

        Raises
        ------
        ConfigError
            With the first field that is not as it should be.
        """
        try:
            return cls.model_validate(dict(record))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "plan"
            message = first["msg"].removeprefix("Value error, ")
            raise ConfigError(f"{where}: field {field!r}: {message}") from None

    @classmethod
    def from_toml(cls, text: str, where: str = "study plan") -> StudyPlan:
        """Read a plan from the text of its file; errors as :meth:`from_record`."""
        try:
            return cls.from_record(tomllib.loads(text), where)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{where}: expected TOML: {error}") from None


def read_plan(path: str | Path) -> StudyPlan:
    """Read the file of a plan.

    Raises GnomonError: there is no such file, or it is no text. Raises ConfigError: a field is
    misspelt, missing, or of the wrong kind.
    """
    path = Path(path)
    return StudyPlan.from_toml(read_text(path, noun="plan"), str(path))
