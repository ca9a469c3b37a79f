"""Child processes under limits: started in a process group of their own, and ended as a group.

A group of its own keeps Ctrl-C of a terminal from a child, and lets it be ended with all that it
started. :func:`run_limited` lets a module answer one request under limits on time and memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any

from gnomon.errors import GnomonError, visible

#: Environment variables passed to a limited process; the others may hold secrets.
_KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "PYTHONPATH", "NUMBA_CACHE_DIR", "VIRTUAL_ENV")
#: Set to 1 in it: the memory that each thread reserves counts, and one thread is fast enough.
_THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


class ProcessFailure(Exception):  # noqa: N818 - its input may be valid
    """A child that did not answer: it ran out of time or memory, or was killed."""


def end_group(child: subprocess.Popen[bytes], grace_s: float = 0.0) -> None:
    """End a child that leads a process group, with all that it started.

    Its standard input, a pipe, is closed, and it has ``grace_s`` seconds to end by itself.
    """
    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(grace_s)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def how_it_ended(child: subprocess.Popen[bytes]) -> str:
    """Return the signal or the exit status of a child, in words; empty while it runs."""
    status = child.poll()
    if status is None:
        return ""
    return f"signal {-status}" if status < 0 else f"status {status}"


def end_of(file: IO[bytes], most: int) -> str:
    """Return the end of a file of text, of a number of bytes at most."""
    file.seek(0, os.SEEK_END)
    file.seek(max(file.tell() - most, 0))
    return file.read().decode(errors="replace").strip()


class LimitedChild:
    """A process for :func:`run_limited`, started before: it prepares and waits for its request."""

    def __init__(self, module: str) -> None:
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 - end() closes it
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - end() closes it
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=self.output,
            stderr=self.errors,
            env={name: os.environ[name] for name in _KEPT if name in os.environ}
            | dict.fromkeys(_THREADS, "1"),
            start_new_session=True,
        )

    @property
    def how_it_ended(self) -> str:
        """Its signal or its exit status, in words; empty while it runs."""
        return how_it_ended(self.process)

    def end(self) -> None:
        """End it, with all that it started."""
        end_group(self.process)
        self.output.close()
        self.errors.close()


def run_limited(
    module: str,
    request: Mapping[str, Any],
    *,
    timeout_s: float,
    memory_mb: int,
    tick: Callable[[], None] = lambda: None,
    tick_s: float = 1.0,
    child: LimitedChild | None = None,
) -> dict[str, Any]:
    """Run a module on one request in a separate process, under limits on time and memory.

    The module calls :func:`answer_one_request`. It gets one JSON object on its standard input and
    answers with another on its standard output: ``{"refused": reason}`` for input that it refuses.
    The child is this interpreter and holds no secret: its environment is empty but for what Python
    needs. ``timeout_s`` limits the seconds by the clock and of a processor; ``memory_mb`` the MiB
    of address space, and of a file that it writes. ``tick`` is called every ``tick_s`` seconds
    meanwhile; an exception from it ends the child. ``child`` was started before and ends with this.

    Raises ProcessFailure, with the reason on one line.
    """
    child = child or LimitedChild(module)
    process = child.process
    assert process.stdin is not None
    try:
        # The pipe stays open: if this process dies, the pipe closes and the child exits.
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps([timeout_s, memory_mb, request]).encode() + b"\n")
            process.stdin.flush()
        left = timeout_s
        while not child.how_it_ended:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(min(tick_s, left))
                break
            left -= tick_s
            tick()
            if left <= 0:
                raise ProcessFailure(f"it took longer than {timeout_s:g} s")
        return _answer(child.how_it_ended, child.output, child.errors)
    finally:
        child.end()


def _answer(ended: str, output: IO[bytes], errors: IO[bytes]) -> dict[str, Any]:
    """Return the answer of a child that has ended."""
    if ended == "status 0":
        output.seek(0)
        try:
            answer = json.load(output)
        except ValueError:
            answer = None
        if isinstance(answer, dict):
            return answer
        raise ProcessFailure("it gave no answer")
    if ended.startswith("signal"):
        raise ProcessFailure(f"it was ended by {ended}")
    # Its last message may quote a file of unknown origin.
    lines = [visible(line, kept="") for line in end_of(errors, 4000).splitlines()] or [""]
    if "MemoryError" in lines[-1] or any("memory allocation" in line for line in lines):
        raise ProcessFailure("it ran out of memory")
    raise ProcessFailure(f"it ended with {ended}: {lines[-1][:200]}")


def answer_one_request(
    answer: Callable[[dict[str, Any]], dict[str, Any]], prepare: Callable[[], object] = lambda: None
) -> None:
    """Be the child of :func:`run_limited`: read the request, limit this process, print the answer.

    A GnomonError from ``answer`` is a refusal. ``prepare`` is called before the request is read,
    without limits.
    """
    with contextlib.suppress(OSError):
        os.nice(5)  # so that it delays this machine's other work less
    prepare()
    if not (line := sys.stdin.buffer.readline()):
        return  # the parent has no request
    timeout_s, memory_mb, request = json.loads(line)
    _limit(resource.RLIMIT_AS, memory_mb << 20)
    _limit(resource.RLIMIT_CPU, int(timeout_s) + 1)
    _limit(resource.RLIMIT_FSIZE, memory_mb << 20)
    _limit(resource.RLIMIT_CORE, 0)
    end_of_input(lambda: os._exit(1))
    try:
        result = answer(request)
    except GnomonError as error:
        result = {"refused": str(error).splitlines()[0]}
    print(json.dumps(result))


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(what, (most, most))


def end_of_input(then: Callable[[], object]) -> None:
    """Call a function, in a thread, once standard input ends: the parent has closed it or died."""

    def wait() -> None:
        # Not by sys.stdin, whose lock a thread must not hold when the interpreter ends.
        while os.read(0, 4096):
            pass
        then()

    threading.Thread(target=wait, daemon=True).start()
