"""Executors: every piece comes back once, whatever happens to the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent import futures
from multiprocessing import get_context

import pytest

from gnomon.errors import GnomonError
from gohr.execution import ProcessWorkers, Workers, cluster_workers


def square(x: int) -> int:
    if x == 3:
        raise ValueError("\x1b[1mthree is not wanted\x1b[0m\nat all")
    return x * x


def misbehave(x: int) -> int:
    if x == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if x == 3:
        time.sleep(600)
    if x == 4:
        sys.exit("gone")
    return x


def refuse() -> None:
    raise ImportError("no such kernel\nand more")


def seen(workers, pieces) -> None:
    outcomes = {o.piece: o for o in workers.map(square, pieces)}
    assert {x: o.result for x, o in outcomes.items()} == {
        x: None if x == 3 else x * x for x in pieces
    }
    assert outcomes[3].error == "ValueError: three is not wanted"
    assert "in square" in outcomes[3].traceback
    assert all(o.error is None for x, o in outcomes.items() if x != 3)


def test_results_and_errors_come_back_with_their_pieces():
    seen(Workers(), range(6))
    seen(ProcessWorkers(2), range(30))
    with futures.ThreadPoolExecutor(2) as threads:
        seen(Workers(threads, 2), range(30))
    # Not forked: other tests of this process may have started threads, as JAX does.
    with futures.ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        seen(Workers(processes, 2), range(30))
    assert list(ProcessWorkers(2).map(square, [])) == []


class Dead(futures.Executor):
    """Takes pieces, and never tells of them."""

    def submit(self, *_: object) -> futures.Future[int]:
        return futures.Future()


def test_pieces_of_an_executor_that_is_lost_fail():
    dead = Workers(Dead(), 1, is_lost=lambda: True)
    refusing = futures.ThreadPoolExecutor(1)
    refusing.shutdown()
    closed = Workers(refusing, 1, is_lost=lambda: True)
    for executor in (dead, closed):
        errors = {o.piece: o.error for o in executor.map(square, range(5))}
        assert errors == dict.fromkeys(range(5), "ConnectionError: the cluster was lost")


def test_an_address_without_a_port_is_refused_before_a_client_is_made(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    monkeypatch.delattr(distributed, "Client")
    for address in ("processors", "tcp://processors", "http://processors:8786"):
        with (
            pytest.raises(GnomonError, match=f"^{address}: expected a Dask scheduler, found none"),
            cluster_workers(address),
        ):
            pass


@pytest.mark.full
def test_a_piece_that_kills_its_worker_or_hangs_costs_no_other():
    executor = ProcessWorkers(2, time_s=2)
    outcomes = {o.piece: o for o in executor.map(misbehave, range(9))}
    assert sorted(outcomes) == list(range(9))
    assert {x: o.error for x, o in outcomes.items() if o.error} == {
        2: "the worker process died (signal 9)",
        3: "TimeLimit: not done after 2 s",
        4: "SystemExit: gone",
    }


def test_workers_that_cannot_start_are_one_error():
    with pytest.raises(GnomonError, match="no worker process started"):
        list(ProcessWorkers(2, prepare=refuse).map(square, range(4)))


#: The first worker takes a second to end; the other comes to its locks while it ends.
LATE = """
import multiprocessing.util, time
from pathlib import Path

from gohr.execution import ProcessWorkers

def prepare():
    multiprocessing.util.Finalize(None, time.sleep, (1,), exitpriority=0)

if __name__ == "__mp_main__":
    try:
        Path("first").touch(exist_ok=False)
    except FileExistsError:
        while not Path("done").exists():
            time.sleep(0.01)
        time.sleep(0.3)

if __name__ == "__main__":
    outcomes = ProcessWorkers(2, prepare=prepare).map(abs, [-1, -2])
    assert [next(outcomes).result, next(outcomes).result] == [1, 2]
    Path("done").touch()
    outcomes.close()
"""


def test_ctrl_c_while_workers_start_says_nothing(tmp_path):
    (tmp_path / "loaded.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    script = 'from gohr.execution import ProcessWorkers\nif __name__ == "__main__":\n'
    script += '    print([x.result for x in ProcessWorkers(1, preload="loaded").map(abs, [-1])])\n'
    (tmp_path / "script.py").write_text(script)
    said = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (said.stdout, said.stderr) == ("[1]\n", "")


@pytest.mark.full
def test_a_worker_that_starts_when_the_work_is_done_says_nothing(tmp_path):
    (tmp_path / "late.py").write_text(LATE)
    said = subprocess.run(
        [sys.executable, "late.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (said.returncode, said.stderr) == (0, "")
