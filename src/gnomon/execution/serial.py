"""Work done in this process, one piece after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from gnomon.execution.executor import Outcome, attempt

__all__ = ["SerialExecutor"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class SerialExecutor:
    """Does each piece when its outcome is asked for, in the order given."""

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield the outcome of each piece; see :class:`gnomon.execution.executor.Executor`."""
        for piece in pieces:
            yield attempt(work, piece)
