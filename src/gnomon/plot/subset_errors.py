"""What more tasks, or dearer ones, buy: error by size, and the front of error against cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from gnomon.distill.distillation import Distilled
from gnomon.distill.search.pareto import ParetoPoint
from gnomon.plot.labels import name_series
from gnomon.plot.style import (
    HALF_WIDTH,
    HEIGHT,
    INK,
    SIZE,
    dress,
    new_drawing,
    number,
    series_style,
)

__all__ = ["error_by_size_curves", "pareto_front_plot", "pareto_rows", "size_rows"]


def error_by_size_curves(found: Sequence[Distilled], *, ax: Axes | None = None) -> Axes:
    """Draw the relative error by number of tasks: with the tasks given, and with them chosen again.

    Parameters
    ----------
    found : sequence of Distilled
        One of each size, with its nested validation.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.distill import sizes
    >>> draws = np.random.default_rng(0)
    >>> scores = {f"a{i}": [draws.uniform(1, 9) + draws.normal(0, 0.3, 4)] for i in range(12)}
    >>> found = sizes(gn.ScoreTable.from_arrays(scores), most=2, folds=3)
    >>> len(error_by_size_curves(found).lines) > 0
    True
    """
    if ax is None:
        ax = new_drawing(HALF_WIDTH, HEIGHT).subplots()
    dress(ax, grid="y")
    sizes = [len(one.model.tasks) for one in found]
    plain = 100.0 * np.array([one.relative_error for one in found])
    honest = 100.0 * np.array([one.nested_relative_error for one in found])
    error = 100.0 * np.array(
        [np.nan if one.nested is None else one.nested.standard_error for one in found]
    )
    styles = series_style(0), series_style(1)
    ax.fill_between(
        sizes, honest - error, honest + error, color=styles[1].color, alpha=0.18, linewidth=0
    )
    names = ("tasks given (too good)", "tasks chosen again, ± standard error")
    for values, style, name in zip((plain, honest), styles, names, strict=True):
        ax.plot(
            sizes, values, color=style.color, linestyle=style.dash, marker=style.marker,
            markersize=4.5, label=name,
        )  # fmt: skip
    top = np.nanmax(np.concatenate([plain, honest + error]))
    ax.set_ylim(0.0, 1.1 * float(top) if np.isfinite(top) and top > 0 else 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(round(value, 9))))
    ax.set_xlabel("number of tasks")
    ax.set_ylabel("relative error, %")
    name_series(ax, "upper right")
    return ax


def size_rows(found: Sequence[Distilled]) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`error_by_size_curves`."""
    return tuple(
        {
            "size": len(one.model.tasks),
            "tasks": " ".join(one.model.tasks),
            "relative_error": one.relative_error,
            "nested_relative_error": one.nested_relative_error,
            "standard_error": None if one.nested is None else one.nested.standard_error,
        }
        for one in found
    )


def pareto_front_plot(front: Sequence[ParetoPoint], *, ax: Axes | None = None) -> Axes:
    """Draw the least cross-validated error for each cost, a dot a subset, its size beside it.

    Parameters
    ----------
    front : sequence of ParetoPoint
        What :func:`gnomon.distill.search.pareto.pareto` returns.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.distill import pareto
    >>> draws = np.random.default_rng(0)
    >>> scores = {f"a{i}": [draws.uniform(1, 9) + draws.normal(0, 0.3, 3)] for i in range(12)}
    >>> costs = {"task_0": 1.0, "task_1": 2.0, "task_2": 5.0}
    >>> found = pareto(gn.ScoreTable.from_arrays(scores), costs, most=2, folds=3)
    >>> len(pareto_front_plot(found).lines) > 0
    True
    """
    if ax is None:
        ax = new_drawing(HALF_WIDTH, HEIGHT).subplots()
    dress(ax, grid="both")
    costs, errors = [p.cost for p in front], [p.cv_mse for p in front]
    ax.step(costs, errors, where="post", color=series_style(0).color, linewidth=1.4)
    ax.plot(costs, errors, "o", markersize=4.5, color=series_style(0).color)
    last = None
    for point in front:
        n = len(point.tasks)
        if n != last:
            ax.annotate(
                str(n), (point.cost, point.cv_mse), xytext=(3, 4), textcoords="offset points",
                color=INK, fontsize=SIZE - 1,
            )  # fmt: skip
        last = n
    if min(errors) > 0 and max(errors) / min(errors) > 20:
        ax.set_yscale("log")
    else:
        ax.set_ylim(0.0, 1.1 * max(errors) or 1.0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(round(value, 9))))
    ax.set_xlabel("cost (numbers: tasks in the subset)")
    ax.set_ylabel("cross-validated squared error")
    return ax


def pareto_rows(front: Sequence[ParetoPoint]) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`pareto_front_plot`."""
    return tuple({"cost": p.cost, "cv_mse": p.cv_mse, "tasks": " ".join(p.tasks)} for p in front)
