"""A short campaign of kills: none makes a number wrong without a message."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.full  # killed runs


@pytest.fixture
def faults(monkeypatch):
    """The benchmark, which is beside the tests."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[4]))
    return import_module("benchmarks.faults")


@pytest.mark.parametrize("victim", ["runner", "worker"])
def test_kills(faults, tmp_path, victim):
    tally = faults.killed(tmp_path, victim, 2, seed=1)
    assert tally.wrong == []
    assert dict(tally.ends) == {"as before": 2}
