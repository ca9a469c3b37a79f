"""The tables and their migration, on both databases."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError

from gnomon_board import Settings
from gnomon_board.database import HEAD, Database, _config, current_revision, require_head, upgrade
from gnomon_board.errors import LeaderboardError
from gnomon_board.schema import AuditRecord, Base
from gnomon_board.web.server import prepare
from private_postgresql import new_database
from small_season import fill
from table_digests import table_digests

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True

TABLES = {table.name for table in Base.metadata.sorted_tables}


def test_a_migration_that_rebuilds_a_table_keeps_every_row(database, settings, newer_program):
    """SQLite drops the table meanwhile, and rows of others belong to its rows."""
    assert set(inspect(database.engine).get_table_names()) == TABLES | {"alembic_version"}
    fill(database, settings)
    with database.engine.begin() as connection:
        before = table_digests(connection)
    with pytest.raises(LeaderboardError, match="run: gnomon-board migrate"):
        require_head(database)
    upgrade(database)
    require_head(database)
    assert current_revision(database) == newer_program
    with database.engine.begin() as connection:
        assert table_digests(connection) == before


def test_two_servers_may_start_an_empty_board_at_once(request, database_url, tmp_path):
    """Neither fails, and one of them has the first token."""
    url = f"sqlite:///{tmp_path / 'new.sqlite'}"
    if database_url.startswith("postgresql"):
        url = new_database(request.getfixturevalue("postgresql"), "two_servers")
    settings = [Settings(tmp_path / str(n), url) for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        started = list(pool.map(prepare, settings))
    for database, _ in started:
        require_head(database)
        database.close()
    assert sum(token is not None for _, token in started) == 1


def test_the_newest_version_is_that_of_the_steps(database):
    assert ScriptDirectory.from_config(_config()).get_current_head() == HEAD
    assert current_revision(database) == HEAD


def test_a_server_starts_without_alembic():
    code = (
        "import sys, gnomon_board.web.app, gnomon_board.web.server, gnomon_board.worker\n"
        "print('alembic' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


@pytest.mark.parametrize("version", ["0005", "1", "2", "9999"])
def test_a_database_of_another_program_is_refused_in_one_line(database, version):
    with database.engine.begin() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
    with pytest.raises(LeaderboardError, match=f"version {version} is not one of") as raised:
        upgrade(database)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_log SET action = 'x'", "DELETE FROM audit_log"]
)
def test_the_audit_log_only_grows(database, statement):
    with database.writing() as session:
        session.add(AuditRecord(action="test"))
    with pytest.raises(DBAPIError, match="the audit log only grows"), database.writing() as session:
        session.execute(text(statement))


@pytest.mark.parametrize("url", ["mysql://x:secret@y/z", "sqlite://", "nonsense"])
def test_a_database_of_another_kind_is_refused(url):
    with pytest.raises(LeaderboardError, match="expected a database as sqlite:///FILE") as raised:
        Database(url)
    assert "secret" not in str(raised.value)
