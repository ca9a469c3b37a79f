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


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let whoever has installed all that the chosen tests need say so."""
    parser.addoption("--no-skips", action="store_true", help="a test that skips is a failure")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run with --no-skips in which a test skipped; the summary says which, and why."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and session.config.getoption("no_skips") and reporter.stats.get("skipped"):
        reporter.write_line("a test skipped, which --no-skips forbids", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
