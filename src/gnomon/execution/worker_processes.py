"""Worker processes that do independent pieces of work, under limits of time and memory.

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
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Generic

from gnomon._io.process_tree import become_root, end_descendants, end_tree, tree_memory_mb
from gnomon.execution.executor import (
    NO_LIMITS,
    Executor,
    Limits,
    Outcome,
    Piece,
    Result,
    SerialExecutor,
    attempt,
    in_one_line,
)
from gnomon.execution.interrupts import processes_undisturbed

#: Pieces that a worker has at a time: one in hand, one to go on with while its result travels.
_PIECES_AHEAD = 2
#: What is said when there is nothing to say: "I am ready" one way, "that was all" the other.
_NOTHING = ()
#: Seconds between looks at the memory of the workers; what is taken meanwhile is not noticed. On a
#: machine with so many processes that a look takes long, there are fewer.
_MEMORY_LOOK_S, _LOOKING_SHARE = 0.05, 0.1
#: Starts that may fail in a row besides the first one of each worker, and seconds before the first
#: of them; there are twice as many before the second, and so on.
_STARTS_AGAIN, _START_PAUSE_S = 4, 0.5


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


class ProcessExecutor:
    """Executor on ``n_workers`` processes; outcomes come in the order in which they end.

    The processes are fresh interpreters (spawned, not forked), since compiled threads do not live
    through a fork. So the work must be a function that they can import, pieces and results must
    pickle, and a script that calls this needs ``if __name__ == "__main__":``.

    A piece that passes a limit is given up and its process ended; another takes the place. What a
    piece has started ends with it, and all of it with this process.

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
        self._look_s = _MEMORY_LOOK_S
        if limits.memory_mb is not None:
            tree_memory_mb(os.getpid())

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`gnomon.execution.executor.Executor`.

        A piece whose process dies has an error that says so. A process that dies while it starts is
        started again, some times; if none starts, that is the error of every piece that is left.
        """
        waiting = deque(pieces)
        workers: list[_Worker[Piece, Result]] = []
        refusals: list[str] = []  # why the last starts failed
        try:
            while waiting or any(worker.pieces for worker in workers):
                workers += self._started(work, waiting, workers, refusals)
                if not workers and self._is_tired(refusals):
                    yield from (Outcome(piece, None, refusals[-1]) for piece in waiting)
                    return
                for worker in workers:
                    worker.feed(waiting)
                yield from self._heard(workers, waiting, refusals)
            for worker in workers:
                worker.retire()
        finally:
            for worker in workers:
                worker.end()

    def _started(
        self,
        work: Callable[[Piece], Result],
        waiting: deque[Piece],
        workers: list[_Worker[Piece, Result]],
        refusals: list[str],
    ) -> Iterator[_Worker[Piece, Result]]:
        """Start the workers that lack; after a failure one at a time, until too many have failed.

        A start fails for want of memory or processes, of which there may be more a moment later.
        """
        lacking = min(self.n_workers - len(workers), len(waiting))
        if refusals and lacking:
            some_start = any(not worker.started for worker in workers)
            lacking = 0 if some_start or self._is_tired(refusals) else 1
            time.sleep(lacking * _START_PAUSE_S * max(0, len(refusals) - self.n_workers))
        for _ in range(lacking):
            try:
                yield _Worker(work, self.prepare)
            except OSError as error:
                refusals.append(f"a worker process did not start ({error.strerror or error})")
                return

    def _is_tired(self, refusals: Sequence[str]) -> bool:
        """Return whether no more starts are tried."""
        return len(refusals) >= self.n_workers + _STARTS_AGAIN

    def _heard(
        self,
        workers: list[_Worker[Piece, Result]],
        waiting: deque[Piece],
        refusals: list[str],
    ) -> Iterator[Outcome[Piece, Result]]:
        """Wait for what the workers say, and see to those that are dead or past a limit."""
        ready = wait([worker.connection for worker in workers], self._patience(workers))
        held = self._memory(workers)
        for worker, held_mb in zip(list(workers), held, strict=True):
            had_started = worker.started
            if worker.connection in ready:
                outcome = worker.receive()
            else:
                outcome = worker.judge(self.limits, held_mb)
            if worker.dead:
                workers.remove(worker)
                waiting.extendleft(reversed(worker.pieces))
            if worker.refusal is not None:
                refusals.append(worker.refusal)
            elif worker.started and not had_started:
                refusals.clear()
            if outcome is not None:
                yield outcome

    def _memory(self, workers: list[_Worker[Piece, Result]]) -> list[float]:
        """Return the memory of each worker in MB, if that is limited."""
        if self.limits.memory_mb is None:
            return [0.0] * len(workers)
        began = time.monotonic()
        held = tree_memory_mb(*(worker.pid for worker in workers))
        self._look_s = max(_MEMORY_LOOK_S, (time.monotonic() - began) / _LOOKING_SHARE)
        return held

    def _patience(self, workers: list[_Worker[Piece, Result]]) -> float | None:
        """Return for how many seconds there is nothing to judge."""
        if not workers:
            return 0.0
        if self.limits.memory_mb is not None:
            return self._look_s
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
        self._mark = uuid.uuid4().hex
        self.process = context.Process(
            target=_serve, args=(work, prepare, theirs, self._mark), daemon=True
        )
        try:
            with processes_undisturbed():
                self.process.start()
        except BaseException:
            self.connection.close()
            raise
        finally:
            theirs.close()
        self.pid = self.process.pid or -1
        self.pieces: deque[Piece] = deque()
        self.started = False
        self.dead = False
        #: Why it did not start, if so.
        self.refusal: str | None = None
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
        if not self.started:
            return self._death(said)
        return Outcome(self.pieces.popleft(), *said)

    def judge(self, limits: Limits, held_mb: float) -> Outcome[Piece, Result] | None:
        """End the process and return the failure of its piece, if that has passed a limit."""
        if self.began is None:
            return None
        if time.monotonic() - self.began >= (limits.time_s or math.inf):
            error = f"TimeLimit: not done after {limits.time_s:g} s"
        elif limits.memory_mb is not None and held_mb > limits.memory_mb:
            error = f"MemoryLimit: more than {limits.memory_mb} MB"
        else:
            return None
        if self.connection.poll():
            return None  # It has just been done.
        self.end()
        return Outcome(self.pieces.popleft(), None, error)

    def _death(self, reason: str = "") -> Outcome[Piece, Result] | None:
        """Return the failure of the piece in hand, if there was one."""
        self.process.join(timeout=1)  # one that has only closed its pipe is ended
        self.end()
        code = self.process.exitcode or 0
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        if not self.started:
            self.refusal = f"a worker process did not start ({reason or how})"
            return None
        if not self.pieces:
            return None
        return Outcome(self.pieces.popleft(), None, f"the worker process died ({how})")

    def retire(self) -> None:
        """Let the process end by itself."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(_NOTHING)
        self.process.join(timeout=5)

    def end(self) -> None:
        """End the process, whatever it is doing, and what it has started."""
        if self.dead:
            return
        self.dead = True
        end_tree(self.pid, self._mark)
        self.process.kill()
        self.process.join()
        self.connection.close()


def _serve(
    work: Callable[[Piece], Result],
    prepare: Callable[[], None] | None,
    connection: Connection,
    mark: str,
) -> None:
    """Do what comes through the pipe, until told to stop or until the other end is gone."""
    become_root(mark)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if prepare is not None:
        try:
            prepare()
        except (Exception, SystemExit) as error:
            connection.send(in_one_line(error))
            return
    connection.send(_NOTHING)
    while True:
        try:
            heard: tuple[Piece, ...] = connection.recv()
        except EOFError:
            return
        if heard == _NOTHING:
            return
        done = attempt(work, heard[0])
        end_descendants()
        try:
            connection.send((done.result, done.error, done.traceback, done.time_s))
        except (BrokenPipeError, ConnectionResetError):
            return
        except Exception as error:
            connection.send((None, f"the result does not pickle: {error}"))


def _end_with_parent() -> None:
    """End this process and what it has started once its parent has died, however it did."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        end_descendants()
        os._exit(1)
