"""Graphs drawn: correlations of tasks as nearness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from gnomon.distillation.structure import Edge
from gnomon.plot.labels import name_points
from gnomon.plot.style import FULL_WIDTH, INK, MUTED, PAPER, SIZE, category_colors, new_drawing
from gnomon.scores.table import FloatArray

#: Correlations from here on are bold, as in figure 5 of the Atari-5 paper; lines below, and bold.
_BOLD = 0.9
_WIDTHS, _OPACITIES = (1.2, 3.6), (0.45, 0.75)
#: Steps of the layout of a graph.
_N_STEPS = 200
#: So far nodes stay from the edges of others, where that many rounds of pushes bring them there.
_CLEAR, _N_PUSHES = 0.05, 20
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
        What :func:`gnomon.distillation.structure.correlations` returns; negative ones are dashed.
    categories : mapping from task to str, optional
        Tasks of a category have a colour, which a legend names.
    ax : matplotlib.axes.Axes, optional

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.distillation import correlations
    >>> draws = np.random.default_rng(0)
    >>> scores = {f"a{i}": [draws.uniform(1, 9) + draws.normal(0, 0.3, 3)] for i in range(12)}
    >>> found = correlations(gn.ScoreTable.from_arrays(scores), strongest=2)
    >>> [text.get_text() for text in correlation_graph(found).texts]
    ['task_0', 'task_1', 'task_2']
    """
    names = sorted({name for edge in edges for name in (edge.a, edge.b)})
    if ax is None:
        ax = new_drawing(FULL_WIDTH * 0.8, min(2.6 + 0.14 * len(names), 7.5)).subplots()
    ax.set_axis_off()
    ax.set_facecolor("none")
    index = {name: i for i, name in enumerate(names)}
    pairs = [(index[edge.a], index[edge.b]) for edge in edges]
    place = stress_layout(len(names), pairs)
    sizes = np.abs([edge.correlation for edge in edges])
    weakest, strongest = (sizes.min(), sizes.max()) if edges else (0.0, 1.0)
    for edge, size in zip(edges, sizes, strict=True):
        bold = int(size >= _BOLD)
        ax.plot(
            *place[[index[edge.a], index[edge.b]]].T,
            color=MUTED, linewidth=_WIDTHS[bold], alpha=_OPACITIES[bold], zorder=1,
            linestyle="-" if edge.correlation >= 0 else "--", solid_capstyle="round",
        )  # fmt: skip
    groups = categories or {}
    colors = category_colors({name: groups.get(name, "") for name in names})
    for name, (x, y) in zip(names, place, strict=True):
        ax.plot(
            [x], [y], "o", markersize=10, color=colors[groups.get(name, "")],
            markeredgecolor=PAPER, markeredgewidth=1.2, zorder=2,
        )  # fmt: skip
    ax.set_xlim(-0.09, 1.09)
    ax.set_ylim(-0.06, 1.1)
    sign = "|r|" if any(edge.correlation < 0 for edge in edges) else "r"
    _legend(ax, colors, weakest, strongest, sign)
    name_points(ax, place, names)
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
    texts = (f"{sign} from {weakest:.2f}", f"{sign} of {_BOLD:.1f} and above")
    lines = [
        Line2D([], [], color=MUTED, linewidth=w, alpha=a, label=text)
        for w, a, text, drawn in zip(
            _WIDTHS, _OPACITIES, texts, (weakest < _BOLD, strongest >= _BOLD), strict=True
        )
        if drawn
    ]
    ax.legend(
        handles=[*dots, *lines], loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False,
        fontsize=SIZE - 1, labelcolor=INK, ncols=5,
    )  # fmt: skip


def stress_layout(n: int, edges: Sequence[tuple[int, int]]) -> FloatArray:
    """Place nodes so that distances on the page are those along the edges, as nearly as may be.

    By majorisation of the stress (Gansner, Koren and North 2004), from a circle, so that the same
    graph looks the same each time.

    Returns places between 0 and 1 in both directions, shape (n, 2).
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
    unit = np.where(flat, 0.5, (place - low) / np.where(flat, 1.0, high - low))
    return _clear_of_edges(unit, edges)


def _clear_of_edges(place: FloatArray, edges: Sequence[tuple[int, int]]) -> FloatArray:
    """Push nodes off the edges of others: a line that runs through one seems to end there."""
    place = place.copy()
    for _ in range(_N_PUSHES):
        for i, j in edges:
            length = max(float(np.hypot(*(place[j] - place[i]))), 1e-9)
            along = (place[j] - place[i]) / length
            across = np.array([-along[1], along[0]])
            near, side = (place - place[i]) @ along, (place - place[i]) @ across
            close = (near > 0) & (near < length) & (np.abs(side) < _CLEAR)
            close[[i, j]] = False
            push = np.where(side < 0, -1.0, 1.0) * (_CLEAR - np.abs(side))
            place[close] += push[close, np.newaxis] * across
    return place


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
