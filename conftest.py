"""Settings for all tests: of the three packages, and of what they have in common."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Generator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

# The first example of a test may have to wait for a compiler; a machine may be busy. What a test
# finds must not depend on either, and what CI finds must be found again.
settings.register_profile("gnomon", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("gnomon")

#: Fixtures that tests of several folders share.
pytest_plugins = ["small_disk", *(["board_fixtures"] if find_spec("gnomon_board") else [])]

DATA = Path(__file__).parent / ".." / "shared" / "data"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no doctests in tests: a file that cannot be imported would look like an extra's."""
    found = yield
    if "tests" not in file_path.parts and file_path.name != "conftest.py":
        return found
    return [one for one in found if type(one) is pytest.Module]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--no-skips``, for an environment that has all that the chosen tests need."""
    parser.addoption("--no-skips", action="store_true", help="a test that skips is a failure")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run with --no-skips in which a test skipped; the summary lists the reasons."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and session.config.getoption("no_skips") and reporter.stats.get("skipped"):
        reporter.write_line("a test skipped, which --no-skips forbids", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


class Answered(NamedTuple):
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def results(self) -> list[dict[str, Any]]:
        """The records that a command with --json printed; its status must be 0."""
        return self.results_with(status=0)

    def results_with(self, status: int) -> list[dict[str, Any]]:
        """Return the records that a command with --json printed; 1 if the answer is no."""
        assert self.status == status, self
        return json.loads(self.out)["results"]

    def assert_refused(self, message: str) -> None:
        """Check for bad input: one line that has the message, nothing else, status 2."""
        assert (self.status, self.out, self.err.count("\n")) == (2, "", 1), self
        assert message in self.err


@pytest.fixture
def command(monkeypatch, capsys, tmp_path) -> Callable[..., Answered]:
    """Call ``gnomon``, ``gohr`` or ``gnomon-board`` in this process, in an empty folder.

    The first argument is a line as typed in a shell; further ones are words of it.
    """
    monkeypatch.chdir(tmp_path)

    def call(line: str, *further: str) -> Answered:
        name, *arguments = [*shlex.split(line), *further]
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        with pytest.raises(SystemExit) as exit_:
            import_module(f"{name.replace('-', '_')}.cli").main()
        printed = capsys.readouterr()
        return Answered(int(exit_.value.code or 0), printed.out, printed.err)

    return call


@pytest.fixture
def atari_folder(monkeypatch) -> Path:
    """Point GNOMON_DATA at the folder beside the repository, which has the Atari-5 data."""
    if not (DATA / "atari5" / "dataset.csv").is_file():
        pytest.skip("the Atari-5 data set is not in the repository")
    monkeypatch.setenv("GNOMON_DATA", str(DATA))
    return DATA / "atari5"
