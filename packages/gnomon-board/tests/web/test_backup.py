"""A backup is the board of one moment, whatever is written meanwhile, and restores to it."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from contextlib import closing

import pytest

from gnomon_board import Settings
from gnomon_board.database import Database, current_revision
from small_season import add_submission, empty_board, fill, make_season
from table_digests import table_digests


@pytest.fixture
def empty_place(tmp_path) -> Settings:
    """Settings of another server, that is still to be made."""
    return Settings(tmp_path / "other")


@pytest.fixture
def called(command, monkeypatch):
    """Back up to a folder, or restore from it; return status, result and error output."""

    def call(verb, folder, settings):
        where = ["--data", str(settings.data), *(["--restore"] if verb == "restore" else [])]
        monkeypatch.setenv("GNOMON_DATABASE_URL", settings.database)
        told = command("gnomon-board", "backup", str(folder), *where, "--json")
        return told.status, json.loads(told.out)["results"][0] if told.out else {}, told.err

    return call


def digests(settings: Settings) -> dict[str, str]:
    database = Database(settings.database)
    with database.engine.begin() as connection:
        found = table_digests(connection)
    database.close()
    return found


def test_restored_to_an_identical_board(called, database, settings, empty_place, tmp_path):
    fill(database, settings)
    record = called("backup", tmp_path / "backup", settings)[1]
    assert record["logs"] == 3
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o700
    assert called("restore", tmp_path / "backup", empty_place)[0] == 0
    assert digests(empty_place) == digests(settings)
    for path in settings.evidence.glob("*/*"):
        assert (empty_place.evidence / path.relative_to(settings.evidence)).read_bytes() == (
            path.read_bytes()
        )
    # The new server goes on where the old one stopped.
    there = Database(empty_place.database)
    add_submission(there, empty_place, make_season(there, "next"), 99)
    there.close()


def test_a_backup_during_writes_is_whole(called, database, settings, empty_place, tmp_path):
    season = make_season(database, "busy")
    fill(database, settings)
    stop, done = threading.Event(), []

    def write() -> None:
        while not stop.is_set() and len(done) < 500:
            done.append(add_submission(database, settings, season, 1000 + len(done)).id)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(done) < 3:
            writer.join(0.01)
        before = len(done)
        record = called("backup", tmp_path / "backup", settings)[1]
        after = len(done)
    finally:
        stop.set()
        writer.join(30)
    # What was there before is in it, and each submission is whole: four trials and its log.
    with closing(sqlite3.connect(tmp_path / "backup" / "leaderboard.sqlite")) as copy:
        [n] = copy.execute("SELECT COUNT(*) FROM submissions").fetchone()
        assert copy.execute("SELECT COUNT(*) FROM trials").fetchone() == (4 * n,)
    assert before + 3 <= n <= after + 4
    assert record["logs"] == n
    assert called("restore", tmp_path / "backup", empty_place)[0] == 0
    assert called("backup", tmp_path / "again", empty_place)[0] == 0
    for name in ("backup", "again"):
        copy = Database(f"sqlite:///{tmp_path / name / 'leaderboard.sqlite'}")
        with copy.engine.begin() as connection:
            found = table_digests(connection)
        copy.close()
        if name == "backup":
            expected = found
    assert found == expected


def test_a_damaged_backup_is_refused(called, database, settings, empty_place, tmp_path):
    fill(database, settings)
    assert called("backup", tmp_path / "backup", settings)[0] == 0
    tables = tmp_path / "backup" / "leaderboard.sqlite"
    data = tables.read_bytes()
    tables.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    status, _, err = called("restore", tmp_path / "backup", empty_place)
    assert (status, "the backup's database is damaged" in err) == (2, True)
    assert not empty_place.data.exists()
    tables.write_bytes(data)
    log = max((tmp_path / "backup" / "evidence").glob("*/*"))
    whole = log.read_bytes()
    log.write_bytes(whole + b"!")
    status, _, err = called("restore", tmp_path / "backup", empty_place)
    assert status == 2
    assert re.search("expected the log with this SHA-256", err)
    assert not empty_place.data.exists()
    # A folder that was there stays, empty, and takes the repaired backup.
    empty_place.data.mkdir()
    assert called("restore", tmp_path / "backup", empty_place)[0] == 2
    assert list(empty_place.data.iterdir()) == []
    log.write_bytes(whole)
    assert called("restore", tmp_path / "backup", empty_place)[0] == 0
    assert {each.name for each in empty_place.data.iterdir()} == {"evidence", tables.name}
    (tmp_path / "backup" / "backup.json").unlink()
    status, _, err = called("restore", tmp_path / "backup", empty_place)
    assert status == 2
    assert re.search("expected a whole backup", err)


@pytest.mark.parametrize("damage", ["missing", "flipped"])
def test_a_damaged_log_is_told(called, client, database, settings, empty_place, tmp_path, damage):
    """By the backup, which has all the rest, and by the server until the log is there again."""
    fill(database, settings)
    log = next(settings.evidence.glob("*/*"))
    data = log.read_bytes()
    if damage == "missing":
        log.unlink()
    else:
        log.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    status, record, _ = called("backup", tmp_path / "backup", settings)
    assert (status, record["logs"], record["damaged"]) == (1, 2, [log.name])
    assert called("restore", tmp_path / "backup", empty_place)[0] == 0
    assert digests(empty_place)["trials"] == digests(settings)["trials"]
    told = client.get("/healthz")
    assert told.status_code == 503
    assert told.json()["faults"][0].startswith("damaged or missing logs of submissions ")
    log.write_bytes(data)
    assert called("backup", tmp_path / "again", settings)[0] == 0
    assert client.get("/healthz").json()["faults"] == []


def test_nothing_is_written_over(called, database, settings, tmp_path):
    fill(database, settings)
    assert called("backup", tmp_path / "backup", settings)[0] == 0
    status, _, err = called("backup", tmp_path / "backup", settings)
    assert status == 2
    assert re.search("expected a new or empty folder", err)
    status, _, err = called("restore", tmp_path / "backup", settings)
    assert status == 2
    assert re.search("expected no logs yet", err)
    elsewhere = Settings(tmp_path / "elsewhere")
    empty_board(elsewhere.data)
    status, _, err = called("restore", tmp_path / "backup", elsewhere)
    assert status == 2
    assert re.search("found one", err)


@pytest.mark.full
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_another_database_is_backed_up_by_its_own_program(called, settings, database, tmp_path):
    status, _, err = called("backup", tmp_path / "backup", settings)
    assert status == 2
    assert re.search("back up PostgreSQL by pg_dump", err)


def test_an_older_backup_is_brought_up(called, database, settings, empty_place, tmp_path, request):
    fill(database, settings)
    record = called("backup", tmp_path / "backup", settings)[1]
    newest = request.getfixturevalue("newer_program")
    assert record["revision"] != newest
    assert called("restore", tmp_path / "backup", empty_place)[0] == 0
    there = Database(empty_place.database)
    assert current_revision(there) == newest
    there.close()
    assert digests(empty_place) == digests(settings)
