"""rliable's public names, so that an import line is all that a user changes.

``from gnomon.compat.rliable import library as rly, metrics, plot_utils``. Definitions, arguments
and return values are rliable's (Agarwal et al. 2021, NeurIPS). What differs: ``random_state`` is
honoured, and global state is never read; learning curves are resampled as whole runs; the
acceleration of BCa is that of stratified data and of each statistic by itself. Colours are those of
Okabe and Ito, unless a list of colours or the name of a Matplotlib colour map is given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import check_word
from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap import quantiles
from gnomon.stats.profiles import average_score_profile, run_score_profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RandomState = np.random.RandomState | np.random.Generator | int | None
Colors = Mapping[str, Any] | None

METHODS = ("percentile", "basic", "bc", "bca")
OKABE_ITO = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000",
)  # fmt: skip

# rliable has three modules, and scripts import names from each.
library = metrics = plot_utils = sys.modules[__name__]
for _name in ("library", "metrics", "plot_utils"):
    sys.modules[f"{__name__}.{_name}"] = sys.modules[__name__]


def flat(scores: npt.ArrayLike) -> FloatArray:
    """Return scores as (runs, everything else)."""
    x = np.asarray(scores, dtype=np.float64)
    return x.reshape(x.shape[0], -1)


def _task_means(scores: npt.ArrayLike) -> Any:
    """Return means over runs, (tasks, ...)."""
    x = np.asarray(scores, dtype=np.float64)
    return np.mean(x[:, None] if x.ndim == 1 else x, axis=0)


def aggregate_mean(scores: Any) -> Any:
    """Return the mean over tasks of the mean over runs, one for each place on further axes."""
    return np.mean(_task_means(scores), axis=0)


def aggregate_median(scores: Any) -> Any:
    """Return the median over tasks of the mean over runs, one for each place on further axes."""
    return np.median(_task_means(scores), axis=0)


def aggregate_iqm(scores: Any) -> Any:
    """Return the mean of all scores between the floor(N/4) lowest and highest.

    Examples
    --------
    >>> float(aggregate_iqm([[0, 1], [2, 50]]))
    1.5
    """
    ordered = np.sort(flat(scores), axis=None)
    cut = ordered.size // 4
    return np.mean(ordered[cut : ordered.size - cut])


def aggregate_optimality_gap(scores: Any, gamma: float = 1) -> Any:
    """Return gamma minus the mean of the scores cut at gamma."""
    return gamma - np.mean(np.minimum(flat(scores), gamma))


def probability_of_improvement(scores_x: Any, scores_y: Any) -> Any:
    """Return P(X > Y) averaged over tasks, ties counting one half.

    Raises ValueError if the numbers of tasks differ.

    Examples
    --------
    >>> float(probability_of_improvement([[1], [3]], [[2], [1]]))
    0.625
    """
    x, y = flat(scores_x), flat(scores_y)
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"expected the same tasks, found {x.shape[1]} and {y.shape[1]}")
    x = x[:, None]
    return np.mean((x > y) + (x == y) / 2.0)


def _generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator for anything that rliable accepts; a new one for None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint64))
    return np.random.default_rng(random_state)


class StratifiedBootstrap:
    """Resample runs inside each task, the same indices for all arrays.

    Parameters
    ----------
    *args, **kwargs : array_like of shape (runs, tasks, ...)
        The data; keyword data is visible as attributes. A run is drawn as a whole over all axes
        after the second.
    random_state : RandomState, Generator, int or None
        Source of the draws; None for fresh entropy.
    task_bootstrap : bool
        Whether tasks are drawn with replacement too.

    Examples
    --------
    >>> bs = StratifiedBootstrap(np.arange(8.0).reshape(4, 2), random_state=1)
    >>> bs.conf_int(np.mean, reps=500, method="percentile").shape
    (2, 1)
    """

    def __init__(
        self,
        *args: npt.ArrayLike,
        random_state: RandomState = None,
        task_bootstrap: bool = False,
        **kwargs: npt.ArrayLike,
    ) -> None:
        self._args = tuple(np.asarray(x) for x in args)
        self._kwargs = {name: np.asarray(x) for name, x in kwargs.items()}
        self._rng, self._task_bootstrap = _generator(random_state), task_bootstrap
        self.index: Any = None
        vars(self).update(self._kwargs)

    def update_indices(self) -> Any:
        """Return the indices of a new resample, one and the same for all arrays."""
        return self._index(self._args[0])

    def _index(self, x: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
        """Return index arrays of one resample that broadcast to the shape of an array."""
        ones = (1,) * (x.ndim - 2)
        runs = self._rng.integers(0, x.shape[0], size=(*x.shape[:2], *ones))
        tasks = np.arange(x.shape[1]).reshape(1, x.shape[1], *ones)
        if self._task_bootstrap:
            tasks = self._rng.integers(0, x.shape[1], size=tasks.shape)
        rest = np.ogrid[tuple(slice(n) for n in (0, 0, *x.shape[2:]))][2:] if ones else []
        return (runs, tasks, *rest)

    def _taken(self, index: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and keyword data at some indices."""
        named = {name: x[index] for name, x in self._kwargs.items()}
        return tuple(x[index] for x in self._args), named

    def bootstrap(self, reps: int) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Yield `reps` times the resampled positional and keyword data."""
        for _ in range(reps):
            self.index = self.update_indices()
            args, named = self._taken(self.index)
            vars(self).update(named)
            yield args, named

    def apply(self, func: Callable[..., Any], reps: int = 1000) -> FloatArray:
        """Return `func` of every resample, shape (reps, statistics)."""
        drawn = [np.atleast_1d(func(*args, **kwargs)) for args, kwargs in self.bootstrap(reps)]
        return np.asarray(drawn, dtype=np.float64)

    def conf_int(
        self,
        func: Callable[..., Any],
        reps: int = 1000,
        method: str = "basic",
        size: float = 0.95,
    ) -> FloatArray:
        """Return an interval for each statistic that `func` returns, shape (2, statistics).

        Raises ValueError for an unknown method.
        """
        check_word("method", method, METHODS)
        values = np.atleast_1d(func(*self._args, **self._kwargs))
        replicates = self.apply(func, reps)
        bends = np.zeros(values.size)
        if method == "bca":
            bends = self._accelerations(func)
        columns = zip(replicates.T, values, bends, strict=True)
        return np.array([_ends(method, *column, size) for column in columns]).T

    def _accelerations(self, func: Callable[..., Any]) -> FloatArray:
        """Return the acceleration of each statistic: the jackknife inside every stratum.

        An array cannot lose one run of one task, so the run gets a score that leaves the task's
        mean as it would be without it.
        """
        second: Any = 0.0
        third: Any = 0.0
        for which, scores in enumerate(self._args):
            x = scores.astype(np.float64)
            n = x.shape[0]
            for task in range(x.shape[1]):
                values = []
                for run in range(n):
                    changed = x.copy()
                    if n > 1:
                        changed[run, task] = np.delete(x[:, task], run, axis=0).mean(axis=0)
                    args = (*self._args[:which], changed, *self._args[which + 1 :])
                    values.append(np.ravel(func(*args, **self._kwargs)))
                influence = (n - 1) * (np.mean(values, axis=0) - np.array(values)) / n
                second = second + np.sum(influence**2, axis=0)
                third = third + np.sum(influence**3, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.nan_to_num(third / (6.0 * second**1.5)))


def _ends(
    method: str, column: FloatArray, value: float, bend: float, size: float
) -> tuple[float, float]:
    """Return the interval of one statistic; `bend` is the acceleration, 0 unless for BCa."""
    from scipy import special

    tails = np.array([(1.0 - size) / 2.0, (1.0 + size) / 2.0])
    if method == "percentile":
        low, high = quantiles(column, tails)
    elif method == "basic":
        high, low = 2.0 * value - quantiles(column, tails)
    else:
        # Ties with the value count one half, as the median of a discrete distribution needs.
        below = np.mean(column < value) + np.mean(column == value) / 2.0
        bias = special.ndtri(np.clip(below, 0.5 / column.size, 1.0 - 0.5 / column.size))
        z = bias + special.ndtri(tails)
        low, high = quantiles(column, special.ndtr(bias + z / (1.0 - bend * z)))
    return float(low), float(high)


class StratifiedIndependentBootstrap(StratifiedBootstrap):
    """Resample each array on its own; their numbers of runs may differ."""

    def __init__(
        self, *args: npt.ArrayLike, random_state: RandomState = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, random_state=random_state, **kwargs)

    def update_indices(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the indices of a new resample: of the positional data, and of the rest by name."""
        positions = [self._index(x) for x in self._args]
        return positions, {name: self._index(x) for name, x in self._kwargs.items()}

    def _taken(self, index: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        positions, by_name = index
        named = {name: x[by_name[name]] for name, x in self._kwargs.items()}
        return tuple(x[i] for x, i in zip(self._args, positions, strict=True)), named


def get_interval_estimates(
    score_dict: Mapping[str, Any],
    func: Callable[..., Any],
    method: str = "percentile",
    task_bootstrap: bool = False,
    reps: int = 50000,
    confidence_interval_size: float = 0.95,
    random_state: RandomState = None,
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return point estimates and bootstrap intervals of `func` for every entry.

    Parameters
    ----------
    score_dict : mapping from name to array, or to a list of arrays
        Shape (runs, tasks, ...). A list is handed to `func` as several arguments, resampled
        independently (then `task_bootstrap` has no meaning and is refused).
    func : function
        Returns a number or a 1-D array.
    method : {"percentile", "basic", "bc", "bca"}
    task_bootstrap : bool
        Whether tasks are drawn with replacement too.
    reps, confidence_interval_size, random_state
        Number of resamples, level, and source of the draws.

    Returns
    -------
    point_estimates, interval_estimates : dict
        Under each name what `func` returns, and an array (2, statistics).

    Examples
    --------
    >>> from gnomon.compat.rliable import metrics
    >>> scores = {"dqn": np.arange(20.0).reshape(5, 4)}
    >>> points, ends = get_interval_estimates(
    ...     scores, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=2000, random_state=0
    ... )
    >>> points["dqn"], ends["dqn"].shape
    (array([9.5]), (2, 1))
    """
    rng = _generator(random_state)
    points: dict[str, Any] = {}
    ends: dict[str, FloatArray] = {}
    bootstrap: StratifiedBootstrap
    for name, scores in score_dict.items():
        if isinstance(scores, list | tuple):
            if task_bootstrap:
                raise ValueError(f"{name}: task_bootstrap is not possible for several arrays")
            arrays: Sequence[Any] = scores
            bootstrap = StratifiedIndependentBootstrap(*arrays, random_state=rng)
        else:
            arrays = [scores]
            bootstrap = StratifiedBootstrap(scores, random_state=rng, task_bootstrap=task_bootstrap)
        points[name] = func(*arrays)
        ends[name] = bootstrap.conf_int(func, reps, method, confidence_interval_size)
    return points, ends


def run_score_deviation(scores: npt.ArrayLike, tau: float) -> Any:
    """Return the share of runs above tau."""
    return np.mean(np.asarray(scores) > tau)


def mean_score_deviation(scores: npt.ArrayLike, tau: float) -> Any:
    """Return the share of tasks whose mean is above tau."""
    return np.mean(np.mean(np.asarray(scores), axis=0) > tau)


def score_distributions(scores: Any, tau_list: npt.ArrayLike) -> FloatArray:
    """Return the run-score profile: the share of runs above each threshold."""
    tau = np.asarray(tau_list, dtype=np.float64)
    return run_score_profile(flat(scores), tau)


def average_score_distributions(scores: Any, tau_list: npt.ArrayLike) -> FloatArray:
    """Return the average-score profile: the share of tasks whose mean is above each threshold."""
    tau = np.asarray(tau_list, dtype=np.float64)
    return average_score_profile(flat(scores), tau)


def create_performance_profile(
    score_dict: Mapping[str, Any],
    tau_list: npt.ArrayLike,
    use_score_distribution: bool = True,
    custom_profile_func: Callable[..., Any] | None = None,
    method: str = "percentile",
    task_bootstrap: bool = False,
    reps: int = 2000,
    confidence_interval_size: float = 0.95,
    random_state: RandomState = None,
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return performance profiles, (thresholds,), and their pointwise bands, (2, thresholds).

    Profiles of runs, or of task means; or the result of `custom_profile_func(scores, tau_list)`.
    """
    tau = np.asarray(tau_list)
    own = score_distributions if use_score_distribution else average_score_distributions
    profile = own if custom_profile_func is None else custom_profile_func
    how = (method, task_bootstrap, reps, confidence_interval_size, random_state)
    return get_interval_estimates(score_dict, lambda scores: profile(scores, tau), *how)


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
    """Plot performance profiles with their bands, as `create_performance_profile` returns them.

    The axis of non-linear scaling is stretched where many runs score: a threshold stands at the
    mean share of runs below it, so the axis depends on which algorithms are shown.
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
    """Plot a panel of points and bars for each metric; return the figure and its axes."""
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
    """Plot a metric against training frames, with bands, arrays (frames,) and (2, frames)."""
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
    """Plot P(X > Y) of pairs such as ``"X,Y"``, X named on the left, Y on the right."""
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
