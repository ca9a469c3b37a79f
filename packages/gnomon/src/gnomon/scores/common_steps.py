"""Common steps of learning curves: where runs that end at steps of their own are compared.

A run has scores from its first step to its last and nowhere else: between two of its scores it is
interpolated, beyond its end it is not there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, counted, listed
from gnomon.scores.table import FloatArray, ScoreTable

#: A run ends early if it lacks more than this share of the longest one's steps.
SHORT = 0.02
#: And so much of the way from one of its steps to the next.
ALMOST = 0.99
KEYS = ("algorithm", "task", "run")


@dataclass(frozen=True, eq=False)
class CurveRun:
    """The scores of one run, by ascending steps, NaN left out; and its rows in the table."""

    key: tuple[str, str, object]
    rows: pl.DataFrame
    steps: FloatArray
    scores: FloatArray

    @property
    def name(self) -> str:
        """What a message calls the run."""
        algorithm, task, run = self.key
        return f"{algorithm} run {run} on {task}"

    @property
    def spacing(self) -> float:
        """How far the run's steps are apart, on average."""
        return float(self.steps[-1] - self.steps[0]) / max(self.steps.size - 1, 1)

    def at(self, step: float) -> float:
        """Return the score at a step: its own, else on the line between two; NaN outside."""
        before = np.searchsorted(self.steps, step, "right") - 1
        if before < 0 or step > self.steps[-1]:
            return float("nan")
        if self.steps[before] == step or not np.isfinite(self.scores[before : before + 2]).all():
            return float(self.scores[before])
        return float(np.interp(step, self.steps, self.scores))


def curve_runs(table: ScoreTable) -> list[CurveRun]:
    """Return the runs of a table with steps that have any score, in the order of the table."""
    frame = table.effective_scores().filter(~pl.col("score").is_nan())
    frame = frame.sort("step", maintain_order=True)
    found = []
    for key, rows in frame.partition_by(KEYS, as_dict=True, maintain_order=True).items():
        steps = rows["step"].cast(pl.Float64).to_numpy()
        found.append(CurveRun((key[0], key[1], key[2]), rows, steps, rows["score"].to_numpy()))
    place = {
        key: at
        for at, key in enumerate(table.frame.select(KEYS).unique(maintain_order=True).rows())
    }
    return sorted(found, key=lambda run: place[run.key])


def run_ends(table: ScoreTable) -> pl.DataFrame:
    """Return first and last step of each run with a score, number and spacing of its scores."""
    frame = table.effective_scores().filter(~pl.col("score").is_nan())
    step = pl.col("step").cast(pl.Float64)
    ends = frame.group_by(KEYS, maintain_order=True).agg(
        first=step.min(), last=step.max(), size=pl.len()
    )
    apart = (pl.col("last") - pl.col("first")) / pl.max_horizontal(pl.col("size") - 1, 1)
    return ends.with_columns(spacing=apart)


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
    if step is None and _end_alike(table):
        return table.last_step()
    runs = curve_runs(table)
    if step is not None:
        return _at(
            table, runs, dict.fromkeys(table.tasks, step), f"step {in_words(step)}", _say_missing
        )
    if all(run.steps.size == 1 for run in runs):
        _say_own_ends(runs)
        return table.last_step()
    ends = {task: min(r.steps[-1] for r in alike) for task, alike in by_task(runs).items()}
    _refuse_late_starts(runs, ends)
    return _at(table, runs, ends, "last step that all runs of a task reach", _say_short)


def _end_alike(table: ScoreTable) -> bool:
    """Return whether all runs of a task end with a score at one step, as mostly."""
    if bool(table.effective_scores()["score"].is_nan().any()):
        return False
    ends = run_ends(table).group_by("task").agg(least=pl.min("last"), most=pl.max("last"))
    return bool((ends["least"] == ends["most"]).all())


def by_task(runs: Sequence[CurveRun]) -> dict[str, list[CurveRun]]:
    """Return the runs on each task, of all algorithms."""
    found: dict[str, list[CurveRun]] = {}
    for run in runs:
        found.setdefault(run.key[1], []).append(run)
    return found


def _at(
    table: ScoreTable,
    runs: Sequence[CurveRun],
    ends: dict[str, float],
    note: str,
    tell: Callable[[Sequence[CurveRun], dict[str, float]], None],
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
    absent = frame.unique(KEYS, keep="first", maintain_order=True)
    absent = absent.filter(pl.Series([key not in there for key in absent.select(KEYS).rows()]))
    order = frame.select(KEYS).unique(maintain_order=True)
    rows = pl.concat([*chosen, absent]).drop("step")
    kept = order.join(rows, on=KEYS, how="left", maintain_order="left").select(rows.columns)
    tell(runs, ends)
    if kept["score"].is_nan().all():
        reached = max((run.steps[-1] for run in runs), default=float("nan"))
        raise ScoreDataError(
            f"expected runs that reach step {in_words(max(ends.values()))}; the longest ends at "
            f"{in_words(reached)}"
        )
    return replace(table, frame=kept, provenance=(*table.provenance, note))


def _say_short(runs: Sequence[CurveRun], ends: dict[str, float]) -> None:
    """Name the runs at whose end others went on."""
    longest = {task: max(r.steps[-1] for r in alike) for task, alike in by_task(runs).items()}
    differing = [task for task, end in ends.items() if end < longest[task]]
    if not differing:
        return
    short = [r for r in runs if is_short(r.steps[-1], longest[r.key[1]], r.spacing)]
    choose = "--last takes the end of each run, --at STEP another step"
    if short:
        task = short[0].key[1]
        say(
            f"{counted(len(short), 'run')} fell short of the others on the same task "
            f"({listed(run_names(short, runs), 4)}): all are taken at the last step that all "
            f"reach, {in_words(ends[task])} of {in_words(longest[task])} on {task}; {choose}"
        )
        return
    task = differing[0]
    say(
        f"runs end at slightly different steps ({in_words(ends[task])} to "
        f"{in_words(longest[task])} on {task}): taken at the last that all on a task reach; "
        f"{choose}"
    )


def _say_missing(runs: Sequence[CurveRun], ends: dict[str, float]) -> None:
    """Name the runs that do not reach the step that was asked for."""
    absent = [run for run in runs if np.isnan(run.at(ends[run.key[1]]))]
    if absent and len(absent) < len(runs):
        step = next(iter(ends.values()))
        say(f"{counted(len(absent), 'run')} without a score at step {in_words(step)}, kept as "
            f"missing: {listed(run_names(absent, runs), 4)}")  # fmt: skip


def _say_own_ends(runs: Sequence[CurveRun]) -> None:
    """Say that single scores of the runs of a task were taken at steps that differ."""
    for task, alike in by_task(runs).items():
        ends = [run.steps[-1] for run in alike]
        if min(ends) < max(ends):
            say(
                f"each run has one score, and runs of a task were measured at different steps "
                f"({in_words(min(ends))} to {in_words(max(ends))} on {task}): taken as they are"
            )
            return


def _refuse_late_starts(runs: Sequence[CurveRun], ends: dict[str, float]) -> None:
    for run in runs:
        end = ends[run.key[1]]
        if run.steps[0] > end:
            first = next(r for r in runs if r.key[1] == run.key[1] and r.steps[-1] == end)
            raise ScoreDataError(
                f"no step that all runs on {run.key[1]} reach: {first.name} ends at "
                f"{in_words(end)}, {run.name} begins at {in_words(run.steps[0])}; --last takes the "
                "end of each run, --at STEP another step"
            )


def is_short(end: float, longest: float, spacing: float = 0.0) -> bool:
    """Return whether a run that ends there falls short of the longest by a step of it or more."""
    return bool(end < longest - max(SHORT * abs(longest), ALMOST * spacing))


def run_names(some: Sequence[CurveRun], every: Sequence[CurveRun]) -> list[str]:
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
    runs = curve_runs(table)
    kept = {run.key for run in runs if not is_short(run.steps[-1], step, run.spacing)}
    short = [run for run in runs if run.key not in kept]
    if not kept:
        reached = max((run.steps[-1] for run in runs), default=float("nan"))
        raise ScoreDataError(
            f"expected runs that reach step {in_words(step)}; the longest ends at "
            f"{in_words(reached)}"
        )
    if short:
        say(f"{counted(len(short), 'run')} left out, short of step {in_words(step)}: "
              f"{listed(run_names(short, runs), 4)}")  # fmt: skip
    frame = table.frame
    mask = pl.Series([key in kept for key in frame.select(KEYS).rows()])
    rows = frame.filter(mask & (frame["step"] <= step))
    return replace(
        table, frame=rows, provenance=(*table.provenance, f"up to step {in_words(step)}")
    )


def in_words(step: float) -> str:
    """Return a step as people write it: 1,825,000, not 1.825e+06."""
    return f"{step:,.0f}" if step == round(step) else f"{step:,.6g}"


def say(text: str) -> None:
    """Warn of what is done with scores."""
    warnings.warn(text, DegenerateScoresWarning, stacklevel=4)
