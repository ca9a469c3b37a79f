"""A short campaign of faults: no flipped bit and no kill makes a number wrong without a message."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.full  # many damaged runs, and killed ones


@pytest.fixture
def faults(monkeypatch):
    """The benchmark, which is beside the tests."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[4]))
    return import_module("benchmarks.faults")


def test_flipped_bits(faults, tmp_path):
    tally = faults.flipped(tmp_path, 100, seed=1)
    assert tally.wrong == []
    assert tally.ends["refused"] > 0
    assert sum(tally.ends.values()) == 200


@pytest.mark.parametrize("victim", ["runner", "worker"])
def test_kills(faults, tmp_path, victim):
    tally = faults.killed(tmp_path, victim, 2, seed=1)
    assert tally.wrong == []
    assert dict(tally.ends) == {"as before": 2}
