"""The process tree: whatever a worker has started is counted with it, and ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gnomon._io.process_tree import _held_mb, tree_memory_mb
from gnomon.execution.executor import Limits
from gnomon.execution.worker_processes import ProcessExecutor

pytestmark = [
    pytest.mark.full,  # processes start processes
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
#: A grandchild without a parent, in a session of its own, which holds no pipe to anybody.
DAEMON = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""
#: 300 MB that are not shared, held by a child.
EATER = "import time; x = b'x' * 300_000_000; print('ready', flush=True); time.sleep(600)"


def start(how: str, told: str) -> None:
    """Start a grandchild in some way, and tell its number in a file."""
    if how == "daemon":
        subprocess.run([sys.executable, "-c", DAEMON, told], check=True)
        while not Path(told).exists() or not Path(told).read_text():
            time.sleep(0.01)
        return
    child = subprocess.Popen(SLEEP, start_new_session=how == "session")
    Path(told).write_text(str(child.pid))


def leave_behind(piece: tuple[str, str, str]) -> int:
    """Start a grandchild, and end in some way."""
    how, told, end = piece
    start(how, told)
    if end == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if end == "hang":
        time.sleep(600)
    return 1


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("how", ["child", "session", "daemon"])
@pytest.mark.parametrize("end", ["return", "kill", "hang"])
def test_a_grandchild_ends_with_its_piece(tmp_path, how, end):
    told = str(tmp_path / "pid")
    outcomes = ProcessExecutor(1, limits=Limits(time_s=4)).map(leave_behind, [(how, told, end)])
    (outcome,) = outcomes
    assert (
        outcome.error
        == {
            "return": None,
            "kill": "the worker process died (signal 9)",
            "hang": "TimeLimit: not done after 4 s",
        }[end]
    )
    assert not is_alive(int(Path(told).read_text()))


def test_the_next_piece_of_the_same_process_is_not_disturbed(tmp_path):
    pieces = [("daemon", str(tmp_path / str(k)), "return") for k in range(3)]
    outcomes = list(ProcessExecutor(1).map(leave_behind, pieces))
    assert [o.error for o in outcomes] == [None] * 3
    assert not any(is_alive(int(path.read_text())) for path in tmp_path.iterdir())


def eat_by_a_child(n_children: int) -> int:
    children = [
        subprocess.Popen([sys.executable, "-c", EATER], stdout=subprocess.PIPE)
        for _ in range(n_children)
    ]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()
    time.sleep(1)
    return n_children


def test_memory_is_that_of_all_that_a_piece_has_started():
    """Three children of 300 MB each: none passes the limit of 800 MB, all together do."""
    executor = ProcessExecutor(1, limits=Limits(memory_mb=800))
    outcomes = {o.piece: o.error for o in executor.map(eat_by_a_child, [1, 3, 0])}
    assert outcomes == {1: None, 3: "MemoryLimit: more than 800 MB", 0: None}


def share_by_forks(n_forks: int) -> int:
    shared = np.ones(50_000_000)  # 400 MB
    children = []
    for _ in range(n_forks):
        pid = os.fork()
        if not pid:
            time.sleep(600)
        children.append(pid)
    time.sleep(1)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return int(shared[0])


def test_memory_that_several_processes_share_counts_once():
    executor = ProcessExecutor(1, limits=Limits(memory_mb=1000))
    (outcome,) = executor.map(share_by_forks, [4])
    assert outcome.error is None


def held_beside_one_that_has_ended(n_mb: int) -> list[float]:
    """Return what this process holds, and what it does with a fork and a process that has ended."""
    shared = np.ones(n_mb * 125_000)
    ended = os.fork()
    if not ended:
        os._exit(0)
    os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
    forked = os.fork()
    if not forked:
        time.sleep(600)
    found = [_held_mb([os.getpid()]), _held_mb([os.getpid(), forked, ended])]
    os.kill(forked, signal.SIGKILL)
    os.waitpid(forked, 0)
    os.waitpid(ended, 0)
    return [float(shared[0]), *found]


def test_a_process_that_ends_while_it_is_looked_at_does_not_make_the_others_heavier():
    """Of one that has ended no share is told; the pages of the others still count once."""
    (outcome,) = ProcessExecutor(1).map(held_beside_one_that_has_ended, [200])
    assert outcome.error is None
    _, alone, together = outcome.result
    assert alone > 200
    assert together < alone + 100


def test_a_process_that_is_gone_holds_nothing():
    here, gone = tree_memory_mb(os.getpid(), 2**22 + 1)
    assert here > 10
    assert gone == 0


ORPHAN = """
import os, subprocess, sys, time
from gnomon.execution.worker_processes import ProcessExecutor
def hang(path):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                             start_new_session=True)
    with open(path, "w") as file:
        file.write(f"{os.getpid()} {child.pid} ")
    time.sleep(600)
if __name__ == "__main__":
    list(ProcessExecutor(1).map(hang, [sys.argv[1]]))
"""


def test_workers_end_with_the_process_that_they_work_for(tmp_path):
    """It is killed; they and what they have started are not left to themselves."""
    (tmp_path / "script.py").write_text(ORPHAN)
    told = tmp_path / "pids"
    runner = subprocess.Popen([sys.executable, str(tmp_path / "script.py"), str(told)])
    while not told.exists() or told.read_text().count(" ") < 2:
        assert runner.poll() is None
        time.sleep(0.02)
    runner.kill()
    runner.wait()
    pids = [int(x) for x in told.read_text().split()]
    until = time.monotonic() + 20
    while any(map(is_alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_alive, pids))
