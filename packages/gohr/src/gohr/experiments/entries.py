"""Entries of an experiment: rules with their texts, learners with their settings."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, ConfigDict, Field

from gnomon.errors import UnknownNameError, shortened, visible
from gnomon.text_files import read_text
from gohr.board import BoardSpec
from gohr.errors import ConfigError, RuleError, RuleSyntaxError
from gohr.rules.catalogue import available_rules, load_rule_text
from gohr.rules.parser import parse
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    import numpy as np

    from gohr.learners.base import Learner

_MOST_LEARNERS = 10_000
#: Keys of a learner's table that are not settings.
_OWN = ("kind", "name", "version", "reveal")
#: Made once: a run has thousands of keys.
_CONTENT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _printing(name: str) -> str:
    """Refuse a name that no terminal, drawing or page could show."""
    if visible(name, kept="\xa0") != name:
        raise ValueError("expected printable characters")
    return name


Text = Annotated[str, Field(min_length=1, strict=True)]
Name = Annotated[Text, AfterValidator(_printing)]


def content_hash(value: Any) -> str:
    """Return the SHA-256, in hexadecimal, of a value that JSON can hold.

    Examples
    --------
    >>> content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(_CONTENT.encode(value).encode()).hexdigest()


def seed_of(hexadecimal: str) -> int:
    """Return the first 128 bits of a hash, as a seed sequence takes them."""
    return int(hexadecimal[:32], 16)


@dataclass(frozen=True)
class RuleEntry:
    """A rule in an experiment: its name there, and its full text.

    An experiment looks up the text of a rule that has none, in the library or in a file.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    name: Name
    text: Text = ""

    @classmethod
    def named(cls, name: str) -> RuleEntry:
        """Return a rule of the library."""
        return cls(name, load_rule_text(name))

    def found(self, base: Path) -> RuleEntry:
        """Return the rule with its text: given, of the library, or of a file in `base`.

        Raises
        ------
        UnknownNameError
            If the name is neither a rule's nor a file's.
        RuleSyntaxError
            If the text does not parse.
        RuleError
            If it names an order that does not exist, or calculates with names.
        """
        from gohr.rules.linter import lint

        name, text, file = self.name, self.text, f"rule {self.name!r}"
        if not text and name in available_rules():
            text = load_rule_text(name)
        elif not text:
            path = base / name
            if not path.is_file():
                raise UnknownNameError("rule or file", name, available_rules(), base=base)
            name, file = path.stem, str(path)
            text = read_text(path, noun="rule file", error=ConfigError)
        try:
            rule_set = parse(text)
        except RuleSyntaxError as error:
            raise error.in_file(file) from None
        for finding in lint(rule_set):
            if finding.severity == "error":
                raise RuleError(f"{file}, {finding}")
        return RuleEntry(name, text)

    @property
    def rule_set(self) -> RuleSet:
        """The tree of the text."""
        return parse(self.text)

    @cached_property
    def hash(self) -> str:
        """Content hash of the meaning of the text: comments and blanks are ignored."""
        return content_hash(str(replace(self.rule_set, description=())))

    def stream(self, seed: int, *numbers: int) -> np.random.Generator:
        """Return the generator of a seed, this rule and further numbers, such as a trial's."""
        import numpy as np

        return np.random.default_rng([seed, seed_of(self.hash), *numbers])

    def to_record(self) -> dict[str, Any]:
        """Return the entry as a table of a config file."""
        return {"name": self.name} | ({"text": self.text} if self.text else {})


@dataclass(frozen=True)
class LearnerEntry:
    """A learner in an experiment: its kind, its name there, and its settings.

    The learners of an :class:`ExperimentConfig` have every setting, defaults included. One that is
    not built in also has its version, which is part of its hash: a run never mixes attempts of two
    versions. For such a learner, ``reveal`` states that it is shown the moves that the rule
    permits.
    """

    kind: Name
    name: Name
    params: Mapping[str, Any] = field(default_factory=dict)
    version: Text | None = None
    reveal: Annotated[bool, Field(strict=True)] = False

    @cached_property
    def hash(self) -> str:
        """Content hash of kind, settings and version; the name is only a label."""
        version = [] if self.version is None else [self.version]
        return content_hash([self.kind, dict(self.params), *version])

    @property
    def is_shown_the_rule(self) -> bool:
        """Whether it sees the permitted moves, as far as is known without importing it."""
        from gohr.learners.registry import is_shown_the_rule

        return self.reveal or is_shown_the_rule(self.kind)

    def make(self, board_spec: BoardSpec, *, rng: np.random.Generator | int = 0) -> Learner:
        """Return the learner at the start of a trial."""
        from gohr.learners import make_learner

        return make_learner(self.kind, board_spec, rng=rng, **self.params)

    def expanded(self) -> list[LearnerEntry]:
        """Return this learner, or one for each combination of its grid; ConfigError if invalid."""
        params = dict(self.params)
        grid, label = params.pop("grid", {}), f"learner {self.name!r}"
        if not isinstance(grid, Mapping) or not all(
            isinstance(values, list | tuple) and values for values in grid.values()
        ):
            expected = "expected a table of settings, each with a list of values"
            raise ConfigError(f"{label}, 'grid': {expected}; found {shortened(repr(grid))}")
        if twice := grid.keys() & params.keys():
            raise ConfigError(f"{label}: {min(twice)!r} is a setting and in the grid too")
        n_learners = math.prod(map(len, grid.values()))
        if n_learners > _MOST_LEARNERS:
            expected = f"expected a grid of at most {_MOST_LEARNERS:,} combinations"
            raise ConfigError(f"{label}: {expected}; found {n_learners:,}")
        cells = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        return [replace(self, name=_grid_name(self.name, c), params=params | c) for c in cells]

    def completed(self, board_spec: BoardSpec) -> LearnerEntry:
        """Return the learner with all its settings, once it is known that it can be made.

        Raises
        ------
        ConfigError, UnknownNameError
            If the learner or setting does not exist, or a setting is invalid.
        """
        from gohr.learners.registry import WITHOUT_SETTINGS, learner_kind

        if self.kind in WITHOUT_SETTINGS and not self.params and self.version is None:
            return replace(self, reveal=False)  # its module would load Numba
        self.make(board_spec)
        kind = learner_kind(self.kind)
        if self.version not in (None, kind.version):
            raise ConfigError(
                f"learner {self.name!r}: expected version {self.version}, found {kind.version}"
            )
        params = {x.name: x.read(self.params.get(x.name, x.default)) for x in kind.settings}
        reveal = kind.reveal and ":" in self.kind
        return replace(self, params=params, version=kind.version, reveal=reveal)

    def to_record(self) -> dict[str, Any]:
        """Return the entry as a table of a config file."""
        own = {name: getattr(self, name) for name in _OWN}
        return {name: value for name, value in own.items() if value} | dict(self.params)


def learner_fields_of(learner: object) -> object:
    """Return the fields of a :class:`LearnerEntry` of a kind, a table, a class or an instance.

    Only the settings of an instance are used: each trial creates its own learner. Anything else is
    returned as it is. Raises ConfigError: an instance does not keep a setting as an attribute of
    its name, or a class is not at the top of its module.
    """
    if isinstance(learner, str):
        learner = {"kind": learner}
    elif isinstance(learner, LearnerEntry):
        learner = learner.to_record()
    elif not isinstance(learner, Mapping):
        learner = _table_of(learner)
    if not isinstance(learner, Mapping):
        return learner
    found = {name: learner[name] for name in _OWN if learner.get(name) is not None}
    if isinstance(kind := found.get("kind"), str):
        found.setdefault("name", kind.rpartition(":")[2])
    return found | {"params": {k: value for k, value in learner.items() if k not in _OWN}}


def _table_of(learner: object) -> object:
    """Return the table of a class or an instance of a learner."""
    from gohr.learners.base import Learner
    from gohr.learners.registry import kind_of, learner_kind

    if isinstance(learner, type):
        return {"kind": kind_of(learner)}
    if not isinstance(learner, Learner):
        return learner
    kind = kind_of(type(learner))
    try:
        settings = {x.name: getattr(learner, x.name) for x in learner_kind(kind).settings}
    except AttributeError as error:
        raise ConfigError(
            f"learner {kind!r}: expected an instance to keep its setting {error.name!r} as an "
            "attribute; make it a dataclass, or give the class and its settings in a table"
        ) from None
    return {"kind": kind} | settings


def _grid_name(name: str, cell: Mapping[str, Any]) -> str:
    """Return the name of a learner of a grid: the common name, and the settings that differ."""
    values = {
        setting: str(value).lower() if isinstance(value, bool) else visible(str(value), kept="")
        for setting, value in cell.items()
    }
    return ", ".join([name, *(f"{setting}={value}" for setting, value in values.items())])
