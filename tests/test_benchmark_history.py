"""Benchmarks: their tables in the README, and the record of their ratios over commits."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def benchmarks(monkeypatch):
    """The history and the record, which are beside the tests."""
    monkeypatch.syspath_prepend(str(ROOT))
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


def test_a_table_takes_the_place_of_its_own_alone(benchmarks, tmp_path, monkeypatch):
    main = import_module("benchmarks.__main__")
    monkeypatch.setattr(main, "HERE", tmp_path)
    readme = tmp_path / "README.md"
    by_hand = "## of old\n\nWritten by hand.\n"
    readme.write_text(f"{main.HEAD}\n## game\n\nslow\n\n## growth\n\nquick\n\n{by_hand}")
    main.keep("scale", "## scale\n\nlarge\n")
    main.keep("game", "## game\n\nfast\n")
    expected = ["## game\n\nfast\n", "## growth\n\nquick\n", by_hand, "## scale\n\nlarge\n"]
    assert readme.read_text() == "\n".join([main.HEAD, *expected])


@pytest.mark.full
@pytest.mark.parametrize(
    "path", sorted((ROOT / "benchmarks").glob("[a-z]*.py")), ids=lambda p: p.stem
)
def test_every_benchmark_imports_what_it_measures(path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    try:
        import_module(f"benchmarks.{path.stem}")
    except ImportError as error:
        if (error.name or "").partition(".")[0] in {"gnomon", "gohr", "gnomon_board", "benchmarks"}:
            raise
        pytest.skip(f"a benchmark needs {error.name}, which is not installed")
