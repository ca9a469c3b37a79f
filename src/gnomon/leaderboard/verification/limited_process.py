"""Work on what strangers sent, in a process of its own with limits on time and memory.

The child is this interpreter with a module; it gets one JSON object on its standard input and
answers with another on its standard output. It holds no secret: its environment is empty but for
what Python needs, and it opens no database.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from gnomon.errors import GnomonError, visible

__all__ = ["ProcessFailure", "answer_one_request", "run_limited"]

_KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "PYTHONPATH", "NUMBA_CACHE_DIR", "VIRTUAL_ENV")


class ProcessFailure(Exception):  # noqa: N818 - the process failed, its input may be well
    """The child did not answer: it ran out of time or memory, or was killed."""


def run_limited(
    module: str,
    request: Mapping[str, Any],
    *,
    timeout_s: float,
    memory_mb: int,
    tick: Callable[[], None] = lambda: None,
    tick_s: float = 1.0,
) -> dict[str, Any]:
    """Let a module answer a request in a process of its own.

    Parameters
    ----------
    module : str
        One that calls :func:`answer_one_request` when it is run.
    request : mapping
        As JSON can hold it.
    timeout_s : float
        Most seconds, by the clock and of a processor.
    memory_mb : int
        Most address space in MiB.
    tick : callable
        Called every ``tick_s`` seconds meanwhile; what it raises ends the child.
    tick_s : float

    Returns
    -------
    dict
        The answer; ``{"refused": reason}`` for input that the module refuses.

    Raises
    ------
    ProcessFailure
        With the reason on one line.
    """
    child = subprocess.Popen(
        [sys.executable, "-m", module, str(timeout_s), str(memory_mb)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
        start_new_session=True,
    )
    assert child.stdin is not None
    try:
        # The pipe stays open: when this process dies, it ends, and the child ends itself.
        child.stdin.write(json.dumps(request).encode() + b"\n")
        child.stdin.flush()
        out, errors = _collect(child, timeout_s, tick, tick_s)
    except BrokenPipeError:
        child.wait()
        raise ProcessFailure(f"it could not start (status {child.returncode})") from None
    finally:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                pipe.close()
    return _answer(child.returncode, out, errors)


def _collect(
    child: subprocess.Popen[bytes], timeout_s: float, tick: Callable[[], None], tick_s: float
) -> tuple[bytes, bytes]:
    """Read what a child says until it ends, ticking."""
    said: dict[str, bytes] = {}
    readers = [
        threading.Thread(target=lambda n=name, p=pipe: said.update({n: p.read()}), daemon=True)
        for name, pipe in (("out", child.stdout), ("errors", child.stderr))
    ]
    for reader in readers:
        reader.start()
    left = timeout_s
    while True:
        try:
            child.wait(min(tick_s, left))
            break
        except subprocess.TimeoutExpired:
            left -= tick_s
            tick()
        if left <= 0:
            raise ProcessFailure(f"it took longer than {timeout_s:g} s")
    for reader in readers:
        reader.join(10)
    return said.get("out", b""), said.get("errors", b"")


def _answer(status: int, out: bytes, errors: bytes) -> dict[str, Any]:
    if status == 0:
        try:
            answer = json.loads(out)
        except ValueError:
            raise ProcessFailure("it gave no answer") from None
        if isinstance(answer, dict):
            return answer
    # What it says last may quote a stranger's file.
    lines = [
        visible(line, kept="") for line in errors.decode(errors="replace").strip().splitlines()
    ] or [""]
    if status < 0:
        raise ProcessFailure(f"it was ended by signal {-status}")
    if "MemoryError" in lines[-1] or any("memory allocation" in line for line in lines):
        raise ProcessFailure("it ran out of memory")
    raise ProcessFailure(f"it ended with status {status}: {lines[-1][:200]}")


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    # Threads each reserve memory, which is counted; one is fast enough.
    threads = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return kept | dict.fromkeys(threads, "1")


def answer_one_request(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Be the child: limit this process, read the request, print the answer."""
    timeout_s, memory_mb = float(sys.argv[1]), int(sys.argv[2])
    _limit(resource.RLIMIT_AS, memory_mb << 20)
    _limit(resource.RLIMIT_CPU, int(timeout_s) + 1)
    _limit(resource.RLIMIT_FSIZE, memory_mb << 20)
    _limit(resource.RLIMIT_CORE, 0)
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
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


def _end_with_parent() -> None:
    # Not by sys.stdin, whose lock a thread must not hold when the interpreter ends.
    while os.read(0, 4096):
        pass
    os._exit(1)
