"""The strongest correlations of tasks as a graph: what goes together, and of which category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from gnomon.distill.structure import Edge
from gnomon.errors import shortened
from gnomon.plot.style import FULL_WIDTH, INK, LONGEST, MUTED, PAPER, SIZE, new_drawing
from gnomon.plot.task_bars import category_colors
from gnomon.scores.table import FloatArray

__all__ = ["correlation_graph", "stress_layout"]

_N_STEPS = 200
#: Parts that are not joined stand so much further apart than the longest way within one.
_APART = 0.7


def correlation_graph(
    edges: Sequence[Edge],
    *,
    categories: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw tasks as dots and their correlations as lines, thicker for stronger ones.

    Parameters
    ----------
    edges : sequence of Edge
        What :func:`gnomon.distill.structure.correlations` returns; negative ones are dashed.
    categories : mapping from task to str, optional
        Tasks of a category have a colour, which a legend names.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    names = sorted({name for edge in edges for name in (edge.a, edge.b)})
    if ax is None:
        height = 2.6 + 0.14 * len(names)
        ax = new_drawing(FULL_WIDTH * 0.8, min(height, 7.5)).subplots()
    ax.set_axis_off()
    ax.set_facecolor("none")
    index = {name: i for i, name in enumerate(names)}
    pairs = [(index[edge.a], index[edge.b]) for edge in edges]
    place = stress_layout(len(names), pairs)
    sizes = np.abs([edge.correlation for edge in edges])
    weakest, strongest = (sizes.min(), sizes.max()) if edges else (0.0, 1.0)
    for edge, size in zip(edges, sizes, strict=True):
        share = (size - weakest) / (strongest - weakest or 1.0)
        ax.plot(
            *place[[index[edge.a], index[edge.b]]].T,
            color=MUTED, linewidth=0.8 + 3.0 * share, alpha=0.35 + 0.4 * share, zorder=1,
            linestyle="-" if edge.correlation >= 0 else "--", solid_capstyle="round",
        )  # fmt: skip
    groups = categories or {}
    colors = category_colors({name: groups.get(name, "") for name in names})
    behind = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.5, "alpha": 0.75}
    for name, (x, y) in zip(names, place, strict=True):
        ax.plot(
            [x], [y], "o", markersize=10, color=colors[groups.get(name, "")],
            markeredgecolor=PAPER, markeredgewidth=1.2, zorder=2,
        )  # fmt: skip
        ax.annotate(
            shortened(name, LONGEST), (x, y), xytext=(0, 7), textcoords="offset points",
            ha="center", va="bottom", parse_math=False, color=INK,
            fontsize=SIZE - 1, zorder=3, bbox=behind,
        )  # fmt: skip
    ax.set_xlim(-0.09, 1.09)
    ax.set_ylim(-0.06, 1.1)
    sign = "|r|" if any(edge.correlation < 0 for edge in edges) else "r"
    _legend(ax, colors, weakest, strongest, sign)
    return ax


def _legend(
    ax: Axes, colors: Mapping[str, str], weakest: float, strongest: float, sign: str
) -> None:
    """Name the categories, and say what the lines are worth."""
    dots = [
        Line2D([], [], marker="o", linestyle="none", color=color, label=name or "other")
        for name, color in colors.items()
        if len(colors) > 1
    ]
    lines = [
        Line2D([], [], color=MUTED, linewidth=w, alpha=a, label=f"{sign} = {r:.2f}")
        for r, w, a in ((strongest, 3.8, 0.75), (weakest, 0.8, 0.35))
    ]
    ax.legend(
        handles=[*dots, *lines], loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False,
        fontsize=SIZE - 1, labelcolor=INK, ncols=5,
    )  # fmt: skip


def stress_layout(n: int, edges: Sequence[tuple[int, int]]) -> FloatArray:
    """Place nodes so that distances on the page are those along the edges, as nearly as may be.

    By majorisation of the stress (Gansner, Koren and North 2004), from a circle, so that the same
    graph looks the same each time.

    Parameters
    ----------
    n : int
        Number of nodes.
    edges : sequence of (int, int)
        Which are joined.

    Returns
    -------
    ndarray of float, shape (n, 2)
        Between 0 and 1 in both directions.

    Examples
    --------
    >>> stress_layout(3, [(0, 1), (1, 2)])[:, 0].round(2).tolist()
    [1.0, 0.46, 0.0]
    """
    wanted = _ways(n, edges)
    np.fill_diagonal(wanted, 1.0)
    weight = 1.0 / wanted**2
    np.fill_diagonal(weight, 0.0)
    angle = 2.0 * np.pi * np.arange(n) / max(n, 1)
    place = np.column_stack([np.cos(angle), np.sin(angle)])
    for _ in range(_N_STEPS):
        away = place[:, np.newaxis] - place
        distance = np.maximum(np.sqrt((away**2).sum(axis=-1)), 1e-9)
        goal = place[np.newaxis] + away * (wanted / distance)[..., np.newaxis]
        total = np.maximum(weight.sum(axis=1), 1e-12)
        # Half of the way: all nodes move at once, and would overshoot.
        best = (weight[..., np.newaxis] * goal).sum(axis=1) / total[:, np.newaxis]
        place = (place + best) / 2.0
    low, high = place.min(axis=0), place.max(axis=0)
    flat = high - low < 1e-6
    return np.asarray(np.where(flat, 0.5, (place - low) / np.where(flat, 1.0, high - low)))


def _ways(n: int, edges: Sequence[tuple[int, int]]) -> FloatArray:
    """Return the number of edges between each two nodes; more than any, if there is no way."""
    ways = np.full((n, n), np.inf)
    np.fill_diagonal(ways, 0.0)
    for i, j in edges:
        ways[i, j] = ways[j, i] = 1.0
    for k in range(n):
        ways = np.minimum(ways, ways[:, k, np.newaxis] + ways[k])
    longest = ways[np.isfinite(ways)].max(initial=1.0)
    return np.where(np.isfinite(ways), ways, _APART * longest + 1.0)
