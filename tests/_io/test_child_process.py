"""Child processes: how they end, and that all which they started ends with them."""

import gc
import os
import sys
import time

import pytest

from gnomon._io.child_process import ChildProcess, LineProcess
from gnomon.errors import GnomonError

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


def test_a_child_ends_with_its_input():
    child = ChildProcess(python("import sys; sys.stdin.read(); sys.exit(3)"))
    assert child.how_it_ended == ""
    child.stop(grace_s=30)
    assert child.how_it_ended == "status 3"
    child.close()


def test_a_child_that_does_not_end_is_killed_with_what_it_started():
    child = ChildProcess(python(WITH_A_CHILD), output="pipe")
    grandchild = int(child.output.readline())
    child.stop(grace_s=0.2)
    assert child.how_it_ended == "signal 9"
    assert is_gone(grandchild)
    child.close()


def test_a_child_cannot_be_sent_a_signal_by_the_terminal():
    child = ChildProcess(python("import os; print(os.getpgrp())"), output="file")
    assert child.wait(30)
    assert int(child.said()) == child.pid != os.getpgrp()
    child.stop()
    child.close()


def test_what_talks_in_lines_is_ended_with_what_it_started():
    program = LineProcess(python(WITH_A_CHILD), {}, timeout_s=30)
    grandchild = int(program.read())
    del program
    gc.collect()
    assert is_gone(grandchild)


def test_why_there_is_no_line_is_told():
    program = LineProcess(python("import sys; sys.exit('enough')"), {}, timeout_s=30, label="it")
    with pytest.raises(GnomonError, match=r"^it: expected a line of .* status 1; .*ends: enough$"):
        program.read()
