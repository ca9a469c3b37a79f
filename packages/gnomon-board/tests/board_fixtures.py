"""A leaderboard for each test: on SQLite, and on PostgreSQL where it can be started.

A plugin of pytest, for the tests of several folders. What takes long to import is imported by the
fixture that needs it.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fastapi import FastAPI

    from app_client import AppClient
    from gnomon_board import Settings
    from gnomon_board.database import Database
    from gnomon_board.schema import Season
    from serving import Server


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty board in one SQLite file, which each test copies."""
    from gnomon_board.database import Database, upgrade

    path = tmp_path_factory.mktemp("sqlite") / "empty.sqlite"
    database = Database(f"sqlite:///{path}")
    upgrade(database)
    database.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    return path


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL of our own, whose database ``empty`` is an empty board."""
    from gnomon_board.database import Database, upgrade
    from private_postgresql import NoPostgresql, new_database, running_cluster

    try:
        with running_cluster() as url:
            database = Database(new_database(url, "empty"))
            upgrade(database)
            database.close()
            yield url
    except NoPostgresql as reason:
        pytest.skip(str(reason))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of a board on SQLite, and those of a module with ON_BOTH_DATABASES on both."""
    given = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "database_url" in metafunc.fixturenames and "database_url" not in given:
        databases: list[Any] = ["sqlite"]
        if getattr(metafunc.module, "ON_BOTH_DATABASES", False):
            databases.append(pytest.param("postgresql", marks=pytest.mark.full))
        metafunc.parametrize("database_url", databases, indirect=True)


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty board at the newest version, of this test alone."""
    if request.param == "sqlite":
        path = tmp_path / "board.sqlite"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        yield f"sqlite:///{path}"
    else:
        from private_postgresql import fresh_database

        url = request.getfixturevalue("postgresql")
        with fresh_database(url, "empty") as address:
            yield address


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Settings of a server with an empty data folder."""
    from gnomon_board import Settings

    (tmp_path / "data").mkdir()
    return Settings(tmp_path / "data", database_url)


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """The database, open."""
    from gnomon_board.database import Database

    database = Database(settings.database)
    yield database
    database.close()


@pytest.fixture
def app(settings: Settings, database: Database) -> FastAPI:
    """The whole application."""
    from gnomon_board import create_app

    return create_app(settings, database)


@pytest.fixture
def client(app: FastAPI) -> Iterator[AppClient]:
    """A client of the application, in this process, that nobody knows."""
    from app_client import AppClient

    with AppClient(app) as client:
        yield client


@pytest.fixture
def programs_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs are verified in this process: a child takes a second to start.

    Not on PostgreSQL: what is tested there is tested with the children of a server.
    """
    from importlib import import_module

    from gnomon.errors import GnomonError

    def answered(module: str, request: Any, **limits: Any) -> Any:
        try:
            return import_module(module).answer(json.loads(json.dumps(request)))
        except GnomonError as error:
            return {"refused": str(error).splitlines()[0]}

    if "sqlite" in request.getfixturevalue("database_url"):
        monkeypatch.setattr("gnomon_board.worker.run_limited", answered)
        monkeypatch.setattr("gnomon_board.worker.LimitedChild", lambda module: None)


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    """A real server with its worker, in processes of their own."""
    from serving import serving

    with serving(settings) as server:
        yield server


@pytest.fixture
def token(database: Database) -> str:
    """A token of the account ``ada``, who may submit."""
    from small_season import make_account

    return make_account(database, "ada", "submit")


@pytest.fixture
def admin_token(database: Database) -> str:
    """A token of the account ``root``, who may do everything."""
    from small_season import make_account

    return make_account(database, "root", "admin")


@pytest.fixture
def season(database: Database) -> Season:
    """A small season of the replayed division, ``spring``."""
    from small_season import make_season

    return make_season(database)


#: A migration after the newest: SQLite cannot change a column, so it rebuilds the table.
NEXT = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "9001", "3"


def upgrade():
    with op.batch_alter_table("submissions") as table:
        table.alter_column("log_sha256", existing_type=sa.String(64), type_=sa.String(80))
"""


@pytest.fixture
def newer_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program with one more migration than there is; its version."""
    from gnomon_board import database as migration

    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "next.py").write_text(NEXT)
    config = migration._config()
    own = f"{config.get_main_option('script_location')}/versions"
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", f"{own}\n{folder}")
    monkeypatch.setattr(migration, "_config", lambda: config)
    monkeypatch.setattr(migration, "HEAD", "9001")
    return "9001"
