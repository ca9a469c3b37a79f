"""The kinds of learners: those of Gnomon, those that other packages register, and one's own.

A kind is a name of :func:`available_learners`, or the location of your own class:
``"package.module:Class"``. Another package registers a kind by an entry point of the group
``gohr.learners``, whose value is of that form too.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module, metadata
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from gnomon.errors import GnomonError, UnknownNameError, visible
from gnomon.results import Results, Row, generator
from gohr.errors import ConfigError
from gohr.learners.settings import LearnerField, settings_of

if TYPE_CHECKING:
    import numpy as np

    from gohr.game.board import BoardSpec
    from gohr.learners.base import Learner

#: The group of entry points by which other packages register learners.
GROUP = "gohr.learners"

# Location of each kind, loaded on first use.
_BUILT_IN = {
    "uniform": "gohr.learners.fixed_players:Uniform",
    "frugal": "gohr.learners.fixed_players:Frugal",
    "rule_player": "gohr.learners.fixed_players:RulePlayer",
    "process": "gohr.learners.external.process:Process",
    "reinforce": "gohr.learners.reinforce:Reinforce",
    "sb3": "gohr.learners.external.sb3:StableBaselines",
    "tabular_q": "gohr.learners.tabular_q:TabularQ",
    "ideal": "gohr.learners.ideal.learner:Ideal",
    "linear_dqn": "gohr.learners.linear_dqn:LinearDQN",
}


@dataclass(frozen=True)
class LearnerKind:
    """A kind of learner, for a list of them.

    Parameters
    ----------
    kind : str
        Name in a config file.
    name : str
        Name of its class.
    origin : str
        ``"built-in"``, ``"entry point"`` or ``"own"``.
    version : str or None
        Version of a learner that is not built in (:func:`learner_version`).
    reveal : bool
        Whether it is shown what the rule permits.
    description : str
        The first sentence of its docstring.
    settings : tuple of LearnerField
        In the order of its class.

    Examples
    --------
    >>> [kind] = learner_kinds("uniform")
    >>> kind.name, kind.origin, kind.reveal
    ('Uniform', 'built-in', False)
    """

    kind: str
    name: str
    origin: str
    version: str | None
    reveal: bool
    description: str
    settings: tuple[LearnerField, ...]

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON; a type is its name."""
        settings = [
            asdict(field)
            | {
                "type": field.type.__name__,
                "choices": list(field.choices),
                "range": None if field.range is None else field.range.expected,
            }
            for field in self.settings
        ]
        return asdict(self) | {"settings": settings}


class LearnerKinds(Results[LearnerKind]):
    """Kinds of learners, as a table of one line each; a single one with its settings.

    Examples
    --------
    >>> {kind.kind for kind in learner_kinds()} >= {"uniform", "linear_dqn"}
    True
    """

    columns: ClassVar[tuple[str, ...]] = ("kind", "origin", "description")

    @property
    def title(self) -> str | None:
        """The description, if it is a single kind."""
        if not self._is_one:
            return None
        kind = self[0]
        return f"{kind.kind} ({kind.origin}): {kind.description}"

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
                "default": _in_words(field.default, optional=field.optional),
                "expected": _expected(field),
                "meaning": field.meaning,
            }
            for field in self[0].settings
        ]

    @property
    def _is_one(self) -> bool:
        return len(self) == 1 and bool(self[0].settings)

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        return list(rows[0]) if rows else []


def _in_words(default: object, *, optional: bool) -> str:
    if default is None:
        return "left open" if optional else "needed"
    return str(default).lower() if isinstance(default, bool) else str(default)


def _expected(field: LearnerField) -> str:
    """Return what a setting may be, range included."""
    return field.expected if field.range is None else f"{field.expected} {field.range.expected}"


def available_learners() -> tuple[str, ...]:
    """Return the kinds of learners, in alphabetical order: built in, and registered by packages.

    Examples
    --------
    >>> "linear_dqn" in available_learners()
    True
    """
    return tuple(sorted({*_BUILT_IN, *_registered()}))


def learner_kinds(*kinds: str) -> LearnerKinds:
    """Describe kinds of learners with their settings, defaults and meanings; all if none is named.

    A registered one that cannot be loaded is left out, with a warning that gives the reason.

    Raises
    ------
    UnknownNameError, ConfigError
        If a named kind does not exist, or is not a learner.

    Examples
    --------
    >>> [kind] = learner_kinds("linear_dqn")
    >>> kind.origin, kind.settings[3].name, kind.settings[3].choices
    ('built-in', 'actions', ('all', 'occupied'))
    """
    found, warned = [], []
    for kind in kinds or available_learners():
        try:
            found.append(learner_kind(kind))
        except GnomonError as error:
            if kinds:
                raise
            warned.append(str(error))
    return LearnerKinds(tuple(found), warnings=tuple(warned))


def learner_kind(kind: str) -> LearnerKind:
    """Describe one kind of learner."""
    learner = _learner_class(kind)
    origin = "built-in" if kind in _BUILT_IN else "own" if ":" in kind else "entry point"
    sentence = " ".join((inspect.getdoc(learner) or "").partition("\n\n")[0].split())
    fields = tuple(_fields_of(kind).values())
    return LearnerKind(
        kind, learner.__name__, origin, learner_version(kind), learner.reveal, sentence, fields
    )


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
    """Return the kind of a class in an experiment.

    Raises ConfigError if other processes could not find the class: it must be at the top level of
    its module.
    """
    place = f"{learner.__module__}:{learner.__qualname__}"
    if "<locals>" in place:
        raise ConfigError(f"learner {place}: expected a class at the top of a module")
    return next((kind for kind, where in _BUILT_IN.items() if where == place), place)


def is_shown_the_rule(kind: str) -> bool:
    """Return whether learners of a kind see the permitted moves, without creating one.

    A run may be read, and a log be verified, whose learner is not among ours. Nothing is imported,
    since the author of the log would choose the module: such a learner is recognised only if it has
    been loaded; otherwise the result is False.

    Examples
    --------
    >>> is_shown_the_rule("rule_player"), is_shown_the_rule("uniform")
    (True, False)
    """
    if kind in _BUILT_IN:
        return bool(_learner_class(kind).reveal)
    module, _, name = kind.partition(":")
    try:
        learner = attrgetter(name)(sys.modules[module])
    except (KeyError, AttributeError):
        return False
    return bool(getattr(learner, "reveal", False)) and isinstance(learner, type)


def plays_alone(kind: str) -> bool:
    """Return whether a kind is built in and needs no program, server or other package."""
    place = _BUILT_IN.get(kind, ".external.")
    return ".external." not in place


@cache
def learner_version(kind: str) -> str | None:
    """Return the version of a learner that is not built in; None for those that are.

    That of the installed package that it belongs to, or else the hash of the file of its class;
    Also None if the file does not exist, as in a notebook.
    """
    if kind in _BUILT_IN:
        return None
    learner = _learner_class(kind)
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
    >>> from gohr.game import DEFAULT_SPEC
    >>> make_learner("linear_dqn", DEFAULT_SPEC, gama=0.9)
    Traceback (most recent call last):
    gohr.errors.ConfigError: learner 'linear_dqn': unknown field 'gama'; did you mean 'gamma'?
    """
    kind = kind if isinstance(kind, str) else kind_of(kind)
    fields = _fields_of(kind)
    try:
        for name in settings:
            if name not in fields:
                raise UnknownNameError("field", name, fields)
        values = {name: fields[name].read(value) for name, value in settings.items()}
        for name, field in fields.items():
            if field.is_needed and name not in values:
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


@cache
def _registered() -> dict[str, str]:
    """Return the kinds that other packages register, each with the place of its class."""
    found = metadata.entry_points(group=GROUP)
    return {point.name: point.value for point in found if point.name not in _BUILT_IN}


def _learner_class(kind: str) -> Any:
    """Return the class of a kind of learner."""
    place = _BUILT_IN.get(kind)
    if place is None:
        place = kind if ":" in kind else _registered().get(kind)
    if place is None:
        raise UnknownNameError("learner", kind, available_learners())
    module, _, name = place.partition(":")
    if kind in _BUILT_IN:
        return getattr(import_module(module), name)
    return _own_class(kind, module, name)


@cache
def _own_class(kind: str, module: str, name: str) -> Any:
    """Load a class from a module outside Gnomon.

    It is also looked for in the current directory, after the installed modules.
    """
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
