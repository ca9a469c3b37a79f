"""Sensitivity to hyper-parameters, and what the best of many settings owes to luck.

Two numbers of Adkins, Bowling and White (2024, *A method for evaluating hyperparameter sensitivity
in reinforcement learning*, NeurIPS). The *sensitivity* is what a learner gains by tuning on every
task: the mean over tasks of the best setting's score on each, less the score of the setting that
has the best mean. The *effective dimensionality* is the least number of hyper-parameters whose
tuning on every task, the others left at that setting's values, reaches 95 % of the peak. Scores
are put on one scale by the 5th and the 95th percentile of all settings on a task.

The best of many settings is partly the luckiest: its mean is too high, and so are both terms. How
much, says choosing again without some runs: in each of many draws one run of every setting and task
is held out, the choice is made by the others, and the held-out run of the chosen one is its score.
Drawing with replacement instead, as the bootstrap does, would understate the optimism of equally
good settings by 30 % if it scored the choice by all runs, and overstate it by 40 % if by those that
were not drawn.

Draws share most of their runs, so their errors go together; twice the variance of a mean of as many
runs stands for that. In simulations of 6 and 30 settings on 5 tasks the interval of nominally 95 %
of what a choice is worth covers 95 to 100 % with 2 to 5 runs, 91 to 98 % with 10, and with 20 runs
95 to 98 % or, where all settings are equally good, 80 to 91 % (``python -m benchmarks
held_out_coverage``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gnomon.errors import ScoreDataError, listed
from gnomon.results import FieldRecord, Results, generator, made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.robustness.hyperparameters import SettingGrid, Settings, setting_grids

#: Percentiles of all settings that become 0 and 1 on each task.
ANCHORS = (5.0, 95.0)
#: How many times as large the variance is as that of a mean of so many independent runs.
INFLATION = 2.0


@dataclass(frozen=True, slots=True)
class Sensitivity(FieldRecord):
    """One number about how a learner depends on its hyper-parameters.

    A number that does not exist is NaN here and None in :meth:`as_record`.

    Parameters
    ----------
    algorithm : str
        The learner.
    measure : str
        ``tuned_per_task``: mean over tasks of the best setting's score on each;
        ``tuned_across_tasks``: score of the one setting that has the best mean; ``sensitivity``:
        their difference; ``effective_dimensionality``: how many hyper-parameters have to be tuned.
    value : float
        By the runs that chose; too high on average, but for the last.
    held_out : float
        By runs that had no part in the choice.
    low, high : float
        Interval of `held_out`.
    optimism : float
        `value` less `held_out`: what is owed to choosing the luckiest.
    optimism_low, optimism_high : float
        Its interval.
    level : float
        Confidence level.
    chosen : str
        The setting with the best mean, or the hyper-parameters to tune.
    n_settings, n_hyperparameters, n_tasks : int
        How many there are; hyper-parameters with one value do not count.
    n_runs : int or (int, int)
        Runs of a setting on a task; the least and the most where they differ.
    n_resamples : int
        Number of draws of runs to hold out.

    Examples
    --------
    >>> from gnomon.stats import sensitivity
    >>> scores = ScoreTable.from_arrays({"dqn, lr=1": [[1.0, 9.0]], "dqn, lr=2": [[3.0, 8.0]]})
    >>> import warnings; warnings.simplefilter("ignore")
    >>> sensitivity(scores).where(measure="tuned_across_tasks")[0].n_settings
    2
    """

    algorithm: str
    measure: str
    value: float
    held_out: float
    low: float
    high: float
    optimism: float
    optimism_low: float
    optimism_high: float
    level: float
    chosen: str
    n_settings: int
    n_hyperparameters: int
    n_tasks: int
    n_runs: int | tuple[int, int]
    n_resamples: int


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivities(Results[Sensitivity]):
    """Sensitivity of every learner of a table to its settings; see :func:`sensitivity`.

    Examples
    --------
    >>> from gnomon.stats import sensitivity
    >>> draws = np.random.default_rng(0)
    >>> runs = {f"dqn, lr={i}": draws.normal(i, 1, (5, 4)) for i in range(3)}
    >>> sensitivity(ScoreTable.from_arrays(runs))[0].measure
    'tuned_per_task'
    """

    columns = (
        *("algorithm", "measure", "value", "held_out", "low", "high", "optimism", "chosen"),
        "n_settings",
    )
    drawn_by = "gnomon.plot.statistics:draw_sensitivities"

    @property
    def title(self) -> str | None:
        """What was measured, on which scale."""
        return self.settings.get("title")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the interval is of, and how large the dimensionality could be."""
        most = {one.algorithm: one.n_hyperparameters for one in self}
        counts = ", ".join(f"{name} {n}" for name, n in most.items())
        return (
            "held_out: by runs that had no part in choosing; low, high: its interval; "
            "optimism: value less held_out",
            f"hyper-parameters with several values: {counts}",
        )


def sensitivity(
    scores: ScoreTable,
    settings: Settings | None = None,
    *,
    learner: str = "learner",
    share: float = 0.95,
    level: float = 0.95,
    n_resamples: int = 500,
    rng: np.random.Generator | int | None = None,
) -> Sensitivities:
    """Measure how learners depend on their hyper-parameters, and the optimism of the best setting.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run, of several settings of one or more learners. Scores that were not
        normalised are put on a scale on which the 5th percentile of the settings' means is 0 on
        each task, and the 95th is 1.
    settings : sequence of str or mapping, optional
        The attribute columns that are hyper-parameters; or the settings of each algorithm by name;
        if not given, the names of the algorithms tell, as in ``dqn, gamma=0.9, learning_rate=0.1``.
    learner : str
        The column, or the name in the mapping, that tells learners apart.
    share : float
        Share of the peak that is to be reached, for the effective dimensionality.
    level : float
        Confidence level.
    n_resamples : int
        Number of draws of runs to hold out.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 if not given.

    Returns
    -------
    Sensitivities
        For each learner the four measures.

    Raises
    ------
    ScoreDataError, UnknownNameError
        Settings are not told, a learner has no setting with scores on every task, or on no task
        settings differ.

    Warns
    -----
    DegenerateScoresWarning
        Settings or tasks are left out; a setting has a single run on some task, and nothing can be
        held out (NaN); a learner has one setting; or its peak is not above 0, and no share of it
        can be reached.

    Examples
    --------
    >>> from gnomon.stats import sensitivity
    >>> draws = np.random.default_rng(0)
    >>> skill = {"a=1, b=1": [0, 9], "a=1, b=2": [0, 9], "a=2, b=1": [9, 0], "a=2, b=2": [9, 1]}
    >>> runs = {f"dqn, {name}": draws.normal(x, 0.1, (5, 2)) for name, x in skill.items()}
    >>> for one in sensitivity(ScoreTable.from_arrays(runs)):
    ...     print(f"{one.measure}: {one.value:.2f} ({one.chosen})")
    tuned_per_task: 1.00 ()
    tuned_across_tasks: 0.55 (a=2, b=2)
    sensitivity: 0.45 ()
    effective_dimensionality: 1.00 (a)
    """
    if not 0.0 < level < 1.0 or not 0.0 < share <= 1.0:
        raise ScoreDataError(f"expected level and share between 0 and 1, found {level}, {share}")
    draws = generator(rng)
    with recorded() as notes:
        grids = setting_grids(scores, settings, learner=learner)
        if scores.normalization is None:
            grids = _on_one_scale(grids, scores.higher_is_better)
        elif not scores.higher_is_better:
            zero, one = np.zeros(len(grids[0].tasks)), np.ones(len(grids[0].tasks))
            grids = [grid.mapped(zero, one, -1.0) for grid in grids]
        found = [x for grid in grids for x in _measured(grid, share, level, n_resamples, draws)]
    low, high = ANCHORS
    scale = "as normalised" if scores.normalization else f"0 and 1: {low:g}th and {high:g}th "
    scale += "" if scores.normalization else "percentile of all settings on each task"
    kept = made_by(
        rng,
        title=f"{scores.scale}, {scale}",
        share=share,
        level=level,
        n_resamples=n_resamples,
    )
    return Sensitivities(tuple(found), kept, tuple(notes))


def _on_one_scale(grids: Sequence[SettingGrid], higher_is_better: bool) -> list[SettingGrid]:
    """Return scores on the scale of the settings' percentiles; tasks without spread go."""
    sign = 1.0 if higher_is_better else -1.0
    means = sign * np.concatenate([grid.means for grid in grids])
    finite = np.where(np.isfinite(means), means, np.nan)
    tasks = grids[0].tasks
    if np.isnan(finite).all(axis=0).any():
        raise ScoreDataError("expected finite scores on each task, found a task with none")
    low, high = np.nanpercentile(finite, ANCHORS, axis=0)
    flat = [task for task, a, b in zip(tasks, low, high, strict=True) if a == b]
    if len(flat) == len(tasks):
        raise ScoreDataError(
            "expected settings that differ in score, found the same mean for all on every task"
        )
    if flat:
        warn(f"{len(flat)} of {len(tasks)} tasks left out, settings do not differ: {listed(flat)}")
    kept = [i for i, task in enumerate(tasks) if task not in flat]
    return [grid.on_tasks(kept).mapped(low[kept], high[kept], sign) for grid in grids]


def _measured(
    grid: SettingGrid, share: float, level: float, n_resamples: int, draws: np.random.Generator
) -> list[Sensitivity]:
    """Return the four measures of one learner."""
    means, counts = grid.means, grid.counts
    best = int(np.argmax(means.mean(axis=1)))
    tuned, across = float(means.max(axis=0).mean()), float(means[best].mean())
    values = {"tuned_per_task": tuned, "tuned_across_tasks": across, "sensitivity": tuned - across}
    unknown = (math.nan, math.nan)
    held: dict[str, tuple[float, float]] = dict.fromkeys(values, unknown)
    if len(grid.values) == 1:
        warn(f"{grid.learner}: one setting alone, so nothing was chosen")
    if counts.min() == 1.0:
        warn(f"{grid.learner}: a setting has a single run on some task, so none can be held out")
    elif np.isfinite(means).all():
        held = _held_out(grid, level, n_resamples, draws)
    else:
        warn(f"{grid.learner}: not estimable without runs, some are infinite (censored)")
    if len(grid.values) == 1:
        held = {name: (values[name], half) for name, (_, half) in held.items()}
    least, most = int(counts.min()), int(counts.max())
    shared = (len(grid.values), len(grid.names), len(grid.tasks))
    tail = (*shared, least if least == most else (least, most), n_resamples)
    found = []
    for measure, value in values.items():
        center, half = held[measure]
        optimism = value - center
        chosen = grid.named(best) if measure == "tuned_across_tasks" else ""
        found.append(
            Sensitivity(
                grid.learner, measure, value, center, center - half, center + half,
                optimism, optimism - half, optimism + half, level, chosen, *tail,
            )
        )  # fmt: skip
    size, names = _dimensionality(grid, means, best, share)
    nothing = (math.nan,) * 6
    found.append(
        Sensitivity(
            grid.learner, "effective_dimensionality", size, *nothing, level, ", ".join(names), *tail
        )
    )
    return found


def _held_out(
    grid: SettingGrid, level: float, n_resamples: int, draws: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Return what choices are worth on runs that did not make them, with half widths.

    In a draw one run of each setting and task is held out, and the others choose.
    """
    from scipy import special

    counts = grid.counts
    most = int(counts.max())
    runs = np.zeros((*counts.shape, most))
    for i, cells in enumerate(grid.runs):
        for j, x in enumerate(cells):
            runs[i, j, : x.size] = x
    totals = runs.sum(axis=2)
    errors = np.array([[x.var(ddof=1) / x.size for x in cells] for cells in grid.runs])
    tasks = np.arange(counts.shape[1])
    sums = {name: np.zeros(3) for name in ("tuned_per_task", "tuned_across_tasks", "sensitivity")}
    for _ in range(n_resamples):
        picks = draws.integers(counts.astype(np.int64))
        out = np.take_along_axis(runs, picks[..., None], axis=2)[..., 0]
        rest = (totals - out) / (counts - 1.0)
        own, common = rest.argmax(axis=0), np.full(tasks.size, rest.mean(axis=1).argmax())
        apart = own != common
        one, other = errors[own, tasks], errors[common, tasks]
        both = np.concatenate([one[apart], other[apart]])
        dfs = counts[own, tasks] - 1.0, counts[common, tasks] - 1.0
        of_both = np.concatenate([dfs[0][apart], dfs[1][apart]])
        scores = out[own, tasks].mean(), out[common, tasks].mean()
        sums["tuned_per_task"] += _moments(scores[0], one, dfs[0])
        sums["tuned_across_tasks"] += _moments(scores[1], other, dfs[1])
        sums["sensitivity"] += _moments(scores[0] - scores[1], both, of_both)
    found = {}
    for name, (score, variance, squares) in sums.items():
        half = 0.0
        if variance > 0.0:
            df = max(counts.min() - 1.0, variance**2 / (squares * n_resamples))
            error = math.sqrt(INFLATION * variance / n_resamples) / tasks.size
            half = float(special.stdtrit(df, (1.0 + level) / 2.0)) * error
        found[name] = (float(score) / n_resamples, half)
    return found


def _moments(score: float, variances: FloatArray, dfs: FloatArray) -> FloatArray:
    """Return what is summed over draws: score, variance, and what Satterthwaite divides by."""
    return np.array([score, variances.sum(), np.sum(np.square(variances) / dfs)])


def _dimensionality(
    grid: SettingGrid, means: FloatArray, best: int, share: float
) -> tuple[float, tuple[str, ...]]:
    """Return the least number of hyper-parameters whose tuning reaches the share, and which."""
    peak = float(means.max(axis=0).mean())
    if not 0.0 < peak < math.inf:
        warn(f"{grid.learner}: effective dimensionality not estimable, its peak is {peak:.3g}")
        return math.nan, ()
    fixed = [
        [row[i] == grid.values[best][i] for i in range(len(grid.names))] for row in grid.values
    ]
    like_best = np.array(fixed, dtype=bool).reshape(len(grid.values), len(grid.names))
    for size in range(len(grid.names) + 1):
        reached = {
            tuned: float(means[np.delete(like_best, tuned, axis=1).all(axis=1)].max(axis=0).mean())
            for tuned in combinations(range(len(grid.names)), size)
        }
        tuned = max(reached, key=lambda names: reached[names])
        if reached[tuned] >= share * peak:
            return float(size), tuple(grid.names[i] for i in tuned)
    raise AssertionError("all hyper-parameters tuned are the peak")
