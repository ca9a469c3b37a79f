"""Repair of a run folder: what is damaged is moved aside, and the journal rebuilt from the shards.

Three files tell of the experiment: the manifest has its hash, ``config.json`` and the card have it
whole. Two of them that agree make up for the third. A shard says itself whether it is whole, and of
which trial; so the journal follows from the experiment and the shards, but for the times that
trials took, which only its own rows tell.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gnomon._io.atomic_file import write_atomically
from gnomon._version import __version__
from gnomon.errors import GnomonError, RunFolderError, counted
from gnomon.experiments.config.experiment_config import ExperimentConfig
from gnomon.experiments.folder.card import read_card
from gnomon.experiments.folder.folder_lock import lock
from gnomon.experiments.folder.journal import TrialRecord, create_journal, salvaged_rows
from gnomon.experiments.folder.manifest import (
    CONFIG,
    FORMAT,
    MANIFEST,
    json_bytes,
    manifest_of,
    read_json,
)
from gnomon.experiments.folder.run_folder import JOURNAL, SHARDS, RunFolder
from gnomon.experiments.scoring.episodes import are_episodes_of, episode_bytes
from gnomon.experiments.shard import is_whole, shard_frame, trial_outcomes
from gnomon.experiments.trial import Trial, trials_of
from gnomon.results import FieldRecord, Results

#: Where damaged files go.
ASIDE = "damaged"


@dataclass(frozen=True)
class Damage(FieldRecord):
    """Something that was damaged in a run folder, and what was done about it.

    Parameters
    ----------
    file : str
        Which file of the folder it is about.
    found : str
        What was found.
    remedy : str
        What was done; with ``dry_run``, what would be.
    learner, rule : str or None
    trial : int or None
        The trial that it is about, if it is about one.

    Examples
    --------
    >>> Damage("journal.sqlite", "missing", "rebuilt from the shards").learner is None
    True
    """

    file: str
    found: str
    remedy: str
    learner: str | None = None
    rule: str | None = None
    trial: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Repairs(Results[Damage]):
    """What was found in a run folder, and what was done about it; empty if nothing was damaged.

    Examples
    --------
    >>> Repairs((), {"folder": "run", "dry_run": False}).notes
    ('run: nothing to repair',)
    """

    @property
    def notes(self) -> tuple[str, ...]:
        """How much was damaged, and what remains to be done."""
        folder, dry = self.settings["folder"], self.settings["dry_run"]
        if not self:
            return (f"{folder}: nothing to repair",)
        lost = sum(damage.remedy.endswith(_AGAIN) for damage in self)
        again = f"; the same gnomon run plays {counted(lost, 'trial')} again" if lost else ""
        return (f"{folder}: {counted(len(self), 'fault')} {'found' if dry else 'mended'}{again}",)


_AGAIN = "to be played again"


def repair(run: str | os.PathLike[str], *, dry_run: bool = False) -> Repairs:
    """Repair a run folder: rebuild its journal from the experiment and the shards.

    A shard is sealed: it holds a hash of itself and of its trial's key. One that is whole is
    recorded, if the journal has lost it; one that is not is moved into the folder ``damaged``, as
    is every other file that is replaced, and the same :func:`gnomon.run` plays its trial again.
    Nothing is deleted. A repair that was interrupted goes on when it is asked for again, and one of
    a folder that is whole changes nothing. Times that only a damaged row told are NaN.

    Parameters
    ----------
    run : path, RunFolder or RunSummary
        The run, in which nobody plays.
    dry_run : bool
        Whether to say what would be done, and touch nothing.

    Returns
    -------
    Repairs

    Raises
    ------
    RunFolderError
        It is no run folder, or another process plays into it, or too little of it is left to tell
        which experiment it is.

    Examples
    --------
    >>> import tempfile
    >>> import gnomon as gn
    >>> config = gn.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = gn.run(config, folder).folder.path
    ...     (path / "journal.sqlite").unlink()
    ...     [damage.found for damage in repair(path)]
    ...     repair(path).notes[0].endswith("nothing to repair"), gn.run(config, path).skipped
    ['missing', 'whole, and not in the journal', 'whole, and not in the journal']
    (True, 2)
    """
    path = Path(run)
    if not path.is_dir():
        instead = "found a file" if path.exists() else "there is none"
        raise RunFolderError(f"{path}: expected a run folder, {instead}")
    work = _Repair(path, dry_run)
    with _held(path):
        folder = work.experiment()
    with _held(path):
        work.trials(folder)
    settings = {"folder": os.fspath(path), "dry_run": dry_run}
    return Repairs(tuple(work.found), settings)


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Hold a folder as a run that writes does; without a manifest none can."""
    place = path / MANIFEST if (path / MANIFEST).exists() else path
    handle = os.open(place, os.O_RDONLY)
    try:
        lock(handle, path)
        yield
    finally:
        os.close(handle)


@dataclass
class _Repair:
    """A repair that is being made."""

    path: Path
    dry_run: bool
    found: list[Damage] = field(default_factory=list)
    #: Rows that tell of a whole shard, but not of its episodes.
    n_without_episodes: int = 0

    def experiment(self) -> RunFolder:
        """Return the run; see first that manifest and config tell of its experiment."""
        card = read_card(self.path) or {}
        manifest, config = _json_or_none(self.path / MANIFEST), _json_or_none(self.path / CONFIG)
        hashes = {(each or {}).get("config_hash") for each in (manifest, card)}
        told = [_config_of(each) for each in (config, card.get("config"))]
        known = [each for each in told if each is not None and each.hash in hashes]
        if not known:
            raise RunFolderError(
                f"{self.path}: cannot be repaired: of {MANIFEST}, {CONFIG} and card.json no two "
                "tell of one experiment"
            )
        found = known[0]
        if told[0] is not found:
            self._write(CONFIG, json_bytes(found.to_record()), "written anew from the card")
        self._check_format(manifest, found)
        version = str(card.get("gnomon") or (manifest or {}).get("gnomon") or __version__)
        should_be = manifest_of(found, version)
        facts = {name: x for name, x in should_be.items() if name != "created"}
        if manifest is None or any(manifest.get(name) != x for name, x in facts.items()):
            self._write(MANIFEST, json_bytes(should_be), "written anew from the experiment")
        if not (self.path / SHARDS).is_dir():
            self.found.append(Damage(SHARDS, "missing", "made anew, empty"))
            if not self.dry_run:
                (self.path / SHARDS).mkdir()
        return RunFolder(self.path, found, version)

    def _check_format(self, manifest: Mapping[str, Any] | None, config: ExperimentConfig) -> None:
        """Refuse a run of another format, unless shards of this one are in it."""
        if manifest is None or manifest.get("format") == FORMAT:
            return
        for trial in trials_of(config):
            with suppress(OSError):
                path = self.path / SHARDS / f"{trial.key}.parquet"
                if is_whole(path.read_bytes(), trial.key):
                    return
        raise RunFolderError(
            f"{self.path}: a run folder of format {manifest.get('format')}; "
            f"gnomon {__version__} repairs format {FORMAT}"
        )

    def trials(self, folder: RunFolder) -> None:
        """See that the journal tells of the trials whose shards are whole, and of no others."""
        journal, damage = self.path / JOURNAL, len(self.found)
        rows, why = salvaged_rows(journal)
        known = {x.key: x for x in folder.sorted_out(rows).records.values()}
        if why:
            self.found.append(Damage(JOURNAL, why, "rebuilt from the shards"))
        elif len(known) < len(rows.records) + len(rows.damaged):
            n = len(rows.records) + len(rows.damaged) - len(known)
            self.found.append(Damage(JOURNAL, f"{counted(n, 'row')} damaged", "rebuilt"))
        kept = [self._trial(folder, trial, known.get(key)) for key, trial in folder.planned.items()]
        records = [record for record in kept if record is not None]
        if self.n_without_episodes:
            what = f"{counted(self.n_without_episodes, 'row')} without the errors of each episode"
            self.found.append(Damage(JOURNAL, what, "taken from the shards"))
        if len(self.found) > damage and not self.dry_run:
            self._rebuild(journal, records)

    def _trial(
        self, folder: RunFolder, trial: Trial, row: TrialRecord | None
    ) -> TrialRecord | None:
        """Return what the journal should say of a trial; a shard that is not whole goes aside."""
        path = folder.shards / f"{trial.key}.parquet"
        if row is not None and row.status == "failed":
            return row
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            if row is not None:
                self._tell(trial, path, "missing", _AGAIN)
            return None
        sha256 = hashlib.sha256(data).hexdigest()
        if row is not None and row.sha256 == sha256:
            return self._with_episodes(row, data)
        if is_whole(data, trial.key):
            self._tell(trial, path, "whole, and not in the journal", "recorded")
            return _record_of(trial, data, sha256)
        sealed = b"sha256" in data[-200:]
        found = "damaged" if sealed or row is not None else "damaged, or older than seals"
        self._tell(trial, path, found, f"moved to {ASIDE}/; {_AGAIN}")
        self._put_aside(path)
        return None

    def _with_episodes(self, row: TrialRecord, data: bytes) -> TrialRecord:
        """Return a row with the episodes of its shard."""
        (outcomes,) = trial_outcomes([data])
        if are_episodes_of(outcomes, row.episodes):
            return row
        self.n_without_episodes += 1
        return replace(row, episodes=episode_bytes(outcomes))

    def _tell(self, trial: Trial, path: Path, found: str, remedy: str) -> None:
        file = f"{SHARDS}/{path.name}"
        named = trial.learner.name, trial.rule.name, trial.number
        self.found.append(Damage(file, found, remedy, *named))

    def _write(self, name: str, data: bytes, remedy: str) -> None:
        """Write a file in place of a damaged one, which goes aside."""
        there = (self.path / name).exists()
        self.found.append(Damage(name, "damaged" if there else "missing", remedy))
        if not self.dry_run:
            self._put_aside(self.path / name, keep=True)
            write_atomically(self.path / name, data)

    def _rebuild(self, journal: Path, records: list[TrialRecord]) -> None:
        """Write a journal in place of the one that is there, which goes aside with its own files.

        The new one is whole before the old one goes. Without its log the old one may lack its last
        rows, should this end here; their shards are there.
        """
        new = journal.with_name(f".{journal.name}.partial")
        new.unlink(missing_ok=True)
        create_journal(new, records)
        self._put_aside(journal, keep=True)
        for log in ("-wal", "-shm", "-journal"):
            self._put_aside(journal.with_name(journal.name + log))
        os.replace(new, journal)

    def _put_aside(self, path: Path, *, keep: bool = False) -> None:
        """Move a file aside, or with ``keep`` a copy of it; never over another one."""
        if self.dry_run or not path.exists():
            return
        (self.path / ASIDE).mkdir(exist_ok=True)
        names = (f"{path.name}{f'.{n}' if n else ''}" for n in range(10_000))
        place = next(p for name in names if not (p := self.path / ASIDE / name).exists())
        if keep and path.is_file():
            shutil.copy2(path, place)
        else:
            os.replace(path, place)


def _json_or_none(path: Path) -> dict[str, Any] | None:
    with suppress(RunFolderError):
        return read_json(path)
    return None


def _config_of(record: Any) -> ExperimentConfig | None:
    """Return the experiment that a file tells of; None if it tells of none."""
    if isinstance(record, Mapping):
        with suppress(GnomonError):
            return ExperimentConfig.from_record(record, try_learners=False)
    return None


def _record_of(trial: Trial, data: bytes, sha256: str) -> TrialRecord:
    """Return the row of a trial whose shard is whole."""
    (outcomes,) = trial_outcomes([data])
    return TrialRecord(
        trial.key,
        trial.learner.name,
        trial.rule.name,
        trial.number,
        "done",
        n_attempts=int(shard_frame(data)["attempt"].count()),
        wall_time_s=float("nan"),
        cpu_time_s=float("nan"),
        shard=f"{trial.key}.parquet",
        sha256=sha256,
        episodes=episode_bytes(outcomes),
    )
