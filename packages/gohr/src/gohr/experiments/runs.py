"""A run: the folder with an experiment and every attempt, and its progress.

``run.sqlite`` holds all of it (:mod:`gohr.experiments.store`). A run that was killed continues
where it stopped.
"""

from __future__ import annotations

import datetime
import os
import platform
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon import __version__
from gnomon.errors import GnomonError, UnknownNameError, counted
from gnomon.results import FieldRecord, Results
from gohr.errors import DamagedRunWarning, RunFolderError
from gohr.experiments.config import ExperimentConfig
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
from gohr.experiments.trial import Trial, trials_of

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

    Examples
    --------
    >>> import tempfile
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=1, episodes=2)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     run = Run.create(Path(out) / "run", config)
    ...     Run.open(run.path).config == config, run.trials()
    (True, [])
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
        path = Path(path)
        if not path.is_dir():
            instead = "found a file" if path.exists() else "found none"
            raise RunFolderError(f"{path}: expected a run folder, {instead}")
        if not is_run_folder(path):
            raise RunFolderError(f"{path}: not a run folder ({RUN_FILE} is missing)")
        store = RunStore(path)
        experiment = store.experiment()
        version = str(experiment["gnomon"])
        if experiment["format"] != FORMAT:
            raise RunFolderError(
                f"{path}: a run folder of format {experiment['format']}, begun by gnomon "
                f"{version}; gnomon {__version__} reads format {FORMAT}"
            )
        with suppress(GnomonError, KeyError, TypeError, ValueError):  # it was edited
            config = ExperimentConfig.of_run(experiment["config"])
            if config.hash == experiment["config_hash"]:
                return cls(path, config, version, str(experiment["software"]))
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

    def place_of(self, trial: Trial) -> int:
        """Return the place of a trial of the experiment."""
        return self.place(trial.learner.name, trial.rule.name, trial.number)

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
        rows = self.store.rows()
        misplaced = {
            place
            for place, x in rows.records.items()
            if place != self.place(x.learner, x.rule, x.trial)
        }
        if misplaced or not rows.is_whole:
            damage = self._damage(rows.damaged | misplaced, rows.n_lost)
            raise DamagedRunError(f"{self.store.path}: {damage}")
        learners, rules = self._places
        records = rows.records.values()
        return sorted(records, key=lambda x: (rules[x.rule], learners[x.learner], x.trial))

    def _damage(self, damaged: set[int], n_lost: int) -> str:
        """Return a sentence about damaged rows, which names the first."""
        what = [f"{counted(n_lost, 'row')} missing"] if n_lost else []
        if damaged:
            learner, rule, number = self.trial_at(min(damaged))
            name = f"{number} of {learner} on {rule}"
            first = f"the first is trial {name}"
            what.insert(0, f"{counted(len(damaged), 'row')} damaged, {first}")
        found = " and ".join(what) or "the number of rows cannot be read"
        return f"damaged: {found}; repeat the same gohr run to play the lost trials again"

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
        places = ((self.place(x.learner, x.rule, x.trial), x) for x in trials)
        yield from zip(trials, self.store.attempts(places), strict=True)

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
            and None elsewhere, ``p0`` as in :class:`gohr.TrialLog`. Data frames take it:
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

        for kind, name, known in (
            ("learner", learner, self._places[0]),
            ("rule", rule, self._places[1]),
        ):
            if name is not None and name not in known:
                raise UnknownNameError(kind, name, known)
        done = [
            x
            for x in self.trials()
            if x.error is None and learner in (None, x.learner) and rule in (None, x.rule)
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
        ...     gohr.run(config, f"{out}/run").write_parquet(f"{out}/attempts.parquet")
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


# -- progress --------------------------------------------------------------------------------------


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
        playing = "is being played" if self.settings["is_being_played"] else "not in play"
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
    found = Run.open(run)
    counts = Counter((x.learner, x.rule, x.status) for x in found.trials())
    pairs = []
    for learner in found.config.learners:
        for rule in found.config.rules:
            pair = learner.name, rule.name
            done, failed = (counts[*pair, what] for what in ("done", "failed"))
            missing = found.config.n_trials_on(rule.name) - done - failed
            pairs.append(PairStatus(*pair, done, failed, missing))
    settings = {"folder": os.fspath(run), "is_being_played": found.is_being_written}
    return RunStatus(tuple(pairs), settings)


# -- runs played elsewhere -------------------------------------------------------------------------
