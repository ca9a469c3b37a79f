"""What is listed in an experiment: rules with their texts, learners with their settings."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon._io.text_file import read_text
from gnomon.errors import ConfigError, RuleSyntaxError, UnknownNameError, visible
from gnomon.game.board import BoardSpec
from gnomon.rules.catalogue import available_rules, load_rule_text
from gnomon.rules.parser import parse
from gnomon.rules.syntax import RuleSet

if TYPE_CHECKING:
    import numpy as np

    from gnomon.experiments.config_fields import LearnerFields, RuleFields
    from gnomon.learners.base import Learner

__all__ = ["LearnerEntry", "RuleEntry", "content_hash"]

_MOST_LEARNERS = 10_000


def content_hash(value: Any) -> str:
    """Return the SHA-256, in hexadecimal, of a value that JSON can hold.

    Examples
    --------
    >>> content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class RuleEntry:
    """A rule in an experiment: its name there, and its full text.

    Of a ``hidden`` rule no shard keeps the chances, and the card not the text. The experiment must.

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
        """
        name, text, file = fields.name, fields.text, f"rule {fields.name!r}"
        if text is None and name in available_rules():
            text = load_rule_text(name)
        elif text is None:
            path = base / name
            if not path.is_file():
                raise UnknownNameError("rule or file", name, available_rules())
            name, file, text = path.stem, str(path), _text_of(path)
        try:
            _parsed(text)
        except RuleSyntaxError as error:
            raise error.in_file(file) from None
        return cls(name, text, fields.hidden)

    @classmethod
    def named(cls, name: str) -> RuleEntry:
        """Return a rule of the catalogue."""
        return cls(name, load_rule_text(name))

    @property
    def rule_set(self) -> RuleSet:
        """The tree of the text."""
        return _parsed(self.text)

    @cached_property
    def hash(self) -> str:
        """Content hash of what the text means: comments and blanks do not count."""
        return content_hash(str(replace(self.rule_set, description=())))

    def to_record(self) -> dict[str, Any]:
        """Return the entry as a table of a config file."""
        return {"name": self.name, "text": self.text} | ({"hidden": True} if self.hidden else {})


@dataclass(frozen=True)
class LearnerEntry:
    """A learner in an experiment: its kind, its name there, and its settings.

    The learners of an :class:`ExperimentConfig` have every setting, defaults included.

    Examples
    --------
    >>> LearnerEntry("linear_dqn", "fast", {"learning_rate": 0.1}).to_record()
    {'kind': 'linear_dqn', 'name': 'fast', 'learning_rate': 0.1}
    """

    kind: str
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def all_from_fields(cls, fields: LearnerFields, board_spec: BoardSpec) -> list[LearnerEntry]:
        """Return the learner with the settings that are given, or one for each cell of its grid."""
        given = dict(fields.model_extra or {})
        if fields.kind == "all":
            if given or fields.name or fields.grid:
                raise ConfigError("learner 'all': expected no settings, for it is many learners")
            return _all_learners(board_spec)
        name, grid = fields.name or fields.kind, fields.grid or {}
        twice = grid.keys() & given.keys()
        if twice:
            raise ConfigError(f"learner {name!r}: {min(twice)!r} is a setting and in the grid too")
        n_learners = math.prod(map(len, grid.values()))
        if n_learners > _MOST_LEARNERS:
            expected = f"expected a grid of at most {_MOST_LEARNERS:,} combinations"
            raise ConfigError(f"learner {name!r}: {expected}; found {n_learners:,}")
        combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        return [cls(fields.kind, _grid_name(name, cell), given | cell) for cell in combinations]

    @cached_property
    def hash(self) -> str:
        """Content hash of kind and settings; the name is only what it is called."""
        return content_hash([self.kind, dict(self.params)])

    def make(self, board_spec: BoardSpec, *, rng: np.random.Generator) -> Learner:
        """Return the learner at the start of a trial."""
        from gnomon.learners import make_learner

        return make_learner(self.kind, board_spec, rng=rng, **self.params)

    def completed(self, board_spec: BoardSpec) -> LearnerEntry:
        """Return the learner with all its settings, once it is known that it can be made.

        Raises
        ------
        ConfigError, UnknownNameError
            If there is no such learner or setting, or a setting is wrong.
        """
        import numpy as np

        from gnomon.learners import learner_fields

        self.make(board_spec, rng=np.random.default_rng(0))
        fields = learner_fields(self.kind)
        given = {name: fields[name].read(value) for name, value in self.params.items()}
        defaults = {name: field.default for name, field in fields.items()}
        return replace(self, params=defaults | given)

    def to_record(self) -> dict[str, Any]:
        """Return the entry as a table of a config file."""
        return {"kind": self.kind, "name": self.name, **self.params}


def _grid_name(name: str, cell: Mapping[str, Any]) -> str:
    """Return the name of a learner of a grid: that of all, and what sets this one apart."""
    return ", ".join([name, *(f"{setting}={_in_a_name(value)}" for setting, value in cell.items())])


def _in_a_name(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else visible(str(value), kept="")


def _all_learners(board_spec: BoardSpec) -> list[LearnerEntry]:
    """Return every kind that plays as it is: without settings, extras, or sight of the rule."""
    import numpy as np

    from gnomon.learners import available_learners
    from gnomon.learners.registry import is_shown_the_rule

    entries = []
    for kind in available_learners():
        entry = LearnerEntry(kind, kind)
        try:
            entry.make(board_spec, rng=np.random.default_rng(0))
        except (ConfigError, ImportError):
            continue
        if not is_shown_the_rule(kind):
            entries.append(entry)
    return entries


@lru_cache(maxsize=256)
def _parsed(text: str) -> RuleSet:
    return parse(text)


def _text_of(path: Path) -> str:
    """Return the text of a rule file."""
    return read_text(path, noun="rule file", error=ConfigError)
