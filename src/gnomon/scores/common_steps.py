"""Learning curves on common steps: a grid for runs that were measured at steps of their own.

Runs of one training rarely report at the same steps, and some end early. Here a run has scores from
its first step to its last and nowhere else: between two of its scores it is interpolated, beyond
its end it is not there. Nothing is stretched, and one crashed run takes nothing from the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, counted, listed
from gnomon.scores.table import FloatArray, ScoreTable

__all__ = ["Grid", "at_common_step", "early_ends", "on_grid", "refuse_unequal_lengths", "up_to"]

#: Steps of a curve: as many, only those that all runs have, or what suits the runs.
Grid = int | Literal["shared"] | None

#: More steps than these nobody sees in a figure.
MOST_STEPS = 100
#: A run ends early if it lacks more than this share of the longest one's steps.
SHORT = 0.02
#: With as many scores in each of its intervals, a grid takes their means.
TO_AVERAGE = 2

_KEYS = ("algorithm", "task", "run")


@dataclass(frozen=True, eq=False)
class _Run:
    """The scores of one run, by ascending steps; its rows in the table."""

    key: tuple[str, str, object]
    rows: pl.DataFrame
    steps: FloatArray
    scores: FloatArray

    @property
    def name(self) -> str:
        algorithm, task, run = self.key
        return f"{algorithm} run {run} on {task}"

    def at(self, step: float) -> float:
        """Return the score at a step: its own, else on the line between two; NaN outside."""
        before = np.searchsorted(self.steps, step, "right") - 1
        if before < 0 or step > self.steps[-1]:
            return float("nan")
        if self.steps[before] == step or not np.isfinite(self.scores[before : before + 2]).all():
            return float(self.scores[before])
        return float(np.interp(step, self.steps, self.scores))


def _runs(table: ScoreTable) -> list[_Run]:
    """Return the runs that have any score, in the order of the table."""
    frame = table.frame.with_columns(score=table.effective_scores()["score"])
    found = []
    for key, rows in frame.partition_by(_KEYS, as_dict=True, maintain_order=True).items():
        rows = rows.filter(~pl.col("score").is_nan()).sort("step")
        if len(rows):
            steps = rows["step"].cast(pl.Float64).to_numpy()
            found.append(_Run((key[0], key[1], key[2]), rows, steps, rows["score"].to_numpy()))
    return found


def at_common_step(table: ScoreTable, step: float | None = None) -> ScoreTable:
    """Return one score for each run: at the last step that all runs on its task reach.

    A run that has no score at that very step is interpolated between its neighbours.

    Parameters
    ----------
    table : ScoreTable
        One without steps is returned as it is.
    step : float, optional
        Another step; a run that does not reach it is a missing run.

    Raises
    ------
    ScoreDataError
        A run on a task begins after another one has ended, or no run reaches the step.

    Warns
    -----
    DegenerateScoresWarning
        Runs fell short of others on their task, or of the step; they are named.

    Examples
    --------
    >>> x = [[[1.0, 2.0, 3.0]], [[2.0, 4.0, float("nan")]]]
    >>> table = ScoreTable.from_arrays({"dqn": x}, steps=[0, 10, 20])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     at_common_step(table).runs("dqn", "task_0")
    array([2., 4.])
    """
    if "step" not in table.frame.columns:
        if step is None:
            return table
        raise ScoreDataError("expected a column 'step' to select by; found none")
    runs = _runs(table)
    if step is not None:
        return _at(table, runs, dict.fromkeys(table.tasks, step), f"step {step:g}", _say_missing)
    if all(run.steps.size == 1 for run in runs):
        _say_own_ends(runs)
        return table.last_step()
    ends = {task: min(r.steps[-1] for r in alike) for task, alike in _by_task(runs).items()}
    _refuse_late_starts(runs, ends)
    return _at(table, runs, ends, "last step that all runs of a task reach", _say_short)


def _by_task(runs: Sequence[_Run]) -> dict[str, list[_Run]]:
    found: dict[str, list[_Run]] = {}
    for run in runs:
        found.setdefault(run.key[1], []).append(run)
    return found


def _at(
    table: ScoreTable,
    runs: Sequence[_Run],
    ends: dict[str, float],
    note: str,
    say: Callable[[Sequence[_Run], dict[str, float]], None],
) -> ScoreTable:
    """Return the rows of each run at the step of its task, missing runs with no score."""
    frame = table.frame
    chosen = []
    for run in runs:
        end = ends[run.key[1]]
        score = run.at(end)
        row = run.rows[max(int(np.searchsorted(run.steps, end, "right")) - 1, 0)]
        chosen.append(row.with_columns(pl.lit(score, pl.Float64).alias("score")))
    there = {run.key for run in runs}
    absent = frame.unique(_KEYS, keep="first", maintain_order=True)
    absent = absent.filter(pl.Series([key not in there for key in absent.select(_KEYS).rows()]))
    order = frame.select(_KEYS).unique(maintain_order=True)
    rows = pl.concat([*chosen, absent]).drop("step")
    kept = order.join(rows, on=_KEYS, how="left", maintain_order="left").select(rows.columns)
    say(runs, ends)
    if kept["score"].is_nan().all():
        reached = max((run.steps[-1] for run in runs), default=float("nan"))
        raise ScoreDataError(
            f"expected runs that reach step {max(ends.values()):g}; the longest ends at {reached:g}"
        )
    return replace(table, frame=kept, provenance=(*table.provenance, note))


def _say_short(runs: Sequence[_Run], ends: dict[str, float]) -> None:
    """Name the runs at whose end others went on."""
    longest = {task: max(r.steps[-1] for r in alike) for task, alike in _by_task(runs).items()}
    differing = [task for task, end in ends.items() if end < longest[task]]
    if not differing:
        return
    short = [run for run in runs if _is_short(run.steps[-1], longest[run.key[1]])]
    choose = "--last takes the end of each run, --at STEP another step"
    if short:
        task = short[0].key[1]
        _warn(
            f"{counted(len(short), 'run')} fell short of the others on the same task "
            f"({listed(_names(short, runs), 4)}): all are taken at the last step that all reach, "
            f"{ends[task]:g} of {longest[task]:g} on {task}; {choose}"
        )
        return
    task = differing[0]
    _warn(
        f"runs end at slightly different steps ({ends[task]:g} to {longest[task]:g} on {task}): "
        f"taken at the last that all on a task reach; {choose}"
    )


def _say_missing(runs: Sequence[_Run], ends: dict[str, float]) -> None:
    """Name the runs that do not reach the step that was asked for."""
    absent = [run for run in runs if np.isnan(run.at(ends[run.key[1]]))]
    if absent and len(absent) < len(runs):
        step = next(iter(ends.values()))
        _warn(f"{counted(len(absent), 'run')} without a score at step {step:g}, kept as missing: "
              f"{listed(_names(absent, runs), 4)}")  # fmt: skip


def _say_own_ends(runs: Sequence[_Run]) -> None:
    """Say that single scores of the runs of a task were taken at steps that differ."""
    for task, alike in _by_task(runs).items():
        ends = [run.steps[-1] for run in alike]
        if min(ends) < max(ends):
            _warn(
                f"each run has one score, and runs of a task were measured at different steps "
                f"({min(ends):g} to {max(ends):g} on {task}): taken as they are"
            )
            return


def _refuse_late_starts(runs: Sequence[_Run], ends: dict[str, float]) -> None:
    for run in runs:
        end = ends[run.key[1]]
        if run.steps[0] > end:
            first = next(r for r in runs if r.key[1] == run.key[1] and r.steps[-1] == end)
            raise ScoreDataError(
                f"no step that all runs on {run.key[1]} reach: {first.name} ends at {end:g}, "
                f"{run.name} begins at {run.steps[0]:g}; --last takes the end of each run, "
                "--at STEP another step"
            )


def _is_short(end: float, longest: float) -> bool:
    return bool(end < longest - SHORT * abs(longest))


def _names(some: Sequence[_Run], every: Sequence[_Run]) -> list[str]:
    """Return the names of runs, one for all runs of an algorithm on a task."""
    whole: dict[tuple[str, str], int] = {}
    for run in every:
        whole[run.key[:2]] = whole.get(run.key[:2], 0) + 1
    found: dict[str, None] = {}
    for run in some:
        algorithm, task, _ = run.key
        n = sum(other.key[:2] == run.key[:2] for other in some)
        is_whole = n == whole[run.key[:2]] and n > 1
        found[f"all of {algorithm} on {task}" if is_whole else run.name] = None
    return list(found)


def on_grid(table: ScoreTable, grid: Grid = None) -> ScoreTable:
    """Return learning curves whose runs have scores at the same steps.

    Parameters
    ----------
    table : ScoreTable
        With a column ``step``.
    grid : int or "shared", optional
        A number of evenly spaced steps; or no grid, for the steps that runs share. If not given, a
        grid where runs do not share their steps, of as many steps as a run has, at most 100.

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
    runs = _runs(table)
    if grid is None and _share_steps(runs):
        return table
    if "censored" in table.frame.columns and bool(table.frame["censored"].any()):
        return table  # what never came cannot be interpolated
    sizes = [run.steps.size for run in runs]
    n = grid or int(np.clip(np.median(sizes), 2, MOST_STEPS))
    low, high = _range(runs)
    is_dense = bool(np.median(sizes) >= TO_AVERAGE * n)
    edges = np.linspace(low, high, n + 1 if is_dense else n)
    fill = _averaged if is_dense else _interpolated
    parts = [_part(table, run, edges[1:] if is_dense else edges, fill(run, edges)) for run in runs]
    how = "means of the scores in each interval" if is_dense else "linear interpolation"
    why = "runs do not share their steps: " if grid is None else ""
    _warn(f"{why}curves on a grid of {n} steps from {low:g} to {high:g}, by {how}"
          + ("; --grid N sets another, --grid shared none" if grid is None else ""))  # fmt: skip
    rows = pl.concat(parts).filter(~pl.col("score").is_nan())
    note = f"grid of {n} steps, {how}"
    return replace(table, frame=rows, provenance=(*table.provenance, note))


def _share_steps(runs: Sequence[_Run]) -> bool:
    """Return whether runs of an algorithm have the same steps as long as they go on."""
    for algorithm in dict.fromkeys(run.key[0] for run in runs):
        own = [run.steps for run in runs if run.key[0] == algorithm]
        every = np.unique(np.concatenate(own))
        if any(x.size != np.sum((every >= x[0]) & (every <= x[-1])) for x in own):
            return False
    return True


def _range(runs: Sequence[_Run]) -> tuple[float, float]:
    """Return where curves begin and end: within the first and last step of all but short runs."""
    firsts, lasts = (np.array([run.steps[at] for run in runs]) for at in (0, -1))
    low, high = firsts.min(), lasts.max()
    slack = SHORT * (high - low)
    return float(firsts[firsts <= low + slack].max()), float(lasts[lasts >= high - slack].min())


def _interpolated(run: _Run, grid: FloatArray) -> FloatArray:
    outside = float("nan")
    return np.asarray(np.interp(grid, run.steps, run.scores, left=outside, right=outside))


def _averaged(run: _Run, edges: FloatArray) -> FloatArray:
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


def _part(table: ScoreTable, run: _Run, steps: FloatArray, scores: FloatArray) -> pl.DataFrame:
    key = [
        pl.Series(name, [x], table.frame[name].dtype)
        for name, x in zip(_KEYS, run.key, strict=True)
    ]
    columns = [x.new_from_index(0, steps.size) for x in key]
    return pl.DataFrame([*columns, pl.Series("step", steps), pl.Series("score", scores)])


def up_to(table: ScoreTable, step: float) -> ScoreTable:
    """Return curves that end at a step, without the runs that do not reach it.

    Raises
    ------
    ScoreDataError
        No run reaches the step.

    Warns
    -----
    DegenerateScoresWarning
        Runs fell short of it; they are named.
    """
    runs = _runs(table)
    kept = {run.key for run in runs if not _is_short(run.steps[-1], step)}
    short = [run for run in runs if run.key not in kept]
    if not kept:
        reached = max((run.steps[-1] for run in runs), default=float("nan"))
        raise ScoreDataError(
            f"expected runs that reach step {step:g}; the longest ends at {reached:g}"
        )
    if short:
        _warn(f"{counted(len(short), 'run')} left out, short of step {step:g}: "
              f"{listed(_names(short, runs), 4)}")  # fmt: skip
    frame = table.frame
    mask = pl.Series([key in kept for key in frame.select(_KEYS).rows()])
    rows = frame.filter(mask & (frame["step"] <= step))
    return replace(table, frame=rows, provenance=(*table.provenance, f"up to step {step:g}"))


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
    runs = _runs(table.select(algorithms=[algorithm]))
    whole = _by_task(runs)
    longest = {task: max(r.steps[-1] for r in alike) for task, alike in whole.items()}
    short = [run for run in runs if _is_short(run.steps[-1], min(longest[run.key[1]], shown_to))]
    if not short:
        return None
    first = short[0]
    end, goal = first.steps[-1], longest[first.key[1]]
    if len(short) == 1:
        return f"{first.name} ends at {end:g} of {goal:g}: beyond, the curve is of the others"
    return (
        f"{len(short)} runs of {algorithm} end early ({first.name} at {end:g} of {goal:g}, "
        f"{listed([run.name for run in short[1:]], 3)}): beyond, the curve is of the others"
    )


def refuse_unequal_lengths(table: ScoreTable) -> None:
    """Refuse curves of unequal lengths, of which areas do not compare.

    Raises
    ------
    ScoreDataError
        Runs on a task end at steps that differ by more than 2 %.
    """
    for task, alike in _by_task(_runs(table)).items():
        longest, shortest = (pick(alike, key=lambda r: r.steps[-1]) for pick in (max, min))
        if _is_short(shortest.steps[-1], longest.steps[-1]):
            raise ScoreDataError(
                f"areas over unequal lengths do not compare: on {task} {shortest.name} ends at "
                f"{shortest.steps[-1]:g}, {longest.name} at {longest.steps[-1]:g}; "
                f"--at {shortest.steps[-1]:g} cuts all there, --at {longest.steps[-1]:g} leaves "
                "out the runs that fall short"
            )


def _warn(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=4)
