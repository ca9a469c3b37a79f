"""Independent pieces of work: in this process, on worker processes, on any executor of futures.

Results do not depend on where or in which order pieces are done; a piece that fails costs no other.
"""

from __future__ import annotations

import logging
import multiprocessing
import re
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from gnomon.errors import GnomonError

Piece = TypeVar("Piece")
Result = TypeVar("Result")

#: Pieces that are handed out for each worker before the first result is taken.
_AHEAD = 4
#: Seconds within which the first worker process must start and load its modules.
_START_S = 300.0
_CONNECT_S = 20
#: Interval between checks for a lost cluster while no piece ends.
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Piece, Result]):
    """Result of one piece of work, or the error that it ended with.

    Parameters
    ----------
    piece : object
        The piece that was done.
    result : object, optional
        Return value of the work.
    error : str, optional
        One line, ``"ValueError: ..."``, if the work raised or its process died; else None.
    traceback : str, optional
        The traceback as Python prints it.
    """

    piece: Piece
    result: Result | None = None
    error: str | None = None
    traceback: str | None = None


class Executor(Protocol):
    """Interface of executors: does pieces of work in any order, yields outcomes as they come."""

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield one outcome for each piece; a piece that raises does not stop the others.

        The work stops when the iterator is closed, or when ``KeyboardInterrupt`` passes through it.
        """


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the time and memory of one piece of work; None sets no limit.

    Parameters
    ----------
    time_s : float, optional
        Seconds, above 0.
    memory_mb : int, optional
        Megabytes (of a million bytes) that the worker process may allocate beyond its allocation
        when it was ready.
    """

    time_s: float | None = None
    memory_mb: int | None = None

    def __bool__(self) -> bool:
        return self != Limits()


NO_LIMITS = Limits()


class SerialExecutor:
    """Executor in this process: each piece runs when its outcome is requested, in order."""

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`Executor`."""
        for piece in pieces:
            try:
                yield Outcome(piece, work(piece))
            except (Exception, SystemExit) as error:  # work that calls exit() ends only itself
                yield _failure(piece, error)


class FutureExecutor:
    """Executor on any ``concurrent.futures.Executor`` of about ``n_workers`` workers.

    Outcomes come in the order in which they end. The given executor is not shut down. Once it
    ``is_lost``, the pieces that do not end by themselves fail.

    Examples
    --------
    >>> with futures.ThreadPoolExecutor(2) as threads:
    ...     outcomes = FutureExecutor(threads, 2).map(abs, [-1, 2, -3])
    ...     sorted(outcome.result for outcome in outcomes)
    [1, 2, 3]
    """

    def __init__(
        self,
        executor: futures.Executor,
        n_workers: int,
        is_lost: Callable[[], bool] | None = None,
    ) -> None:
        self._executor = executor
        self._n_ahead = _AHEAD * n_workers
        self._is_lost = is_lost

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`Executor`."""

        def submit(piece: Piece) -> futures.Future[Result]:
            try:
                return self._executor.submit(work, piece)
            except Exception:
                if self._is_lost is None or not self._is_lost():
                    raise
                refused: futures.Future[Result] = futures.Future()
                refused.set_exception(ConnectionError("the cluster was lost"))
                return refused

        yield from _outcomes(submit, pieces, self._n_ahead, self._is_lost)


class ProcessExecutor:
    """Executor on ``n_workers`` processes; outcomes come in the order in which they end.

    The processes are fresh interpreters (spawned, not forked), since compiled threads do not live
    through a fork. So the work must be a function that they can import, pieces and results must
    pickle, and a script that calls this needs ``if __name__ == "__main__":``. ``prepare`` is called
    once in each process before its first piece.

    A piece that passes a limit of time is given up and its process ended; one that passes a limit
    of memory, which only Linux enforces, fails with a ``MemoryError``. If a process dies, its
    current piece fails, and another process takes its place.
    """

    def __init__(
        self,
        n_workers: int,
        *,
        limits: Limits = NO_LIMITS,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self.n_workers = n_workers
        self._limits = limits
        self._prepare = prepare

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`Executor`.

        Raises GnomonError: no worker process starts.
        """
        from pebble import ProcessPool

        waiting = list(pieces)
        if not waiting:
            return
        pool: Any = ProcessPool(
            min(self.n_workers, len(waiting)),
            initializer=_begin,
            initargs=(self._prepare, self._limits.memory_mb),
            context=multiprocessing.get_context("spawn"),
        )
        try:
            with _interrupts_blocked():
                first = pool.schedule(int)
            self._wait_for(first)

            def submit(piece: Piece) -> futures.Future[Result]:
                future: futures.Future[Result] = pool.schedule(
                    work, args=[piece], timeout=self._limits.time_s
                )
                return future

            yield from _outcomes(submit, waiting, _AHEAD * self.n_workers)
        finally:
            pool.stop()
            pool.join()

    @staticmethod
    def _wait_for(first: futures.Future[int]) -> None:
        """Wait until a process is ready."""
        try:
            first.result(_START_S)
        except Exception as error:
            raise GnomonError(
                f"no worker process started ({_in_one_line(error)}); a script that plays on "
                'several processes needs if __name__ == "__main__":'
            ) from None


def make_executor(
    n_workers: int = 1,
    *,
    limits: Limits = NO_LIMITS,
    prepare: Callable[[], None] | None = None,
) -> Executor:
    """Return an executor for a number of workers: this process for one, else separate processes.

    With limits, even one worker is a separate process, so that it can be ended.

    Raises ValueError if there would be no worker.
    """
    if n_workers < 1:
        raise ValueError(f"expected at least 1 worker, found {n_workers}")
    if n_workers == 1 and not limits:
        return SerialExecutor()
    return ProcessExecutor(n_workers, limits=limits, prepare=prepare)


@contextmanager
def thread_executor(n_workers: int) -> Iterator[Executor]:
    """Give an executor on threads of this process."""
    with futures.ThreadPoolExecutor(n_workers) as threads:
        yield FutureExecutor(threads, n_workers)


@contextmanager
def cluster_executor(scheduler: str, n_workers: int = 1) -> Iterator[Executor]:
    """Connect to a Dask cluster, or start one of ``n_workers`` local processes for ``"local"``.

    ``scheduler`` is ``"local"`` or an address such as ``"tcp://10.0.0.1:8786"``, whose workers need
    the same versions of everything. If the cluster is lost, the pieces that are not done fail.

    Raises GnomonError: Dask is not installed, or no scheduler answers.
    """
    try:
        connect: Any = import_module("distributed").Client
    except ImportError:
        raise GnomonError("a cluster needs Dask: pip install 'gohr[dask]'") from None
    how: dict[str, Any] = {"address": scheduler, "timeout": _CONNECT_S}
    if scheduler == "local":
        how = {
            "n_workers": n_workers,
            "threads_per_worker": 1,
            "host": "127.0.0.1",
            "dashboard_address": None,
            "memory_limit": 0,
        }
    try:
        client = connect(set_as_default=False, **how)
    except (OSError, ValueError) as error:
        reason = _in_one_line(error)
        raise GnomonError(f"{scheduler}: expected a Dask scheduler, found none: {reason}") from None
    with client, _quiet("tornado.application"):
        n_there = max(1, sum(client.nthreads().values()))
        # Not pure: two equal pieces of work are two tasks.
        executor = client.get_executor(pure=False)
        # Dask's executor does not report a result in transit when the scheduler died.
        yield FutureExecutor(executor, n_there, lambda: client.status == "closed")


@contextmanager
def _quiet(logger: str) -> Iterator[None]:
    """Keep a logger from printing tracebacks of errors that the outcomes already report."""
    chosen = logging.getLogger(logger)
    level = chosen.level
    chosen.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        chosen.setLevel(level)


def _outcomes(
    submit: Callable[[Piece], futures.Future[Result]],
    pieces: Iterable[Piece],
    n_ahead: int,
    is_lost: Callable[[], bool] | None = None,
) -> Iterator[Outcome[Piece, Result]]:
    """Yield outcomes of futures as they end; limit the number of pieces submitted at a time."""
    left = iter(pieces)
    flying: dict[futures.Future[Result], Piece] = {}
    try:
        while True:
            for piece in islice(left, n_ahead - len(flying)):
                flying[submit(piece)] = piece
            if not flying:
                return
            wait_s = None if is_lost is None else _LOOK_S
            done, _ = futures.wait(flying, wait_s, futures.FIRST_COMPLETED)
            if not done and is_lost is not None and is_lost():
                lost, flying = flying, {}
                for piece in lost.values():
                    yield Outcome(piece, None, "ConnectionError: the cluster was lost")
            for future in done:
                piece = flying.pop(future)
                try:
                    yield Outcome(piece, future.result())
                except (Exception, SystemExit, futures.CancelledError) as error:
                    yield _failure(piece, error)
    finally:
        for future in flying:
            future.cancel()


def _failure(piece: Piece, error: BaseException) -> Outcome[Piece, Any]:
    # Two errors of pebble: a piece that was not done in time, and a process that died.
    if isinstance(error, TimeoutError) and error.args[:1] == ("Task timeout",):
        return Outcome(piece, None, f"TimeLimit: not done after {error.args[1]:g} s")
    code = getattr(error, "exitcode", None)
    if code is not None:
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        return Outcome(piece, None, f"the worker process died ({how})")
    # An exception from a worker has its traceback there.
    there = getattr(error, "traceback", None) or getattr(error.__cause__, "tb", None)
    lines = there if isinstance(there, str) else "".join(traceback.format_exception(error))
    return Outcome(piece, None, _in_one_line(error), lines)


def _in_one_line(error: BaseException) -> str:
    """Return the kind of an error and the first line of its message, without colours."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    first = plain.splitlines()[0] if plain else ""
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _begin(prepare: Callable[[], None] | None, memory_mb: int | None) -> None:
    """Prepare a worker process, and limit its further memory allocation."""
    if prepare is not None:
        prepare()
    if memory_mb is None:
        return
    with suppress(ImportError, OSError, ValueError):  # a system without such limits
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[5])
        most = pages * resource.getpagesize() + memory_mb * 1_000_000
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes and threads that are started within the block, which inherit it.

    A terminal sends Ctrl-C to every process of a command; only this one decides what it means.
    """
    # Starting this helper of multiprocessing unblocks the signal, so it comes first.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
