"""The Dask executor: what the others do, on a cluster of this machine's processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from gnomon.errors import GnomonError, NoClusterWarning
from gnomon.execution import dask_cluster
from gnomon.execution.dask_cluster import cluster_executor
from gnomon.execution.executor import Limits

pytestmark = pytest.mark.full  # a Dask cluster

pytest.importorskip("distributed", reason="the extra 'dask' is not installed")

# Dask imports the work on its workers by the name of its module, which tests have none of.
WORK = """
import os, signal, subprocess, time
def square(x):
    if x == 3:
        raise ValueError("three is not wanted")
    return x * x
def die_on_two(x):
    if x == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return x
def hang_on_two(x):
    if x == 2:
        time.sleep(600)
    return x
def leave_behind(x):
    return subprocess.Popen(["sleep", "600"], start_new_session=True).pid
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    (folder / "dask_test_work.py").write_text(WORK)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(folder)
    sys.path.insert(0, str(folder))
    import dask_test_work

    yield dask_test_work
    sys.path.remove(str(folder))
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def executor(work):
    with cluster_executor("local", 2) as made:
        yield made


def test_results_and_errors_come_back_with_their_pieces(work, executor):
    outcomes = {o.piece: o for o in executor.map(work.square, range(40))}
    assert {x: o.result for x, o in outcomes.items() if x != 3} == {
        x: x * x for x in range(40) if x != 3
    }
    assert outcomes[3].error == "ValueError: three is not wanted"
    assert "in square" in outcomes[3].traceback
    assert list(executor.map(work.square, [])) == []


def test_a_worker_that_dies_costs_its_own_piece_only(work, executor):
    outcomes = {o.piece: o for o in executor.map(work.die_on_two, range(40))}
    assert sorted(outcomes) == list(range(40))
    assert {x: o.error for x, o in outcomes.items() if o.error} == {2: "the worker process died"}


def test_a_piece_that_hangs(work, executor):
    executor._limits = Limits(time_s=2.0)
    try:
        outcomes = {o.piece: o for o in executor.map(work.hang_on_two, range(4))}
    finally:
        executor._limits = Limits()
    assert {x: o.error for x, o in outcomes.items() if o.error} == {
        2: "TimeLimit: not done after 2 s"
    }
    assert len(outcomes) == 4


def test_a_worker_that_is_killed_costs_nothing(work, executor):
    """Killed from outside and not by its piece, so the piece is done by another."""
    pids = executor._client.run(os.getpid)
    outcomes = executor.map(work.square, range(100, 400))
    first = next(outcomes)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    assert sorted(o.result for o in [first, *outcomes]) == [x * x for x in range(100, 400)]


def test_what_a_piece_leaves_behind_ends_with_it(work, executor):
    pids = [o.result for o in executor.map(work.leave_behind, range(4))]
    assert len(set(pids)) == 4
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_closing_early_cancels_the_rest(work, executor):
    outcomes = executor.map(work.hang_on_two, [1, 2, 2, 2])
    began = time.monotonic()
    next(outcomes)
    outcomes.close()
    assert time.monotonic() - began < 20


def test_where_no_cluster_starts_processes_take_over(work, monkeypatch):
    monkeypatch.setattr("distributed.LocalCluster", lambda **_: 1 / 0)
    what = r"a local Dask cluster did not start \(ZeroDivisionError: division by zero\); processes"
    with pytest.warns(NoClusterWarning, match=what), cluster_executor("local", 2) as made:
        assert sorted(o.result for o in made.map(work.square, [1, 2])) == [1, 4]


@pytest.mark.parametrize("address", ["processors", "bla://127.0.0.1:9", "tcp://127.0.0.1:x"])
def test_what_is_no_address_is_told_at_once(address):
    began = time.monotonic()
    with (
        pytest.raises(GnomonError, match=f"^{address}: expected the address of a Dask scheduler"),
        cluster_executor(address),
    ):
        pass
    assert time.monotonic() - began < 10


def test_without_certificates():
    with (
        pytest.raises(GnomonError, match=r"^tls://127.0.0.1:9: expected certificates"),
        cluster_executor("tls://127.0.0.1:9"),
    ):
        pass


def test_nobody_answers(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_CONNECT_S", 0.5)
    with (
        pytest.raises(GnomonError, match=r"^tcp://127.0.0.1:9: no Dask scheduler answers: "),
        cluster_executor("tcp://127.0.0.1:9"),
    ):
        pass


def test_dask_is_an_extra(monkeypatch):
    def no_module(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(dask_cluster, "import_module", no_module)
    with (
        pytest.raises(
            GnomonError, match=r"^a cluster needs Dask: pip install 'gnomon-rl\[dask\]'$"
        ),
        cluster_executor("local"),
    ):
        pass


def test_a_batch_is_long_for_many_pieces_and_short_for_few():
    assert [len(b) for b in dask_cluster._batches(range(3), 2)] == [1, 1, 1]
    assert {len(b) for b in dask_cluster._batches(range(3200), 2)} == {32}
