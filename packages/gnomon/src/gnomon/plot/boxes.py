"""Box plots of terminal cumulated errors: one panel a learner, one row a rule, hardest on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from gnomon.plot.labels import in_lines, name_panel, name_rows
from gnomon.plot.scales import BrokenScale
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    INK,
    MUTED,
    SIZE,
    dress,
    new_drawing,
    series_style,
)
from gnomon.stats.bootstrap.quantiles import quantiles


@dataclass(frozen=True, slots=True)
class Box:
    """What a box plot shows of one sample.

    Parameters
    ----------
    label : str
        Name of the sample.
    n : int
        How many values, infinite ones included.
    low, q1, median, q3, high : float
        Ends of the whiskers and quartiles. A whisker ends at the most extreme value within 1.5
        interquartile ranges of the box.
    outliers : tuple of float
        Finite values beyond the whiskers.
    n_infinite : int
        How many values are infinite: runs that never got there.

    Examples
    --------
    >>> box_of("clockwise", [1, 2, 3, 4, 100]).outliers
    (100.0,)
    """

    label: str
    n: int
    low: float
    q1: float
    median: float
    q3: float
    high: float
    outliers: tuple[float, ...]
    n_infinite: int


def box_of(label: str, values: npt.ArrayLike) -> Box:
    """Return the box of a sample; NaN is left out, and an empty sample gives NaN.

    Examples
    --------
    >>> box = box_of("clockwise", [1, 2, 3, 4, 100])
    >>> box.q1, box.median, box.q3, box.high, box.outliers
    (2.0, 3.0, 4.0, 4.0, (100.0,))
    """
    x = np.asarray(values, dtype=np.float64).ravel()
    x = np.sort(x[~np.isnan(x)])
    if not x.size:
        nan = float("nan")
        return Box(label, 0, nan, nan, nan, nan, nan, (), 0)
    q1, median, q3 = (float(q) for q in quantiles(x, [0.25, 0.5, 0.75]))
    reach = 1.5 * (q3 - q1) if np.isfinite(q3) else np.inf
    inside = x[(x >= q1 - reach) & (x <= q3 + reach)] if np.isfinite(q1) else x
    outside = x[((x < q1 - reach) | (x > q3 + reach)) & np.isfinite(x)]
    low, high = min(float(inside[0]), q1), max(float(inside[-1]), q3)
    return Box(
        label, x.size, low, q1, median, q3, high, tuple(outside.tolist()), int(np.isinf(x).sum())
    )


def box_plots(
    panels: Mapping[str, Mapping[str, npt.ArrayLike]],
    order: Sequence[str],
    *,
    xlabel: str = "terminal cumulated errors",
    series: Mapping[str, int] | None = None,
    fig: Drawing | None = None,
) -> Drawing:
    """Draw box plots of a score, one panel a learner and one row a rule, on broken axes.

    Each panel has a scale of its own: how learners compare is another figure's question. The
    coloured box is the interquartile range with the median in it; every run is a dot. A run
    that is infinite (never learned) is a triangle at the right edge, with the number of such runs
    beside it. Where runs lie far beyond the whiskers, the axis is broken, and those stand behind
    the break on a scale of their own. After figure 5 of Pulick et al. (2022).

    Parameters
    ----------
    panels : mapping from learner to mapping from rule to array_like of float
        The runs. A rule may lack in a panel.
    order : sequence of str
        The rules, hardest first.
    xlabel : str
        What the score is.
    series : mapping from rule to int, optional
        Number of each one's style; its place in `order` if not given.
    fig : matplotlib.figure.Figure, optional
        An empty one to draw on.

    Examples
    --------
    >>> panels = {"uniform": {"clockwise": [9, 12, 15]}, "dqn": {"clockwise": [3, 4, 8]}}
    >>> [ax.get_title("left") for ax in box_plots(panels, ["clockwise"]).axes]
    ['uniform', 'dqn']
    """
    n = max(len(panels), 1)
    # Many rows stand closer.
    height = max(HEIGHT, 0.95 + 0.5 * min(len(order), 8) + 0.3 * max(len(order) - 8, 0))
    fig = new_drawing(FULL_WIDTH if n > 1 else HALF_WIDTH, height) if fig is None else fig
    axes = fig.subplots(1, n, sharey=True, squeeze=False)[0]
    numbers = {rule: (series or {}).get(rule, i) for i, rule in enumerate(order)}
    for ax, (learner, rules) in zip(axes, panels.items(), strict=False):
        scale = _scale_of(rules)
        _panel(ax, rules, numbers, scale)
        if n > 1:
            name_panel(ax, in_lines(learner, 40))
        ax.set_xlabel(scale.label(xlabel))
    name_rows(axes[0], [in_lines(rule) for rule in order])
    # Few rows keep the height of a row, with room around them.
    room = max(0.0, (4 - len(order)) / 2)
    axes[0].set_ylim(len(order) - 0.5 + room, -0.5 - room)
    return fig


def _scale_of(rules: Mapping[str, npt.ArrayLike]) -> BrokenScale:
    """Return the axis of a panel; its break, if any, is beyond all whiskers."""
    runs = [np.ravel(np.asarray(x, dtype=np.float64)) for x in rules.values()]
    ends = [box_of("", x).high for x in runs]
    usual = max((end for end in ends if np.isfinite(end)), default=np.inf)
    return BrokenScale.fit(np.concatenate(runs) if runs else [], usual)


def _panel(
    ax: Axes, rules: Mapping[str, npt.ArrayLike], series: Mapping[str, int], scale: BrokenScale
) -> None:
    """Draw the rows of one learner, in the order of `series`."""
    dress(ax, grid="x")
    scale.apply(ax)
    for row, (rule, i) in enumerate(series.items()):
        if rule in rules:
            color = series_style(i).color
            _box(ax, row, box_of(rule, rules[rule]), scale, color)
            _dots(ax, row, np.asarray(rules[rule], dtype=np.float64).ravel(), scale, color)


def _box(ax: Axes, row: int, box: Box, scale: BrokenScale, color: str) -> None:
    """Draw one box; what is infinite ends at the edge of the axes."""
    if not box.n or not np.isfinite(box.low):
        return
    low, q1, median, q3, high = np.minimum(
        [box.low, box.q1, box.median, box.q3, box.high], scale.high
    )
    ax.hlines([row, row], [low, q3], [q1, high], color=color, linewidth=1.2)
    ax.vlines([low, high], row - 0.12, row + 0.12, color=color, linewidth=1.2)
    ax.barh(row, q3 - q1, left=q1, height=0.56, color=color, alpha=0.25, linewidth=0)
    if np.isfinite(box.median):
        ax.vlines(median, row - 0.28, row + 0.28, color=INK, linewidth=2.0)


def _dots(
    ax: Axes, row: int, values: npt.NDArray[np.float64], scale: BrokenScale, color: str
) -> None:
    """Draw every run as a dot, and those that never got there as one triangle with their number."""
    finite = np.sort(values[np.isfinite(values)])
    # Neighbours in value go to far places in height, the same each time: the golden ratio's turns.
    turns = (np.arange(finite.size) * 0.6180339887) % 1.0
    ax.scatter(finite, row + (turns - 0.5) * 0.4, s=7, color=color, alpha=0.65, linewidth=0)
    n_infinite = int(np.isposinf(values).sum())
    if n_infinite:
        ax.plot([scale.high], [row], marker=">", markersize=7, color=color, clip_on=False)
        ax.annotate(
            f"{n_infinite} of {np.count_nonzero(~np.isnan(values))} never", (scale.high, row),
            xytext=(7, 0), textcoords="offset points", ha="left", va="center",
            fontsize=SIZE - 1.5, color=MUTED,
        )  # fmt: skip


def box_rows(
    panels: Mapping[str, Mapping[str, npt.ArrayLike]], order: Sequence[str]
) -> tuple[Mapping[str, str | float], ...]:
    """Return the numbers of :func:`box_plots`: a row a learner and rule.

    Examples
    --------
    >>> box_rows({"dqn": {"clockwise": [3, 4, 8]}}, ["clockwise"])[0]["median"]
    4.0
    """
    rows: list[Mapping[str, str | float]] = []
    for learner, rules in panels.items():
        for rule in order:
            if rule in rules:
                box = box_of(rule, rules[rule])
                rows.append(
                    {
                        "learner": learner,
                        "rule": rule,
                        "n": box.n,
                        "whisker_low": box.low,
                        "q1": box.q1,
                        "median": box.median,
                        "q3": box.q3,
                        "whisker_high": box.high,
                        "n_outliers": len(box.outliers),
                        "n_infinite": box.n_infinite,
                    }
                )
    return tuple(rows)
