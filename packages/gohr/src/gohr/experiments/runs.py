"""A run: the folder with an experiment and every attempt.

``run.sqlite`` holds all of it (:mod:`gohr.experiments.store`). A run that was killed continues
where it stopped.
"""

from __future__ import annotations

import datetime
import os
import platform
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon import __version__
from gnomon.errors import GnomonError, UnknownNameError, check_type, counted
from gohr.errors import DamagedRunWarning, RunFolderError
from gohr.experiments.config import ExperimentConfig
from gohr.experiments.progress import Grid, is_run_folder, open_store
from gohr.experiments.store import (
    FORMAT,
    RUN_FILE,
    DamagedRunError,
    RunStore,
    TrialRecord,
    Writer,
    held,
)
from gohr.experiments.trial import Trial, encode, trials_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from gohr.playing import TrialLog

#: Packages whose versions may affect what is played.
_PACKAGES = ("numpy", "numba", "llvmlite", "torch")


@dataclass(frozen=True)
class Run:
    """A run on disk. Get one with :func:`run`, :meth:`open` or :meth:`create`.

    Parameters
    ----------
    path : Path
        The folder.
    config : ExperimentConfig
        The experiment played in it.
    version : str
        The version of Gnomon that began it.
    software : str
        The platform that it was begun on, and the versions of Python and of packages there.
    """

    path: Path
    config: ExperimentConfig
    version: str = __version__
    software: str = ""

    @classmethod
    def create(cls, path: str | os.PathLike[str], config: ExperimentConfig) -> Run:
        """Begin a run in a folder that is empty or does not exist.

        Raises
        ------
        RunFolderError
            If anything is in the folder already.
        """
        check_type("config", config, ExperimentConfig, "an ExperimentConfig")
        path = Path(path)
        _check_free(path)
        is_new = not path.exists()
        path.mkdir(parents=True, exist_ok=True)
        try:
            with held(path):
                _check_free(path)
                RunStore(path).create(_experiment(config))
        except BaseException:
            if is_new:
                with suppress(OSError):  # another process uses it
                    path.rmdir()
            raise
        return cls(path, config, __version__, _software())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Run:
        """Open a run to read it.

        Raises
        ------
        RunFolderError
            If the folder is not that of a run, or is damaged, or of another format.
        """
        store, experiment = open_store(path)
        version = str(experiment["gnomon"])
        with suppress(GnomonError, KeyError, TypeError, ValueError):  # it was edited
            config = ExperimentConfig.of_run(experiment["config"])
            if config.hash == experiment["config_hash"]:
                return cls(Path(path), config, version, str(experiment["software"]))
        raise RunFolderError(f"{store.path}: the experiment was changed after the run began")

    @classmethod
    def begin(cls, path: str | os.PathLike[str], config: ExperimentConfig) -> Run:
        """Open the run of an experiment to continue it, or create it.

        Raises
        ------
        RunFolderError
            As :meth:`create` and :meth:`open`, and if the folder holds another experiment, or was
            begun by another version of Gnomon, whose learners may differ.
        """
        path = Path(path)
        if not is_run_folder(path):
            try:
                return cls.create(path, config)
            except RunFolderError:
                if not is_run_folder(path):  # else another process has begun it meanwhile
                    raise
        try:
            run = cls.open(path)
        except DamagedRunError:
            return cls(path, config)  # repaired where it is written
        if run.config.hash != config.hash:
            what = config.difference(run.config, learners=True) or "its name or names in it"
            raise RunFolderError(
                f"{path}: holds another experiment ({what}); choose another folder"
            )
        if run.version != __version__:
            raise RunFolderError(
                f"{path}: begun by gnomon {run.version}; this is {__version__}; "
                "finish it with that version, or choose another folder"
            )
        # The limit of time may have changed: it decides no attempt.
        return replace(run, config=config)

    def __repr__(self) -> str:
        """Return the path, the name of the experiment, and the number of its trials."""
        trials = counted(self.config.n_trials, "trial")
        return f"Run: {self.path}, experiment {self.config.name!r} of {trials}"

    def __fspath__(self) -> str:
        """Return the path of the folder, so that a run can be used wherever a path can."""
        return os.fspath(self.path)

    @property
    def store(self) -> RunStore:
        """The database."""
        return RunStore(self.path)

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Hold the folder for writing; a database that is damaged is rebuilt first.

        Raises
        ------
        RunFolderError
            If another process holds it, or the disk is full.

        Warns
        -----
        DamagedRunWarning
            The database was rebuilt.
        """
        with held(self.path):
            if not self.store.is_whole():
                keys = {self.place_of(x): x.key for x in trials_of(self.config)}
                n_kept = self.store.rebuild(_experiment(self.config), keys)
                warnings.warn(
                    f"{self.store.path}: damaged; {counted(n_kept, 'undamaged trial')} kept, the "
                    f"others are played again; {RUN_FILE}.damaged is the old file",
                    DamagedRunWarning,
                    stacklevel=5,
                )
            with self.store.writing() as writer:
                yield writer

    def place_of(self, trial: Trial) -> int:
        """Return the place of a trial of the experiment."""
        return self.grid.place(trial.learner.name, trial.rule.name, trial.number)

    @cached_property
    def grid(self) -> Grid:
        """The places of the trials of the experiment."""
        config = self.config
        return Grid([x.name for x in config.learners], [x.name for x in config.rules])

    def trials(self) -> list[TrialRecord]:
        """Return the outcome of every trial that was played, in the order of the experiment.

        No attempt is read.

        Raises
        ------
        RunFolderError
            If the database cannot be read, or a row is damaged or belongs to no trial of the
            experiment.
        """
        return self.grid.trials(self.store)

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
            if x.error is not None:
                named = f"{x.trial} of {x.learner} on {x.rule}"
                raise RunFolderError(f"{self.path}: trial {named} failed: {x.error}")
        places = ((self.grid.place(x.learner, x.rule, x.trial), x) for x in trials)
        yield from zip(trials, self.store.logs(places), strict=True)

    def attempts(
        self, *, learner: str | None = None, rule: str | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """Return the attempts of all trials that are done as columns, with one row for each.

        An episode without attempts, whose board was stuck or empty from the start, has one row with
        ``attempt`` and ``cell`` 0, ``bucket`` -1, ``outcome`` -4 and ``p0`` NaN.

        Parameters
        ----------
        learner, rule : str, optional
            Names in the experiment; only their trials.

        Returns
        -------
        dict of numpy.ndarray
            ``learner`` and ``rule`` (str), ``trial``; ``episode`` from 0, ``attempt`` from 1 within
            its episode, ``cell`` 1 to 36, ``bucket`` 0 to 3, ``outcome`` the code of the game,
            ``finish`` the state of the episode after the attempt (0 going on, 1 cleared, 2
            stalemate), ``board`` the 36 codes of the board as bytes on the first row of its episode
            and None elsewhere, ``p0`` the chance of success of a random attempt
            (:func:`gohr.learners.chance_of_success`). Data frames take it:
            ``pandas.DataFrame(columns)``.

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
        ...     attempts = gohr.run(config, f"{out}/run").attempts()
        >>> int((attempts["outcome"] == 0).sum())  # two boards of nine pieces, both cleared
        18
        """
        from gohr.experiments.attempts import attempt_columns
        from gohr.learners import chance_of_success

        for kind, name, known in (
            ("learner", learner, self.grid.learners),
            ("rule", rule, self.grid.rules),
        ):
            if name is not None and name not in known:
                raise UnknownNameError(kind, name, known)
        done = [
            x
            for x in self.trials()
            if x.error is None and learner in (None, x.learner) and rule in (None, x.rule)
        ]
        logs = {(x.learner, x.rule, x.trial): log for x, log in self.each(done)}
        rules, spec = {x.name: x.rule_set for x in self.config.rules}, self.config.board
        p0 = {key: chance_of_success(rules[key[1]], x, board_spec=spec) for key, x in logs.items()}
        return attempt_columns(logs, p0)

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the columns of :meth:`attempts` as a Parquet file.

        Raises
        ------
        GnomonError
            PyArrow, the extra ``parquet``, is not installed.
        """
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise GnomonError("Parquet needs PyArrow: pip install 'gohr[parquet]'") from None
        pq.write_table(pa.table(self.attempts()), os.fspath(path))


def write_recorded_run(
    path: str | os.PathLike[str],
    config: ExperimentConfig,
    trials: Mapping[tuple[str, str, int], TrialLog],
) -> Run:
    """Write a run folder of trials that were played elsewhere, in place of an older one.

    Every verb reads it like any run, and ``gohr verify`` replays every attempt; only ``gohr run``
    cannot continue it. Attempts were made on the boards of the config; a player may have stopped
    before a board was over.

    Parameters
    ----------
    path : path
        A folder that does not exist or is empty, or the recorded run of an experiment of the same
        name, which is replaced.
    config : ExperimentConfig
        With ``recorded`` boards.
    trials : mapping of (str, str, int) to TrialLog
        By the names of the learner and the rule in the experiment, and the number of the trial.

    Raises
    ------
    RunFolderError
        The path holds something else.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> boards = gohr.draw_boards(2)
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec())
    >>> log = gohr.play(boards, learner, gohr.load_rule("clockwise"))
    >>> dealt = {"clockwise": [boards.tobytes()]}
    >>> config = ExperimentConfig("pilot", ["clockwise"], ["uniform"], trials=1, recorded=dealt)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     trials = {("uniform", "clockwise", 0): log}
    ...     gohr.verify(write_recorded_run(f"{out}/run", config, trials)).ok
    True
    """
    path = Path(path)
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        there = Run.open(path).config if is_run_folder(path) else None
        if there is None or there.recorded is None or there.name != config.name:
            raise RunFolderError(
                f"{path}: expected a new folder, or an older run of {config.name!r} to be "
                "replaced; found something else"
            )
    new = path.with_name(f".{path.name}.partial")
    shutil.rmtree(new, ignore_errors=True)
    run = Run.create(new, config)
    learners = {learner.name: learner for learner in config.learners}
    rules = {rule.name: rule for rule in config.rules}
    with run.writing() as writer:
        for (learner, rule, number), log in trials.items():
            trial = Trial.of(config, learners[learner], rules[rule], number)
            writer.record(run.place_of(trial), *encode(trial, log))
    if path.exists():
        shutil.rmtree(path)
    os.replace(new, path)
    return Run.open(path)


def _experiment(config: ExperimentConfig) -> dict[str, Any]:
    """Return what the database has of an experiment that this version begins now."""
    return {
        "format": FORMAT,
        "gnomon": __version__,
        "config_hash": config.hash,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "software": _software(),
        "config": config.to_record(),
    }


def _software() -> str:
    """Return the platform, and the versions of Python and of packages."""
    from importlib import metadata  # imports the package email, which no reader of a run needs

    found = [platform.platform(), f"{platform.python_implementation()} {platform.python_version()}"]
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return ", ".join(found)


def _check_free(path: Path) -> None:
    """Refuse a folder that is not empty, except for files left by a process killed here."""
    if path.exists() and not path.is_dir():
        raise RunFolderError(f"{path}: expected a folder, found a file")
    if is_run_folder(path):
        raise RunFolderError(f"{path}: already a run folder; open it, or choose another folder")
    if path.is_dir() and any(not x.name.startswith(f".{RUN_FILE}.") for x in path.iterdir()):
        raise RunFolderError(f"{path}: not a run folder ({RUN_FILE} is missing), and not empty")
