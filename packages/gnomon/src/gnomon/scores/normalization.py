"""Scores on a common scale: explicit, and recorded in the table.

A linear normalisation maps two anchors of each task to 0 and 1. Afterwards higher is better, since
the anchor that maps to 1 is the better one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError, counted, listed, note, option
from gnomon.scores.anchors import SUITES, Anchors, anchors_of_suite, read_anchors
from gnomon.scores.columns import Rows
from gnomon.scores.table import ScoreTable

#: What :func:`normalize` knows by name.
NORMALIZATIONS = (
    "min-max", "random-human", "reference:ALGORITHM", "FILE", "none",
    "atari", "procgen-easy", "procgen-hard", "dmc", "minatar",
)  # fmt: skip
#: Raw scores below this share of the anchors, on half of the tasks, are on the scale already.
_SMALL = 0.01


@dataclass(frozen=True, eq=False)
class Normalization:
    """What was done to the scores of a table."""

    name: str
    anchors: Anchors
    higher_is_better: bool
    left_out: Rows | None = None


def normalize(
    table: ScoreTable, by: str | Mapping[str, tuple[float, float]], *, name: str | None = None
) -> ScoreTable:
    """Return the table on a common scale, on which higher is better.

    Parameters
    ----------
    table : ScoreTable
        Raw scores.
    by : str or mapping from task to (zero, one)
        * ``min-max``: the worst score of each task becomes 0 and the best 1. Another algorithm in
          the table changes all results.
        * ``reference:ALGORITHM``: the mean of an algorithm (of curves, at the last steps) becomes
          1, while a score of 0 remains 0.
        * ``atari`` (or ``random-human``), ``procgen-easy``, ``procgen-hard``, ``dmc``, ``minatar``:
          the published scores of a suite, however its tasks are written.
        * A CSV file with the columns ``task``, ``low`` and ``high``, or ``task``, ``random`` and
          ``human``.
        * ``none``: the scores stay, and those of all tasks are taken to share a unit.
        * A mapping: the two raw scores that become 0 and 1 for every task.
    name : str, optional
        What a mapping is called in the record; ``anchors`` if not given.

    Warns
    -----
    DegenerateScoresWarning
        Tasks without anchors in a suite or file are left out of means; ranks keep them
        (:func:`with_left_out`). Or the scores seem to be on the scale already.

    Raises
    ------
    UnknownNameError
        There is no such normalisation, or no such algorithm.
    ScoreDataError
        A task has no anchors, or the second is not better than the first; or the table is
        normalised already.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[1.0], [2.0], [5.0]]}, tasks=["pong"])
    >>> normalize(table, "min-max").runs("dqn", "pong")
    array([0.  , 0.25, 1.  ])
    >>> normalize(table, {"pong": (0.0, 4.0)}).runs("dqn", "pong")
    array([0.25, 0.5 , 1.25])
    """
    if table.normalization is not None:
        raise ScoreDataError(f"the scores are normalised already ({table.normalization.name})")
    if not isinstance(by, str):
        return _linear(table, by, name or "anchors")
    if by == "none":
        return replace(table, unit=table.unit or "points")
    kind, _, algorithm = by.partition(":")
    if kind == "reference" and algorithm:
        last = table.last_step()
        scores = {task: last.runs(algorithm, task) for task in table.tasks}
        ends = {task: (0.0, float(x.mean()) if x.size else np.nan) for task, x in scores.items()}
        return _linear(table, ends, f"reference {algorithm}")
    if by == "min-max":
        if table.of_summaries:
            raise ScoreDataError(
                f"{option(normalize=by)} needs runs, and these are summaries; "
                f"{option(normalize='limits.csv')}, a file with columns task, low, high, needs none"
            )
        return _linear(table, _extremes(table), by)
    if by in ("random-human", *SUITES):
        suite = "atari" if by == "random-human" else by
        return _by_known_anchors(table, anchors_of_suite(suite, table), by)
    if by.lower().endswith((".csv", ".tsv")):
        return _by_known_anchors(table, read_anchors(Path(by), table), Path(by).name)
    raise UnknownNameError("normalization", by, NORMALIZATIONS)


def with_left_out(table: ScoreTable) -> ScoreTable:
    """Return a table with the raw scores of the tasks that normalising left out, for ranks alone.

    Within each task higher is better, as on all others; between tasks scores do not compare.
    """
    record = table.normalization
    if record is None or record.left_out is None:
        return table
    rows = record.left_out.take(record.left_out["algorithm"].isin(table.algorithms))
    if not record.higher_is_better:
        rows = rows.with_columns({"score": -rows["score"]})
    return replace(table, rows=Rows.joined([table.rows, rows.only(*table.rows.names)]))


def _by_known_anchors(table: ScoreTable, anchors: Anchors, name: str) -> ScoreTable:
    """Return the table of the tasks that have anchors, normalised; name those that have none."""
    if not anchors:
        shown = listed(table.tasks, 6)
        raise ScoreDataError(f"{name}: no scores to normalise any task by; tasks are {shown}")
    unknown = [task for task in table.tasks if task not in anchors]
    kept = table.select(tasks=list(anchors)) if unknown else table
    scaled = _linear(kept, anchors, name)
    _warn_of_scaled(kept, anchors, name)
    if not unknown:
        return scaled
    note(
        f"{name}: {len(unknown)} of {len(table.tasks)} tasks left out of means, without "
        f"baselines: {listed(unknown)}; ranks keep them"
    )
    assert scaled.normalization is not None
    left_out = table.rows.take(table.rows["task"].isin(unknown))
    return replace(scaled, normalization=replace(scaled.normalization, left_out=left_out))


def _warn_of_scaled(table: ScoreTable, anchors: Anchors, name: str) -> None:
    """Warn where the scores of most tasks are far below the anchors, as normalised ones are."""
    shares = {}
    for task, rows in table.rows_of_task.items():
        finite = np.abs(table.rows["score"][rows])
        most = float(finite[np.isfinite(finite)].max(initial=0.0))
        shares[task] = most / max(map(abs, anchors[task])), most
    share, most, task = sorted((*found, task) for task, found in shares.items())[len(shares) // 2]
    if 0.0 < share < _SMALL:
        note(
            f"{name}: the scores seem to be normalised already (up to {most:.3g} on {task}, where "
            f"{anchors[task][1]:g} becomes 1)"
        )


def _linear(table: ScoreTable, anchors: Mapping[str, tuple[float, float]], name: str) -> ScoreTable:
    """Return the table with ``(score - zero) / (one - zero)`` in the place of each score."""
    used = {}
    scores = table.rows["score"].copy()
    for task, rows in table.rows_of_task.items():
        if task not in anchors:
            raise ScoreDataError(f"{name}: no scores to normalise task {task!r} by")
        zero, one = map(float, anchors[task])
        if not (np.isfinite([zero, one]).all() and zero != one):
            raise ScoreDataError(
                f"{name}: task {task!r}: expected two different finite scores for 0 and 1, "
                f"found {zero:g} and {one:g}"
            )
        if (one > zero) != table.higher_is_better:
            good = "higher" if table.higher_is_better else "lower"
            raise ScoreDataError(
                f"{name}: task {task!r}: expected the better score for 1, where {good} is better; "
                f"found {zero:g} for 0 and {one:g} for 1"
            )
        used[task] = (zero, one)
        # Adding zero makes -0.0 a plain 0.0.
        scores[rows] = (scores[rows] - zero) / (one - zero) + 0.0
    return replace(
        table,
        rows=table.rows.with_columns({"score": scores}),
        higher_is_better=True,
        normalization=Normalization(name, used, table.higher_is_better),
        provenance=(*table.provenance, name),
    )


def _extremes(table: ScoreTable) -> Anchors:
    """Return the worst and the best finite score of each task."""
    found, only_ends = {}, []
    for task, rows in table.rows_of_task.items():
        scores = table.effective_scores[rows]
        finite = scores[np.isfinite(scores)]
        if not finite.size:
            raise ScoreDataError(f"min-max: task {task!r} has no finite score")
        ends = float(finite.min()), float(finite.max())
        found[task] = ends if table.higher_is_better else ends[::-1]
        if ends[0] < ends[1] and ends != (0.0, 1.0) and np.isin(finite, ends).all():
            only_ends.append(task)
    if only_ends:
        note(
            f"min-max: on {len(only_ends)} of {counted(len(found), 'task')} every score becomes 0 "
            f"or 1, which hides how far apart they were ({listed(only_ends)})"
        )
    return found
