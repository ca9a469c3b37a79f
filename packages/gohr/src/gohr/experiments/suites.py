"""Suites: named and versioned lists of rules, each with the boards to play them on.

A file of ``library/suites`` holds the newest version of a suite, or an older one. The name alone
means the newest; ``gohr-core-v1`` means that version for ever. The ``hash`` in the file pins the
meaning of its rules: a rule that changes needs a new version of every suite that it is in.

A published rule can be memorised. A held-out variant, drawn by seed from the family of a rule of a
ladder, needs the same induction, and its text exists nowhere before it is drawn.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gnomon.errors import UnknownNameError
from gohr.board import BoardSpec, draw_boards
from gohr.errors import ConfigError
from gohr.experiments.entries import RuleEntry, content_hash
from gohr.rules.catalogue import available_rules, load_rule, load_rule_text
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    import numpy as np

#: Draws before a family counts as used up; boards, and attempts on each, on which a variant must
#: differ from a rule.
_MOST_DRAWS, _N_BOARDS, _HORIZON = 200, 20, 25


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
        Names in the library, or of the suite's own texts.
    board : BoardSpec
        The boards that belong to it.
    rungs : mapping of str to mapping
        For a ladder: the induction that each rung needs, the easiest first, and the template of the
        variants of each of its rules. No other suite has held-out variants.
    texts : mapping from name to text
        Rules of its own, which are not in the library.
    groups : mapping from name to tuple of str
        For a suite that is reported by groups: the rules of each.

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
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def group_of(self, rule: str) -> str:
        """Return the group of a rule; empty if it has none."""
        return next((name for name, rules in self.groups.items() if rule in rules), "")

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
        rules = [[entry.name, entry.hash] for entry in self.entries]
        return content_hash([rules, self.board.record()])[:16]


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
    groups = {name: tuple(rules) for name, rules in record.get("groups", {}).items()}
    name, version = record["name"], record["version"]
    return Suite(name, version, text, tuple(rules), board, rungs, texts, groups)


@lru_cache(maxsize=16)
def named_variants(name: str) -> tuple[RuleEntry, ...] | None:
    """Return the held-out variants ``RULE@SEED`` that ``SUITE@SEED`` names; None for other names.

    They have the order of the rules of the suite; none accepts the same as a rule of the library or
    as another one of them. Raises ConfigError: the suite has no rungs, or a family is used up.
    """
    import numpy as np

    suite_name, at, seed = name.partition("@")
    if not at or suite_name not in available_suites():
        return None
    if not (seed.isascii() and seed.isdigit()):
        raise ConfigError(f"{name!r}: expected a seed, a whole number, after the @")
    suite, rng = load_suite(suite_name), np.random.default_rng(int(seed))
    if not suite.rungs:
        raise ConfigError(f"suite {suite.name!r} has no held-out variants")
    known = [load_rule(rule) for rule in available_rules()]
    found = []
    for rung in suite.rungs.values():
        for rule, template in rung.items():
            entry = _variant(f"{rule}@{int(seed)}", template, known, suite.board, rng)
            known.append(entry.rule_set)
            found.append(entry)
    return tuple(found)


def _variant(
    name: str, template: str, known: list[RuleSet], board: BoardSpec, rng: np.random.Generator
) -> RuleEntry:
    """Draw until a rule is new."""
    from gohr.rules.templates import draw_rule

    for _ in range(_MOST_DRAWS):
        entry = RuleEntry(name, draw_rule(template.strip(), rng=rng).text)
        if _is_new(entry.rule_set, known, board):
            return entry
    raise ConfigError(f"rule {name!r}: its family has no further variant")


def _is_new(rule: RuleSet, known: list[RuleSet], board: BoardSpec) -> bool:
    """Return whether each known rule gives another reply somewhere in a trial of random attempts.

    A rule that differs and yet gives the same replies counts as known: that errs on the safe side.
    """
    import numpy as np

    from gohr.learners import Uniform
    from gohr.playing import play
    from gohr.replays import replay

    rng = np.random.default_rng(0)
    boards = draw_boards(_N_BOARDS, board, rng=rng)
    log = play(boards, Uniform(board, rng=rng), rule, horizon=_HORIZON, board_spec=board)
    made = log.boards, log.n_attempts, log.actions
    return all((replay(*made, x, board_spec=board).outcomes != log.outcomes).any() for x in known)
