"""Upgrades and downgrades, on both databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import MetaData, StaticPool, create_engine, inspect, select, text
from sqlalchemy.exc import DBAPIError

from app_client import AppClient
from gnomon_board import create_app
from gnomon_board.database import (
    Account,
    AuditRecord,
    Base,
    Database,
    PlayAttempt,
    current_revision,
    downgrade,
    head_revision,
    require_head,
    upgrade,
)
from gnomon_board.errors import LeaderboardError
from small_season import fill
from table_digests import table_digests

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True

#: Boards as the program of an older version left them.
FILLED = Path(__file__).with_name("filled")
TABLES = {table.name for table in Base.metadata.sorted_tables}


def test_the_migrations_make_the_very_tables_of_the_program(database):
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_down_to_nothing_and_up_again(database):
    assert current_revision(database) == head_revision()
    downgrade(database, "base")
    assert current_revision(database) is None
    assert set(inspect(database.engine).get_table_names()) == {"alembic_version"}
    upgrade(database)
    require_head(database)
    assert set(inspect(database.engine).get_table_names()) == TABLES | {"alembic_version"}


def test_a_migration_that_rebuilds_a_table_keeps_every_row(database, settings, newer_program):
    """SQLite drops the table meanwhile, and rows of others belong to its rows."""
    fill(database, settings)
    with database.engine.begin() as connection:
        before = table_digests(connection)
    upgrade(database)
    assert current_revision(database) == newer_program
    downgrade(database, "-1")
    with database.engine.begin() as connection:
        assert table_digests(connection) == before


def carry_over(filled: Path, database: Database) -> None:
    """Put the rows of a kept board of an older version into a database of that version."""
    with closing(sqlite3.connect(":memory:")) as kept:
        kept.executescript(filled.read_text("utf-8"))
        engine = create_engine("sqlite://", creator=lambda: kept, poolclass=StaticPool)
        old, new = MetaData(), MetaData()
        old.reflect(engine)
        new.reflect(database.engine)
        with engine.connect() as source, database.engine.begin() as target:
            for table in new.sorted_tables:
                if table.name != "alembic_version":
                    rows = [
                        {column.name: row[column.name] for column in table.columns}
                        for row in source.execute(old.tables[table.name].select()).mappings()
                    ]
                    if rows:
                        target.execute(table.insert(), rows)


def test_a_filled_board_of_the_first_version_is_carried_over(database, settings):
    """Its standings, scores of people and begun attempts are there as they were."""
    downgrade(database, "base")
    upgrade(database, "0001")
    carry_over(FILLED / "0001.sql", database)
    upgrade(database)
    require_head(database)
    with AppClient(create_app(settings, database)) as client:
        lines = client.get("/api/seasons/spring/standings").json()["standings"]["ranked"]
        assert [round(line["errors"]["value"], 1) for line in lines] == [70.0, 74.5]
        assert "an attempt was begun and is not finished" in client.get("/seasons/s1").text
    with database.reading() as session:
        assert session.query(PlayAttempt).count() == 5
        assert session.query(AuditRecord).count() == 9


def test_reasons_that_people_gave_leave_the_audit_log(database):
    downgrade(database, "0002")
    told = {"before": "verified", "reason": "call me at +49 123"}
    kept = {"before": "verifying", "reason": "rule red-first, trial 1: not what was dealt"}
    with database.writing() as session:
        session.add(Account(name="ada", name_key="ada"))
        session.flush()
        for action, by, detail in (
            ("submission withdrawn", 1, told),
            ("submission refused", 1, told),
            ("submission refused", None, kept),
            ("entry withdrawn", 1, told),
        ):
            session.add(AuditRecord(action=action, account_id=by, detail=detail))
    upgrade(database)
    with database.reading() as session:
        found = session.scalars(select(AuditRecord.detail).order_by(AuditRecord.id)).all()
    bare = {"before": "verified"}
    assert found == [bare, bare, kept, bare]


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_log SET action = 'x'", "DELETE FROM audit_log"]
)
def test_the_audit_log_only_grows(database, statement):
    with database.writing() as session:
        session.add(AuditRecord(action="test"))
    with pytest.raises(DBAPIError, match="the audit log only grows"), database.writing() as session:
        session.execute(text(statement))


def test_a_database_of_another_version_is_refused(database):
    downgrade(database, "-1")
    with pytest.raises(LeaderboardError, match="run: gnomon-board migrate"):
        require_head(database)
    with pytest.raises(LeaderboardError, match="cannot upgrade the database"):
        upgrade(database, "9999")


@pytest.mark.parametrize("url", ["mysql://x:secret@y/z", "sqlite://", "nonsense"])
def test_a_database_of_another_kind_is_refused(url):
    with pytest.raises(LeaderboardError, match="expected a database as sqlite:///FILE") as raised:
        Database(url)
    assert "secret" not in str(raised.value)
