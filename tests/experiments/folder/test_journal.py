"""Trials written together are all there, or as many as there is room for."""

from __future__ import annotations

import pytest

from gnomon.experiments import TrialRecord
from gnomon.experiments.folder.journal import Journal, create_journal, read_journal


def records(first, stop):
    return [TrialRecord(f"{k:032}", "uniform", "clockwise", k, "done") for k in range(first, stop)]


@pytest.fixture
def path(tmp_path):
    create_journal(tmp_path / "journal.sqlite")
    return tmp_path / "journal.sqlite"


def test_what_is_recorded_together_is_what_is_read(path):
    with Journal.opened(path) as journal:
        journal.record()
        journal.record(*records(0, 3))
        again = TrialRecord(records(1, 2)[0].key, "uniform", "clockwise", 1, "failed", error="gone")
        journal.record(again, *records(3, 5))
        assert sorted(read_journal(path).records.values(), key=lambda x: x.trial) == [
            *records(0, 1),
            again,
            *records(2, 5),
        ]


def test_without_room_for_all_as_many_are_written_as_there_is_room_for(path):
    with Journal.opened(path) as journal:
        connection = journal._connection
        connection.execute("PRAGMA max_page_count = 10")
        journal.record(*records(0, 500))
        n_left = len(journal.flush())
        assert 0 < n_left < 500
        assert sorted(read_journal(path).records.values(), key=lambda x: x.trial) == records(
            0, 500 - n_left
        )
        connection.execute("PRAGMA max_page_count = 1000")
        journal.record(*records(500, 501))
        assert journal.flush() == ()
    assert sorted(read_journal(path).records.values(), key=lambda x: x.trial) == records(0, 501)
