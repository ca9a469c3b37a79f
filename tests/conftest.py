"""Settings for the whole suite."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

#: Fixtures that the tests of several folders share.
pytest_plugins = ["board_fixtures", "small_disk"]

# The first example of a test may have to wait for a compiler; a machine may be busy. What a test
# finds must not depend on either, and what CI finds must be found again.
settings.register_profile("gnomon", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("gnomon")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no doctests here: a file that cannot be imported would pass for one of an extra."""
    return [found for found in (yield) if type(found) is pytest.Module]
