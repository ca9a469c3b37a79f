"""Questions to participants: choices, numbers and texts, and a quiz that must be passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from gnomon.errors import GnomonError
from gnomon.studies.languages import texts
from gnomon.studies.plan.series_plan import Part
from gnomon.studies.plan.visibility import Condition, parse_condition


class AnswerError(GnomonError):
    """An answer that is missing, or is none of those that were offered, to ``question``."""

    def __init__(self, asked: Question, message: str) -> None:
        self.question = asked.name
        super().__init__(f"{asked.title}: {message}")


class Question(Part):
    """A question. ``answer`` is the right one, for questions of a quiz.

    A choice written ``value|label`` is shown as its label, and kept as its value. Who has mastered
    less than ``goodness_least``, or not less than ``goodness_below``, is not asked: the mean over
    the series of 1 for points quadrupled, and a half for points doubled. Nor is who answered the
    questions before it otherwise than ``visible_if`` says: see
    :mod:`gnomon.studies.plan.visibility`.

    Examples
    --------
    >>> age = Question(name="age", title="How old are you?", kind="number", least=18, most=120)
    >>> age.checked(" 44 ")
    '44'
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
    title: Annotated[str, Field(min_length=1, max_length=500)]
    kind: Literal["choice", "text", "number"] = "text"
    choices: Annotated[tuple[str, ...], Field(max_length=50)] = ()
    least: int | None = None
    most: int | None = None
    required: bool = True
    answer: str = ""
    goodness_least: float | None = None
    goodness_below: float | None = None
    visible_if: Annotated[str, Field(max_length=1000)] = ""

    @model_validator(mode="after")
    def _can_be_answered(self) -> Question:
        if (self.kind == "choice") != bool(self.choices):
            raise ValueError(f"{self.name}: expected choices for a choice, and for nothing else")
        if self.kind == "choice" and self.answer and self.answer not in self.values:
            raise ValueError(f"{self.name}: expected the answer to be one of the choices")
        try:
            _ = self.condition
        except ValueError as error:
            raise ValueError(f"{self.name}: visible_if {self.visible_if!r}: {error}") from None
        return self

    @property
    def condition(self) -> Condition | None:
        """On what answers it is asked; None if whatever they are."""
        return parse_condition(self.visible_if) if self.visible_if.strip() else None

    @property
    def values(self) -> tuple[str, ...]:
        """What is kept of each choice."""
        return tuple(self.labels)

    @property
    def labels(self) -> dict[str, str]:
        """What is shown of each choice, by what is kept of it."""
        parts = (choice.partition("|") for choice in self.choices)
        return {value: label or value for value, _, label in parts}

    def is_for(self, goodness: float) -> bool:
        """Tell whether somebody who has mastered so much is asked."""
        least, below = self.goodness_least, self.goodness_below
        return (least is None or goodness >= least) and (below is None or goodness < below)

    def checked(self, text: str) -> str:
        """Return an answer as it is kept.

        Raises
        ------
        AnswerError
            There is none to a question that needs one, or it is none that was offered.
        """
        # PostgreSQL keeps no NUL.
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


@dataclass(frozen=True)
class AskedQuestion:
    """A question without its answer.

    ``visible_if`` is the condition on the answers to those before it, None if there is none, and
    ``only_if`` says it in words.
    """

    name: str
    title: str
    kind: str
    choices: tuple[str, ...]
    least: int | None
    most: int | None
    required: bool
    visible_if: dict[str, Any] | None
    only_if: str


def without_answers(questions: Sequence[Question], language: str) -> tuple[AskedQuestion, ...]:
    """Return what a player may see of questions, with their conditions in words of a language."""
    titles = {each.name: each.title for each in questions}
    labels = {each.name: each.labels for each in questions}
    same = {*AskedQuestion.__dataclass_fields__} - {"visible_if", "only_if"}
    found = []
    for each in questions:
        known, condition = each.model_dump(include=same), each.condition
        tree = None if condition is None else asdict(condition)
        only_if = condition.in_words(titles, labels, texts(language)) if condition else ""
        found.append(AskedQuestion(**known, visible_if=tree, only_if=only_if))
    return tuple(found)


class Quiz(Part):
    """Questions on the instructions; who fails ``tries`` times is screened out."""

    questions: Annotated[tuple[Question, ...], Field(min_length=1, max_length=30)]
    tries: Annotated[int, Field(ge=1, le=20)] = 2

    @model_validator(mode="after")
    def _has_right_answers(self) -> Quiz:
        for question in self.questions:
            if not question.answer:
                raise ValueError(f"{question.name}: expected the right answer")
            if question.condition is not None:
                raise ValueError(f"{question.name}: expected no visible_if: a quiz is for all")
        return self

    def wrong(self, answers: Mapping[str, str]) -> tuple[str, ...]:
        """Return the names of the questions that were not answered rightly."""
        return tuple(
            question.name
            for question in self.questions
            if answers[question.name].casefold() != question.answer.casefold()
        )


def checked_answers(questions: Sequence[Question], given: Mapping[str, str]) -> dict[str, str]:
    """Return the answers as they are kept: those to the questions that are to be seen.

    Errors as :meth:`Question.checked`.

    Examples
    --------
    >>> asked = [Question(name="age", title="Age?"),
    ...          Question(name="school", title="Which school?", visible_if="{age} < 18")]
    >>> checked_answers(asked, {"age": "44", "school": "none"})
    {'age': '44'}
    """
    kept: dict[str, str] = {}
    for question in questions:
        condition = question.condition
        if condition is None or condition.holds(kept):
            kept[question.name] = question.checked(given.get(question.name, ""))
    return kept


def require_earlier_questions(questions: Sequence[Question]) -> None:
    """Refuse a condition on the answer to a question that does not stand before it.

    Raises ValueError: with the first one.
    """
    before: list[str] = []
    for question in questions:
        asked = question.condition.questions() if question.condition else set()
        for name in sorted(asked.difference(before)):
            known = ", ".join(before) or "none"
            where = f"{question.name}: visible_if {question.visible_if!r}"
            raise ValueError(f"{where}: expected an earlier question ({known}); found {name!r}")
        before.append(question.name)
