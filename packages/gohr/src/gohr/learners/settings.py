"""Settings of a learner: what its class declares, with types, defaults, ranges and meanings.

The parameters of a learner's class are its settings, apart from the board specification and the
random generator. The class is the only place that declares them: a type (``bool``, ``int``,
``float``, ``str``, or a ``Literal`` of words; ``| None`` if it may be left open), a default, a
:class:`Range` within ``Annotated``, and a description in the docstring's section "Parameters".
Config files, ``gohr learners`` and cards read it there.
"""

from __future__ import annotations

import inspect
import math
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from gohr.errors import ConfigError

#: Most seconds of patience: eleven days, which locks and sockets can still count.
LONGEST_S = 1e6
_LARGEST = 1e300

_TYPES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
#: Keys of a learner's table in a config file that are not settings.
_RESERVED = ("kind", "name", "grid", "version", "reveal")


@dataclass(frozen=True, slots=True)
class Range:
    """The finite numbers that a setting may be.

    Parameters
    ----------
    least, most : float
        The bounds, which belong to it.
    open_below : bool
        Whether ``least`` itself is too little.

    Examples
    --------
    >>> Range(0.0, 1.0).check("gamma", 2.0)
    Traceback (most recent call last):
    ValueError: gamma: expected a number from 0 to 1, found 2.0
    """

    least: float = -math.inf
    most: float = math.inf
    open_below: bool = False

    @property
    def expected(self) -> str:
        """The range in words that complete "expected a number ..."."""
        if math.isinf(self.least):
            return "that is finite"
        if math.isinf(self.most):
            return f"{'above' if self.open_below else 'of at least'} {self.least:g}"
        if self.open_below:
            return f"above {self.least:g} and at most {self.most:,.15g}"
        return f"from {self.least:g} to {self.most:,.15g}"

    def check(self, name: str, value: float) -> None:
        """Raise ValueError unless a number is finite and in the range."""
        too_little = value < self.least or (self.open_below and value == self.least)
        if not math.isfinite(value) or too_little or value > self.most:
            raise ValueError(f"{name}: expected a number {self.expected}, found {value}")


@dataclass(frozen=True, slots=True)
class LearnerField:
    """A setting of a kind of learner.

    Parameters
    ----------
    name : str
        Name in a config file.
    type : type
        ``bool``, ``int``, ``float`` or ``str``; a whole number will do for a float.
    default : bool, int, float, str or None
        Its value if the config omits it; None if it is required, or ``optional``.
    choices : tuple of str
        The words to choose from; empty if it is not a choice.
    range : Range, optional
        The numbers that it may be.
    meaning : str
        Its description in the docstring of the class, on one line.
    optional : bool
        Whether it may be left open, which is its default then.

    Examples
    --------
    >>> from gohr.learners import learner_kinds
    >>> learner_kinds("linear_dqn")[0].settings[0].type
    <class 'float'>
    """

    name: str
    type: type
    default: bool | int | float | str | None
    choices: tuple[str, ...] = ()
    range: Range | None = None
    meaning: str = ""
    optional: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether the config must set it."""
        return self.default is None and not self.optional

    @property
    def expected(self) -> str:
        """Possible values, in words that complete "expected ..."."""
        return " or ".join(map(repr, self.choices)) if self.choices else _TYPES[self.type]

    def read(self, value: object) -> bool | int | float | str | None:
        """Return a value with the type of this field; its range is for :meth:`check`.

        Raises
        ------
        ConfigError
            If it has another type, or is not one of the choices.
        """
        match value:
            case None if self.optional:
                return None
            case bool() if self.type is bool:
                return value
            case bool():
                pass
            case int() if self.type is int:
                return value
            case int() | float() if self.type is float and abs(value) <= _LARGEST:
                return float(value)
            case str() if value in self.choices or (self.type is str and not self.choices):
                return value
        raise ConfigError(f"{self.name}: expected {self.expected}, found {value!r}")

    def check(self, value: Any) -> None:
        """Raise ValueError if a value is out of range, or not one of the choices."""
        if value is None and self.optional:
            return
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.name}: expected {self.expected}, found {value!r}")
        if self.range is not None:
            self.range.check(self.name, value)


def check_settings(learner: Any) -> None:
    """Raise ValueError if a setting that a learner keeps under its name is out of range."""
    for name, declared in settings_of(learner.__class__).items():
        if hasattr(learner, name):
            declared.check(getattr(learner, name))


@cache
def settings_of(learner: Any) -> Mapping[str, LearnerField]:
    """Return the settings that the class of a learner declares, by name.

    Raises ConfigError if a parameter of the class cannot be a setting.

    Examples
    --------
    >>> from gohr.learners import TabularQ
    >>> settings_of(TabularQ)["tie_break"].choices
    ('random', 'first')
    """
    parameters = [
        p
        for p in list(inspect.signature(learner).parameters.values())[1:]
        if p.name != "rng" and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    hints, meanings = _hints(learner), _meanings(inspect.getdoc(learner) or "")
    fields = [_field(p, hints.get(p.name), meanings.get(p.name, "")) for p in parameters]
    return MappingProxyType({field.name: field for field in fields})


def _hints(learner: type) -> dict[str, Any]:
    """Return the annotations of the parameters of a class."""
    owner = next(base for base in learner.__mro__ if "__init__" in vars(base))
    if "__dataclass_params__" in vars(owner):
        # Each field in the namespace of the class that has it; the constructor has only one.
        return typing.get_type_hints(learner, include_extras=True)
    return typing.get_type_hints(vars(owner)["__init__"], include_extras=True)


def _field(parameter: inspect.Parameter, hint: Any, meaning: str) -> LearnerField:
    """Describe a parameter by its annotation, or else by its default."""
    name = parameter.name
    default = None if parameter.default is parameter.empty else parameter.default
    within: Range | None = None
    choices: tuple[Any, ...] = ()
    optional = get_origin(hint) is UnionType or get_origin(hint) is Union
    if optional:
        parts = [part for part in get_args(hint) if part is not NoneType]
        hint = parts[0] if len(parts) == 1 else hint
    if get_origin(hint) is Annotated:
        hint, *extras = get_args(hint)
        within = next((extra for extra in extras if isinstance(extra, Range)), None)
    if get_origin(hint) is Literal:
        hint, choices = str, get_args(hint)
    found = type(default) if hint is None else hint
    if found not in _TYPES or not all(isinstance(choice, str) for choice in choices):
        expected = "expected a bool, int, float, str or a Literal of words"
        raise ConfigError(f"setting {name!r}: {expected}; found {_shown(found)}")
    if name in _RESERVED:
        raise ConfigError(f"setting {name!r}: a config file means something else by this name")
    return LearnerField(name, found, default, choices, within, meaning, optional)


def _shown(found: Any) -> str:
    return found.__name__ if isinstance(found, type) else str(found)


_ENTRY = re.compile(r"^(\w+(?:, \w+)*) *:[^\n]*\n((?:[ \t]+\S[^\n]*(?:\n|$)|[ \t]*\n)+)", re.M)


def _meanings(doc: str) -> dict[str, str]:
    """Return the descriptions in the section "Parameters" of a docstring, each on one line."""
    _, _, rest = doc.partition("Parameters\n----------\n")
    section = re.split(r"\n\n\w[\w ]*\n-{3,}\n", rest)[0]
    return {
        name: " ".join(text.split())
        for names, text in _ENTRY.findall(section)
        for name in names.split(", ")
    }
