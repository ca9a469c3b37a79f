"""Names in figures: legends that cover no line, long names in lines, names of rows and points."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.cbook import STEP_LOOKUP_MAP
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.textpath import TextPath

from gnomon.errors import shortened
from gnomon.plot.style import INK, LONGEST, MOST_IN_COLUMN, MUTED, SIZE, drawing_of

#: More names than this stand beside the axes instead of among the lines.
MOST_INSIDE = 7
#: Letters in one line of a legend.
_WIDEST = 32
#: Names of metrics for readers.
METRIC_NAMES: Mapping[str, str] = {
    "median": "median of task means",
    "iqm": "interquartile mean",
    "optimality_gap": "optimality gap",
    "probability_of_improvement": "P(better)",
}


def metric_name(metric: str) -> str:
    """Return the name of a metric for readers."""
    return METRIC_NAMES.get(metric, metric)


Corner = Literal["upper right", "lower right", "upper left", "lower left"]
_CORNERS: tuple[Corner, ...] = ("upper right", "lower right", "upper left", "lower left")


def name_series(
    ax: Axes, place: Corner = "upper right", order: Sequence[str] | None = None
) -> None:
    """Write the labels of the lines into a free corner, or beside the axes if many or none is free.

    To be called when the axes have their lines, scales and limits. A single line is named by the
    title, and has no legend.

    ``place`` is the corner to be tried first, and ``order`` the labels from top to bottom, else as
    they were drawn.
    """
    handles, names = ax.get_legend_handles_labels()
    if len(names) == 1:
        ax.set_title(shortened(names[0], LONGEST), loc="right", fontsize=SIZE, color=INK)
    if len(names) < 2:
        return
    rows = [names.index(name) for name in order or names]
    inside = len(names) <= MOST_INSIDE
    shown = [in_lines(names[i], *((_WIDEST, 2) if inside else (LONGEST, 1))) for i in rows]
    corner = _free_corner(ax, shown, place) if inside else None
    where: dict[str, Any] = {"loc": corner}
    if corner is None:
        where = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.0}
    legend = ax.legend(
        [handles[i] for i in rows], shown, frameon=False, fontsize=SIZE - 1, labelcolor=INK,
        handlelength=2.6, labelspacing=0.5 if inside else 0.25,
        ncols=-(-len(names) // MOST_IN_COLUMN), **where,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)


def _free_corner(ax: Axes, names: Sequence[str], first: Corner) -> Corner | None:
    """Return a corner in which a legend of these names covers no line and no band, if any."""
    em = (SIZE - 1) / 72.0
    lines = [line for name in names for line in name.split("\n")]
    widest = max(TextPath((0, 0), line, size=SIZE - 1).get_extents().width for line in lines) / 72.0
    size = np.array([widest + 5.2 * em, em * (1.25 * len(lines) + 0.5 * len(names) + 1.0)])
    box = ax.get_position()
    width, height = size / (drawing_of(ax).get_size_inches() * [box.width, box.height]) * 1.08
    if max(width, height) >= 1.0:
        return None
    points = _covered(ax)
    for corner in dict.fromkeys([first, *_CORNERS]):
        x = points[:, 0] > 1.0 - width if "right" in corner else points[:, 0] < width
        y = points[:, 1] > 1.0 - height if "upper" in corner else points[:, 1] < height
        if not (x & y).any():
            return corner
    return None


def _covered(ax: Axes, n: int = 24) -> npt.NDArray[np.float64]:
    """Return points of named lines, of error bars and of bands, as shares of the axes."""
    ax.autoscale_view()  # limits are computed when they are asked for, not when lines are added
    to_axes = ax.transData - ax.transAxes
    parts = []
    for line in ax.get_lines():
        if not str(line.get_label()).startswith("_"):
            steps = STEP_LOOKUP_MAP[line.get_drawstyle()]
            xy = np.column_stack(steps(*np.asarray(line.get_data(), dtype=np.float64)))
            parts.append(_between(to_axes.transform(xy), n))
    for band in ax.collections:
        if isinstance(band, LineCollection):
            parts += [_between(to_axes.transform(path.vertices), n) for path in band.get_paths()]
        elif isinstance(band, PolyCollection):
            for path in band.get_paths():
                edge = to_axes.transform(path.vertices)
                parts.append(_between(edge, n))
                # Between the lower and the upper edge, which run opposite ways.
                across = np.linspace(edge, edge[::-1], n).reshape(-1, 2)
                parts.append(across)
    points = np.concatenate(parts) if parts else np.empty((0, 2))
    return points[np.isfinite(points).all(axis=1)]


def _between(points: npt.NDArray[np.float64], n: int) -> npt.NDArray[np.float64]:
    """Return points with n - 1 more on the way from each to the next."""
    if len(points) < 2:
        return points
    shares = np.linspace(0.0, 1.0, n)[:, None, None]
    return np.asarray(points[:-1] + shares * np.diff(points, axis=0)).reshape(-1, 2)


def better_end(label: str, higher_is_better: bool | None) -> str:
    """Return the label of an axis with an arrow to the end where the better scores are.

    Examples
    --------
    >>> better_end("return", True), better_end("mean (return)", True), better_end("errors", False)
    ('return (better →)', 'mean (return; better →)', '(← better) errors')
    """
    # The label of a vertical axis is turned with its arrow: right is up.
    if higher_is_better is None or not label:
        return label
    if not higher_is_better:
        return f"(← better) {label}"
    return f"{label[:-1]}; better →)" if label.endswith(")") else f"{label} (better →)"


def name_rows(ax: Axes, names: Sequence[str], *, top: float = 0.6, size: float = SIZE) -> None:
    """Write the names of rows beside axes, the first on top with that much room above it.

    Examples
    --------
    >>> from gnomon.plot import new_drawing
    >>> ax = new_drawing(3, 2).subplots()
    >>> name_rows(ax, ["dqn", "ppo"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['dqn', 'ppo']
    """
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.tick_params(axis="y", labelcolor=INK, labelsize=size)
    ax.set_ylim(max(len(names), 1) - 0.4, -top)


def name_panel(ax: Axes, name: str) -> None:
    """Write what a panel shows above its left end."""
    ax.set_title(name, loc="left", fontsize=SIZE + 1, color=INK)


def write_in_row(ax: Axes, row: float, text: str = "not estimable") -> None:
    """Write in the middle of a row what stands there in place of a number."""
    ax.text(
        0.5, row, text, transform=ax.get_yaxis_transform(), ha="center", va="center",
        style="italic", color=MUTED, fontsize=SIZE - 1,
    )  # fmt: skip


def in_lines(name: str, width: int = 26, most: int = 3) -> str:
    """Return a name on several lines if it is long; one too long even so is cut in the middle.

    Lines end at blanks; those of a word that is too long, after a hyphen, or where they must. The
    end of a name often distinguishes it from another, so it is never cut.

    Examples
    --------
    >>> print(in_lines("dqn, learning_rate=0.03, plays_on=true"))
    dqn, learning_rate=0.03,
    plays_on=true
    >>> print(in_lines("quarter_by_quarter", width=10))
    quarter_
    by_quarter
    """
    kept = len(name)
    while True:
        lines = _broken(_without_middle(name, kept), width)
        if len(lines) <= most or kept <= 4:
            return "\n".join(lines[:most])
        kept = min(kept - 1, width * most + most)


def _without_middle(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    tail = (most - 1) // 3
    return f"{name[: most - 1 - tail]}\N{HORIZONTAL ELLIPSIS}{name[len(name) - tail :]}"


def _broken(name: str, width: int) -> list[str]:
    if len(name) <= width:
        return [name]
    lines = [""]
    for piece in _pieces(name, width):
        if len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines if line.strip()]


def _pieces(name: str, width: int) -> Iterator[str]:
    """Yield the parts of a name between which a line may end, none of them longer than a line."""
    for word in re.findall(r"\S+\s*|\s+", name):
        parts = [word] if len(word.rstrip()) <= width else re.findall(r"[^-_=,]+\W?_?|.", word)
        for part in parts:
            yield from (part[at : at + width] for at in range(0, len(part.rstrip()), width))
