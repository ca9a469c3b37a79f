"""Units of a table at the verbs: tasks on which runs are repeated, or items of an evaluation."""

from __future__ import annotations

from dataclasses import replace

from gnomon.errors import ScoreDataError
from gnomon.scores.table import ScoreTable, Units


def counted_as(scores: ScoreTable, units: Units | None, cluster: str | None) -> ScoreTable:
    """Return a table in other units or clusters, or as it is where none are asked for.

    Raises
    ------
    ScoreDataError
        Tasks are said to have clusters, there is no such column, or an item has two clusters.

    Examples
    --------
    >>> counted_as(ScoreTable.from_arrays({"a": [[1, 0]]}), "items", None).units
    'items'
    """
    if units is None and cluster is None:
        return scores
    kept = scores.cluster if cluster is None and units != "tasks" else cluster
    return replace(scores, units=units or scores.units, cluster=kept)


def expect_items(**asked: str | None) -> None:
    """Refuse what only items have, by the names of the parameters that ask for it.

    Raises
    ------
    ScoreDataError
        One is asked for.

    Examples
    --------
    >>> expect_items(sequential="e")
    Traceback (most recent call last):
    gnomon.errors.ScoreDataError: sequential is for items, found tasks; if the tasks of this table \
are items that models share, say units='items'
    """
    for name, value in asked.items():
        if value is not None:
            raise ScoreDataError(
                f"{name} is for items, found tasks; if the tasks of this table are items that "
                "models share, say units='items'"
            )


def refuse_unlike(**asked: bool) -> None:
    """Refuse what items have not, by the names of the parameters that ask for it.

    Raises
    ------
    ScoreDataError
        One is asked for.

    Examples
    --------
    >>> refuse_unlike(per_task=True)
    Traceback (most recent call last):
    gnomon.errors.ScoreDataError: per_task is for tasks and not here, where a task is an item of \
an evaluation
    """
    for name, is_asked in asked.items():
        if is_asked:
            raise ScoreDataError(
                f"{name} is for tasks and not here, where a task is an item of an evaluation"
            )
