"""Plan of a study: its lists of series, its pages and questions, and its recruitment."""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from gnomon.errors import GnomonError
from gnomon.text_files import parse_toml, read_text
from gnomon_board.errors import wrong_field
from gohr import Board, available_rules, read_board_file
from gohr.errors import ConfigError
from gohr.experiments import load_suite
from gohr.people import BoardPlan, SeriesPlan
from gohr.rules import load_rule_text, resolve_rule


class AnswerError(GnomonError):
    """An answer to ``question`` that is missing or not among the choices."""

    def __init__(self, asked: Question, message: str) -> None:
        self.question = asked.name
        super().__init__(f"{asked.title}: {message}")


class Part(BaseModel):
    """A part of a plan; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Question(Part):
    """A question. ``answer`` is the right one, for questions of a quiz.

    A choice written ``value|label`` is shown as its label, and stored as its value.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
    title: Annotated[str, Field(min_length=1, max_length=500)]
    kind: Literal["choice", "text", "number"] = "text"
    choices: Annotated[tuple[str, ...], Field(max_length=50)] = ()
    least: int | None = None
    most: int | None = None
    required: bool = True
    answer: str = ""

    @model_validator(mode="after")
    def _can_be_answered(self) -> Question:
        if (self.kind == "choice") != bool(self.choices):
            raise ValueError(f"{self.name}: expected choices for a question of kind 'choice' only")
        if self.kind == "choice" and self.answer and self.answer not in self.values:
            raise ValueError(f"{self.name}: expected the answer to be one of the choices")
        return self

    @property
    def values(self) -> tuple[str, ...]:
        """The stored value of each choice."""
        return tuple(choice.partition("|")[0] for choice in self.choices)

    def checked(self, text: str) -> str:
        """Return an answer in its stored form; raise AnswerError if it is missing or invalid."""
        # PostgreSQL cannot store NUL.
        text = text.replace("\0", "").strip()
        if not text:
            if self.required:
                raise AnswerError(self, "expected an answer")
            return ""
        if self.kind == "choice" and text not in self.values:
            raise AnswerError(self, "expected one of the choices")
        if self.kind == "number":
            return self._number(text)
        if len(text) > 2000:
            raise AnswerError(self, "expected at most 2000 characters")
        return text

    def _number(self, text: str) -> str:
        if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) < 12):
            raise AnswerError(self, "expected a whole number")
        low = -(10**11) if self.least is None else self.least
        high = 10**11 if self.most is None else self.most
        if not low <= int(text) <= high:
            raise AnswerError(self, f"expected {low} to {high}")
        return text


class Quiz(Part):
    """Questions on the instructions; a player who fails ``tries`` times is screened out."""

    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=30)]
    tries: Annotated[int, Field(ge=1, le=20)] = 2

    @model_validator(mode="after")
    def _has_right_answers(self) -> Quiz:
        for question in self.questions:
            if not question.answer:
                raise ValueError(f"{question.name}: expected the right answer")
        return self

    def wrong(self, answers: Mapping[str, str]) -> tuple[str, ...]:
        """Return the names of the questions with a wrong answer."""
        return tuple(
            question.name
            for question in self.questions
            if answers[question.name].casefold() != question.answer.casefold()
        )


def checked_answers(questions: Sequence[Question], given: Mapping[str, str]) -> dict[str, str]:
    """Return the answers in their stored form; errors as :meth:`Question.checked`."""
    return {each.name: each.checked(given.get(each.name, "")) for each in questions}


# -- recruitment -----------------------------------------------------------------------------------

#: Endings of a participant.
Ending = Literal["finished", "left", "screened out"]

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no characters that look alike
_Parameter = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]


class Completion(Part):
    """What a participant gets at the end: a code, and an address to go to.

    Without a ``code`` each participant gets one of their own. In ``url``, ``{code}`` and the name
    of an identifier in braces stand for their values.
    """

    code: Annotated[str, Field(max_length=64)] = ""
    # A parameter from the browser must not determine the host of the address.
    url: Annotated[
        str, Field(max_length=2000, pattern=r"^($|https?://[^\s{}/?#\\]+([/?#][^\s]*)?$)")
    ] = ""

    def new_code(self) -> str:
        """Return the code of a participant: the plan's, or a new one."""
        return self.code or "".join(secrets.choice(_ALPHABET) for _ in range(8))

    def address(self, code: str, identifiers: Mapping[str, str]) -> str:
        """Return the address to which a participant is sent, or an empty string."""
        address = self.url
        for name, value in {"code": code, **identifiers}.items():
            address = address.replace(f"{{{name}}}", quote(value, safe=""))
        return address


class Recruitment(Part):
    """Which parameters of the invitation's address are kept, and what is given at the end.

    ``identity`` is the parameter that identifies a participant, who takes part once.
    """

    identity: _Parameter | None = None
    parameters: Annotated[tuple[_Parameter, ...], Field(max_length=20)] = ()
    finished: Completion | None = None
    left: Completion | None = None
    screened_out: Completion | None = None

    def kept(self, query: Mapping[str, str]) -> dict[str, str]:
        """Return the stored parameters of an address, cut to 200 characters."""
        wanted = dict.fromkeys([*([self.identity] if self.identity else []), *self.parameters])
        return {name: query[name][:200] for name in wanted if query.get(name)}

    def completion(self, ending: Ending) -> Completion | None:
        """Return the completion for an ending; None if the plan has none."""
        found: Completion | None = getattr(self, ending.replace(" ", "_"))
        return found


# -- the plan --------------------------------------------------------------------------------------

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
#: Characters of a page, most of which its pictures take.
_MOST_OF_PAGE = 4_000_000
#: Suffixes of pictures that a page may show.
_PICTURES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif"}
_MOST_PICTURE_BYTES = 2_000_000
#: A picture of a page in Markdown, by a file name.
_PICTURE = re.compile(r"(!\[[^\]]*\]\()([^()\s:]+)(?=\))")


def _read_page(value: Any, info: ValidationInfo) -> Any:
    """Return a page of a file, with its pictures as data addresses: pages load nothing else."""
    if info.context is None or not isinstance(value, str):
        return value
    base: Path = info.context
    if value.endswith(".md") and "\n" not in value:
        value = read_text(base / value)
    return _PICTURE.sub(lambda found: found[1] + _picture_data(base / found[2]), value)


def _picture_data(path: Path) -> str:
    """Return a picture as a data address; raise ConfigError if it is missing or too large."""
    kind = _PICTURES.get(path.suffix.lower())
    if kind is None or not path.is_file():
        raise ConfigError(f"{path}: expected a picture (gif, jpeg, png)")
    content = path.read_bytes()
    if len(content) > _MOST_PICTURE_BYTES:
        most, n_bytes = _MOST_PICTURE_BYTES, len(content)
        raise ConfigError(f"{path}: expected at most {most:,} bytes, found {n_bytes:,}")
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


_Text = Annotated[str, BeforeValidator(_read_page), Field(max_length=_MOST_OF_PAGE)]
_Page = Annotated[_Text, Field(min_length=1)]


def _is_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r}: expected letters, digits, '_', '.' and '-'")
    return name


def _is_path(name: str) -> str:
    # It becomes the name of a file in an export.
    if not all(_NAME.fullmatch(part) for part in name.split("/")):
        raise ValueError(f"{name!r}: expected letters, digits, '_', '.', '-' and '/'")
    return name


def pieces_of(board: Board) -> list[dict[str, Any]]:
    """Return the pieces of a board as pages and plans have them."""
    return [{"cell": each.pos, "shape": each.shape, "color": each.color} for each in board.pieces]


class Series(SeriesPlan):
    """A rule of a list: boards to play, or evidence and then test boards without replies.

    With ``evidence``, players step through attempts on ``episodes`` boards: a kind of evidence of
    :func:`gohr.induction.evidence`, or their ``own`` attempts in the previous series. Then they
    move the pieces of ``tests`` boards without replies, and guess the rule.
    """

    evidence: Literal["own", "random", "positive", "negative", "informative"] | None = None
    tests: Annotated[int, Field(ge=1, le=50)] = 5

    @field_validator("given", mode="before")
    @classmethod
    def _read_boards(cls, given: Any, info: ValidationInfo) -> Any:
        if info.context is None or not isinstance(given, list):
            return given
        files = (info.context / x if isinstance(x, str) else x for x in given)
        return [pieces_of(read_board_file(x)) if isinstance(x, Path) else x for x in files]

    @model_validator(mode="after")
    def _tests_have_no_replies(self) -> Series:
        unlike = self.given, self.points, self.mastery, self.feedback != "free"
        if self.evidence is not None and (any(unlike) or self.guess in ("mastery", "board")):
            raise ValueError(
                "evidence: expected no given boards, points, mastery, feedback, or guess after "
                "each board, since test boards have no replies"
            )
        return self


class StudyPlan(Part):
    """A study, as its TOML file defines it.

    There an entry of a list is the name of a rule, or a table with the fields of a
    :class:`Series`; a field that it leaves out is taken from ``defaults``, or from the study. Pages
    may be file names that end in ``.md``, rules file names that end in ``.txt``, and ``given``
    names of board files.
    Players of a list take the trials 0, 1, ... in turn. Evidence and test boards are those of
    learners and models in the same trial with the same ``seed``.

    Examples
    --------
    >>> plan = StudyPlan.from_record({"name": "pilot", "title": "A pilot", "consent": "I agree.",
    ...     "lists": {"a": ["clockwise", {"rule": "color-match", "episodes": 3}]}})
    >>> [(series.rule, series.episodes) for series in plan.lists["a"]]
    [('clockwise', 8), ('color-match', 3)]
    """

    name: Annotated[str, AfterValidator(_is_name)]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    consent: _Page
    episodes: Annotated[int, Field(ge=1, le=200)] = 8
    horizon: Annotated[int, Field(ge=1, le=1000)] = 100
    memory_aid: bool = True
    board: BoardPlan = BoardPlan()
    trials: Annotated[int, Field(ge=1, le=1000)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    rule_texts: dict[
        Annotated[str, AfterValidator(_is_path)], Annotated[str, Field(max_length=100_000)]
    ] = Field(default_factory=dict)
    instructions: Annotated[tuple[_Page, ...], Field(max_length=50)] = ()
    quiz: Quiz | None = None
    demographics_page: _Text = ""
    demographics: Annotated[tuple[Question, ...], Field(max_length=50)] = ()
    debrief: _Text = ""
    recruitment: Recruitment = Recruitment()
    # The last one, since a fault of the study is one of each series too.
    lists: dict[
        Annotated[str, AfterValidator(_is_name)],
        Annotated[tuple[Series, ...], Field(min_length=1, max_length=50)],
    ] = Field(min_length=1, max_length=1000)

    @model_validator(mode="before")
    @classmethod
    def _every_series_is_whole(cls, record: Any, info: ValidationInfo) -> Any:
        """Put into each series what it leaves out, and the texts of rules from files into the plan.

        The report of wrong types is left to their checks.
        """
        if not isinstance(record, dict) or not isinstance(record.get("lists"), dict):
            return record
        names = ("episodes", "horizon", "memory_aid", "board")
        shared = {name: record[name] for name in names if name in record}
        record = dict(record)
        if isinstance(record.get("defaults"), dict):
            shared |= record.pop("defaults")
        texts = record.get("rule_texts", {})
        texts = dict(texts) if isinstance(texts, dict) else texts
        lists = {
            name: [_whole(entry, shared, info.context, texts) for entry in entries]
            if isinstance(entries, list | tuple)
            else entries
            for name, entries in record["lists"].items()
        }
        return record | {"lists": lists, "rule_texts": texts}

    @model_validator(mode="after")
    def _own_attempts_come_first(self) -> StudyPlan:
        for name, listed in self.lists.items():
            for n, each in enumerate(listed):
                before = [(x.rule, x.evidence) for x in listed[:n]][-1:]
                if each.evidence == "own" and before != [(each.rule, None)]:
                    raise ValueError(
                        f"list {name}, series {n + 1}: expected the previous series to play "
                        f"{each.rule}, since the evidence is the player's own attempts"
                    )
        return self

    @property
    def rules(self) -> tuple[str, ...]:
        """Every rule of the plan, once, in the order of the lists."""
        return tuple(dict.fromkeys(each.rule for listed in self.lists.values() for each in listed))

    def rule_text(self, name: str) -> str | None:
        """Return the text of a rule of the plan, the library or gohr-basic; None if none has it."""
        if name in self.rule_texts:
            return self.rule_texts[name]
        if name in available_rules():
            return load_rule_text(name)
        return load_suite("gohr-basic").texts.get(name)

    @classmethod
    def from_record(
        cls, record: Mapping[str, Any], where: str = "study plan", base: Path | None = None
    ) -> StudyPlan:
        """Check a plan; with ``base``, read the files that it names, relative to this folder.

        Raises
        ------
        ConfigError
            A field is not valid; the message names the first one.
        """
        try:
            return cls.model_validate(dict(record), context=base)
        except ValidationError as errors:
            found = wrong_field(errors, StudyPlan, also=["defaults"])
            raise ConfigError(f"{where}: {found}") from None


def _whole(entry: Any, shared: Mapping[str, Any], base: Path | None, texts: Any) -> Any:
    entry = {"rule": entry} if isinstance(entry, str) else entry
    if not isinstance(entry, dict):
        return entry
    found = {**shared, **entry}
    rule: Any = found.get("rule")
    names_file = isinstance(rule, str) and rule.endswith(".txt")
    if base is not None and names_file and isinstance(texts, dict):
        resolve_rule(base / rule)  # an error names file and line
        found["rule"] = Path(rule).stem
        texts[found["rule"]] = read_text(base / rule, noun="rule file")
    return found


def read_plan(path: str | Path) -> StudyPlan:
    """Read the TOML file of a plan, with the files that it names.

    Raises
    ------
    GnomonError
        The file does not exist, or is not text.
    ConfigError
        A field is misspelt, missing, or of the wrong kind.
    """
    path = Path(path)
    text = read_text(path, noun="plan")
    try:
        # An export contains its plan as JSON.
        record = json.loads(text) if text.lstrip().startswith("{") else parse_toml(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}: expected JSON: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: not a JSON file: values are nested too deeply") from None
    except GnomonError as error:
        raise ConfigError(f"{path}: {error}") from None
    return StudyPlan.from_record(record, str(path), path.parent)
