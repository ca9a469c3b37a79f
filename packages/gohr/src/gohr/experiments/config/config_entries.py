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
from typing import TYPE_CHECKING, Any

from gnomon.errors import UnknownNameError, visible
from gnomon.files import read_text
from gohr.errors import ConfigError, RuleSyntaxError
from gohr.game.board import BoardSpec
from gohr.rules.catalogue import available_rules, load_rule_text
from gohr.rules.linter import check_playable
from gohr.rules.parser import parse
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    import numpy as np

    from gohr.experiments.config.config_fields import LearnerFields, RuleFields
    from gohr.learners.base import Learner

_MOST_LEARNERS = 10_000
#: Made once: a run has thousands of keys.
_CONTENT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def content_hash(value: Any) -> str:
    """Return the SHA-256, in hexadecimal, of a value that JSON can hold.

    Examples
    --------
    >>> content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(content_text(value).encode()).hexdigest()


def content_text(value: Any) -> str:
    """Return a value as JSON, which is the same text for the same value."""
    return _CONTENT.encode(value)


@dataclass(frozen=True)
class RuleEntry:
    """A rule in an experiment: its name there, and its full text.

    For a ``hidden`` rule, shards omit the chances and the card omits the text. The experiment keeps
    the text.

    Examples
    --------
    >>> RuleEntry("turn", "(*,*,*,*,p+1)").rule_set.lines[0].atoms[0].shape is None
    True
    """

    name: str
    text: str
    hidden: bool = False

    @classmethod
    def from_fields(cls, fields: RuleFields, base: Path) -> RuleEntry:
        """Find the text of a rule: given, in the catalogue, or in a file in the folder `base`.

        Raises
        ------
        UnknownNameError
            If the name is neither a rule's nor a file's.
        RuleSyntaxError
            If the text does not parse.
        RulePlayError
            If it names an order that does not exist, which would stop the game.
        """
        name, text, file = fields.name, fields.text, f"rule {fields.name!r}"
        if text is None and name in available_rules():
            text = load_rule_text(name)
        elif text is None:
            path = base / name
            if not path.is_file():
                raise UnknownNameError("rule or file", name, available_rules())
            name, file = path.stem, str(path)
            text = read_text(path, noun="rule file", error=ConfigError)
        try:
            rule_set = parse(text)
        except RuleSyntaxError as error:
            raise error.in_file(file) from None
        check_playable(rule_set, file)
        return cls(name, text, fields.hidden)

    @classmethod
    def named(cls, name: str) -> RuleEntry:
        """Return a rule of the catalogue."""
        return cls(name, load_rule_text(name))

    @property
    def rule_set(self) -> RuleSet:
        """The tree of the text."""
        return parse(self.text)

    @cached_property
    def hash(self) -> str:
        """Content hash of the meaning of the text: comments and blanks are ignored."""
        return content_hash(str(replace(self.rule_set, description=())))

    def to_record(self) -> dict[str, Any]:
        """Return the entry as a table of a config file."""
        return {"name": self.name, "text": self.text} | ({"hidden": True} if self.hidden else {})


@dataclass(frozen=True)
class LearnerEntry:
    """A learner in an experiment: its kind, its name there, and its settings.

    The learners of an :class:`ExperimentConfig` have every setting, defaults included. One that is
    not built in also has its version, which is part of its hash: a run never mixes attempts of two
    versions. For such a learner, ``reveal`` states that it is shown the moves that the rule
    permits.

    Examples
    --------
    >>> LearnerEntry("linear_dqn", "fast", {"learning_rate": 0.1}).to_record()
    {'kind': 'linear_dqn', 'name': 'fast', 'learning_rate': 0.1}
    """

    kind: str
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None
    reveal: bool = False

    @classmethod
    def all_from_fields(cls, fields: LearnerFields, board_spec: BoardSpec) -> list[LearnerEntry]:
        """Return the learner with the settings that are given, or one for each cell of its grid."""
        given = dict(fields.model_extra or {})
        if fields.kind == "all":
            if given or fields.name or fields.grid:
                raise ConfigError("learner 'all': expected no settings, for it is many learners")
            return _all_learners(board_spec)
        name, grid = fields.name or fields.kind.rpartition(":")[2], fields.grid or {}
        twice = grid.keys() & given.keys()
        if twice:
            raise ConfigError(f"learner {name!r}: {min(twice)!r} is a setting and in the grid too")
        n_learners = math.prod(map(len, grid.values()))
        if n_learners > _MOST_LEARNERS:
            expected = f"expected a grid of at most {_MOST_LEARNERS:,} combinations"
            raise ConfigError(f"learner {name!r}: {expected}; found {n_learners:,}")
        combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        return [
            cls(fields.kind, _grid_name(name, cell), given | cell, fields.version, fields.reveal)
            for cell in combinations
        ]

    @classmethod
    def of_run(cls, record: Mapping[str, Any]) -> LearnerEntry:
        """Return the learner of which :meth:`to_record` returned this."""
        params = dict(record)
        own = {name: params.pop(name) for name in ("version", "reveal") if name in params}
        return cls(params.pop("kind"), params.pop("name"), params, **own)

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

    def make(self, board_spec: BoardSpec, *, rng: np.random.Generator) -> Learner:
        """Return the learner at the start of a trial."""
        from gohr.learners import make_learner

        return make_learner(self.kind, board_spec, rng=rng, **self.params)

    def completed(self, board_spec: BoardSpec) -> LearnerEntry:
        """Return the learner with all its settings, once it is known that it can be made.

        Raises
        ------
        ConfigError, UnknownNameError
            If the learner or setting does not exist, or a setting is invalid.
        """
        import numpy as np

        from gohr.learners.registry import learner_kind

        self.make(board_spec, rng=np.random.default_rng(0))
        kind = learner_kind(self.kind)
        if self.version not in (None, kind.version):
            raise ConfigError(
                f"learner {self.name!r}: expected version {self.version}, found {kind.version}"
            )
        params = {x.name: x.read(self.params.get(x.name, x.default)) for x in kind.settings}
        own = kind.origin != "built-in"
        return replace(self, params=params, version=kind.version, reveal=own and kind.reveal)

    def to_record(self) -> dict[str, Any]:
        """Return the entry as a table of a config file."""
        own = {"version": self.version, "reveal": self.reveal}
        own = {name: value for name, value in own.items() if value}
        return {"kind": self.kind, "name": self.name, **own, **self.params}


def learner_table(learner: object) -> object:
    """Return a learner as a table of a config file, if it is a class, an instance or an entry.

    Only the settings of an instance are used: each trial creates its own learner.

    Raises ConfigError if an instance does not keep a setting as an attribute of its name, or a
    class is not at the top of its module.
    """
    if isinstance(learner, LearnerEntry):
        return learner.to_record()
    from gohr.learners.base import Learner
    from gohr.learners.registry import kind_of, learner_fields

    if isinstance(learner, type):
        return {"kind": kind_of(learner)}
    if not isinstance(learner, Learner):
        return learner
    kind = kind_of(type(learner))
    try:
        return {"kind": kind} | {name: getattr(learner, name) for name in learner_fields(kind)}
    except AttributeError as error:
        raise ConfigError(
            f"learner {kind!r}: expected an instance to keep its setting {error.name!r} as an "
            "attribute; make it a dataclass, or give the class and its settings in a table"
        ) from None


def _grid_name(name: str, cell: Mapping[str, Any]) -> str:
    """Return the name of a learner of a grid: the common name, and the settings that differ."""
    return ", ".join([name, *(f"{setting}={_in_a_name(value)}" for setting, value in cell.items())])


def _in_a_name(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else visible(str(value), kept="")


def _all_learners(board_spec: BoardSpec) -> list[LearnerEntry]:
    """Return every kind that needs no settings, no extras, and no access to the rule."""
    from gohr.learners import available_learners

    entries = []
    for kind in available_learners():
        entry = LearnerEntry(kind, kind)
        try:
            shown = entry.completed(board_spec).is_shown_the_rule
        except (ConfigError, ImportError):
            continue
        if not shown:
            entries.append(entry)
    return entries
