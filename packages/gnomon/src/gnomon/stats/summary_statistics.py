"""Estimates from means, standard deviations and numbers of runs alone, as papers print them.

Mean and median over tasks, their small-sample intervals and tests depend on nothing else of the
runs: so any runs with these means and deviations may stand in for those that were not printed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.readers.summaries import SummaryTable
from gnomon.scores.table import FloatArray, ScoreTable

#: What can be estimated without the runs, by the method ``auto``.
SUMMARY_METRICS = ("mean", "median")


def stand_in_runs(summaries: SummaryTable, *, higher_is_better: bool = True) -> ScoreTable:
    """Return runs that have the means and standard deviations of a table of summaries.

    They serve :data:`SUMMARY_METRICS` and linear normalisation;
    other results describe runs that do not exist.

    Parameters
    ----------
    summaries : SummaryTable
        The deviations are those of a sample (divided by runs minus one).
    higher_is_better : bool
        Direction of the scores.

    Examples
    --------
    >>> one = np.array([[4.0, 7.0]])
    >>> table = stand_in_runs(SummaryTable(("a",), ("t", "u"), one, one / 2, np.array([[3, 2]])))
    >>> table.runs("a", "t"), table.runs("a", "u").std(ddof=1).round(9)
    (array([2., 4., 6.]), np.float64(3.5))
    """
    records = [
        {"algorithm": algorithm, "task": task, "run": f"{j}-{run}", "score": float(score)}
        for i, algorithm in enumerate(summaries.algorithms)
        for j, task in enumerate(summaries.tasks)
        for run, score in enumerate(
            summaries.mean[i, j] + _spread(summaries.deviation[i, j], int(summaries.n_runs[i, j]))
        )
    ]
    return ScoreTable.from_records(
        records, higher_is_better=higher_is_better, provenance=["runs that stand in for summaries"]
    )


def _spread(deviation: float, n_runs: int) -> FloatArray:
    """Return that many evenly spaced numbers of mean 0 and that standard deviation."""
    if n_runs == 1:
        return np.zeros(1)
    places = np.linspace(-1.0, 1.0, n_runs)
    return np.asarray(deviation * places / places.std(ddof=1))


def summary_metrics(wanted: Sequence[str] | None) -> Sequence[str]:
    """Return the metrics wanted, by default all that need no runs; refuse others."""
    for name in wanted or ():
        if name not in SUMMARY_METRICS:
            raise ScoreDataError(
                f"{name}: expected a metric that means and standard deviations decide "
                f"({', '.join(SUMMARY_METRICS)}); this one needs the runs"
            )
    return wanted or SUMMARY_METRICS
