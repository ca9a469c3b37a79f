"""Checks of the tasks where they are a sample too: for a statement about tasks like these.

The interval itself is :func:`gnomon.stats.intervals.expanded`. No interval of a mean holds for all
distributions (Bahadur and Savage 1956): a table that lacks the rare task with a giant score does
not show that it lacks it.
"""

from __future__ import annotations

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

#: With fewer tasks their spread is hardly known.
LEAST_TASKS = 6
#: A task so many interquartile ranges away from the median makes means doubtful.
FAR = 3.0


def check_tasks(n_tasks: int) -> None:
    """Refuse a statement about tasks not tried if too few were.

    Raises
    ------
    ScoreDataError
        There are fewer than :data:`LEAST_TASKS`.
    """
    if n_tasks < LEAST_TASKS:
        raise ScoreDataError(
            f"runs_and_tasks: expected {LEAST_TASKS} tasks or more, to speak of tasks not tried; "
            f"found {n_tasks}; resampling runs speaks of these tasks alone"
        )


def farthest_task(means: FloatArray) -> tuple[int, float]:
    """Return the task farthest from the median of all, and how many interquartile ranges away.

    Infinite where the middle half of the tasks are equal and this one is not.

    Examples
    --------
    >>> farthest_task(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 40.0]))
    (5, 14.6)
    """
    low, middle, high = np.quantile(means, [0.25, 0.5, 0.75])
    distances = np.abs(means - middle)
    place = int(np.argmax(distances))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.nan_to_num(distances[place] / (high - low), nan=0.0, posinf=np.inf)
    return place, float(far)
