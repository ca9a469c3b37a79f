"""The run folder: what is in it, and what is refused."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import RunFolderError, UnknownNameError
from gnomon.experiments import ExperimentConfig, RunFolder, repair, run, trials_of
from gnomon.experiments.folder import run_folder
from gnomon.experiments.folder.manifest import FORMAT

CONFIG = ExperimentConfig(
    "small", ["clockwise", "color-match"], ["uniform", "rule_player"], trials=2, episodes=4
)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return run(CONFIG, tmp_path / "run").folder


def contents(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def refused(path: Path, *, config: ExperimentConfig = CONFIG) -> str:
    """Return what opening says, and see that running says it too and changes nothing."""
    before = contents(path)
    with pytest.raises(RunFolderError) as error:
        run(config, path)
    assert contents(path) == before
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def test_what_is_in_it(folder):
    names = {name for name in contents(folder.path) if not name.startswith("shards")}
    assert names == {"gnomon-run.json", "config.json", "journal.sqlite", "card.json"}
    manifest = json.loads((folder.path / "gnomon-run.json").read_text())
    assert manifest["format"] == FORMAT
    assert manifest["config_hash"] == CONFIG.hash
    assert manifest["revealed_to"] == ["rule_player"]
    config = json.loads((folder.path / "config.json").read_text())
    assert config["rules"][0]["text"] == CONFIG.rules[0].text
    assert len(list(folder.shards.iterdir())) == 8


def test_it_is_read_back(folder):
    again = RunFolder.open(folder.path)
    assert again.config == CONFIG
    trials = again.trials()
    assert [(t.rule, t.learner, t.trial) for t in trials][:3] == [
        ("clockwise", "uniform", 0),
        ("clockwise", "uniform", 1),
        ("clockwise", "rule_player", 0),
    ]
    assert {t.key for t in trials} == {t.key for t in trials_of(CONFIG)}
    played = {t.key: t for t in trials_of(CONFIG)}
    for trial in trials:
        log, expected = again.log(trial), played[trial.key].play()
        assert trial.n_attempts == log.n_attempts.sum()
        assert trial.wall_time_s > 0
        np.testing.assert_array_equal(log.actions, expected.actions)
        np.testing.assert_array_equal(log.boards, expected.boards)


def test_all_attempts_as_one_table(folder):
    table = folder.attempts()
    assert table.columns[:4] == ["learner", "rule", "trial", "episode"]
    assert table.height == sum(t.n_attempts for t in folder.trials())
    some = folder.attempts(learner="uniform", rule="clockwise")
    assert some.height < table.height
    assert some["learner"].unique().to_list() == ["uniform"]
    assert some["rule"].unique().to_list() == ["clockwise"]
    with pytest.raises(UnknownNameError, match=r"^unknown learner 'uniorm'; did you mean"):
        folder.attempts(learner="uniorm")


def test_a_folder_of_another_experiment(folder):
    more = ExperimentConfig(
        "small", ["clockwise", "color-match"], ["uniform", "rule_player"], trials=3, episodes=4
    )
    message = refused(folder.path, config=more)
    assert message == ": holds another experiment (trials 2 there, 3 here); choose another folder"
    other = ExperimentConfig("small", ["clockwise"], ["uniform"], trials=2, episodes=4)
    message = refused(folder.path, config=other)
    assert message == ": holds another experiment (its rules differ); choose another folder"


def rewrite(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_folder_of_another_format(folder):
    rewrite(folder.path / "gnomon-run.json", format=7, gnomon="9.9")
    message = refused(folder.path)
    assert message.startswith(": a run folder of format 7, begun by gnomon 9.9; gnomon ")
    assert message.endswith(f"reads format {FORMAT}")


def test_a_folder_of_another_version_is_read_but_not_gone_on_with(folder):
    rewrite(folder.path / "gnomon-run.json", gnomon="0.0.1")
    assert len(RunFolder.open(folder.path).trials()) == 8
    message = refused(folder.path)
    assert message.startswith(": begun by gnomon 0.0.1, and this is ")


def test_a_half_written_folder(tmp_path):
    folder = RunFolder.create(tmp_path / "run", CONFIG)
    (folder.path / "gnomon-run.json").unlink()
    assert refused(folder.path) == (
        ": a half-written run folder (gnomon-run.json is missing, and no trial was played); "
        "remove it or choose another"
    )
    with pytest.raises(RunFolderError, match="half-written"):
        RunFolder.open(folder.path)


def test_nobody_is_told_to_remove_what_was_played(folder):
    (folder.path / "gnomon-run.json").unlink()
    remedy = f"gnomon repair {folder.path} may mend it"
    assert refused(folder.path) == (f": a damaged run folder: gnomon-run.json is missing; {remedy}")


@pytest.mark.parametrize("name", ["config.json", "journal.sqlite"])
def test_a_folder_that_lacks_a_file(folder, name):
    (folder.path / name).unlink()
    assert refused(folder.path) == (
        f": a damaged run folder: {name} is missing; gnomon repair {folder.path} may mend it"
    )


def test_a_config_that_was_edited(folder):
    rewrite(folder.path / "config.json", trials=5)
    remedy = f"; gnomon repair {folder.path} may mend it"
    assert refused(folder.path) == (
        f"/config.json: not the experiment that the run began with{remedy}"
    )
    rewrite(folder.path / "config.json", trials="many")
    assert refused(folder.path).startswith("/config.json: field 'trials': expected a whole number")
    (folder.path / "config.json").write_text("{")
    assert refused(folder.path).startswith("/config.json: damaged: ")


def test_a_damaged_journal(folder):
    (folder.path / "journal.sqlite").write_bytes(b"no journal" * 100)
    remedy = f"; gnomon repair {folder.path} rebuilds it"
    message = f"/journal.sqlite: cannot use this journal: file is not a database{remedy}"
    with pytest.raises(RunFolderError, match=rf"{message}$"):
        RunFolder.open(folder.path).trials()
    assert refused(folder.path) == message


def edit(folder: RunFolder, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(folder.path / "journal.sqlite")) as journal:
        journal.execute(statement)
        journal.commit()


@pytest.mark.parametrize(
    "change",
    [
        "key = 'a' || substr(key, 2)",
        "learner = 'unifosm'",
        "rule = 'color-match'",
        "trial = 1",
        "status = 'dome'",
        "status = 'failed'",
        "n_attempts = n_attempts + 1",
        "wall_time_s = wall_time_s + 0.001",
        "wall_time_s = NULL",
        "shard = sha256 || '.parquet'",
        "sha256 = shard",
        "error = 'none at all'",
        "checksum = 'checked'",
        # Whoever edits may make the sum fit: a row of no trial is not believed either.
        "key = 'a' || substr(key, 2), checksum = NULL",
        "trial = 7, checksum = NULL",
        "learner = 'unknown', checksum = NULL",
        "status = 'dome', checksum = NULL",
        "shard = 'other.parquet', checksum = NULL",
        "shard = NULL, checksum = NULL",
    ],
)
def test_a_damaged_row_is_refused_by_readers_and_played_again(folder, change):
    """No reader believes it, and `run` does not skip the trial for it."""
    before = contents(folder.shards)
    edit(folder, f"UPDATE trials SET {change} WHERE key = '{folder.trials()[0].key}'")
    with pytest.raises(RunFolderError) as error:
        RunFolder.open(folder.path).trials()
    assert str(error.value) == (
        f"{folder.path}/journal.sqlite: 1 row of 8 damaged; the same gnomon run plays what it "
        f"tells of again, or gnomon repair {folder.path} rebuilds it"
    )
    summary = run(CONFIG, folder.path)
    assert (summary.done, summary.skipped, summary.failed) == (1, 7, 0)
    assert contents(folder.shards) == before
    assert len(folder.trials()) == 8


def test_a_journal_without_checksums(folder):
    """As journals were at first: rows are checked by their keys alone, and new ones have sums."""
    edit(folder, "ALTER TABLE trials DROP COLUMN checksum")
    assert [t.trial for t in folder.trials()] == [0, 1] * 4
    key = folder.trials()[0].key
    edit(folder, f"DELETE FROM trials WHERE key = '{key}'")
    assert run(CONFIG, folder.path).done == 1
    edit(folder, f"UPDATE trials SET n_attempts = 0 WHERE key = '{key}'")
    with pytest.raises(RunFolderError, match="1 row of 8 damaged"):
        folder.trials()


def test_a_schema_that_is_no_text_any_more(folder):
    """SQLite quotes it in its message, which Python cannot read."""
    path = folder.path / "journal.sqlite"
    data = path.read_bytes()
    for name in (b"n_attempts", b"wall_time_s", b"STRICT", b"CREATE"):
        path.write_bytes(data.replace(name, bytes([name[0] ^ 128]) + name[1:]))
        said = r"journal.sqlite: .{,300}; gnomon repair \S+ rebuilds it$"
        with pytest.raises(RunFolderError, match=said):
            folder.trials()
        with pytest.raises(RunFolderError, match=said):
            run(CONFIG, folder.path)
    # A quotation mark where the name ended: what is after it is quoted, with its ends of lines.
    path.write_bytes(data.replace(b"TABLE trials (", b'TABLE trials"('))
    with pytest.raises(
        RunFolderError, match=r"journal.sqlite: .{,300}; gnomon repair \S+ rebuilds"
    ):
        folder.trials()
    repair(folder.path)
    assert run(CONFIG, folder.path).skipped == 8


def test_a_page_that_lost_a_row(folder):
    """SQLite itself would tell of seven rows, and of nothing wrong."""
    path = folder.path / "journal.sqlite"
    edit(folder, "VACUUM")
    data = bytearray(path.read_bytes())
    leaf = next(
        place for place in range(0, len(data), 4096) if data[place] == 13 and data[place + 4] == 8
    )
    data[leaf + 4] = 7
    path.write_bytes(data)
    with contextlib.closing(sqlite3.connect(path)) as journal:
        assert len(journal.execute("SELECT * FROM trials").fetchall()) == 7
    with pytest.raises(
        RunFolderError, match=r"journal.sqlite: damaged: .*; gnomon repair \S+/run "
    ):
        folder.trials()


def test_a_damaged_shard(folder):
    trial = folder.trials()[0]
    shard = folder.shards / trial.shard
    shard.write_bytes(shard.read_bytes()[:-1] + b"x")
    message = (
        r"damaged: not the bytes that the journal tells of \(trial 0 of uniform on clockwise; "
    )
    with pytest.raises(RunFolderError, match=message):
        folder.log(trial)
    shard.unlink()
    with pytest.raises(RunFolderError, match=r"No such file or directory \(trial 0 of uniform on"):
        folder.log(trial)


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    message = refused(tmp_path)
    assert message == ": not a run folder (gnomon-run.json is missing), and not empty"
    with pytest.raises(
        RunFolderError, match=r"^\S+thesis.tex: expected a run folder, found a file"
    ):
        RunFolder.open(tmp_path / "thesis.tex")
    with pytest.raises(RunFolderError, match=r"thesis.tex: expected a folder, found a file$"):
        run(CONFIG, tmp_path / "thesis.tex")


def test_an_empty_folder_will_do(tmp_path):
    with pytest.raises(RunFolderError, match=r": not a run folder \(gnomon-run.json is missing\)$"):
        RunFolder.open(tmp_path)
    assert run(CONFIG, tmp_path).done == 8


def test_two_cannot_write_at_once(folder):
    with folder.writing(), pytest.raises(RunFolderError, match=r"another run is writing here$"):
        run(CONFIG, folder.path)


def test_a_run_that_begins_just_now_is_not_taken_for_half_a_one(tmp_path, monkeypatch):
    """Before each of its first steps another run, or a look at the folder, says who is there."""
    path, said = tmp_path / "run", []

    def others(*arguments: object) -> None:
        for other in (lambda: run(CONFIG, path), lambda: RunFolder.open(path)):
            with pytest.raises(RunFolderError) as error:
                other()
            said.append(str(error.value))

    for step in ("write_atomically", "create_journal"):
        plain = getattr(run_folder, step)
        monkeypatch.setattr(run_folder, step, lambda *a, plain=plain: (others(), plain(*a))[1])
    RunFolder.create(path, CONFIG)
    assert said == [f"{path}: another run is writing here"] * 6
    monkeypatch.undo()
    assert run(CONFIG, path).done == 8
    with pytest.raises(RunFolderError, match="a run folder already; open it, or choose another"):
        RunFolder.create(path, CONFIG)


@pytest.mark.full
def test_of_many_that_begin_at_once_one_plays(tmp_path):
    """Real processes: each plays, or skips what another has played, or says that one is there."""
    (tmp_path / "small.toml").write_text(
        'name = "small"\nrules = ["clockwise"]\nlearners = ["uniform"]\ntrials = 40\n'
    )
    command = [sys.executable, "-m", "gnomon", "run", "small.toml", "--out", "run"]
    processes = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    ends = [(*(text.decode() for text in p.communicate()), p.returncode) for p in processes]
    refused_here = ("", "gnomon: run: another run is writing here\n", 2)
    assert all(end == refused_here or end[2] == 0 for end in ends), ends
    done = [out for out, _, status in ends if status == 0]
    assert sum("(40 done, 0 skipped" in out for out in done) == 1
    assert all("(40 done, 0 skipped" in out or "(0 done, 40 skipped" in out for out in done)
    assert len(RunFolder.open(tmp_path / "run").trials()) == 40


def test_leftovers_of_a_killed_process_are_removed(folder):
    leftover = folder.shards / ".x.parquet.abc.partial"
    leftover.write_bytes(b"half")
    run(CONFIG, folder.path)
    assert not leftover.exists()
