"""A short campaign of faults: no flipped bit and no kill makes a number wrong without a word."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.full  # hundreds of damaged runs, and killed ones
FILES = ["journal.sqlite", "shards", "config.json", "gnomon-run.json", "card.json"]


@pytest.fixture
def faults(monkeypatch):
    """The benchmark, which is beside the tests."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    return import_module("benchmarks.faults")


def test_every_file_of_a_run_has_its_bits_flipped(faults):
    assert list(faults.FLIPS) == FILES


@pytest.mark.parametrize("name", FILES)
def test_flipped_bits(faults, tmp_path, name):
    tally = faults.flipped(tmp_path, name, 150, seed=1)
    assert tally.wrong == []
    assert tally.ends["as before"] > 0
    assert sum(tally.ends.values()) == 150 + 150 // faults.RUN_AFTER
    if name != "card.json":
        assert tally.ends["refused"] > 0


@pytest.mark.parametrize("victim", ["runner", "worker"])
def test_kills(faults, tmp_path, victim):
    tally = faults.killed(tmp_path, victim, 2, seed=1)
    assert tally.wrong == []
    assert dict(tally.ends) == {"as before": 2}
