"""Learning curves at common steps: one score for each run, or one grid for all runs.

Scores are interpolated between two steps of a run, and never extrapolated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gnomon.errors import ScoreDataError, counted, listed, note, option, reading
from gnomon.scores.columns import FloatArray, IntArray, Rows, group_means
from gnomon.scores.table import ScoreTable

#: A run ends early if it lacks more than this share of the longest one's steps.
SHORT = 0.02
#: It must also lack more than this share of the distance between its steps.
ALMOST = 0.99
#: Number of steps of the largest automatic grid; a figure cannot show more.
MOST_STEPS = 100
#: Number of steps of the largest grid.
LARGEST_GRID = 10_000
#: With at least this number of scores per interval, a grid holds the mean of each interval.
TO_AVERAGE = 2


@dataclass(frozen=True, eq=False)
class CurveRun:
    """The scores of one run, by ascending steps, NaN left out; and their rows in the table."""

    key: tuple[str, str, object]
    rows: IntArray
    steps: FloatArray
    scores: FloatArray

    @property
    def name(self) -> str:
        """What a message calls the run."""
        algorithm, task, run = self.key
        return f"{algorithm} run {run} on {task}"

    @property
    def task(self) -> str:
        """The task of the run."""
        return self.key[1]

    @property
    def end(self) -> float:
        """The last step."""
        return float(self.steps[-1])

    def is_short_of(self, step: float) -> bool:
        """Return whether the run ends before a step, by one of its own steps or more."""
        spacing = (self.end - float(self.steps[0])) / max(self.steps.size - 1, 1)
        return bool(self.end < step - max(SHORT * abs(step), ALMOST * spacing))

    def at(self, step: float) -> float:
        """Return the score at a step, by linear interpolation; NaN outside the run."""
        before = np.searchsorted(self.steps, step, "right") - 1
        if before < 0 or step > self.steps[-1]:
            return float("nan")
        if self.steps[before] == step or not np.isfinite(self.scores[before : before + 2]).all():
            return float(self.scores[before])
        return float(np.interp(step, self.steps, self.scores))


def curve_runs(table: ScoreTable) -> list[CurveRun]:
    """Return the runs of a table with steps that have any score, in the order of the table."""
    if "step" not in table.rows:
        raise ScoreDataError("expected a column 'step' for curves; found none")
    known = np.flatnonzero(~np.isnan(table.effective_scores))
    run, step = table.run_of_row[known], table.rows["step"][known].astype(np.float64)
    order = known[np.lexsort((step, run))]
    starts = np.flatnonzero(np.diff(table.run_of_row[order], prepend=-1))
    firsts = table.rows.only("algorithm", "task", "run").take(order[starts])
    keys = zip(*(firsts.tolist(name) for name in firsts.names), strict=True)
    found = []
    for key, rows in zip(keys, np.split(order, starts[1:]), strict=False):
        steps = table.rows["step"][rows].astype(np.float64)
        found.append(CurveRun(key, rows, steps, table.effective_scores[rows]))
    return found


def _by_task(runs: Iterable[CurveRun]) -> dict[str, list[CurveRun]]:
    """Return the runs on each task, of all algorithms."""
    found: dict[str, list[CurveRun]] = {}
    for run in runs:
        found.setdefault(run.task, []).append(run)
    return found


def at_common_step(
    table: ScoreTable, step: float | None = None, *, window: int | None = None
) -> ScoreTable:
    """Return one score for each run, at the last step that all runs on its task reach.

    A run without a score at exactly that step is interpolated linearly.

    Parameters
    ----------
    table : ScoreTable
        One without steps is returned as it is.
    step : float, optional
        Use this step instead; the score of a run that does not reach it is missing.
    window : int, optional
        Take the mean of the last `window` scores of a run up to that step; of all, if there are
        fewer.

    Raises
    ------
    ScoreDataError
        A run on a task begins after another one has ended, or no run reaches the step; or a
        step or a window is asked for and there are no steps.

    Warns
    -----
    DegenerateScoresWarning
        Runs fell short of others on their task, or of the step; they are named.

    Examples
    --------
    >>> import warnings
    >>> x = [[[1.0, 2.0, 3.0]], [[2.0, 4.0, float("nan")]]]
    >>> table = ScoreTable.from_arrays({"dqn": x}, steps=[0, 10, 20])
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     at_common_step(table).runs("dqn", "task_0")
    array([2., 4.])
    """
    if "step" not in table.rows and step is None and window is None:
        return table
    _check_step(step)
    runs = curve_runs(table)
    if step is None and all(run.steps.size == 1 for run in runs):
        _note_own_ends(runs)
        return table.last_step()
    if step is None:
        ends = {task: min(run.end for run in alike) for task, alike in _by_task(runs).items()}
        how = "last step that all runs of a task reach"
        _refuse_late_starts(runs, ends)
    else:
        ends, how = dict.fromkeys(table.tasks, step), f"step {in_words(step)}"
    _, first = np.unique(table.run_of_row, return_index=True)
    chosen, score = first.copy(), np.full(first.size, np.nan)
    absent, n_averaged = [], []
    for run in runs:
        end, place = ends[run.task], table.run_of_row[run.rows[0]]
        n = int(np.searchsorted(run.steps, end, "right"))
        score[place] = run.at(end)
        chosen[place] = run.rows[max(n - 1, 0)]
        if np.isnan(score[place]):
            absent.append(run)
        elif window is not None:
            score[place] = run.scores[max(n - window, 0) : n].mean()
            n_averaged.append(n)
    if step is None:
        _note_short(runs, ends)
    elif len(absent) == len(runs):
        raise _unreached(runs, step)
    elif absent:
        note(f"{counted(len(absent), 'run')} without a score at step {in_words(step)}, kept as "
            f"missing: {listed(_names(absent, runs), 4)}")  # fmt: skip
    if window is not None:
        how = f"mean of the last {counted(window, 'score')} of each run up to the {how}"
        note_mean(how, window, n_averaged)
    rows = table.rows.take(chosen).but("step").with_columns({"score": score})
    return replace(table, rows=rows, provenance=(*table.provenance, how))


def mean_of_last(table: ScoreTable, window: int) -> ScoreTable:
    """Return the mean of the last scores of each run, up to its own end."""
    score, runs = table.rows["score"].copy(), curve_runs(table)
    for run in runs:
        score[run.rows[-1]] = run.scores[-window:].mean()
    how = f"mean of the last {counted(window, 'score')} of each run"
    note_mean(how, window, [run.scores.size for run in runs])
    found = replace(table, rows=table.rows.with_columns({"score": score})).last_step()
    return replace(found, provenance=(*table.provenance, how))


def note_mean(how: str, window: int, sizes: Sequence[int]) -> None:
    """Note that the score of a run is a mean, and how many runs have fewer scores than that."""
    text = f"the score of a run is the {how}"
    if short := [n for n in sizes if n < window]:
        runs = counted(len(short), "run")
        text += f", or of all where there are fewer ({runs}; the shortest has {min(short)})"
    note(text)


def _note_own_ends(runs: Sequence[CurveRun]) -> None:
    """Note that the scores of a task's runs are from different steps."""
    for task, alike in _by_task(runs).items():
        ends = [run.end for run in alike]
        if min(ends) < max(ends):
            note(
                f"each run has one score, and runs of a task were measured at different steps "
                f"({in_words(min(ends))} to {in_words(max(ends))} on {task}): used unchanged"
            )
            return


def _note_short(runs: Sequence[CurveRun], ends: dict[str, float]) -> None:
    """Name the runs that end before others on their task, where these are cut."""
    longest = {task: max(run.end for run in alike) for task, alike in _by_task(runs).items()}
    short = [run for run in runs if run.is_short_of(longest[run.task])]
    task = next((x for x in ends if ends[x] < longest[x]), None) if not short else short[0].task
    if task is None:
        return
    end, most = in_words(ends[task]), in_words(longest[task])
    if short:
        how = (
            f"{counted(len(short), 'run')} ended earlier than the others on the same task "
            f"({listed(_names(short, runs), 4)}): all are taken at the last step that all reach, "
            f"{end} of {most} on {task}"
        )
    else:
        how = (
            f"runs end at slightly different steps ({end} to {most} on {task}): taken at the last "
            "step that all reach"
        )
    note(f"{how}; {_other_steps()}")


def _refuse_late_starts(runs: Sequence[CurveRun], ends: dict[str, float]) -> None:
    for run in runs:
        end = ends[run.task]
        if run.steps[0] > end:
            first = next(r for r in runs if r.task == run.task and r.end == end)
            raise ScoreDataError(
                f"no step that all runs on {run.task} reach: {first.name} ends at "
                f"{in_words(end)}, {run.name} begins at {in_words(run.steps[0])}; {_other_steps()}"
            )


def _other_steps() -> str:
    return f"{reading('SOURCE', at='end')} takes the end of each run; a number takes that step"


def _unreached(runs: Sequence[CurveRun], step: float) -> ScoreDataError:
    """Return the error about a step that no run reaches."""
    most = in_words(max((run.end for run in runs), default=float("nan")))
    return ScoreDataError(
        f"expected runs that reach step {in_words(step)}; the longest ends at {most}"
    )


def _names(some: Sequence[CurveRun], every: Sequence[CurveRun]) -> list[str]:
    """Return the names of runs, one for all runs of an algorithm on a task."""
    whole, own = (Counter(run.key[:2] for run in runs) for runs in (every, some))
    found = []
    for run in some:
        algorithm, task = run.key[:2]
        is_whole = whole[algorithm, task] == own[algorithm, task] > 1
        found.append(f"all of {algorithm} on {task}" if is_whole else run.name)
    return list(dict.fromkeys(found))


def _check_step(step: float | None) -> None:
    """Refuse a step that is not a finite number."""
    if step is not None and not math.isfinite(step):
        raise ScoreDataError(f"expected a step, found {step}")


def up_to(table: ScoreTable, step: float) -> ScoreTable:
    """Return curves that end at a step, without the runs that do not reach it."""
    _check_step(step)
    runs = curve_runs(table)
    short = [run for run in runs if run.is_short_of(step)]
    if len(short) == len(runs):
        raise _unreached(runs, step)
    first = float(table.rows["step"].min())
    if first > step:
        raise ScoreDataError(
            f"expected scores up to step {in_words(step)}; the first is of step {in_words(first)}"
        )
    if short:
        note(f"{counted(len(short), 'run')} left out, short of step {in_words(step)}: "
              f"{listed(_names(short, runs), 4)}")  # fmt: skip
    places = [table.run_of_row[run.rows[0]] for run in runs if not run.is_short_of(step)]
    keep = np.isin(table.run_of_row, places) & (table.rows["step"] <= step)
    how = f"up to step {in_words(step)}"
    return replace(table, rows=table.rows.take(keep), provenance=(*table.provenance, how))


def early_ends(table: ScoreTable, algorithm: str, shown_to: float = np.inf) -> str | None:
    """Return a sentence on the runs of an algorithm that end before others; None if none does."""
    runs = curve_runs(table.select(algorithms=[algorithm]))
    longest = {task: max(run.end for run in alike) for task, alike in _by_task(runs).items()}
    short = [run for run in runs if run.is_short_of(min(longest[run.task], shown_to))]
    if not short:
        return None
    goal = min(longest[short[0].task], shown_to)
    where = f"at {in_words(short[0].end)} of {in_words(goal)}"
    if len(short) == 1:
        return f"{short[0].name} ends {where}: the curve beyond uses the others"
    others = listed([run.name for run in short[1:]], 3)
    return (
        f"{len(short)} runs of {algorithm} end early ({short[0].name} {where}, {others}): "
        "the curve beyond uses the others"
    )


def refuse_unequal_lengths(table: ScoreTable, what: str = "areas") -> None:
    """Refuse curves of unequal lengths, of which areas, last and best scores do not compare."""
    for alike in _by_task(curve_runs(table)).values():
        shortest, longest = (pick(alike, key=lambda run: run.end) for pick in (min, max))
        if shortest.is_short_of(longest.end):
            least, most = shortest.end, longest.end
            raise ScoreDataError(
                f"{what} of unequal lengths are not comparable: {shortest.name} ends at "
                f"{in_words(least)}, {longest.name} at {in_words(most)}; {option(at=float(least))} "
                f"cuts all there, {option(at=float(most))} leaves out the runs that fall short"
            )


def on_grid(table: ScoreTable, grid: int | None = None) -> ScoreTable:
    """Return learning curves whose runs have scores at the same steps.

    Parameters
    ----------
    table : ScoreTable
        With a column ``step``.
    grid : int, optional
        A number of evenly spaced steps. By default, runs that share their steps are left as they
        are; for others the grid consists of all their steps or, if these are more than 100, of as
        many even steps as the median run has, 100 at most.

    Returns
    -------
    ScoreTable
        Scores by linear interpolation, or the mean of each interval, at its end, if runs have two
        scores or more per interval. A run has no score before its first step or after its last.

    Warns
    -----
    DegenerateScoresWarning
        A grid is used; the message describes it.

    Examples
    --------
    >>> import warnings
    >>> rows = [("a", 0, 0, 0.0), ("a", 0, 10, 1.0), ("a", 1, 0, 1.0), ("a", 1, 4, 3.0)]
    >>> rows += [("a", 1, 10, 3.0)]
    >>> table = ScoreTable(
    ...     [{"algorithm": a, "task": "t", "run": r, "step": s, "score": x} for a, r, s, x in rows])
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     on_grid(table, 3).curves("a", "t")
    (array([ 0.,  5., 10.]), array([[0. , 0.5, 1. ],
           [1. , 3. , 3. ]]))
    """
    if grid is not None and not 2 <= grid <= LARGEST_GRID:
        raise ScoreDataError(f"expected a grid of 2 to {LARGEST_GRID:,} steps, found {grid:,}")
    is_censored = "censored" in table.rows and table.rows["censored"].any()
    if table.n_steps < 2 or is_censored:  # what never came cannot be interpolated
        return table
    runs = curve_runs(table)
    if grid is None and _share_steps(runs):
        return table
    every = np.unique(np.concatenate([run.steps for run in runs]))
    if grid is None and every.size <= MOST_STEPS:
        parts = [_part(table, run, every, _interpolated(run, every)) for run in runs]
        how = "gaps between a run's scores interpolated"
        note(f"runs do not share all their steps: {how}; {option(grid=100)} uses 100 even steps")
    else:
        parts, how = _even(table, runs, grid)
    rows = Rows.joined(parts)
    rows = rows.take(~np.isnan(rows["score"]))
    return replace(table, rows=rows, provenance=(*table.provenance, how))


def _even(table: ScoreTable, runs: Sequence[CurveRun], grid: int | None) -> tuple[list[Rows], str]:
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
    others = f"; {option(grid=100)} sets the number of steps"
    span = f"{n} steps from {in_words(low)} to {in_words(high)}, by {how}"
    note(f"{why}curves on a grid of {span}{others if grid is None else ''}")
    parts = [_part(table, run, steps, fill(run, edges)) for run in runs]
    return parts, f"grid of {n} steps, {how}"


def _share_steps(runs: Sequence[CurveRun]) -> bool:
    """Return whether runs of an algorithm have the same steps as long as they go on."""
    of_algorithm: dict[str, list[CurveRun]] = {}
    for run in runs:
        of_algorithm.setdefault(run.key[0], []).append(run)
    for own in of_algorithm.values():
        steps = np.unique(np.concatenate([run.steps for run in own]))
        firsts = np.searchsorted(steps, [run.steps[0] for run in own], "left")
        lasts = np.searchsorted(steps, [run.end for run in own], "right")
        if (lasts - firsts != [run.steps.size for run in own]).any():
            return False
    return True


def _range(runs: Sequence[CurveRun]) -> tuple[float, float]:
    """Return where curves begin and end: as far as an algorithm was measured on all its tasks."""
    ends = []
    for algorithm in dict.fromkeys(run.key[0] for run in runs):
        tasks = _by_task(run for run in runs if run.key[0] == algorithm)
        lasts = [np.array([run.end for run in alike]) for alike in tasks.values()]
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
    means = group_means(place[inside], run.scores[inside], edges.size - 1)
    gaps = np.isnan(means) & (edges[1:] >= run.steps[0]) & (edges[1:] <= run.end)
    means[gaps] = np.interp(edges[1:][gaps], run.steps, run.scores)
    return means


def _part(table: ScoreTable, run: CurveRun, steps: FloatArray, scores: FloatArray) -> Rows:
    """Return rows of a run at other steps."""
    key = table.rows.only("algorithm", "task", "run").take(np.full(steps.size, run.rows[0]))
    return key.with_columns({"step": steps, "score": scores})


def in_words(step: float) -> str:
    """Return a step as people write it: 1,825,000, not 1.825e+06."""
    return f"{step:,.0f}" if step == round(step) and abs(step) < 1e15 else f"{step:,.6g}"
