"""Errors of trials drawn: learning curves, box plots and tests, after Pulick et al. (2022).

All axes of errors are logarithmic; one that has to show zeros shows 1 + errors, as its label
states.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from gnomon.plot import draw_map
from gnomon.plot.labels import in_lines, name_rows
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    INK,
    MUTED,
    PAPER,
    SIZE,
    dress,
    mark_numbers,
    new_drawing,
    series_style,
)
from gnomon.stats import PairwiseTest
from gnomon.tables import number, p_value

FloatArray = npt.NDArray[np.float64]
#: Trials drawn as curves, as many as in figure 3 of the paper; more would hide each other.
MOST_CURVES = 100
#: A table of tests with more rules needs the whole width of a page; with many, its numbers would
#: be too small to read.
MOST_AT_HALF_WIDTH, MOST_WITH_NUMBERS = 6, 16


@dataclass(frozen=True, slots=True)
class ErrorScale:
    """A logarithmic scale from ``low`` to ``high``, of 1 + errors where there are zeros."""

    low: float
    high: float
    shift: float

    @classmethod
    def fit(cls, values: npt.ArrayLike) -> ErrorScale:
        """Return the scale that shows all finite values, with a small margin on both sides."""
        x = np.asarray(values, dtype=np.float64).ravel()
        x = x[np.isfinite(x)]
        least, most = (float(x.min()), float(x.max())) if x.size else (1.0, 10.0)
        shift = 0.0 if least > 0 else 1.0
        if least == most:
            least, most = (least, most + 1.0) if shift else (least / 1.5, most * 1.5)
        ends = np.log10([least + shift, most + shift])
        air = max(0.05 * (ends[1] - ends[0]), 0.03)
        low = least - 0.04 if shift else 10 ** (ends[0] - air)
        return cls(float(low), float(10 ** (ends[1] + air) - shift), shift)

    @property
    def note(self) -> str:
        """Description of the scale, for the label of the axis."""
        return "log scale of 1 + errors" if self.shift else "log scale"

    def units(self, values: npt.ArrayLike) -> FloatArray:
        """Return the positions of values on the axis, in decades."""
        shifted = np.asarray(values, dtype=np.float64) + self.shift
        return np.asarray(np.log10(np.maximum(shifted, 1e-9)))

    def ticks(self) -> list[float]:
        """Return round values to mark: the more decades, the fewer per decade."""
        span = float(np.diff(self.units([self.low, self.high]))[0])
        if span < 0.7:
            marks = np.asarray(MaxNLocator(5, integer=True).tick_values(self.low, self.high))
        else:
            steps = (1, 2, 5) if span < 1.7 else (1, 3) if span < 2.6 else (1,)
            marks = np.array([0.0] + [m * 10.0**k for k in range(12) for m in steps])
        marks = marks[(marks == 0) | (marks >= 1)]
        return [float(m) for m in marks if self.low <= m <= self.high]

    def apply(self, ax: Axes, axis: Literal["x", "y"]) -> None:
        """Give an axis this scale, its limits and its ticks."""
        ax.set(**{f"{axis}lim": (self.low, self.high)})
        scale = ax.set_xscale if axis == "x" else ax.set_yscale
        scale("function", functions=(self.units, lambda units: 10**units - self.shift))
        ax.set(**{f"{axis}lim": (self.low, self.high)})
        own = ax.xaxis if axis == "x" else ax.yaxis
        own.set_major_locator(FixedLocator(self.ticks()))
        own.set_minor_locator(NullLocator())
        mark_numbers(own)


@dataclass(frozen=True, eq=False)
class MedianCurve:
    """The median of several trials after each episode, with its band.

    Parameters
    ----------
    label : str
        Common property of the trials: a rule, or a learner.
    values, low, high : ndarray of float, shape (episodes,)
        NaN where there is no band.
    n_trials : int
    """

    label: str
    values: FloatArray
    low: FloatArray
    high: FloatArray
    n_trials: int


def median_curves(
    curves: Sequence[MedianCurve], *, series: Mapping[str, int] | None = None
) -> Axes:
    """Draw median learning curves with their bands, each named at its end.

    Parameters
    ----------
    curves : sequence of MedianCurve
        At least one.
    series : mapping from label to int, optional
        Number of each one's style; its place in `curves` if not given.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([3.0, 5.0])
    >>> median_curves([MedianCurve("clockwise", x, x - 1, x + 1, 10)]).get_xlabel()
    'episode'
    """
    ax = dress(new_drawing(HALF_WIDTH, max(HEIGHT, 0.6 + 0.22 * len(curves))).subplots(), grid="y")
    scale = ErrorScale.fit(np.concatenate([[*c.values, *c.low, *c.high] for c in curves]))
    n_episodes = max(c.values.size for c in curves)
    for i, curve in enumerate(curves):
        style = series_style(series[curve.label] if series else i)
        episodes = np.arange(1, curve.values.size + 1)
        if n_episodes == 1:  # no line: points next to each other, with their intervals
            x = 1 + 0.05 * (i - (len(curves) - 1) / 2)
            ax.vlines(x, curve.low, curve.high, color=style.color, linewidth=1.7, alpha=0.5)
            ax.plot([x], curve.values, color=style.color, marker=style.marker, linestyle="none")
            continue
        ax.fill_between(episodes, curve.low, curve.high, color=style.color, alpha=0.18, linewidth=0)
        ax.plot(episodes, curve.values, color=style.color, linestyle=style.dash, linewidth=1.7)
    _episode_axis(ax, n_episodes)
    scale.apply(ax, "y")
    ax.set_ylabel(f"median cumulated errors\n({scale.note})")
    _name_ends(ax, curves, series, scale)
    return ax


def _name_ends(
    ax: Axes, curves: Sequence[MedianCurve], series: Mapping[str, int] | None, scale: ErrorScale
) -> None:
    """Write each curve's name at the right of its end, in their order and without overlap."""
    styles = [series_style(series[c.label] if series else i) for i, c in enumerate(curves)]
    ends = [float(c.values[-1]) for c in curves]
    bottom, top = scale.units([scale.low, scale.high])
    places = (scale.units(ends) - bottom) / (top - bottom)
    most = 2 if len(curves) <= 6 else 1
    names = [in_lines(c.label, 24, most) for c in curves]
    texts = [f"{name}  {number(end)}" for name, end in zip(names, ends, strict=True)]
    gap = min(0.075 * max(1 + text.count("\n") for text in texts), 1 / len(curves))
    for style, text, place in zip(styles, texts, _spread(places, gap), strict=True):
        ax.plot(
            [1.02, 1.09], [place, place], color=style.color, linestyle=style.dash, linewidth=1.7,
            transform=ax.transAxes, clip_on=False,
        )  # fmt: skip
        ax.annotate(
            text, (1.11, float(place)), xycoords="axes fraction", color=INK, fontsize=SIZE - 0.5,
            va="center", annotation_clip=False, parse_math=False,
        )  # fmt: skip


def _spread(places: FloatArray, gap: float) -> FloatArray:
    """Return places between 0 and 1 moved apart by a gap at least; of equal ones the first on top.

    Up from the lowest, each is at least a gap above the last; then down from the top.
    """
    order = np.lexsort((-np.arange(places.size), places))
    moved = np.sort(places)
    steps = gap * np.arange(places.size)
    moved = np.maximum.accumulate(moved - steps) + steps
    moved = np.minimum.accumulate((np.minimum(moved, 1.0) - steps)[::-1])[::-1] + steps
    found: FloatArray = np.empty_like(moved)
    found[order] = np.minimum(np.maximum(moved, steps), 1.0 - steps[::-1])
    return found


def median_rows(curves: Sequence[MedianCurve]) -> tuple[Mapping[str, float | str], ...]:
    """Return the numbers of :func:`median_curves`: a row per curve and episode."""
    return tuple(
        {
            "label": c.label,
            "episode": episode,
            "median": float(value),
            "low": float(low),
            "high": float(high),
            "n_trials": c.n_trials,
        }
        for c in curves
        for episode, (value, low, high) in enumerate(
            zip(c.values, c.low, c.high, strict=True), start=1
        )
    )


def trial_curves(errors: FloatArray, *, color: str) -> Drawing:
    """Draw the cumulated errors of every trial, shape (trials, episodes), and their median.

    Of more trials than :data:`MOST_CURVES`, only that number are drawn, evenly spaced in the order
    of their ends; the median is that of all.
    """
    scale = ErrorScale.fit(errors)
    # Fixed margins: the layout of a hundred such figures takes as long as drawing them.
    drawing = Drawing(figsize=(HALF_WIDTH, HEIGHT), facecolor=PAPER)
    ax = dress(drawing.add_axes((0.17, 0.16, 0.8, 0.8)), grid="y")
    episodes = np.arange(1, errors.shape[1] + 1)
    shown = errors[drawn_trials(errors[:, -1])]
    lines = [*np.stack([np.broadcast_to(episodes, shown.shape), shown], axis=-1)]
    alpha = float(np.clip(1.4 / np.sqrt(len(lines)), 0.12, 0.6))
    # One collection draws in half the time of as many lines, and half of the points is enough.
    collection = LineCollection(lines, colors=color, alpha=alpha, linewidths=0.9)
    for path in collection.get_paths():
        path.simplify_threshold = 0.5
    ax.add_collection(collection)
    if len(errors) > 1:
        ax.plot(episodes, np.median(errors, axis=0), color=PAPER, linewidth=3.4)
        ax.plot(episodes, np.median(errors, axis=0), color=INK, linewidth=1.6)
    _episode_axis(ax, errors.shape[1])
    scale.apply(ax, "y")
    ax.set_ylabel(f"cumulated errors\n({scale.note})")
    ax.xaxis.set_label_coords(0.5, -0.12)
    ax.yaxis.set_label_coords(-0.13, 0.5)
    return drawing


def drawn_trials(ends: FloatArray) -> npt.NDArray[np.int64]:
    """Return which trials are drawn as curves, by their terminal errors."""
    if ends.size <= MOST_CURVES:
        return np.arange(ends.size)
    places = np.linspace(0, ends.size - 1, MOST_CURVES).round().astype(np.int64)
    return np.sort(np.argsort(ends, kind="stable")[places])


def _episode_axis(ax: Axes, n_episodes: int) -> None:
    ax.set_xlim(*((0.5, 1.5) if n_episodes == 1 else (1, n_episodes)))
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True, steps=[1, 2, 5, 10]))
    ax.set_xlabel("episode")


def box_plots(
    runs: Mapping[str, npt.ArrayLike], *, series: Mapping[str, int] | None = None
) -> Axes:
    """Draw box plots of terminal cumulated errors, one row per label, the first on top.

    The box is the interquartile range with the median in it; whiskers end at the last run within
    1.5 interquartile ranges; every run is a dot.

    Parameters
    ----------
    runs : mapping from label to array_like of float
        The errors of each trial, of a rule or a learner.
    series : mapping from label to int, optional
        Number of each one's style; its place in `runs` if not given.

    Examples
    --------
    >>> box_plots({"clockwise": [9, 12, 15], "color-match": [3, 4, 8]}).get_xlabel()
    'terminal cumulated errors (log scale)'
    """
    n_rows = len(runs)
    height = max(HEIGHT, 0.95 + 0.5 * min(n_rows, 8) + 0.3 * max(n_rows - 8, 0))
    ax = dress(new_drawing(HALF_WIDTH, height).subplots(), grid="x")
    scale = ErrorScale.fit(np.concatenate([np.asarray(x, dtype=np.float64) for x in runs.values()]))
    scale.apply(ax, "x")
    for row, (label, values) in enumerate(runs.items()):
        color = series_style(series[label] if series else row).color
        low, q1, median, q3, high = (_box(values)[name] for name in _ENDS.values())
        ax.hlines([row, row], [low, q3], [q1, high], color=color, linewidth=1.2)
        ax.vlines([low, high], row - 0.12, row + 0.12, color=color, linewidth=1.2)
        ax.barh(row, q3 - q1, left=q1, height=0.56, color=color, alpha=0.25, linewidth=0)
        ax.vlines(median, row - 0.28, row + 0.28, color=INK, linewidth=2.0)
        dots = np.sort(np.asarray(values, dtype=np.float64))
        # Neighbours in value go to distant places in height: turns of the golden ratio.
        turns = (np.arange(dots.size) * 0.6180339887) % 1.0
        ax.scatter(dots, row + (turns - 0.5) * 0.4, s=7, color=color, alpha=0.65, linewidth=0)
    ax.set_xlabel(f"terminal cumulated errors ({scale.note})")
    name_rows(ax, [in_lines(label) for label in runs])
    # Few rows keep the height of a row, with space around them.
    room = max(0.0, (4 - n_rows) / 2)
    ax.set_ylim(n_rows - 0.5 + room, -0.5 - room)
    return ax


#: Columns of the numbers of a box, and what Matplotlib calls them.
_ENDS = {
    "whisker_low": "whislo", "q1": "q1", "median": "med", "q3": "q3", "whisker_high": "whishi",
}  # fmt: skip


def _box(runs: npt.ArrayLike) -> dict[str, Any]:
    [found] = boxplot_stats(np.asarray(runs, dtype=np.float64))
    return dict(found)


def box_rows(
    runs: Mapping[str, npt.ArrayLike], names: Mapping[str, str]
) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`box_plots`: a row for each label, which begins with `names`."""
    return tuple(
        {
            **names,
            "rule": label,
            "n": np.size(values),
            **{name: float(_box(values)[theirs]) for name, theirs in _ENDS.items()},
            "n_outliers": len(_box(values)["fliers"]),
        }
        for label, values in runs.items()
    )


def pairwise_table(
    tests: Sequence[PairwiseTest], order: Sequence[str], *, decided: Collection[frozenset[str]]
) -> Drawing:
    """Draw a table of one-sided p-values, that the row's rule is harder than the column's.

    ``order`` has the rules, hardest first; ``decided`` the pairs that are significant after
    correction for the number of tests, which are bold.
    """
    n = len(order)
    p = np.full((n, n), np.nan)
    place = {name: i for i, name in enumerate(order)}
    for test in tests:
        p[place[test.a], place[test.b]] = test.p_value
    levels = np.searchsorted([-0.05, -0.01, -0.001], -p.ravel(), side="right").reshape(n, n)
    levels[np.isnan(p)] = 0
    np.fill_diagonal(levels, -1)
    texts = [["" if i == j else p_value(p[i, j]) for j in range(n)] for i in range(n)]
    bold = np.array([[j > i and frozenset((a, b)) in decided for j, b in enumerate(order)]
                     for i, a in enumerate(order)], dtype=bool)  # fmt: skip
    width = HALF_WIDTH if n <= MOST_AT_HALF_WIDTH else FULL_WIDTH
    has_numbers = n <= MOST_WITH_NUMBERS
    drawing = new_drawing(width, max(HEIGHT, 1.15 + (0.46 if has_numbers else 0.28) * n))
    ax = drawing.subplots()
    draw_map(ax, order, order, levels, texts if has_numbers else None, bold)
    ax.set_xlabel("one-sided p-value: row harder than column")
    ax.xaxis.label.set_color(MUTED)
    return drawing


def pairwise_rows(tests: Sequence[PairwiseTest]) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`pairwise_table`: a row per test."""
    return tuple(
        {"a": t.a, "b": t.b, "u": t.u, "p_value": t.p_value, "p_adjusted": t.p_adjusted}
        for t in tests
    )
