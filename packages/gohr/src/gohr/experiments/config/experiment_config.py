"""Definition of an experiment: rules, learners, and the length of each trial.

It comes from a TOML file, from Python, or by name from the library of experiments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gnomon.errors import GnomonError, UnknownNameError
from gnomon.files import parse_toml, read_text
from gohr.errors import ConfigError, RuleSyntaxError
from gohr.experiments.config.config_entries import (
    LearnerEntry,
    RuleEntry,
    content_hash,
    learner_table,
)
from gohr.experiments.config.held_out import named_variants
from gohr.experiments.config.predefined_boards import (
    PredefinedBoards,
    RecordedBoards,
    season_board_spec,
)
from gohr.experiments.config.suites import available_suites, load_suite
from gohr.game.board import DEFAULT_SPEC, BoardSpec
from gohr.rules.catalogue import available_rules
from gohr.rules.lint_names import unknown_properties
from gohr.rules.linter import lint

if TYPE_CHECKING:
    from gohr.experiments.config.config_fields import BoardFields, ExperimentFields, RuleFields
    from gohr.learners.base import Learner

#: Limits of a trial, which decide no attempt.
_LIMITS = ("trial_timeout_s", "trial_memory_mb")
#: Fields that do not affect what is played.
NOT_PLAYED = (*_LIMITS, "baseline")
#: Fields that are values of their own, and no entries.
_NUMBERS = ("name", "trials", "episodes", "horizon", "seed")
_NO_CHANGES: Mapping[str, Any] = MappingProxyType({})
AnyBoards = PredefinedBoards | RecordedBoards


@dataclass(frozen=True, init=False)
class ExperimentConfig:
    """An experiment: every learner plays every rule, a number of trials each.

    Parameters
    ----------
    name : str
        Name of the experiment.
    rules : sequence of str, mapping or RuleEntry
        Rules of the catalogue or whole suites by name, files by path, or
        ``{"name": ..., "text": ...}``.
    learners : sequence of str, mapping, LearnerEntry, class or Learner
        Learners by their kind (``"package.module:Class"`` is one's own), as a class, as an instance
        whose settings are taken, or ``{"kind": ..., "name": ..., setting: value, ...}``, where
        ``"grid": {setting: [value, ...], ...}`` stands for a learner of each combination; and
        ``"all"`` for every kind that needs no setting and is not shown the rule.
    trials : int
        Number of trials of each learner on each rule; a trial is a learner from scratch.
    episodes : int
        Number of boards in a trial, one after another.
    horizon : int
        Number of attempts after which an episode is cut off.
    seed : int
        All randomness comes from it. The boards depend on the seed, the rule and the number of the
        trial alone, so that all learners get the same ones.
    board : BoardSpec, optional
        How boards are drawn; by default as the suites specify, or else as in the paper.
    predefined : PredefinedBoards or RecordedBoards, optional
        The boards themselves, which are then not drawn; ``board`` gives the palettes. With recorded
        ones, each rule has the boards of its own trials: they were played elsewhere, and are only
        read.
    baseline : str, optional
        The rule with which :func:`gohr.elements` and the report compare the others.
    trial_timeout_s : float, optional
        Seconds after which a trial is given up and recorded as failed. No limit if not given. The
        first trial of a learner in a process may also have to load or compile its code.
    trial_memory_mb : int, optional
        Megabytes that a trial may allocate before it fails with a MemoryError; only on Linux.
        Neither limit is part of the hash: a run may continue with other limits.

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
    predefined: AnyBoards | None
    baseline: str | None
    trial_timeout_s: float | None
    trial_memory_mb: int | None

    def __init__(
        self,
        name: str,
        rules: Sequence[str | Mapping[str, Any] | RuleEntry],
        learners: Sequence[str | Mapping[str, Any] | LearnerEntry | Learner | type[Learner]],
        *,
        trials: int = 20,
        episodes: int = 200,
        horizon: int = 100,
        seed: int = 0,
        board: BoardSpec | None = None,
        predefined: AnyBoards | None = None,
        baseline: str | None = None,
        trial_timeout_s: float | None = None,
        trial_memory_mb: int | None = None,
    ) -> None:
        from gohr.experiments.config.config_fields import checked_fields

        values: dict[str, Any] = {
            "name": name,
            "rules": [r.to_record() if isinstance(r, RuleEntry) else r for r in rules],
            "learners": [learner_table(x) for x in learners],
            "trials": trials,
            "episodes": episodes,
            "horizon": horizon,
            "seed": seed,
            "baseline": baseline,
            "trial_timeout_s": trial_timeout_s,
            "trial_memory_mb": trial_memory_mb,
        }
        if board is not None or predefined is not None:
            values["board"] = _board_record(board or DEFAULT_SPEC, predefined)
        self._fill(checked_fields(values), Path())

    def _fill(self, fields: ExperimentFields, base: Path, *, try_learners: bool = True) -> None:
        """Set attributes from the checked fields; file paths are relative to ``base``."""
        put = object.__setattr__
        for name in (*_NUMBERS, *NOT_PLAYED):
            put(self, name, getattr(fields, name))
        board, predefined = _boards_of(fields, base)
        put(self, "board", board)
        put(self, "predefined", predefined)
        put(self, "rules", tuple(_rules_of(fields.rules, base)))
        learners = [
            x for each in fields.learners for x in LearnerEntry.all_from_fields(each, board)
        ]
        if try_learners:
            learners = [learner.completed(board) for learner in learners]
        put(self, "learners", tuple(learners))
        # In a recorded game the same rule may occur again, later or under another condition.
        recorded = isinstance(predefined, RecordedBoards)
        _check_different("rules", self.rules, only_names=recorded)
        _check_different("learners", self.learners)
        names = [rule.name for rule in self.rules]
        if self.baseline is not None and self.baseline not in names:
            raise UnknownNameError("baseline", self.baseline, names)

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
            Whether to create each learner once, so that an invalid setting is reported now. An
            experiment that is only read needs no learner.
        """
        from gohr.experiments.config.config_fields import checked_fields

        config = object.__new__(cls)
        config._fill(checked_fields(values), base or Path(), try_learners=try_learners)
        return config

    @classmethod
    def of_run(cls, record: Mapping[str, Any]) -> ExperimentConfig:
        """Return the experiment of which :meth:`to_record` returned this; nothing is checked."""
        config = object.__new__(cls)
        values = {name: record[name] for name in _NUMBERS}
        values |= {name: record.get(name) for name in NOT_PLAYED}
        values["rules"] = tuple(RuleEntry(**rule) for rule in record["rules"])
        values["learners"] = tuple(LearnerEntry.of_run(each) for each in record["learners"])
        board = record["board"]
        values["board"] = season_board_spec(board)
        values["predefined"] = None
        if "trials" in board:
            values["predefined"] = RecordedBoards.from_record(board["trials"])
        elif "boards" in board:
            values["predefined"] = PredefinedBoards.from_record(board["boards"], board["order"])
        for name, value in values.items():
            object.__setattr__(config, name, value)
        return config

    @classmethod
    def from_toml(
        cls, path: str | Path, *, changes: Mapping[str, Any] = _NO_CHANGES
    ) -> ExperimentConfig:
        """Read an experiment from a TOML file; paths of other files are relative to it.

        Parameters
        ----------
        path : path
        changes : mapping
            Fields to be used in place of the file's.

        Raises
        ------
        GnomonError
            One line that begins with the name of the file.
        """
        path = Path(path)
        text = read_text(path, noun="config", error=ConfigError)
        return cls.from_toml_text(text, file=str(path), base=path.parent, changes=changes)

    @classmethod
    def from_toml_text(
        cls,
        text: str,
        *,
        file: str,
        base: Path | None = None,
        changes: Mapping[str, Any] = _NO_CHANGES,
    ) -> ExperimentConfig:
        """Read an experiment from the text of the file of that name; as :meth:`from_toml`."""
        try:
            return cls.from_record(parse_toml(text) | dict(changes), base=base)
        except RuleSyntaxError:
            raise  # It names the rule's own file.
        except GnomonError as error:
            raise ConfigError(f"{file}: {error}") from None

    def to_record(self) -> dict[str, Any]:
        """Return the experiment as JSON can hold it, with the full texts of its rules."""
        others = {name: getattr(self, name) for name in NOT_PLAYED}
        return {
            "rules": [rule.to_record() for rule in self.rules],
            "learners": [learner.to_record() for learner in self.learners],
            **{name: getattr(self, name) for name in _NUMBERS},
            "board": _board_record(self.board, self.predefined),
            **{name: value for name, value in others.items() if value is not None},
        }

    @property
    def hash(self) -> str:
        """Content hash of what is played; comments in rules and limits of trials are ignored."""
        rules = [[r.name, r.hash, *(["hidden"] if r.hidden else [])] for r in self.rules]
        record = self.to_record() | {"rules": rules}
        return content_hash({name: x for name, x in record.items() if name not in NOT_PLAYED})

    @property
    def revealed_to(self) -> list[str]:
        """Names of the learners that are shown what the rule permits."""
        return [x.name for x in self.learners if x.is_shown_the_rule]

    @property
    def doubts(self) -> tuple[str, ...]:
        """Unintended parts of rules: properties that no piece has, arithmetic on names.

        Examples
        --------
        >>> rule = {"name": "mine", "text": "(siez:3, bucket:1)"}
        >>> ExperimentConfig("first", [rule], ["uniform"]).doubts[0].partition(",")[0]
        'rule mine'
        """
        return tuple(
            f"rule {rule.name}, {finding}"
            for rule in self.rules
            if not rule.hidden
            for finding in (
                *unknown_properties(rule.rule_set, ()),
                *(x for x in lint(rule.rule_set) if x.severity == "error"),
            )
        )

    @property
    def n_trials(self) -> int:
        """Number of trials in all."""
        return len(self.learners) * sum(self.n_trials_on(rule.name) for rule in self.rules)

    def n_trials_on(self, rule: str) -> int:
        """Return the number of trials of each learner on a rule."""
        if isinstance(self.predefined, RecordedBoards):
            return self.predefined.n_trials(rule)
        return self.trials


def _board_record(board: BoardSpec, predefined: AnyBoards | None) -> dict[str, Any]:
    record = board.record()
    return record if predefined is None else record | dict(predefined.to_record())


def _boards_of(fields: ExperimentFields, base: Path) -> tuple[BoardSpec, AnyBoards | None]:
    """Return how boards are drawn, and the boards themselves if they are given."""
    if fields.board is None:
        return _board_of_suites(fields.rules), None
    drawn = fields.board.model_dump(
        exclude={"files", "boards", "trials", "order"}, exclude_none=True
    )
    if fields.board.files is not None:
        _check_not_drawn(fields.board)
        drawn |= {"shapes": 0, "colors": 0}
    try:
        spec = BoardSpec(**drawn)
    except ValueError as error:
        raise ConfigError(f"field 'board', {error}") from None
    return spec, _predefined(fields.board, spec, base)


def _check_not_drawn(board: BoardFields) -> None:
    """Reject files together with options that apply to drawn boards only."""
    for name in ("pieces", "shapes", "colors"):
        if name in board.model_fields_set:
            raise ConfigError(f"field 'board': expected 'files' or {name!r}, found both")


def _predefined(board: BoardFields, spec: BoardSpec, base: Path) -> AnyBoards | None:
    if board.trials is not None:
        return RecordedBoards.from_record(board.trials)
    if board.boards is not None:
        return PredefinedBoards.from_record(board.boards, board.order)
    if board.files is None:
        if "order" in board.model_fields_set:
            raise ConfigError("field 'board', 'order': there are no 'files' to put in order")
        return None
    return PredefinedBoards.from_files(board.files, board.order, spec, base=base)


def _board_of_suites(rules: Sequence[RuleFields]) -> BoardSpec:
    """Return the boards of the suites among the rules, or the default ones."""
    named = [rule.name.partition("@")[0] for rule in rules if rule.text is None]
    suites = [load_suite(name) for name in named if name in available_suites()]
    if len({suite.board for suite in suites}) > 1:
        names = " and ".join(suite.name for suite in suites)
        raise ConfigError(f"field 'rules': {names} are played on different boards; give a [board]")
    return suites[0].board if suites else DEFAULT_SPEC


def _rules_of(rules: Sequence[RuleFields], base: Path) -> list[RuleEntry]:
    """Return every rule, those of the suites included; what two suites share counts once."""
    entries: list[RuleEntry] = []
    of_suites: set[RuleEntry] = set()
    for fields in rules:
        variants = named_variants(fields.name) if fields.text is None else None
        if variants is not None:
            listed = list(variants)
        elif fields.text is None and fields.name in available_suites():
            listed = list(load_suite(fields.name).entries)
            of_suites.update(listed)
        else:
            listed = [RuleEntry.from_fields(fields, base)]
        entries += [entry for entry in listed if entry not in of_suites.intersection(entries)]
    return entries


def _check_different(
    kind: str, entries: Sequence[RuleEntry | LearnerEntry], *, only_names: bool = False
) -> None:
    """Refuse two entries with one name, or with one content: their trials would be the same."""
    names: set[str] = set()
    hashes: dict[str, str] = {}
    for entry in entries:
        if entry.name in names:
            raise ConfigError(
                f"field {kind!r}: expected different names, found {entry.name!r} twice"
            )
        if entry.hash in hashes and not only_names:
            first = hashes[entry.hash]
            raise ConfigError(f"field {kind!r}: {first!r} and {entry.name!r} are the same")
        names.add(entry.name)
        hashes[entry.hash] = entry.name


def available_experiments() -> tuple[str, ...]:
    """Return the names of the experiments that come with Gnomon, in alphabetical order.

    Examples
    --------
    >>> "demo" in available_experiments()
    True
    """
    names = (path.name for path in _library().iterdir())
    return tuple(sorted(n.removesuffix(".toml") for n in names if n.endswith(".toml")))


def load_experiment(name_or_path: str | Path, **changes: Any) -> ExperimentConfig:
    """Return an experiment by its name in the library, or by its file; or one on a suite or a rule.

    Parameters
    ----------
    name_or_path : str or Path
        The name of an experiment, the path of a TOML file, or, with ``learners`` among the changes,
        the name of a suite or a rule.
    **changes
        Fields of the config file to be used in place of its own.

    Raises
    ------
    UnknownNameError
        If it is none of these, with the nearest names.
    GnomonError
        As :meth:`ExperimentConfig.from_toml`.

    Examples
    --------
    >>> load_experiment("demo", trials=3).trials
    3
    >>> load_experiment("gohr-core", learners=["uniform"]).n_trials
    300
    """
    name = str(name_or_path)
    if name in available_experiments():
        text = (_library() / f"{name}.toml").read_text(encoding="utf-8")
        return ExperimentConfig.from_toml_text(text, file=name, changes=changes)
    if Path(name).is_file() and Path(name).suffix == ".toml":
        return ExperimentConfig.from_toml(name, changes=changes)
    suite = name.partition("@")[0]  # the rest is the seed of its variants
    if name in available_rules() or suite in available_suites() or Path(name).is_file():
        if "learners" not in changes:
            raise ConfigError(f"{name!r} says what is played, not by whom: name the learners")
        return ExperimentConfig.from_record({"name": name, "rules": [name]} | changes)
    known = (*available_experiments(), *available_suites(), *available_rules())
    raise UnknownNameError("experiment or file", name, known)


def _library() -> resources.abc.Traversable:
    return resources.files("gohr.experiments") / "library"
