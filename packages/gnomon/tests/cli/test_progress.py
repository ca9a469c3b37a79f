"""Time left of long work: at the pace of all of it, whether pieces are told one by one or not."""

from __future__ import annotations

import pytest

from gnomon.cli import progress
from gnomon.cli.progress import TimeLeft


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_batches_of_pieces_do_not_hasten_the_end(clock):
    left = TimeLeft()
    left.report(0, 75)
    for at, batch in ((140.0, range(1, 6)), (180.0, range(6, 11))):
        clock[0] = at
        for done in batch:
            left.report(done, 75)
    assert left.__rich__() == "left 0:08:40"  # 8 s a piece, 65 to go
    clock[0] += 100.0
    assert left.__rich__() == "left 0:07:00"
    clock[0] += 1000.0
    assert left.__rich__() == "left 0:00:00"


def test_resumed_work_and_another_search_have_their_own_pace(clock):
    left = TimeLeft()
    left.report(500, 1000)
    assert left.__rich__() == "left -:--:--"
    clock[0] += 10.0
    left.report(510, 1000)
    assert left.__rich__() == "left 0:08:10"
    left.report(0, 20)
    assert left.__rich__() == "left -:--:--"
    clock[0] += 3.0
    left.report(1, 20)
    assert left.__rich__() == "left 0:00:57"
