"""Independent pieces of work: in this process, on worker processes, on any executor of futures.

Results do not depend on where or in which order pieces are done; a piece that fails costs no other.
"""

from __future__ import annotations

import logging
import multiprocessing
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any, Generic, Literal, TypeVar

from gnomon.errors import GnomonError

Piece = TypeVar("Piece")
Result = TypeVar("Result")

#: Pieces that are submitted for each worker before the first result is taken.
_AHEAD = 4
#: Seconds within which the first worker process must start and load its modules.
_START_S = 300.0
_CONNECT_S = 20
#: How worker processes start: the default of Python 3.14 on Linux; not safe on macOS.
_METHOD: Literal["forkserver", "spawn"] = "forkserver" if sys.platform == "linux" else "spawn"
_CONTEXT: Any = multiprocessing.get_context(_METHOD)
#: Interval between checks for a lost cluster while no piece ends.
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Piece, Result]):
    """Result of one piece of work, or the error that it ended with.

    The error is one line, ``"ValueError: ..."``, if the work raised or its process died; the
    traceback is as Python prints it.
    """

    piece: Piece
    result: Result | None = None
    error: str | None = None
    traceback: str | None = None


class Workers:
    """The workers of an executor of futures, by default this process itself.

    The executor, of about ``n_workers`` workers, is not shut down. If ``is_lost`` says that it is
    lost, the pieces that do not end by themselves fail.
    """

    def __init__(
        self,
        executor: futures.Executor | None = None,
        n_workers: int = 1,
        is_lost: Callable[[], bool] | None = None,
    ) -> None:
        self._executor = executor or _ThisProcess()
        self._n_ahead = _AHEAD * n_workers if executor else 1
        self._is_lost = is_lost

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield one outcome for each piece, as they end; the work stops when this is closed."""
        left = iter(pieces)
        flying: dict[futures.Future[Result], Piece] = {}
        try:
            while True:
                for piece in islice(left, self._n_ahead - len(flying)):
                    flying[self._submit(work, piece)] = piece
                if not flying:
                    return
                wait_s = _LOOK_S if self._is_lost else None
                done, _ = futures.wait(flying, wait_s, futures.FIRST_COMPLETED)
                if not done and self._is_lost and self._is_lost():
                    done = set(flying)
                for future in done:
                    piece = flying.pop(future)
                    try:
                        result = future.result() if future.done() else _lost().result()
                    except (Exception, SystemExit, futures.CancelledError) as error:
                        yield Outcome(piece, None, *_told(error))
                    else:
                        yield Outcome(piece, result)
        finally:
            for future in flying:
                future.cancel()

    def _submit(self, work: Callable[[Piece], Result], piece: Piece) -> futures.Future[Result]:
        try:
            return self._executor.submit(work, piece)
        except Exception:
            if self._is_lost and self._is_lost():
                return _lost()
            raise


class ProcessWorkers(Workers):
    """``n_workers`` processes, in each of which ``prepare`` is called first.

    A piece that takes longer than ``time_s`` seconds fails, and so does the piece of a process that
    dies; another process takes its place.

    They are not forks of this process, whose threads would not live through it. On Linux they are
    forks of a server that has imported the module ``preload``, and is started here; elsewhere
    each is a fresh interpreter. So the work must be a function that they can import, pieces and
    results must pickle, and a script that calls this needs ``if __name__ == "__main__":``.
    """

    def __init__(
        self,
        n_workers: int,
        time_s: float | None = None,
        *,
        prepare: Callable[[], None] | None = None,
        preload: str | None = None,
    ) -> None:
        self._n_workers, self._time_s, self._prepare = n_workers, time_s, prepare
        self._context = copy(_CONTEXT)
        self._context.Process = _Worker
        self._context.RLock = self._make_lock
        self._locks: list[Any] = []
        if _METHOD == "forkserver":
            from multiprocessing import forkserver, resource_tracker

            self._context.set_forkserver_preload([preload] if preload else [])
            # The server inherits that Ctrl-C is blocked: while it imports it would print an error.
            # Multiprocessing's tracker, which comes first, unblocks it.
            resource_tracker.ensure_running()
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            forkserver.ensure_running()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield one outcome for each piece; GnomonError if no worker process starts."""
        from pebble import ProcessPool

        waiting = list(pieces)
        if not waiting:
            return
        n_workers = min(self._n_workers, len(waiting))
        pool: Any = ProcessPool(n_workers, initializer=self._prepare, context=self._context)
        try:
            try:
                pool.schedule(int).result(_START_S)
            except Exception as error:
                raise GnomonError(
                    f"no worker process started ({_in_one_line(error)}); a script that plays on "
                    'several processes needs if __name__ == "__main__":'
                ) from None
            yield from Workers(_Timed(pool, self._time_s), n_workers).map(work, waiting)
        finally:
            pool.stop()
            pool.join()

    def _make_lock(self) -> Any:
        """Return a lock that is kept here.

        Pebble drops its locks before it ends the workers: one that is just starting would find
        none, and print a traceback.
        """
        self._locks.append(_CONTEXT.RLock())
        return self._locks[-1]


#: No exit status is as large.
_ENDED = 256


class _Worker(_CONTEXT.Process):  # type: ignore[misc]  # the platform decides on its base class
    """A worker process: to end by itself is an error, also with exit status 0.

    For the piece of a process with exit status 0 pebble would wait forever.
    """

    @property
    def exitcode(self) -> int | None:
        code: int | None = super().exitcode
        return _ENDED if code == 0 else code


@contextmanager
def cluster_workers(scheduler: str, n_workers: int = 1) -> Iterator[Workers]:
    """Connect to a Dask cluster, or start one of ``n_workers`` local processes for ``"local"``.

    ``scheduler`` is ``"local"`` or an address such as ``"tcp://10.0.0.1:8786"``, whose workers need
    the same versions of everything. If the cluster is lost, the pieces that are not done fail.

    Raises GnomonError: Dask is not installed, or no scheduler answers.
    """
    try:
        dask: Any = import_module("distributed")
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
        if scheduler != "local":
            # A client that an address without a port stops half made cannot be closed.
            dask.comm.get_address_host_port(scheduler)
        client = dask.Client(set_as_default=False, **how)
    except (OSError, ValueError) as error:
        reason = _in_one_line(error)
        raise GnomonError(f"{scheduler}: expected a Dask scheduler, found none: {reason}") from None
    # The outcomes report its errors; Tornado would print their tracebacks besides.
    logging.getLogger("tornado.application").setLevel(logging.CRITICAL)
    with client:
        n_there = max(1, sum(client.nthreads().values()))
        # Not pure: two equal pieces of work are two tasks.
        executor = client.get_executor(pure=False)
        # Dask's executor does not report a result in transit when the scheduler died.
        yield Workers(executor, n_there, lambda: client.status == "closed")


class _ThisProcess(futures.Executor):
    """Executor that does each piece at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_: Any) -> futures.Future[Any]:
        future: futures.Future[Any] = futures.Future()
        try:
            future.set_result(fn(*args))
        except (Exception, SystemExit) as error:  # work that calls exit() ends only itself
            future.set_exception(error)
        return future


class _Timed(futures.Executor):
    """The pool of pebble as an executor, with a limit of time for each piece."""

    def __init__(self, pool: Any, time_s: float | None) -> None:
        self._pool, self._time_s = pool, time_s

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_: Any) -> futures.Future[Any]:
        future: futures.Future[Any] = self._pool.schedule(fn, args=args, timeout=self._time_s)
        return future


def _lost() -> futures.Future[Any]:
    """Return the future of a piece that a lost cluster had, or did not take."""
    future: futures.Future[Any] = futures.Future()
    future.set_exception(ConnectionError("the cluster was lost"))
    return future


def _told(error: BaseException) -> tuple[str, str | None]:
    """Return the error of a piece in one line, and its traceback."""
    # Two errors of pebble: a piece that was not done in time, and a process that died.
    if isinstance(error, TimeoutError) and error.args[:1] == ("Task timeout",):
        return f"TimeLimit: not done after {error.args[1]:g} s", None
    code = getattr(error, "exitcode", None)
    if code is not None:
        how = f"signal {-code}" if code < 0 else f"exit status {code % _ENDED}"
        return f"the worker process died ({how})", None
    # An exception from a worker has its traceback there.
    there = getattr(error, "traceback", None) or getattr(error.__cause__, "tb", None)
    lines = there if isinstance(there, str) else "".join(traceback.format_exception(error))
    return _in_one_line(error), lines


def _in_one_line(error: BaseException) -> str:
    """Return the kind of an error and the first line of its message, without colours."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    first = plain.splitlines()[0] if plain else ""
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
