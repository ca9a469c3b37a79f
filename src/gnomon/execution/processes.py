"""Work done by several processes of this machine.

Not ``concurrent.futures``: there, the death of one worker takes all pending work with it. Here it
costs the piece in hand, which is reported as failed, and another worker takes the place.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from gnomon.execution.executor import Outcome, attempt

__all__ = ["ProcessExecutor"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")

#: Pieces that a worker has at a time: one in hand, one to go on with while its result travels.
_PIECES_AHEAD = 2
#: What is said when there is nothing to say: "I am ready" one way, "that was all" the other.
_NOTHING = ()


class ProcessExecutor:
    """Does pieces on ``n_workers`` processes; the outcomes come in the order in which they end.

    The processes are fresh interpreters (spawned, not forked), since compiled threads do not live
    through a fork. So the work must be a function that they can import, pieces and results must
    pickle, and a script that calls this needs ``if __name__ == "__main__":``.

    Parameters
    ----------
    n_workers : int
        Number of processes, at least 1.
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`gnomon.execution.executor.Executor`.

        A piece whose process dies has an error that says so.

        Raises
        ------
        RuntimeError
            If a process cannot even start, for example because it cannot import the work.
        """
        waiting = deque(pieces)
        workers: list[_Worker[Piece, Result]] = []
        try:
            for _ in range(min(self.n_workers, len(waiting))):
                workers.append(_Worker(work))
            while sum(worker.feed(waiting) for worker in workers):
                ready = wait([worker.connection for worker in workers])
                for worker in [w for w in workers if w.connection in ready]:
                    outcome = worker.receive()
                    if worker.dead:
                        workers.remove(worker)
                        waiting.extendleft(reversed(worker.pieces))
                        if waiting:
                            workers.append(_Worker(work))
                    if outcome is not None:
                        yield outcome
            for worker in workers:
                worker.retire()
        finally:
            for worker in workers:
                worker.end()


class _Worker(Generic[Piece, Result]):
    """A process, the pipe to it, and the pieces that it has been given."""

    def __init__(self, work: Callable[[Piece], Result]) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(work, theirs), daemon=True)
        with _interrupts_held():
            self.process.start()
        theirs.close()
        self.pieces: deque[Piece] = deque()
        self.started = False
        self.dead = False

    def feed(self, waiting: deque[Piece]) -> int:
        """Hand over as many pieces as the worker may have; return how many it has."""
        while waiting and len(self.pieces) < _PIECES_AHEAD:
            self.pieces.append(waiting.popleft())
            # A dead worker is found out when it is listened to.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.connection.send((self.pieces[-1],))
        return len(self.pieces)

    def receive(self) -> Outcome[Piece, Result] | None:
        """Return what the worker says: an outcome, or nothing if it says that it is ready."""
        try:
            said: Any = self.connection.recv()
        except (EOFError, ConnectionResetError):
            return self._death()
        if said == _NOTHING:
            self.started = True
            return None
        result, error, trace = said
        return Outcome(self.pieces.popleft(), result, error, trace)

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


def _serve(work: Callable[[Piece], Result], connection: Connection) -> None:
    """Do what comes through the pipe, until told to stop or until the other end is gone."""
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
            connection.send((done.result, done.error, done.traceback))
        except (BrokenPipeError, ConnectionResetError):
            return
        except Exception as error:
            connection.send((None, f"the result does not pickle: {error}", None))


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start a process in here and Ctrl-C will never reach it: it inherits the blocked signal."""
    # Starting this helper of multiprocessing unblocks the signal, so it comes first.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
