"""The record of benchmarks over commits keeps ratios, and names those that have become worse."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest


@pytest.fixture
def benchmarks(monkeypatch):
    """The history and the record, which are beside the tests."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    return import_module("benchmarks.history"), import_module("benchmarks.record")


def test_ratios_are_kept_and_those_much_worse_are_named(benchmarks, tmp_path):
    history, record = benchmarks
    path = tmp_path / "ratios.jsonl"
    assert history.entries(path) == []

    def made(fast, slow):
        return [
            record.Measurement("rate over a peer", fast, "x"),
            record.Measurement("time over a peer", slow, "x", higher_is_better=False),
            record.Measurement("seconds", 100 * slow, "s", higher_is_better=False),
        ]

    for fast, slow in ((0.5, 2.0), (0.9, 1.0), (0.52, 2.1)):
        history.keep(history.entry("game", made(fast, slow), "2026-01-01"), path)
    history.keep(history.entry("none", made(1, 1)[2:], "2026-01-01"), path)
    kept = history.entries(path)
    assert kept[0]["ratios"] == {"rate over a peer": 0.5, "time over a peer": 2.0}
    assert len(kept) == 3
    assert list(history.regressions(kept, "game", made(0.42, 2.4))) == []
    assert list(history.regressions(kept, "elsewhere", made(0.1, 9))) == []
    assert list(history.regressions(kept, "game", made(0.4, 3.0))) == [
        "game: rate over a peer: 0.4, 0.52 before: 1.30 x worse",
        "game: time over a peer: 3, 2 before: 1.50 x worse",
    ]
    assert "| game | rate over a peer | 0.5 (" in history.page(kept)
