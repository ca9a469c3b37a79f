"""What became of pieces of work: their results, or the first failure as an error of one line."""

from __future__ import annotations

from typing import Any, TypeVar

from gnomon.errors import ScoreDataError
from gnomon.execution.executor import Outcome

__all__ = ["result_of"]

Result = TypeVar("Result")
#: The data's own faults need no name of a class before them.
_OURS = ("ScoreDataError: ", "UnknownNameError: ")


def result_of(outcome: Outcome[Any, Result], what: str) -> Result:
    """Return the result of a piece of work.

    Parameters
    ----------
    outcome : Outcome
    what : str
        What the piece is, to begin the message.

    Raises
    ------
    ScoreDataError
        The piece failed.

    Examples
    --------
    >>> result_of(Outcome("fold 1", error="ScoreDataError: too few rows"), "a fold")
    Traceback (most recent call last):
        ...
    gnomon.errors.ScoreDataError: a fold failed: too few rows
    """
    if outcome.result is None:
        reason = outcome.error or "no result"
        for name in _OURS:
            reason = reason.removeprefix(name)
        raise ScoreDataError(f"{what} failed: {reason}")
    return outcome.result
