"""A board with life in it, made once; and copies of it for tests that change something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app_client import AppClient
from gnomon_board import Settings, create_app
from gnomon_board.database import Database, upgrade
from populated_board import copied, populate_two_seasons


@pytest.fixture(scope="session")
def lively_folder(tmp_path_factory) -> Path:
    """The data folder of a server with two seasons: one replayed, one with hidden rules."""
    folder = tmp_path_factory.mktemp("lively")
    settings = Settings(folder)
    database = Database(settings.database)
    upgrade(database)
    populate_two_seasons(database, settings)
    database.close()
    return folder


@pytest.fixture(scope="session")
def lively(lively_folder) -> Iterator[AppClient]:
    """A client of that board, for tests that only read."""
    database = Database(Settings(lively_folder).database)
    with AppClient(create_app(Settings(lively_folder), database)) as client:
        yield client
    database.close()


@pytest.fixture
def own_settings(lively_folder, tmp_path) -> Settings:
    """Settings of a copy of that board."""
    return copied(lively_folder, tmp_path / "own")
