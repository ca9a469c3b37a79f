"""The folder of a run: the experiment and every attempt.

``run.sqlite`` holds all of it (:mod:`gohr.experiments.store`). A run that was killed continues
where it stopped.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon import __version__
from gnomon.errors import GnomonError, UnknownNameError, counted
from gohr.errors import RunFolderError
from gohr.experiments.config.experiment_config import NOT_PLAYED, ExperimentConfig
from gohr.experiments.store import (
    FORMAT,
    RUN_FILE,
    DamagedRunError,
    RunStore,
    TrialRecord,
    Writer,
    held,
    is_held,
)
from gohr.experiments.trial import Trial, key_finder, trials_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from gohr.playing import TrialLog

#: Name of the list of sessions in the database.
SESSIONS = "sessions"
#: Length of a value that is shown where two experiments differ.
_MOST_SHOWN = 60


@dataclass(frozen=True)
class RunFolder:
    """A run on disk. Get one with :meth:`create`, :meth:`open` or :meth:`open_or_create`.

    Parameters
    ----------
    path : Path
        The folder.
    config : ExperimentConfig
        The experiment played in it.
    version : str
        The version of Gnomon that began it.

    Examples
    --------
    >>> import tempfile
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=2)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     folder = RunFolder.create(Path(out) / "run", config)
    ...     RunFolder.open(folder.path).config == config, folder.trials()
    (True, [])
    """

    path: Path
    config: ExperimentConfig
    version: str

    @classmethod
    def create(cls, path: str | os.PathLike[str], config: ExperimentConfig) -> RunFolder:
        """Begin a run in a folder that is empty or does not exist.

        Raises
        ------
        RunFolderError
            If anything is in the folder already.
        """
        path = Path(path)
        _check_free(path)
        is_new = not path.exists()
        path.mkdir(parents=True, exist_ok=True)
        try:
            with held(path):
                _check_free(path)
                RunStore.create(path, _experiment(config))
        except BaseException:
            if is_new:
                with suppress(OSError):  # another process uses it
                    path.rmdir()
            raise
        return cls(path, config, __version__)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> RunFolder:
        """Open a run to read it.

        Raises
        ------
        RunFolderError
            If the folder is not that of a run, or is damaged, or of another format.
        """
        path = Path(path)
        if not path.is_dir():
            instead = "found a file" if path.exists() else "there is none"
            raise RunFolderError(f"{path}: expected a run folder, {instead}")
        if not is_run_folder(path):
            raise RunFolderError(f"{path}: not a run folder ({RUN_FILE} is missing)")
        store = RunStore(path)
        experiment = store.value("experiment")
        if experiment is None:
            raise DamagedRunError(
                f"{store.path}: damaged: the experiment is unreadable; the same gohr run repairs it"
            )
        version = str(experiment["gnomon"])
        if experiment["format"] != FORMAT:
            raise RunFolderError(
                f"{path}: a run folder of format {experiment['format']}, begun by gnomon "
                f"{version}; gnomon {__version__} reads format {FORMAT}"
            )
        with suppress(GnomonError, KeyError, TypeError, ValueError):  # it was edited
            config = ExperimentConfig.of_run(experiment["config"])
            if config.hash == experiment["config_hash"]:
                return cls(path, config, version)
        raise RunFolderError(f"{store.path}: not the experiment that the run began with")

    @classmethod
    def open_or_create(cls, path: str | os.PathLike[str], config: ExperimentConfig) -> RunFolder:
        """Open a run to continue it, or begin it.

        Raises
        ------
        RunFolderError
            As :meth:`create` and :meth:`open`, and if the folder holds another experiment, or was
            begun by another version of Gnomon, whose learners may differ.
        """
        found = cls.check(path, config)
        if found is not None:
            return found
        try:
            return cls.create(path, config)
        except RunFolderError:
            found = cls.check(path, config)  # another process may have begun it meanwhile
            if found is None:
                raise
            return found

    @classmethod
    def check(cls, path: str | os.PathLike[str], config: ExperimentConfig) -> RunFolder | None:
        """Open a run of an experiment; None if it is still to begin, and may. Changes nothing.

        Raises
        ------
        RunFolderError
            As :meth:`open_or_create`.
        """
        path = Path(path)
        if not is_run_folder(path):
            _check_free(path)
            return None
        try:
            folder = cls.open(path)
        except DamagedRunError:
            return cls(path, config, __version__)  # repaired where it is written
        if folder.config.hash != config.hash:
            raise RunFolderError(
                f"{path}: holds another experiment ({_difference(folder.config, config)}); "
                "choose another folder"
            )
        if folder.version != __version__:
            raise RunFolderError(
                f"{path}: begun by gnomon {folder.version}, and this is {__version__}; "
                "finish it with that version, or choose another folder"
            )
        # The limits of trials may have changed: they decide no attempt.
        return replace(folder, config=config)

    def __repr__(self) -> str:
        """Return the path, the name of the experiment, and the number of its trials."""
        trials = counted(self.config.n_trials, "trial")
        return f"RunFolder: {self.path}, experiment {self.config.name!r} of {trials}"

    def __fspath__(self) -> str:
        """Return the path of the folder, so that a run can be used wherever a path can."""
        return os.fspath(self.path)

    @property
    def store(self) -> RunStore:
        """The database."""
        return RunStore(self.path)

    @contextmanager
    def writing(self) -> Iterator[tuple[Writer, tuple[str, ...]]]:
        """Hold the folder for writing; a database that is damaged is rebuilt first.

        Gives the writer of its database, and the names of the trials that were damaged and are to
        be played again.

        Raises
        ------
        RunFolderError
            If another process holds it, or the disk is full.
        """
        with held(self.path):
            lost = () if self.store.is_whole() else self._mended()
            with self.store.writing() as writer:
                yield writer, lost

    def _mended(self) -> tuple[str, ...]:
        """Rebuild the database; return the trials that are lost because of damage."""
        key_of = key_finder(self.config)

        def is_known(place: int, record: TrialRecord) -> bool:
            named = record.learner, record.rule, record.trial
            return record.key == key_of(*named) and place == self.place(*named)

        found = self.store.rebuild(_experiment(self.config), is_known)
        places = {
            self.place(x.learner.name, x.rule.name, x.number): x for x in self.planned.values()
        }
        missing = places.keys() - found.records.keys()
        n_lost = len(missing)
        if found.n_written is not None:
            n_lost = found.n_written - len(found.records)
        # Not every trial had been played: of these only some are known to be lost.
        named = missing if n_lost == len(missing) else missing & found.damaged
        lost = [
            f"{trial.learner.name} on {trial.rule.name}, {trial.number}"
            for place, trial in places.items()
            if place in named
        ]
        more = n_lost - len(lost)
        return (*lost, *([f"{counted(more, 'trial')} more"] if more > 0 else []))

    @property
    def sessions(self) -> list[dict[str, Any]]:
        """How the run was played: for each call of :func:`run` its times, machine and versions.

        One that was killed has no end. A run that was played elsewhere has none.
        """
        return self.store.value(SESSIONS) or []

    @property
    def is_being_written(self) -> bool:
        """Whether a process is playing into it now."""
        return is_held(self.path)

    def place(self, learner: str, rule: str, trial: int) -> int:
        """Return the place of a trial in the experiment; -1 if the experiment does not have it."""
        learners, rules = self._places
        if learner not in learners or rule not in rules:
            return -1
        return (trial * len(rules) + rules[rule]) * len(learners) + learners[learner]

    def trial_at(self, place: int) -> tuple[str, str, int]:
        """Return learner, rule and number of the trial at a place."""
        rest, learner = divmod(place, len(self.config.learners))
        number, rule = divmod(rest, len(self.config.rules))
        return self.config.learners[learner].name, self.config.rules[rule].name, number

    @cached_property
    def _places(self) -> tuple[dict[str, int], dict[str, int]]:
        """Positions of learners and of rules by name."""
        learners = {learner.name: n for n, learner in enumerate(self.config.learners)}
        return learners, {rule.name: n for n, rule in enumerate(self.config.rules)}

    def trials(self) -> list[TrialRecord]:
        """Return the outcome of every trial that was played, in the order of the experiment.

        No attempt is read.

        Raises
        ------
        RunFolderError
            If the database cannot be read, or a row is damaged or belongs to no trial of the
            experiment.
        """
        rows, key_of = self.store.rows(), key_finder(self.config)
        records, damaged = [], set(rows.damaged)
        for place, record in rows.records.items():
            named = record.learner, record.rule, record.trial
            if record.key == key_of(*named) and place == self.place(*named):
                records.append(record)
            else:
                damaged.add(place)
        if damaged or rows.n_lost or rows.n_written is None:
            raise DamagedRunError(f"{self.store.path}: {self._told(damaged, rows.n_lost)}")
        learners, rules = self._places
        return sorted(records, key=lambda x: (rules[x.rule], learners[x.learner], x.trial))

    def _told(self, damaged: set[int], n_lost: int) -> str:
        """Return a sentence about damaged rows, which names the first."""
        what = [f"{counted(n_lost, 'row')} missing"] if n_lost else []
        if damaged:
            learner, rule, number = self.trial_at(min(damaged))
            name = f"{number} of {learner} on {rule}"
            first = f"the first that of trial {name}"
            what.insert(0, f"{counted(len(damaged), 'row')} damaged, {first}")
        found = " and ".join(what) or "the number of rows cannot be read"
        return f"damaged: {found}; the same gohr run plays again what is lost"

    @cached_property
    def planned(self) -> Mapping[str, Trial]:
        """Every trial of the experiment by its key, in the order of play."""
        return {trial.key: trial for trial in trials_of(self.config)}

    def log(self, trial: TrialRecord) -> TrialLog:
        """Return every attempt of a trial that is done.

        Raises
        ------
        RunFolderError
            If the trial failed, or its attempts are damaged.
        """
        [(_, log)] = self.each([trial])
        return log

    def each(self, trials: Sequence[TrialRecord]) -> Iterator[tuple[TrialRecord, TrialLog]]:
        """Yield trials that are done with their attempts, one at a time; errors as :meth:`log`."""
        for x in trials:
            if x.status != "done":
                named = f"{x.trial} of {x.learner} on {x.rule}"
                raise RunFolderError(f"{self.path}: trial {named} failed: {x.error}")
        places = ((self.place(x.learner, x.rule, x.trial), x) for x in trials)
        yield from zip(trials, self.store.attempts(places), strict=True)

    def attempts(
        self, *, learner: str | None = None, rule: str | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """Return the attempts of all trials that are done as columns.

        Parameters
        ----------
        learner, rule : str, optional
            Names in the experiment; only their trials.

        Returns
        -------
        dict of numpy.ndarray
            As :func:`gohr.experiments.attempt_columns`.

        Raises
        ------
        UnknownNameError
            The experiment does not have the learner or rule.

        Examples
        --------
        >>> import tempfile
        >>> import gohr
        >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=2)
        >>> with tempfile.TemporaryDirectory() as out:
        ...     attempts = gohr.run(config, f"{out}/run").folder.attempts()
        >>> int((attempts["outcome"] == 0).sum())  # two boards of nine pieces, both cleared
        18
        """
        from gohr.experiments.attempts import attempt_columns

        learners = _chosen("learner", learner, [x.name for x in self.config.learners])
        rules = _chosen("rule", rule, [x.name for x in self.config.rules])
        done = [
            x
            for x in self.trials()
            if x.status == "done" and x.learner in learners and x.rule in rules
        ]
        return attempt_columns({(x.learner, x.rule, x.trial): log for x, log in self.each(done)})

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the columns of :meth:`attempts` as a Parquet file.

        Raises
        ------
        GnomonError
            PyArrow, the extra ``parquet``, is not installed.

        Examples
        --------
        >>> import tempfile
        >>> import gohr
        >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=2)
        >>> with tempfile.TemporaryDirectory() as out:
        ...     gohr.run(config, f"{out}/run").folder.write_parquet(f"{out}/attempts.parquet")
        """
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise GnomonError("Parquet needs PyArrow: pip install 'gohr[parquet]'") from None
        pq.write_table(pa.table(self.attempts()), os.fspath(path))


def is_run_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a run is in a folder."""
    return (Path(path) / RUN_FILE).exists()


def _experiment(config: ExperimentConfig) -> dict[str, Any]:
    """Return what the database has of an experiment that this version begins now."""
    return {
        "format": FORMAT,
        "gnomon": __version__,
        "config_hash": config.hash,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "config": config.to_record(),
    }


def _chosen(kind: str, name: str | None, known: list[str]) -> list[str]:
    if name is not None and name not in known:
        raise UnknownNameError(kind, name, known)
    return known if name is None else [name]


def _check_free(path: Path) -> None:
    """Refuse a folder that is not empty, except for files left by a process killed here."""
    if path.exists() and not path.is_dir():
        raise RunFolderError(f"{path}: expected a folder, found a file")
    if is_run_folder(path):
        raise RunFolderError(f"{path}: a run folder already; open it, or choose another")
    if path.is_dir() and any(not x.name.startswith(f".{RUN_FILE}.") for x in path.iterdir()):
        raise RunFolderError(f"{path}: not a run folder ({RUN_FILE} is missing), and not empty")


def _difference(there: ExperimentConfig, here: ExperimentConfig) -> str:
    """Return the first rule, learner or field in which two experiments differ, in words."""
    # A hash for the text of a rule: comments may differ.
    rules = [{x.name: x.to_record() | {"text": x.hash} for x in c.rules} for c in (there, here)]
    learners = [{x.name: x.to_record() for x in c.learners} for c in (there, here)]
    for kind, (found, wanted) in {"rule": rules, "learner": learners}.items():
        for name in {**found, **wanted}:
            if name not in found or name not in wanted:
                return f"{kind} {name!r} only {'there' if name in found else 'here'}"
            if found[name] != wanted[name]:
                return f"{kind} {name!r}: {_changed(found[name], wanted[name])}"
        if [*found] != [*wanted]:
            return f"another order of its {kind}s"
    records = [c.to_record() for c in (there, here)]
    boards = [record.pop("board") for record in records]
    if boards[0] != boards[1]:
        return f"board: {_changed(*boards)}"
    others = {"rules", "learners", *NOT_PLAYED}
    return _changed(*({k: x for k, x in record.items() if k not in others} for record in records))


def _changed(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return the first field in which two tables differ, with its values if they are short."""
    name = next(name for name in {**found, **wanted} if found.get(name) != wanted.get(name))
    values = repr(found.get(name)), repr(wanted.get(name))
    if max(map(len, values)) > _MOST_SHOWN:
        return f"not the same {name}"
    return f"{name} {values[0]} there, {values[1]} here"
