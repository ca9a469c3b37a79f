"""Plan of a study: its lists of series, its pages and questions, and how people are recruited."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator, model_validator

from gnomon.errors import GnomonError, UnknownNameError
from gnomon.files import parse_toml, read_text
from gnomon_board.studies.languages import available_languages
from gnomon_board.studies.plan.plan_files import with_files
from gnomon_board.studies.plan.questionnaire import Question, Quiz
from gnomon_board.studies.plan.recruitment import Recruitment
from gohr.errors import ConfigError
from gohr.people import BoardPlan, MemoryAids, Part, SeriesPlan

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_Page = Annotated[str, Field(min_length=1, max_length=20_000)]
_Entry = str | dict[str, Any]


class StudyPlan(Part):
    """A study, as its TOML file defines it.

    An entry of a list is the name of a rule, or a table with the fields of a :class:`SeriesPlan`.
    A field that the entry leaves out is taken from ``defaults``, or from the study.

    Examples
    --------
    >>> plan = StudyPlan(name="pilot", title="A pilot", consent="I agree.",
    ...                  lists={"a": ["clockwise", {"rule": "color-match", "episodes": 3}]})
    >>> [(series.rule, series.episodes) for series in plan.series("a")]
    [('clockwise', 8), ('color-match', 3)]
    """

    name: Annotated[str, Field(max_length=64)]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    consent: _Page
    lists: Annotated[dict[str, tuple[_Entry, ...]], Field(min_length=1, max_length=1000)]
    episodes: Annotated[int, Field(ge=1, le=200)] = 8
    horizon: Annotated[int, Field(ge=1, le=1000)] = 100
    memory_aid: bool = True
    show_curves: bool = False
    board: BoardPlan = BoardPlan()
    defaults: dict[str, Any] = Field(default_factory=dict)
    already: dict[str, int] = Field(default_factory=dict)
    rule_texts: dict[str, Annotated[str, Field(max_length=100_000)]] = Field(default_factory=dict)
    language: str = "en"
    instructions: Annotated[tuple[_Page, ...], Field(max_length=50)] = ()
    quiz: Quiz | None = None
    demographics_page: Annotated[str, Field(max_length=20_000)] = ""
    demographics: Annotated[tuple[Question, ...], Field(max_length=50)] = ()
    debrief: Annotated[str, Field(max_length=20_000)] = ""
    pictures: dict[str, str] = Field(default_factory=dict, max_length=100)
    recruitment: Recruitment = Recruitment()

    @field_validator("name")
    @classmethod
    def _is_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("expected letters, digits, '_', '.' and '-'")
        return name

    @field_validator("rule_texts")
    @classmethod
    def _rules_have_names(cls, rule_texts: dict[str, str]) -> dict[str, str]:
        for name in rule_texts:
            # They become names of files in an export.
            if not all(_NAME.fullmatch(part) for part in name.split("/")):
                raise ValueError(f"{name!r}: expected letters, digits, '_', '.', '-' and '/'")
        return rule_texts

    @field_validator("language")
    @classmethod
    def _has_texts(cls, language: str) -> str:
        if language not in available_languages():
            raise ValueError(f"expected one of {', '.join(available_languages())}")
        return language

    @field_validator("lists")
    @classmethod
    def _lists_have_names_and_rules(
        cls, lists: dict[str, tuple[_Entry, ...]]
    ) -> dict[str, tuple[_Entry, ...]]:
        for name, entries in lists.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r}: expected letters, digits, '_', '.' and '-'")
            if not 1 <= len(entries) <= 50:
                raise ValueError(f"{name!r}: expected 1 to 50 rules, found {len(entries)}")
        return lists

    @model_validator(mode="after")
    def _every_series_can_be_played(self) -> StudyPlan:
        for name in self.lists:
            self.series(name)
        unknown = set(self.already) - set(self.lists)
        if unknown:
            raise ValueError(f"already: there is no list {min(unknown)!r}")
        return self

    def series(self, name: str) -> tuple[SeriesPlan, ...]:
        """Return the series of a list, in the order of play.

        Raises ValueError: a field of an entry is not as it should be.
        """
        found = []
        for number, entry in enumerate(self.lists[name], 1):
            record = {"rule": entry} if isinstance(entry, str) else entry
            try:
                found.append(SeriesPlan.model_validate(self._as_study_has_it() | record))
            except ValidationError as error:
                raise ValueError(f"lists.{name}, series {number}: {_first_of(error)}") from None
        return tuple(found)

    def _as_study_has_it(self) -> dict[str, Any]:
        memory = MemoryAids() if self.memory_aid else MemoryAids.none()
        study = {"episodes": self.episodes, "horizon": self.horizon, "board": self.board}
        return study | {"memory": memory} | self.defaults

    @property
    def rules(self) -> tuple[str, ...]:
        """Every rule of the plan, once, in the order of the lists."""
        return tuple(dict.fromkeys(each.rule for name in self.lists for each in self.series(name)))

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
            raise ConfigError(f"{where}: {_first_of(error)}") from None

    @classmethod
    def from_toml(cls, text: str, where: str = "study plan") -> StudyPlan:
        """Read a plan that names no files from its text; errors as :meth:`from_record`."""
        return cls.from_record(_parsed(text, where), where)


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        # An export holds its plan as JSON.
        if text.lstrip().startswith("{"):
            return dict(json.loads(text))
        return parse_toml(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ConfigError(f"{where}: expected JSON: {error}") from None
    except GnomonError as error:
        raise ConfigError(f"{where}: {error}") from None


def _first_of(error: ValidationError) -> str:
    """Return the first thing that is wrong, in one line, with the nearest name of a field."""
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = sorted({*StudyPlan.model_fields, *SeriesPlan.model_fields})
        message = str(UnknownNameError("field", str(first["loc"][-1]), known))
    return f"field {field!r}: {message}" if field else message


def read_plan(path: str | Path) -> StudyPlan:
    """Read the TOML file of a plan, with the files that it names.

    Raises
    ------
    GnomonError
        There is no such file, or it is no text.
    ConfigError
        A field is misspelt, missing, or of the wrong kind.
    """
    path = Path(path)
    record = _parsed(read_text(path, noun="plan"), str(path))
    return StudyPlan.from_record(with_files(record, path.parent), str(path))
