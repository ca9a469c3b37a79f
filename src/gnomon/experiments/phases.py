"""Experiments with phases: a learner meets one rule after another, and keeps what it learned.

For each phase after the first, learners from scratch play the same boards, so that what was learned
before can be told from what the phase itself is like. A phase may deal training boards, on which no
piece meets a condition, or test boards, on which at least one does.
"""

from __future__ import annotations

import itertools
import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gnomon._io.atomic_file import write_atomically
from gnomon._io.text_file import read_text
from gnomon.errors import ConfigError, GnomonError, RunFolderError
from gnomon.experiments.config.config_entries import LearnerEntry, RuleEntry, content_hash
from gnomon.experiments.config.experiment_config import ExperimentConfig
from gnomon.experiments.config.predefined_boards import RecordedBoards
from gnomon.experiments.folder.recorded_run import RecordedTrial, check_place, write_recorded_run
from gnomon.experiments.folder.run_folder import RunFolder
from gnomon.experiments.scoring.mastery import attempts_to_master
from gnomon.experiments.scoring.trial_scores import episode_errors
from gnomon.game.board import BoardSpec, draw_boards
from gnomon.game.outcomes import ACCEPTED, EPISODE_OVER
from gnomon.game.seeded_boards import BoardConditions
from gnomon.rules.parser import parse

if TYPE_CHECKING:
    from gnomon.learners.base import TrialLog
    from gnomon.scores.table import ScoreTable

Kind = Literal["near", "far"]
Metric = Literal["errors", "m_star"]
_METRICS: Mapping[Metric, str] = {"errors": "errors", "m_star": "attempts"}
#: In a run folder, the rows of the table of scores but for the scores.
PHASES = "phases.json"


@dataclass(frozen=True)
class Phase:
    """A stretch of boards on one rule.

    Parameters
    ----------
    rule : RuleEntry
    episodes : int
        Number of boards.
    condition : str, optional
        Rule text whose lines are conditions.
    testing : bool
        Whether a piece of each board meets one of them, rather than none.
    n_before : int
        How often the same was met before in the sequence: another time has other boards.

    Examples
    --------
    >>> Phase(RuleEntry.named("nearby"), 5, "(*,*,*,[1,2],*)", testing=True).name
    'nearby (test)'
    """

    rule: RuleEntry
    episodes: int
    condition: str | None = None
    testing: bool = False
    n_before: int = 0

    @property
    def name(self) -> str:
        """The rule, and which boards are dealt."""
        which = "" if self.condition is None else " (test)" if self.testing else " (train)"
        return f"{self.rule.name}{which}"

    @property
    def hash(self) -> str:
        """Content hash of what is played."""
        again = [self.n_before] if self.n_before else []
        return content_hash([self.rule.hash, self.episodes, self.condition, self.testing, *again])


@dataclass(frozen=True)
class PhaseExperiment:
    """Learners that play sequences of phases.

    Parameters
    ----------
    base : ExperimentConfig
        Learners, boards, seed, horizon and number of trials.
    sequences : tuple of tuples of Phase
    kinds : mapping from sequence to {"near", "far"}
        How alike the rules of a sequence are, where that is said.

    Examples
    --------
    >>> made = phase_experiment({
    ...     "name": "pilot", "learners": ["tabular_q"], "trials": 2,
    ...     "sequences": [{"phases": [{"rule": "clockwise", "episodes": 3}, {"rule": "nearby"}]}],
    ... })
    >>> [[phase.name for phase in phases] for phases in made.all_sequences()]
    [['clockwise', 'nearby'], ['nearby']]
    """

    base: ExperimentConfig
    sequences: tuple[tuple[Phase, ...], ...]
    kinds: Mapping[tuple[Phase, ...], Kind] = field(default_factory=dict)

    def all_sequences(self) -> list[tuple[Phase, ...]]:
        """Return the sequences, and each later phase by itself, none twice."""
        fresh = [(phase,) for phases in self.sequences for phase in phases[1:]]
        return list(dict.fromkeys([*self.sequences, *fresh]))


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _PhaseFields(_Fields):
    rule: str
    episodes: int | None = Field(default=None, ge=1, le=1_000_000)
    train: str | None = None
    test: str | None = None


class _SequenceFields(_Fields):
    phases: list[_PhaseFields] = Field(min_length=1)
    kind: Kind | None = None


def read_phase_experiment(path: Path) -> PhaseExperiment:
    r"""Read an experiment with phases from a TOML file; other files are looked for beside it.

    Raises GnomonError: one line that begins with the name of the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pilot.toml"
    ...     _ = path.write_text(
    ...         'name = "pilot"\nlearners = ["tabular_q"]\n'
    ...         'sequences = [{phases = [{rule = "clockwise"}, {rule = "nearby"}]}]'
    ...     )
    ...     len(read_phase_experiment(path).all_sequences())
    2
    """
    try:
        record = tomllib.loads(read_text(path, noun="config", error=ConfigError))
        return phase_experiment(record, base=path.parent)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not a TOML file: {error}") from None
    except GnomonError as error:
        raise ConfigError(f"{path}: {error}") from None


def phase_experiment(record: Mapping[str, Any], *, base: Path | None = None) -> PhaseExperiment:
    """Read an experiment with phases from a mapping with the fields of its file.

    Parameters
    ----------
    record : mapping
        The fields of an experiment with ``sequences`` in place of ``rules``: a list of tables with
        ``phases`` and perhaps ``kind``. A phase has a ``rule``, and perhaps ``episodes`` and
        ``train`` or ``test``, a file or a text of conditions.
    base : Path, optional
        The folder in which files are looked for.

    Raises
    ------
    ConfigError
        A field is misspelt, missing or of the wrong kind.

    Examples
    --------
    >>> made = phase_experiment({
    ...     "name": "pilot", "learners": ["tabular_q"], "episodes": 3,
    ...     "sequences": [{"phases": [{"rule": "clockwise"}, {"rule": "nearby", "episodes": 9}]}],
    ... })
    >>> [phase.episodes for phase in made.sequences[0]]
    [3, 9]
    """
    fields = dict(record)
    try:
        sequences = [_SequenceFields.model_validate(x) for x in fields.pop("sequences")]
    except KeyError:
        raise ConfigError("expected the field 'sequences', found none") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"field 'sequences', {place}: {first['msg']}") from None
    if "rules" in fields:
        raise ConfigError("expected 'sequences' or 'rules', found both")
    named = list(dict.fromkeys(phase.rule for one in sequences for phase in one.phases))
    config = ExperimentConfig.from_record(fields | {"rules": named}, base=base)
    by_name = dict(zip(named, config.rules, strict=True))
    made = [
        _told_apart([_phase(x, by_name, config, base) for x in one.phases]) for one in sequences
    ]
    kinds = {phases: one.kind for phases, one in zip(made, sequences, strict=True) if one.kind}
    return PhaseExperiment(config, tuple(made), kinds)


def _told_apart(phases: Sequence[Phase]) -> tuple[Phase, ...]:
    return tuple(replace(x, n_before=phases[:i].count(x)) for i, x in enumerate(phases))


def _phase(
    fields: _PhaseFields,
    rules: Mapping[str, RuleEntry],
    config: ExperimentConfig,
    base: Path | None,
) -> Phase:
    if fields.train is not None and fields.test is not None:
        raise ConfigError(f"phase {fields.rule!r}: expected 'train' or 'test', found both")
    condition = fields.train if fields.test is None else fields.test
    if condition is not None and "(" not in condition:
        condition = read_text((base or Path()) / condition, error=ConfigError)
    episodes = fields.episodes or config.episodes
    return Phase(rules[fields.rule], episodes, condition, testing=fields.test is not None)


def play_phases(
    experiment: PhaseExperiment,
    metric: Metric = "errors",
    *,
    out: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> ScoreTable:
    """Play every sequence, and each later phase by learners from scratch; return the scores.

    Parameters
    ----------
    experiment : PhaseExperiment
    metric : {"errors", "m_star"}
        Errors in all boards of a phase, or attempts before mastery in it.
    out : path, optional
        Keep every attempt in this run folder, which is written in the end; an older one of an
        experiment of this name is replaced. :func:`score_phases` reads it.
    progress : callable, optional
        Told of how many trials are done.

    Returns
    -------
    ScoreTable
        A row for each learner, trial and phase; a task is a rule after those met before, as in
        ``clockwise:nearby``. Attributes: ``player`` (the same boards bear the same name), ``rule``,
        ``preceding``, ``kind``.

    Examples
    --------
    >>> made = phase_experiment({
    ...     "name": "pilot", "learners": ["tabular_q"], "trials": 2, "episodes": 3,
    ...     "sequences": [{"phases": [{"rule": "clockwise"}, {"rule": "nearby"}]}],
    ... })
    >>> play_phases(made).tasks
    ('clockwise', 'clockwise:nearby', 'nearby')
    """
    sequences, config = experiment.all_sequences(), experiment.base
    if out is not None:
        check_place(Path(out), config.name)
    total = len(sequences) * len(config.learners) * config.trials
    played: list[_PlayedPhase] = []
    runs: dict[tuple[str, str], int] = {}
    trials = itertools.product(range(config.trials), config.learners, sequences)
    for done, (number, learner, phases) in enumerate(trials, 1):
        for row, phase, log in _rows(experiment, phases, learner, number):
            key = row["algorithm"], row["task"]
            runs[key] = runs.get(key, -1) + 1
            played.append(_PlayedPhase(row | {"run": runs[key]}, phase, log))
        progress(done, total)
    if out is not None:
        _write_run(Path(out), experiment, played)
    rows = [one.row | {"score": _score(one.log, metric)} for one in played]
    return _phase_table(rows, metric, config.name)


class _PlayedPhase(NamedTuple):
    """A phase that was played: what the table says of it but its score, and every attempt."""

    row: dict[str, Any]
    phase: Phase
    log: TrialLog


def _phase_table(rows: list[dict[str, Any]], metric: Metric, name: str) -> ScoreTable:
    from gnomon.scores.table import ScoreTable

    if any(np.isinf(row["score"]) for row in rows):
        rows = [row | {"censored": bool(np.isinf(row["score"]))} for row in rows]
    return ScoreTable.from_records(
        rows,
        metric=metric,
        unit=_METRICS[metric],
        higher_is_better=False,
        provenance=(f"phases of {name}",),
    )


def _write_run(out: Path, experiment: PhaseExperiment, played: Sequence[_PlayedPhase]) -> None:
    """Write what was played as a run folder, with a table of what came before each task."""
    texts = {one.row["task"]: one.phase.rule.text for one in played}
    boards: dict[str, dict[int, bytes]] = {task: {} for task in texts}
    for one in played:
        boards[one.row["task"]][one.row["run"]] = one.log.boards.tobytes()
    base = experiment.base
    dealt = tuple((task, tuple(own[i] for i in sorted(own))) for task, own in boards.items())
    config = ExperimentConfig(
        base.name,
        [RuleEntry(task, text) for task, text in texts.items()],
        base.learners,
        trials=max(map(len, boards.values())),
        episodes=max(one.phase.episodes for one in played),
        horizon=base.horizon,
        seed=base.seed,
        board=base.board,
        predefined=RecordedBoards(dealt),
    )
    rows = (one.row for one in played)
    made = (
        RecordedTrial(one.row["algorithm"], one.row["task"], one.row["run"], one.log)
        for one in played
    )
    write_recorded_run(out, config, made)
    write_atomically(out / PHASES, (json.dumps([*rows], indent=1) + "\n").encode())


def score_phases(run: str | os.PathLike[str], metric: Metric = "errors") -> ScoreTable:
    """Return the scores of an experiment with phases from its run folder, as :func:`play_phases`.

    Raises
    ------
    RunFolderError
        It is no run folder, or not one of phases.

    Examples
    --------
    >>> import tempfile
    >>> made = phase_experiment({
    ...     "name": "pilot", "learners": ["tabular_q"], "trials": 2, "episodes": 3,
    ...     "sequences": [{"phases": [{"rule": "clockwise"}, {"rule": "nearby"}]}],
    ... })
    >>> with tempfile.TemporaryDirectory() as out:
    ...     play_phases(made, out=out).to_records() == score_phases(out).to_records()
    True
    """
    folder = RunFolder.open(run)
    if not (folder.path / PHASES).is_file():
        raise RunFolderError(f"{folder.path}: expected a run of an experiment with phases")
    rows = json.loads((folder.path / PHASES).read_bytes())
    logs = {(x.learner, x.rule, x.trial): x for x in folder.trials()}
    scored = [
        row | {"score": _score(folder.log(logs[row["algorithm"], row["task"], row["run"]]), metric)}
        for row in rows
    ]
    return _phase_table(scored, metric, folder.config.name)


def _rows(
    experiment: PhaseExperiment,
    phases: tuple[Phase, ...],
    learner: LearnerEntry,
    number: int,
) -> Iterator[tuple[dict[str, Any], Phase, TrialLog]]:
    before: list[str] = []
    for phase, log in zip(phases, _played(experiment, phases, learner, number), strict=True):
        row = {
            "algorithm": learner.name,
            "task": ":".join([*before, phase.name]),
            "player": f"{learner.name} {number}",
            "rule": phase.name,
            "preceding": ":".join(before) or None,
            "kind": experiment.kinds.get(phases) if before else None,
        }
        yield row, phase, log
        before.append(phase.name)


def _score(log: TrialLog, metric: Metric) -> float:
    if metric == "errors":
        return float(episode_errors(log).sum())
    outcomes = log.outcomes[log.outcomes != EPISODE_OVER]
    return attempts_to_master(outcomes == ACCEPTED)


def _played(
    experiment: PhaseExperiment, phases: tuple[Phase, ...], learner: LearnerEntry, number: int
) -> Iterator[TrialLog]:
    """Let one learner play all phases: it is not told when another rule begins."""
    from gnomon.learners import play_trial

    config = experiment.base
    word = content_hash([learner.hash, *(phase.hash for phase in phases)])
    rng = np.random.default_rng([config.seed, int(word[:32], 16), number])
    player = learner.make(config.board, rng=rng)
    for phase in phases:
        boards = _boards(phase, config.board, config.seed, number)
        yield play_trial(
            player, phase.rule.rule_set, boards, horizon=config.horizon, board_spec=config.board
        )


@lru_cache(maxsize=64)
def _boards(phase: Phase, spec: BoardSpec, seed: int, number: int) -> npt.NDArray[np.uint8]:
    """Draw the boards of a phase: the same ones for whoever plays it, whatever came before."""
    rng = np.random.default_rng([seed, int(phase.hash[:32], 16), number])
    if phase.condition is None:
        return draw_boards(phase.episodes, spec, rng=rng)
    try:
        conditions = BoardConditions(parse(phase.condition))
        return conditions.draw(phase.episodes, spec, testing=phase.testing, rng=rng)
    except GnomonError as error:
        raise ConfigError(f"phase {phase.name!r}: {error}") from None
