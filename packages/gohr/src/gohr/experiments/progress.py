"""Progress of a run: the trials that are done, failed and missing, as its database has them.

The configuration is not checked again, so that a look at a run takes a moment.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon import __version__
from gnomon.errors import check_type, counted
from gnomon.results import FieldRecord, Results
from gohr.errors import RunFolderError
from gohr.experiments.store import FORMAT, RUN_FILE, DamagedRunError, RunStore, TrialRecord, is_held


def path_of(run: str | os.PathLike[str]) -> Path:
    """Return the path of a run; TypeError if it is none."""
    check_type("run", run, (str, os.PathLike), "a run folder, or a Run as gohr.run returns it")
    return Path(run)


def is_run_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a run is in a folder."""
    return (Path(path) / RUN_FILE).exists()


def open_store(path: str | os.PathLike[str]) -> tuple[RunStore, dict[str, Any]]:
    """Return the database of a run, and its experiment as it was written.

    Raises RunFolderError: it is not the folder of a run, is damaged, or has another format.
    """
    path = path_of(path)
    if not path.is_dir():
        instead = "found a file" if path.exists() else "found none"
        raise RunFolderError(f"{path}: expected a run folder, {instead}")
    if not is_run_folder(path):
        raise RunFolderError(f"{path}: not a run folder ({RUN_FILE} is missing)")
    store = RunStore(path)
    experiment = store.experiment()
    if experiment["format"] != FORMAT:
        raise RunFolderError(
            f"{path}: a run folder of format {experiment['format']}, begun by gnomon "
            f"{experiment['gnomon']}; gnomon {__version__} reads format {FORMAT}"
        )
    return store, experiment


class Grid:
    """The learners and rules of an experiment with their positions, and the place of each trial."""

    def __init__(self, learners: Iterable[str], rules: Iterable[str]) -> None:
        self.learners, self.rules = (
            {name: n for n, name in enumerate(names)} for names in (learners, rules)
        )

    def place(self, learner: str, rule: str, trial: int) -> int:
        """Return the place of a trial; -1 if the experiment does not have it."""
        if learner not in self.learners or rule not in self.rules:
            return -1
        first = (trial * len(self.rules) + self.rules[rule]) * len(self.learners)
        return first + self.learners[learner]

    def trials(self, store: RunStore) -> list[TrialRecord]:
        """Return the outcome of every trial that was played, in the order of the experiment.

        No attempt is read. Raises RunFolderError: the database cannot be read, or a row is damaged
        or belongs to no trial of the experiment.
        """
        rows = store.rows()
        records = rows.records
        misplaced = {n for n, x in records.items() if n != self.place(x.learner, x.rule, x.trial)}
        if misplaced or not rows.is_whole:
            damage = self._damage(rows.damaged | misplaced, rows.n_lost)
            raise DamagedRunError(f"{store.path}: {damage}")
        return sorted(
            records.values(),
            key=lambda x: (self.rules[x.rule], self.learners[x.learner], x.trial),
        )

    def _damage(self, damaged: set[int], n_lost: int) -> str:
        """Return a sentence about damaged rows, which names the first."""
        what = [f"{counted(n_lost, 'row')} missing"] if n_lost else []
        if damaged:
            rest, learner = divmod(min(damaged), len(self.learners))
            number, rule = divmod(rest, len(self.rules))
            name = f"{number} of {[*self.learners][learner]} on {[*self.rules][rule]}"
            what.insert(0, f"{counted(len(damaged), 'row')} damaged, the first is trial {name}")
        found = " and ".join(what) or "the number of rows cannot be read"
        return f"damaged: {found}; repeat the same gohr run to play the lost trials again"


@dataclass(frozen=True, slots=True)
class PairStatus(FieldRecord):
    """Number of trials of a learner on a rule that are done, failed, and not played yet."""

    learner: str
    rule: str
    done: int
    failed: int
    missing: int


class RunStatus(Results[PairStatus]):
    """Progress of a run, learner by learner and rule by rule."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Number of trials in all, and whether the run is in progress."""
        names = ("done", "failed", "missing")
        total = {name: sum(getattr(x, name) for x in self) for name in names}
        counts = ", ".join(f"{n} {name}" for name, n in total.items())
        playing = "running" if self.settings["is_being_played"] else "not running"
        trials = counted(sum(total.values()), "trial")
        return (f"{self.settings['folder']}: {trials} ({counts}), {playing}",)


def status(run: str | os.PathLike[str]) -> RunStatus:
    """Return what of a run is done, failed and missing, while it is played or later.

    Parameters
    ----------
    run : path or Run

    Returns
    -------
    Results
        One record for each learner and rule, with the numbers of trials `done`, `failed` and
        `missing`.

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
    store, experiment = open_store(run)
    config = experiment["config"]
    grid = Grid(*([x["name"] for x in config[kind]] for kind in ("learners", "rules")))
    counts = Counter((x.learner, x.rule, x.status) for x in grid.trials(store))
    recorded = config["board"].get("trials")
    pairs = []
    for learner in grid.learners:
        for rule in grid.rules:
            done, failed = (counts[learner, rule, what] for what in ("done", "failed"))
            n_trials = sum(map(bool, recorded[rule])) if recorded else config["trials"]
            pairs.append(PairStatus(learner, rule, done, failed, n_trials - done - failed))
    settings = {"folder": os.fspath(run), "is_being_played": is_held(store.path.parent)}
    return RunStatus(tuple(pairs), settings)
