"""The folder of a run: what was played, and every attempt of it.

::

    gnomon-run.json    the manifest: format, version, hash of the config; written last of the three
    config.json        the experiment, with the full texts of its rules
    journal.sqlite     one row a trial: done or failed, and where its attempts are
    shards/KEY.parquet one file a trial: one row an attempt
    card.json          how it was played: on what, with which versions, how long

A trial's key is the hash of all that determines it. A shard counts once the journal has its hash,
and every other file appears complete or not at all, so a run that was killed goes on where it
stopped.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon._io.atomic_file import write_atomically
from gnomon._version import __version__
from gnomon.errors import RunFolderError, UnknownNameError, counted
from gnomon.experiments.config.experiment_config import ExperimentConfig
from gnomon.experiments.folder.folder_lock import OTHER_RUN, beginning, is_held, lock
from gnomon.experiments.folder.journal import (
    Journal,
    JournalRows,
    TrialRecord,
    create_journal,
    read_journal,
    remedy,
)
from gnomon.experiments.folder.manifest import (
    CONFIG,
    FORMAT,
    MANIFEST,
    config_of,
    difference,
    json_bytes,
    manifest_of,
    may_be_mended,
    read_json,
)
from gnomon.experiments.trial import Trial, key_finder, trials_of

if TYPE_CHECKING:
    import polars as pl

    from gnomon.experiments.shard import TrialOutcomes
    from gnomon.learners.base import TrialLog

JOURNAL = "journal.sqlite"
SHARDS = "shards"
#: Trials whose shards are read together: more of them take longer.
_TOGETHER = 32


@dataclass(frozen=True)
class RunFolder:
    """A run on disk. Get one with :meth:`create`, :meth:`open` or :meth:`open_or_create`.

    Parameters
    ----------
    path : Path
        The folder.
    config : ExperimentConfig
        What is played in it.
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
        with beginning(path):
            _check_free(path)
            return cls._create(path, config)

    @classmethod
    def _create(cls, path: Path, config: ExperimentConfig) -> RunFolder:
        """Fill an empty folder; one that cannot be filled is left empty."""
        try:
            _fill(path, config)
        except BaseException:
            shutil.rmtree(path / SHARDS, ignore_errors=True)
            for name in (CONFIG, JOURNAL, MANIFEST):
                (path / name).unlink(missing_ok=True)
            raise
        return cls(path, config, __version__)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> RunFolder:
        """Open a run to read it.

        Raises
        ------
        RunFolderError
            If the folder is not that of a run, or is half written, damaged, or of another format.
        """
        path = Path(path)
        if not path.is_dir():
            instead = "found a file" if path.exists() else "there is none"
            raise RunFolderError(f"{path}: expected a run folder, {instead}")
        if not (path / MANIFEST).exists():
            raise RunFolderError(f"{path}: {_why_not(path)}")
        manifest = read_json(path / MANIFEST)
        found = manifest.get("format")
        if found != FORMAT:
            raise RunFolderError(
                f"{path}: a run folder of format {found}, begun by gnomon "
                f"{manifest.get('gnomon')}; gnomon {__version__} reads format {FORMAT}"
            )
        for name in (CONFIG, JOURNAL, SHARDS):
            if not (path / name).exists():
                what = f"a damaged run folder: {name} is missing"
                raise RunFolderError(f"{path}: {what}; {may_be_mended(path)}")
        return cls(path, config_of(path, manifest), str(manifest.get("gnomon")))

    @classmethod
    def open_or_create(cls, path: str | os.PathLike[str], config: ExperimentConfig) -> RunFolder:
        """Open a run to go on with it, or begin it.

        Raises
        ------
        RunFolderError
            As :meth:`create` and :meth:`open`, and if the folder holds another experiment, or was
            begun by another version of Gnomon, whose learners may differ.
        """
        path = Path(path)
        folder = cls.check(path, config)
        if folder is None:
            with beginning(path):
                # Another run may have begun here since.
                folder = cls.check(path, config) or cls._create(path, config)
        return folder

    @classmethod
    def check(cls, path: str | os.PathLike[str], config: ExperimentConfig) -> RunFolder | None:
        """Open a run of an experiment; None if it is still to begin, and might. Touches nothing.

        Raises
        ------
        RunFolderError
            As :meth:`open_or_create`.
        """
        path = Path(path)
        if not (path / MANIFEST).exists():
            _check_free(path)
            return None
        folder = cls.open(path)
        if folder.config.hash != config.hash:
            raise RunFolderError(
                f"{path}: holds another experiment ({difference(folder.config, config)}); "
                "choose another folder"
            )
        if folder.version != __version__:
            raise RunFolderError(
                f"{path}: begun by gnomon {folder.version}, and this is {__version__}; "
                "finish it with that version, or choose another folder"
            )
        # The limits of trials may have changed: they decide no attempt.
        return replace(folder, config=config)

    def __fspath__(self) -> str:
        """Return the path of the folder: a run stands wherever its path may."""
        return os.fspath(self.path)

    @property
    def shards(self) -> Path:
        """The folder of the trials' files."""
        return self.path / SHARDS

    @contextmanager
    def writing(self) -> Iterator[Journal]:
        """Hold the folder for writing, and its journal.

        Raises
        ------
        RunFolderError
            If another process holds it.
        """
        with (self.path / MANIFEST).open() as manifest:
            lock(manifest.fileno(), self.path)
            for place in (self.path, self.shards):
                for leftover in place.glob(".*.partial"):
                    leftover.unlink(missing_ok=True)
            with Journal.opened(self.path / JOURNAL) as journal:
                yield journal

    @property
    def is_being_written(self) -> bool:
        """Whether a process is playing into it now."""
        return is_held(self.path / MANIFEST)

    def trials(self) -> list[TrialRecord]:
        """Return what has become of every trial that was played, in the order of the experiment.

        Raises
        ------
        RunFolderError
            If the journal cannot be read, or a row of it is damaged or tells of no trial of the
            experiment.
        """
        rows = self.sorted_out(read_journal(self.path / JOURNAL))
        if rows.damaged:
            n, tell = len(rows.damaged), "it tells" if len(rows.damaged) == 1 else "they tell"
            raise RunFolderError(
                f"{self.path / JOURNAL}: {counted(n, 'row')} of {n + len(rows.records)} damaged; "
                f"the same gnomon run plays what {tell} of again, or {remedy(self.path)}"
            )
        rules = {rule.name: place for place, rule in enumerate(self.config.rules)}
        learners = {learner.name: place for place, learner in enumerate(self.config.learners)}
        return sorted(
            rows.records.values(), key=lambda x: (rules[x.rule], learners[x.learner], x.trial)
        )

    @cached_property
    def planned(self) -> Mapping[str, Trial]:
        """Every trial of the experiment by its key."""
        return {trial.key: trial for trial in trials_of(self.config)}

    def sorted_out(self, rows: JournalRows) -> JournalRows:
        """Return rows of the journal of which those that the experiment does not know are damaged.

        What a row tells of must be a trial of the experiment, by its key, and its own file.
        """
        key_of = key_finder(self.config)
        known = {n: record for n, record in rows.records.items() if _is_known(record, key_of)}
        return JournalRows(
            known, rows.damaged | {n: rows.records[n] for n in rows.records.keys() - known.keys()}
        )

    def holds(self, trial: TrialRecord) -> bool:
        """Return whether a trial is done, and its shard is what the journal says.

        That costs a hundredth of playing it.
        """
        if trial.shard is None:
            return False
        try:
            data = (self.shards / trial.shard).read_bytes()
        except OSError:
            return False
        return hashlib.sha256(data).hexdigest() == trial.sha256

    def require_shards(self, trials: Iterable[TrialRecord]) -> None:
        """Refuse trials that are done whose shards are gone, without reading the others."""
        there = set(os.listdir(self.shards)) if self.shards.is_dir() else set()
        for trial in trials:
            if trial.shard not in there:
                self._shard(trial)

    def _shard(self, trial: TrialRecord) -> bytes:
        """Return the bytes of a trial's shard, which are those that the journal tells of."""
        if trial.shard is None:
            raise RunFolderError(f"{self.path}: trial {_named(trial)} failed: {trial.error}")
        path = self.shards / trial.shard
        try:
            data = path.read_bytes()
        except OSError as error:
            raise RunFolderError(f"{path}: {error.strerror}{_again(trial)}") from None
        if hashlib.sha256(data).hexdigest() != trial.sha256:
            raise RunFolderError(
                f"{path}: damaged: not the bytes that the journal tells of{_again(trial)}"
            )
        return data

    def frame(self, trial: TrialRecord) -> pl.DataFrame:
        """Return the rows of a trial's shard; columns as in :mod:`~gnomon.experiments.shard`.

        Raises
        ------
        RunFolderError
            If the trial failed, or its shard is missing or not what the journal says.
        """
        from gnomon.experiments.shard import shard_frame

        return shard_frame(self._shard(trial))

    def outcomes(
        self, trials: Sequence[TrialRecord], *, chances: bool = False
    ) -> Iterator[tuple[TrialRecord, TrialOutcomes]]:
        """Yield trials that are done with their outcomes.

        One pass over their attempts, in memory for some trials at a time; errors as :meth:`frame`.
        With ``chances``, p0 is read too, which trials on hidden rules do not have.
        """
        from gnomon.experiments.shard import trial_outcomes

        for first in range(0, len(trials), _TOGETHER):
            together = trials[first : first + _TOGETHER]
            found = trial_outcomes([*map(self._shard, together)], chances=chances)
            yield from zip(together, found, strict=True)

    def log(self, trial: TrialRecord) -> TrialLog:
        """Return every attempt of a trial that is done; errors as :meth:`frame`."""
        from gnomon.experiments.shard import log_of

        return log_of(self.frame(trial))

    def attempts(self, *, learner: str | None = None, rule: str | None = None) -> pl.DataFrame:
        """Return the attempts of all trials that are done, as one table.

        Parameters
        ----------
        learner, rule : str, optional
            Names in the experiment; only their trials.

        Returns
        -------
        polars.DataFrame
            Columns ``learner``, ``rule``, ``trial``, then those of a shard.

        Raises
        ------
        UnknownNameError
            The experiment has no such learner or rule.
        """
        import polars as pl

        learners = _chosen("learner", learner, [x.name for x in self.config.learners])
        rules = _chosen("rule", rule, [x.name for x in self.config.rules])
        tables = [
            self.frame(trial).select(
                pl.lit(trial.learner).cast(pl.Categorical).alias("learner"),
                pl.lit(trial.rule).cast(pl.Categorical).alias("rule"),
                pl.lit(trial.trial, dtype=pl.Int32).alias("trial"),
                pl.all(),
            )
            for trial in self.trials()
            if trial.status == "done" and trial.learner in learners and trial.rule in rules
        ]
        # Of a hidden rule there is no column p0.
        return pl.concat(tables, how="diagonal") if tables else pl.DataFrame()


def _is_known(record: TrialRecord, key_of: Callable[[str, str, int], str | None]) -> bool:
    shard = f"{record.key}.parquet" if record.status == "done" else None
    return (
        record.key == key_of(record.learner, record.rule, record.trial)
        and record.status in ("done", "failed")
        and record.shard == shard
    )


def _fill(path: Path, config: ExperimentConfig) -> None:
    """Write what a run begins with; the manifest comes last, and makes it a run folder."""
    (path / SHARDS).mkdir()
    write_atomically(path / CONFIG, json_bytes(config.to_record()))
    create_journal(path / JOURNAL)
    write_atomically(path / MANIFEST, json_bytes(manifest_of(config, __version__)))


def _chosen(kind: str, name: str | None, known: list[str]) -> list[str]:
    if name is not None and name not in known:
        raise UnknownNameError(kind, name, known)
    return known if name is None else [name]


def _named(trial: TrialRecord) -> str:
    return f"{trial.trial} of {trial.learner} on {trial.rule}"


def _again(trial: TrialRecord) -> str:
    return f" (trial {_named(trial)}; the same gnomon run plays it again)"


def _check_free(path: Path) -> None:
    """Refuse to begin a run where anything is."""
    if path.exists() and not path.is_dir():
        raise RunFolderError(f"{path}: expected a folder, found a file")
    if path.is_dir() and any(path.iterdir()):
        raise RunFolderError(f"{path}: {_why_not(path)}")


def _why_not(path: Path) -> str:
    """Return what a folder is that is no whole run folder."""
    if (path / MANIFEST).exists():
        return "a run folder already; open it, or choose another"
    if is_held(path):
        return OTHER_RUN
    if any((path / SHARDS).glob("*.parquet")):
        return f"a damaged run folder: {MANIFEST} is missing; {may_be_mended(path)}"
    if any((path / name).exists() for name in (CONFIG, JOURNAL, SHARDS)):
        why = f"{MANIFEST} is missing, and no trial was played"
        return f"a half-written run folder ({why}); remove it or choose another"
    if any(path.iterdir()):
        return f"not a run folder ({MANIFEST} is missing), and not empty"
    return f"not a run folder ({MANIFEST} is missing)"
