"""Executors: independent pieces of work done in this process or by a pool of processes.

The pool is not that of ``concurrent.futures``: there, the death of one worker takes all pending
work with it. Here it costs the piece in hand, which is reported as failed, and another worker takes
the place. Nor is it built on :mod:`gnomon._io.child_process`: work and results are Python objects,
which ``multiprocessing`` carries to interpreters that it starts itself.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import re
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Protocol, TypeVar

from gnomon.execution.interrupts import processes_undisturbed

__all__ = [
    "NO_LIMITS",
    "Executor",
    "Limits",
    "Outcome",
    "ProcessExecutor",
    "SerialExecutor",
    "attempt",
    "make_executor",
]

Piece = TypeVar("Piece")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Piece, Result]):
    """Result of one piece of work, or the error that it ended with.

    Parameters
    ----------
    piece : object
        The piece that was done.
    result : object, optional
        What the work returned.
    error : str, optional
        One line, ``"ValueError: ..."``, if the work raised or its process died; else None.
    traceback : str, optional
        Where it was raised, as Python prints it.
    time_s : float
        Seconds that the work took; infinite if it did not come to a result.
    """

    piece: Piece
    result: Result | None = None
    error: str | None = None
    traceback: str | None = None
    time_s: float = math.inf


class Executor(Protocol):
    """Interface of executors: does pieces of work in any order, yields outcomes as they come."""

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield one outcome for each piece; a piece that raises does not stop the others.

        The work stops when the iterator is closed, or when ``KeyboardInterrupt`` passes through it.
        """


def attempt(work: Callable[[Piece], Result], piece: Piece) -> Outcome[Piece, Result]:
    """Do one piece of work in this process, and return its outcome."""
    began = time.perf_counter()
    try:
        return Outcome(piece, work(piece), time_s=time.perf_counter() - began)
    except (Exception, SystemExit) as error:  # work that calls exit() ends itself, not the rest
        return Outcome(piece, None, _in_one_line(error), traceback.format_exc())


def _in_one_line(error: BaseException) -> str:
    """Return the kind of an error and the first line of what it says, without colours."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    first = plain.splitlines()[0] if plain else ""
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the time and memory of one piece of work; None sets no limit.

    The time is in seconds, above 0; the memory, in megabytes of a million bytes, is what the
    process that does the piece may hold.
    """

    time_s: float | None = None
    memory_mb: int | None = None

    def __bool__(self) -> bool:
        return self != Limits()


NO_LIMITS = Limits()


def make_executor(
    n_workers: int = 1,
    *,
    limits: Limits = NO_LIMITS,
    prepare: Callable[[], None] | None = None,
) -> Executor:
    """Return an executor for so many workers: this process for one, else processes of their own.

    With limits, one worker too is a process of its own, so that it can be ended. ``prepare`` is
    called once in each such process before its first piece, off the clock.

    Raises ValueError if there would be no worker.
    """
    if n_workers < 1:
        raise ValueError(f"expected at least 1 worker, found {n_workers}")
    if n_workers == 1 and not limits:
        return SerialExecutor()
    return ProcessExecutor(n_workers, limits=limits, prepare=prepare)


class SerialExecutor:
    """Executor in this process: each piece when its outcome is asked for, in the order given."""

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`gnomon.execution.executor.Executor`."""
        for piece in pieces:
            yield attempt(work, piece)


#: Pieces that a worker has at a time: one in hand, one to go on with while its result travels.
_PIECES_AHEAD = 2
#: What is said when there is nothing to say: "I am ready" one way, "that was all" the other.
_NOTHING = ()
#: Seconds between looks at the memory of the workers; what is taken meanwhile is not noticed.
_MEMORY_LOOK_S = 0.05


class ProcessExecutor:
    """Executor on ``n_workers`` processes; outcomes come in the order in which they end.

    The processes are fresh interpreters (spawned, not forked), since compiled threads do not live
    through a fork. So the work must be a function that they can import, pieces and results must
    pickle, and a script that calls this needs ``if __name__ == "__main__":``.

    A piece that passes a limit is given up and its process ended; another takes the place.

    Raises OSError if memory is to be limited on a system that does not tell how much a process has.
    """

    def __init__(
        self,
        n_workers: int,
        *,
        limits: Limits = NO_LIMITS,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self.n_workers = n_workers
        self.limits = limits
        self.prepare = prepare
        if limits.memory_mb is not None:
            _memory_mb(os.getpid())

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`gnomon.execution.executor.Executor`.

        A piece whose process dies has an error that says so.

        Raises RuntimeError if a process cannot even start, for example because it cannot import the
        work.
        """
        waiting = deque(pieces)
        workers: list[_Worker[Piece, Result]] = []
        try:
            for _ in range(min(self.n_workers, len(waiting))):
                workers.append(_Worker(work, self.prepare))
            while sum(worker.feed(waiting) for worker in workers):
                ready = wait([worker.connection for worker in workers], self._patience(workers))
                for worker in list(workers):
                    if worker.connection in ready:
                        outcome = worker.receive()
                    else:
                        outcome = worker.judge(self.limits)
                    if worker.dead:
                        workers.remove(worker)
                        waiting.extendleft(reversed(worker.pieces))
                        if waiting:
                            workers.append(_Worker(work, self.prepare))
                    if outcome is not None:
                        yield outcome
            for worker in workers:
                worker.retire()
        finally:
            for worker in workers:
                worker.end()

    def _patience(self, workers: list[_Worker[Piece, Result]]) -> float | None:
        """Return for how many seconds there is nothing to judge."""
        if self.limits.memory_mb is not None:
            return _MEMORY_LOOK_S
        if self.limits.time_s is None:
            return None
        began = [worker.began for worker in workers if worker.began is not None]
        if not began:
            return None
        return max(0.0, min(began) + self.limits.time_s - time.monotonic())


class _Worker(Generic[Piece, Result]):
    """A process, the pipe to it, and the pieces that it has been given."""

    def __init__(self, work: Callable[[Piece], Result], prepare: Callable[[], None] | None) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(work, prepare, theirs), daemon=True)
        with processes_undisturbed():
            self.process.start()
        theirs.close()
        self.pieces: deque[Piece] = deque()
        self.started = False
        self.dead = False
        #: When the piece in hand was begun.
        self.began: float | None = None

    def feed(self, waiting: deque[Piece]) -> int:
        """Hand over as many pieces as the worker may have; return how many it has."""
        while waiting and len(self.pieces) < _PIECES_AHEAD:
            self.pieces.append(waiting.popleft())
            # A dead worker is found out when it is listened to.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.connection.send((self.pieces[-1],))
        if self.started and self.pieces and self.began is None:
            self.began = time.monotonic()
        return len(self.pieces)

    def receive(self) -> Outcome[Piece, Result] | None:
        """Return what the worker says: an outcome, or nothing if it says that it is ready."""
        self.began = None  # until more is fed
        try:
            said: Any = self.connection.recv()
        except (EOFError, ConnectionResetError):
            return self._death()
        if said == _NOTHING:
            self.started = True
            return None
        return Outcome(self.pieces.popleft(), *said)

    def judge(self, limits: Limits) -> Outcome[Piece, Result] | None:
        """End the process and return the failure of its piece, if that has passed a limit."""
        if self.began is None:
            return None
        if time.monotonic() - self.began >= (limits.time_s or math.inf):
            error = f"TimeLimit: not done after {limits.time_s:g} s"
        elif limits.memory_mb is not None and self._holds() > limits.memory_mb:
            error = f"MemoryLimit: more than {limits.memory_mb} MB"
        else:
            return None
        if self.connection.poll():
            return None  # It has just been done.
        self.process.kill()
        self.process.join()
        self.dead = True
        return Outcome(self.pieces.popleft(), None, error)

    def _holds(self) -> float:
        """Return the memory of the process in MB; 0 if it is gone, which is found out elsewhere."""
        try:
            return _memory_mb(self.process.pid or 0)
        except (FileNotFoundError, ProcessLookupError):
            return 0.0

    def _death(self) -> Outcome[Piece, Result] | None:
        """Return the failure of the piece in hand, if there was one."""
        self.process.join()
        self.dead = True
        code = self.process.exitcode or 0
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        if not self.started:
            raise RuntimeError(f"a worker process did not start ({how})")
        if not self.pieces:
            return None
        return Outcome(self.pieces.popleft(), None, f"the worker process died ({how})")

    def retire(self) -> None:
        """Let the process end by itself."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(_NOTHING)
        self.process.join(timeout=5)

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.connection.close()


def _memory_mb(pid: int) -> float:
    """Return how many million bytes of memory a process holds."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            n_pages = int(file.read().split()[1])
    except FileNotFoundError:
        if os.path.exists("/proc/self/statm"):
            raise
        raise OSError("limits of memory need a system with /proc, such as Linux") from None
    return n_pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _serve(
    work: Callable[[Piece], Result], prepare: Callable[[], None] | None, connection: Connection
) -> None:
    """Do what comes through the pipe, until told to stop or until the other end is gone."""
    if prepare is not None:
        prepare()
    connection.send(_NOTHING)
    while True:
        try:
            heard: tuple[Piece, ...] = connection.recv()
        except EOFError:
            return
        if heard == _NOTHING:
            return
        done = attempt(work, heard[0])
        try:
            connection.send((done.result, done.error, done.traceback, done.time_s))
        except (BrokenPipeError, ConnectionResetError):
            return
        except Exception as error:
            connection.send((None, f"the result does not pickle: {error}"))
