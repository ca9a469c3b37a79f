"""Figures of what distillation returns: each with its caption and its numbers.

Each function takes the results of a verb, and axes for a panel of a figure of one's own.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from gnomon.distill.comparison import Reliability
from gnomon.distill.distilled import Distillation, Sizes
from gnomon.distill.evaluation import ExplainedTasks, Fairness, thirds
from gnomon.distill.items.choice import ItemChoice
from gnomon.distill.items.item_sizes import ItemSizes
from gnomon.distill.search.pareto import ParetoFront
from gnomon.distill.selection import Stability
from gnomon.distill.structure import Correlations, SingleTasks
from gnomon.distill.validation.cross_validation import HeldOut
from gnomon.distill.validation.other_methods import Baselines
from gnomon.errors import ScoreDataError
from gnomon.plot.graphs import correlation_graph
from gnomon.plot.labels import name_rows, name_series
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    SIZE,
    axes_for,
    default_settings,
    drawing_of,
    mark_numbers,
    series_style,
)
from gnomon.plot.subsets import (
    error_by_size_curves,
    error_strip,
    error_strips,
    pareto_front_plot,
    pareto_rows,
    predicted_against_true,
    prediction_rows,
    reliability_curve,
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
        "Beside what",
        "The error of algorithms that were held out; sets fixed in hindsight are bold.",
        f"Bars of the nested error of {len(shown)} methods, {found[0].method} least",
        drawing_of(drawn),
        tuple(found.as_records()),
    )


def item_method_figure(found: ItemChoice, ax: Axes | None = None) -> Figure | Axes:
    """Draw the error of every list of items and estimate, on both protocols."""
    rows = found.rows()
    with default_settings():
        drawn = axes_for(ax, FULL_WIDTH * 0.65, 1.1 + 0.22 * len(rows), grid="x")
        for k, (name, label) in enumerate(
            (("error", "models like the old"), ("error_better", "better models"))
        ):
            style = series_style(k)
            values = [row[name] for row in rows]
            drawn.plot(
                values, range(len(rows)), linestyle="none", marker=style.marker, markersize=5,
                color=style.color, label=label,
            )  # fmt: skip
        name_rows(drawn, [row["method"] for row in rows], size=SIZE - 1.5)
        drawn.set_xlim(left=0)
        mark_numbers(drawn.xaxis, most=6)
        drawn.set_xlabel("mean size of the error, points of 100")
        name_series(drawn, "lower right")
    if ax is not None:
        return ax
    return Figure(
        "item-methods",
        "Beside what",
        "The error of the share solved, of models that were held out: at random, or the better "
        "half from the worse half.",
        f"Errors of {len(rows)} methods on two protocols, {rows[0]['method']} least in folds",
        drawing_of(drawn),
        tuple(found.as_records()),
    )


def item_size_figure(found: ItemSizes, ax: Axes | None = None) -> Figure | Axes:
    """Draw which gap of two models lists of each size tell, and the error of one model."""
    sizes = [one.n_items for one in found]
    lines = {
        "gap that is told": [one.detectable for one in found],
        "half width of the interval": [one.half_width for one in found],
        "error": [one.error for one in found],
    }
    words = {"adaptive": "error, chosen for each model", "random": "error, random items"}
    lines |= {words[name]: list(errors) for name, errors in found.others.items()}
    with default_settings():
        drawn = axes_for(ax, HALF_WIDTH * 1.15, HEIGHT, grid="y")
        for k, (name, values) in enumerate(lines.items()):
            style = series_style(k)
            drawn.plot(
                sizes, values, color=style.color, linestyle=style.dash, marker=style.marker,
                markersize=4.5, label=name,
            )  # fmt: skip
        drawn.set_xscale("log")
        drawn.set_xticks(sizes[:: max(1, len(sizes) // 5)], minor=False)
        drawn.set_xticks([], minor=True)
        drawn.set_xticklabels([f"{n:g}" for n in drawn.get_xticks()])
        drawn.set_ylim(bottom=0)
        mark_numbers(drawn.yaxis)
        drawn.set_xlabel("number of items")
        drawn.set_ylabel("points of 100")
        name_series(drawn)
    if ax is not None:
        return ax
    return Figure(
        "item-sizes",
        "What so many items tell",
        f"Models held out; a gap told with power {found.settings['power']:g}.",
        f"{len(lines)} curves that fall from {sizes[0]} to {sizes[-1]} items",
        drawing_of(drawn),
        tuple(found.as_records()),
    )


def reliability_figure(found: Reliability, ax: Axes | None = None) -> Figure | Axes:
    """Draw how often the algorithm called better was, against the probability that was said."""
    with default_settings():
        drawn = reliability_curve(
            [one.said for one in found],
            [one.came_true for one in found],
            [one.n_pairs for one in found],
            ax=ax,
        )
    if ax is not None:
        return ax
    return Figure(
        "reliability",
        "Which of two is better: said and come true",
        f"Pairs of algorithms that were held out; Brier score {found.brier:.3f}.",
        "Share of pairs in which the one called better was, against the probability said",
        drawing_of(drawn),
        tuple(found.as_records()),
    )


def fairness_figure(found: Fairness, ax: Axes | None = None) -> Figure | Axes:
    """Draw the errors of low, middle and high algorithms (figure 3 of the Atari-5 paper).

    In given axes, their sizes alone.
    """
    data, relative = found.data, found.held.relative[0]
    groups = thirds(data.target + found.held.residuals[0], data.target)
    with default_settings():
        if ax is not None:
            return error_strip(np.abs(relative), groups, ax=ax)
        drawing = error_strips(relative, groups)
    rows = [
        {"third": name, "algorithm": data.algorithms[i], "relative_error": float(relative[i])}
        for name, index in groups.items()
        for i in index
    ]
    return Figure(
        "fairness",
        "Errors of low, middle and high algorithms",
        "A dot an algorithm, by thirds of the true summary; the line is the mean.",
        f"Relative errors of {len(rows)} algorithms in three groups",
        drawing,
        tuple(rows),
        wide=True,
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


def pareto_figure(found: ParetoFront, ax: Axes | None = None) -> Figure | Axes:
    """Draw the front of error against cost; beside other ways to spend, the nested errors."""
    with default_settings():
        drawn = _errors_by_cost(found, ax) if found.others else pareto_front_plot(found, ax=ax)
    if ax is not None:
        return ax
    caption = "Nothing cheaper errs less; errors are those with the tasks given."
    if found.others:
        caption = "Nested: what is chosen is chosen again without the algorithms predicted."
    return Figure(
        "pareto",
        "Error against cost",
        caption,
        f"A front of {len(found)} subsets from {found[0].cost:g} to {found[-1].cost:g}",
        drawing_of(drawn),
        tuple(found.as_records()) if found.others else pareto_rows(found),
    )


def _errors_by_cost(found: ParetoFront, ax: Axes | None) -> Axes:
    """Draw the nested error of all ways to spend what each subset of a front costs."""
    words = {"adaptive": "chosen for each algorithm", "random": "random tasks"}
    lines = {"chosen for the cost": [one.nested_relative_error for one in found]}
    lines |= {words[name]: list(errors) for name, errors in found.others.items()}
    drawn = axes_for(ax, HALF_WIDTH, HEIGHT, grid="y")
    for i, (name, errors) in enumerate(lines.items(), 1):
        style = series_style(i)
        drawn.plot(
            [one.cost for one in found], 100.0 * np.array(errors), color=style.color,
            linestyle=style.dash, marker=style.marker, markersize=4.5, label=name,
        )  # fmt: skip
    drawn.set_ylim(bottom=0.0)
    drawn.set_xlim(left=0.0)
    mark_numbers(drawn.xaxis, drawn.yaxis)
    drawn.set_xlabel("cost of the tasks")
    drawn.set_ylabel("nested relative error, %")
    name_series(drawn, "upper right")
    return drawn
