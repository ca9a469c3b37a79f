"""Checks of a table of scores: a summary of its contents, and likely mistakes.

Examples are swapped axes, copies read as runs, different scales of tasks, and implausible scores.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.errors import ScoreDataError, counted, either, joined, listed, note, option
from gnomon.scores.columns import IntArray, Rows

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

#: With at least this many times as many runs as tasks, the axes may have been swapped.
MANY = 50
#: Ratio of the scores on two tasks above which their scales are considered different. Success
#: rates seldom differ by that much, points of different games nearly always do.
FAR = 100
#: Scores up to this multiple of a reference are common, for example human-normalised games.
MOST_MULTIPLE = 20.0
#: A score this many times as large as any other of its task is reported, given enough others.
#: In nine public tables of runs none is 12 times as large.
WILD, LEAST_OTHERS = 1000.0, 4
#: Provenance of runs that stand in for means and deviations.
STAND_INS = "runs that stand in for summaries"
#: Summaries that add up scores of different tasks.
_SUMMED = ("mean", "iqm", "median")
#: Larger tables are not searched for copies.
MOST_ROWS = 20_000
#: The largest number of names in a line.
MOST_NAMES = 8


def suspicions(table: ScoreTable) -> list[str]:
    """Return what looks like a mistake, one sentence each; nothing for most tables.

    For items, only the names of algorithms are checked.
    """
    found = _spelt_alike(table.algorithms, "algorithm")
    if table.units == "items":  # numbered, and one epoch of each, as they should be
        return found
    names, last = table.tasks, table.last_step()
    if len(names) > 1 and all(re.fullmatch(r"((seed|run)[\s_-]*)?\d+", t, re.I) for t in names):
        shown = ", ".join(names[:4])
        found.append(
            f"the tasks look like seeds ({shown}): were runs written into the column task?"
        )
    most = int(np.bincount(_cell_of_row(last)).max(initial=0))
    if len(names) > 1 and most >= MANY * len(names):
        found.append(
            f"{most} runs on {len(names)} tasks: were the axes swapped, or do several "
            "episodes of one run count as runs?"
        )
    nested = [name for name in table.attributes if name.lower() in ("episode", "episodes", "eval")]
    if nested:
        found.append(
            f"a column {nested[0]!r} beside run: episodes of one run are not independent runs; "
            "average them first"
        )
    found += _spelt_alike(names, "task")
    are_copies = _are_copies(last)
    found += _copied(last, runs_too=not are_copies)
    # Runs may all end at the highest possible score, but their curves still differ.
    if are_copies and ("step" not in table.rows or _are_copies(table)):
        found.append(
            "all runs of an algorithm on a task have the same score, on every task: reruns of one "
            "deterministic evaluation are not independent runs"
        )
    return found


def _spelt_alike(names: Sequence[str], noun: str) -> list[str]:
    """Return a sentence on the first names that differ only in case, blanks, hyphens or dots."""
    for same in _alike((re.sub(r"[\s_.-]", "", name.casefold()), name) for name in names).values():
        if len(same) > 1:
            shown = joined([repr(name) for name in same[:3]])
            remedy = f"rename one, if they are the same {noun}"
            return [f"the {noun}s {shown} differ only in spelling: {remedy}"]
    return []


def _alike(pairs: Iterable[tuple[Hashable, Any]]) -> dict[Any, list[Any]]:
    """Return the values of each key."""
    found: dict[Any, list[Any]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _copied(table: ScoreTable, *, runs_too: bool) -> list[str]:
    """Return a sentence on algorithms, and on runs, that have the same scores on all tasks."""
    if len(table) > MOST_ROWS:
        return []
    columns = [table.rows.tolist(name) for name in ("algorithm", "run", "task")]
    every = zip(*columns, table.effective_scores.tolist(), strict=True)
    rows = [row for row in every if isfinite(row[3])]  # censored runs are all equal
    of_runs = _alike(((algorithm, run), (task, score)) for algorithm, run, task, score in rows)
    runs = {key: tuple(sorted(scores)) for key, scores in of_runs.items()}
    of_algorithms = _alike((key[0], pair) for key, scores in runs.items() for pair in scores)
    copies = _alike((tuple(sorted(pairs)), name) for name, pairs in of_algorithms.items())
    found = [
        f"{joined(names)} have exactly the same scores: is one a copy of the other?"
        for pairs, names in copies.items()
        if len(names) > 1 and len({score for _, score in pairs}) > 2
    ]
    for algorithm in of_algorithms if runs_too else ():
        alike = _alike((scores, key[1]) for key, scores in runs.items() if key[0] == algorithm)
        groups = [same for same in alike.values() if len(same) > 1]
        are_all = len(groups) > 2 and {len(same) for same in alike.values()} == {len(groups[0])}
        # With few distinct scores, runs may be equal by chance, unless all come in equal groups.
        rich = [same for x, same in alike.items() if len(same) > 1 and len({s for _, s in x}) > 2]
        if rich or are_all:
            shown = joined([str(run) for run in (rich or groups)[0][:3]])
            found.append(
                f"{algorithm}: runs {shown} have the same scores on every task"
                f"{', as do others' if len(rich or groups) > 1 else ''}: was a seed used "
                "twice, or a file read twice?"
            )
    return found


def _cell_of_row(table: ScoreTable) -> IntArray:
    """Return a number for each row, the same for rows of one algorithm, task and step."""
    cell: IntArray = table.rows["algorithm"].codes.astype(np.int64) * len(table.tasks)
    cell += table.rows["task"].codes
    if "step" in table.rows:
        step = np.unique(table.rows["step"], return_inverse=True)[1]
        cell = np.unique(cell * table.n_steps + step, return_inverse=True)[1].astype(np.int64)
    return cell


def _are_copies(table: ScoreTable) -> bool:
    """Return whether finite scores differ, but never between the runs of a cell."""
    known = np.isfinite(table.effective_scores)
    score, cell = table.effective_scores[known], _cell_of_row(table)[known]
    n = np.bincount(cell)
    low, high = np.full(n.size, np.inf), np.full(n.size, -np.inf)
    np.minimum.at(low, cell, score)
    np.maximum.at(high, cell, score)
    several = n > 1
    is_constant = bool((low[several] == high[several]).all())
    return int(several.sum()) > 1 and is_constant and score.min() != score.max()


def wild_scores(table: ScoreTable) -> list[tuple[str, float]]:
    """Return a sentence on each score that looks like a mistake, and the score.

    Such a score is :data:`WILD` times as large as any other of its task, by absolute value.
    Nothing is reported of a task with fewer than :data:`LEAST_OTHERS` others, or whose others are
    all 0. Infinite (censored) scores are ignored.
    """
    found = []
    for name, places in table.rows_of_task.items():
        rows = places[np.isfinite(table.effective_scores[places])]
        if rows.size <= LEAST_OTHERS:
            continue
        size = np.abs(table.effective_scores[rows])
        most, largest = np.sort(size)[-2:].tolist()
        if most > 0.0 and largest > WILD * most:
            place = int(rows[np.argmax(size)])
            row = next(table.rows.take([place]).records())
            sentence = (
                f"{row['algorithm']} on {name}: the score {row['score']:.4g} of run {row['run']} "
                f"is {largest / most:.2g} times as large as any of the {rows.size - 1} others of "
                f"the task (up to {most:.3g}); it dominates every mean; check it"
            )
            found.append((place, sentence, row["score"]))
    return [(sentence, score) for _, sentence, score in sorted(found)]


def own_scales(table: ScoreTable) -> str | None:
    """Return a sentence on tasks whose scales seem to differ, None if there are none.

    They do if the median absolute score of one task is more than :data:`FAR` times that of another.
    Tasks whose median is 0 are ignored. The last step of each run counts.
    """
    found = _unlike(table)
    if found is None:
        return None
    (low_task, low), (high_task, high) = found
    return (
        f"scores of different tasks may not be on one scale (median {_shown(low)} on {low_task}, "
        f"{_shown(high)} on {high_task}): an order of tasks would then only show their scales; "
        "normalise them first, unless scores measure difficulty"
    )


def refuse_unlike_scales(
    table: ScoreTable, metrics: Sequence[str], *, tasks: Sequence[str] | None = None
) -> None:
    """Refuse summaries of raw scores whose tasks have unlike scales.

    A mean over such tasks is that of the largest scale, and an optimality gap, whose target is 1,
    that of the smallest. Normalised scores, and those in a unit, are on one scale.
    """
    found = _unlike(table, tasks) if metrics else None
    # Shares, and multiples of a reference, are on one scale however small some are.
    if found is None or found[1][1] <= MOST_MULTIPLE:
        return
    (low_task, low), (high_task, high) = found
    remedy = either("normalize(scores, 'min-max')", option(normalize="min-max"))
    remedy += " or another scale"
    # Ends of stand-ins are unknown, and of two scores one would become 0 and the other 1.
    if (stands_in := STAND_INS in table.provenance) or len(table) <= 2 * len(table.tasks):
        scores = "stand_in_runs(read_summaries(path))" if stands_in else "scores"
        remedy = either(f"normalize({scores}, 'limits.csv')", option(normalize="limits.csv"))
        remedy += ", a file with columns task, low, high that you write"
    raise ScoreDataError(
        f"{joined(metrics)}: expected scores on one scale, found medians of {_shown(low)} on "
        f"{low_task} and {_shown(high)} on {high_task}; {remedy}, or "
        f"{either(repr('none'), 'none')} if they share a unit"
    )


def check_scales(
    table: ScoreTable,
    metrics: Iterable[object],
    *,
    tasks: Sequence[str] | None = None,
    gamma: float | None = None,
) -> None:
    """Refuse unlike scales, and warn of a target that does not fit, where metrics need a scale."""
    names = [str(getattr(metric, "name", metric)) for metric in metrics]
    named = [name for name in names if name in _SUMMED]
    if "optimality_gap" in names and gamma is None:
        named.append("optimality_gap")
        _warn_of_target(table)
    refuse_unlike_scales(table, named, tasks=tasks)


def _warn_of_target(table: ScoreTable) -> None:
    """Warn that an optimality gap has 1 as the target of much larger raw scores."""
    found = table.rows["score"][np.isfinite(table.rows["score"])]
    if table.normalization is not None or table.unit is not None or not found.size:
        return
    least, middle = float(found.min()), float(np.median(found))
    if least > 1.0:
        fault = f"is 0: all raw scores lie above its target, 1 (the least is {_shown(least)})"
    elif middle > MOST_MULTIPLE:
        fault = f"holds raw scores (median {_shown(middle)}) against a target of 1"
    else:
        return
    target = either("gamma", "--gamma")
    message = f"optimality_gap {fault}; give another target ({target}), or normalize the scores"
    note(message)


def _unlike(
    table: ScoreTable, tasks: Sequence[str] | None = None
) -> tuple[tuple[str, float], tuple[str, float]] | None:
    """Return the tasks with the least and greatest median of absolute raw scores above 0.

    None if none is more than :data:`FAR` times as large as another. Scores that are normalised, or
    in a unit, are on one scale.
    """
    if table.normalization is not None or table.unit is not None:
        return None
    last = table.last_step()
    medians = {}
    for task, rows in last.rows_of_task.items():
        size = np.abs(last.effective_scores[rows])
        size = size[np.isfinite(size)]
        if (tasks is None or task in tasks) and size.size and (median := np.median(size)) > 0.0:
            medians[task] = float(median)
    if len(medians) < 2:
        return None
    by_size = sorted(medians, key=lambda task: (medians[task], task))
    low, high = by_size[0], by_size[-1]
    if medians[high] <= FAR * medians[low]:
        return None
    return (low, medians[low]), (high, medians[high])


def _shown(number: float) -> str:
    """Return a number above 0 with three significant digits."""
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}" if 100 <= rounded < 1e9 else f"{rounded:#.3g}"


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
    """Return what a table holds and what is missing in it, one fact per line."""
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
    return "\n".join([*lines, *_gaps(*cells, "task"), *_uneven_runs(*cells)])


def html_contents(table: ScoreTable) -> str:
    """Return the same as HTML, with the first rows, as a notebook shows a table."""
    from gnomon.tables import html_table  # reading a file needs none

    title, *notes = contents(table).splitlines()
    rows = list(islice(table.rows.records(), 10))
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
    elif table.run_counts.any():
        kinds.append(_span(table.run_counts, "run"))
    return f"{counted(len(table), 'score')} ({_scale(table)}): {', '.join(kinds)}"


def _span(counts: IntArray, noun: str) -> str:
    """Return how many of something there are where there are any."""
    found = counts[counts > 0]
    least, most = int(found.min(initial=counts.max(initial=0))), int(counts.max(initial=0))
    return f"{least} to {most} {noun}s" if least < most else counted(most, noun)


def _gaps(
    algorithms: Sequence[str], tasks: Sequence[str], counts: IntArray, noun: str
) -> list[str]:
    """Return a line for each algorithm without a score on some task."""
    lines = []
    for algorithm, own in zip(algorithms, counts, strict=True):
        absent = [task for task, n in zip(tasks, own, strict=True) if n == 0]
        if absent:
            shown = listed(absent, MOST_NAMES)
            lines.append(f"{algorithm}: no score on {counted(len(absent), noun)} ({shown})")
    return lines


def _uneven_runs(
    algorithms: Sequence[str], tasks: Sequence[str], run_counts: IntArray
) -> list[str]:
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
    scores, counts = table.item_scores, table.run_counts
    size = f"{counted(len(scores.models), 'model')} x {counted(len(scores.items), 'item')}"
    if scores.clusters is not None:
        size += f" ({counted(len(scores.clusters), 'cluster')})"
    unscored = without_score(table.rows)
    lines = [f"{size}, {_span(counts, 'epoch')}{unscored and f'; {unscored}'}"]
    lines.append(f"{counted(len(table), 'sample')} ({_scale(table)}){_with_status(table.rows)}")
    return "\n".join(lines + _gaps(scores.models, scores.items, counts, "item"))


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
    odd = ~np.isnan(rows["score"]) & ~status.missing & ~status.isin(["ok"])
    return f"; scored all the same: {_statuses(rows.take(odd))}" if odd.any() else ""


def _statuses(rows: Rows) -> str:
    """Return how many rows have each status, the most frequent first."""
    status = rows.texts("status")
    found = status.counts()
    if status.missing.any():
        found["unknown"] = int(status.missing.sum())
    ordered = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{n} {name}" for name, n in ordered)
