"""The fields of an experiment as a file gives them, checked, with errors of one line.

Pydantic checks the types; its messages are rephrased, since they address programmers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from gnomon.errors import UnknownNameError, shortened, visible
from gohr.errors import ConfigError


def _printing(name: str) -> str:
    """Refuse a name that no terminal, drawing or page could show."""
    if visible(name, kept="\xa0") != name:
        raise ValueError
    return name


# Each description completes "expected ...".
Text = Annotated[str, Field(min_length=1, strict=True)]
Name = Annotated[Text, AfterValidator(_printing)]
Positive = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
POSITIVE = "a whole number from 1 to 1,000,000"
NotNegative = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
NOT_NEGATIVE = "a number of at least 0"
RangeOrNumber = (
    Annotated[int, Field(strict=True)]
    | Annotated[list[Annotated[int, Field(strict=True)]], Field(min_length=2, max_length=2)]
)
Palette = Annotated[list[Text], Field(min_length=1)]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RuleFields(_Fields):
    """A rule: one of the catalogue or a file by its name, or a text with a name."""

    name: Name = Field(description="the name of a rule or of a file")
    text: Text | None = Field(default=None, description="the text of a rule")
    hidden: bool = Field(default=False, strict=True, description="true or false")


class LearnerFields(BaseModel):
    """A learner; every field that is not named here is one of its settings."""

    model_config = ConfigDict(extra="allow")
    kind: Name = Field(description="the name of a learner")
    name: Name | None = Field(default=None, description="a name of printable characters")
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] | None = Field(
        default=None, description="a table of settings, each with a list of values"
    )
    version: Text | None = Field(default=None, description="the version of a learner of one's own")
    reveal: bool = Field(default=False, strict=True, description="true or false")


class BoardFields(_Fields):
    """How boards are drawn (see :class:`gohr.game.board.BoardSpec`), or which are given."""

    pieces: RangeOrNumber = Field(default=9, description="a whole number or [least, most]")
    shapes: RangeOrNumber = Field(default=4, description="a whole number or [least, most]")
    colors: RangeOrNumber = Field(default=4, description="a whole number or [least, most]")
    shape_palette: Palette | None = Field(default=None, description="a list of names")
    color_palette: Palette | None = Field(default=None, description="a list of names")
    files: Palette | None = Field(default=None, description="a list of board files")
    boards: Annotated[list[list[int]], Field(min_length=1)] | None = Field(
        default=None, description="lists of 36 codes"
    )
    trials: dict[str, list[str]] | None = Field(
        default=None, description="a table of rules, each with the boards of every trial"
    )
    order: Literal["listed", "alphabetical", "random"] = Field(
        default="listed", description="'listed', 'alphabetical' or 'random'"
    )


class ExperimentFields(_Fields):
    """A whole experiment; see :class:`gohr.experiments.ExperimentConfig`."""

    name: Name = Field(description="a name of printable characters")
    rules: list[RuleFields] = Field(description="a list of rules", min_length=1)
    learners: list[LearnerFields] = Field(description="a list of learners", min_length=1)
    trials: Positive = Field(default=20, description=POSITIVE)
    episodes: Positive = Field(default=200, description=POSITIVE)
    horizon: Positive = Field(default=100, description=POSITIVE)
    seed: int = Field(default=0, strict=True, ge=0, description="a whole number of at least 0")
    board: BoardFields | None = Field(default=None, description="a table, [board]")
    baseline: Name | None = Field(default=None, description="the name of one of the rules")
    trial_timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="a number of seconds above 0"
    )
    trial_memory_mb: Positive | None = Field(default=None, description=POSITIVE)

    @field_validator("rules", mode="before")
    @classmethod
    def _rules(cls, rules: Any) -> Any:
        return _as_tables(rules, "name")

    @field_validator("learners", mode="before")
    @classmethod
    def _learners(cls, learners: Any) -> Any:
        return _as_tables(learners, "kind")


def _as_tables(items: Any, key: str) -> Any:
    """Read ``"clockwise"`` in a list as ``{name = "clockwise"}``."""
    if not isinstance(items, list | tuple):
        return items
    return [{key: item} if isinstance(item, str) else item for item in items]


def checked_fields(values: Mapping[str, Any]) -> ExperimentFields:
    """Return the fields of an experiment, or report the first invalid one.

    Raises ConfigError: the message names the field, the expected and the found value.
    """
    try:
        return ExperimentFields.model_validate(dict(values))
    except ValidationError as errors:
        # An unknown field is often the cause of a missing one, so it is reported first.
        ordered = sorted(errors.errors(), key=lambda e: e["type"] != "extra_forbidden")
        error = ordered[0]
    path, field, known = _resolve(error["loc"])
    if error["type"] == "extra_forbidden":
        raise ConfigError(f"{_within(path[:-1])}{UnknownNameError('field', path[-1], known)}")
    if error["type"] == "missing":
        raise ConfigError(f"{_within(path[:-1])}missing field {path[-1]!r}; expected {field}")
    raise ConfigError(f"{_within(path)}expected {field}; found {shortened(repr(error['input']))}")


def _resolve(loc: tuple[int | str, ...]) -> tuple[list[str], str, list[str]]:
    """Return the path to a field in words, the expected value, and the possible names.

    Pydantic's path continues with the branches of a union; this one ends at the field.
    """
    model: type[BaseModel] | None = ExperimentFields
    path: list[str] = []
    expected, known = "a table", list(ExperimentFields.model_fields)
    for step in loc:
        if isinstance(step, int):
            path.append(f"item {step + 1}")
            expected = "a name or a table"
        elif model is None:
            break
        else:
            path.append(step)
            known = list(model.model_fields)
            if step not in model.model_fields:
                break
            field = model.model_fields[step]
            expected = field.description or "another value"
            model = _model_in(field.annotation)
    return path, expected, known


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model that a field holds, alone or in a list."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _within(path: list[str]) -> str:
    if not path:
        return ""
    quoted = [step if step.startswith("item ") else repr(step) for step in path]
    return f"field {', '.join(quoted)}: "
