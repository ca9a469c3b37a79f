"""What a score table holds and what is missing in it, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from gnomon.errors import counted, listed
from gnomon.scores.columns import Rows
from gnomon.scores.table import ScoreTable
from gnomon.tables import html_table

#: The largest number of names in a line.
MOST_NAMES = 8

_Counts = npt.NDArray[np.int64]


def tasks_left_out(
    tasks: Sequence[str], kept: Collection[str], own: Mapping[str, Collection[str]]
) -> str | None:
    """Return which tasks are not kept, and the algorithms that lack them; None if all are.

    `own` maps each algorithm to its tasks; tasks that none has are not named.
    """
    left_out = [x for x in tasks if x not in kept and any(x in of for of in own.values())]
    if not left_out:
        return None
    lacking = [name for name, of in own.items() if any(task not in of for task in left_out)]
    which = "lacks them" if len(lacking) == 1 else "lack some"
    return (
        f"{len(left_out)} of {len(tasks)} tasks left out, since {listed(lacking)} {which}: "
        f"{listed(left_out)}"
    )


def contents(table: ScoreTable) -> str:
    """Return what a table holds and what is missing in it, one fact a line."""
    if table.units == "items":
        return _of_items(table)
    last = table.last_step()
    lines = [_heading(table)]
    n_missing = int(np.isnan(last.effective_scores).sum())
    if n_missing:
        lines.append(f"{counted(n_missing, 'missing run')} (empty score)")
    if "censored" in last.rows and last.rows["censored"].any():
        lines.append(counted(int(last.rows["censored"].sum()), "censored run"))
    cells = last.algorithms, last.tasks, last.run_counts
    return "\n".join([*lines, *_gaps(*cells), *_uneven_runs(*cells)])


def html_contents(table: ScoreTable) -> str:
    """Return the same as HTML, with the first rows, as a notebook shows a table."""
    title, *notes = contents(table).splitlines()
    rows = list(table.rows.records(0, 10))
    if len(table) > len(rows):
        notes.insert(0, f"The first {len(rows)} of {len(table):,} rows.")
    return html_table(rows, table.rows.names, title=title, notes=notes)


def _scale(table: ScoreTable) -> str:
    """Return what a score is, which ones are good, and how they were normalised."""
    direction = "higher is better" if table.higher_is_better else "lower is better"
    by = f"normalised by {table.normalization.name}" if table.normalization else None
    return ", ".join(filter(None, [table.metric, table.unit, direction, by]))


def _heading(table: ScoreTable) -> str:
    """Return how much there is, of what, on which scale."""
    kinds = [counted(len(table.algorithms), "algorithm"), counted(len(table.tasks), "task")]
    if table.n_steps > 1:
        kinds.append(f"{table.n_steps} steps")
    elif (counts := table.run_counts[table.run_counts > 0]).size:
        least, most = int(counts.min()), int(counts.max())
        kinds.append(f"{least} to {most} runs" if least < most else counted(most, "run"))
    return f"{counted(len(table), 'score')} ({_scale(table)}): {', '.join(kinds)}"


def _gaps(algorithms: Sequence[str], tasks: Sequence[str], run_counts: _Counts) -> list[str]:
    """Return a line for each algorithm without a score on some task."""
    lines = []
    for algorithm, counts in zip(algorithms, run_counts, strict=True):
        absent = [task for task, n in zip(tasks, counts, strict=True) if n == 0]
        if absent:
            found = f"{counted(len(absent), 'task')} ({listed(absent, MOST_NAMES)})"
            lines.append(f"{algorithm}: no score on {found}")
    return lines


def _uneven_runs(algorithms: Sequence[str], tasks: Sequence[str], run_counts: _Counts) -> list[str]:
    """Return a line for each algorithm with unequal numbers of runs, or with single ones."""
    lines = []
    everywhere = int(run_counts.max(initial=0))
    for algorithm, counts in zip(algorithms, run_counts, strict=True):
        present = counts[counts > 0]
        if not present.size or present.min() == everywhere:
            continue
        least, most = int(present.min()), int(present.max())
        few = "a single run" if least == 1 else f"{least} runs"
        fewest = [task for task, n in zip(tasks, counts, strict=True) if n == least]
        if least == most:
            lines.append(f"{algorithm}: {few} per task, where others have up to {everywhere}")
        else:
            where = f"on {counted(len(fewest), 'task')} ({listed(fewest, MOST_NAMES)})"
            lines.append(f"{algorithm}: {few} {where}, up to {most} on others")
    return lines


def _of_items(table: ScoreTable) -> str:
    """Return the same of a table of items."""
    scores = table.item_scores
    counts = np.array([scores.counts(name) for name in scores.models])
    size = f"{counted(len(scores.models), 'model')} x {counted(len(scores.items), 'item')}"
    if scores.clusters is not None:
        size += f" ({counted(len(scores.clusters), 'cluster')})"
    unscored = without_score(table.rows)
    lines = [f"{size}, {_epochs(counts)}{unscored and f'; {unscored}'}"]
    lines.append(f"{counted(len(table), 'sample')} ({_scale(table)}){_with_status(table.rows)}")
    for name, n in zip(scores.models, counts, strict=True):
        absent = [scores.items[i] for i in np.flatnonzero(n == 0)]
        if absent:
            found = f"{counted(len(absent), 'item')} ({listed(absent, MOST_NAMES)})"
            lines.append(f"{name}: no score on {found}")
    return "\n".join(lines)


def _epochs(counts: _Counts) -> str:
    """Return how many epochs items have, in words."""
    found = counts[counts > 0]
    least, most = int(found.min(initial=counts.max(initial=0))), int(counts.max(initial=0))
    return counted(most, "epoch") if least == most else f"{least} to {most} epochs"


def without_score(rows: Rows) -> str:
    """Return how many samples have no score, by status where it is known; nothing if all have."""
    absent = np.isnan(rows["score"])
    if not absent.any():
        return ""
    text = f"{counted(int(absent.sum()), 'sample')} without a score"
    return f"{text}: {_statuses(rows.take(absent))}" if "status" in rows else text


def _with_status(rows: Rows) -> str:
    """Return how many samples with a score have a status beside ``ok``."""
    if "status" not in rows:
        return ""
    status = rows.texts("status")
    odd = ~np.isnan(rows["score"]) & ~status.missing & ~status.equals("ok")
    return f"; scored all the same: {_statuses(rows.take(odd))}" if odd.any() else ""


def _statuses(rows: Rows) -> str:
    """Return how many rows have each status, the most frequent first."""
    status = rows.texts("status")
    found = status.counts()
    if status.missing.any():
        found["unknown"] = int(status.missing.sum())
    ordered = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{n} {name}" for name, n in ordered)
