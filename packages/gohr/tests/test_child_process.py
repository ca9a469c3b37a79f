"""Child processes: how they end, and that all which they started ends with them."""

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest

from gohr.child_process import ProcessFailure, end_group, how_it_ended, run_limited

#: Starts a process of its own, tells its number, and waits for ever.
WITH_A_CHILD = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid, flush=True)
time.sleep(600)
"""


def python(text):
    return [sys.executable, "-c", text]


def is_gone(pid):
    """Return whether a process ends within a while."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().split()[2] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.1)
    return False


def test_a_child_that_does_not_end_is_killed_with_what_it_started():
    child = subprocess.Popen(
        python(WITH_A_CHILD),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with child:
        grandchild = int(child.stdout.readline())
        end_group(child, grace_s=0.2)
    assert how_it_ended(child) == "signal 9"
    assert is_gone(grandchild)


@pytest.fixture
def child(tmp_path, monkeypatch) -> Any:
    """Make a module of a few lines that is run in a limited process."""
    where = [str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, where)))

    def make(lines: str) -> str:
        body = "\n".join(f"    {line}" for line in lines.splitlines())
        (tmp_path / "of_a_child.py").write_text(
            "from gohr.child_process import answer_one_request\n"
            f"def answer(request):\n{body}\n"
            "answer_one_request(answer)\n"
        )
        return "of_a_child"

    return make


def test_a_child_answers(child):
    module = child("return {'got': request}")
    answer = run_limited(module, {"é": [1]}, timeout_s=30, memory_mb=2048)
    assert answer == {"got": {"é": [1]}}


def test_a_child_sees_no_secret(child, monkeypatch):
    monkeypatch.setenv("GNOMON_DATABASE_URL", "postgresql://u:hush@h/d")
    monkeypatch.setenv("GNOMON_TOKEN", "gnomon_hush")
    module = child("import os\nreturn dict(os.environ)")
    told = run_limited(module, {}, timeout_s=30, memory_mb=2048)
    assert "hush" not in json.dumps(told)


def test_a_limited_child_gives_way_to_whoever_waits_for_a_page(child):
    module = child("import os\nreturn {'niceness': os.getpriority(0, 0)}")
    told = run_limited(module, {}, timeout_s=30, memory_mb=2048)
    assert told == {"niceness": min(19, os.getpriority(os.PRIO_PROCESS, 0) + 5)}


def test_too_much_memory_is_told(child):
    module = child("x = bytearray(3 << 30)\nreturn {}")
    with pytest.raises(ProcessFailure, match="it ran out of memory"):
        run_limited(module, {}, timeout_s=30, memory_mb=1024)


def test_too_much_time_is_told(child):
    ticks: list[int] = []
    module = child("import time\ntime.sleep(60)\nreturn {}")
    with pytest.raises(ProcessFailure, match=r"it took longer than 1\.5 s"):
        run_limited(
            module, {}, timeout_s=1.5, memory_mb=1024, tick=lambda: ticks.append(1), tick_s=0.4
        )
    assert len(ticks) >= 3


def test_too_much_processor_is_told(child):
    # A limit of its own, should the one who waits be dead.
    module = child("import resource\nreturn {'cpu': resource.getrlimit(resource.RLIMIT_CPU)}")
    assert run_limited(module, {}, timeout_s=7, memory_mb=1024)["cpu"] == [8, 8]


def test_a_crash_is_told(child):
    module = child("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(ProcessFailure, match="it was ended by signal 11"):
        run_limited(module, {}, timeout_s=30, memory_mb=1024)
    module = child("raise RuntimeError('oh')")
    with pytest.raises(ProcessFailure, match="it ended with status 1: RuntimeError: oh"):
        run_limited(module, {}, timeout_s=30, memory_mb=1024)
