"""Learning curves drawn: every trial of a learner, medians of several, metrics along training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import MaxNLocator

from gnomon.plot.intervals import METRIC_NAMES
from gnomon.plot.labels import in_lines, name_panel, name_series, spread
from gnomon.plot.scales import ErrorScale
from gnomon.plot.style import (
    HALF_WIDTH,
    HEIGHT,
    INK,
    PAPER,
    SIZE,
    FloatArray,
    SeriesStyle,
    axes_for,
    band_alpha,
    draw_series,
    dress,
    mark_numbers,
    new_drawing,
    number,
    series_style,
    size_for,
    sparse_markers,
)
from gnomon.stats.learning_curves.curves_by_step import Curve

#: Trials of which each is drawn as a curve; more would only hide each other.
MOST_CURVES = 40
#: Curves of more steps than this have no marker at each.
MOST_MARKED = 25


@dataclass(frozen=True, eq=False)
class MedianCurve:
    """The median of several trials after each episode, with its band.

    Parameters
    ----------
    label : str
        What the trials have in common: a rule, or a learner.
    values, low, high : ndarray of float, shape (episodes,)
        As :func:`gnomon.stats.bootstrap.resamples.median_curve` gives them; NaN where there is no
        band.
    n_trials : int
        How many trials.

    Examples
    --------
    >>> x = np.array([3.0, 5.0])
    >>> MedianCurve("clockwise", x, x - 1, x + 1, 10).n_trials
    10
    """

    label: str
    values: FloatArray
    low: FloatArray
    high: FloatArray
    n_trials: int


def cumulated_error_curves(
    errors: npt.ArrayLike,
    *,
    label: str = "",
    color: str = series_style(0).color,
    limits: ErrorScale | None = None,
    fig: Drawing | None = None,
) -> Drawing:
    """Draw the errors of every trial, cumulated over its episodes, and the density of their ends.

    The axis of errors is logarithmic. At the right stand the terminal cumulated errors (TCE), one
    tick a trial, and a Gaussian kernel density of them in units of that axis; there is none if all
    trials end alike or there is only one. After figure 3 of Pulick et al. (2022).

    Of more than :data:`MOST_CURVES` trials so many curves are drawn, evenly spaced in the order of
    their terminal errors, the least and the greatest among them; median, ticks and density are
    those of all.

    Parameters
    ----------
    errors : array_like of float, shape (trials, episodes)
        Cumulated errors after each episode.
    label : str
        What is drawn, above the axes.
    color : str
        Colour of the trials.
    limits : ErrorScale, optional
        Scale that several such figures share; one that fits `errors` if not given.
    fig : matplotlib.figure.Figure, optional
        An empty one to draw on.

    Examples
    --------
    >>> drawing = cumulated_error_curves([[3, 5, 5], [2, 4, 9]], label="clockwise")
    >>> drawing.axes[0].get_title("left")
    'clockwise'
    """
    curves = np.atleast_2d(np.asarray(errors, dtype=np.float64))
    scale = limits or _with_room(ErrorScale.fit(curves), curves[:, -1:].ravel())
    fig = new_drawing(HALF_WIDTH, HEIGHT) if fig is None else fig
    ax, margin = fig.subplots(1, 2, width_ratios=(5, 1))
    episodes = np.arange(1, curves.shape[1] + 1)
    shown = curves[drawn_trials(curves[:, -1:].ravel())]
    lines = [*np.stack([np.broadcast_to(episodes, shown.shape), shown], axis=-1)]
    alpha = float(np.clip(1.4 / np.sqrt(max(len(lines), 1)), 0.12, 0.6))
    # One collection draws in half the time of as many lines, and half of the points is enough.
    with mpl.rc_context({"path.simplify_threshold": 0.5}):
        ax.add_collection(LineCollection(lines, colors=color, alpha=alpha, linewidths=0.9))
    if len(curves) > 1:
        ax.plot(episodes, np.median(curves, axis=0), color=PAPER, linewidth=3.4)
        ax.plot(episodes, np.median(curves, axis=0), color=INK, linewidth=1.6, label="median")
    dress(ax, grid="y")
    _episode_axis(ax, curves.shape[1])
    scale.apply(ax, "y")
    ax.set_ylabel(scale.label("cumulated errors"))
    name_panel(ax, label)
    _margin(margin, curves[:, -1] if curves.shape[1] else np.empty(0), scale, color)
    fig.align_xlabels([ax, margin])
    return fig


def drawn_trials(ends: FloatArray) -> npt.NDArray[np.int64]:
    """Return which trials are drawn as curves, by their terminal errors, in ascending order.

    Examples
    --------
    >>> drawn_trials(np.array([5.0, 1.0])), drawn_trials(np.arange(100.0)).size
    (array([0, 1]), 40)
    """
    if ends.size <= MOST_CURVES:
        return np.arange(ends.size)
    places = np.linspace(0, ends.size - 1, MOST_CURVES).round().astype(np.int64)
    return np.sort(np.argsort(ends, kind="stable")[places])


def _with_room(scale: ErrorScale, ends: FloatArray) -> ErrorScale:
    """Return a scale on which the density of the ends has room to fade out above them."""
    units = scale.units(ends[np.isfinite(ends)])
    if units.size < 2:
        return scale
    kernel_width = float(np.std(units, ddof=1)) * units.size**-0.2  # Scott's
    top = float(scale.values(units.max() + 2.0 * kernel_width))
    return ErrorScale(scale.low, max(scale.high, top), scale.shift)


def _margin(ax: Axes, ends: FloatArray, scale: ErrorScale, color: str) -> None:
    """Draw the ends of the trials, and their density if it exists, along the axis of errors."""
    dress(ax)
    scale.apply(ax, "y")
    ax.tick_params(labelleft=False)
    density = log_density(ends, scale)
    if density is not None:
        at, height = density
        ax.fill_betweenx(at, height, color=color, alpha=0.25, linewidth=0)
        ax.plot(height, at, color=color, linewidth=1.4)
    width = 1.0 if density is None else float(density[1].max())
    # One line with gaps: a third of the text of as many lines.
    ticks = np.tile(np.array([-0.22 * width, -0.06 * width, np.nan]), ends.size)
    ax.plot(ticks, np.repeat(ends, 3), color=color, linewidth=0.9, alpha=0.7)
    ax.set_xlim(-0.25 * width, 1.08 * width)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel("TCE density" if density is not None else "TCE")


def log_density(
    values: npt.ArrayLike, scale: ErrorScale, n_points: int = 200
) -> tuple[FloatArray, FloatArray] | None:
    """Return a kernel density of values in units of a logarithmic scale.

    The kernel is Gaussian, Scott's width in units of the scale; infinite values and NaN are left
    out. Comes back: values up to three kernel widths beyond the least and the greatest, and the
    density per decade there; None for fewer than two different values.
    """
    from scipy.stats import gaussian_kde

    x = np.asarray(values, dtype=np.float64).ravel()
    units = scale.units(x[np.isfinite(x)])
    if units.size < 2 or np.ptp(units) < 1e-9:
        return None
    kernel = gaussian_kde(units)
    reach = 3.0 * float(np.sqrt(kernel.covariance[0, 0]))
    ends = np.clip(
        [units.min() - reach, units.max() + reach], *scale.units([scale.low, scale.high])
    )
    at = np.linspace(ends[0], ends[1], n_points)
    return scale.values(at), np.asarray(kernel(at), dtype=np.float64)


def median_curves(
    curves: Sequence[MedianCurve],
    *,
    series: Mapping[str, int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw median learning curves with their bands, each named at its end.

    After figure 4 of Pulick et al. (2022); the axis is logarithmic here.

    Parameters
    ----------
    curves : sequence of MedianCurve
        In any order.
    series : mapping from label to int, optional
        Number of each one's style, so that it looks alike in all figures; its place in `curves` if
        not given.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> x = np.array([3.0, 5.0])
    >>> median_curves([MedianCurve("clockwise", x, x - 1, x + 1, 10)]).get_xlabel()
    'episode'
    """
    ax = axes_for(ax, HALF_WIDTH, max(HEIGHT, 0.6 + 0.22 * len(curves)), grid="y")
    parts = [part for c in curves for part in (c.values, c.low, c.high)]
    scale = ErrorScale.fit(np.concatenate(parts) if parts else [])
    n_episodes = max((c.values.size for c in curves), default=1)
    styles = [series_style(series[c.label] if series else i) for i, c in enumerate(curves)]
    for style, curve in zip(styles, curves, strict=True):
        episodes = np.arange(1, curve.values.size + 1)
        if n_episodes == 1:  # no line: points beside each other, with their intervals
            _draw_point(ax, curve, style, 1 + 0.05 * (len(ax.lines) - (len(curves) - 1) / 2))
            continue
        ax.fill_between(episodes, curve.low, curve.high, color=style.color, alpha=0.18, linewidth=0)
        ax.plot(episodes, curve.values, color=style.color, linestyle=style.dash, linewidth=1.7)
    _episode_axis(ax, n_episodes)
    scale.apply(ax, "y")
    ax.set_ylabel(f"median cumulated errors\n({scale.note})")
    _name_ends(ax, curves, styles, scale)
    return ax


def _draw_point(ax: Axes, curve: MedianCurve, style: SeriesStyle, x: float) -> None:
    ax.vlines(x, curve.low, curve.high, color=style.color, linewidth=1.7, alpha=0.5)
    ax.plot([x], curve.values, color=style.color, marker=style.marker, linestyle="none")


def _name_ends(
    ax: Axes, curves: Sequence[MedianCurve], styles: Sequence[SeriesStyle], scale: ErrorScale
) -> None:
    """Write each curve's name at the right of its end, moved apart where they would overlap."""
    named = [
        (style, curve)
        for style, curve in zip(styles, curves, strict=True)
        if curve.values.size and np.isfinite(curve.values[-1])
    ]
    if not named:
        return
    bottom, top = scale.units([scale.low, scale.high])
    ends = scale.units([c.values[-1] for _, c in named])
    most = 2 if len(named) <= 6 else 1
    texts = [f"{in_lines(c.label, 24, most)}  {number(float(c.values[-1]))}" for _, c in named]
    gap = min(0.075 * max(1 + text.count("\n") for text in texts), 1 / len(named))
    places = spread((ends - bottom) / (top - bottom), gap=gap, low=0, high=1)
    for (style, _), text, place in zip(named, texts, places, strict=True):
        ax.plot(
            [1.02, 1.09], [place, place], color=style.color, linestyle=style.dash, linewidth=1.7,
            transform=ax.transAxes, clip_on=False,
        )  # fmt: skip
        ax.annotate(
            text, (1.11, float(place)), xycoords="axes fraction", color=INK, fontsize=SIZE - 0.5,
            va="center", annotation_clip=False, parse_math=False,
        )  # fmt: skip


def _episode_axis(ax: Axes, n_episodes: int) -> None:
    if n_episodes == 1:
        ax.set_xlim(0.5, 1.5)
    else:
        ax.set_xlim(1, max(n_episodes, 2))
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True, steps=[1, 2, 5, 10]))
    ax.set_xlabel("episode")


def cumulated_error_rows(errors: npt.ArrayLike) -> pl.DataFrame:
    """Return the numbers of :func:`cumulated_error_curves`: a row a trial and episode.

    Examples
    --------
    >>> cumulated_error_rows([[4, 6]]).row(1, named=True)
    {'trial': 0, 'episode': 2, 'cumulated_errors': 6.0}
    """
    curves = np.atleast_2d(np.asarray(errors, dtype=np.float64))
    trial, episode = np.indices(curves.shape, dtype=np.uint32).reshape(2, -1)
    return pl.DataFrame(
        {"trial": trial, "episode": episode + 1, "cumulated_errors": curves.ravel()}
    )


def median_rows(curves: Sequence[MedianCurve]) -> tuple[Mapping[str, float | str], ...]:
    """Return the numbers of :func:`median_curves`: a row a curve and episode.

    Examples
    --------
    >>> x = np.array([3.0, 5.0])
    >>> median_rows([MedianCurve("clockwise", x, x - 1, x + 1, 10)])[1]["median"]
    5.0
    """
    return tuple(
        {
            "label": c.label,
            "episode": episode + 1,
            "median": float(c.values[episode]),
            "low": float(c.low[episode]),
            "high": float(c.high[episode]),
            "n_trials": c.n_trials,
        }
        for c in curves
        for episode in range(c.values.size)
    )


def sample_efficiency_curves(
    curves: Sequence[Curve],
    *,
    xlabel: str = "step",
    ylabel: str = "",
    series: Mapping[str, int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one metric of several algorithms along the steps, with pointwise bands.

    Parameters
    ----------
    curves : sequence of Curve
        Of one metric; from :func:`~gnomon.stats.learning_curves.curves_by_step.curves`.
    xlabel, ylabel : str
        What the axes measure; the metric stands above them.
    series : mapping from algorithm to int, optional
        Number of each one's style; its place among the curves if not given.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import curves
    >>> scores = ScoreTable.from_arrays({"dqn": [[[1, 2], [3, 4]], [[2, 3], [4, 5]]]})
    >>> sample_efficiency_curves(curves(scores, "mean")).get_title("left")
    'mean'
    """
    ax = axes_for(ax, *size_for(len(curves)), grid="both")
    height: dict[str, float] = {}
    for i, curve in enumerate(curves):
        number = series[curve.algorithm] if series else i
        style = series_style(number)
        height[style.named(curve.algorithm)] = float(np.nan_to_num(curve.value[-1], nan=-np.inf))
        marks: dict[str, Any] = {"marker": style.marker, "markersize": 3.5}
        if curve.step.size > MOST_MARKED or style.numeral:
            marks = sparse_markers(style, number, curve.step.size, len(curves))
        draw_series(
            ax, curve.step, curve.value, style, (curve.low, curve.high),
            alpha=band_alpha(len(curves)), linewidth=1.6, label=curve.algorithm, **marks,
        )  # fmt: skip
    ends = [(float(c.step[0]), float(c.step[-1])) for c in curves]
    ax.set_xlim(min(e[0] for e in ends), max(e[1] for e in ends))
    whole = all(float(x).is_integer() for c in curves for x in (c.step[0], c.step[-1]))
    mark_numbers(ax.xaxis, most=5, whole=whole)
    mark_numbers(ax.yaxis)
    name = curves[0].metric
    name_panel(ax, METRIC_NAMES.get(name, name))
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    name_series(ax, "lower right", sorted(height, key=lambda name: -height[name]))
    return ax


def efficiency_rows(curves: Sequence[Curve]) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`sample_efficiency_curves`: a row a curve and step."""
    return tuple(record for curve in curves for record in curve.as_records())
