"""Assignments: rules, boards and seed that an attempt of an entry must be played on."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.files import read_toml
from gohr.errors import ConfigError
from gohr.experiments.config.config_entries import LearnerEntry, RuleEntry
from gohr.experiments.config.experiment_config import ExperimentConfig
from gohr.experiments.config.predefined_boards import PredefinedBoards, RecordedBoards
from gohr.experiments.trial import Trial
from gohr.game.board import DEFAULT_SPEC, BoardSpec

#: Seeds are integers that every database and every TOML reader can represent.
_SEED_BITS = 63


@dataclass(frozen=True)
class Assignment:
    """Rules, boards and seed of one attempt of an entry.

    Parameters
    ----------
    rules : tuple of RuleEntry
        In the order of the season.
    trials, episodes, horizon, seed, board, predefined
        As in :class:`gohr.experiments.ExperimentConfig`.
    name : str
        Name of the experiment; it has no effect.

    Examples
    --------
    >>> assignment = Assignment((RuleEntry("any", "(*,*,*,*,*)"),), trials=2, episodes=5)
    >>> assignment.deal(assignment.rules[0], 1).shape
    (5, 36)
    """

    rules: tuple[RuleEntry, ...]
    trials: int = 20
    episodes: int = 200
    horizon: int = 100
    seed: int = 0
    board: BoardSpec = DEFAULT_SPEC
    predefined: PredefinedBoards | RecordedBoards | None = None
    name: str = "assigned"

    @classmethod
    def of(cls, config: ExperimentConfig) -> Assignment:
        """Return the trials of an experiment, without its learners."""
        return cls(
            config.rules,
            config.trials,
            config.episodes,
            config.horizon,
            config.seed,
            config.board,
            config.predefined,
            config.name,
        )

    @classmethod
    def from_toml(cls, path: str | Path) -> Assignment:
        """Read the assignment of a server: a config file, whose learners are ignored.

        Raises
        ------
        GnomonError
            One line that begins with the name of the file.
        """
        return read_toml(path, cls.from_record, error=ConfigError)

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Assignment:
        """Read an assignment from the fields of a config that names no file.

        Raises
        ------
        GnomonError
            A field is invalid, or a rule has a name but no text.
        """
        _check_self_contained(values)
        # No learner of an untrusted config is ever made: one may be any program.
        values = dict(values) | {"learners": ["uniform"]}
        return cls.of(ExperimentConfig.from_record(values, try_learners=False))

    def to_record(self, learners: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
        """Return the fields of a config file that plays this."""
        entry = LearnerEntry("uniform", "uniform")
        config = ExperimentConfig(
            self.name,
            self.rules,
            [entry],
            trials=self.trials,
            episodes=self.episodes,
            horizon=self.horizon,
            seed=self.seed,
            board=self.board,
            predefined=self.predefined,
        )
        return config.to_record() | {"learners": [dict(each) for each in learners]}

    def to_toml(self, learner: str = "uniform") -> str:
        """Return the config file that an entry plays, with one learner to be replaced.

        Examples
        --------
        >>> print(Assignment((RuleEntry("any", "(*,*,*,*,*)"),), seed=7).to_toml())
        ... # doctest: +ELLIPSIS
        # What this entry has to play. Put your own learner in place of the one below.
        name = "assigned"
        learners = ["uniform"]
        trials = 20
        ...
        """
        record = self.to_record()
        lines = [
            "# What this entry has to play. Put your own learner in place of the one below.",
            f"name = {_toml(self.name)}",
            f"learners = [{_toml(learner)}]",
        ]
        for field in ("trials", "episodes", "horizon", "seed"):
            lines.append(f"{field} = {record[field]}")
        lines += ["", "[board]"]
        lines += [f"{name} = {_toml(value)}" for name, value in record["board"].items()]
        for rule in self.rules:
            lines += ["", "[[rules]]", f"name = {_toml(rule.name)}", f"text = {_toml(rule.text)}"]
        return "\n".join(lines) + "\n"

    @property
    def is_recorded(self) -> bool:
        """Whether this was played elsewhere, e.g. by people, who may stop amid a board."""
        return isinstance(self.predefined, RecordedBoards)

    def deal(self, rule: RuleEntry, number: int) -> npt.NDArray[np.uint8]:
        """Return the boards of a trial, shape (episodes, 36)."""
        return self.trial(rule, number).boards()

    def trial(self, rule: RuleEntry, number: int, learner: LearnerEntry | None = None) -> Trial:
        """Return a trial of this, of a learner if one is given."""
        return Trial.of(self, learner or LearnerEntry("uniform", "uniform"), rule, number)

    def difference(self, other: Assignment) -> str | None:
        """Describe how another experiment differs from this one; None if it plays the same.

        Examples
        --------
        >>> from dataclasses import replace
        >>> assigned = Assignment((RuleEntry("any", "(*,*,*,*,*)"),), seed=7)
        >>> assigned.difference(replace(assigned, seed=8))
        'seed: expected 7, found 8'
        """
        for field in ("trials", "episodes", "horizon", "seed"):
            expected, found = getattr(self, field), getattr(other, field)
            if expected != found:
                return f"{field}: expected {expected}, found {found}"
        if (self.board, self.predefined) != (other.board, other.predefined):
            return "board: not drawn as was assigned"
        for expected, found in zip(self.rules, other.rules, strict=False):
            if expected.name != found.name:
                return f"rules: expected {expected.name!r}, found {found.name!r}"
            if expected.hash != found.hash:
                return f"rule {expected.name!r}: not the text that was assigned"
        if len(self.rules) != len(other.rules):
            return f"rules: expected {len(self.rules)}, found {len(other.rules)}"
        return None


def _check_self_contained(values: Mapping[str, Any]) -> None:
    """Refuse what would be looked up: an untrusted config must not have our files read."""
    rules = values.get("rules")
    for rule in rules if isinstance(rules, list | tuple) else ():
        if not isinstance(rule, Mapping) or not isinstance(rule.get("text"), str):
            raise ConfigError("field 'rules': expected the text of each rule, not its name")
    board = values.get("board")
    if isinstance(board, Mapping) and "files" in board:
        raise ConfigError("field 'board': expected the boards themselves, not their files")


def assigned_seed(secret: bytes, season: str, entry: int, attempt: int) -> int:
    """Return the seed of an attempt, an HMAC of its number, which cannot be chosen or predicted.

    ``secret``, at least 32 bytes, is known to the server only; attempts count from 1.

    Examples
    --------
    >>> assigned_seed(bytes(32), "spring", 7, 1) == assigned_seed(bytes(32), "spring", 7, 2)
    False
    """
    if len(secret) < 32:
        raise ValueError(f"secret: expected at least 32 bytes, found {len(secret)}")
    message = f"{season}\x00{entry}\x00{attempt}".encode()
    digest = hmac.new(secret, message, hashlib.sha256).digest()
    return int.from_bytes(digest, "big") >> (256 - _SEED_BITS)


def _toml(value: Any) -> str:
    """Return a value as TOML writes it; JSON's way with text is TOML's too."""
    if isinstance(value, str) and "\n" in value.strip():
        escaped = json.dumps(value, ensure_ascii=False)[1:-1].replace("\\n", "\n")
        return f'"""\n{escaped}"""'
    return json.dumps(value, ensure_ascii=False)
