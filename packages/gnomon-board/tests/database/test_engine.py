"""Sessions: what one writes is whole, what one reads stands still, and writers take turns."""

from __future__ import annotations

import threading
import time

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from gnomon_board.database import Database
from gnomon_board.schema import Entry, Season, ServerValue
from small_season import make_season

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True


def count_up(database: Database, by: int) -> None:
    for _ in range(by):
        with database.writing() as session:
            row = session.get_one(ServerValue, "x", with_for_update=True)
            row.value = str(int(row.value) + 1)


def test_writers_at_once_lose_nothing(database):
    """Read, then write: in threads of one process, and over two engines, as two processes have."""
    with database.writing() as session:
        session.add(ServerValue(name="x", value="0"))
    other = Database(database.url.render_as_string(hide_password=False))
    threads = [threading.Thread(target=count_up, args=(each, 20)) for each in (database, other) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    with other.reading() as session:
        assert session.get_one(ServerValue, "x").value == "120"
    other.close()


def test_versions_are_counted_by_the_database(database):
    season = make_season(database)

    def touch() -> None:
        for _ in range(10):
            with database.writing() as session:
                session.get_one(Season, season.id).touch()

    threads = [threading.Thread(target=touch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    with database.reading() as session:
        assert session.get_one(Season, season.id).version == 41


def test_an_error_undoes_all_of_it(database):
    def fail() -> None:
        with database.writing() as session:
            session.add(ServerValue(name="x", value="0"))
            session.flush()
            raise RuntimeError("oh")

    with pytest.raises(RuntimeError, match="oh"):
        fail()
    with database.reading() as session:
        assert session.get(ServerValue, "x") is None
    # And the next writer has its turn at once.
    start = time.monotonic()
    make_season(database)
    assert time.monotonic() - start < 10


def test_a_failed_statement_gives_the_turn_back(database):
    with pytest.raises(DBAPIError), database.writing() as session:
        session.execute(text("SELECT * FROM nothing"))
    make_season(database)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # whose turns are ours
def test_a_failed_commit_keeps_nothing_and_gives_the_turn_back(database):
    """As a full disk fails it: the rows were written, and the end of the transaction was not."""

    def fail() -> None:
        with database.writing() as session:
            session.execute(text("PRAGMA defer_foreign_keys = ON"))
            session.add(Entry(season_id=9, account_id=9, name="x", name_key="x"))

    with pytest.raises(IntegrityError):
        fail()
    start = time.monotonic()
    make_season(database)
    assert time.monotonic() - start < 10
    with database.reading() as session:
        assert session.query(Entry).count() == 0


def test_a_session_that_ends_in_another_thread(database):
    writing = database.writing()
    session = writing.__enter__()
    session.add(ServerValue(name="x", value="7"))
    session.flush()
    ending = threading.Thread(target=writing.__exit__, args=(None, None, None))
    ending.start()
    ending.join(30)
    make_season(database)
    with database.reading() as session:
        assert session.get_one(ServerValue, "x").value == "7"


def test_readers_do_not_wait_for_a_writer(database):
    season = make_season(database)
    with database.writing() as writer:
        writer.get_one(Season, season.id).touch()
        writer.flush()
        with database.reading() as reader:
            assert reader.get_one(Season, season.id).version == 1


def test_sqlite_is_set_up_for_it(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'x.sqlite'}")
    with database.reading() as session:
        found = {
            name: session.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "foreign_keys", "trusted_schema")
        }
    assert found == {"journal_mode": "wal", "foreign_keys": 1, "trusted_schema": 0}
    # 2 waits for the disk at every commit, 1 only where the file would be damaged otherwise.
    for lasting, level in ((True, 2), (False, 1), (True, 2)):
        with database.writing(lasting=lasting) as session:
            assert session.scalar(text("PRAGMA synchronous")) == level
    database.close()
