"""Mastery drawn: the share of players who had learned a task, and median curves of errors."""

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
from gnomon.results import Results

#: More curves than this in one panel cannot be told apart; bands of more than this hide them.
MOST_TASKS, MOST_BANDS = 12, 2
#: Bands of medians are narrower.
_MOST_MEDIAN_BANDS = 4


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


def draw_series_curves(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Draw the median curve of each rule."""
    if ax is not None:
        return median_series_curves(found, ax=ax)
    metric = found[0].metric
    return Figure(
        "series-curves",
        f"{metric} by {found.settings['axis']}",
        _curves_caption(as_reference=found.settings["as_reference"], level=found.settings["level"]),
        f"Median {metric} by {found.settings['axis']}.",
        drawing_of(median_series_curves(found)),
        tuple(found.as_records()),
    )


def _curves_caption(*, as_reference: bool, level: float) -> str:
    bands = f"Bands, of up to {_MOST_MEDIAN_BANDS} rules,"
    if as_reference:
        return (
            "Median over the players of each rule, until one of them has stopped. "
            f"{bands} lie between the values ranked (n - 1)/2 ± 0.98 √n of n ≥ 5, from 0, as in "
            "the reference system: about 95% intervals, whatever the level."
        )
    return (
        "Median over the players of each rule; thin from where one of them has stopped: "
        f"those who are left. {bands} are its {level:.0%} intervals."
    )


def median_series_curves(found: Results[Any], *, ax: Axes | None = None) -> Axes:
    """Draw them into axes; each goes on as a thin line from where somebody has stopped."""
    rules = list(dict.fromkeys(point.rule for point in found))[:MOST_TASKS]
    ax = axes_for(ax, *size_for(len(rules)), grid="both")
    for i, rule in enumerate(rules):
        points = [point for point in found if point.rule == rule]
        together = sum(point.n == points[0].n for point in points)
        if found.settings["as_reference"]:
            points = points[:together]  # there a drawing stops where a curve does
        x = np.array([point.step for point in points], dtype=np.float64)
        y, low, high = np.array([(p.value, p.low, p.high) for p in points]).T
        if len(rules) > _MOST_MEDIAN_BANDS:
            low = high = np.full(x.size, np.nan)
        style = series_style(i)
        draw_series(
            ax, x, np.where(np.arange(x.size) < together, y, np.nan), style, (low, high),
            alpha=band_alpha(len(rules)), label=rule, linewidth=1.8,
        )  # fmt: skip
        rest = slice(together - 1, None)
        ax.plot(x[rest], y[rest], color=style.color, linestyle=style.dash, linewidth=0.8)
    mark_numbers(ax.xaxis, most=8, whole=True)
    mark_numbers(ax.yaxis)
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("pieces removed" if found.settings["axis"] == "removals" else "attempts")
    ax.set_ylabel(found[0].metric)
    name_series(ax, "upper left")
    return ax
