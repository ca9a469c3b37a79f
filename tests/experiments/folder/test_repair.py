"""Repair of a run folder: what is whole is recorded, what is not goes aside, nothing is deleted."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import shutil
import signal
import sqlite3
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from gnomon import verify
from gnomon.errors import RunFolderError
from gnomon.experiments import ExperimentConfig, RunFolder, forecast, repair, run, score, status
from gnomon.experiments.folder.journal import create_journal
from gnomon.experiments.folder.repair import _Repair
from gnomon.experiments.shard import shard_bytes

CONFIG = ExperimentConfig(
    "small", ["clockwise", "color-match"], ["uniform", "rule_player"], trials=2, episodes=4
)
N = CONFIG.n_trials


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("played") / "run"
    run(CONFIG, path)
    return path


@pytest.fixture
def folder(played, tmp_path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "run"))


def contents(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def flip(path: Path, byte: int, bit: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[byte] ^= 1 << bit
    path.write_bytes(data)


def edit(folder: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as journal:
        journal.execute(statement)
        journal.commit()


def test_a_folder_that_is_whole_stays_as_it_is(folder):
    before = contents(folder)
    found = repair(folder)
    assert (list(found), found.notes) == ([], (f"{folder}: nothing to repair",))
    assert contents(folder) == before


def test_a_folder_in_the_place_of_a_file_goes_aside(folder):
    for name in ("journal.sqlite", "config.json", "gnomon-run.json"):
        (folder / name).unlink()
        (folder / name).mkdir()
        (folder / name / "precious").write_text("years of work")
        assert repair(folder)[0].file == name
        assert (folder / "damaged" / name / "precious").exists()
    assert run(CONFIG, folder).skipped == N


@pytest.mark.parametrize("how", ["gone", "no database", "a page", "empty", "cut"])
def test_a_journal_is_rebuilt_from_the_shards(folder, played, how):
    path = folder / "journal.sqlite"
    scores = score(folder).to_records()
    if how == "gone":
        path.unlink()
    elif how == "no database":
        path.write_bytes(b"no journal" * 1000)
    elif how == "a page":
        flip(path, 4096 + 3)
    else:
        path.write_bytes(path.read_bytes()[: 0 if how == "empty" else 5000])
    before = contents(folder)
    told = repair(folder, dry_run=True)
    assert contents(folder) == before
    assert told == repair(folder)
    assert told[0].file == "journal.sqlite"
    assert score(folder).to_records() == scores
    assert (
        status(folder).notes[0].endswith(f"{N} trials ({N} done, 0 failed, 0 missing), not in play")
    )
    summary = run(CONFIG, folder)
    assert (summary.done, summary.skipped, summary.lost) == (0, N, ())
    assert contents(folder / "shards") == contents(played / "shards")
    for old in {x.name for x in folder.iterdir()} & {"damaged"}:
        assert contents(folder / old).get("journal.sqlite") == before.get("journal.sqlite")
    assert list(repair(folder)) == []


def test_rows_that_are_whole_keep_their_times(folder):
    one, *others = RunFolder.open(folder).trials()
    edit(folder, f"UPDATE trials SET wall_time_s = 1e9 WHERE key = '{one.key}'")
    assert [d.found for d in repair(folder)] == ["1 row damaged", "whole, and not in the journal"]
    first, *rest = RunFolder.open(folder).trials()
    assert rest == others
    assert math.isnan(first.wall_time_s)
    assert (first.n_attempts, first.sha256) == (one.n_attempts, one.sha256)


def test_a_damaged_shard_goes_aside_and_is_played_again(folder, played):
    shard = sorted((folder / "shards").iterdir())[3]
    flip(shard, 100)
    damaged = shard.read_bytes()
    (found,) = repair(folder)
    assert (found.file, found.found) == (f"shards/{shard.name}", "damaged")
    assert found.remedy == "moved to damaged/; to be played again"
    assert contents(folder / "damaged")[shard.name] == damaged
    summary = run(CONFIG, folder)
    assert (summary.done, summary.skipped) == (1, N - 1)
    assert contents(folder / "shards") == contents(played / "shards")
    # The next one of that name stands beside it.
    flip(shard, 101)
    repair(folder)
    assert contents(folder / "damaged")[shard.name] == damaged
    assert f"{shard.name}.1" in contents(folder / "damaged")


@pytest.mark.parametrize("byte", [0, 100, -1, -5, -50, -100])
def test_without_a_journal_no_damaged_shard_is_believed(folder, byte):
    (folder / "journal.sqlite").unlink()
    first, second, *_ = shards = sorted((folder / "shards").iterdir())
    flip(first, byte)
    # Nor is a whole one under another's name.
    shutil.copy(shards[2], second)
    found = {d.file: d.found for d in repair(folder)}
    assert found[f"shards/{first.name}"].startswith("damaged")
    assert found[f"shards/{second.name}"] == "damaged"
    assert sum(pair.done for pair in status(folder)) == N - 2


def test_shards_that_are_older_than_seals_are_kept_while_the_journal_has_their_hash(folder):
    trial, *_ = RunFolder.open(folder).trials()
    path = folder / "shards" / trial.shard
    data = shard_bytes(RunFolder.open(folder).log(trial))
    path.write_bytes(data)
    hashed = hashlib.sha256(data).hexdigest()
    edit(
        folder, f"UPDATE trials SET sha256 = '{hashed}', checksum = NULL WHERE key = '{trial.key}'"
    )
    assert list(repair(folder)) == []
    edit(folder, f"DELETE FROM trials WHERE key = '{trial.key}'")
    assert [d.found for d in repair(folder)] == ["damaged, or older than seals"]
    assert contents(folder / "damaged")[path.name] == data


def test_times_that_are_lost_forecast_nothing(folder):
    (folder / "journal.sqlite").unlink()
    repair(folder)
    (folder / "shards" / RunFolder.open(folder).trials()[0].shard).unlink()
    repair(folder)
    assert forecast(CONFIG, folder).wall_time_s < 20


def test_a_trial_that_failed_stays_so_and_one_without_shard_is_missing(folder):
    failed, gone, *_ = RunFolder.open(folder).trials()
    edit(
        folder,
        "UPDATE trials SET status = 'failed', shard = NULL, sha256 = NULL, checksum = NULL, "
        f"error = 'Error: bad luck' WHERE key = '{failed.key}'",
    )
    (folder / "shards" / gone.shard).unlink()
    (found,) = repair(folder)
    assert (found.found, found.remedy, found.trial) == ("missing", "to be played again", gone.trial)
    counts = [sum(getattr(p, x) for p in status(folder)) for x in ("done", "failed", "missing")]
    assert counts == [N - 2, 1, 1]


@pytest.mark.parametrize("name", ["gnomon-run.json", "config.json"])
@pytest.mark.parametrize("how", ["gone", "no JSON", "another"])
def test_two_files_that_tell_of_the_experiment_make_up_for_the_third(folder, name, how):
    before = (folder / name).read_text()
    if how == "gone":
        (folder / name).unlink()
    elif how == "no JSON":
        (folder / name).write_text(before[: len(before) // 2])
    else:
        record = json.loads(before)
        record |= {"seed": 7} if name == "config.json" else {"config_hash": "0" * 64}
        (folder / name).write_text(json.dumps(record))
    with pytest.raises(RunFolderError, match=r"; gnomon repair \S+ may mend it$"):
        RunFolder.open(folder)
    (found,) = repair(folder)
    assert found.found == ("missing" if how == "gone" else "damaged")
    after = json.loads((folder / name).read_text())
    assert {**after, "created": ""} == {**json.loads(before), "created": ""}
    assert run(CONFIG, folder).skipped == N


def test_a_digit_of_the_manifest(folder):
    for name, wrong in (("format", 3), ("gnomon", "0.1.1"), ("revealed_to", [])):
        manifest = json.loads((folder / "gnomon-run.json").read_text())
        (folder / "gnomon-run.json").write_text(json.dumps(manifest | {name: wrong}))
        assert [d.file for d in repair(folder)] == ["gnomon-run.json"]
        assert run(CONFIG, folder).skipped == N


def test_what_cannot_be_repaired(folder, tmp_path):
    with pytest.raises(RunFolderError, match="expected a run folder, there is none"):
        repair(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="expected a run folder, found a file"):
        repair(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunFolderError, match=r"cannot be repaired: of gnomon-run\.json, config"):
        repair(tmp_path / "empty")
    assert list((tmp_path / "empty").iterdir()) == []
    with (
        RunFolder.open(folder).writing(),
        pytest.raises(RunFolderError, match="another run is writing here"),
    ):
        repair(folder)
    # Another format, with shards of that format.
    manifest = json.loads((folder / "gnomon-run.json").read_text())
    (folder / "gnomon-run.json").write_text(json.dumps(manifest | {"format": 1}))
    for shard in (folder / "shards").iterdir():
        shard.write_bytes(b"PAR0")
    before = contents(folder)
    with pytest.raises(RunFolderError, match=r"a run folder of format 1; gnomon \S+ repairs"):
        repair(folder)
    assert contents(folder) == before


@pytest.mark.parametrize("n_steps", range(6))
def test_a_repair_that_is_interrupted_goes_on(folder, played, monkeypatch, n_steps):
    """It stops before any of its steps on the disk; what is asked for again ends the same."""
    flip(sorted((folder / "shards").iterdir())[0], 50)
    flip(folder / "journal.sqlite", 4096 + 3)
    (folder / "gnomon-run.json").unlink()
    plain, left = _Repair._put_aside, iter(range(n_steps))

    def put_aside(self, path, *, keep=False):
        if next(left, None) is None:
            raise KeyboardInterrupt
        plain(self, path, keep=keep)

    monkeypatch.setattr(_Repair, "_put_aside", put_aside)
    with contextlib.suppress(KeyboardInterrupt):
        repair(folder)
    monkeypatch.undo()
    repair(folder)
    assert list(repair(folder)) == []
    assert sum(pair.done for pair in status(folder)) == N - 1
    assert run(CONFIG, folder).done == 1
    assert contents(folder / "shards") == contents(played / "shards")


@pytest.mark.full
def test_the_log_of_a_killed_run_is_not_mixed_into_the_new_journal(tmp_path):
    """A run is killed, so that its journal has a log beside it; then both are damaged."""
    (tmp_path / "long.toml").write_text(
        'name = "long"\nrules = ["clockwise"]\nlearners = ["uniform"]\n'
        "trials = 4000\nepisodes = 50\n"
    )
    command = [sys.executable, "-m", "gnomon", "run", "long.toml", "--out", "run"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    log = tmp_path / "run" / "journal.sqlite-wal"
    while not (log.exists() and log.stat().st_size > 50_000):
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    flip(log, 40)
    (tmp_path / "run" / "journal.sqlite").write_bytes(b"no journal" * 1000)
    repair(tmp_path / "run")
    assert "journal.sqlite-wal" in contents(tmp_path / "run" / "damaged")
    assert not log.exists()
    whole = len(list((tmp_path / "run" / "shards").iterdir()))
    done = status(tmp_path / "run")[0].done
    assert whole - 40 <= done <= whole  # what was being written is not whole
    assert list(repair(tmp_path / "run")) == []


def rewritten(folder: Path, change) -> None:
    """Write a journal of the same trials, each as `change` has it, with whole checksums."""
    records = [change(record) for record in RunFolder.open(folder).trials()]
    (folder / "journal.sqlite").unlink()
    create_journal(folder / "journal.sqlite", records)


def test_scores_read_no_attempt_unless_the_journal_is_older(folder, monkeypatch):
    def scores():
        ways = [("tce", True), ("tce", False), ("learned", True), ("errors_per_episode", True)]
        return [score(folder, metric, count_empty=empty).to_records() for metric, empty in ways]

    found = scores()
    with monkeypatch.context() as patch:
        patch.delattr(RunFolder, "_shard")
        assert scores() == found

    rewritten(folder, lambda record: dataclasses.replace(record, episodes=None))
    edit(folder, "ALTER TABLE trials DROP COLUMN episodes")
    assert scores() == found
    assert verify(folder).ok
    assert run(CONFIG, folder).skipped == N
    [damage] = repair(folder)
    assert damage.found == f"{N} rows without the errors of each episode"
    assert scores() == found
    assert not repair(folder)


@pytest.mark.parametrize("data", [b"", b"no episodes", zlib.compress(b"\0" * 48)])
def test_episodes_of_other_attempts_are_found_and_mended(folder, data):
    scores = score(folder).to_records()
    rewritten(folder, lambda record: dataclasses.replace(record, episodes=data))
    assert {verdict.reason for verdict in verify(folder)} == {
        "the journal's errors of each episode are not those of its attempts"
    }
    with contextlib.suppress(RunFolderError):
        assert score(folder).to_records() != scores
    [damage] = repair(folder)
    assert damage.remedy == "taken from the shards"
    assert score(folder).to_records() == scores
    assert verify(folder).ok


def test_episodes_that_are_none_are_refused_in_one_line(folder):
    for data in (b"no episodes", zlib.compress(b"\0" * 5), zlib.compress(b"\0" * 4)):
        rewritten(folder, lambda record, data=data: dataclasses.replace(record, episodes=data))
        with pytest.raises(RunFolderError, match=r"gnomon repair .* takes them from its attempts"):
            score(folder)
