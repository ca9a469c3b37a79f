"""Pieces of work that an executor does: results as they come, the first failure as an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, as_completed
from functools import partial
from typing import TypeAlias, TypeVar

from gnomon.errors import GnomonError, ScoreDataError

#: Called with how much is done, and of how much; less done than before begins another search.
Progress: TypeAlias = Callable[[int, int], object]

Piece = TypeVar("Piece")
Result = TypeVar("Result")


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
    executor : concurrent.futures.Executor, optional
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
    for piece, result in _started(work, pieces, executor):
        try:
            found = result()
        except GnomonError as error:
            raise ScoreDataError(f"{what} failed: {error}") from error
        except Exception as error:
            raise ScoreDataError(f"{what} failed: {type(error).__name__}: {error}") from error
        yield piece, found


def _started(
    work: Callable[[Piece], Result], pieces: Iterable[Piece], executor: Executor | None
) -> Iterator[tuple[Piece, Callable[[], Result]]]:
    """Yield each piece with the call that returns its result."""
    if executor is None:
        yield from ((piece, partial(work, piece)) for piece in pieces)
        return
    started = {executor.submit(work, piece): piece for piece in pieces}
    try:
        yield from ((started[done], done.result) for done in as_completed(started))
    finally:
        for one in started:
            one.cancel()
