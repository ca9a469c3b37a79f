"""Executors: every piece comes back once, whatever happens to the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from gnomon.execution.executor import SerialExecutor, ThreadExecutor, is_stopped
from gnomon.execution.worker_processes import ProcessExecutor, make_executor


def square(x: int) -> int:
    if x == 3:
        raise ValueError("\x1b[1mthree is not wanted\x1b[0m\nat all")
    return x * x


def die_on_two(x: int) -> int:
    if x == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def unpicklable(x: int) -> object:
    return lambda: x


def sleep(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


@pytest.mark.parametrize("executor", [SerialExecutor(), ProcessExecutor(2), ThreadExecutor(2)])
def test_results_and_errors_come_back_with_their_pieces(executor):
    outcomes = {o.piece: o for o in executor.map(square, range(6))}
    assert {x: o.result for x, o in outcomes.items()} == {0: 0, 1: 1, 2: 4, 3: None, 4: 16, 5: 25}
    assert outcomes[3].error == "ValueError: three is not wanted"
    assert "in square" in outcomes[3].traceback
    assert all(o.error is None for x, o in outcomes.items() if x != 3)


def test_pieces_named_like_the_signals_are_pieces_still():
    assert [o.result for o in ProcessExecutor(1).map(len, ["", "stop", ()])] == [0, 4, 0]


def test_a_worker_that_dies_costs_its_own_piece_only():
    outcomes = {o.piece: o for o in ProcessExecutor(2).map(die_on_two, range(7))}
    assert sorted(outcomes) == list(range(7))
    assert outcomes[2].error == "the worker process died (signal 9)"
    assert [o.piece for o in outcomes.values() if o.error] == [2]


def test_a_result_that_does_not_pickle_is_an_error():
    (outcome,) = ProcessExecutor(1).map(unpicklable, [1])
    assert "does not pickle" in outcome.error


def test_closing_early_ends_the_workers_at_once():
    started = time.monotonic()
    outcomes = ProcessExecutor(2).map(sleep, [0.0, 60.0, 60.0])
    first = next(outcomes)
    outcomes.close()
    assert time.monotonic() - started < 20
    with pytest.raises(ProcessLookupError):
        os.kill(first.result, 0)


def test_no_pieces_no_processes():
    assert list(ProcessExecutor(2).map(square, [])) == []


def test_there_is_at_least_one_worker():
    with pytest.raises(ValueError, match=r"^expected at least 1 worker, found 0$"):
        make_executor(0)
    assert isinstance(make_executor(1), SerialExecutor)
    assert isinstance(make_executor(3), ProcessExecutor)


SCRIPT = """
import time
from gnomon.execution.worker_processes import ProcessExecutor
if __name__ == "__main__":
    try:
        for outcome in ProcessExecutor(2).map(time.sleep, [0.0, 60.0, 60.0]):
            print("first", flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


def test_ctrl_c_stops_cleanly(tmp_path):
    """The terminal sends the signal to the whole group; only the parent speaks."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "first\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (out, err, process.returncode) == ("stopped\n", "", 0)


BLOCKED = """
import signal
from gnomon.execution.worker_processes import ProcessExecutor
def is_blocked(_):
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
if __name__ == "__main__":
    print([outcome.result for outcome in ProcessExecutor(2).map(is_blocked, range(4))])
    print(is_blocked(None))
"""


def test_ctrl_c_never_reaches_a_worker_not_even_the_first(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(BLOCKED)
    said = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert said.stdout == "[True, True, True, True]\nFalse\n"


def test_threads_work_at_a_time_and_hear_that_they_are_not_wanted():
    together, heard = threading.Barrier(2, timeout=20), threading.Event()

    def work(x: int) -> int:
        together.wait()
        if x == 0:
            return x
        while not is_stopped():
            time.sleep(0.001)
        heard.set()
        return x

    outcomes = ThreadExecutor(2).map(work, [0, 1, 2, 3])
    assert next(outcomes).piece == 0
    outcomes.close()
    assert heard.wait(20)
    assert not is_stopped()  # this thread is none of them
    together.abort()
