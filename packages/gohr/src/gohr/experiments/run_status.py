"""Progress of a run, learner by learner and rule by rule.

Separate from the runner, so that a status query does not load the engine.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from gnomon.results import Results
from gohr.experiments.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class PairStatus:
    """Number of trials of a learner on a rule that are done, failed, and not played yet.

    Examples
    --------
    >>> PairStatus("dqn", "clockwise", 18, 0, 2).missing
    2
    """

    learner: str
    rule: str
    done: int
    failed: int
    missing: int

    def as_record(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


@dataclass(frozen=True, eq=False, repr=False)
class RunStatus(Results[PairStatus]):
    """Progress of a run, learner by learner and rule by rule.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = gohr.run(config, folder)
    ...     [pair.done for pair in status(run.folder)]
    [2]
    """

    @property
    def notes(self) -> tuple[str, ...]:
        """Number of trials in all, and whether the run is in progress."""
        total = {name: sum(getattr(x, name) for x in self) for name in _COUNTS}
        counts = ", ".join(f"{n} {name}" for name, n in total.items())
        n, folder = sum(total.values()), self.settings["folder"]
        playing = "is being played" if self.settings["is_being_played"] else "not in play"
        return (f"{folder}: {n} trial{'s' * (n != 1)} ({counts}), {playing}",)


_COUNTS = ("done", "failed", "missing")


def status(run: str | os.PathLike[str]) -> RunStatus:
    """Return what of a run is done, failed and missing, while it is played or later.

    Parameters
    ----------
    run : path, RunFolder or RunSummary
        The run: its folder, or the return value of :func:`run`.

    Raises
    ------
    RunFolderError
        It is not a run folder, or it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     status(gohr.run(config, out))[0]
    PairStatus(learner='uniform', rule='clockwise', done=2, failed=0, missing=0)
    """
    folder = RunFolder.open(run)
    config = folder.config
    counts = Counter((r.learner, r.rule, r.status) for r in folder.trials())
    pairs = (
        PairStatus(
            learner.name,
            rule.name,
            done := counts[learner.name, rule.name, "done"],
            failed := counts[learner.name, rule.name, "failed"],
            config.n_trials_on(rule.name) - done - failed,
        )
        for learner in config.learners
        for rule in config.rules
    )
    settings = {"folder": os.fspath(run), "is_being_played": folder.is_being_written}
    return RunStatus(tuple(pairs), settings)
