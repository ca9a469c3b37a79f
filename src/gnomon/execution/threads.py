"""Independent pieces of compiled work on the threads of this process, their results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Piece], Result], pieces: Iterable[Piece], n_threads: int
) -> Iterator[Result]:
    """Yield the result of each piece, in the order of the pieces.

    No more are begun than there are threads before the first is taken, so that few results are in
    memory together. Threads help where the work releases the interpreter, as compiled kernels do.
    """
    if n_threads == 1:
        yield from map(work, pieces)
        return
    left = iter(pieces)
    with ThreadPoolExecutor(n_threads) as threads:
        begun: deque[Future[Result]] = deque(
            threads.submit(work, piece) for piece in islice(left, n_threads)
        )
        while begun:
            result = begun.popleft().result()
            begun.extend(threads.submit(work, piece) for piece in islice(left, 1))
            yield result
