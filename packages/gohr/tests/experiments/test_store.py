"""The database of a run: damage is noticed and named, and only what is lost is played again."""

from __future__ import annotations

import random
import shutil
import warnings
from pathlib import Path

import pytest

from gohr.errors import DamagedRunWarning, RunFolderError
from gohr.experiments import ExperimentConfig, Run, TrialRecord, attempt_bytes, run, score
from runs import edit, hashes, n_mended, n_played

CONFIG = ExperimentConfig(
    "small", ["clockwise", "color-match"], ["uniform", "frugal"], trials=5, episodes=6
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Run:
    return run(CONFIG, tmp_path_factory.mktemp("whole") / "run")


@pytest.fixture
def folder(whole, tmp_path) -> Run:
    shutil.copytree(whole.path, tmp_path / "run")
    return Run.open(tmp_path / "run")


def record(number: int) -> TrialRecord:
    return TrialRecord(f"key {number}", "a", "b", number, error="gone", wall_time_s=0.5)


def test_rows_are_read_back_while_others_are_written(tmp_path):
    store = Run.create(tmp_path, CONFIG).store
    with store.writing() as writer:
        for number in range(3):
            writer.record(10 * number, record(number), None)
            assert len(store.rows().records) == number + 1
        writer.record(0, record(7), None)
    rows = store.rows()
    assert rows.records == {0: record(7), 10: record(1), 20: record(2)}
    assert (rows.damaged, rows.n_written, rows.n_lost) == (set(), 3, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["run.sqlite"]


@pytest.mark.parametrize(
    "change",
    [
        "key = 'a' || substr(key, 2)",
        "learner = 'unifosm'",
        "rule = 'color-match'",
        "trial = 1",
        "place = 999",
        "wall_time_s = wall_time_s + 0.001",
        "wall_time_s = NULL",
        "attempts_hash = key",
        "error = 'none at all'",
        "episodes = NULL",
        "checksum = 'checked'",
    ],
)
def test_a_damaged_row_is_refused_by_readers_and_played_again(folder, change):
    before = hashes(folder.path)
    edit(folder, f"UPDATE trials SET {change} WHERE key = '{folder.trials()[0].key}'")
    with pytest.raises(RunFolderError, match=r"run.sqlite: damaged: 1 row damaged, the first is"):
        Run.open(folder.path).trials()
    assert n_mended(CONFIG, folder.path) == 1
    assert hashes(folder.path) == before


def test_damaged_attempts_are_named(folder):
    trial = folder.trials()[0]
    edit(folder, "UPDATE trials SET attempts = x'00' WHERE key = ?", trial.key)
    assert len(folder.trials()) == 20  # no attempt is read
    with pytest.raises(RunFolderError, match=r"damaged: trial 0 of uniform on clockwise; "):
        folder.log(trial)
    with pytest.raises(RunFolderError, match=r"damaged: trial 0 of uniform on clockwise; "):
        score(folder, "skill")
    assert n_mended(CONFIG, folder.path) == 1


def test_a_row_that_is_gone_is_missed(folder):
    edit(folder, "DELETE FROM trials WHERE place = 3")
    with pytest.raises(RunFolderError, match="damaged: 1 row missing; repeat the same gohr run"):
        folder.trials()
    assert n_mended(CONFIG, folder.path) == 1


def test_a_file_of_something_else_is_left_alone(folder):
    for data in (b"no database" * 1000, b""):
        folder.store.path.write_bytes(data)
        with pytest.raises(RunFolderError, match="if it finds nothing, move the folder away and"):
            Run.open(folder.path)
        with pytest.raises(RunFolderError, match="nothing in it shows that it holds this"):
            run(CONFIG, folder.path)
        assert folder.store.path.read_bytes() == data


def test_a_damaged_file_of_another_experiment_is_left_alone(folder):
    data = bytearray(folder.store.path.read_bytes())
    data[0] ^= 1
    folder.store.path.write_bytes(data)
    other = ExperimentConfig("small", ["clockwise"], ["uniform"], trials=5, episodes=3)
    with pytest.raises(RunFolderError, match="nothing in it shows that it holds this"):
        run(other, folder.path)
    assert folder.store.path.read_bytes() == data
    assert list(folder.path.iterdir()) == [folder.store.path]
    assert n_mended(CONFIG, folder.path) == 0


def contents(folder: Run) -> list[bytes]:
    return [attempt_bytes(log) for _, log in folder.each(folder.trials())]


def flipped(folder: Run, whole: Run, bit: int) -> int:
    """Flip a bit, see that no reader is deceived, and return how many trials are played again."""
    data = bytearray(whole.store.path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    folder.store.path.write_bytes(data)
    try:
        found = Run.open(folder.path)
        assert found.trials() == whole.trials()
        assert contents(found) == contents(whole)
        assert found.config == CONFIG
    except RunFolderError:
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamagedRunWarning)  # a bit that nothing uses
        n = n_played(CONFIG, folder.path)
    assert hashes(folder.path) == hashes(whole.path)
    assert contents(Run.open(folder.path)) == contents(whole)
    return n


@pytest.mark.parametrize("page", [0, 1, 2])
def test_a_damaged_tree_loses_no_trial(folder, whole, page):
    """The first page, and the roots of both tables, which lead to all others."""
    for bit in range(8 * 4096 * page, 8 * (4096 * page + 12), 3):
        assert flipped(folder, whole, bit) == 0


@pytest.mark.full
def test_flipped_bits(folder, whole):
    n_bits = 8 * len(whole.store.path.read_bytes())
    rng = random.Random(1)
    assert max(flipped(folder, whole, rng.randrange(n_bits)) for _ in range(80)) <= 8


def test_a_log_of_a_killed_run_is_used_also_where_the_file_is_damaged(folder, whole):
    with folder.store.writing() as writer:
        writer.record(0, folder.trials()[0], None)  # without its attempts: to be played again
        for path in list(folder.path.iterdir()):
            shutil.copyfile(path, path.with_name(f"copy of {path.name}"))
    for path in list(folder.path.glob("copy of *")):
        path.replace(path.with_name(path.name.removeprefix("copy of ")))
    assert Path(f"{folder.store.path}-wal").stat().st_size > 0
    data = bytearray(folder.store.path.read_bytes())
    data[1] ^= 1
    folder.store.path.write_bytes(data)
    assert n_mended(CONFIG, folder.path) == 1
    assert hashes(folder.path) == hashes(whole.path)
