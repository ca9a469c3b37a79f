"""Learners by name, with settings as a config file gives them."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from gnomon.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np

    from gnomon.game.board import BoardSpec
    from gnomon.learners.base import Learner

__all__ = [
    "LearnerField",
    "available_learners",
    "is_shown_the_rule",
    "learner_fields",
    "make_learner",
]

# Where each kind is, loaded when it is first asked for. The settings of a kind are the keyword
# parameters of its class but for ``rng``, each annotated with one of the types below.
_CLASSES = {
    "uniform": ("gnomon.learners.uniform", "Uniform"),
    "frugal": ("gnomon.learners.frugal", "Frugal"),
    "rule_player": ("gnomon.learners.rule_player", "RulePlayer"),
    "openai_http": ("gnomon.learners.external.openai_http", "LanguageModel"),
    "process": ("gnomon.learners.external.process", "Process"),
    "reinforce": ("gnomon.learners.reinforce", "Reinforce"),
    "sb3": ("gnomon.learners.external.sb3", "StableBaselines"),
    "tabular_q": ("gnomon.learners.tabular_q", "TabularQ"),
    "ideal": ("gnomon.learners.ideal.learner", "Ideal"),
    "linear_dqn": ("gnomon.learners.linear_dqn", "LinearDQN"),
}


@dataclass(frozen=True, slots=True)
class LearnerField:
    """A setting of a kind of learner.

    Parameters
    ----------
    name : str
        As in a config file.
    type : type
        ``bool``, ``int``, ``float`` or ``str``; a whole number will do for a float.
    default : bool, int, float or str
        Its value if the config says nothing.
    choices : tuple of str
        The words to choose from; empty if it is not a choice.
    """

    name: str
    type: type
    default: bool | int | float | str
    choices: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """What may stand there, in words that complete "expected ..."."""
        if self.choices:
            return " or ".join(map(repr, self.choices))
        words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
        return words[self.type]

    def read(self, value: object) -> bool | int | float | str:
        """Return a value with the type of this field.

        Raises
        ------
        ConfigError
            If it is of another type, or not one of the choices.
        """
        match value:
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


_LARGEST = 1e300


def available_learners() -> tuple[str, ...]:
    """Return the kinds of learners, in alphabetical order.

    Examples
    --------
    >>> available_learners()
    ('frugal', 'ideal', 'linear_dqn', 'openai_http', 'process', 'reinforce', 'rule_player', 'sb3',
    'tabular_q', 'uniform')
    """
    return tuple(sorted(_CLASSES))


@cache
def learner_fields(kind: str) -> Mapping[str, LearnerField]:
    """Return the settings of a kind of learner, by name.

    Raises
    ------
    UnknownNameError
        If there is no such kind, with the nearest names.

    Examples
    --------
    >>> learner_fields("linear_dqn")["actions"]
    LearnerField(name='actions', type=<class 'str'>, default='all', choices=('all', 'occupied'))
    """
    # The class itself, not its __init__, would lose the annotations' namespace.
    constructor = _learner_class(kind).__init__
    types = typing.get_type_hints(constructor)
    return MappingProxyType(
        {
            p.name: _field(p.name, types[p.name], p.default)
            for p in inspect.signature(constructor).parameters.values()
            if p.kind is p.KEYWORD_ONLY and p.name != "rng"
        }
    )


def is_shown_the_rule(kind: str) -> bool:
    """Tell whether learners of a kind see what the rule permits, without making one.

    A run may be read, and a log be verified, whose learner is not among ours: no, then.

    Examples
    --------
    >>> [is_shown_the_rule(kind) for kind in ("rule_player", "uniform", "somebody's")]
    [True, False, False]
    """
    return kind in _CLASSES and bool(_learner_class(kind).reveal)


def make_learner(
    kind: str, board_spec: BoardSpec, *, rng: np.random.Generator, **settings: Any
) -> Learner:
    """Make a learner for one trial.

    Parameters
    ----------
    kind : str
        One of :func:`available_learners`.
    board_spec : BoardSpec
        How boards are drawn; a learner may depend on the palettes.
    rng : numpy.random.Generator
        The learner's only source of randomness, and its own.
    **settings : bool, int, float or str
        Settings that differ from their defaults; :func:`learner_fields` tells which there are.

    Returns
    -------
    Learner

    Raises
    ------
    UnknownNameError
        If there is no such kind, with the nearest names.
    ConfigError
        If there is no such setting, or its value is of the wrong type or out of range: the message
        names the kind and the field.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.game.board import DEFAULT_SPEC
    >>> rng = np.random.default_rng(0)
    >>> make_learner("linear_dqn", DEFAULT_SPEC, rng=rng, gama=0.9)
    Traceback (most recent call last):
    gnomon.errors.ConfigError: learner 'linear_dqn': unknown field 'gama'; did you mean 'gamma'?
    """
    fields = learner_fields(kind)
    try:
        for name in settings:
            if name not in fields:
                raise UnknownNameError("field", name, fields)
        values = {name: fields[name].read(value) for name, value in settings.items()}
        # The ranges are the learner's own to judge.
        learner: Learner = _learner_class(kind)(board_spec, rng=rng, **values)
    except (ConfigError, UnknownNameError, ValueError) as error:
        raise ConfigError(f"learner {kind!r}: {error}") from None
    return learner


def _learner_class(kind: str) -> Any:
    """Return the class of a kind of learner."""
    if kind not in _CLASSES:
        raise UnknownNameError("learner", kind, _CLASSES)
    module, name = _CLASSES[kind]
    return getattr(import_module(module), name)


def _field(name: str, annotation: Any, default: Any) -> LearnerField:
    """Describe a parameter by its annotation."""
    if get_origin(annotation) is Literal:
        return LearnerField(name, str, default, get_args(annotation))
    return LearnerField(name, annotation, default)
