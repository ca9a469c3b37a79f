"""Smaller suites drawn: predictions, errors by size and cost, and a bar for each task."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from gnomon.distillation.distilled import Distilled
from gnomon.distillation.preparation.prepared import Transform
from gnomon.errors import shortened
from gnomon.plot.labels import name_points, name_rows, name_series
from gnomon.plot.style import (
    HALF_WIDTH,
    HEIGHT,
    INK,
    LONGEST,
    MUTED,
    SERIES,
    SIZE,
    axes_for,
    category_colors,
    mark_numbers,
    series_style,
    tick_labels,
)
from gnomon.scores.table import FloatArray

#: Height of a bar of a task with its gap, in inches.
ROW = 0.185
#: More names than these run into each other.
_MOST_NAMED = 12


def predicted_against_true(
    predicted: FloatArray,
    true: FloatArray,
    transform: Transform,
    *,
    half_width: float = float("nan"),
    level: float = 0.9,
    names: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw predictions against the truth, with the line of equality and a prediction interval.

    Parameters
    ----------
    predicted, true : ndarray of float, shape (algorithms,)
        Transformed summaries; NaN is left out.
    transform : Transform
        For the numbers on the axes, which are scores.
    half_width : float
        Of the interval, transformed; NaN for none.
    level : float
        Of the interval.
    names : sequence of str
        Of the algorithms: the twelve farthest outside the interval are named.
    ax : matplotlib.axes.Axes, optional

    Examples
    --------
    >>> from gnomon.distillation import transform_of
    >>> predicted, true = np.array([1.0, 2.1]), np.array([1.1, 2.0])
    >>> predicted_against_true(predicted, true, transform_of("identity")).get_ylabel()
    'predicted, its fold left out'
    """
    ax = axes_for(ax, HALF_WIDTH, HALF_WIDTH * 0.95, grid="both")
    whole = ~(np.isnan(predicted) | np.isnan(true))
    p, t = predicted[whole], true[whole]
    ends = np.array([min(p.min(), t.min()), max(p.max(), t.max())]) if p.size else np.array([0, 1])
    air = 0.05 * (ends[1] - ends[0]) or 1.0
    line = np.array([ends[0] - air, ends[1] + air])
    if np.isfinite(half_width):
        ax.fill_between(
            line, line - half_width, line + half_width, color=SERIES[0], alpha=0.13, linewidth=0
        )
        ax.text(
            0.03, 0.97, f"band: {level:.0%} of new algorithms", transform=ax.transAxes, va="top",
            color=MUTED, fontsize=SIZE - 1,
        )  # fmt: skip
    ax.plot(line, line, color=MUTED, linewidth=1.0)
    inside = ~(np.abs(p - t) > half_width)
    ax.plot(t[inside], p[inside], "o", markersize=4, color=SERIES[0], alpha=0.8)
    ax.plot(t[~inside], p[~inside], "D", markersize=4.5, color=SERIES[1])
    known = [name for name, shown in zip(names, whole, strict=False) if shown]
    ax.set_xlim(*line)
    ax.set_ylim(*line)
    ax.set_aspect("equal")
    _mark(ax, transform, line)
    ax.set_xlabel("true summary")
    ax.set_ylabel("predicted, its fold left out")
    at = np.column_stack([t, p])
    outside = np.flatnonzero(~inside)
    farthest = np.sort(outside[np.argsort(-np.abs(p - t)[outside], kind="stable")[:_MOST_NAMED]])
    if known:
        name_points(ax, at[farthest], [known[i] for i in farthest], size=SIZE - 2)
    return ax


def _mark(ax: Axes, transform: Transform, ends: FloatArray) -> None:
    """Mark both axes with scores."""
    if transform.name == "identity":
        return
    low, high = (float(x) for x in transform.inverse(ends))
    scores: Sequence[float] = (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
    if transform.log_base is not None:
        scores = _logarithmic_marks(low, high)
    shown = [score for score in scores if low <= score <= high]
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator(transform.forward(np.array(shown)).tolist()))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FixedFormatter(tick_labels(shown)))


def _logarithmic_marks(low: float, high: float) -> list[float]:
    """Return round scores between two, the more for each decade the fewer decades there are."""
    first, last = (math.floor(math.log10(x)) for x in (max(low, 1e-3 * high), high))
    zero = [0.0] if low <= 0.0 else []
    for steps in ((1,), (1, 3), (1, 2, 5)):
        marks = [m * 10.0**k for k in range(first, last + 1) for m in steps]
        if sum(low <= mark <= high for mark in marks) >= 3:
            return zero + marks
    return [float(mark) for mark in MaxNLocator(5).tick_values(low, high)]


def prediction_rows(
    algorithms: Sequence[str], predicted: FloatArray, true: FloatArray, transform: Transform
) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`predicted_against_true`, as scores."""
    p, t = transform.inverse(predicted), transform.inverse(true)
    return tuple(
        {"algorithm": name, "true": float(t[i]), "predicted": float(p[i])}
        for i, name in enumerate(algorithms)
    )


def error_by_size_curves(
    found: Sequence[Distilled],
    others: Mapping[str, Sequence[float]] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the relative error by number of tasks: with the tasks given, and with them chosen again.

    Parameters
    ----------
    found : sequence of Distilled
        One of each size, with its nested validation.
    others : mapping from {"random"} to sequence of float, optional
        Errors of other ways to take as many tasks.
    ax : matplotlib.axes.Axes, optional

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.distillation import sizes
    >>> draws = np.random.default_rng(0)
    >>> scores = {f"a{i}": [draws.uniform(1, 9) + draws.normal(0, 0.3, 4)] for i in range(12)}
    >>> found = sizes(gn.ScoreTable.from_arrays(scores), most=2, folds=3)
    >>> len(error_by_size_curves(found).lines) > 0
    True
    """
    ax = axes_for(ax, HALF_WIDTH, HEIGHT, grid="y")
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
    drawn = {f"{name} tasks": 100.0 * np.array(errors) for name, errors in (others or {}).items()}
    for i, (name, values) in enumerate(drawn.items(), 2):
        style = series_style(i)
        ax.plot(
            sizes, values, color=style.color, linestyle=style.dash, marker=style.marker,
            markersize=4.5, label=name,
        )  # fmt: skip
    top = np.nanmax(np.concatenate([plain, honest + error, *drawn.values()]))
    ax.set_ylim(0.0, 1.1 * float(top) if np.isfinite(top) and top > 0 else 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    mark_numbers(ax.yaxis)
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


def task_bars(
    values: Mapping[str, float],
    *,
    xlabel: str = "",
    categories: Mapping[str, str] | None = None,
    marked: Collection[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar for each task, in the order given, with its number at the end.

    Parameters
    ----------
    values : mapping from task to float
        From top to bottom; a value that does not exist has a dash and no bar.
    xlabel : str
    categories : mapping from task to str, optional
        Tasks of a category have a colour, which a legend names.
    marked : collection of str
        Tasks whose names are bold.
    ax : matplotlib.axes.Axes, optional

    Examples
    --------
    >>> ax = task_bars({"pong": 0.8, "boxing": float("nan")}, marked=["pong"])
    >>> [label.get_text() for label in ax.get_yticklabels()], len(ax.patches)
    (['pong', 'boxing'], 1)
    """
    names, n = list(values), len(values)
    ax = axes_for(ax, HALF_WIDTH * 1.15, 0.9 + ROW * max(n, 3), grid="x")
    colors = category_colors({t: (categories or {}).get(t, "") for t in names})
    finite = [v for v in values.values() if v == v]
    low, high = min([0.0, *finite]), max([0.0, *finite]) or 1.0
    for row, (task, value) in enumerate(values.items()):
        if value == value:
            color = colors.get((categories or {}).get(task, ""), SERIES[0])
            ax.barh(row, value, height=0.72, color=color)
        ax.annotate(
            f"{value:.2f}" if value == value else "–",
            (max(value, 0.0) if value == value else 0.0, row),
            xytext=(3, 0), textcoords="offset points", va="center", color=MUTED,
            fontsize=SIZE - 2.5,
        )  # fmt: skip
    ax.set_xlim(low * 1.05, high * 1.12)
    name_rows(ax, [shortened(name, LONGEST) for name in names], size=SIZE - 1.5)
    for name, label in zip(names, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if name in marked else "normal")
    mark_numbers(ax.xaxis, most=5)
    ax.set_xlabel(xlabel)
    if len(colors) > 1:
        handles = [Patch(color=color, label=name or "other") for name, color in colors.items()]
        ax.legend(
            handles=handles, loc="lower right", frameon=False, fontsize=SIZE - 1.5,
            labelcolor=INK,
        )  # fmt: skip
    return ax
