"""What there is to choose from: tasks beside the forced ones, and sizes that fit."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.distill.prepared import check_tasks
from gnomon.errors import ScoreDataError

__all__ = ["free_tasks"]


def free_tasks(
    candidates: Sequence[str], known: Sequence[str], size: int, *, forced: Sequence[str] = ()
) -> list[str]:
    """Return the candidates that are not forced, if so many tasks can be chosen.

    Parameters
    ----------
    candidates : sequence of str
    known : sequence of str
        All tasks of the table, candidates or not.
    size : int
        Number of tasks, forced ones included.
    forced : sequence of str
        Tasks that every subset has.

    Raises
    ------
    ScoreDataError
        A task is forced twice, or the size does not fit.
    UnknownNameError
        A forced task is not in the table.

    Examples
    --------
    >>> free_tasks(["u", "v", "w"], ["u", "v", "w", "x"], 2, forced=["v"])
    ['u', 'w']
    """
    check_tasks(forced, known)
    twice = next((task for task in forced if list(forced).count(task) > 1), None)
    if twice is not None:
        raise ScoreDataError(f"expected each forced task once; {twice} is forced twice")
    free = [task for task in candidates if task not in set(forced)]
    n = len(forced)
    if not free:
        raise ScoreDataError("expected tasks to choose from, whose scores differ; there are none")
    if not n < size <= n + len(free):
        raise ScoreDataError(
            f"expected a size from {n + 1} to {n + len(free)}, found {size}: "
            f"{len(free)} tasks to choose from and {n} forced"
        )
    return free
