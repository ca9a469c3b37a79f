"""A running program that one talks to in lines, and that cannot hang its caller."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import IO

from gnomon.errors import GnomonError

__all__ = ["Program"]

#: Longest line that is read at once, and how many lines are taken in before they are asked for.
_LINE_LIMIT = 65_536
_LINES_AHEAD = 1000
#: Seconds that a program has to end once its input is closed.
_GRACE_S = 1.0


class Program:
    """A program with pipes to its standard input and output.

    It is stopped when this object goes.

    Parameters
    ----------
    words : sequence of str
        The program and its arguments.
    variables : mapping of str to str
        Environment variables besides those of this process.
    timeout_s : float
        Most seconds to wait for a line.

    Raises
    ------
    GnomonError
        If it cannot be started; and in :meth:`read` and :meth:`write`, if it ends or takes too
        long.

    Examples
    --------
    >>> import sys
    >>> program = Program([sys.executable, "-c", "print(input()[::-1])"], {}, timeout_s=30)
    >>> program.write(["olleh"])
    >>> program.read()
    'hello'
    """

    def __init__(
        self, words: Sequence[str], variables: Mapping[str, str], *, timeout_s: float
    ) -> None:
        self._name = shlex.join(words)
        self._timeout_s = timeout_s
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - _stop closes it
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env={**os.environ, **variables},
            )
        except OSError as error:
            self._stderr.close()
            reason = error.strerror or str(error)
            raise GnomonError(f"learner 'process': cannot start {self._name}: {reason}") from None
        self._lines: queue.Queue[str | None] = queue.Queue(_LINES_AHEAD)
        self._outgoing: queue.Queue[bytes | None] = queue.Queue(_LINES_AHEAD)
        stopped = threading.Event()
        # Threads, since a program that neither reads nor writes shall not keep its caller waiting.
        threads = (
            threading.Thread(
                target=_take_in,
                args=(_pipe(self._process.stdout), self._lines, stopped),
                daemon=True,
            ),
            threading.Thread(
                target=_give_out, args=(_pipe(self._process.stdin), self._outgoing), daemon=True
            ),
        )
        for thread in threads:
            thread.start()
        weakref.finalize(self, _stop, self._process, self._stderr, self._outgoing, threads, stopped)

    def write(self, lines: Sequence[str]) -> None:
        """Send lines, all at once; whether they were read, :meth:`read` will tell."""
        if not lines:
            return
        try:
            self._outgoing.put(("\n".join(lines) + "\n").encode(), timeout=self._timeout_s)
        except queue.Full:
            raise self._failed(f"it read nothing within {self._timeout_s:g} s") from None

    def read(self) -> str:
        """Return the next line, without its end."""
        try:
            line = self._lines.get(timeout=self._timeout_s)
        except queue.Empty:
            raise self._failed(f"found none within {self._timeout_s:g} s") from None
        if line is None:
            raise self._failed("it ended")
        return line

    def _failed(self, what: str) -> GnomonError:
        """Return the error of a program that did not answer, with its last words."""
        if what == "it ended":
            try:
                what += f" with status {self._process.wait(_GRACE_S)}"
            except subprocess.TimeoutExpired:
                what = "it closed its output"
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(self._stderr.tell() - 500, 0))
        words = self._stderr.read().decode(errors="replace").strip()
        said = f"; its standard error ends: {words}" if words else ""
        return GnomonError(f"learner 'process': expected a line of {self._name}, {what}{said}")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe that is there, as those of this program are."""
    if pipe is None:
        raise ValueError("expected a program started with pipes")
    return pipe


def _take_in(pipe: IO[bytes], lines: queue.Queue[str | None], stopped: threading.Event) -> None:
    """Put the lines of a program into a queue, and None after the last."""
    while not stopped.is_set():
        line = pipe.readline(_LINE_LIMIT)
        found = line.decode(errors="replace").rstrip("\r\n") if line else None
        while not stopped.is_set():
            try:
                lines.put(found, timeout=0.2)
                break
            except queue.Full:
                pass
        if found is None:
            return


def _give_out(pipe: IO[bytes], outgoing: queue.Queue[bytes | None]) -> None:
    """Send what is in a queue to a program until None comes, and close its input."""
    # A program that has gone reads no more.
    with contextlib.suppress(OSError), pipe:
        while (data := outgoing.get()) is not None:
            pipe.write(data)
            pipe.flush()


def _stop(
    process: subprocess.Popen[bytes],
    stderr: IO[bytes],
    outgoing: queue.Queue[bytes | None],
    threads: Sequence[threading.Thread],
    stopped: threading.Event,
) -> None:
    """Close the input of a program, wait a moment for it to end, and end it if it does not."""
    stopped.set()
    with contextlib.suppress(queue.Full):
        outgoing.put_nowait(None)
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for thread in threads:
        thread.join(_GRACE_S)
    if not threads[0].is_alive():  # a grandchild may still hold the other end
        _pipe(process.stdout).close()
    stderr.close()
