"""Pieces of work that an executor does: results as they come, the first failure as an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

from gnomon.errors import ScoreDataError
from gnomon.execution import Executor, SerialExecutor

#: Called with how much is done, and of how much; less done than before begins another search.
Progress: TypeAlias = Callable[[int, int], object]

Piece = TypeVar("Piece")
Result = TypeVar("Result")
#: The data's own faults need no name of a class before them.
_OURS = ("ScoreDataError: ", "UnknownNameError: ")


def completed(
    work: Callable[[Piece], Result],
    pieces: Iterable[Piece],
    what: str,
    executor: Executor | None = None,
) -> Iterator[tuple[Piece, Result]]:
    """Yield each piece of work with its result, in the order in which they are done.

    Parameters
    ----------
    work : function of a piece
    pieces : iterable
    what : str
        What a piece is, to begin the message if one fails.
    executor : Executor, optional
        Who does the work; this process if not given.

    Raises
    ------
    ScoreDataError
        A piece failed.

    Examples
    --------
    >>> list(completed(abs, [-1, 2], "a number"))
    [(-1, 1), (2, 2)]
    >>> list(completed(abs, ["one"], "a number"))
    Traceback (most recent call last):
        ...
    gnomon.errors.ScoreDataError: a number failed: TypeError: bad operand type for abs(): 'str'
    """
    for outcome in (executor or SerialExecutor()).map(work, pieces):
        if outcome.result is None:
            reason = outcome.error or "no result"
            for name in _OURS:
                reason = reason.removeprefix(name)
            raise ScoreDataError(f"{what} failed: {reason}")
        yield outcome.piece, outcome.result
