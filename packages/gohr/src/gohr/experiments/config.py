"""An experiment: its rules, its learners, and the length of each trial.

One model is read from a TOML file or from Python, kept in the database of a run, played by the
runner, and assigned to the entries of a leaderboard.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    InstanceOf,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from gnomon.errors import UnknownNameError, check_type, either, shortened
from gnomon.text_files import read_toml
from gohr.board import DEFAULT_SPEC, N_CELLS, BoardSpec
from gohr.errors import ConfigError
from gohr.experiments.entries import LearnerEntry, Name, RuleEntry, content_hash, learner_fields_of
from gohr.experiments.suites import available_suites, load_suite, named_variants
from gohr.rules.catalogue import available_rules

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gohr.learners.base import Learner

#: Fields that do not affect what is played.
NOT_PLAYED = ("trial_timeout_s", "baseline")
#: Fields that all learners and rules of an experiment share.
_SHARED = ("trials", "episodes", "horizon", "seed")
_NO_CHANGES: Mapping[str, Any] = MappingProxyType({})
#: Kinds of errors of pydantic for an unknown field.
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")

Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]


class ExperimentConfig(BaseModel):
    """An experiment: every learner plays every rule, a number of trials each.

    Parameters
    ----------
    name : str
        Name of the experiment.
    rules : sequence of str, mapping or RuleEntry
        Rules of the library or whole suites by name, files by path, or
        ``{"name": ..., "text": ...}``.
    learners : sequence of str, mapping, LearnerEntry, class or Learner
        Learners by their kind (``"package.module:Class"`` is one's own), as a class, as an instance
        whose settings are taken, or ``{"kind": ..., "name": ..., setting: value, ...}``, where
        ``"grid": {setting: [value, ...], ...}`` stands for a learner of each combination.

    Other Parameters
    ----------------
    trials : int
        Number of trials of each learner on each rule; a trial is a learner from scratch.
    episodes : int
        Number of boards in a trial, one after another.
    horizon : int
        Number of attempts after which an episode is cut off.
    seed : int
        All randomness comes from it. The boards depend on the seed, the rule and the number of the
        trial alone, so that all learners get the same ones.
    board : BoardSpec or mapping, optional
        How boards are drawn; by default as in the paper.
    recorded : mapping from rule to sequence of bytes, optional
        For trials that were played elsewhere (:func:`write_recorded_run`): the boards of each
        trial on a rule, 36 codes each, empty for a trial that was not to be played. They are only
        read, ``board`` gives the palettes, and the learners are labels.
    baseline : str, optional
        The rule with which :func:`gohr.elements` and the report compare the others.
    trial_timeout_s : float, optional
        Seconds after which a trial is given up and recorded as failed. No limit if not given. The
        first trial of a learner in a process may also have to load or compile its code. The limit
        is not part of the hash: a run may continue with another.

    Raises
    ------
    ConfigError
        A field is misspelt, missing, or of the wrong kind; or two rules or two learners are the
        same.
    UnknownNameError
        A rule or a learner that does not exist, with the nearest names.

    Examples
    --------
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=3)
    >>> config.n_trials, config.horizon
    (3, 100)
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: Name
    rules: Annotated[tuple[RuleEntry, ...], Field(min_length=1), FailFast()]
    learners: Annotated[tuple[LearnerEntry, ...], Field(min_length=1), FailFast()]
    trials: Count = 20
    episodes: Count = 200
    horizon: Count = 100
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)] = 0
    board: InstanceOf[BoardSpec] = DEFAULT_SPEC
    recorded: dict[str, tuple[bytes, ...]] | None = None
    baseline: Name | None = None
    trial_timeout_s: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None = None

    def __init__(
        self,
        name: str,
        rules: Sequence[str | Mapping[str, Any] | RuleEntry],
        learners: Sequence[str | Mapping[str, Any] | LearnerEntry | Learner | type[Learner]],
        **fields: Any,
    ) -> None:
        self._read({"name": name, "rules": rules, "learners": learners, **fields})

    def _read(
        self, values: Mapping[str, Any], base: Path | None = None, *, trusted: bool = True
    ) -> None:
        """Check and set all fields; the paths of files are relative to ``base``."""
        values = dict(values)
        if isinstance(board := values.get("board"), Mapping):
            values |= _board_fields(board)
        try:
            self.__pydantic_validator__.validate_python(values, self_instance=self)
        except ValidationError as errors:
            raise _first_error(errors) from None
        # Only now is anything looked up: a misspelt field is reported first.
        put = object.__setattr__
        put(self, "rules", _with_texts(self.rules, base or Path(), trusted=trusted))
        if self.recorded is None:
            found = [one for learner in self.learners for one in learner.expanded()]
            # Each is created once, which tests its settings.
            put(self, "learners", tuple(learner.completed(self.board) for learner in found))
        # In a recorded game the same rule may occur again, later or under another condition.
        _check_different("rules", self.rules, only_names=self.recorded is not None)
        _check_different("learners", self.learners)
        names = [rule.name for rule in self.rules]
        if self.baseline is not None and self.baseline not in names:
            raise UnknownNameError("baseline", self.baseline, names)
        if self.recorded is not None and any(
            len(self.recorded.get(name, ())) != self.trials for name in names
        ):
            raise ConfigError("field 'recorded': expected the boards of each trial on each rule")

    @field_validator("rules", "learners", mode="before")
    @classmethod
    def _as_fields(cls, entries: Any, info: ValidationInfo) -> Any:
        if not isinstance(entries, list | tuple):
            return entries
        if info.field_name == "learners":
            return [learner_fields_of(entry) for entry in entries]
        rules = [rule.to_record() if isinstance(rule, RuleEntry) else rule for rule in entries]
        return [{"name": rule} if isinstance(rule, str) else rule for rule in rules]

    @field_validator("recorded")
    @classmethod
    def _whole_boards(cls, recorded: Any) -> Any:
        if any(len(boards) % N_CELLS for trials in (recorded or {}).values() for boards in trials):
            raise ValueError(f"expected {N_CELLS} bytes for each board")
        return recorded

    @classmethod
    def from_record(
        cls, values: Mapping[str, Any], *, base: Path | None = None, trusted: bool = True
    ) -> ExperimentConfig:
        """Read an experiment from a mapping with the fields of a config file.

        Parameters
        ----------
        values : mapping
            As a TOML or JSON file gives it.
        base : Path, optional
            The folder in which files are looked for; the current one if not given.
        trusted : bool
            If not, it is what a server or a stranger assigned: no file is read, so every rule needs
            its text; and no learner of it is created, since one may be any program: the learner is
            ``uniform``, in the place of one's own.

        Raises
        ------
        GnomonError
            A field is invalid.
        """
        check_type("values", values, Mapping, "a mapping with the fields of an experiment")
        config = cls.__new__(cls)
        if not trusted:
            values = dict(values) | {"learners": ["uniform"]}
        config._read(values, base, trusted=trusted)
        return config

    @classmethod
    def of_run(cls, record: Mapping[str, Any]) -> ExperimentConfig:
        """Return the experiment of which :meth:`to_record` returned this; nothing is checked."""
        tables: Any = map(learner_fields_of, record["learners"])
        return cls.model_construct(
            **{name: record[name] for name in ("name", *_SHARED)},
            **{name: record.get(name) for name in NOT_PLAYED},
            **_board_fields(record["board"]),
            rules=tuple(RuleEntry(**rule) for rule in record["rules"]),
            learners=tuple(LearnerEntry(**table) for table in tables),
        )

    @classmethod
    def from_toml(
        cls, path: str | Path, *, changes: Mapping[str, Any] = _NO_CHANGES, trusted: bool = True
    ) -> ExperimentConfig:
        """Read an experiment from a TOML file; paths of other files are relative to it.

        Parameters
        ----------
        path : path
        changes : mapping
            Fields to be used in place of the file's.
        trusted : bool
            As in :meth:`from_record`.

        Raises
        ------
        GnomonError
            One line that begins with the name of the file.
        """
        check_type("path", path, (str, os.PathLike), "the path of a TOML file")
        how: dict[str, Any] = {"base": Path(path).parent, "trusted": trusted}
        return read_toml(
            path, lambda values: cls.from_record(values | dict(changes), **how), error=ConfigError
        )

    def to_record(self) -> dict[str, Any]:
        """Return the experiment as JSON can hold it, with the full texts of its rules."""
        board = self.board.record()
        if self.recorded is not None:
            board["trials"] = {
                rule: [base64.b64encode(boards).decode() for boards in trials]
                for rule, trials in self.recorded.items()
            }
        others = {name: getattr(self, name) for name in NOT_PLAYED}
        return {
            "rules": [rule.to_record() for rule in self.rules],
            "learners": [learner.to_record() for learner in self.learners],
            **{name: getattr(self, name) for name in ("name", *_SHARED)},
            "board": board,
            **{name: value for name, value in others.items() if value is not None},
        }

    def to_toml(self, learner: str = "uniform") -> str:
        """Return the config file of an assignment, with one learner to be replaced.

        Examples
        --------
        >>> rule = RuleEntry("any", "(*,*,*,*,*)")
        >>> print(ExperimentConfig("x", [rule], ["uniform"], seed=7).to_toml())
        ... # doctest: +ELLIPSIS
        # The assignment of this entry. Replace the learner below with your own.
        name = "x"
        learners = ["uniform"]
        trials = 20
        ...
        """
        record = self.to_record()
        lines = [
            "# The assignment of this entry. Replace the learner below with your own.",
            f"name = {_toml(self.name)}",
            f"learners = [{_toml(learner)}]",
            *(f"{name} = {record[name]}" for name in _SHARED),
            "",
            "[board]",
            *(f"{name} = {_toml(value)}" for name, value in record["board"].items()),
        ]
        for rule in self.rules:
            lines += ["", "[[rules]]", f"name = {_toml(rule.name)}", f"text = {_toml(rule.text)}"]
        return "\n".join(lines) + "\n"

    @property
    def hash(self) -> str:
        """Content hash of what is played; comments in rules and the limit of time are ignored."""
        record = self.to_record() | {"rules": [[rule.name, rule.hash] for rule in self.rules]}
        return content_hash({name: x for name, x in record.items() if name not in NOT_PLAYED})

    @property
    def revealed_to(self) -> list[str]:
        """Names of the learners that are shown what the rule permits."""
        return [x.name for x in self.learners if x.is_shown_the_rule]

    @property
    def n_trials(self) -> int:
        """Number of trials in all."""
        return len(self.learners) * sum(self.n_trials_on(rule.name) for rule in self.rules)

    def n_trials_on(self, rule: str) -> int:
        """Return the number of trials of each learner on a rule."""
        return self.trials if self.recorded is None else sum(map(bool, self.recorded[rule]))

    def deal(self, rule: RuleEntry, number: int) -> npt.NDArray[np.uint8]:
        """Return the boards of a trial on a rule, shape (episodes, 36): learners share them."""
        from gohr.experiments.trial import Trial

        return Trial.of(self, self.learners[0], rule, number).boards()

    def difference(self, other: ExperimentConfig, *, learners: bool = False) -> str | None:
        """Describe how what another experiment plays differs; None if it does not.

        The learners are compared only on request.

        Examples
        --------
        >>> assigned = ExperimentConfig("x", ["clockwise"], ["uniform"], seed=7)
        >>> assigned.difference(ExperimentConfig("y", ["clockwise"], ["frugal"], seed=8))
        'seed: expected 7, found 8'
        """
        for field in _SHARED:
            expected, found = getattr(self, field), getattr(other, field)
            if expected != found:
                return f"{field}: expected {expected}, found {found}"
        if (self.board, self.recorded) != (other.board, other.recorded):
            return "board: not the boards expected"
        entries: dict[str, tuple[Sequence[RuleEntry | LearnerEntry], ...]]
        entries = {"rule": (self.rules, other.rules)}
        if learners:
            entries["learner"] = self.learners, other.learners
        for kind, (ours, theirs) in entries.items():
            for one, another in zip(ours, theirs, strict=False):
                if one.name != another.name:
                    return f"{kind}s: expected {one.name!r}, found {another.name!r}"
                if one.hash != another.hash:
                    what = "text" if kind == "rule" else "settings or version"
                    return f"{kind} {one.name!r}: not the {what} expected"
            if len(ours) != len(theirs):
                return f"{kind}s: expected {len(ours)}, found {len(theirs)}"
        return None


def _first_error(errors: ValidationError) -> ConfigError:
    """Return one error of a file in one line: the field, the expected and the found value."""
    # An unknown field is often the cause of a missing one, so it is reported first.
    error = min(errors.errors(), key=lambda each: each["type"] not in _UNKNOWN)
    steps, message = list(error["loc"]), error["msg"].removeprefix("Value error, ")
    message = f"{message[0].lower()}{message[1:]}".replace("tuple", "list")
    if error["type"] in _UNKNOWN:
        name, known = str(steps.pop()), [*ExperimentConfig.model_fields]
        if steps:
            known = ["name", "text"]
        message = str(UnknownNameError("field", name, known))
    elif error["type"] == "missing":
        message = f"missing field {steps.pop()!r}"
    else:
        try:
            found = shortened(repr(error["input"]))
        except ValueError:
            found = "a whole number too long to show"
        message = f"{message}; found {found}"
    # The last steps name branches of a union.
    path = [f"item {x + 1}" if isinstance(x, int) else repr(x) for x in steps[:3]]
    return ConfigError(f"field {', '.join(path)}: {message}" if path else message)


def _board_fields(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields ``board`` and ``recorded`` of an experiment with this table ``[board]``."""
    drawn = dict(table)
    trials, recorded = drawn.pop("trials", None), None
    known = [*BoardSpec().record()]
    for name in drawn:
        if name not in known:
            raise ConfigError(f"field 'board': {UnknownNameError('field', name, known)}")
    try:
        if trials is not None:
            recorded = {
                rule: tuple(base64.b64decode(text, validate=True) for text in texts)
                for rule, texts in trials.items()
            }
        return {"board": BoardSpec(**drawn), "recorded": recorded}
    except (AttributeError, TypeError, ValueError) as error:
        raise ConfigError(f"field 'board': {error}") from None


def _with_texts(rules: Sequence[RuleEntry], base: Path, *, trusted: bool) -> tuple[RuleEntry, ...]:
    """Find the text of every rule, those of the suites included; what two share counts once."""
    bare = next((rule.name for rule in rules if not rule.text), None)
    if not trusted and bare is not None:
        raise ConfigError(
            f"field 'rules': expected the text of each rule, found {bare!r} without; "
            "ExperimentConfig.to_toml writes an experiment with its texts"
        )
    entries: list[RuleEntry] = []
    of_suites: set[RuleEntry] = set()
    for rule in rules:
        variants = None if rule.text else named_variants(rule.name)
        if variants is not None:
            listed = list(variants)
        elif not rule.text and rule.name in available_suites():
            listed = list(load_suite(rule.name).entries)
            of_suites.update(listed)
        else:
            listed = [rule.found(base)]
        entries += [entry for entry in listed if entry not in of_suites.intersection(entries)]
    return tuple(entries)


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


def _toml(value: Any) -> str:
    """Return a value as TOML writes it; JSON's way with text is TOML's too."""
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and "\n" in value.strip():
        lines = text[1:-1].replace("\\n", "\n")
        return f'"""\n{lines}"""'
    return text


def available_experiments() -> tuple[str, ...]:
    """Return the names of the experiments that come with Gnomon, in alphabetical order."""
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
        with resources.as_file(_library() / f"{name}.toml") as path:
            return ExperimentConfig.from_toml(path, changes=changes)
    if Path(name).is_file() and Path(name).suffix == ".toml":
        return ExperimentConfig.from_toml(name, changes=changes)
    suite = name.partition("@")[0]  # the rest is the seed of its variants
    if name in available_rules() or suite in available_suites() or Path(name).is_file():
        if "learners" not in changes:
            remedy = either("learners=['uniform']", "--learners NAME")
            raise ConfigError(f"{name!r} names no learners: name one or more, as in {remedy}")
        return ExperimentConfig.from_record({"name": name, "rules": [name]} | changes)
    known = (*available_experiments(), *available_suites(), *available_rules())
    raise UnknownNameError("experiment or file", name, known, base="")


def _library() -> resources.abc.Traversable:
    return resources.files("gohr.experiments") / "library"
