"""Scores of each task on the scale of that task's own runs, so that tasks can be averaged."""

from __future__ import annotations

import numpy as np

from gnomon.scores.table import FloatArray, ScoreTable

__all__ = ["scaled_by_task"]


def scaled_by_task(table: ScoreTable) -> ScoreTable:
    """Return scores from 0 (the worst run of anybody on the task) to 1 (the best).

    Censored runs are 0, as is the worst that is not; where all runs are equal, all are 1/2. The
    scale depends on who is in the table: it serves to compare orders, not to publish.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1.0]], "b": [[3.0]]}, higher_is_better=False)
    >>> [row["score"] for row in scaled_by_task(table).to_records()]
    [1.0, 0.0]
    """
    sign = 1.0 if table.higher_is_better else -1.0
    records = []
    for task in table.tasks:
        cells = {name: sign * table.runs(name, task) for name in table.algorithms}
        every = np.concatenate(list(cells.values()))
        finite = every[np.isfinite(every)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
        for name, runs in cells.items():
            scaled = _scaled(runs, low, high, all_alike=finite.size in (0, every.size))
            records += [
                {"algorithm": name, "task": task, "run": run, "score": float(score)}
                for run, score in zip(table.run_labels(name, task), scaled, strict=True)
            ]
    note = "scaled task by task to the range of all runs"
    return ScoreTable.from_records(
        records, metric=table.metric, provenance=(*table.provenance, note)
    )


def _scaled(runs: FloatArray, low: float, high: float, *, all_alike: bool) -> FloatArray:
    """Return runs on the scale from `low` to `high`, which may be one and the same."""
    if high > low:
        return np.asarray((np.clip(runs, low, high) - low) / (high - low))
    # Those who got there are all alike, and better than those who never did.
    return np.full(runs.shape, 0.5) if all_alike else np.isfinite(runs).astype(np.float64)
