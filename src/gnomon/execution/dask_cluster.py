"""An executor on a Dask cluster: local processes, or a scheduler that runs elsewhere.

Dask carries pieces out and results back, in batches, since a task costs it about a millisecond. It
is not trusted with more: what has been done is written down by whoever asks for the outcomes.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from gnomon._io.process_tree import MARK, become_root, end_descendants
from gnomon.errors import GnomonError, NoClusterWarning
from gnomon.execution.executor import NO_LIMITS, Executor, Limits, Outcome, in_one_line
from gnomon.execution.interrupts import processes_undisturbed
from gnomon.execution.worker_processes import ProcessExecutor, make_executor

Piece = TypeVar("Piece")
Result = TypeVar("Result")

#: A batch has at most so many pieces, and fewer if there would be too few batches for a worker.
_MOST_PIECES, _BATCHES_A_WORKER = 32, 8
#: Batches that are on their way for each worker.
_BATCHES_AHEAD = 2
_CONNECT_S = 20
#: Looks at the clocks before a cluster starts, the pause between them, and what they may differ by.
_CLOCK_LOOKS, _CLOCK_PAUSE_S, _MOST_DRIFT_S = 8, 0.01, 1.0
_LOST = "ClusterLost: the scheduler of the cluster is gone"


def dask_is_installed() -> bool:
    """Return whether Dask is installed, without importing it."""
    return find_spec("distributed") is not None


@contextmanager
def cluster_executor(
    scheduler: str,
    n_workers: int = 1,
    *,
    limits: Limits = NO_LIMITS,
    prepare: Callable[[], None] | None = None,
) -> Iterator[Executor]:
    """Connect to a Dask cluster, or start one of ``n_workers`` local processes for ``"local"``.

    ``scheduler`` is ``"local"`` or an address such as ``"tcp://10.0.0.1:8786"``, whose workers need
    the same versions of everything. With limits, a worker does its pieces in a process of its own;
    ``prepare`` is called once in each such process before its first piece, off the clock.

    If a local cluster does not start, or the clock jumps before it has (Dask waits by the clock for
    its processes and their answers, and may do so for ever), a :class:`ProcessExecutor` of as many
    processes takes its place, and a NoClusterWarning says so.

    Raises GnomonError: Dask is not installed, or this is no address, or nobody answers there, or
    the scheduler has no workers.
    """
    _distributed()
    if scheduler != "local":
        with _joined(scheduler) as client:
            yield DaskExecutor(client, limits=limits, prepare=prepare)
        return
    with ExitStack() as cluster:
        try:
            client = _started(n_workers, cluster)
        except Exception as error:
            reason = f"a local Dask cluster did not start ({in_one_line(error)})"
            remedy = "processes without Dask do its work"
            warnings.warn(f"{reason}; {remedy}", NoClusterWarning, stacklevel=3)
            yield ProcessExecutor(n_workers, limits=limits, prepare=prepare)
            return
        yield DaskExecutor(client, limits=limits, prepare=prepare, owns_workers=True)


def _started(n_workers: int, cluster: ExitStack) -> Any:
    """Return a client of a cluster that is started here, and ends with the stack."""
    distributed = _distributed()
    _see_that_the_clock_goes_on()
    settings = {
        # Deaths of a worker until Dask gives up a task that was on it.
        "distributed.scheduler.allowed-failures": 1,
        # Only such workers may have the processes that limits need.
        "distributed.worker.daemon": False,
    }
    cluster.enter_context(import_module("dask").config.set(settings))
    # What goes wrong when it ends is no fault of the work, which is done.
    cluster.enter_context(suppress(Exception))
    with processes_undisturbed():  # it ends when this process says so
        started = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port: two clusters can be up at once
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )
    cluster.enter_context(started)
    return cluster.enter_context(distributed.Client(started, set_as_default=False))


def _see_that_the_clock_goes_on() -> None:
    """Raise RuntimeError if the clock of the wall does not go as the monotonic one does."""
    apart = []
    for _ in range(_CLOCK_LOOKS):
        apart.append(time.time() - time.monotonic())
        time.sleep(_CLOCK_PAUSE_S)
    if max(apart) - min(apart) > _MOST_DRIFT_S:
        raise RuntimeError(f"the clock jumps, by {max(apart) - min(apart):.0f} s within a moment")


@contextmanager
def _joined(address: str) -> Iterator[Any]:
    """Connect to a scheduler that runs elsewhere, and see that it has workers."""
    distributed = _distributed()
    # Asked first, for a client that cannot even try to connect takes long to go away.
    _check_address(address)
    # A scheduler that is lost is told of in our own words; Dask would add its tracebacks.
    for name in ("distributed", "distributed.client", "distributed.comm", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise GnomonError(f"{address}: no Dask scheduler answers: {reason}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_S)
        except TimeoutError:
            raise GnomonError(f"{address}: the scheduler has no workers") from None
        yield client


def _check_address(address: str) -> None:
    """Refuse what is no address, and one that needs certificates where there are none."""
    try:
        import_module("distributed.comm").get_address_host_port(address)
    except ValueError as error:
        raise GnomonError(
            f"{address}: expected the address of a Dask scheduler, tcp://HOST:PORT: {error}"
        ) from None
    security = _distributed().Security()
    if address.startswith("tls:") and not security.get_connection_args("client")["ssl_context"]:
        raise GnomonError(f"{address}: expected certificates in Dask's settings, found none")


def _distributed() -> Any:
    """Return the package, which is an extra and has no types."""
    try:
        return import_module("distributed")
    except ImportError:
        raise GnomonError("a cluster needs Dask: pip install 'gnomon-rl[dask]'") from None


class DaskExecutor:
    """Executor on the workers of a Dask cluster; outcomes come in the order in which they end.

    The work must be a function that the workers can import, and pieces and results must pickle. A
    batch whose worker died is done again piece by piece, so that each answers for itself. If the
    scheduler is lost, so is every piece that is not done. What a piece has started ends with it if
    the cluster ``owns_workers``, which then do nothing else, or there are limits.
    """

    def __init__(
        self,
        client: Any,
        *,
        limits: Limits = NO_LIMITS,
        prepare: Callable[[], None] | None = None,
        owns_workers: bool = False,
    ) -> None:
        self._client = client
        self._owns_workers = owns_workers
        self._limits = limits
        self._prepare = prepare

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`gnomon.execution.executor.Executor`."""
        n_workers = max(1, sum(self._client.nthreads().values()))
        waiting = deque(_batches(list(pieces), n_workers))
        # Dask blames every task that was on a worker when it died. Who is blamed is tried again
        # when nothing else is on its way, and answers for itself then.
        suspects: deque[Sequence[Piece]] = deque()
        flying: dict[Any, Sequence[Piece]] = {}
        completed = _distributed().as_completed(loop=self._client.loop)
        lost = False
        try:
            while waiting or flying or suspects:
                alone = not waiting and not flying
                source = suspects if alone else waiting
                try:
                    while source and len(flying) < (1 if alone else _BATCHES_AHEAD * n_workers):
                        future = self._submit(work, source[0])
                        flying[future] = source.popleft()
                        completed.add(future)
                    done = next(completed)
                except Exception:
                    # Dask has many ways to say so, and none else when it takes and gives tasks.
                    lost = True
                    break
                if done.status in ("lost", "pending"):
                    # It had ended, and its worker died before it was asked for what came of it:
                    # Dask does it again.
                    completed.add(done)
                    continue
                if done.status not in ("finished", "error"):
                    lost = True
                    break
                batch = flying.pop(done)
                if done.status == "error" and not alone:
                    suspects.extend([piece] for piece in batch)
                else:
                    yield from self._outcomes(done, batch)
                done.release()
            if lost:
                for batch in [*flying.values(), *waiting, *suspects]:
                    yield from (Outcome(piece, None, _LOST) for piece in batch)
        finally:
            if flying and not lost:
                self._client.cancel(list(flying))

    def _submit(self, work: Callable[[Piece], Result], batch: Sequence[Piece]) -> Any:
        # Not pure: each batch is a task of its own, however alike two are.
        how = (self._limits, self._prepare, self._owns_workers)
        return self._client.submit(_do, work, *how, batch, pure=False)

    def _outcomes(self, done: Any, batch: Sequence[Piece]) -> Iterator[Outcome[Piece, Result]]:
        """Yield what came of a batch, or of a piece by itself that did not come back."""
        if done.status == "finished":
            for piece, told in zip(batch, done.result(), strict=True):
                yield Outcome(piece, *told)
            return
        error = done.exception()
        name = type(error).__name__
        told = "the worker process died" if name == "KilledWorker" else f"{name}: {error}"
        for piece in batch:
            yield Outcome(piece, None, told)


def _batches(pieces: Sequence[Piece], n_workers: int) -> list[Sequence[Piece]]:
    """Cut a list into batches."""
    size = max(1, min(_MOST_PIECES, len(pieces) // (_BATCHES_A_WORKER * n_workers)))
    return [pieces[i : i + size] for i in range(0, len(pieces), size)]


def _do(
    work: Callable[[Piece], Result],
    limits: Limits,
    prepare: Callable[[], None] | None,
    owns_worker: bool,
    batch: Sequence[Piece],
) -> list[tuple[Result | None, str | None, str | None, float]]:
    """Do a batch, on a worker of the cluster."""
    executor = make_executor(1, limits=limits, prepare=prepare)
    ends_here = owns_worker and not limits
    if ends_here:
        become_root(os.environ.get(MARK) or uuid.uuid4().hex)
    told = []
    for done in executor.map(work, batch):
        if ends_here:
            end_descendants()
        told.append((done.result, done.error, done.traceback, done.time_s))
    return told
