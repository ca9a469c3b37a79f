"""The figure of a smaller suite: predictions against the truth."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from gnomon.distillation.distilled import Distillation
from gnomon.distillation.transforms import Transform
from gnomon.plot.figure import Figure, Panel, frame
from gnomon.plot.style import HALF_WIDTH, INK, MUTED, SERIES, SIZE, dress, short_number
from gnomon.printing import percent
from gnomon.scores.table import FloatArray

#: Level of the intervals, and height of the panel in inches.
_LEVEL, _SIDE = 0.9, HALF_WIDTH * 0.95


def prediction_figure(found: Distillation, ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of predicted against true summaries, by the nested validation."""
    data, model, held = found.data, found.model, found[0].nested
    predicted, half = data.target + held.residuals, model.half_width(_LEVEL)
    ends = [
        (p - half, p + half) if f is None else f.interval(_LEVEL, model.scale)
        for p, f in zip(predicted, held.forecasts or [None] * len(predicted), strict=True)
    ]
    points = np.array([data.target, predicted, *np.transpose(ends)])
    true, _, low, high = points
    missed = (true < low) | (true > high)
    names = ("true", "predicted", "low", "high")
    values = data.transform.inverse(points).T.tolist()
    return frame(
        [Panel(partial(_draw_predictions, points, missed, data.transform), height=_SIDE)],
        ax,
        name="predictions",
        title="Predicted against true",
        caption="Each algorithm is predicted by a model with tasks and weights chosen without it. "
        f"Vertical lines: {percent(_LEVEL)} prediction intervals; those of {missed.sum()} of "
        f"{held.n_predicted} algorithms (diamonds) miss the diagonal, on which predictions are "
        "exact.",
        alt=f"{held.n_predicted} algorithms, predicted against true summary",
        rows=[
            {"algorithm": algorithm, **dict(zip(names, own, strict=True))}
            for algorithm, own in zip(data.algorithms, values, strict=True)
        ],
    )


def _draw_predictions(
    points: FloatArray, missed: npt.NDArray[np.bool_], transform: Transform, ax: Axes
) -> None:
    known = ~np.isnan(points[1])
    ends = np.array([points[:2, known].min(), points[:2, known].max()])
    line = ends + np.array([-0.05, 0.05]) * (np.ptp(ends) or 1.0)
    dress(ax, grid="both")
    ax.plot(line, line, color=MUTED, linewidth=1.0)
    kinds = (
        (~missed, "o", SERIES[0], "holds the true summary"),
        (missed, "D", SERIES[1], "misses it"),
    )
    for chosen, marker, color, word in kinds:
        t, p, low, high = points[:, known & chosen]
        ax.vlines(t, low, high, color=color, alpha=0.45, linewidth=1.0)
        if t.size:
            label = f"{percent(_LEVEL)} interval {word}"
            ax.plot(t, p, marker, markersize=4, color=color, alpha=0.8, label=label)
    ax.legend(loc="upper left", fontsize=SIZE - 2, frameon=False, labelcolor=INK)
    ax.set_xlim(*line)
    ax.set_ylim(*line)
    ax.set_aspect("equal")
    _mark_scores(ax, transform, line)
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
    places, labels = transform.forward(np.array(marks)).tolist(), [*map(short_number, marks)]
    ax.set_xticks(places, labels)
    ax.set_yticks(places, labels)
