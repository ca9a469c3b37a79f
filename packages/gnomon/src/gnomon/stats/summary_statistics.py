"""Estimates from means, standard deviations and numbers of runs alone, as papers print them.

Mean and median over tasks, their small-sample intervals and tests depend on nothing else of the
runs: so any runs with these means and deviations may stand in for those that were not printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gnomon.errors import ScoreDataError, note, option
from gnomon.scores.checks import STAND_INS
from gnomon.scores.readers.summaries import (
    SummaryTable,
    holds_summaries,
    of_standard_errors,
    read_summaries,
)
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.metrics import Metrics, metric_list

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
    return ScoreTable(records, higher_is_better=higher_is_better, provenance=[STAND_INS])


def _spread(deviation: float, n_runs: int) -> FloatArray:
    """Return that many evenly spaced numbers of mean 0 and that standard deviation."""
    if n_runs == 1:
        return np.zeros(1)
    places = np.linspace(-1.0, 1.0, n_runs)
    return np.asarray(deviation * places / places.std(ddof=1))


def scores_or_stand_ins(
    scores: Scores | SummaryTable,
    metrics: Metrics | None,
    needs_runs: Mapping[str, object],
    *,
    per_task: bool = False,
    higher_is_better: bool = True,
) -> tuple[ScoreTable, Metrics | None]:
    """Return scores and metrics as they are; of summaries, stand-in runs and what these decide.

    Summaries are a :class:`~gnomon.scores.SummaryTable`, a file of means and standard deviations,
    or raw single scores with standard errors. They decide the mean of a task, and of several tasks
    the median of means too. `needs_runs` maps arguments that they do not allow to their values.
    """
    if not isinstance(scores, SummaryTable) and holds_summaries(scores):
        scores = read_summaries(scores)
    is_set = next((name for name, value in needs_runs.items() if value), None)
    known = SUMMARY_METRICS[:1] if per_task else SUMMARY_METRICS
    names = metric_list(metrics or known)
    other = next((name for name in names if name not in known), None)
    if isinstance(scores, SummaryTable):
        if is_set:
            remedy = ""
            if is_set == "normalize":
                remedy = f"; {option(normalize='limits.csv')}, a file with columns task, low, high"
                remedy += ", needs none"
            given = option(**{is_set: needs_runs[is_set]})
            raise ScoreDataError(f"{given} needs runs, and these are summaries{remedy}")
        if other is not None:
            raise ScoreDataError(
                f"{getattr(other, 'name', other)}: expected a metric that means and standard "
                f"deviations suffice for ({', '.join(known)}); this one needs the runs"
            )
        return stand_in_runs(scores, higher_is_better=higher_is_better), names
    table = table_of(scores)
    found = of_standard_errors(table)
    if found is None or is_set or other is not None:
        return table, metrics
    note(
        "intervals come from the standard errors of the source: they are of other items of the "
        "same kind, not of other runs, and n_runs counts items"
    )
    runs = stand_in_runs(found, higher_is_better=table.higher_is_better)
    return replace(runs, metric=table.metric, unit=table.unit), names
