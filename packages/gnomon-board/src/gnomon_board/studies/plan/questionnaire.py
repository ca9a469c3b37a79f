"""Questions to participants: choices, numbers and texts, and a quiz that must be passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from gnomon.errors import GnomonError
from gohr.people import Part


class AnswerError(GnomonError):
    """An answer to ``question`` that is missing or was not offered."""

    def __init__(self, asked: Question, message: str) -> None:
        self.question = asked.name
        super().__init__(f"{asked.title}: {message}")


class Question(Part):
    """A question. ``answer`` is the right one, for questions of a quiz.

    A choice written ``value|label`` is shown as its label, and kept as its value.

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

    @model_validator(mode="after")
    def _can_be_answered(self) -> Question:
        if (self.kind == "choice") != bool(self.choices):
            raise ValueError(f"{self.name}: expected choices for a choice, and for nothing else")
        if self.kind == "choice" and self.answer and self.answer not in self.values:
            raise ValueError(f"{self.name}: expected the answer to be one of the choices")
        return self

    @property
    def values(self) -> tuple[str, ...]:
        """What is kept of each choice."""
        return tuple(choice.partition("|")[0] for choice in self.choices)

    def checked(self, text: str) -> str:
        """Return an answer as it is kept.

        Raises
        ------
        AnswerError
            A question that needs an answer has none, or the answer was not offered.
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
    """A question without its answer."""

    name: str
    title: str
    kind: str
    choices: tuple[str, ...]
    least: int | None
    most: int | None
    required: bool


def without_answers(questions: Sequence[Question]) -> tuple[AskedQuestion, ...]:
    """Return what a player may see of questions."""
    shown = {*AskedQuestion.__dataclass_fields__}
    return tuple(AskedQuestion(**each.model_dump(include=shown)) for each in questions)


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
    """Return the answers as they are kept. Errors as :meth:`Question.checked`.

    Examples
    --------
    >>> checked_answers([Question(name="age", title="Age?")], {"age": "44", "school": "none"})
    {'age': '44'}
    """
    return {each.name: each.checked(given.get(each.name, "")) for each in questions}
