"""Sample efficiency: a metric of each algorithm along the steps of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from gnomon.plot.intervals import METRIC_NAMES
from gnomon.plot.labels import name_series
from gnomon.plot.style import (
    FULL_WIDTH,
    HEIGHT,
    INK,
    SIZE,
    band_alpha,
    dress,
    new_drawing,
    number,
    series_style,
)
from gnomon.stats.learning_curves import Curve

__all__ = ["efficiency_rows", "sample_efficiency_curves"]

#: Curves of more steps than this have no marker at each.
MOST_MARKED = 25


def sample_efficiency_curves(
    curves: Sequence[Curve],
    *,
    xlabel: str = "step",
    ylabel: str | None = None,
    series: Mapping[str, int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one metric of several algorithms along the steps, with pointwise bands.

    Parameters
    ----------
    curves : sequence of Curve
        Of one metric; from :func:`~gnomon.stats.learning_curves.curves`.
    xlabel, ylabel : str, optional
        What the axes measure; the metric if not given.
    series : mapping from algorithm to int, optional
        Number of each one's style; its place among the curves if not given.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = new_drawing(FULL_WIDTH * 0.65, HEIGHT * 1.25).subplots() if ax is None else ax
    dress(ax, grid="both")
    for i, curve in enumerate(curves):
        style = series_style(series[curve.algorithm] if series else i)
        marker = style.marker if curve.step.size <= MOST_MARKED else ""
        ax.plot(
            curve.step, curve.value, color=style.color, linestyle=style.dash, linewidth=1.6,
            label=curve.algorithm, marker=marker, markersize=3.5,
        )  # fmt: skip
        if np.isfinite(curve.low).any():
            ax.fill_between(
                curve.step,
                curve.low,
                curve.high,
                color=style.color,
                linewidth=0,
                alpha=band_alpha(len(curves)),
            )
    ends = [(float(c.step[0]), float(c.step[-1])) for c in curves]
    ax.set_xlim(min(e[0] for e in ends), max(e[1] for e in ends))
    ax.xaxis.set_major_locator(MaxNLocator(5))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(round(value, 9))))
    name = curves[0].metric
    ax.set_title(METRIC_NAMES.get(name, name), loc="left", fontsize=SIZE + 1, color=INK)
    ax.set_xlabel(xlabel)
    ax.set_ylabel("" if ylabel is None else ylabel)
    name_series(ax, "best")
    return ax


def efficiency_rows(curves: Sequence[Curve]) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`sample_efficiency_curves`: a row a curve and step."""
    return tuple(record for curve in curves for record in curve.as_records())
