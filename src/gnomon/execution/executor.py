"""Executors: independent pieces of work done in this process or by threads; outcomes and limits."""

from __future__ import annotations

import math
import queue
import re
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

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
        return Outcome(piece, None, in_one_line(error), traceback.format_exc())


def in_one_line(error: BaseException) -> str:
    """Return the kind of an error and the first line of what it says, without colours."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    first = plain.splitlines()[0] if plain else ""
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the time and memory of one piece of work; None sets no limit.

    The time is in seconds, above 0; the memory, in megabytes of a million bytes, is what the
    process that does the piece may hold together with all that it has started.
    """

    time_s: float | None = None
    memory_mb: int | None = None

    def __bool__(self) -> bool:
        return self != Limits()


NO_LIMITS = Limits()


class SerialExecutor:
    """Executor in this process: each piece when its outcome is asked for, in the order given."""

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`gnomon.execution.executor.Executor`."""
        for piece in pieces:
            yield attempt(work, piece)


class ThreadExecutor:
    """Executor on ``n_workers`` threads of this process, for work that mostly waits for others.

    Outcomes come in the order in which they end. A thread cannot be ended: when the iterator is
    closed the pieces in hand hear of it by :func:`is_stopped`, and their outcomes are lost.

    Examples
    --------
    >>> sorted(outcome.result for outcome in ThreadExecutor(2).map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`gnomon.execution.executor.Executor`."""
        waiting = deque(pieces)
        n_pieces, stopped = len(waiting), threading.Event()
        done: queue.SimpleQueue[Outcome[Piece, Result]] = queue.SimpleQueue()

        def serve() -> None:
            _THREAD.stopped = stopped
            while not stopped.is_set():
                try:
                    piece = waiting.popleft()
                except IndexError:
                    return
                done.put(attempt(work, piece))

        for _ in range(min(self.n_workers, n_pieces)):
            threading.Thread(target=serve, daemon=True).start()
        try:
            for _ in range(n_pieces):
                yield done.get()
        finally:
            stopped.set()


_THREAD = threading.local()


def is_stopped() -> bool:
    """Return whether what is done on this thread of a :class:`ThreadExecutor` is not wanted."""
    stopped: threading.Event | None = getattr(_THREAD, "stopped", None)
    return stopped is not None and stopped.is_set()
