"""Scores of each task on the scale of that task's own runs, so that tasks can be averaged."""

from __future__ import annotations

import numpy as np

from gnomon.scores.table import FloatArray, ScoreTable

__all__ = ["scaled_by_task"]


def scaled_by_task(table: ScoreTable) -> ScoreTable:
    """Return scores from 0 (the worst run of anybody on the task) to 1 (the best).

    Where all are equal, all are 1/2. Censored runs stay infinite: there is no number for them, so
    the mean of some is not estimable, while quantiles may be. The scale depends on who is in the
    table: it serves to compare orders, not to publish.

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
        for name, runs in cells.items():
            scaled = _scaled(runs, finite)
            records += [
                {
                    "algorithm": name,
                    "task": task,
                    "run": run,
                    "score": float(score),
                    "censored": bool(np.isinf(score)),
                }
                for run, score in zip(table.run_labels(name, task), scaled, strict=True)
            ]
    note = "scaled task by task to the range of all runs"
    return ScoreTable.from_records(
        records, metric=table.metric, provenance=(*table.provenance, note)
    )


def _scaled(runs: FloatArray, finite: FloatArray) -> FloatArray:
    """Return runs on the scale of all finite ones, which may be one and the same, or none."""
    low, high = finite.min(initial=np.inf), finite.max(initial=-np.inf)
    if high > low:
        return np.asarray((runs - low) / (high - low))
    return np.where(np.isfinite(runs), 0.5, runs)
