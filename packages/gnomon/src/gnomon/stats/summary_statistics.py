"""What means, standard deviations and numbers of runs decide, without the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gnomon.errors import ScoreDataError, note, option
from gnomon.scores.readers.summaries import of_standard_errors
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import ScoreTable
from gnomon.stats.metrics import Metrics, metric_list

#: What can be estimated without the runs, by the method ``auto``.
SUMMARY_METRICS = ("mean", "median")


def scores_or_stand_ins(
    scores: Scores,
    metrics: Metrics | None,
    needs_runs: Mapping[str, object],
    *,
    per_task: bool = False,
) -> tuple[ScoreTable, Metrics | None]:
    """Return scores and metrics as they are; of summaries, stand-in runs and what these decide.

    Summaries are means and standard deviations, or raw single scores with standard errors. They
    decide the mean of a task, and of several tasks the median of means too. `needs_runs` maps
    arguments that they do not allow to their values.
    """
    is_set = next((name for name, value in needs_runs.items() if value), None)
    known: Sequence[str] = SUMMARY_METRICS[:1] if per_task else SUMMARY_METRICS
    names = metric_list(metrics or known)
    other = next((name for name in names if name not in known), None)
    table = table_of(scores, summaries=True)
    if table.of_summaries:
        if is_set:
            given = option(**{is_set: needs_runs[is_set]})
            raise ScoreDataError(f"{given} needs runs, and these are summaries")
        if other is not None:
            raise ScoreDataError(
                f"{getattr(other, 'name', other)}: expected a metric that means and standard "
                f"deviations suffice for ({', '.join(known)}); this one needs the runs"
            )
        return table, names
    found = of_standard_errors(table)
    if found is None or is_set or other is not None:
        return table, metrics
    note(
        "intervals come from the standard errors of the source: they are of other items of the "
        "same kind, not of other runs, and n_runs counts items"
    )
    return found, names
