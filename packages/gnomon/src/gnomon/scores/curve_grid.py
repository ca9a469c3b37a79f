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
    ALMOST,
    KEYS,
    SHORT,
    CurveRun,
    by_task,
    curve_runs,
    in_words,
    is_short,
    run_ends,
    say,
)
from gnomon.scores.table import FloatArray, ScoreTable

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
    if grid is None and _share_steps(table):
        return table
    runs = curve_runs(table)
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


def _share_steps(table: ScoreTable) -> bool:
    """Return whether runs of an algorithm have the same steps as long as they go on."""
    frame = table.effective_scores().filter(~pl.col("score").is_nan())
    steps = frame.select("algorithm", pl.col("step").cast(pl.Float64)).unique()
    every = dict(steps.group_by("algorithm").agg("step").iter_rows())
    ordered = {name: np.sort(np.asarray(found)) for name, found in every.items()}
    for name, of_name in run_ends(table).group_by("algorithm"):
        own = ordered[str(name[0])]
        inside = np.searchsorted(own, of_name["last"], "right") - np.searchsorted(
            own, of_name["first"], "left"
        )
        if (inside != of_name["size"].to_numpy()).any():
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
    ends = run_ends(table.select(algorithms=[algorithm]))
    goal = pl.min_horizontal(pl.col("last").max().over("task"), pl.lit(float(shown_to)))
    ends = ends.with_columns(goal=goal)
    slack = pl.max_horizontal(SHORT * pl.col("goal").abs(), ALMOST * pl.col("spacing"))
    short = ends.filter(pl.col("last") < pl.col("goal") - slack)
    if not len(short):
        return None
    names = [f"{algorithm} run {run} on {task}" for task, run in short.select("task", "run").rows()]
    where = f"at {in_words(short['last'][0])} of {in_words(short['goal'][0])}"
    if len(names) == 1:
        return f"{names[0]} ends {where}: beyond, the curve is of the others"
    return (
        f"{len(names)} runs of {algorithm} end early ({names[0]} {where}, {listed(names[1:], 3)}): "
        "beyond, the curve is of the others"
    )


def refuse_unequal_lengths(table: ScoreTable, what: str = "areas") -> None:
    """Refuse curves of unequal lengths, of which areas, last and best scores do not compare.

    Raises
    ------
    ScoreDataError
        Runs on a task end at steps that differ by more than 2 %, and by a step.
    """
    for (task,), alike in run_ends(table).group_by("task", maintain_order=True):
        ordered = alike.sort("last", maintain_order=True)
        least, most = float(ordered["last"][0]), float(ordered["last"][-1])
        if is_short(least, most, float(ordered["spacing"][0])):
            shortest, longest = (
                f"{row['algorithm']} run {row['run']} on {task}"
                for row in (ordered.row(0, named=True), ordered.row(-1, named=True))
            )
            raise ScoreDataError(
                f"{what} of unequal lengths do not compare: {shortest} ends at {in_words(least)}, "
                f"{longest} at {in_words(most)}; --at {least:.0f} cuts all there, --at {most:.0f} "
                "leaves out the runs that fall short"
            )
