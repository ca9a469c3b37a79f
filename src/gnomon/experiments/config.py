"""What an experiment is: rules, learners, and how long each plays each."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.errors import ConfigError, GnomonError, RuleSyntaxError, UnknownNameError
from gnomon.game.board import DEFAULT_SPEC, BoardSpec
from gnomon.rules.catalogue import available_rules, load_rule_text
from gnomon.rules.parser import parse
from gnomon.rules.syntax import RuleSet

if TYPE_CHECKING:
    import numpy as np

    from gnomon.experiments.config_fields import ExperimentFields, LearnerFields, RuleFields
    from gnomon.learners.base import Learner

__all__ = [
    "ExperimentConfig",
    "LearnerEntry",
    "RuleEntry",
    "available_experiments",
    "content_hash",
    "load_experiment",
]


def content_hash(value: Any) -> str:
    """Return the SHA-256, in hexadecimal, of a value that JSON can hold.

    Examples
    --------
    >>> content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=256)
def _parsed(text: str) -> RuleSet:
    return parse(text)


@dataclass(frozen=True)
class RuleEntry:
    """A rule in an experiment: its name there, and its full text.

    Examples
    --------
    >>> RuleEntry("turn", "(*,*,*,*,p+1)").rule_set.lines[0].atoms[0].shape is None
    True
    """

    name: str
    text: str

    @property
    def rule_set(self) -> RuleSet:
        """The tree of the text."""
        return _parsed(self.text)

    @cached_property
    def hash(self) -> str:
        """Content hash of what the text means: comments and blanks do not count."""
        return content_hash(str(replace(self.rule_set, description=())))


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

    @cached_property
    def hash(self) -> str:
        """Content hash of kind and settings; the name is only what it is called."""
        return content_hash([self.kind, dict(self.params)])

    def make(self, board_spec: BoardSpec, *, rng: np.random.Generator) -> Learner:
        """Return the learner at the start of a trial."""
        from gnomon.learners import make_learner

        return make_learner(self.kind, board_spec, rng=rng, **self.params)

    def is_shown_the_rule(self, board_spec: BoardSpec) -> bool:
        """Whether the learner sees what the rule permits: a yardstick, then, and no learner."""
        import numpy as np

        return self.make(board_spec, rng=np.random.default_rng(0)).reveal

    def to_record(self) -> dict[str, Any]:
        """Return the entry as a table of a config file."""
        return {"kind": self.kind, "name": self.name, **self.params}


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
        put(self, "rules", tuple(_rule_entry(rule, base) for rule in fields.rules))
        learners = map(_learner_entry, fields.learners)
        put(self, "learners", tuple(_tried(x, board) if try_learners else x for x in learners))
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
        return _from_toml_text(text, str(path), path.parent)

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


def available_experiments() -> tuple[str, ...]:
    """Return the names of the experiments that come with Gnomon, in alphabetical order.

    Examples
    --------
    >>> "demo" in available_experiments()
    True
    """
    names = (path.name for path in _library().iterdir())
    return tuple(sorted(n.removesuffix(".toml") for n in names if n.endswith(".toml")))


def load_experiment(name_or_path: str | Path) -> ExperimentConfig:
    """Return an experiment by its name in the library, or else by its file.

    Raises
    ------
    UnknownNameError
        If it is neither, with the nearest names.
    GnomonError
        As :meth:`ExperimentConfig.from_toml`.

    Examples
    --------
    >>> load_experiment("demo").episodes
    200
    """
    name = str(name_or_path)
    if name in available_experiments():
        text = (_library() / f"{name}.toml").read_text(encoding="utf-8")
        return _from_toml_text(text, name, Path())
    if Path(name).is_file():
        return ExperimentConfig.from_toml(name)
    raise UnknownNameError("experiment or file", name, available_experiments())


def _library() -> resources.abc.Traversable:
    return resources.files("gnomon.experiments") / "library"


def _from_toml_text(text: str, file: str, base: Path) -> ExperimentConfig:
    try:
        return ExperimentConfig.from_record(tomllib.loads(text), base=base)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: not a TOML file: {error}") from None
    except RuleSyntaxError:
        raise  # It names the rule's own file.
    except GnomonError as error:
        raise ConfigError(f"{file}: {error}") from None


def _board_record(board: BoardSpec) -> dict[str, Any]:
    return {name: list(value) for name, value in asdict(board).items()}


def _rule_entry(fields: RuleFields, base: Path) -> RuleEntry:
    """Return the rule with its text, wherever that is found."""
    name, text, file = fields.name, fields.text, None
    if text is None and name in available_rules():
        text = load_rule_text(name)
    elif text is None:
        path = base / name
        if not path.is_file():
            raise UnknownNameError("rule or file", name, available_rules())
        name, file = path.stem, str(path)
        try:
            text = path.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read the rule file {path}: {error}") from None
    try:
        _parsed(text)
    except RuleSyntaxError as error:
        raise error.in_file(file or f"rule {name!r}") from None
    return RuleEntry(name, text)


def _learner_entry(fields: LearnerFields) -> LearnerEntry:
    params = dict(fields.model_extra or {})
    return LearnerEntry(fields.kind, fields.name or fields.kind, params)


def _tried(learner: LearnerEntry, board: BoardSpec) -> LearnerEntry:
    """Return the learner with all its settings, once it is known that it can be made."""
    import numpy as np

    from gnomon.learners import learner_fields

    learner.make(board, rng=np.random.default_rng(0))
    fields = learner_fields(learner.kind)
    given = {name: fields[name].read(value) for name, value in learner.params.items()}
    defaults = {name: field.default for name, field in fields.items()}
    return replace(learner, params=defaults | given)


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
