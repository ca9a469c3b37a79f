"""A bar a task: how well each predicts, how much of each is explained, how often it is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from gnomon.errors import shortened
from gnomon.plot.style import (
    HALF_WIDTH,
    INK,
    LONGEST,
    MUTED,
    SERIES,
    SIZE,
    dress,
    new_drawing,
    number,
)

__all__ = ["category_colors", "task_bars"]

#: Height of a bar with its gap, in inches.
ROW = 0.185


def task_bars(
    values: Mapping[str, float],
    *,
    xlabel: str = "",
    categories: Mapping[str, str] | None = None,
    marked: Collection[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar for each task, in the order given, with its number at the end.

    Parameters
    ----------
    values : mapping from task to float
        From top to bottom; a value that does not exist has a dash and no bar.
    xlabel : str
    categories : mapping from task to str, optional
        Tasks of a category have a colour, which a legend names.
    marked : collection of str
        Tasks whose names are bold.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    names, n = list(values), len(values)
    if ax is None:
        ax = new_drawing(HALF_WIDTH * 1.15, 0.9 + ROW * max(n, 3)).subplots()
    dress(ax, grid="x")
    colors = category_colors({t: (categories or {}).get(t, "") for t in names})
    finite = [v for v in values.values() if v == v]
    low, high = min([0.0, *finite]), max([0.0, *finite]) or 1.0
    for row, (task, value) in enumerate(values.items()):
        if value == value:
            color = colors.get((categories or {}).get(task, ""), SERIES[0])
            ax.barh(row, value, height=0.72, color=color)
        ax.annotate(
            f"{value:.2f}" if value == value else "–",
            (max(value, 0.0) if value == value else 0.0, row),
            xytext=(3, 0), textcoords="offset points", va="center", color=MUTED,
            fontsize=SIZE - 2.5,
        )  # fmt: skip
    ax.set_xlim(low * 1.05, high * 1.12)
    ax.set_ylim(n - 0.4, -0.6)
    ax.set_yticks(range(n), [shortened(name, LONGEST) for name in names], parse_math=False)
    ax.tick_params(axis="y", labelcolor=INK, labelsize=SIZE - 1.5)
    for name, label in zip(names, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if name in marked else "normal")
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(round(value, 9))))
    ax.set_xlabel(xlabel)
    if len(colors) > 1:
        handles = [Patch(color=color, label=name or "other") for name, color in colors.items()]
        ax.legend(
            handles=handles, loc="lower right", frameon=False, fontsize=SIZE - 1.5,
            labelcolor=INK,
        )  # fmt: skip
    return ax


def category_colors(categories: Mapping[str, str]) -> dict[str, str]:
    """Return a colour for each category, the largest first; of many, the smallest are grey.

    Examples
    --------
    >>> category_colors({"pong": "paddle", "boxing": "sports", "tennis": "sports"})
    {'sports': '#0072b2', 'paddle': '#d55e00'}
    """
    counts = sorted(Counter(categories.values()).items(), key=lambda item: (-item[1], item[0]))
    return {name: SERIES[i] if i < len(SERIES) else MUTED for i, (name, _) in enumerate(counts)}
