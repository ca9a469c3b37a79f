"""Conditions on answers: who is asked a question depends on what was answered before.

A recursive-descent parser of such expressions as ``visibleIf`` has in surveys of SurveyJS. Of them
these are read, with ``or`` binding least and ``not`` most::

    condition  = condition "or" condition | condition "and" condition | "not" condition
               | "(" condition ")" | comparison
    comparison = "{question}" ("=" | "<>" | "contains" | "notcontains") value
               | "{question}" ("<" | "<=" | ">" | ">=") number
               | "{question}" "anyof" "[" value {"," value} "]"
               | "{question}" ("empty" | "notempty")

``==``, ``!=``, ``&&``, ``||`` and ``!`` are other spellings; a value is a word, a number, or stands
in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from operator import eq, ge, gt, le, lt
from typing import Literal

_TOKEN = re.compile(
    r"""\s*(?:\{(?P<name>[^{}]+)\}
        | '(?P<single>[^']*)' | "(?P<double>[^"]*)"
        | (?P<symbol><>|[!<>=]=|&&|\|\||[][=<>!(),])
        | (?P<word>[^][(){}\s'",=<>!&|]+)
        | (?P<unknown>\S))""",
    re.VERBOSE,
)
_SPELLINGS = {"==": "=", "!=": "<>", "&&": "and", "||": "or", "!": "not"}
_OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "contains", "notcontains", "anyof", "empty",
              "notempty")  # fmt: skip
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "=": eq, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition: a comparison of one answer, or others that are joined.

    The answer is ``=`` one of the ``values``, which are compared as numbers if both are, else
    whatever their case; it ``contains`` the one value; it is ``empty``. What was not answered, or
    not asked, is empty, and nothing else holds of it.

    Examples
    --------
    >>> condition = parse_condition("{sex} = other and not {age} < 18")
    >>> condition.holds({"sex": "Other", "age": "44"}), condition.holds({"sex": "other"})
    (True, True)
    >>> sorted(condition.questions())
    ['age', 'sex']
    """

    operator: Literal["and", "or", "not", "=", "<", "<=", ">", ">=", "contains", "empty"]
    parts: tuple[Condition, ...] = ()
    question: str = ""
    values: tuple[str, ...] = ()

    def holds(self, answers: Mapping[str, str]) -> bool:
        """Tell whether it holds of the answers. ``static/questions.js`` must say the same."""
        match self.operator:
            case "and":
                return all(part.holds(answers) for part in self.parts)
            case "or":
                return any(part.holds(answers) for part in self.parts)
            case "not":
                return not self.parts[0].holds(answers)
        answer = answers.get(self.question, "").strip()
        if self.operator == "empty" or not answer:
            return self.operator == "empty" and not answer
        return any(self._compares(answer, value) for value in self.values)

    def _compares(self, answer: str, value: str) -> bool:
        if self.operator == "contains":
            return value.lower() in answer.lower()
        if not (_NUMBER.fullmatch(answer) and _NUMBER.fullmatch(value)):
            return self.operator == "=" and answer.lower() == value.lower()
        return _COMPARED[self.operator](float(answer), float(value))

    def comparisons(self) -> Iterator[Condition]:
        """Yield the comparisons of single answers in it."""
        if self.question:
            yield self
        for part in self.parts:
            yield from part.comparisons()

    def questions(self) -> set[str]:
        """Return the names of the questions on whose answers it depends."""
        return {each.question for each in self.comparisons()}

    def in_words(
        self,
        titles: Mapping[str, str],
        labels: Mapping[str, Mapping[str, str]],
        words: Mapping[str, str],
    ) -> str:
        """Return it for somebody to read, in the ``words`` of a language.

        ``titles`` and ``labels`` of the values are those of the questions, by their names.
        """
        parts = [
            f"({told})" if part.operator in ("and", "or") else told
            for part in self.parts
            for told in [part.in_words(titles, labels, words)]
        ]
        if self.operator in ("and", "or"):
            return f" {words[f'if_{self.operator}']} ".join(parts)
        if self.operator == "not":
            return words["if_not"].format(condition=parts[0])
        title = f"“{titles.get(self.question, self.question)}”"
        if self.operator == "empty":
            return words["if_empty"].format(question=title)
        sign = {"<=": "≤", ">=": "≥", "contains": words["if_contains"]}
        known = labels.get(self.question, {})
        values = " / ".join(known.get(value, value) for value in self.values)
        return f"{title} {sign.get(self.operator, self.operator)} {values}"


@cache
def parse_condition(text: str) -> Condition:
    """Return the condition that an expression says.

    Raises ValueError: it cannot be read.

    Examples
    --------
    >>> parse_condition("{age} >= 18").values
    ('18',)
    >>> parse_condition("{age} is 18")
    Traceback (most recent call last):
    ...
    ValueError: expected one of = <> < <= > >= contains notcontains anyof empty notempty; found 'is'
    """
    parser = _Parser(list(_TOKEN.finditer(text.rstrip())))
    found = parser.alternatives(0)
    if parser.rest:
        raise ValueError(f"expected 'and', 'or' or the end; found {parser.taken()}")
    return found


def with_names(text: str, rename: Callable[[str], str]) -> str:
    """Return an expression with other names of questions; what stands in quotes stays."""
    return "".join(
        each[0] if each["name"] is None else f" {{{rename(each['name'].strip())}}}"
        for each in _TOKEN.finditer(text)
    ).strip()


class _Parser:
    def __init__(self, tokens: list[re.Match[str]]) -> None:
        self.rest = tokens[::-1]

    def word(self) -> str:
        """Return the keyword or symbol that comes next, '' if something else does."""
        token = self.rest[-1] if self.rest else None
        text = "" if token is None else (token["symbol"] or token["word"] or "").lower()
        return _SPELLINGS.get(text, text)

    def taken(self) -> str:
        """Take what comes next, and return it as a message shows it."""
        return repr(self.rest.pop()[0].strip()) if self.rest else "the end"

    def alternatives(self, depth: int) -> Condition:
        return self.joined("or", lambda: self.joined("and", lambda: self.single(depth)))

    def joined(self, operator: Literal["and", "or"], part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self.word() == operator:
            self.taken()
            parts.append(part())
        return parts[0] if len(parts) == 1 else Condition(operator, tuple(parts))

    def single(self, depth: int) -> Condition:
        if depth > _DEEPEST:
            raise ValueError(f"expected at most {_DEEPEST} conditions within each other")
        if self.word() == "not":
            self.taken()
            return Condition("not", (self.single(depth + 1),))
        if self.word() != "(":
            return self.comparison()
        self.taken()
        found = self.alternatives(depth + 1)
        self.must_be(")")
        return found

    def must_be(self, symbol: str) -> None:
        if self.word() != symbol:
            raise ValueError(f"expected {symbol!r}; found {self.taken()}")
        self.taken()

    def comparison(self) -> Condition:
        if not self.rest or self.rest[-1]["name"] is None:
            raise ValueError(f"expected a question in braces; found {self.taken()}")
        question = self.rest.pop()["name"].strip()
        operator = self.word()
        if operator not in _OPERATORS:
            raise ValueError(f"expected one of {' '.join(_OPERATORS)}; found {self.taken()}")
        self.taken()
        match operator:
            case "empty" | "notempty":
                found = Condition("empty", (), question)
            case "anyof":
                found = Condition("=", (), question, self.values())
            case "<" | "<=" | ">" | ">=":
                found = Condition(operator, (), question, (self.value("a number", _NUMBER),))
            case "contains" | "notcontains":
                found = Condition("contains", (), question, (self.value(),))
            case _:
                found = Condition("=", (), question, (self.value(),))
        is_denied = operator in ("<>", "notempty", "notcontains")
        return Condition("not", (found,)) if is_denied else found

    def value(self, noun: str = "a value", kind: re.Pattern[str] = re.compile(r".*\S.*")) -> str:
        token = self.rest[-1] if self.rest else None
        quoted = "" if token is None else token["single"] or token["double"] or token["word"] or ""
        if not kind.fullmatch(quoted.strip()):
            raise ValueError(f"expected {noun}; found {self.taken()}")
        self.taken()
        return quoted.strip()

    def values(self) -> tuple[str, ...]:
        self.must_be("[")
        found = [self.value()]
        while self.word() == ",":
            self.taken()
            found.append(self.value())
        self.must_be("]")
        return tuple(found)
