"""From SQLite to PostgreSQL by one command, and back."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from gnomon.database.engine import Database
from gnomon.errors import LeaderboardError
from gnomon.web.table_transfer import table_digests, transfer
from private_postgresql import fresh_database
from small_season import add_submission, fill, make_season


def test_everything_arrives_and_ids_go_on(database, settings, postgresql, tmp_path):
    fill(database, settings)
    with fresh_database(postgresql) as url:
        target = Database(url if database.is_sqlite else f"sqlite:///{tmp_path / 'new.sqlite'}")
        counts = transfer(database, target)
        assert all(counts.values())
        with database.engine.begin() as here, target.engine.begin() as there:
            assert table_digests(here) == table_digests(there)
        last = add_submission(target, settings, make_season(target, "next"), 50)
        assert last.id == counts["submissions"] + 1
        with pytest.raises(DBAPIError, match="only grows"), target.writing() as session:
            session.execute(text("DELETE FROM audit_log"))
        target.close()


def test_a_database_with_rows_is_refused(database, settings, tmp_path):
    fill(database, settings)
    target = Database(f"sqlite:///{tmp_path / 'new.sqlite'}")
    transfer(database, target)
    with pytest.raises(LeaderboardError, match="expected an empty leaderboard, found rows in"):
        transfer(database, target)
    target.close()
    with pytest.raises(LeaderboardError, match="found one twice"):
        transfer(database, database)
