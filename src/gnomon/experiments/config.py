"""What an experiment is: rules, learners, and how long each plays each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.errors import ConfigError, GnomonError, RuleSyntaxError
from gnomon.experiments.entries import LearnerEntry, RuleEntry, content_hash
from gnomon.game.board import DEFAULT_SPEC, BoardSpec

if TYPE_CHECKING:
    from gnomon.experiments.config_fields import ExperimentFields

__all__ = ["ExperimentConfig", "LearnerEntry", "RuleEntry"]


@dataclass(frozen=True, init=False)
class ExperimentConfig:
    """An experiment: every learner plays every rule, a number of trials each.

    Parameters
    ----------
    name : str
        What to call it.
    rules : sequence of str, mapping or RuleEntry
        Rules of the catalogue by name, files by path, or ``{"name": ..., "text": ...}``.
    learners : sequence of str, mapping or LearnerEntry
        Learners by their kind, or ``{"kind": ..., "name": ..., setting: value, ...}``.
    trials : int
        Number of trials of each learner on each rule; a trial is a learner from scratch.
    episodes : int
        Number of boards in a trial, one after another.
    horizon : int
        Number of attempts after which an episode is cut off.
    seed : int
        All randomness comes from it. The boards depend on the seed, the rule and the number of the
        trial alone, so that all learners meet the same ones.
    board : BoardSpec
        How boards are drawn.

    Raises
    ------
    ConfigError
        A field is misspelt, missing, or of the wrong kind; or two rules or two learners are the
        same.
    UnknownNameError
        A rule or a learner that there is not, with the nearest names.

    Examples
    --------
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=3)
    >>> config.n_trials, config.horizon
    (3, 100)
    """

    name: str
    rules: tuple[RuleEntry, ...]
    learners: tuple[LearnerEntry, ...]
    trials: int
    episodes: int
    horizon: int
    seed: int
    board: BoardSpec

    def __init__(
        self,
        name: str,
        rules: Sequence[str | Mapping[str, Any] | RuleEntry],
        learners: Sequence[str | Mapping[str, Any] | LearnerEntry],
        *,
        trials: int = 20,
        episodes: int = 200,
        horizon: int = 100,
        seed: int = 0,
        board: BoardSpec = DEFAULT_SPEC,
    ) -> None:
        from gnomon.experiments.config_fields import checked_fields

        values = {
            "name": name,
            "rules": [asdict(r) if isinstance(r, RuleEntry) else r for r in rules],
            "learners": [x.to_record() if isinstance(x, LearnerEntry) else x for x in learners],
            "trials": trials,
            "episodes": episodes,
            "horizon": horizon,
            "seed": seed,
            "board": _board_record(board),
        }
        self._fill(checked_fields(values), Path())

    def _fill(self, fields: ExperimentFields, base: Path, *, try_learners: bool = True) -> None:
        """Set what the checked fields say; files are looked for in the folder ``base``."""
        put = object.__setattr__
        for name in ("name", "trials", "episodes", "horizon", "seed"):
            put(self, name, getattr(fields, name))
        try:
            board = BoardSpec(**fields.board.model_dump(exclude_none=True))
        except ValueError as error:
            raise ConfigError(f"field 'board', {error}") from None
        put(self, "board", board)
        put(self, "rules", tuple(RuleEntry.from_fields(rule, base) for rule in fields.rules))
        learners = [LearnerEntry.from_fields(learner) for learner in fields.learners]
        if try_learners:
            learners = [learner.completed(board) for learner in learners]
        put(self, "learners", tuple(learners))
        _check_different("rules", self.rules)
        _check_different("learners", self.learners)

    @classmethod
    def from_record(
        cls, values: Mapping[str, Any], *, base: Path | None = None, try_learners: bool = True
    ) -> ExperimentConfig:
        """Read an experiment from a mapping with the fields of a config file.

        Parameters
        ----------
        values : mapping
            As a TOML or JSON file gives it.
        base : Path, optional
            The folder in which rule files are looked for; the current one if not given.
        try_learners : bool
            Whether to make each learner once, so that a wrong setting is told now. An experiment
            that is only read needs no learner.
        """
        from gnomon.experiments.config_fields import checked_fields

        config = object.__new__(cls)
        config._fill(checked_fields(values), base or Path(), try_learners=try_learners)
        return config

    @classmethod
    def from_toml(cls, path: str | Path) -> ExperimentConfig:
        """Read an experiment from a TOML file; rule files are looked for beside it.

        Raises
        ------
        GnomonError
            One line that begins with the name of the file.
        """
        path = Path(path)
        try:
            text = path.read_bytes().decode()
        except OSError as error:
            raise ConfigError(f"{path}: cannot read this config: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{path}: expected UTF-8 text") from None
        return cls.from_toml_text(text, file=str(path), base=path.parent)

    @classmethod
    def from_toml_text(cls, text: str, *, file: str, base: Path | None = None) -> ExperimentConfig:
        """Read an experiment from the text of the file of that name; as :meth:`from_toml`."""
        try:
            return cls.from_record(tomllib.loads(text), base=base)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{file}: not a TOML file: {error}") from None
        except RuleSyntaxError:
            raise  # It names the rule's own file.
        except GnomonError as error:
            raise ConfigError(f"{file}: {error}") from None

    def to_record(self) -> dict[str, Any]:
        """Return the experiment as JSON can hold it, with the full texts of its rules."""
        return {
            "name": self.name,
            "rules": [asdict(rule) for rule in self.rules],
            "learners": [learner.to_record() for learner in self.learners],
            "trials": self.trials,
            "episodes": self.episodes,
            "horizon": self.horizon,
            "seed": self.seed,
            "board": _board_record(self.board),
        }

    @property
    def hash(self) -> str:
        """Content hash of the whole experiment; comments in rules do not count."""
        rules = [[rule.name, rule.hash] for rule in self.rules]
        return content_hash(self.to_record() | {"rules": rules})

    @property
    def n_trials(self) -> int:
        """Number of trials in all."""
        return len(self.rules) * len(self.learners) * self.trials


def _board_record(board: BoardSpec) -> dict[str, Any]:
    return {name: list(value) for name, value in asdict(board).items()}


def _check_different(kind: str, entries: Sequence[RuleEntry | LearnerEntry]) -> None:
    """Refuse two entries with one name, or with one content: their trials would be the same."""
    names: set[str] = set()
    hashes: dict[str, str] = {}
    for entry in entries:
        if entry.name in names:
            raise ConfigError(
                f"field {kind!r}: expected different names, found {entry.name!r} twice"
            )
        if entry.hash in hashes:
            first = hashes[entry.hash]
            raise ConfigError(f"field {kind!r}: {first!r} and {entry.name!r} are the same")
        names.add(entry.name)
        hashes[entry.hash] = entry.name
