"""Verification of a whole run: every attempt is made again, and what differs is told."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gnomon.errors import LeaderboardError
from gnomon.experiments.folder.run_folder import RunFolder
from gnomon.leaderboard.seasons.assignment import Assignment
from gnomon.leaderboard.verification.verify_run import Verdict, verify_log, verify_run
from gnomon.learners.registry import is_shown_the_rule
from gnomon.results import Results, Row

__all__ = ["Verification", "verify"]

#: People see so many of the trials that are refused.
_MOST_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Results[Verdict]):
    """The verdicts on all trials of a run; people see those that are refused."""

    columns: ClassVar[tuple[str, ...]] = (
        "learner", "rule", "trial", "episode", "attempt", "reason",
    )  # fmt: skip

    @property
    def refused(self) -> tuple[Verdict, ...]:
        """The trials that are not what they claim to be."""
        return tuple(verdict for verdict in self if not verdict.ok)

    @property
    def ok(self) -> bool:
        """Whether every trial is what it claims to be."""
        return not self.refused

    def rows(self) -> Sequence[Row]:
        """Return the first trials that are refused."""
        return [verdict.as_record() for verdict in self.refused[:_MOST_SHOWN]]

    @property
    def notes(self) -> tuple[str, ...]:
        """How many trials there are, and how many are refused."""
        n = len(self.refused)
        more = (f"and {n - _MOST_SHOWN} more",) if n > _MOST_SHOWN else ()
        return (*more, f"{self.settings['run']}: {len(self)} trials, {n} refused")

    def to_text(self, width: int = 200) -> str:
        """Return the refused trials as a table, if there are any, and the notes."""
        return super().to_text(width) if self.refused else "\n".join(self.notes)


def verify(
    run: str | os.PathLike[str], *, assignment: str | os.PathLike[str] | Assignment | None = None
) -> Verification:
    """Play every attempt of a run again, and say where it differs from what the run tells.

    Parameters
    ----------
    run : path, RunFolder or RunSummary
        A run folder, or what :func:`gnomon.run` returned; or a log file of one learner, with an
        assignment.
    assignment : path or Assignment, optional
        What a leaderboard assigned: that must have been played. Without it, what the run itself
        says was to be played.

    Returns
    -------
    Verification
        A verdict for each trial; its warnings name learners that were shown the rule, whom a
        leaderboard refuses.

    Raises
    ------
    RunFolderError
        It is not a run folder, or its config is not the one that the run began with.
    LeaderboardError
        A log stands alone, or is none.

    Examples
    --------
    >>> import tempfile
    >>> from gnomon.experiments import ExperimentConfig, run
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     verify(run(config, out)).ok
    True
    """
    path = Path(run)
    if assignment is not None and not isinstance(assignment, Assignment):
        assignment = Assignment.from_toml(Path(assignment))
    if path.is_file():
        return Verification(tuple(_of_log(path, assignment)), {"run": str(path)})
    verdicts = tuple(verify_run(path, assignment=assignment))
    shown = [] if assignment is not None else RunFolder.open(path).config.learners
    yardsticks = tuple(
        f"{learner.name} was shown the rule: a leaderboard refuses it"
        for learner in shown
        if is_shown_the_rule(learner.kind)
    )
    return Verification(verdicts, {"run": str(path)}, yardsticks)


def _of_log(log: Path, assigned: Assignment | None) -> Sequence[Verdict]:
    """Verify a log that stands alone, such as one that a leaderboard gave to be downloaded."""
    from gnomon.leaderboard.verification.log_files import read_log_file

    if assigned is None:
        raise LeaderboardError(f"{log}: a log does not say what it plays: use --assignment")
    return [*verify_log(read_log_file(log), assigned)]
