"""Histograms of scores drawn: one panel a task, one row an algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from gnomon.errors import shortened
from gnomon.plot.labels import better_end, name_panel, name_rows, name_scale
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    SIZE,
    SeriesStyle,
    default_settings,
    drawing_of,
    dress,
    mark_numbers,
    new_drawing,
    series_style,
)
from gnomon.stats.profiles.histograms import Histogram, Histograms

#: Panels side by side; how many in all, and how high in inches, a drawing is at most.
COLUMNS, MOST_PANELS, HIGHEST = 4, 60, 17.0
#: Height of a row of a panel, and of its words, in inches.
ROW, WORDS = 0.24, 0.62
#: Height of the fullest bin, in rows, and of the tick of a run.
FULL, TICK = 0.8, 0.16
#: With more runs ticks say nothing.
MOST_TICKS = 60


def draw_histograms(found: Histograms, ax: Axes | None = None) -> Figure | Axes:
    """Draw histograms with their words and numbers, or those of one task into given axes."""
    scale = found.settings.get("scale", "")
    higher = found.settings.get("higher_is_better", True)
    tasks = list(dict.fromkeys(one.task for one in found))
    if ax is not None:
        if len(tasks) > 1:
            raise ValueError(
                f"expected one task for given axes, found {len(tasks)}; where(task=...)"
            )
        histogram_panels(found, xlabel=better_end(scale, higher), ax=ax)
        return ax
    with default_settings():
        drawing = histogram_panels(found, xlabel=better_end(scale, higher))
    drawn = len(drawing.axes)
    some = (
        f" The first {drawn} of {len(tasks)} tasks are drawn, which fit on a sheet; where "
        "task=NAME chooses another."
        if drawn < len(tasks)
        else ""
    )
    never = sum(one.n_infinite for one in found)
    lost = f" {never} runs that never got there are not drawn." if never else ""
    return Figure(
        "histograms",
        "Scores of each task",
        f"How many runs scored how much, the fullest bin of each row as high as it; "
        f"ticks are runs. Each task has its own scale.{some}{lost}",
        f"Histograms of the scores of {len({one.algorithm for one in found})} algorithms on "
        f"{len(tasks)} tasks",
        drawing,
        tuple(found.as_records()),
        wide=True,
    )


def histogram_panels(
    histograms: Sequence[Histogram],
    *,
    xlabel: str = "",
    series: Mapping[str, int] | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Draw histograms of scores, one panel a task and one row an algorithm.

    Each panel has a scale of its own, and each row is as high as its fullest bin. Of more than
    sixty tasks, or of a drawing higher than 17 inches (all of Atari's 57 games with two algorithms,
    24 of them with eight, 12 with twenty), only the first are drawn.

    Parameters
    ----------
    histograms : sequence of Histogram
        From :func:`gnomon.stats.score_histograms`.
    xlabel : str
        What is measured, below the lowest panels.
    series : mapping from algorithm to int, optional
        Number of each one's style; its place among the histograms if not given.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on instead, for histograms of one task.

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.stats import score_histograms
    >>> scores = gn.ScoreTable.from_arrays({"a": [[1, 5], [2, 6]], "b": [[2, 7], [3, 9]]})
    >>> [panel.get_title("left") for panel in histogram_panels(score_histograms(scores)).axes]
    ['task_0', 'task_1']
    """
    rows = list(dict.fromkeys(one.algorithm for one in histograms))
    line = WORDS + ROW * max(len(rows), 2)
    tasks = list(dict.fromkeys(one.task for one in histograms))
    del tasks[min(COLUMNS * max(int(HIGHEST / line), 1), MOST_PANELS) :]
    n_columns = min(COLUMNS, max(len(tasks), 1))
    axes = [ax] if ax is not None else _grid(len(tasks), n_columns, line)
    numbers = series or {name: i for i, name in enumerate(rows)}
    for i, (panel, task) in enumerate(zip(axes, tasks, strict=False)):
        dress(panel, grid="x")
        own = [one for one in histograms if one.task == task]
        panel.set_xlim(*_with_air(float(own[0].edges[0]), float(own[0].edges[-1])))
        mark_numbers(panel.xaxis, most=3)
        for one in own:
            _hill(panel, rows.index(one.algorithm), one, series_style(numbers[one.algorithm]))
        name_panel(panel, shortened(task, 26))
        if i >= len(tasks) - n_columns:
            name_scale(panel, xlabel, n_columns)
    for panel in axes[::n_columns]:
        name_rows(panel, [shortened(name, 30) for name in rows], top=1.0, size=SIZE - 1)
    return drawing_of(axes[0])


def _grid(n: int, n_columns: int, height: float) -> list[Axes]:
    """Return axes for n panels of that height each, in inches."""
    lines = max(-(-n // n_columns), 1)
    width = HALF_WIDTH if n_columns == 1 else FULL_WIDTH
    fig = new_drawing(width, height * lines + 0.2)
    axes = list(fig.subplots(lines, n_columns, sharey=True, squeeze=False).ravel())
    for left_over in axes[max(n, 1) :]:
        left_over.remove()
    return axes[: max(n, 1)]


def _with_air(low: float, high: float) -> tuple[float, float]:
    air = 0.03 * (high - low)
    return low - air, high + air


def _hill(ax: Axes, row: int, one: Histogram, style: SeriesStyle) -> None:
    """Draw one histogram that stands on its row, with a tick for each run below it."""
    heights = FULL * one.counts / max(float(one.counts.max()), 1.0)
    ax.stairs(row - heights, one.edges, baseline=row, fill=True, color=style.color, alpha=0.45)
    if one.scores.size <= MOST_TICKS:
        ax.vlines(one.scores, row, row + TICK, color=style.color, linewidth=0.8)
    else:
        ax.hlines(row, float(np.min(one.scores)), float(np.max(one.scores)), color=style.color)
