"""The figure of a smaller suite: predictions against the truth."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from gnomon.distillation.distilled import Distillation
from gnomon.distillation.transforms import Transform
from gnomon.errors import ScoreDataError
from gnomon.plot.figure import Figure, Panel, frame
from gnomon.plot.style import HALF_WIDTH, INK, MUTED, SERIES, SIZE, dress, short_number
from gnomon.scores.table import FloatArray
from gnomon.tables import percent

_LEVEL = 0.9


def prediction_figure(found: Distillation, ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of predicted against true summaries, by the nested validation."""
    best, data = found[0], found.data
    held = best.nested
    if held is None:
        raise ScoreDataError("expected a nested validation to draw; there was none")
    predicted, half = data.target + held.residuals, best.model.half_width(_LEVEL)
    ends = [
        (p - half, p + half) if f is None else f.interval(_LEVEL, best.model.scale)
        for p, f in zip(predicted, held.forecasts or [None] * len(predicted), strict=True)
    ]
    points = np.array([data.target, predicted, *np.transpose(ends)])
    values = data.transform.inverse(points).T.tolist()
    names = ("true", "predicted", "low", "high")
    rows = [
        {"algorithm": a, **dict(zip(names, own, strict=True))}
        for a, own in zip(data.algorithms, values, strict=True)
    ]
    n_outside = int(_outside(points).sum())
    return frame(
        [Panel(partial(_draw_predictions, found, points), height=HALF_WIDTH * 0.95)],
        ax,
        name="predictions",
        title="Predicted against true",
        caption="Each algorithm is predicted by a model with tasks and weights chosen without it. "
        f"Vertical lines: {percent(_LEVEL)} prediction intervals; those of {n_outside} of "
        f"{held.n_predicted} algorithms (diamonds) miss the diagonal, on which predictions are "
        "exact.",
        alt=f"{held.n_predicted} algorithms, predicted against true summary",
        rows=rows,
    )


def _outside(points: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whose true summary lies outside the interval."""
    true, _, low, high = points
    return np.asarray((true < low) | (true > high))


def _draw_predictions(found: Distillation, points: FloatArray, ax: Axes) -> None:
    data = found.data
    whole = ~np.isnan(points[1])
    t, p, low, high = points[:, whole]
    ends = np.array([min(p.min(), t.min()), max(p.max(), t.max())])
    line = ends + np.array([-0.05, 0.05]) * (np.ptp(ends) or 1.0)
    dress(ax, grid="both")
    ax.plot(line, line, color=MUTED, linewidth=1.0)
    outside = _outside(points[:, whole])
    for side, color in ((~outside, SERIES[0]), (outside, SERIES[1])):
        ax.vlines(t[side], low[side], high[side], color=color, alpha=0.45, linewidth=1.0)
    words = f"{percent(_LEVEL)} interval"
    ax.plot(
        t[~outside], p[~outside], "o", markersize=4, color=SERIES[0], alpha=0.8,
        label=f"{words} holds the true summary",
    )  # fmt: skip
    if outside.any():
        label = f"{words} misses it"
        ax.plot(t[outside], p[outside], "D", markersize=4.5, color=SERIES[1], label=label)
    ax.legend(loc="upper left", fontsize=SIZE - 2, frameon=False, labelcolor=INK)
    ax.set_xlim(*line)
    ax.set_ylim(*line)
    ax.set_aspect("equal")
    _mark_scores(ax, data.transform, line)
    ax.set_xlabel("true summary")
    ax.set_ylabel("predicted without the algorithm")


def _mark_scores(ax: Axes, transform: Transform, ends: FloatArray) -> None:
    """Mark both axes, which are transformed, with round scores."""
    if transform.log_base is None:
        return
    low, high = (float(x) for x in transform.inverse(ends))
    marks = [0.0, *(m * 10.0**k for k in range(-3, 9) for m in (1, 3))]
    marks = [mark for mark in marks if low <= mark <= high and (mark == 0 or mark > 1e-3 * high)]
    if len(marks) < 3:
        marks = [float(m) for m in MaxNLocator(5).tick_values(low, high) if low <= m <= high]
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator(transform.forward(np.array(marks)).tolist()))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FixedFormatter([*map(short_number, marks)]))
