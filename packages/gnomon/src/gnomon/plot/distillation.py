"""Figures of what distillation returns: each with its caption and its numbers.

Each function takes the results of a verb, and axes for a panel of a figure of one's own.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from gnomon.distillation.distilled import Distillation, Sizes
from gnomon.distillation.evaluation import ExplainedTasks
from gnomon.distillation.selection import Stability
from gnomon.distillation.structure import Correlations, SingleTasks
from gnomon.distillation.validation.cross_validation import HeldOut
from gnomon.distillation.validation.other_methods import Baselines
from gnomon.errors import ScoreDataError
from gnomon.plot.figure import Figure
from gnomon.plot.graphs import correlation_graph
from gnomon.plot.style import default_settings, drawing_of
from gnomon.plot.subsets import (
    error_by_size_curves,
    predicted_against_true,
    prediction_rows,
    size_rows,
    task_bars,
)
from gnomon.scores.table import FloatArray

#: More bars than this are no figure; the numbers have them all.
MOST_BARS = 60
LEVEL = 0.9


def single_task_figure(found: SingleTasks, ax: Axes | None = None) -> Figure | Axes:
    """Draw how well each task alone predicts the summary (figure 2 of the Atari-5 paper)."""
    shown = {one.task: one.r2 for one in found[:MOST_BARS]}
    xlabel = "R² of the summary, from this task alone"
    with default_settings():
        drawn = task_bars(shown, xlabel=xlabel, categories=found.categories, ax=ax)
    if ax is not None:
        return ax
    return Figure(
        "single-tasks",
        "Single tasks",
        "How much of the summary's variance a line through one task explains, in-sample.",
        f"Bars of R² of {len(shown)} tasks, from {found[0].task} to {found[-1].task}",
        drawing_of(drawn),
        tuple(found.as_records()),
    )


def explained_figure(found: ExplainedTasks, ax: Axes | None = None) -> Figure | Axes:
    """Draw how much of every task a subset explains (figure 4 of the Atari-5 paper)."""
    shown = {one.task: one.r2 for one in found[:MOST_BARS]}
    with default_settings():
        drawn = task_bars(
            shown, xlabel="R² of the task, from the subset", marked=found.subset, ax=ax
        )
    if ax is not None:
        return ax
    return Figure(
        "explained-tasks",
        "What the subset tells of every task",
        "R² in-sample; the subset's own tasks, bold, explain themselves.",
        f"Bars of R² of {len(shown)} tasks predicted from {len(found.subset)}",
        drawing_of(drawn),
        tuple({"task": one.task, "r2": one.r2} for one in found),
    )


def stability_figure(found: Stability, ax: Axes | None = None) -> Figure | Axes:
    """Draw how often each task was chosen."""
    shown = dict(found.tasks[: MOST_BARS // 2])
    xlabel = f"share of {found.n_models} draws that chose the task"
    with default_settings():
        drawn = task_bars(shown, xlabel=xlabel, ax=ax)
    if ax is not None:
        return ax
    return Figure(
        "stability",
        "Stability of the choice",
        f"{len(found.sets)} different subsets; the most frequent has {found.sets[0][1]:.0%}.",
        f"Bars of how often {len(shown)} tasks were chosen",
        drawing_of(drawn),
        tuple({"task": task, "share": share} for task, share in found.tasks),
    )


def prediction_figure(found: Distillation, ax: Axes | None = None) -> Figure | Axes:
    """Draw predicted against true summaries of the first subset, by the nested validation."""
    best, data = found[0], found.data
    if best.nested is None:
        raise ScoreDataError("expected a nested validation to draw; there was none")
    predicted = data.target + _mean_residuals(best.nested)
    half = best.model.half_width(LEVEL)
    with default_settings():
        drawn = predicted_against_true(
            predicted,
            data.target,
            data.transform,
            half_width=half,
            level=LEVEL,
            names=data.algorithms,
            ax=ax,
        )
    if ax is not None:
        return ax
    return Figure(
        "predictions",
        "Predicted against true",
        "Each algorithm by a model whose tasks and weights were chosen without it.",
        f"{best.nested.n_predicted} algorithms, predicted against true summary",
        drawing_of(drawn),
        prediction_rows(data.algorithms, predicted, data.target, data.transform),
    )


def _mean_residuals(held: HeldOut) -> FloatArray:
    """Return the residual of each algorithm, averaged over repeats; NaN if never predicted."""
    whole = ~np.isnan(held.residuals)
    sums, counts = np.where(whole, held.residuals, 0.0).sum(axis=0), whole.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def baseline_figure(found: Baselines, ax: Axes | None = None) -> Figure | Axes:
    """Draw the nested error of every way to take a few tasks."""
    shown = {one.method: 100 * one.error for one in found}
    fixed = [one.method for one in found if one.hindsight]
    with default_settings():
        drawn = task_bars(shown, xlabel="nested error, %", marked=fixed, ax=ax)
    if ax is not None:
        return ax
    return Figure(
        "baselines",
        "Comparison with baselines",
        "The error of algorithms that were held out; sets fixed in hindsight are bold.",
        f"Bars of the nested error of {len(shown)} methods, {found[0].method} least",
        drawing_of(drawn),
        tuple(found.as_records()),
    )


def correlation_figure(found: Correlations, ax: Axes | None = None) -> Figure | Axes:
    """Draw the strongest correlations as a graph (figure 5 of the Atari-5 paper)."""
    strongest = found[: found.n_strongest]
    with default_settings():
        drawn = correlation_graph(strongest, categories=found.categories, ax=ax)
    if ax is not None:
        return ax
    return Figure(
        "correlations",
        "What goes together",
        f"The {len(strongest)} strongest correlations of two tasks; distance means nothing exact.",
        f"A graph of {len(strongest)} pairs of tasks",
        drawing_of(drawn),
        tuple(one.as_record() for one in strongest),
        wide=True,
    )


def size_figure(found: Sizes, ax: Axes | None = None) -> Figure | Axes:
    """Draw how the error falls with the number of tasks."""
    with default_settings():
        drawn = error_by_size_curves(found, found.others, ax=ax)
    if ax is not None:
        return ax
    return Figure(
        "error-by-size",
        "Error by number of tasks",
        "The honest error is the one of tasks chosen again without the algorithms predicted.",
        f"Curves of the relative error of {len(found)} sizes",
        drawing_of(drawn),
        size_rows(found),
    )
