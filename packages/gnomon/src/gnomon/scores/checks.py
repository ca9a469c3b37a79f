"""Checks of a table of scores: a summary of its contents, and likely mistakes.

Examples are swapped axes, copies read as runs, different scales of tasks, and implausible scores.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.errors import ScoreDataError, counted, either, joined, listed, note, option, reading
from gnomon.scores.columns import Flags, IntArray, Rows, Texts
from gnomon.scores.tidy import numbered, role_of

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

#: With more than this many times as many runs as tasks, the axes may have been swapped. Published
#: tables have up to 100 runs (Agarwal et al. 2021).
MANY = 50
#: Episode counts usually differ between all cells; run counts rarely do, in tables of this size.
LEAST_CELLS, LEAST_EPISODES, UNEVEN = 6, 20, 1.5
#: The correlation of consecutive runs is tested in cells of at least this many runs.
LEAST_NEIGHBOURS = 10
#: Standard normal quantile of the test: of tables of independent runs, 0.5 % exceed it.
ALIKE = 2.576
#: Words for an episode, as columns and as parts of run labels name it.
_EPISODE = r"(ep|eps|episode|eval|evaluation|rollout|trajectory)s?"
_EPISODES = re.compile(rf"{_EPISODE}([\s_-]*(id|index|number|num|no))?", re.IGNORECASE)
_LABEL = re.compile(rf"(.*[^a-z])?{_EPISODE}[\s_=-]*\d+", re.IGNORECASE)
#: Ratio of the scores on two tasks above which their scales are considered different. Success
#: rates seldom differ by that much, points of different games nearly always do.
FAR = 100
#: Scores up to this multiple of a reference are common, for example human-normalised games.
MOST_MULTIPLE = 20.0
#: A score this many times as large as any other of its task is reported, given enough others.
#: In nine public tables of runs none is 12 times as large.
WILD, LEAST_OTHERS = 1000.0, 4
#: Summaries that add up scores of different tasks.
_SUMMED = ("mean", "iqm", "median")
#: Larger tables are not searched for copies.
MOST_ROWS = 20_000
#: The largest numbers of names and of cells in a line.
MOST_NAMES, MOST_CELLS = 8, 4


def suspicions(table: ScoreTable, *, run_column: str | None = None) -> list[str]:
    """Return what looks like a mistake, one sentence each; nothing for most tables.

    For items, only the names of algorithms are checked. `run_column` is the column that was read
    as the run, if the caller named one.
    """
    found = _spelt_alike(table.algorithms, "algorithm")
    # Items are numbered, and have one epoch each; stand-in runs show nothing of the real ones.
    if table.units == "items" or table.of_summaries:
        return found
    names, last = table.tasks, table.last_step()
    if len(names) > 1 and all(re.fullmatch(r"((seed|run)[\s_-]*)?\d+", t, re.I) for t in names):
        shown = ", ".join(names[:4])
        found.append(
            f"the tasks look like seeds ({shown}): were runs written into the column task?"
        )
    found += _episodes_as_runs(last, run_column)
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


def _episodes_as_runs(table: ScoreTable, run_column: str | None) -> list[str]:
    """Return a warning with all signs that episodes were taken for runs, or none."""
    seeds = [name for name in table.attributes if role_of(name) == "run"]
    signs = [
        *_by_labels(table, run_column),
        *_by_counts(table.run_counts, len(table.tasks)),
        *(f"several runs have the same {name!r}" for name in seeds if _are_shared(table, name)),
        *_by_order(table),
    ]
    if not signs:
        return []
    mean = reading(None, columns={"run": (seeds or ["SEED"])[0]}, within_run="mean")
    needed = "" if seeds else "; SEED: a column with the seeds of the runs, which this table lacks"
    return [
        f"episodes taken for runs? {joined(signs)}; episodes of one run are not independent runs: "
        f"average them first ({mean}{needed})"
    ]


def _by_labels(table: ScoreTable, run_column: str | None) -> Iterator[str]:
    """Yield a phrase on columns and run labels that number episodes."""
    if run_column is not None and _EPISODES.fullmatch(run_column):
        yield f"the column {run_column!r} was read as the run"
    for name in filter(_EPISODES.fullmatch, table.attributes):
        values = table.rows.texts(name).names
        # The length of a run, such as 100 episodes in each row, does not count from 0 or 1.
        numbers = sorted(int(text) for text in values if text.isdecimal())
        counts_up = any(numbers == [*range(n, n + len(numbers))] for n in (0, 1))
        if len(values) > 1 and (counts_up or all(map(_LABEL.fullmatch, values))):
            yield f"a column {name!r} numbers the rows"
    run = table.rows["run"]
    if isinstance(run, Texts) and len(run.names) > 1 and all(map(_LABEL.fullmatch, run.names)):
        yield f"runs are labelled {listed(run.names, 3)}"


def _by_counts(counts: IntArray, n_tasks: int) -> Iterator[str]:
    """Yield a phrase on numbers of runs that are high, or those of episodes in logs."""
    found = counts[counts > 0]
    least, most = int(found.min(initial=counts.max(initial=0))), int(counts.max(initial=0))
    are_uneven = found.size >= LEAST_CELLS and least >= LEAST_EPISODES and most >= UNEVEN * least
    if n_tasks > 1 and most > MANY * n_tasks:
        yield f"there are {most} runs on {n_tasks} tasks (or were the axes swapped?)"
    elif are_uneven and np.unique(found).size == found.size:
        yield f"there are {least} to {most} runs, a different number in each cell"


def _are_shared(table: ScoreTable, seed: str) -> bool:
    """Return whether the runs of a cell have half as many different seeds, or fewer.

    One seed in all rows may be that of the benchmark.
    """
    text = table.rows.texts(seed)
    number, _ = numbered(table.rows.take(~text.missing), ["algorithm", "task", seed])
    return len(text.names) > 1 and 2 * np.unique(number).size <= number.size


def _by_order(table: ScoreTable) -> Iterator[str]:
    """Yield a phrase if runs next to each other have more similar scores than in a random order.

    The statistic is the sum, over consecutive runs and cells, of the products of their ranks in
    the cell. It is compared with its mean and variance over all orders of the runs (Wald and
    Wolfowitz 1943, here for several cells in one order, so that effects that runs share over tasks
    or algorithms cause no false alarm). Cells whose runs are sorted by score are left out.
    """
    if len(table) > MOST_ROWS:
        return
    found = variance = size = 0.0
    counts = table.run_counts
    for n in np.unique(counts[counts >= LEAST_NEIGHBOURS]).tolist():
        cells = [(table.algorithms[a], table.tasks[t]) for a, t in np.argwhere(counts == n)]
        x = np.column_stack([table.runs(*cell) for cell in cells])
        is_rising, is_falling = ((sign * x[1:] >= sign * x[:-1]).all(axis=0) for sign in (1, -1))
        x = x[:, ~(is_rising | is_falling)]
        # Equal scores are ranked in a random order.
        order = np.random.default_rng(0).permutation(n)
        rank = np.empty(x.shape)
        rank[order] = x[order].argsort(axis=0, kind="stable").argsort(axis=0)
        rank -= (n - 1) / 2
        own = np.sum(rank**2, axis=1)
        # The sums of the products of two different runs, and of their squares, are known, and so
        # are those over all orders of products of one, two overlapping, or two separate pairs.
        total, squares = own.sum(), np.sum(own**2)
        pairs = np.sum((rank.T @ rank) ** 2) - squares
        mean = -total / n
        found += float(np.sum(rank[1:] * rank[:-1])) - mean
        variance += (pairs + (total**2 - 2.0 * squares) / (n - 1)) / n - mean**2
        size += total
    if found > ALIKE * np.sqrt(variance):
        yield f"consecutive runs have similar scores (rank correlation {found / size:.2f})"


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


def _are_copies(table: ScoreTable) -> bool:
    """Return whether finite scores differ, but never between the runs of a cell."""
    n_cells = 0
    for a, t in np.argwhere(table.last_step().run_counts > 1).tolist():
        cell = table.algorithms[a], table.tasks[t]
        x = table.curves(*cell)[1] if "step" in table.rows else table.runs(*cell)
        x[np.isinf(x)] = np.nan
        if np.any(np.fmin.reduce(x) < np.fmax.reduce(x)):
            return False
        n_cells += int(np.sum(np.sum(~np.isnan(x), axis=0) > 1))
    score = table.effective_scores[np.isfinite(table.effective_scores)]
    return n_cells > 1 and bool(score.min() != score.max())


def check_inputs(rows: Rows, source: str) -> None:
    """Refuse items that have one name and different texts."""
    if "input_hash" not in rows:
        return
    mark = rows.texts("input_hash")
    known = np.flatnonzero(~mark.missing)
    item, code = rows["task"].codes[known], mark.codes[known]
    one = np.full(len(rows["task"].names), -1)
    one[item] = code
    odd = np.unique(item[code != one[item]])
    if not odd.size:
        return
    own = item == odd[0]
    _, first = np.unique(code[own], return_index=True)
    texts = []
    for row in rows.take(known[own][np.sort(first)[:2]]).records():
        texts.append(f"{str(row.get('input', row['input_hash']))[:60]!r} ({row['algorithm']})")
    raise ScoreDataError(
        f"{source}: item {rows['task'].names[odd[0]]!r}: expected the same input everywhere, found "
        f"{joined(texts)}; {counted(odd.size, 'item')} with different inputs: these are not the "
        "same items"
    )


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
    if table.of_summaries or len(table) <= 2 * len(table.tasks):
        remedy = either("normalize(scores, 'limits.csv')", option(normalize="limits.csv"))
        remedy += ", a file with columns task, low, high that you write"
    raise ScoreDataError(
        f"{joined(metrics)}: expected scores on one scale, found medians of {_shown(low)} on "
        f"{low_task} and {_shown(high)} on {high_task}; {remedy}, or "
        f"{either(repr('none'), 'none')} if they share a unit"
    )


def refuse_summaries(table: ScoreTable) -> None:
    """Refuse runs that stand in for means and deviations where other results need the runs."""
    if table.of_summaries:
        raise ScoreDataError(
            "expected runs, found means and standard deviations; estimate, compare and profiles of "
            "kind ratio or likelihood take these"
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
    target = either("gamma of estimate", "gnomon estimate --gamma")
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
    return "\n".join([*lines, *_gaps(*cells), *_uneven_runs(*cells)])


def html_contents(table: ScoreTable) -> str:
    """Return the same as HTML, with the first rows, as a notebook shows a table."""
    from gnomon.printing import html_table  # reading a file needs none

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


def cells_where(algorithms: Sequence[str], tasks: Sequence[str], which: Flags) -> str:
    """Return the number of cells that a mask (algorithms, tasks) has, and some of them, or ""."""
    cells = np.argwhere(which)
    names = [f"{algorithms[a]} on {tasks[t]}" for a, t in cells[: MOST_CELLS + 1]]
    shown = listed(names, MOST_CELLS)
    return f"{len(cells):,} of {counted(which.size, 'cell')} ({shown})" if len(cells) else ""


def _gaps(algorithms: Sequence[str], tasks: Sequence[str], counts: IntArray) -> list[str]:
    """Return a line on the cells without a score, if there are any."""
    absent = cells_where(algorithms, tasks, counts == 0)
    return [f"no score in {absent}"] if absent else []


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
    models, items, counts = table.algorithms, table.tasks, table.run_counts
    size = f"{counted(len(models), 'model')} x {counted(len(items), 'item')}"
    if table.cluster is not None:
        size += f" ({counted(len(table.rows.texts(table.cluster).names), 'cluster')})"
    unscored = without_score(table.rows)
    lines = [f"{size}, {_span(counts, 'epoch')}{unscored and f'; {unscored}'}"]
    lines.append(f"{counted(len(table), 'sample')} ({_scale(table)}){_with_status(table.rows)}")
    return "\n".join(lines + _gaps(models, items, counts))


def without_score(rows: Rows) -> str:
    """Return how many samples have no score, by status where it is known; nothing if all have."""
    absent = np.isnan(rows["score"])
    if not absent.any():
        return ""
    text = f"{counted(int(absent.sum()), 'sample')} without a score"
    return f"{text}: {statuses(rows.take(absent))}" if "status" in rows else text


def _with_status(rows: Rows) -> str:
    """Return how many samples with a score have a status beside ``ok``."""
    if "status" not in rows:
        return ""
    status = rows.texts("status")
    odd = ~np.isnan(rows["score"]) & ~status.missing & ~status.isin(["ok"])
    return f"; with a score despite its status: {statuses(rows.take(odd))}" if odd.any() else ""


def statuses(rows: Rows) -> str:
    """Return how many rows have each status, the most frequent first."""
    status = rows.texts("status")
    found = status.counts()
    if status.missing.any():
        found["unknown"] = int(status.missing.sum())
    ordered = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{n} {name}" for name, n in ordered)
