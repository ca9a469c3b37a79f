"""The figures of distillation, each with its words and its numbers.

They draw what they are given; ``gnomon distill`` and ``gnomon suite`` write them with ``--figure``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from gnomon.distill.distillation import Distilled
from gnomon.distill.prepared import PreparedScores
from gnomon.distill.search.pareto import ParetoPoint
from gnomon.distill.stability import Stability
from gnomon.distill.structure import (
    Edge,
    SingleTask,
    TaskModels,
    thirds,
)
from gnomon.distill.validation import HeldOut
from gnomon.errors import ScoreDataError
from gnomon.plot.correlation_graph import correlation_graph
from gnomon.plot.predictions import error_strips, predicted_against_true, prediction_rows
from gnomon.plot.record import Figure
from gnomon.plot.style import drawing_of, house_settings
from gnomon.plot.subset_errors import (
    error_by_size_curves,
    pareto_front_plot,
    pareto_rows,
    size_rows,
)
from gnomon.plot.task_bars import task_bars

__all__ = [
    "correlation_figure",
    "explained_figure",
    "fairness_figure",
    "pareto_figure",
    "prediction_figure",
    "single_task_figure",
    "size_figure",
    "stability_figure",
]

#: More bars than this are no figure; the numbers have them all.
MOST_BARS = 60
LEVEL = 0.9


def single_task_figure(singles: Sequence[SingleTask], categories: Mapping[str, str]) -> Figure:
    """Return how well each task alone predicts the summary (figure 2 of the Atari-5 paper)."""
    shown = {one.task: one.r2 for one in singles[:MOST_BARS]}
    with house_settings():
        ax = task_bars(
            shown, xlabel="R² of the summary, from this task alone", categories=categories
        )
    return Figure(
        "single-tasks",
        "Single tasks",
        "How much of the summary's variance a line through one task explains, in-sample.",
        f"Bars of R² of {len(shown)} tasks, from {singles[0].task} to {singles[-1].task}",
        drawing_of(ax),
        tuple(asdict(one) for one in singles),
    )


def explained_figure(models: TaskModels, subset: Sequence[str]) -> Figure:
    """Return how much of every task a subset explains (figure 4 of the Atari-5 paper)."""
    ordered = dict(sorted(models.r2.items(), key=lambda item: -item[1]))
    shown = dict(list(ordered.items())[:MOST_BARS])
    with house_settings():
        ax = task_bars(shown, xlabel="R² of the task, from the subset", marked=subset)
    return Figure(
        "explained-tasks",
        "What the subset tells of every task",
        "R² in-sample; the subset's own tasks, bold, explain themselves.",
        f"Bars of R² of {len(shown)} tasks predicted from {len(subset)}",
        drawing_of(ax),
        tuple({"task": task, "r2": r2} for task, r2 in ordered.items()),
    )


def stability_figure(found: Stability) -> Figure:
    """Return how often each task was chosen."""
    shown = dict(found.tasks[: MOST_BARS // 2])
    with house_settings():
        ax = task_bars(shown, xlabel=f"share of {found.n_models} draws that chose the task")
    return Figure(
        "stability",
        "Stability of the choice",
        f"{len(found.sets)} different subsets; the most frequent has {found.sets[0][1]:.0%}.",
        f"Bars of how often {len(shown)} tasks were chosen",
        drawing_of(ax),
        tuple({"task": task, "share": share} for task, share in found.tasks),
    )


def prediction_figure(data: PreparedScores, found: Distilled) -> Figure:
    """Return predicted against true summaries, by the nested validation, with its interval."""
    if found.nested is None:
        raise ScoreDataError("expected a nested validation to draw; there was none")
    predicted = data.target + _mean_residuals(found.nested)
    half = found.model.half_width(LEVEL)
    with house_settings():
        ax = predicted_against_true(
            predicted, data.target, data.transform, half_width=half, level=LEVEL
        )
    return Figure(
        "predictions",
        "Predicted against true",
        "Each algorithm by a model whose tasks and weights were chosen without it.",
        f"{found.nested.n_predicted} algorithms, predicted against true summary",
        drawing_of(ax),
        prediction_rows(data.algorithms, predicted, data.target, data.transform),
    )


def _mean_residuals(held: HeldOut) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the residual of each algorithm, averaged over repeats; NaN if never predicted."""
    whole = ~np.isnan(held.residuals)
    sums, counts = np.where(whole, held.residuals, 0.0).sum(axis=0), whole.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def fairness_figure(data: PreparedScores, held: HeldOut) -> Figure:
    """Return the errors of low, middle and high algorithms (figure 3 of the Atari-5 paper)."""
    relative = held.relative[0]
    groups = thirds(data.target + held.residuals[0], data.target)
    with house_settings():
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


def correlation_figure(edges: Sequence[Edge], categories: Mapping[str, str]) -> Figure:
    """Return the strongest correlations as a graph (figure 5 of the Atari-5 paper)."""
    if not edges:
        raise ScoreDataError("expected correlated tasks to draw; no two share enough algorithms")
    with house_settings():
        ax = correlation_graph(edges, categories=categories)
    return Figure(
        "correlations",
        "What goes together",
        f"The {len(edges)} strongest correlations of two tasks; distance means nothing exact.",
        f"A graph of {len(edges)} pairs of tasks",
        drawing_of(ax),
        tuple(asdict(edge) for edge in edges),
        wide=True,
    )


def size_figure(found: Sequence[Distilled]) -> Figure:
    """Return how the error falls with the number of tasks."""
    with house_settings():
        ax = error_by_size_curves(found)
    return Figure(
        "error-by-size",
        "Error by number of tasks",
        "The honest error is the one of tasks chosen again without the algorithms predicted.",
        f"Two curves of the relative error of {len(found)} sizes",
        drawing_of(ax),
        size_rows(found),
    )


def pareto_figure(front: Sequence[ParetoPoint]) -> Figure:
    """Return the front of error against cost."""
    with house_settings():
        ax = pareto_front_plot(front)
    return Figure(
        "pareto",
        "Error against cost",
        "Nothing cheaper errs less; errors are those with the tasks given.",
        f"A front of {len(front)} subsets from {front[0].cost:g} to {front[-1].cost:g}",
        drawing_of(ax),
        pareto_rows(front),
    )
