"""Learning curves on a grid: common steps for runs that were measured at steps of their own.

Runs of one training rarely report at the same steps, and some end early. Nothing is stretched to
the end of the others, and one crashed run takes nothing from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from gnomon.errors import ScoreDataError, listed
from gnomon.scores.common_steps import (
    KEYS,
    SHORT,
    CurveRun,
    by_task,
    curve_runs,
    in_words,
    is_short,
    say,
)
from gnomon.scores.table import FloatArray, ScoreTable

__all__ = ["Grid", "early_ends", "on_grid", "refuse_unequal_lengths"]

#: Steps of a curve: as many, only those that all runs have, or what suits the runs.
Grid = int | Literal["shared"] | None

#: More steps than these nobody sees in a figure.
MOST_STEPS = 100
#: With as many scores in each of its intervals, a grid takes their means.
TO_AVERAGE = 2


def on_grid(table: ScoreTable, grid: Grid = None) -> ScoreTable:
    """Return learning curves whose runs have scores at the same steps.

    Parameters
    ----------
    table : ScoreTable
        With a column ``step``.
    grid : int or "shared", optional
        A number of evenly spaced steps; or no grid, for the steps that runs share. If not given, a
        grid where runs do not share their steps: all their steps, or as many as a run has where
        these are more than 100.

    Returns
    -------
    ScoreTable
        Scores by linear interpolation between those of the run; their mean in each interval, named
        by its end, where a run has two and more there. A run has none before its first step and
        after its last.

    Warns
    -----
    DegenerateScoresWarning
        A grid is used, and which.

    Examples
    --------
    >>> import warnings
    >>> rows = [("a", 0, 0, 0.0), ("a", 0, 10, 1.0), ("a", 1, 0, 1.0), ("a", 1, 4, 3.0)]
    >>> rows += [("a", 1, 10, 3.0)]
    >>> table = ScoreTable.from_records(
    ...     {"algorithm": a, "task": "t", "run": r, "step": s, "score": x} for a, r, s, x in rows)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     on_grid(table, 3).curves("a", "t")
    (array([ 0.,  5., 10.]), array([[0. , 0.5, 1. ],
           [1. , 3. , 3. ]]))
    """
    if isinstance(grid, int) and grid < 2:
        raise ScoreDataError(f"expected a grid of at least 2 steps, found {grid}")
    if grid == "shared" or table.n_steps < 2:
        return table
    runs = curve_runs(table)
    if grid is None and _share_steps(runs):
        return table
    if "censored" in table.frame.columns and bool(table.frame["censored"].any()):
        return table  # what never came cannot be interpolated
    every = np.unique(np.concatenate([run.steps for run in runs]))
    if grid is None and every.size <= MOST_STEPS:
        parts = [_part(table, run, every, _interpolated(run, every)) for run in runs]
        note = "gaps between a run's scores interpolated"
        say(f"runs do not share all their steps: {note}; --grid shared leaves such steps out, "
              "--grid N takes others")  # fmt: skip
    else:
        parts, note = _even(table, runs, grid)
    rows = pl.concat(parts).filter(~pl.col("score").is_nan())
    return replace(table, frame=rows, provenance=(*table.provenance, note))


def _even(
    table: ScoreTable, runs: Sequence[CurveRun], grid: int | None
) -> tuple[list[pl.DataFrame], str]:
    """Return the rows of each run at evenly spaced steps, and how they were made."""
    size = float(np.median([run.steps.size for run in runs]))
    n = grid or int(np.clip(size, 2, MOST_STEPS))
    low, high = _range(runs)
    is_dense = size >= TO_AVERAGE * n
    edges = np.linspace(low, high, n + 1 if is_dense else n)
    steps = edges[1:] if is_dense else edges
    fill = _averaged if is_dense else _interpolated
    how = "means of the scores in each interval" if is_dense else "linear interpolation"
    why = "runs do not share their steps: " if grid is None else ""
    say(f"{why}curves on a grid of {n} steps from {in_words(low)} to {in_words(high)}, by {how}"
          + ("; --grid N sets another, --grid shared none" if grid is None else ""))  # fmt: skip
    parts = [_part(table, run, steps, fill(run, edges)) for run in runs]
    return parts, f"grid of {n} steps, {how}"


def _share_steps(runs: Sequence[CurveRun]) -> bool:
    """Return whether runs of an algorithm have the same steps as long as they go on."""
    for algorithm in dict.fromkeys(run.key[0] for run in runs):
        own = [run.steps for run in runs if run.key[0] == algorithm]
        every = np.unique(np.concatenate(own))
        if any(x.size != np.sum((every >= x[0]) & (every <= x[-1])) for x in own):
            return False
    return True


def _range(runs: Sequence[CurveRun]) -> tuple[float, float]:
    """Return where curves begin and end: as far as an algorithm was measured on all its tasks."""
    ends = []
    for algorithm in dict.fromkeys(run.key[0] for run in runs):
        tasks = by_task([run for run in runs if run.key[0] == algorithm])
        lasts = [np.array([run.steps[-1] for run in alike]) for alike in tasks.values()]
        ends.append(min(x[x >= x.max() - SHORT * abs(x.max())].min() for x in lasts))
    firsts = np.array([run.steps[0] for run in runs])
    low, high = float(firsts.min()), float(max(ends))
    early = firsts[firsts <= low + SHORT * (high - low)]
    return float(early.max()), high


def _interpolated(run: CurveRun, grid: FloatArray) -> FloatArray:
    outside = float("nan")
    return np.asarray(np.interp(grid, run.steps, run.scores, left=outside, right=outside))


def _averaged(run: CurveRun, edges: FloatArray) -> FloatArray:
    """Return the mean of a run's scores in each interval; an empty one between two is a line."""
    place = np.searchsorted(edges, run.steps, "left") - 1
    # The first edge belongs to the first interval.
    place = np.where(run.steps == edges[0], 0, place)
    inside = (place >= 0) & (place < edges.size - 1)
    n = np.bincount(place[inside], minlength=edges.size - 1)
    sums = np.bincount(place[inside], run.scores[inside], minlength=edges.size - 1)
    means = np.full(n.size, np.nan)
    means[n > 0] = sums[n > 0] / n[n > 0]
    gaps = (n == 0) & (edges[1:] >= run.steps[0]) & (edges[1:] <= run.steps[-1])
    means[gaps] = np.interp(edges[1:][gaps], run.steps, run.scores)
    return means


def _part(table: ScoreTable, run: CurveRun, steps: FloatArray, scores: FloatArray) -> pl.DataFrame:
    key = [
        pl.Series(name, [x], table.frame[name].dtype) for name, x in zip(KEYS, run.key, strict=True)
    ]
    columns = [x.new_from_index(0, steps.size) for x in key]
    return pl.DataFrame([*columns, pl.Series("step", steps), pl.Series("score", scores)])


def early_ends(table: ScoreTable, algorithm: str, shown_to: float = np.inf) -> str | None:
    """Return a sentence on the runs of an algorithm that end before others; None if none does.

    Parameters
    ----------
    table : ScoreTable
        With a column ``step``.
    algorithm : str
        Whose runs.
    shown_to : float
        The step at which the curve that is shown ends.

    Examples
    --------
    >>> x = [[[1.0, 2.0, 3.0]], [[2.0, 4.0, float("nan")]]]
    >>> early_ends(ScoreTable.from_arrays({"dqn": x}, steps=[0, 10, 20]), "dqn")
    'dqn run 1 on task_0 ends at 10 of 20: beyond, the curve is of the others'
    """
    runs = curve_runs(table.select(algorithms=[algorithm]))
    whole = by_task(runs)
    longest = {task: max(r.steps[-1] for r in alike) for task, alike in whole.items()}
    short = [run for run in runs if is_short(run.steps[-1], min(longest[run.key[1]], shown_to))]
    if not short:
        return None
    first = short[0]
    end, goal = first.steps[-1], longest[first.key[1]]
    if len(short) == 1:
        where = f"{first.name} ends at {in_words(end)} of {in_words(goal)}"
        return f"{where}: beyond, the curve is of the others"
    return (
        f"{len(short)} runs of {algorithm} end early "
        f"({first.name} at {in_words(end)} of {in_words(goal)}, "
        f"{listed([run.name for run in short[1:]], 3)}): beyond, the curve is of the others"
    )


def refuse_unequal_lengths(table: ScoreTable) -> None:
    """Refuse curves of unequal lengths, of which areas do not compare.

    Raises
    ------
    ScoreDataError
        Runs on a task end at steps that differ by more than 2 %.
    """
    for alike in by_task(curve_runs(table)).values():
        longest, shortest = (pick(alike, key=lambda r: r.steps[-1]) for pick in (max, min))
        least, most = shortest.steps[-1], longest.steps[-1]
        if is_short(least, most):
            raise ScoreDataError(
                f"areas over unequal lengths do not compare: {shortest.name} ends at "
                f"{in_words(least)}, {longest.name} at {in_words(most)}; --at {least:.0f} cuts all "
                f"there, --at {most:.0f} leaves out the runs that fall short"
            )
