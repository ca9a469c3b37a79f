"""Mastery drawn: the share of players who had learned a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from gnomon.plot.labels import name_series
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    MUTED,
    axes_for,
    band_alpha,
    draw_series,
    drawing_of,
    mark_numbers,
    series_style,
    size_for,
)
from gnomon.ranking.task_mastery import TaskMasteries

#: More curves than this in one panel cannot be told apart; bands of more than this hide them.
MOST_TASKS, MOST_BANDS = 12, 2


def draw_mastery(found: TaskMasteries, ax: Axes | None = None) -> Figure | Axes:
    """Draw the share of players who had mastered each task after so many attempts."""
    if ax is not None:
        return mastery_curves(found, ax=ax)
    names = [one.task for one in found][:MOST_TASKS]
    more = (
        f" The easiest {len(names)} of {len(found)} are drawn." if len(found) > len(names) else ""
    )
    bands = " with pointwise intervals" if len(names) <= MOST_BANDS else ""
    return Figure(
        "mastery",
        "Mastery",
        f"Share of all players who had mastered a task{bands}, by Kaplan and Meier; the dot is the "
        f"median, and a curve ends where its last player did.{more}",
        f"Share that had mastered each task, the easiest first: {', '.join(names)}.",
        drawing_of(mastery_curves(found)),
        mastery_rows(found),
    )


def mastery_curves(
    found: TaskMasteries,
    *,
    series: Mapping[str, int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw them into axes: attempts to the right, shares upwards.

    ``series`` is the number of each task's style; its place if not given.
    """
    names = [one.task for one in found][:MOST_TASKS]
    ax = axes_for(ax, *size_for(len(names)), grid="both")
    spreads = {name: found.distributions[name] for name in names}
    furthest = max(one.times.max(initial=1.0) for one in spreads.values())
    for i, name in enumerate(names):
        one, style = spreads[name], series_style(series[name] if series else i)
        unending = np.isinf(found.samples[name].at_least).any()
        end = furthest if unending else one.times.max(initial=0.0)
        x = np.concatenate([[0.0], one.times, [end]])
        y, low, high = (_stepped(values) for values in (one.share, one.low, one.high))
        nothing = np.full(x.size, np.nan)
        draw_series(
            ax, x, y, style, (nothing, nothing),
            alpha=0.0, label=name, drawstyle="steps-post", linewidth=1.8,
        )  # fmt: skip
        if len(names) <= MOST_BANDS and one.times.size:
            alpha = band_alpha(len(names))
            ax.fill_between(x, low, high, step="post", color=style.color, alpha=alpha, lw=0)
        if np.isfinite(one.median):
            ax.plot(one.median, 0.5, style.marker, color=style.color, markersize=6, clip_on=False)
    ax.set_xlim(0, furthest * 1.02)
    ax.set_ylim(0, 1.02)
    ax.axhline(0.5, color=MUTED, linewidth=0.6, zorder=0)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    mark_numbers(ax.xaxis)
    ax.set_xlabel("attempts")
    ax.set_ylabel("players who had mastered it")
    name_series(ax, "lower right")
    return ax


def _stepped(values: Any) -> Any:
    """Return a share with its start at 0 and its last value once more."""
    return np.concatenate([[0.0], values, values[-1:] if values.size else [0.0]])


def mastery_rows(found: TaskMasteries) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of the curves."""
    return tuple(
        {"task": task, "attempts": x, "share": y, "low": low, "high": high}
        for task, one in found.distributions.items()
        for x, y, low, high in zip(
            one.times.tolist(), one.share.tolist(), one.low.tolist(), one.high.tolist(), strict=True
        )
    )
