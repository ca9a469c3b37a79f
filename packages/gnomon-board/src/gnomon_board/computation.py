"""Statistics and figures in short processes, forked from one that has loaded their libraries.

They take a tenth of a second to a minute of a processor, and memory, that the server needs to
answer requests. The process that forks them ends with the server.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from threading import Lock
from typing import Generic, TypeVar, TypeVarTuple

_Result = TypeVar("_Result")
_Given = TypeVarTuple("_Given")

#: A fork of the server itself, which has threads, may hang.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    [
        "gnomon_board.web.figures",
        "gnomon.ranking.ranks",
        "gnomon.stats.medians",
        "gohr.run_page.figures",
        "matplotlib.backends.backend_svg",
        "scipy.special",
    ]
)
_ONE = Lock()


class Computation(Generic[_Result]):
    """A function of a module that runs in a process of its own."""

    def __init__(self, function: Callable[[*_Given], _Result], *given: *_Given) -> None:
        self._answer, far_end = _PROCESSES.Pipe(duplex=False)
        work = (far_end, function, given)
        self._process = _PROCESSES.Process(target=_compute, args=work, daemon=True)
        self._process.start()
        far_end.close()

    def is_over(self, most_s: float = 0.0) -> bool:
        """Wait for the end, and return whether it came in this time."""
        return self._answer.poll(most_s)

    def result(self) -> _Result:
        """Wait for the result; raise EOFError if the process failed, which wrote why."""
        try:
            result: _Result = self._answer.recv()
            return result
        finally:
            self.stop()

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.join()
        self._answer.close()


def computed(function: Callable[[*_Given], _Result], *given: *_Given) -> _Result:
    """Return the result of a function that runs in another process, one at a time."""
    with _ONE:
        return Computation(function, *given).result()


def _compute(
    connection: Connection, function: Callable[..., object], given: tuple[object, ...]
) -> None:
    connection.send(function(*given))
    connection.close()
