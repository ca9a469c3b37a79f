"""Plan of a study: its lists of series, its pages and questions, and how people are recruited."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator, model_validator

from gnomon._io.text_file import read_text
from gnomon.errors import ConfigError, UnknownNameError
from gnomon.game.formats.picture_pieces import PREFIX
from gnomon.studies.languages import available_languages
from gnomon.studies.piece_looks import clean_shape
from gnomon.studies.plan.plan_files import with_files
from gnomon.studies.plan.questionnaire import Question, Quiz, require_earlier_questions
from gnomon.studies.plan.recruitment import Recruitment
from gnomon.studies.plan.series_plan import BoardPlan, MemoryAids, Part, SeriesPlan

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_Page = Annotated[str, Field(min_length=1, max_length=20_000)]
_Color = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
_Image = Annotated[
    str, Field(pattern=r"^data:image/(png|jpeg|gif|svg\+xml);base64,[0-9A-Za-z+/=]+$")
]
_LOOK = re.compile(r"[A-Z0-9_]+(?:[-/][A-Z0-9_]+)*")
#: Of all pieces of a study that are pictures, as their data addresses have it.
_MOST_IMAGE_CHARACTERS = 8_000_000
_Entry = str | dict[str, Any]


class StudyPlan(Part):
    """A study, as its TOML file says it.

    An entry of a list is the name of a rule, or a table with the fields of a :class:`SeriesPlan`.
    What it leaves out is as in ``defaults``, or as the study has it.

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
    shape_files: dict[str, str] = Field(default_factory=dict, max_length=100)
    color_values: dict[str, _Color] = Field(default_factory=dict, max_length=100)
    image_files: dict[str, _Image] = Field(default_factory=dict, max_length=1000)
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

    @field_validator("shape_files", "color_values", mode="before")
    @classmethod
    def _looks_have_names(cls, looks: Any) -> Any:
        if not isinstance(looks, dict):
            return looks
        upper = {str(name).upper(): look for name, look in looks.items()}
        for name in upper:
            if not _LOOK.fullmatch(name):
                raise ValueError(f"{name!r}: expected letters, digits and '_', with '-' or '/'")
        return upper

    @field_validator("shape_files")
    @classmethod
    def _shapes_can_be_drawn(cls, shape_files: dict[str, str]) -> dict[str, str]:
        for name, text in shape_files.items():
            clean_shape(text, name)
        return shape_files

    @field_validator("image_files")
    @classmethod
    def _images_are_files_and_small(cls, image_files: dict[str, str]) -> dict[str, str]:
        for name in image_files:
            # They become names of files in an export.
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
                raise ValueError(f"{name!r}: expected a path without '..'")
        n_characters = sum(map(len, image_files.values()))
        if n_characters > _MOST_IMAGE_CHARACTERS:
            raise ValueError(f"expected at most 6 MB of images, found {n_characters * 3 // 4:,}")
        return image_files

    @field_validator("language")
    @classmethod
    def _has_texts(cls, language: str) -> str:
        if language not in available_languages():
            raise ValueError(f"expected one of {', '.join(available_languages())}")
        return language

    @field_validator("demographics")
    @classmethod
    def _conditions_look_back(cls, questions: tuple[Question, ...]) -> tuple[Question, ...]:
        require_earlier_questions(questions)
        return questions

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
            series = self.series(name)
            if series[-1].continues:
                raise ValueError(f"lists.{name}: the last series cannot continue")
            for image in (image for each in series for image in each.spec().images):
                if not image.startswith(PREFIX) and image not in self.image_files:
                    raise ValueError(f"lists.{name}: there is no image {image!r}")
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
                found.append(SeriesPlan.model_validate(self._with_defaults(record)))
            except ValidationError as error:
                raise ValueError(f"lists.{name}, series {number}: {_first_of(error)}") from None
        return tuple(found)

    def _with_defaults(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry with what it leaves out; of a partner, too, it may say a part."""
        whole = self._as_study_has_it()
        known, said = whole.get("partner"), record.get("partner")
        whole |= record
        if isinstance(known, dict) and isinstance(said, dict):
            # A bot does not answer: messages of people are not for it.
            whole["partner"] = known | ({"chat": False} if said.get("kind") == "bot" else {}) | said
        return whole

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
        return tomllib.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{where}: expected JSON: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: expected TOML: {error}") from None


def _first_of(error: ValidationError) -> str:
    """Return the first thing that is wrong, in one line, with the nearest name of a field."""
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = sorted({*StudyPlan.model_fields, *SeriesPlan.model_fields})
        message = str(UnknownNameError("field", str(first["loc"][-1]), known))
    return f"field {field!r}: {message}" if field else message


#: What people agree to where a plan of trial lists alone says nothing else.
_CONSENT = "Every attempt and its time is kept, under a number that says nothing of you."


def read_plan(
    path: str | Path | None, lists: Mapping[str, Any] | None = None, *, name: str = ""
) -> StudyPlan:
    """Read the file of a plan, with the files that it names.

    Parameters
    ----------
    path : path or None
        The TOML file; None for a study of lists alone.
    lists : mapping, optional
        Fields that stand in place of the file's, such as the lists of
        :func:`gnomon.studies.plan.trial_list_plans.trial_list_record`; the file's stand in place of
        those that ``pages`` holds.
    name : str
        Name and title of a study without a file.

    Raises
    ------
    GnomonError
        There is no such file, or it is no text.
    ConfigError
        A field is misspelt, missing, or of the wrong kind.

    Examples
    --------
    >>> read_plan(None, {"lists": {"a": ["clockwise"]}}, name="pilot").series("a")[0].rule
    'clockwise'
    """
    lists = dict(lists or {})
    pages = lists.pop("pages", {})
    if path is None:
        record: dict[str, Any] = {"name": name, "title": name, "consent": _CONSENT}
        return StudyPlan.from_record(record | pages | lists, name)
    path = Path(path)
    record = _parsed(read_text(path, noun="plan"), str(path))
    texts = record.get("rule_texts", {}) | lists.get("rule_texts", {})
    record |= lists | ({"rule_texts": texts} if texts else {})
    record = with_files(record, path.parent)
    shown = pages.get("pictures", {}) | record.get("pictures", {})
    record = pages | record | ({"pictures": shown} if shown else {})
    return StudyPlan.from_record(record, str(path))
