"""Work done by one thread beside the caller, in the order in which it is handed over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TypeVar

__all__ = ["beside"]

Piece = TypeVar("Piece")

#: Short pieces are done some at a time, which costs less than doing each as it comes: what a
#: processor does seldom is never in its caches. So a piece waits so many seconds for others.
_TOGETHER, _PATIENCE_S = 8, 0.1
#: Pieces that may wait; who hands over more waits for the thread.
_MOST_WAITING = 16
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
        ended = False
        while not ended:
            for piece in _some(waiting):
                ended = not piece
                if piece and not raised:
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


def _some(waiting: SimpleQueue[tuple[Piece, ...]]) -> list[tuple[Piece, ...]]:
    """Return what comes within a short while, or the end: an empty piece, and the last."""
    pieces = [waiting.get()]
    until = time.monotonic() + _PATIENCE_S
    while pieces[-1] and len(pieces) < _TOGETHER:
        try:
            pieces.append(waiting.get(timeout=max(0.0, until - time.monotonic())))
        except Empty:
            break
    return pieces
