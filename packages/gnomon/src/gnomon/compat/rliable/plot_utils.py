"""rliable's plot functions: the same arguments and return values, with Matplotlib alone.

Colours are those of Okabe and Ito, distinct for colour-blind readers, unless a list of colours
or the name of a Matplotlib colour map is given. Keyword arguments that only decorate are accepted
as rliable names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OKABE_ITO = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000",
)  # fmt: skip

Colors = Mapping[str, Any] | None


def _colors(names: Sequence[str], colors: Colors, palette: Any) -> dict[str, Any]:
    """Return a colour for each name."""
    if colors is not None:
        return dict(colors)
    chosen: Sequence[Any] = OKABE_ITO
    if isinstance(palette, str) and palette != "colorblind":
        import matplotlib as mpl

        chosen = [mpl.colormaps[palette](x) for x in np.linspace(0.0, 1.0, max(len(names), 2))]
    elif not isinstance(palette, str):
        chosen = list(palette)
    return {name: chosen[i % len(chosen)] for i, name in enumerate(names)}


def _axes(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=figsize)[1]


def _decorate_axis(
    ax: Axes, wrect: float = 10, hrect: float = 10, ticklabelsize: Any = "large"
) -> Axes:
    """Hide the upper and the right spine, and move the others outward."""
    for side, distance in (("left", hrect), ("bottom", wrect)):
        ax.spines[side].set_linewidth(2)
        ax.spines[side].set_position(("outward", distance))
    for side in ("right", "top"):
        ax.spines[side].set_visible(False)
    ax.tick_params(length=0.1, width=0.1, labelsize=ticklabelsize)
    return ax


def _annotate_and_decorate_axis(
    ax: Axes,
    labelsize: Any = "x-large",
    ticklabelsize: Any = "x-large",
    xticks: Any = None,
    xticklabels: Any = None,
    yticks: Any = None,
    legend: bool = False,
    grid_alpha: float = 0.2,
    legendsize: Any = "x-large",
    xlabel: str = "",
    ylabel: str = "",
    wrect: float = 10,
    hrect: float = 10,
) -> Axes:
    """Set labels, ticks, grid, legend and spines; marl-eval and others import it from rliable."""
    ax.set_xlabel(xlabel, fontsize=labelsize)
    ax.set_ylabel(ylabel, fontsize=labelsize)
    if xticks is not None:
        ax.set_xticks(xticks, labels=None if xticklabels is None else [str(x) for x in xticklabels])
    if yticks is not None:
        ax.set_yticks(yticks)
    ax.grid(True, alpha=grid_alpha)
    if legend:
        ax.legend(fontsize=legendsize)
    return _decorate_axis(ax, wrect, hrect, ticklabelsize)


def plot_performance_profiles(
    performance_profiles: Mapping[str, npt.ArrayLike],
    tau_list: npt.ArrayLike,
    performance_profile_cis: Mapping[str, npt.ArrayLike] | None = None,
    use_non_linear_scaling: bool = False,
    ax: Axes | None = None,
    colors: Colors = None,
    color_palette: Any = "colorblind",
    alpha: float = 0.15,
    figsize: tuple[float, float] = (10, 5),
    xticks: Sequence[float] | None = None,
    yticks: Sequence[float] | None = None,
    xlabel: str = r"Normalized Score ($\tau$)",
    ylabel: str = r"Fraction of runs with score $> \tau$",
    linestyles: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Axes:
    """Plot performance profiles with their bands.

    Parameters
    ----------
    performance_profiles, performance_profile_cis : mapping
        As :func:`~gnomon.compat.rliable.library.create_performance_profile` returns them.
    tau_list : array_like of float
        Thresholds.
    use_non_linear_scaling : bool
        Whether the axis is stretched where many runs score: a threshold stands at the mean share of
        runs below it. The axis then depends on which algorithms are shown.
    ax, colors, color_palette, alpha, figsize, xticks, yticks, xlabel, ylabel, linestyles, **kwargs
        As in rliable; `linewidth` holds for all curves.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _axes(ax, figsize)
    color_of = _colors(list(performance_profiles), colors, color_palette)
    linewidth = kwargs.pop("linewidth", 2.0)
    tau = np.asarray(tau_list, dtype=np.float64)
    places, labels = tau, xticks
    if use_non_linear_scaling:
        places = 1.0 - np.mean([np.asarray(p) for p in performance_profiles.values()], axis=0)
        if xticks is None:
            chosen = np.unique(np.geomspace(1, max(tau.size - 1, 1), 5).astype(int))
            labels = [float(tau[i]) for i in chosen]
        xticks = [float(np.interp(x, tau, places)) for x in labels or ()]
    for name, profile in performance_profiles.items():
        style = "solid" if linestyles is None else linestyles[name]
        line = {"color": color_of[name], "linestyle": style, "linewidth": linewidth}
        ax.plot(places, np.asarray(profile), label=name, **line)
        if performance_profile_cis is not None and name in performance_profile_cis:
            low, high = np.asarray(performance_profile_cis[name])
            ax.fill_between(places, low, high, color=color_of[name], alpha=alpha)
    return _annotate_and_decorate_axis(
        ax,
        xticks=xticks,
        xticklabels=labels,
        yticks=[0.0, 0.25, 0.5, 0.75, 1.0] if yticks is None else yticks,
        xlabel=xlabel,
        ylabel=ylabel,
        **kwargs,
    )


def plot_interval_estimates(
    point_estimates: Mapping[str, npt.ArrayLike],
    interval_estimates: Mapping[str, npt.ArrayLike],
    metric_names: Sequence[str],
    algorithms: Sequence[str] | None = None,
    colors: Colors = None,
    color_palette: Any = "colorblind",
    max_ticks: int = 4,
    subfigure_width: float = 3.4,
    row_height: float = 0.37,
    xlabel_y_coordinate: float = -0.1,
    xlabel: str = "Normalized Score",
    **kwargs: Any,
) -> tuple[Figure, Any]:
    """Plot a panel of points and bars for each metric.

    Parameters
    ----------
    point_estimates, interval_estimates : mapping
        As :func:`~gnomon.compat.rliable.library.get_interval_estimates` returns them.
    metric_names : sequence of str
        Titles of the panels.
    algorithms, colors, color_palette, max_ticks, subfigure_width, row_height, xlabel_y_coordinate,
    xlabel, **kwargs
        As in rliable (`interval_height` and `wspace` among the last).

    Returns
    -------
    fig : matplotlib.figure.Figure
    axes : Axes, or array of Axes
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    names = list(point_estimates) if algorithms is None else list(algorithms)
    n_metrics = len(np.atleast_1d(point_estimates[names[0]]))
    figsize = (subfigure_width * n_metrics, row_height * len(names))
    fig, axes = plt.subplots(ncols=n_metrics, figsize=figsize)
    color_of = _colors(names, colors, color_palette)
    height = kwargs.pop("interval_height", 0.6)
    for panel, ax in enumerate(np.atleast_1d(axes)):
        for row, name in enumerate(names):
            low, high = np.asarray(interval_estimates[name])[:, panel]
            point = float(np.atleast_1d(point_estimates[name])[panel])
            _bar(ax, row, low, high, point, height, color_of[name], 0.75, name)
        ax.set_yticks(range(len(names)), labels=names if panel == 0 else [""] * len(names))
        ax.xaxis.set_major_locator(MaxNLocator(max_ticks))
        ax.set_title(metric_names[panel], fontsize="xx-large")
        _annotate_and_decorate_axis(ax, ticklabelsize="xx-large", wrect=5, grid_alpha=0.0)
        ax.spines["left"].set_visible(False)
        ax.grid(True, axis="x", alpha=0.25)
    fig.text(0.4, xlabel_y_coordinate, xlabel, ha="center", fontsize="xx-large")
    fig.subplots_adjust(wspace=kwargs.pop("wspace", 0.11), left=0.0)
    return fig, axes


def _bar(
    ax: Axes,
    row: int,
    low: float,
    high: float,
    point: float,
    height: float,
    color: Any,
    alpha: float,
    name: str,
) -> None:
    """Draw an interval as a bar and its point as a line across it."""
    ax.barh(row, high - low, height=height, left=low, color=color, alpha=alpha, label=name)
    ends = (row - height / 2.0, row + height / 2.0)
    ax.vlines(point, *ends, color="k", alpha=0.5)


def plot_sample_efficiency_curve(
    frames: npt.ArrayLike,
    point_estimates: Mapping[str, npt.ArrayLike],
    interval_estimates: Mapping[str, npt.ArrayLike],
    algorithms: Sequence[str] | None = None,
    colors: Colors = None,
    color_palette: Any = "colorblind",
    figsize: tuple[float, float] = (7, 5),
    xlabel: str = r"Number of Frames (in millions)",
    ylabel: str = "Aggregate Human Normalized Score",
    ax: Axes | None = None,
    labelsize: Any = "xx-large",
    ticklabelsize: Any = "xx-large",
    **kwargs: Any,
) -> Axes:
    """Plot a metric against training frames, with bands.

    Parameters
    ----------
    frames : array_like of float
    point_estimates, interval_estimates : mapping
        Arrays of shape (frames,) and (2, frames).
    algorithms : sequence of str, optional
        Which ones; all if not given.
    colors, color_palette, figsize, xlabel, ylabel, ax, labelsize, ticklabelsize, **kwargs
        As in rliable (`marker` and `linewidth` among the last).

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _axes(ax, figsize)
    names = list(point_estimates) if algorithms is None else list(algorithms)
    color_of = _colors(names, colors, color_palette)
    marker, linewidth = kwargs.pop("marker", "o"), kwargs.pop("linewidth", 2)
    for name in names:
        low, high = np.asarray(interval_estimates[name])
        line = {"color": color_of[name], "marker": marker, "linewidth": linewidth}
        ax.plot(np.asarray(frames), np.asarray(point_estimates[name]), label=name, **line)
        ax.fill_between(np.asarray(frames), low, high, color=color_of[name], alpha=0.2)
    return _annotate_and_decorate_axis(
        ax,
        xlabel=xlabel,
        ylabel=ylabel,
        labelsize=labelsize,
        ticklabelsize=ticklabelsize,
        **kwargs,
    )


def plot_probability_of_improvement(
    probability_estimates: Mapping[str, Any],
    probability_interval_estimates: Mapping[str, npt.ArrayLike],
    pair_separator: str = ",",
    ax: Axes | None = None,
    figsize: tuple[float, float] = (4, 3),
    colors: Sequence[Any] | None = None,
    color_palette: Any = "colorblind",
    alpha: float = 0.75,
    xticks: Sequence[float] | None = None,
    xlabel: str = "P(X > Y)",
    left_ylabel: str = "Algorithm X",
    right_ylabel: str = "Algorithm Y",
    **kwargs: Any,
) -> Axes:
    """Plot P(X > Y) of pairs, X named on the left, Y on the right.

    Parameters
    ----------
    probability_estimates, probability_interval_estimates : mapping
        Under names such as ``"X,Y"``; intervals of shape (2,) or (2, 1).
    pair_separator : str
        What stands between the names.
    ax, figsize, colors, color_palette, alpha, xticks, xlabel, left_ylabel, right_ylabel, **kwargs
        As in rliable; `colors` is a sequence, one for each pair.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _axes(ax, figsize)
    pairs = list(probability_estimates)
    chosen = list(_colors(pairs, None, color_palette).values()) if colors is None else colors
    height = kwargs.pop("interval_height", 0.6)
    kwargs.pop("ylabel_x_coordinate", None)
    twin = ax.twinx()
    names = [pair.split(pair_separator) for pair in pairs]
    for row, pair in enumerate(pairs):
        low, high = np.ravel(probability_interval_estimates[pair])
        point = float(np.ravel(probability_estimates[pair])[0])
        _bar(ax, row, low, high, point, height, chosen[row], alpha, names[row][0])
    _annotate_and_decorate_axis(
        ax, xticks=xticks, xticklabels=xticks, xlabel=xlabel, ylabel=left_ylabel, **kwargs
    )
    ax.set_yticks(range(len(pairs)), labels=[x for x, _ in names], fontsize="large")
    twin.set_yticks(range(len(pairs)), labels=[y for _, y in names], fontsize="large")
    twin.set_ylim(ax.get_ylim())
    twin.set_ylabel(right_ylabel, fontsize=kwargs.get("labelsize", "x-large"))
    for side in ("right", "top"):
        twin.spines[side].set_visible(False)
    return ax
