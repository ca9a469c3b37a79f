"""What in a table of scores looks like a mistake of its maker: axes swapped, seeds as tasks."""

from __future__ import annotations

import re
import warnings

from gnomon.errors import DegenerateScoresWarning
from gnomon.scores.table import ScoreTable

__all__ = ["suspicions", "warn_of_suspicions"]

#: From how many times as many runs as tasks on, axes may have been swapped.
MANY = 50


def suspicions(table: ScoreTable) -> list[str]:
    """Return what was seen, one sentence each; nothing for most tables.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1.0, 2.0]]}, tasks=["seed_1", "seed_2"])
    >>> suspicions(table)
    ['the tasks look like seeds (seed_1, seed_2): were runs written into the column task?']
    """
    found = []
    names = table.tasks
    if len(names) > 1 and all(re.fullmatch(r"((seed|run)[\s_-]*)?\d+", t, re.I) for t in names):
        shown = ", ".join(names[:4])
        found.append(
            f"the tasks look like seeds ({shown}): were runs written into the column task?"
        )
    cells = table.last_step().to_polars().group_by("algorithm", "task").len()
    most = max(cells["len"].to_list(), default=0)
    if len(names) > 1 and most >= MANY * len(names):
        found.append(
            f"{most} runs on {len(names)} tasks: were the axes swapped, or do several "
            "episodes of one run stand as runs?"
        )
    nested = [name for name in table.attributes if name.lower() in ("episode", "episodes", "eval")]
    if nested:
        found.append(
            f"a column {nested[0]!r} beside run: episodes of one run are not independent runs; "
            "average them first"
        )
    return found


def warn_of_suspicions(table: ScoreTable) -> ScoreTable:
    """Return the table as it is, after a DegenerateScoresWarning for each suspicion."""
    for message in suspicions(table):
        warnings.warn(message, DegenerateScoresWarning, stacklevel=3)
    return table
