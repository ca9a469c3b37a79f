"""Means, standard deviations and numbers of runs, as many papers print them.

Mean and median over tasks, their small-sample intervals and tests depend on nothing else of the
runs, so any runs with these means and deviations may stand in for those that were not printed.
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.errors import note, option
from gnomon.scores.columns import FloatArray, IntArray, Rows, Texts, first_equal
from gnomon.scores.readers.files import ERRORS, N_ITEMS, reported_numbers
from gnomon.scores.readers.registry import Reader, ReadRequest, Source
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import Origin, numbered, role_of, selected, tidy_rows, usual_columns

#: The largest number of runs whose stand-ins are made.
MOST_RUNS = 1_000_000
#: Columns of means and deviations, and the names of one of numbers of runs.
_SUMMARY, _RUNS = ("mean", "std"), ("runs", "n", "count")


def _recognises(source: Source) -> bool:
    roles = set(map(role_of, source.names))  # with a column of runs, a mean is over episodes
    has_names = {"algorithm", "task"} <= roles and "run" not in roles
    return has_names and {*_SUMMARY} <= {*source.names} and "score" not in source.names


def _read(source: Source, wanted: ReadRequest) -> ScoreTable:
    """Read a row for each algorithm and task, with columns mean, std and runs (or n, count)."""
    raw, origin = source.table()
    of_runs = next((name for name in _RUNS if name in raw), _RUNS[0])
    named = usual_columns(raw, {}, ("algorithm", "task"), origin)
    for name in ("algorithm", "task", *_SUMMARY, of_runs):
        if name not in named and name not in raw:
            raise origin.error(f"missing column {name!r}; found {', '.join(raw.names)}")
    origin.called |= named
    raw, origin = selected(raw, wanted.where, origin)
    rows = Rows({role: raw.texts(name) for role, name in named.items()})
    least = {"mean": -math.inf, "std": 0.0, of_runs: 1.0}
    mean, deviation, n_runs = (reported_numbers(raw, x, origin, low) for x, low in least.items())
    odd = np.flatnonzero((n_runs % 1.0 != 0.0) | (n_runs > MOST_RUNS))
    if odd.size:
        message = f"expected a whole number of runs up to {MOST_RUNS:,}, found {n_runs[odd[0]]:,g}"
        raise origin.error_at([int(odd[0])], of_runs, message)
    again = first_equal(numbered(rows, [*rows.names])[0]) < np.arange(len(rows))
    if again.any():
        at = int(np.argmax(again))
        algorithm, task = (rows.tolist(name)[at] for name in rows.names)
        message = f"expected one row for each algorithm and task, found a second of {algorithm} "
        message += f"on {task}; {option(where={'COLUMN': 'VALUE'})} selects rows"
        raise origin.error_at([at], "task", message)
    return ScoreTable(
        _stand_ins(rows, mean, deviation, n_runs, origin),
        higher_is_better=wanted.is_higher_better,
        provenance=origin.provenance("means and standard deviations"),
        of_summaries=True,
    )


def _stand_ins(
    rows: Rows, mean: FloatArray, deviation: FloatArray, n_runs: FloatArray, origin: Origin
) -> Rows:
    """Return evenly spaced runs with the mean and the deviation (n - 1) of each row.

    Their labels differ between tasks, so that no run seems to have an effect on several.
    """
    n = n_runs.astype(np.int64)
    row: IntArray = np.repeat(np.arange(n.size), n)
    run = np.arange(row.size) - np.repeat(np.cumsum(n) - n, n)
    place = (run - (n[row] - 1) / 2) / np.sqrt(n[row] * (n[row] + 1) / 12)
    found = rows.take(row)
    labels = map("{}-{}".format, found["task"].codes.tolist(), run.tolist())
    score = mean[row] + deviation[row] * place
    found = found.with_columns({"run": Texts.of(labels), "score": score})
    return tidy_rows(found, origin.of_rows(row), {})


def of_standard_errors(table: ScoreTable) -> ScoreTable | None:
    """Return runs that stand in for raw means with standard errors, or None.

    A score that is a mean over the items of a task, with attributes for its standard error and the
    number of items, is known as well as its items allow: the runs that stand in are the items.
    """
    errors = [
        name
        for name in table.attributes
        if name.lower() in ERRORS and table.rows.numbers(name) is not None
    ]
    if not errors or table.normalization is not None:
        return None
    if table.n_steps > 1 or table.run_counts.max(initial=0) != 1:
        return None
    numbers = [name for name in table.attributes if name.lower() in N_ITEMS]
    if not numbers:
        note(
            f"column {errors[0]!r} is left out: an interval from a standard error also needs the "
            f"number of items behind each score, in a column {N_ITEMS[0]!r}"
        )
        return None
    score, error, n = (table.rows.numbers(x) for x in ("score", errors[0], numbers[0]))
    if score is None or error is None or n is None or np.isnan(score + error + n).any():
        return None
    names = table.rows.only("algorithm", "task")
    rows = _stand_ins(names, score, error * n**0.5, n, Origin())
    return ScoreTable(rows, table.metric, table.unit, table.higher_is_better, of_summaries=True)


SUMMARIES = Reader(
    "summaries",
    "means, standard deviations and numbers of runs: a table with columns algorithm, task, mean, "
    "std and runs",
    recognises=_recognises,
    read=_read,
    takes=frozenset({"where"}),
    is_general=True,
    in_memory=True,
)
