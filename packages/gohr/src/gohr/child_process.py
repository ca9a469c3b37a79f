"""Child processes under limits: started in a process group of their own, and ended as a group.

Three interfaces: :class:`ChildProcess` runs a program alongside this one until it is stopped,
:class:`LineProcess` talks with a program in lines, and :func:`run_limited` lets a module answer one
request under limits on time, memory and output.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Literal, final

from gnomon.errors import GnomonError, visible

#: Most bytes of a line of a program.
_LINE_LIMIT = 65_536
#: Seconds that a program which is talked with has to end once its input is closed.
_GRACE_S = 1.0
#: Most bytes of an answer to a request.
_LARGEST_ANSWER = 256 << 20
#: Environment variables passed to a limited process; the others may hold secrets.
_KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "PYTHONPATH", "NUMBA_CACHE_DIR", "VIRTUAL_ENV")


class ProcessFailure(Exception):  # noqa: N818 - the process failed, its input may be well
    """A child that did not answer: it ran out of time or memory, or was killed."""


@final
class ChildProcess:
    r"""A program that runs alongside this one, with a pipe to its standard input.

    It leads a process group, so that Ctrl-C in a terminal does not reach it and that it can be
    ended with all that it started. If this process dies, the child reads end-of-file from its
    input.

    Parameters
    ----------
    words : sequence of str
        The program and its arguments.
    environment : mapping of str to str, optional
        All of its environment variables; by default those of this process.
    output : {"inherited", "pipe", "file"}
        Where its standard output goes: to that of this process, or into :attr:`output`, a pipe or a
        temporary file. Unless it is inherited, standard error goes to a temporary file of its own.

    Raises
    ------
    OSError
        If it cannot be started.

    Examples
    --------
    >>> import sys
    >>> child = ChildProcess([sys.executable, "-c", "print(input()[::-1])"], output="file")
    >>> child.send(b"olleh")
    >>> child.stop(grace_s=30)
    >>> child.how_it_ended, child.said()
    ('status 0', b'hello\n')
    >>> child.close()
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        output: Literal["inherited", "pipe", "file"] = "inherited",
    ) -> None:
        kept = output != "inherited"
        self._errors = tempfile.TemporaryFile() if kept else None  # noqa: SIM115 - close() ends it
        file: IO[bytes] | None = None
        if output == "file":
            file = tempfile.TemporaryFile()  # noqa: SIM115 - outlives this function; close() ends it
        self._output = file
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if output == "pipe" else file,
                stderr=self._errors,
                env=environment,
                start_new_session=True,
            )
        except BaseException:
            self.close()
            raise
        assert self._process.stdin is not None
        self.input: IO[bytes] = self._process.stdin
        self._output = self._process.stdout or file

    @property
    def pid(self) -> int:
        """The number of the process, and of its group."""
        return self._process.pid

    @property
    def output(self) -> IO[bytes]:
        """Its standard output, as a pipe or a file."""
        if self._output is None:
            raise ValueError("expected a child whose output is kept")
        return self._output

    @property
    def how_it_ended(self) -> str:
        """Its signal or its exit status, in words; empty while it runs."""
        status = self._process.poll()
        if status is None:
            return ""
        return f"signal {-status}" if status < 0 else f"status {status}"

    def give_way(self) -> None:
        """Lower its scheduling priority by five steps, so that it delays this process less."""
        with contextlib.suppress(OSError):  # it has ended
            niceness = min(os.getpriority(os.PRIO_PROCESS, 0) + 5, 19)
            os.setpriority(os.PRIO_PROCESS, self.pid, niceness)

    def send(self, data: bytes) -> None:
        """Write to its standard input; ignored if the program has ended."""
        with contextlib.suppress(BrokenPipeError):
            self.input.write(data)
            self.input.flush()

    def wait(self, timeout_s: float) -> bool:
        """Wait until it ends, for so long at most; return whether it has ended."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self, grace_s: float = 0.0) -> None:
        """Close its input, wait up to that many seconds for it to end, and kill its group."""
        if grace_s > 0:
            with contextlib.suppress(OSError):
                self.input.close()
            self.wait(grace_s)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def said(self, most: int = _LARGEST_ANSWER) -> bytes:
        """Return its output file, up to a number of bytes."""
        self.output.seek(0)
        return self.output.read(most)

    def last_errors(self, most: int = 4000) -> str:
        """Return the end of its standard error, if that is kept."""
        if self._errors is None:
            return ""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(self._errors.tell() - most, 0))
        return self._errors.read().decode(errors="replace").strip()

    def close(self) -> None:
        """Close the files and pipes of a process that has ended."""
        for file in (getattr(self, "input", None), self._output, self._errors):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.close()


@final
class LineProcess:
    """A program that is talked with in lines, and cannot hang its caller.

    It is stopped when this object goes.

    Parameters
    ----------
    words : sequence of str
        The program and its arguments.
    variables : mapping of str to str
        Environment variables besides those of this process.
    timeout_s : float
        Most seconds to wait for a line.
    label : str
        Prefix of error messages.

    Raises
    ------
    GnomonError
        If it cannot be started; and in :meth:`read`, if it ends or takes too long.

    Examples
    --------
    >>> import sys
    >>> program = LineProcess([sys.executable, "-c", "print(input()[::-1])"], {}, timeout_s=30)
    >>> program.write(["olleh"])
    >>> program.read()
    'hello'
    """

    def __init__(
        self,
        words: Sequence[str],
        variables: Mapping[str, str],
        *,
        timeout_s: float,
        label: str = "program",
    ) -> None:
        self._name, self._label = shlex.join(words), label
        self._timeout_s = timeout_s
        try:
            self._child = ChildProcess(
                words, environment={**os.environ, **variables}, output="pipe"
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise GnomonError(f"{label}: cannot start {self._name}: {reason}") from None
        for pipe in (self._child.input, self._child.output):
            os.set_blocking(pipe.fileno(), False)
        self._received, self._to_send = b"", b""
        weakref.finalize(self, _stop_talking, self._child)

    def write(self, lines: Sequence[str]) -> None:
        """Send lines; what the program does not take yet is sent while :meth:`read` waits."""
        self._to_send += "".join(f"{line}\n" for line in lines).encode()
        self._send()

    def read(self) -> str:
        """Return the next line, without its end."""
        until = time.monotonic() + self._timeout_s
        while b"\n" not in self._received and len(self._received) < _LINE_LIMIT:
            waits = [self._child.input] if self._to_send else []
            left = max(until - time.monotonic(), 0.0)
            readable, writable, _ = select.select([self._child.output], waits, [], left)
            if writable:
                self._send()
            if readable:
                found = os.read(self._child.output.fileno(), _LINE_LIMIT)
                if not found:
                    ended = self._child.wait(_GRACE_S)
                    how = f"ended with {self._child.how_it_ended}" if ended else "closed its output"
                    raise self._failed(f"it {how}")
                self._received += found
            elif left == 0.0:
                raise self._failed(f"found none within {self._timeout_s:g} s")
        line, _, self._received = self._received.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def _send(self) -> None:
        """Send as much as the program takes at once; nothing if it has ended."""
        try:
            while self._to_send:
                n_sent = os.write(self._child.input.fileno(), self._to_send)
                self._to_send = self._to_send[n_sent:]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._to_send = b""

    def _failed(self, what: str) -> GnomonError:
        """Return the error of a program that did not answer, with the end of its errors."""
        words = self._child.last_errors(500)
        said = f"; its standard error ends: {words}" if words else ""
        return GnomonError(f"{self._label}: expected a line of {self._name}, {what}{said}")


def _stop_talking(child: ChildProcess) -> None:
    """Close the input of a program, wait briefly for it to end, and kill any processes left."""
    child.stop(_GRACE_S)
    child.close()


def run_limited(
    module: str,
    request: Mapping[str, Any],
    *,
    timeout_s: float,
    memory_mb: int,
    tick: Callable[[], None] = lambda: None,
    tick_s: float = 1.0,
) -> dict[str, Any]:
    """Run a module on one request in a separate process, under limits on time and memory.

    The child is this interpreter. It gets one JSON object on its standard input and answers with
    another on its standard output. It holds no secret: its environment is empty but for what Python
    needs.

    Parameters
    ----------
    module : str
        One that calls :func:`answer_one_request` when it is run.
    request : mapping
        A value that JSON can represent.
    timeout_s : float
        Most seconds, by the clock and of a processor.
    memory_mb : int
        Most address space in MiB, and most bytes in a file that it writes.
    tick : callable
        Called every ``tick_s`` seconds meanwhile; an exception from it ends the child.
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
    words = [sys.executable, "-m", module, str(timeout_s), str(memory_mb)]
    child = ChildProcess(words, environment=_limited_environment(), output="file")
    try:
        child.give_way()
        # The pipe stays open: if this process dies, the pipe closes and the child exits.
        child.send(json.dumps(request).encode() + b"\n")
        left = timeout_s
        while not child.wait(min(tick_s, left)):
            left -= tick_s
            tick()
            if left <= 0:
                raise ProcessFailure(f"it took longer than {timeout_s:g} s")
        return _answer(child)
    finally:
        child.stop()
        child.close()


def _answer(child: ChildProcess) -> dict[str, Any]:
    """Return the answer of a child that has ended."""
    ended = child.how_it_ended
    if ended == "status 0":
        try:
            answer = json.loads(child.said())
        except ValueError:
            answer = None
        if isinstance(answer, dict):
            return answer
        raise ProcessFailure("it gave no answer")
    if ended.startswith("signal"):
        raise ProcessFailure(f"it was ended by {ended}")
    # Its last message may quote a file of unknown origin.
    lines = [visible(line, kept="") for line in child.last_errors().splitlines()] or [""]
    if "MemoryError" in lines[-1] or any("memory allocation" in line for line in lines):
        raise ProcessFailure("it ran out of memory")
    raise ProcessFailure(f"it ended with {ended}: {lines[-1][:200]}")


def _limited_environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    # Threads each reserve memory, which is counted; one is fast enough.
    threads = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return kept | dict.fromkeys(threads, "1")


def answer_one_request(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Be the child of :func:`run_limited`: limit this process, read the request, print the answer.

    Parameters
    ----------
    answer : callable
        Takes the request and returns the answer; a GnomonError that it raises is a refusal.
    """
    timeout_s, memory_mb = float(sys.argv[1]), int(sys.argv[2])
    _limit(resource.RLIMIT_AS, memory_mb << 20)
    _limit(resource.RLIMIT_CPU, int(timeout_s) + 1)
    _limit(resource.RLIMIT_FSIZE, memory_mb << 20)
    _limit(resource.RLIMIT_CORE, 0)
    request = json.loads(sys.stdin.buffer.readline())
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
