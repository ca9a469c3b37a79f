"""Predictions of algorithms that a model had not seen: against the truth, and by their quality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from gnomon.distill.prepared import Transform
from gnomon.plot.style import (
    FULL_WIDTH,
    GRID,
    HALF_WIDTH,
    INK,
    MUTED,
    SERIES,
    SIZE,
    dress,
    new_drawing,
    number,
)
from gnomon.scores.table import FloatArray

__all__ = ["error_strip", "error_strips", "predicted_against_true", "prediction_rows"]

#: Scores at which an axis may be marked, if differences are ratios.
_DECADES = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 1e5, 1e6)


def predicted_against_true(
    predicted: FloatArray,
    true: FloatArray,
    transform: Transform,
    *,
    half_width: float = float("nan"),
    level: float = 0.9,
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
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from gnomon.distill import transform_of
    >>> predicted, true = np.array([1.0, 2.1]), np.array([1.1, 2.0])
    >>> predicted_against_true(predicted, true, transform_of("identity")).get_ylabel()
    'predicted, its fold left out'
    """
    if ax is None:
        ax = new_drawing(HALF_WIDTH, HALF_WIDTH * 0.95).subplots()
    dress(ax, grid="both")
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
    ax.set_xlim(*line)
    ax.set_ylim(*line)
    ax.set_aspect("equal")
    _mark(ax, transform, line)
    ax.set_xlabel("true summary")
    ax.set_ylabel("predicted, its fold left out")
    return ax


def _mark(ax: Axes, transform: Transform, ends: FloatArray) -> None:
    """Mark both axes with scores."""
    if transform.name == "identity":
        return
    scores = _DECADES if transform.log_base is not None else (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
    places = transform.forward(np.array(scores))
    shown = places[(places >= ends[0]) & (places <= ends[1])]
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator(shown.tolist()))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(
            FuncFormatter(
                lambda place, _: number(round(float(transform.inverse(np.array(place))), 6))
            )
        )


def prediction_rows(
    algorithms: Sequence[str], predicted: FloatArray, true: FloatArray, transform: Transform
) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`predicted_against_true`, as scores."""
    p, t = transform.inverse(predicted), transform.inverse(true)
    return tuple(
        {"algorithm": name, "true": float(t[i]), "predicted": float(p[i])}
        for i, name in enumerate(algorithms)
    )


def error_strips(
    relative: FloatArray, thirds: Mapping[str, npt.NDArray[np.int64]], *, fig: Drawing | None = None
) -> Drawing:
    """Draw the errors of groups of algorithms as dots: their sizes, and with their signs.

    Parameters
    ----------
    relative : ndarray of float, shape (algorithms,)
        Signed relative errors.
    thirds : mapping from name to ndarray of int
        The algorithms of each group, from top to bottom.
    fig : matplotlib.figure.Figure, optional
        An empty one to draw on.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> drawing = error_strips(np.array([0.1, -0.2, 0.05]), {"all": np.array([0, 1, 2])})
    >>> len(drawing.axes)
    2
    """
    fig = new_drawing(FULL_WIDTH, 0.95 + 0.62 * len(thirds)) if fig is None else fig
    sizes, signs = fig.subplots(1, 2, sharey=True)
    error_strip(np.abs(relative), thirds, ax=sizes).set_title(
        "accuracy: size of the error", loc="left", fontsize=SIZE + 1, color=INK
    )
    error_strip(relative, thirds, ax=signs).set_title(
        "bias: error with its sign", loc="left", fontsize=SIZE + 1, color=INK
    )
    signs.axvline(0.0, color=MUTED, linewidth=1.0, zorder=1.5)
    return fig


def error_strip(
    errors: FloatArray, thirds: Mapping[str, npt.NDArray[np.int64]], *, ax: Axes
) -> Axes:
    """Draw one kind of error of groups of algorithms as dots, a row a group.

    Parameters
    ----------
    errors : ndarray of float, shape (algorithms,)
        Relative errors.
    thirds : mapping from name to ndarray of int
        The algorithms of each group, from top to bottom.
    ax : matplotlib.axes.Axes
    """
    dress(ax, grid="x")
    for row, index in enumerate(thirds.values()):
        _strip(ax, row, 100.0 * errors[index])
    ax.set_xlabel("relative error, %")
    ax.set_yticks(range(len(thirds)), [f"{n} ({len(i)})" for n, i in thirds.items()])
    ax.tick_params(axis="y", labelcolor=INK, labelsize=SIZE)
    ax.set_ylim(len(thirds) - 0.4, -0.6)
    return ax


def _strip(ax: Axes, row: int, values: FloatArray) -> None:
    """Draw values as dots, neighbours above one another, and their mean as a line."""
    order = np.argsort(values, kind="stable")
    shift = np.resize([0.0, 0.12, -0.12, 0.06, -0.06], len(values))
    ax.plot(values[order], row + shift, "o", markersize=4, color=SERIES[0], alpha=0.65)
    mean = float(values.mean())
    ax.plot([mean, mean], [row - 0.3, row + 0.3], color=SERIES[1], linewidth=2.2)
    ax.annotate(
        f"{mean:.1f}", (mean, row - 0.3), xytext=(0, 1), textcoords="offset points",
        ha="center", va="bottom", color=INK, fontsize=SIZE - 1.5,
    )  # fmt: skip
    ax.plot([], [], color=GRID)
