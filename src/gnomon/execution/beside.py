"""Work done by one thread beside the caller, in the order in which it is handed over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

__all__ = ["beside"]

Piece = TypeVar("Piece")

#: Pieces that may wait; who hands over more waits for the thread. What waits is lost with the
#: process, so it is one: beside it one is being done, and the caller makes the next.
_MOST_WAITING = 1
_PAUSE_S = 0.001


@contextmanager
def beside(work: Callable[[Piece], object]) -> Iterator[Callable[[Piece], None]]:
    """Yield a function that hands pieces over to a thread, which does them one after another.

    At the end all that was handed over is done, also when an exception or Ctrl-C ends the block:
    ``KeyboardInterrupt`` is raised in the main thread alone, so it never cuts a piece in two.

    Parameters
    ----------
    work : callable
        Does a piece. If it raises, the pieces after that are left undone.

    Raises
    ------
    Exception
        What ``work`` raised, when the next piece is handed over, or at the end.

    Examples
    --------
    >>> done = []
    >>> with beside(done.append) as hand_over:
    ...     for piece in "abc":
    ...         hand_over(piece)
    >>> done
    ['a', 'b', 'c']
    """
    # A queue in C: unlike queue.Queue it has no lock that Ctrl-C could leave closed.
    waiting: SimpleQueue[tuple[Piece, ...]] = SimpleQueue()
    raised: list[Exception] = []

    def serve() -> None:
        while piece := waiting.get():
            if not raised:
                try:
                    work(*piece)
                except Exception as error:
                    raised.append(error)

    def hand_over(piece: Piece) -> None:
        while waiting.qsize() >= _MOST_WAITING:
            time.sleep(_PAUSE_S)
        if raised:
            raise raised[0]
        waiting.put((piece,))

    # A daemon, so that a second Ctrl-C need not wait for it.
    thread = threading.Thread(target=serve, name="beside", daemon=True)
    thread.start()
    try:
        yield hand_over
    finally:
        waiting.put(())
        thread.join()
    if raised:
        raise raised[0]
