"""Limits of time and memory: a piece that passes one is given up, and costs no other."""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import pytest

from gnomon.execution.executor import Limits, SerialExecutor
from gnomon.execution.worker_processes import ProcessExecutor, make_executor

pytestmark = pytest.mark.full  # processes run into their limits

linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only /proc tells the memory of another process"
)


def hang_on_two(x: int) -> int:
    if x == 2:
        time.sleep(600)
    return x


def eat_on_two(x: int) -> int:
    if x == 2:
        eaten = []
        while True:
            eaten.append(np.ones(2_000_000))
            time.sleep(0.005)
    return x


def pause(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_piece_that_hangs(n_workers):
    limits = Limits(time_s=1.0)
    began = time.monotonic()
    outcomes = list(make_executor(n_workers, limits=limits).map(hang_on_two, range(6)))
    assert time.monotonic() - began < 60
    assert sorted(o.piece for o in outcomes) == list(range(6))
    assert {o.piece: o.error for o in outcomes if o.error} == {2: "TimeLimit: not done after 1 s"}


@linux
@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_piece_that_eats_memory(n_workers):
    outcomes = list(
        ProcessExecutor(n_workers, limits=Limits(memory_mb=1000)).map(eat_on_two, range(6))
    )
    assert sorted(o.piece for o in outcomes) == list(range(6))
    assert {o.piece: o.error for o in outcomes if o.error} == {2: "MemoryLimit: more than 1000 MB"}


def test_the_time_of_one_piece_is_not_that_of_another():
    """Six pieces of 0.3 s in one process: none takes 1.5 s, though all together do."""
    outcomes = list(ProcessExecutor(1, limits=Limits(time_s=1.5)).map(pause, [0.3] * 6))
    assert [o.error for o in outcomes] == [None] * 6


def test_a_slow_reader_costs_nobody_the_time():
    """What is done is done, even if its outcome is asked for after the time is over."""
    outcomes = []
    for outcome in ProcessExecutor(2, limits=Limits(time_s=1.0)).map(pause, [0.05] * 4):
        time.sleep(1.2)
        outcomes.append(outcome)
    assert [o.error for o in outcomes] == [None] * 4


@linux
def test_limits_that_nobody_passes():
    limits = Limits(time_s=60, memory_mb=10_000)
    assert bool(limits)
    assert not Limits()
    outcomes = list(ProcessExecutor(2, limits=limits).map(pause, [0.0] * 20))
    assert len(outcomes) == 20
    assert all(o.error is None for o in outcomes)


def test_limits_need_a_process_of_their_own():
    assert isinstance(make_executor(1), SerialExecutor)
    assert isinstance(make_executor(1, limits=Limits(time_s=1)), ProcessExecutor)


def test_a_system_that_tells_nothing(monkeypatch):
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    with pytest.raises(OSError, match="limits of memory need a system with /proc"):
        ProcessExecutor(1, limits=Limits(memory_mb=1))
    ProcessExecutor(1, limits=Limits(time_s=1))
