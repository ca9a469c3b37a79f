"""Verification of a run or a log: every attempt of every trial is replayed and compared.

This shows that the attempts have the outcomes in the log, on the boards that were to be played, and
that nothing is missing, duplicated or left over. It does not show that they were learned: a player
who reads the rule plays it perfectly. No learner of a run is made here: its config is not trusted,
and a learner may be any program.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from gnomon.errors import GnomonError, counted, shortened, visible
from gnomon.results import FieldRecord, Results, Row
from gohr.board import N_BUCKETS, N_CELLS
from gohr.errors import ConfigError
from gohr.experiments.attempts import read_log
from gohr.experiments.config import ExperimentConfig
from gohr.experiments.entries import LearnerEntry
from gohr.experiments.metrics import episode_bytes
from gohr.experiments.progress import path_of
from gohr.experiments.runs import Run
from gohr.experiments.store import TrialRecord
from gohr.experiments.trial import Trial, trials_of
from gohr.outcomes import END_WORDS, EPISODE_OVER, IN_PROGRESS, OUTCOME_WORDS
from gohr.playing import TrialLog
from gohr.replays import replay

#: Learner, rule, and number of a trial.
Key = tuple[str, str, int]
#: Maximum number of refused trials that are shown.
_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Verdict(FieldRecord):
    """Verdict on one trial: whether the replay agrees, and else where it first differs.

    Parameters
    ----------
    learner, rule : str
    trial : int
        Number of the trial, from 0.
    ok : bool
    episode, attempt : int or None
        Where it first differs: the episode from 0, the attempt from 1; None where it is the trial
        or the episode as a whole.
    reason : str
        The expected and the found value; empty if there is no difference.
    """

    learner: str
    rule: str
    trial: int
    ok: bool
    episode: int | None = None
    attempt: int | None = None
    reason: str = ""


def _of_run(run: Run, assignment: ExperimentConfig | None) -> Iterator[Verdict]:
    """Verify every trial of the experiment, in its order, and refuse each that is left over."""
    config, rows, grid = run.config, run.store.rows(), run.grid
    left = dict(rows.records)
    refusals = {x.name: _refusal(x, config, assignment) for x in config.learners}

    def in_order(trial: Trial) -> tuple[int, int]:
        return grid.learners[trial.learner.name], grid.rules[trial.rule.name]

    for trial in sorted(trials_of(config), key=in_order):
        place = run.place_of(trial)
        record, reason = left.pop(place, None), refusals[trial.learner.name]
        if reason is None and place in rows.damaged:
            reason = "its row in the database is damaged"
        yield _of_record(run, trial, record, reason)
    for x in left.values():
        reason = "not a trial of the experiment"
        yield Verdict(x.learner, x.rule, x.trial, ok=False, reason=reason)


def _refusal(
    learner: LearnerEntry, played: ExperimentConfig, assignment: ExperimentConfig | None
) -> str | None:
    """Return why a learner of a run is refused as a whole, if it is."""
    if assignment is None:
        return None
    if learner.is_shown_the_rule:
        return "the learner was shown the rule"
    difference = assignment.difference(played)
    return None if difference is None else f"differs from the assignment: {difference}"


def _of_record(run: Run, trial: Trial, record: TrialRecord | None, reason: str | None) -> Verdict:
    """Verify a trial of a run by its row in the database, unless it is refused for a reason."""
    key = (trial.learner.name, trial.rule.name, trial.number)
    if reason is not None:
        return Verdict(*key, ok=False, reason=reason)
    if record is None:
        return Verdict(*key, ok=False, reason="missing: it was not played")
    if (record.learner, record.rule, record.trial) != key:
        return Verdict(*key, ok=False, reason="its row is that of another trial")
    if record.error is not None:
        return Verdict(*key, ok=False, reason=f"missing: it failed: {record.error}")
    if record.key != trial.key:
        return Verdict(*key, ok=False, reason="the recorded key is not that of this trial")
    try:
        log = run.log(record)
    except (GnomonError, ValueError) as error:
        return Verdict(*key, ok=False, reason=str(error).removeprefix(f"{run.path}: "))
    verdict = _of_trial(log, trial, key)
    if verdict.ok and record.episodes != episode_bytes(log):
        reason = "the recorded errors of each episode are not those of its attempts"
        return Verdict(*key, ok=False, reason=reason)
    return verdict


def _of_trial(log: TrialLog, trial: Trial, key: Key) -> Verdict:
    """Compare a log with the replay of its attempts on the boards that were to be played."""
    # A board comes before the attempts on it.
    first = min(_differences(log, trial), key=lambda x: (x[0], x[1] or 0), default=None)
    if first is None:
        return Verdict(*key, ok=True)
    return Verdict(*key, ok=False, episode=first[0], attempt=first[1], reason=first[2])


def verify_log(
    trials: Mapping[tuple[str, int], TrialLog],
    assignment: ExperimentConfig,
    *,
    learner: str = "learner",
) -> Iterator[Verdict]:
    """Verify a log of one learner's trials against what it had to play.

    Parameters
    ----------
    trials : mapping of (str, int) to TrialLog
        By rule and number, as :func:`gohr.experiments.read_log` returns them.
    assignment : ExperimentConfig
        The assignment to be played.
    learner : str
        Name of the learner in the verdicts.

    Yields
    ------
    Verdict
        One for each trial that was assigned, in the order of the season, and one for each that is
        left over.

    Examples
    --------
    >>> from gohr.experiments import ExperimentConfig, trials_of
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> trials = {(trial.rule.name, trial.number): trial.play() for trial in trials_of(config)}
    >>> [verdict.ok for verdict in verify_log(trials, config)]
    [True]
    """
    rest = dict(trials)
    for rule in assignment.rules:
        for number in range(assignment.trials):
            key = (learner, rule.name, number)
            log = rest.pop(key[1:], None)
            if log is None:
                yield Verdict(*key, ok=False, reason="missing: the log has no attempt of it")
            else:
                trial = Trial.of(assignment, assignment.learners[0], rule, number)
                yield _of_trial(log, trial, key)
    for name, number in rest:
        shown = shortened(visible(name, kept=""), 64)
        yield Verdict(learner, shown, number, ok=False, reason="not a trial that was assigned")


class Verification(Results[Verdict]):
    """The verdicts on all trials of a run; printing shows those that are refused."""

    columns: ClassVar[tuple[str, ...]] = (
        "learner", "rule", "trial", "episode", "attempt", "reason",
    )  # fmt: skip

    @property
    def refused(self) -> tuple[Verdict, ...]:
        """The trials whose log is not correct."""
        return tuple(verdict for verdict in self if not verdict.ok)

    @property
    def ok(self) -> bool:
        """Whether the log of every trial is correct."""
        return not self.refused

    def rows(self) -> Sequence[Row]:
        """Return the first trials that are refused."""
        return [verdict.as_record() for verdict in self.refused[:_MOST_SHOWN]]

    @property
    def notes(self) -> tuple[str, ...]:
        """Number of trials, and number of refused trials."""
        n = len(self.refused)
        more = (f"and {n - _MOST_SHOWN:,} more",) if n > _MOST_SHOWN else ()
        return (*more, f"{self.settings['run']}: {counted(len(self), 'trial')}, {n:,} refused")

    def to_text(self, width: int = 200) -> str:
        """Return the refused trials as a table, if there are any, and the notes."""
        return super().to_text(width) if self.refused else "\n".join(self.notes)


def verify(
    run: str | os.PathLike[str],
    *,
    assignment: str | os.PathLike[str] | ExperimentConfig | None = None,
) -> Verification:
    """Replay every attempt of a run, and report differences from its log.

    Parameters
    ----------
    run : path or Run
        A run; or a log file of one learner, with an assignment.
    assignment : path or ExperimentConfig, optional
        The assignment of a leaderboard, which must have been played. By default, the experiment of
        the run itself.

    Returns
    -------
    Verification
        A verdict for each trial of the experiment, in its order, and one for each that is left
        over. If the run differs from the assignment, or the learner of an assigned run was shown
        the rule, all are refused; without an assignment a warning names such learners.

    Raises
    ------
    RunFolderError
        It is not a run folder, or its config is not the one that the run began with.
    ConfigError
        A log without an assignment, or a file that is not a log.

    Examples
    --------
    >>> import tempfile
    >>> from gohr.experiments import ExperimentConfig, run
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     verify(run(config, out)).ok
    True
    """
    path = path_of(run)
    if assignment is not None and not isinstance(assignment, ExperimentConfig):
        assignment = ExperimentConfig.from_toml(Path(assignment), trusted=False)
    if path.is_file():
        return Verification(tuple(_of_log(path, assignment)), {"run": str(path)})
    folder = Run.open(path)
    verdicts = tuple(_of_run(folder, assignment))
    yardsticks = tuple(
        f"{name} was shown the rule: a leaderboard refuses it"
        for name in (folder.config.revealed_to if assignment is None else ())
    )
    return Verification(verdicts, {"run": str(path)}, yardsticks)


def _of_log(path: Path, assigned: ExperimentConfig | None) -> Iterator[Verdict]:
    """Verify a log without a run folder, such as one downloaded from a leaderboard."""
    if assigned is None:
        raise ConfigError(f"{path}: a log does not contain its assignment: use --assignment")
    try:
        trials = read_log(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path}: cannot read this log: {error.strerror}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    return verify_log(trials, assigned)


# -- one trial -----------------------------------------------------------------------------------


#: Where a log is wrong: episode from 0, attempt from 1 or None for all of it; and the reason.
Difference = tuple[int, int | None, str]


def _differences(log: TrialLog, trial: Trial) -> Iterator[Difference]:
    """Yield the first difference of each kind of a log from the replay of its attempts."""
    boards, horizon = trial.boards(), trial.horizon
    n = min(len(boards), len(log.boards))
    if log.only_movable and trial.recorded is None:
        yield 0, None, "only_movable: expected False, found True"
    if len(boards) != len(log.boards):
        yield n, None, f"expected {len(boards)} episodes, found {len(log.boards)}"
    if (wrong := (log.boards[:n] != boards[:n]).any(axis=1)).any():
        episode = int(wrong.argmax())
        cell = int((log.boards[episode] != boards[episode]).argmax())
        expected, found = boards[episode, cell], log.boards[episode, cell]
        reason = f"in cell {cell + 1} expected {expected}, found {found}"
        yield episode, None, f"not the board that was assigned: {reason}"

    n_attempts = log.n_attempts[:n]
    ends = np.cumsum(n_attempts)
    actions = log.actions[: n_attempts.sum()]
    episode_of = np.repeat(np.arange(n), n_attempts)

    def at(row: int, reason: str) -> Difference:
        episode = int(episode_of[row])
        return episode, row - int(ends[episode] - n_attempts[episode]) + 1, reason

    most = N_CELLS * N_BUCKETS - 1
    if (wrong := actions > most).any():
        row = int(wrong.argmax())
        yield at(row, f"expected an action from 0 to {most}, found {actions[row]}")
    valid, rule_set = np.minimum(actions, most), trial.rule.rule_set
    true = replay(boards[:n], n_attempts, valid, rule_set, board_spec=trial.board)
    outcomes = log.outcomes[: actions.size]
    if (wrong := outcomes != true.outcomes).any():
        row = int(wrong.argmax())
        expected, found = (_named(int(x[row]), OUTCOME_WORDS) for x in (true.outcomes, outcomes))
        yield at(row, f"outcome: expected {expected}, found {found}")
    finish = true.first.astype(np.int64)
    played = n_attempts > 0
    finish[played] = true.finish[ends[played] - 1]
    if (wrong := log.finish[:n] != finish).any():
        episode = int(wrong.argmax())
        expected, found = (_named(int(x[episode]), END_WORDS) for x in (finish, log.finish))
        reason = f"finish: expected {expected}, found {found}"
        yield episode, int(n_attempts[episode]) or None, reason

    # A learner may play on after the end until the horizon; such attempts count for nothing.
    n_counted = np.bincount(episode_of[true.outcomes != EPISODE_OVER], minlength=n)
    is_over = finish != IN_PROGRESS
    beyond = is_over & (n_attempts > n_counted) & ((n_attempts != horizon) | (n_counted == 0))
    # A person whose game was recorded may stop before a board is over.
    short = ~is_over & (n_attempts < horizon) & (trial.recorded is None)
    wrong = (n_attempts > horizon) | beyond | short
    if wrong.any():
        episode = int(wrong.argmax())
        made, until = int(n_attempts[episode]), int(n_counted[episode])
        if made > horizon:
            until, reason = horizon, f"expected at most {horizon} attempts, found {made}"
        elif not beyond[episode]:
            reason = f"expected attempts until the episode ends or has {horizon}, found {made}"
        elif until == 0:
            reason = "expected no attempt on a board that is stuck from the start"
        else:
            reason = "attempted after the end of the episode"
        yield episode, until + 1, reason


def _named(code: int, names: Mapping[int, str]) -> str:
    return f"{code} ({names[code]})" if code in names else str(code)
