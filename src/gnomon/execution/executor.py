"""What an executor is: it does pieces of work, and hands back what came of each."""

from __future__ import annotations

import math
import re
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

__all__ = ["NO_LIMITS", "Executor", "Limits", "Outcome", "attempt", "make_executor"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Piece, Result]):
    """What came of one piece of work: a result, or an error in words.

    Parameters
    ----------
    piece : object
        The piece that was done.
    result : object, optional
        What the work returned.
    error : str, optional
        One line, ``"ValueError: ..."``, if the work raised or its process died; else None.
    traceback : str, optional
        Where it was raised, as Python prints it.
    time_s : float
        Seconds that the work took; infinite if it did not come to a result.
    """

    piece: Piece
    result: Result | None = None
    error: str | None = None
    traceback: str | None = None
    time_s: float = math.inf


class Executor(Protocol):
    """Does pieces of work, in whatever order, and yields each outcome as it comes."""

    def map(
        self, work: Callable[[Piece], Result], pieces: Iterable[Piece]
    ) -> Iterator[Outcome[Piece, Result]]:
        """Yield one outcome for each piece; a piece that raises does not stop the others.

        The work stops when the iterator is closed, or when ``KeyboardInterrupt`` passes through it.
        """


def attempt(work: Callable[[Piece], Result], piece: Piece) -> Outcome[Piece, Result]:
    """Do one piece of work, here and now.

    Examples
    --------
    >>> attempt(abs, -3).result
    3
    >>> attempt(abs, "three").error
    "TypeError: bad operand type for abs(): 'str'"
    """
    began = time.perf_counter()
    try:
        return Outcome(piece, work(piece), time_s=time.perf_counter() - began)
    except (Exception, SystemExit) as error:  # work that calls exit() ends itself, not the rest
        return Outcome(piece, None, _in_one_line(error), traceback.format_exc())


def _in_one_line(error: BaseException) -> str:
    """Return the kind of an error and the first line of what it says, without colours."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    first = plain.splitlines()[0] if plain else ""
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


@dataclass(frozen=True, slots=True)
class Limits:
    """What a piece may cost before it is given up; None sets no limit.

    Parameters
    ----------
    time_s : float, optional
        Seconds that a piece may take, above 0.
    memory_mb : int, optional
        Megabytes (of a million bytes) that the process which does the piece may hold in memory.
    """

    time_s: float | None = None
    memory_mb: int | None = None

    def __bool__(self) -> bool:
        return self != Limits()


NO_LIMITS = Limits()


def make_executor(
    n_workers: int = 1,
    *,
    limits: Limits = NO_LIMITS,
    prepare: Callable[[], None] | None = None,
) -> Executor:
    """Return an executor for so many workers: this process for one, else processes of their own.

    Parameters
    ----------
    n_workers : int
        At least 1.
    limits : Limits
        With limits, one worker too is a process of its own, so that it can be ended.
    prepare : callable, optional
        Is called once in each such process before its first piece, off the clock.

    Raises
    ------
    ValueError
        If there would be no worker.

    Examples
    --------
    >>> [outcome.result for outcome in make_executor(1).map(abs, [-1, 2])]
    [1, 2]
    """
    from gnomon.execution.processes import ProcessExecutor
    from gnomon.execution.serial import SerialExecutor

    if n_workers < 1:
        raise ValueError(f"expected at least 1 worker, found {n_workers}")
    if n_workers == 1 and not limits:
        return SerialExecutor()
    return ProcessExecutor(n_workers, limits=limits, prepare=prepare)
