"""Workers that die while they start: started again, some times; then the pieces say why."""

from __future__ import annotations

import errno
import os
import signal
import sys
from functools import partial
from pathlib import Path

import pytest

from gnomon.execution import worker_processes
from gnomon.execution.worker_processes import ProcessExecutor

pytestmark = pytest.mark.full  # processes are started and die


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr(worker_processes, "_START_PAUSE_S", 0.0)


def nth_start(counter: Path) -> int:
    """Count the starts of processes in a file; return which one this is."""
    with counter.open("a") as file:
        file.write("x")
    return counter.stat().st_size


def die_at_first(counter: Path, n_deaths: int) -> None:
    if nth_start(counter) <= n_deaths:
        os.kill(os.getpid(), signal.SIGKILL)


def refuse(counter: Path) -> None:
    nth_start(counter)
    raise ImportError("no such kernel\nand more")


def leave(counter: Path) -> None:
    nth_start(counter)
    sys.exit("gone")


def plus_one(x: int) -> int:
    return x + 1


@pytest.mark.parametrize("n_deaths", [1, 3])
def test_a_worker_that_dies_while_it_starts_is_started_again(tmp_path, n_deaths):
    prepare = partial(die_at_first, tmp_path / "starts", n_deaths)
    outcomes = list(ProcessExecutor(2, prepare=prepare).map(plus_one, range(7)))
    assert sorted(o.result for o in outcomes) == list(range(1, 8))
    assert {o.error for o in outcomes} == {None}


@pytest.mark.parametrize(
    ("work", "why"),
    [
        (partial(die_at_first, n_deaths=99), "signal 9"),
        (refuse, "ImportError: no such kernel"),
        (leave, "SystemExit: gone"),
    ],
)
def test_if_none_starts_every_piece_says_why(tmp_path, work, why):
    prepare = partial(work, tmp_path / "starts")
    outcomes = list(ProcessExecutor(2, prepare=prepare).map(plus_one, range(7)))
    assert sorted(o.piece for o in outcomes) == list(range(7))
    assert {o.error for o in outcomes} == {f"a worker process did not start ({why})"}
    # Each worker once, and so often again.
    assert (tmp_path / "starts").stat().st_size == 2 + worker_processes._STARTS_AGAIN


def test_one_that_starts_does_the_work_of_all(tmp_path):
    """The first start alone goes well."""
    prepare = partial(die_but_for_first, tmp_path / "starts")
    outcomes = list(ProcessExecutor(3, prepare=prepare).map(plus_one, range(20)))
    assert sorted(o.result for o in outcomes) == list(range(1, 21))


def die_but_for_first(counter: Path) -> None:
    if nth_start(counter) > 1:
        os.kill(os.getpid(), signal.SIGKILL)


def test_no_more_processes_may_be_started(monkeypatch):
    """As the system says it: a refusal to start, not a traceback."""

    def refused(*_: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(worker_processes._Worker, "__init__", refused)
    outcomes = list(ProcessExecutor(2).map(plus_one, range(3)))
    reason = "a worker process did not start (Resource temporarily unavailable)"
    assert [o.error for o in outcomes] == [reason] * 3
