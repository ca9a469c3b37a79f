"""Errors of trials drawn: learning curves, box plots and tests, after Pulick et al. (2022).

All axes of errors are logarithmic; one that has to show zeros shows 1 + errors, as its label
states.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from gnomon.plot import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    INK,
    MUTED,
    PAPER,
    SIZE,
    draw_map,
    dress,
    in_lines,
    mark_numbers,
    name_panel,
    name_rows,
    new_drawing,
    number,
    series_style,
)
from gnomon.stats import PairwiseTest
from gnomon.tables import p_value

FloatArray = npt.NDArray[np.float64]
#: Trials drawn as curves; more would only hide each other.
MOST_CURVES = 40
#: A table of tests with more rules needs the whole width of a page.
MOST_AT_HALF_WIDTH = 6


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

    def values(self, units: npt.ArrayLike) -> FloatArray:
        """Return the values at positions on the axis."""
        return np.asarray(10 ** np.asarray(units, dtype=np.float64) - self.shift)

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
        scale("function", functions=(self.units, self.values))
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
    parts = [part for c in curves for part in (c.values, c.low, c.high)]
    scale = ErrorScale.fit(np.concatenate(parts) if parts else [])
    n_episodes = max((c.values.size for c in curves), default=1)
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
    named = [
        (series_style(series[c.label] if series else i), c)
        for i, c in enumerate(curves)
        if c.values.size and np.isfinite(c.values[-1])
    ]
    if not named:
        return
    bottom, top = scale.units([scale.low, scale.high])
    places = (scale.units([c.values[-1] for _, c in named]) - bottom) / (top - bottom)
    most = 2 if len(named) <= 6 else 1
    texts = [f"{in_lines(c.label, 24, most)}  {number(float(c.values[-1]))}" for _, c in named]
    gap = min(0.075 * max(1 + text.count("\n") for text in texts), 1 / len(named))
    for (style, _), text, place in zip(named, texts, spread(places, gap), strict=True):
        ax.plot(
            [1.02, 1.09], [place, place], color=style.color, linestyle=style.dash, linewidth=1.7,
            transform=ax.transAxes, clip_on=False,
        )  # fmt: skip
        ax.annotate(
            text, (1.11, float(place)), xycoords="axes fraction", color=INK, fontsize=SIZE - 0.5,
            va="center", annotation_clip=False, parse_math=False,
        )  # fmt: skip


def spread(places: FloatArray, gap: float) -> FloatArray:
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


def cumulated_error_curves(errors: npt.ArrayLike, *, color: str = series_style(0).color) -> Drawing:
    """Draw the cumulated errors of every trial, and the density of their ends.

    At the right are the terminal cumulated errors (TCE), one tick per trial, and their Gaussian
    kernel density in units of the axis; there is none if all trials end alike. Of more trials than
    :data:`MOST_CURVES`, only that number are drawn, evenly spaced in the order of their ends;
    median, ticks and density are those of all.

    Parameters
    ----------
    errors : array_like of float, shape (trials, episodes)
        Cumulated errors after each episode.
    color : str

    Examples
    --------
    >>> len(cumulated_error_curves([[3, 5, 5], [2, 4, 9]]).axes)
    2
    """
    curves = np.atleast_2d(np.asarray(errors, dtype=np.float64))
    ends = curves[:, -1] if curves.shape[1] else np.empty(0)
    scale = ErrorScale.fit(curves)
    drawing = new_drawing(HALF_WIDTH, HEIGHT)
    ax, margin = drawing.subplots(1, 2, width_ratios=(5, 1))
    episodes = np.arange(1, curves.shape[1] + 1)
    shown = curves[drawn_trials(ends)]
    lines = [*np.stack([np.broadcast_to(episodes, shown.shape), shown], axis=-1)]
    alpha = float(np.clip(1.4 / np.sqrt(max(len(lines), 1)), 0.12, 0.6))
    # One collection draws in half the time of as many lines, and half of the points is enough.
    with mpl.rc_context({"path.simplify_threshold": 0.5}):
        ax.add_collection(LineCollection(lines, colors=color, alpha=alpha, linewidths=0.9))
    if len(curves) > 1:
        ax.plot(episodes, np.median(curves, axis=0), color=PAPER, linewidth=3.4)
        ax.plot(episodes, np.median(curves, axis=0), color=INK, linewidth=1.6)
    dress(ax, grid="y")
    _episode_axis(ax, curves.shape[1])
    scale.apply(ax, "y")
    ax.set_ylabel(f"cumulated errors\n({scale.note})")
    _margin(margin, ends, scale, color)
    drawing.align_xlabels([ax, margin])
    return drawing


def drawn_trials(ends: FloatArray) -> npt.NDArray[np.int64]:
    """Return which trials are drawn as curves, by their terminal errors."""
    if ends.size <= MOST_CURVES:
        return np.arange(ends.size)
    places = np.linspace(0, ends.size - 1, MOST_CURVES).round().astype(np.int64)
    return np.sort(np.argsort(ends, kind="stable")[places])


def _margin(ax: Axes, ends: FloatArray, scale: ErrorScale, color: str) -> None:
    """Draw the ends of the trials, and their density if it exists, along the axis of errors."""
    dress(ax)
    scale.apply(ax, "y")
    ax.tick_params(labelleft=False)
    units, width = scale.units(ends[np.isfinite(ends)]), 1.0
    has_density = units.size > 1 and np.ptp(units) > 1e-9
    if has_density:
        # Scott's rule.
        kernel = float(np.std(units, ddof=1)) * units.size**-0.2
        low, high = scale.units([scale.low, scale.high]).tolist()
        at = np.linspace(low, high, 200)
        height = np.exp(-0.5 * ((at[:, None] - units) / kernel) ** 2).sum(axis=1)
        width = float(height.max())
        ax.fill_betweenx(scale.values(at), height, color=color, alpha=0.25, linewidth=0)
        ax.plot(height, scale.values(at), color=color, linewidth=1.4)
    # One line with gaps: a third of the text of as many lines.
    ticks = np.tile(np.array([-0.22 * width, -0.06 * width, np.nan]), ends.size)
    ax.plot(ticks, np.repeat(ends, 3), color=color, linewidth=0.9, alpha=0.7)
    ax.set_xlim(-0.25 * width, 1.08 * width)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel("TCE density" if has_density else "TCE")


def _episode_axis(ax: Axes, n_episodes: int) -> None:
    ax.set_xlim(*((0.5, 1.5) if n_episodes == 1 else (1, max(n_episodes, 2))))
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True, steps=[1, 2, 5, 10]))
    ax.set_xlabel("episode")


def box_plots(
    panels: Mapping[str, Mapping[str, npt.ArrayLike]],
    order: Sequence[str],
    *,
    xlabel: str = "terminal cumulated errors",
    series: Mapping[str, int] | None = None,
) -> Drawing:
    """Draw box plots of errors, one panel per learner and one row per rule.

    The box is the interquartile range with the median in it; whiskers end at the last run within
    1.5 interquartile ranges; every run is a dot. Runs that are infinite (never learned) are a
    triangle at the right edge, with their number.

    Parameters
    ----------
    panels : mapping from learner to mapping from rule to array_like of float
        The runs. A rule may lack in a panel.
    order : sequence of str
        The rules, hardest first.
    xlabel : str
    series : mapping from rule to int, optional
        Number of each one's style; its place in `order` if not given.

    Examples
    --------
    >>> panels = {"uniform": {"clockwise": [9, 12, 15]}, "dqn": {"clockwise": [3, 4, 8]}}
    >>> [ax.get_title("left") for ax in box_plots(panels, ["clockwise"]).axes]
    ['uniform', 'dqn']
    """
    n, n_rows = max(len(panels), 1), len(order)
    height = max(HEIGHT, 0.95 + 0.5 * min(n_rows, 8) + 0.3 * max(n_rows - 8, 0))
    drawing = new_drawing(FULL_WIDTH if n > 1 else HALF_WIDTH, height)
    axes = drawing.subplots(1, n, sharey=True, squeeze=False)[0]
    for ax, (learner, rules) in zip(axes, panels.items(), strict=False):
        dress(ax, grid="x")
        runs = {rule: np.asarray(x, dtype=np.float64).ravel() for rule, x in rules.items()}
        scale = ErrorScale.fit(np.concatenate([*runs.values()]) if runs else [])
        scale.apply(ax, "x")
        for row, rule in enumerate(order):
            if rule in runs:
                color = series_style((series or {}).get(rule, row)).color
                _box(ax, row, runs[rule], scale, color)
        if n > 1:
            name_panel(ax, in_lines(learner, 40, 1))
        ax.set_xlabel(f"{xlabel} ({scale.note})")
    name_rows(axes[0], [in_lines(rule) for rule in order])
    # Few rows keep the height of a row, with space around them.
    room = max(0.0, (4 - n_rows) / 2)
    axes[0].set_ylim(n_rows - 0.5 + room, -0.5 - room)
    return drawing


def _box(ax: Axes, row: int, runs: FloatArray, scale: ErrorScale, color: str) -> None:
    box = box_of(runs)
    if math.isfinite(box["whisker_low"]):
        low, q1, median, q3, high = np.minimum([box[name] for name in _ENDS], scale.high)
        ax.hlines([row, row], [low, q3], [q1, high], color=color, linewidth=1.2)
        ax.vlines([low, high], row - 0.12, row + 0.12, color=color, linewidth=1.2)
        ax.barh(row, q3 - q1, left=q1, height=0.56, color=color, alpha=0.25, linewidth=0)
        if math.isfinite(box["median"]):
            ax.vlines(median, row - 0.28, row + 0.28, color=INK, linewidth=2.0)
    finite = np.sort(runs[np.isfinite(runs)])
    # Neighbours in value go to distant places in height: turns of the golden ratio.
    turns = (np.arange(finite.size) * 0.6180339887) % 1.0
    ax.scatter(finite, row + (turns - 0.5) * 0.4, s=7, color=color, alpha=0.65, linewidth=0)
    if box["n_infinite"]:
        ax.plot([scale.high], [row], marker=">", markersize=7, color=color, clip_on=False)
        ax.annotate(
            f"{box['n_infinite']} of {box['n']} never", (scale.high, row), xytext=(7, 0),
            textcoords="offset points", ha="left", va="center", fontsize=SIZE - 1.5, color=MUTED,
        )  # fmt: skip


_ENDS = ("whisker_low", "q1", "median", "q3", "whisker_high")


def box_of(runs: npt.ArrayLike) -> dict[str, Any]:
    """Return quartiles and whiskers of runs; NaN is left out, an empty sample gives NaN."""
    x = np.asarray(runs, dtype=np.float64).ravel()
    x = np.sort(x[~np.isnan(x)])
    found: dict[str, Any] = {"n": x.size, **dict.fromkeys(_ENDS, math.nan)}
    found |= {"n_outliers": 0, "n_infinite": int(np.isinf(x).sum())}
    if not x.size:
        return found
    # An infinite run may be a quartile, but nothing between it and a finite one is.
    with np.errstate(invalid="ignore"):
        quartiles = np.quantile(x, [0.25, 0.5, 0.75])
    q1, median, q3 = (math.inf if math.isnan(q) else float(q) for q in quartiles)
    reach = 1.5 * (q3 - q1) if math.isfinite(q3) else math.inf
    inside = x[(x >= q1 - reach) & (x <= q3 + reach)] if math.isfinite(q1) else x
    ends = min(float(inside[0]), q1), q1, median, q3, max(float(inside[-1]), q3)
    found |= dict(zip(_ENDS, ends, strict=True))
    found["n_outliers"] = int((np.isfinite(x) & ((x < ends[0]) | (x > ends[-1]))).sum())
    return found


def box_rows(
    panels: Mapping[str, Mapping[str, npt.ArrayLike]], order: Sequence[str]
) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`box_plots`: a row per learner and rule."""
    return tuple(
        {"learner": learner, "rule": rule, **box_of(rules[rule])}
        for learner, rules in panels.items()
        for rule in order
        if rule in rules
    )


def pairwise_table(
    tests: Sequence[PairwiseTest],
    order: Sequence[str],
    *,
    decided: Collection[frozenset[str]] = (),
) -> Drawing:
    """Draw a table of one-sided p-values, that the row's rule is harder than the column's.

    Parameters
    ----------
    tests : sequence of PairwiseTest
        One-sided.
    order : sequence of str
        Rules, hardest first.
    decided : collection of frozensets of two names
        Pairs that are significant after correction for the number of tests: in bold.

    Examples
    --------
    >>> from gnomon.stats import difficulty_order, mann_whitney_table
    >>> samples = {"hard": [9, 8, 7, 9], "easy": [1, 2, 3, 2]}
    >>> (ax,) = pairwise_table(mann_whitney_table(samples), difficulty_order(samples).names).axes
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['hard', 'easy']
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
    drawing = new_drawing(width, max(HEIGHT, 1.15 + 0.46 * n))
    ax = drawing.subplots()
    draw_map(ax, order, order, levels, texts, bold)
    ax.set_xlabel("one-sided p-value: row harder than column")
    ax.xaxis.label.set_color(MUTED)
    return drawing


def pairwise_rows(tests: Sequence[PairwiseTest]) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`pairwise_table`: a row per test."""
    return tuple(
        {"a": t.a, "b": t.b, "u": t.u, "p_value": t.p_value, "p_adjusted": t.p_adjusted}
        for t in tests
    )


def error_columns(errors: npt.ArrayLike) -> Mapping[str, Sequence[float]]:
    """Return the numbers of :func:`cumulated_error_curves` as columns."""
    curves = np.atleast_2d(np.asarray(errors, dtype=np.float64))
    trial, episode = np.indices(curves.shape).reshape(2, -1)
    return {
        "trial": trial.tolist(),
        "episode": (episode + 1).tolist(),
        "cumulated_errors": curves.ravel().tolist(),
    }


def median_rows(curves: Sequence[MedianCurve]) -> tuple[Mapping[str, float | str], ...]:
    """Return the numbers of :func:`median_curves`: a row per curve and episode."""
    return tuple(
        {
            "label": c.label,
            "episode": i + 1,
            "median": float(c.values[i]),
            "low": float(c.low[i]),
            "high": float(c.high[i]),
            "n_trials": c.n_trials,
        }
        for c in curves
        for i in range(c.values.size)
    )
