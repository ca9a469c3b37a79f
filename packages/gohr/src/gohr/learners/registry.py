"""The kinds of learners and their settings: built in, and your own.

A kind is a name of :func:`available_learners`, or the location of your own class,
``"package.module:Class"``.

The parameters of a learner's class are its settings, apart from the board specification and the
random generator. The class alone declares them: a type (``bool``, ``int``, ``float``, ``str``, or a
``Literal`` of words), a default, limits by pydantic's ``Field`` within ``Annotated``, and a
description in the docstring's section "Parameters".
"""

from __future__ import annotations

import hashlib
import inspect
import math
import operator
import re
import sys
import typing
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module, metadata
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_origin

from gnomon.errors import UnknownNameError, check_type, visible
from gnomon.results import Results, Row, generator
from gohr.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

    from gohr.board import BoardSpec
    from gohr.learners.base import Learner

# Location of each kind, loaded on first use.
_BUILT_IN = {
    "uniform": "gohr.learners.fixed_players:Uniform",
    "frugal": "gohr.learners.fixed_players:Frugal",
    "rule_player": "gohr.learners.fixed_players:RulePlayer",
    "process": "gohr.learners.process:Process",
    "reinforce": "gohr.learners.reinforce:Reinforce",
    "sb3": "gohr.learners.sb3:StableBaselines",
    "tabular_q": "gohr.learners.tabular_q:TabularQ",
    "ideal": "gohr.learners.ideal:Ideal",
    "linear_dqn": "gohr.learners.linear_dqn:LinearDQN",
}
#: Kinds without settings. The assignments of a board name one, and load no Numba for it.
WITHOUT_SETTINGS = ("uniform", "frugal", "rule_player")
#: Limits of a number, and the words for each.
_BOUNDS = {"gt": "above", "ge": "of at least", "lt": "below", "le": "at most"}
_TYPES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
#: Keys of a learner's table in a config file that are not settings.
_RESERVED = ("kind", "name", "grid", "version", "reveal")


# -- settings --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LearnerField:
    """A setting of a kind of learner; it is needed if its default is None.

    ``bounds`` has the limits of a number, by the names that pydantic's ``Field`` gives them.
    """

    name: str
    type: type
    default: bool | int | float | str | None
    choices: tuple[str, ...] = ()
    bounds: Mapping[str, float] = field(default_factory=dict)
    meaning: str = ""

    @property
    def expected(self) -> str:
        """Possible values, in words that complete "expected ..."."""
        if self.choices:
            return " or ".join(map(repr, self.choices))
        limits = {name: f"{limit:,.15g}" for name, limit in self.bounds.items()}
        if limits.keys() == {"ge", "le"}:
            return f"{_TYPES[self.type]} from {limits['ge']} to {limits['le']}"
        words = " and ".join(f"{_BOUNDS[name]} {limit}" for name, limit in limits.items())
        return f"{_TYPES[self.type]} {words}".rstrip()

    def read(self, value: object) -> bool | int | float | str:
        """Return a value with the type of this field; raise ConfigError for any other value."""
        allowed = (int, float) if self.type is float else self.type
        if isinstance(value, allowed) and isinstance(value, bool) == (self.type is bool):
            with suppress(OverflowError):
                found: bool | int | float | str = self.type(value)
                if self.allows(found):
                    return found
        raise ConfigError(self.complaint(value))

    def allows(self, value: Any) -> bool:
        """Return whether a value of the right type is in range, or one of the choices."""
        in_range = all(getattr(operator, name)(value, x) for name, x in self.bounds.items())
        is_number = self.type is not float or math.isfinite(value)
        return in_range and is_number and (not self.choices or value in self.choices)

    def complaint(self, value: object) -> str:
        """Return what is wrong with a value."""
        return f"{self.name}: expected {self.expected}, found {value!r}"


def check_settings(learner: Any) -> None:
    """Raise ValueError if a setting that a learner keeps under its name is out of range."""
    for name, declared in settings_of(learner.__class__).items():
        if (declared.bounds or declared.choices) and hasattr(learner, name):
            value = getattr(learner, name)
            if not declared.allows(value):
                raise ValueError(declared.complaint(value))


@cache
def settings_of(learner: Any) -> Mapping[str, LearnerField]:
    """Return the settings that the class of a learner declares, by name."""
    meanings = _meanings(inspect.getdoc(learner) or "")
    owner = next(base for base in learner.__mro__ if "__init__" in vars(base))
    # The fields of a dataclass are in the namespace of the class that has them.
    annotated = learner if "__dataclass_params__" in vars(owner) else vars(owner)["__init__"]
    hints = typing.get_type_hints(annotated, include_extras=True)
    found = [
        _field(p, hints.get(p.name), meanings.get(p.name, ""))
        for p in list(inspect.signature(learner).parameters.values())[1:]
        if p.name != "rng" and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    return MappingProxyType({each.name: each for each in found})


def _field(parameter: inspect.Parameter, hint: Any, meaning: str) -> LearnerField:
    """Describe a parameter by its annotation, or else by its default."""
    name = parameter.name
    default = None if parameter.default is parameter.empty else parameter.default
    bounds: dict[str, float] = {}
    choices: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *extras = get_args(hint)
        limits = [limit for extra in extras for limit in getattr(extra, "metadata", ())]
        bounds = {name: getattr(x, name) for x in limits for name in _BOUNDS if hasattr(x, name)}
    if get_origin(hint) is Literal:
        hint, choices = str, get_args(hint)
    found = type(default) if hint is None else hint
    if found not in _TYPES or not all(isinstance(choice, str) for choice in choices):
        shown = found.__name__ if isinstance(found, type) else found
        expected = "expected a bool, int, float, str or a Literal of words"
        raise ConfigError(f"setting {name!r}: {expected}; found {shown}")
    if name in _RESERVED:
        raise ConfigError(f"setting {name!r}: this name has another meaning in config files")
    return LearnerField(name, found, default, choices, bounds, meaning)


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


# -- kinds -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LearnerKind:
    """A kind of learner: the first sentence of its docstring, and its settings.

    ``version`` is that of your own class, None if it is built in; ``reveal`` is whether it is shown
    what the rule permits.
    """

    kind: str
    name: str
    version: str | None
    reveal: bool
    description: str
    settings: tuple[LearnerField, ...]

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON."""
        settings = [
            {
                "name": field.name,
                "type": field.type.__name__,
                "default": field.default,
                "expected": field.expected,
                "meaning": field.meaning,
            }
            for field in self.settings
        ]
        return asdict(self) | {"settings": settings}


class LearnerKinds(Results[LearnerKind]):
    """Kinds of learners, as a table of one line each; a single one with its settings."""

    columns: ClassVar[tuple[str, ...]] = ("kind", "description")

    @property
    def title(self) -> str | None:
        """The description, if it is a single kind."""
        if not self._is_one:
            return None
        return f"{self[0].kind}: {self[0].description or 'not described'}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Command that shows the settings."""
        return () if self._is_one else ("gohr learners KIND shows the settings of one.",)

    def rows(self) -> Sequence[Row]:
        """Return a row a kind, or a row a setting of the only kind."""
        if not self._is_one:
            return [{name: getattr(kind, name) for name in self.columns} for kind in self]
        return [
            {
                "setting": field.name,
                "default": "needed" if field.default is None else _words(field.default),
                "expected": field.expected,
                "meaning": field.meaning,
            }
            for field in self[0].settings
        ]

    @property
    def _is_one(self) -> bool:
        return len(self) == 1 and bool(self[0].settings)

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        return list(rows[0]) if rows else []


def _words(default: float | str) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


def available_learners() -> tuple[str, ...]:
    """Return the built-in kinds of learners, in alphabetical order.

    Examples
    --------
    >>> "linear_dqn" in available_learners()
    True
    """
    return tuple(sorted(_BUILT_IN))


def learner_kinds(*kinds: str) -> LearnerKinds:
    """Describe kinds of learners with their settings, defaults and meanings.

    The built-in ones, if none is named.

    Raises
    ------
    UnknownNameError, ConfigError
        If a named kind does not exist, or is not a learner.

    Examples
    --------
    >>> [kind] = learner_kinds("linear_dqn")
    >>> kind.settings[3].name, kind.settings[3].choices
    ('actions', ('all', 'occupied'))
    """
    return LearnerKinds(tuple(map(learner_kind, kinds or available_learners())))


def learner_kind(kind: str) -> LearnerKind:
    """Describe one kind of learner."""
    learner = _learner_class(kind)
    # Not inspect.getdoc, which takes the text of the base class where there is none.
    sentence = " ".join((learner.__doc__ or "").partition("\n\n")[0].split())
    fields = tuple(_fields_of(kind).values())
    version = None if kind in _BUILT_IN else _version(learner)
    return LearnerKind(kind, learner.__name__, version, learner.reveal, sentence, fields)


def _fields_of(kind: str) -> Mapping[str, LearnerField]:
    """Return the settings of a kind of learner, by name."""
    learner = _learner_class(kind)
    try:
        return settings_of(learner)
    except ConfigError as error:
        raise ConfigError(f"learner {kind!r}: {error}") from None
    except NameError as error:
        raise ConfigError(f"learner {kind!r}: an annotation of its settings: {error}") from None


def kind_of(learner: type[Learner]) -> str:
    """Return the kind of a class; raise ConfigError if other processes could not find the class."""
    place = f"{learner.__module__}:{learner.__qualname__}"
    if "<locals>" in place:
        raise ConfigError(f"learner {place}: expected a class at the top of a module")
    return next((kind for kind, where in _BUILT_IN.items() if where == place), place)


def is_shown_the_rule(kind: str) -> bool:
    """Return whether learners of a kind see the permitted moves, without creating one.

    A run can be read, and a log verified, without its learner. Nothing is imported,
    since the author of the log would choose the module: such a learner is recognised only if it has
    been loaded; otherwise the result is False.

    Examples
    --------
    >>> is_shown_the_rule("rule_player"), is_shown_the_rule("uniform")
    (True, False)
    """
    if kind in _BUILT_IN:
        return kind == "rule_player"
    module, _, name = kind.partition(":")
    try:
        learner = attrgetter(name)(sys.modules[module])
    except (KeyError, AttributeError):
        return False
    return bool(getattr(learner, "reveal", False)) and isinstance(learner, type)


def plays_alone(kind: str) -> bool:
    """Return whether a kind is built in and needs no program, server or other package."""
    return kind in _BUILT_IN and kind not in ("process", "sb3")


@cache
def _version(learner: type) -> str | None:
    """Return the version of a class's package, or else the hash of its file if it has one."""
    package = learner.__module__.partition(".")[0]
    for distribution in metadata.packages_distributions().get(package, ()):
        return f"{distribution} {metadata.version(distribution)}"
    try:
        source = Path(inspect.getfile(learner)).read_bytes()
    except (OSError, TypeError):
        return None
    return f"sha256:{hashlib.sha256(source).hexdigest()[:16]}"


def make_learner(
    kind: str | type[Learner],
    board_spec: BoardSpec,
    *,
    rng: np.random.Generator | int = 0,
    **settings: Any,
) -> Learner:
    """Create a learner for one trial.

    Parameters
    ----------
    kind : str or class
        One of :func:`available_learners`, ``"package.module:Class"``, or the class itself.
    board_spec : BoardSpec
        How boards are drawn; a learner may depend on the palettes.
    rng : numpy.random.Generator or int
        The learner's only source of randomness, and its own; or its seed.
    **settings : bool, int, float or str
        Settings that differ from their defaults; :func:`learner_kinds` lists them.

    Returns
    -------
    Learner

    Raises
    ------
    UnknownNameError
        If the kind does not exist; the message has the nearest names.
    ConfigError
        If the setting does not exist, or its value has the wrong type or is out of range: the
        message names the kind and the field.

    Examples
    --------
    >>> from gohr import BoardSpec
    >>> make_learner("linear_dqn", BoardSpec(), gama=0.9)
    Traceback (most recent call last):
    gohr.errors.ConfigError: learner 'linear_dqn': unknown field 'gama'; did you mean 'gamma'?
    """
    from gohr.board import BoardSpec

    check_type("kind", kind, (str, type), "the name of a kind of learner, or a class")
    check_type("board_spec", board_spec, BoardSpec, "a BoardSpec")
    kind = kind if isinstance(kind, str) else kind_of(kind)
    fields = _fields_of(kind)
    try:
        for name in settings:
            if name not in fields:
                raise UnknownNameError("field", name, fields)
        values = {name: fields[name].read(value) for name, value in settings.items()}
        for name, field in fields.items():
            if field.default is None and name not in values:
                raise ConfigError(f"{name}: expected {field.expected}, and found nothing")
        made = _learner_class(kind)
        learner: Learner = made(board_spec, rng=generator(rng), **values)
    except (ConfigError, UnknownNameError, ValueError) as error:
        raise ConfigError(f"learner {kind!r}: {error}") from None
    except Exception as error:
        if kind in _BUILT_IN:
            raise
        said = visible(f"{type(error).__name__}: {error}", kept="")
        raise ConfigError(f"learner {kind!r}: cannot be created: {said}") from error
    return learner


def _learner_class(kind: str) -> Any:
    """Return the class of a kind of learner."""
    place = _BUILT_IN.get(kind, kind)
    module, _, name = place.partition(":")
    if not name:
        raise UnknownNameError("learner", kind, available_learners())
    return getattr(import_module(module), name) if kind != place else _own_class(kind, module, name)


@cache
def _own_class(kind: str, module: str, name: str) -> Any:
    """Load a class of an installed module, or else of one in the current directory."""
    from gohr.learners.base import Learner

    if "" not in sys.path:
        sys.path.append("")
    try:
        learner = attrgetter(name)(import_module(module))
    except ModuleNotFoundError as error:
        missing = error.name or module
        where = "neither in the current directory nor installed"
        raise ConfigError(f"learner {kind!r}: no module {missing!r}, {where}") from None
    except AttributeError as error:
        if module not in sys.modules:
            raise ConfigError(f"learner {kind!r}: {module} cannot be loaded: {error}") from error
        there = [n for n, thing in vars(sys.modules[module]).items() if _is_learner(thing, Learner)]
        raise ConfigError(f"learner {kind!r}: {UnknownNameError('class', name, there)}") from None
    except Exception as error:
        said = visible(f"{type(error).__name__}: {error}", kept="")
        raise ConfigError(f"learner {kind!r}: {module} cannot be loaded: {said}") from error
    if not _is_learner(learner, Learner):
        raise ConfigError(
            f"learner {kind!r}: expected a subclass of gohr.Learner with act and observe, "
            f"found {_described(learner)}"
        )
    return learner


def _is_learner(thing: object, base: type) -> bool:
    return isinstance(thing, type) and issubclass(thing, base) and not inspect.isabstract(thing)


def _described(thing: object) -> str:
    if not isinstance(thing, type):
        return f"a {type(thing).__name__}"
    missing = sorted(getattr(thing, "__abstractmethods__", ()))
    return f"a class without {' and '.join(missing)}" if missing else "another class"
