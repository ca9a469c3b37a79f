"""Suites: named and versioned lists of rules, each with the boards to play them on.

A file of ``library/suites`` holds the newest version of a suite, or an older one. The name alone
means the newest; ``gohr-core-v1`` means that version for ever. The ``hash`` in the file pins the
meaning of its rules: a rule that changes needs a new version of every suite that it is in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gnomon.errors import UnknownNameError
from gohr.experiments.config.config_entries import RuleEntry, content_hash
from gohr.game.board import BoardSpec
from gohr.rules.catalogue import load_rule_text

if TYPE_CHECKING:
    from gohr.experiments.config.experiment_config import ExperimentConfig


@dataclass(frozen=True)
class Suite:
    """A list of rules to measure learners by.

    Parameters
    ----------
    name : str
        Without the version.
    version : int
        Counts up whenever a rule, its meaning or the boards change.
    sentence : str
        Purpose of the suite.
    rules : tuple of str
        Names in the catalogue, or of the suite's own texts.
    board : BoardSpec
        The boards that belong to it.
    rungs : mapping of str to mapping
        For a ladder: the induction that each rung needs, the easiest first, and the template of the
        variants of each of its rules. No other suite has held-out variants.
    texts : mapping from name to text
        Rules of its own, which are not in the catalogue.

    Examples
    --------
    >>> load_suite("gohr-paper").rules
    ('color-match', 'clockwise', 'b23-then-b01', 'b3-then-b1')
    """

    name: str
    version: int
    sentence: str
    rules: tuple[str, ...]
    board: BoardSpec
    rungs: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    texts: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def entries(self) -> tuple[RuleEntry, ...]:
        """The rules with their texts."""
        return tuple(
            RuleEntry(name, self.texts[name] if name in self.texts else load_rule_text(name))
            for name in self.rules
        )

    @property
    def full_name(self) -> str:
        """The name with the version."""
        return f"{self.name}-v{self.version}"

    @property
    def hash(self) -> str:
        """Content hash of the meaning of the rules, and of the boards, 16 hexadecimal digits."""
        return suite_hash([(entry.name, entry.hash) for entry in self.entries], self.board)


def suite_hash(rules: Iterable[tuple[str, str]], board: BoardSpec) -> str:
    """Return the hash that names and hashes of rules, and boards, would give a suite."""
    return content_hash([list(map(list, rules)), board.record()])[:16]


def suites_of(config: ExperimentConfig) -> list[Suite]:
    """Return the suites whose rules and boards an experiment has, no more and no fewer.

    Examples
    --------
    >>> from gohr.experiments import load_experiment
    >>> config = load_experiment("gohr-core", learners=["uniform"])
    >>> [suite.full_name for suite in suites_of(config)]
    ['gohr-core-v1']
    """
    if config.predefined is not None:
        return []
    found = suite_hash([(rule.name, rule.hash) for rule in config.rules], config.board)
    return sorted({x for x in _suites().values() if x.hash == found}, key=lambda x: x.full_name)


def available_suites() -> tuple[str, ...]:
    """Return the names of all suites, without and with their versions.

    Examples
    --------
    >>> [name for name in available_suites() if name.startswith("gohr-core")]
    ['gohr-core', 'gohr-core-v1']
    """
    return tuple(sorted(_suites()))


def load_suite(name: str) -> Suite:
    """Return a suite by its name; without a version, the newest.

    Raises
    ------
    UnknownNameError
        If the suite does not exist; the message has the nearest names.

    Examples
    --------
    >>> suite = load_suite("gohr-full-v1")
    >>> suite.version, len(suite.rules)
    (1, 90)
    """
    if name not in _suites():
        raise UnknownNameError("suite", name, available_suites())
    return _suites()[name]


@cache
def _suites() -> MappingProxyType[str, Suite]:
    """Return every suite by each of its names."""
    folder = resources.files("gohr.experiments") / "library" / "suites"
    files = [path for path in folder.iterdir() if path.name.endswith(".toml")]
    suites = [_suite(tomllib.loads(path.read_text(encoding="utf-8"))) for path in files]
    suites.sort(key=lambda suite: suite.version)
    named = {suite.full_name: suite for suite in suites}
    return MappingProxyType(named | {suite.name: suite for suite in suites})


def _suite(record: dict[str, Any]) -> Suite:
    board = BoardSpec(**record["board"])
    text = " ".join(record["sentence"].split())
    rungs = record.get("rungs", {})
    texts = record.get("texts", {})
    named = (name for rung in rungs.values() for name in rung)
    rules = record.get("rules") or [*named, *texts]
    return Suite(record["name"], record["version"], text, tuple(rules), board, rungs, texts)
