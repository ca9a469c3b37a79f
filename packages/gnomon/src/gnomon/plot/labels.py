"""Names in figures: legends, long names on several lines, names of metrics and of rows."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from gnomon.errors import shortened
from gnomon.plot.style import INK, MUTED, SIZE, drawing_of

#: Letters of a name beyond which it is cut, where it would take the room of a drawing.
LONGEST = 44
#: Last letters of a common beginning that names keep if the rest is cut off.
KEPT = 8
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


def name_series(ax: Axes, order: Sequence[str] | None = None, *, beside_all: bool = False) -> None:
    """Write the labels of the lines beside the axes; a single line is named by the title.

    `order` has the labels from top to bottom; without it, they are in the order in which the lines
    were drawn. With `beside_all`, they are beside all panels of the drawing.
    """
    handles, names = ax.get_legend_handles_labels()
    if len(names) == 1:
        ax.set_title(shortened(names[0], LONGEST), loc="right", fontsize=SIZE, color=INK)
    if len(names) < 2:
        return
    rows = [names.index(name) for name in order or names]
    width, most = (26, 2) if len(names) <= 7 else (LONGEST, 1)
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    legend = (drawing_of(ax) if beside_all else ax).legend(
        [handles[i] for i in rows], all_in_lines([names[i] for i in rows], width, most),
        **({"loc": "outside right upper"} if beside_all else place), borderaxespad=0.0,
        frameon=False, fontsize=SIZE - 1, labelcolor=INK, handlelength=2.6, labelspacing=0.4,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)


def better_end(label: str, higher_is_better: bool | None) -> str:
    """Return the label of an axis with an arrow to the end where the better scores are.

    Examples
    --------
    >>> better_end("return", True), better_end("mean (return)", True), better_end("errors", False)
    ('return (better →)', 'mean (return; better →)', '(← better) errors')
    """
    # The label of a vertical axis is rotated with its arrow, so that right is up.
    if higher_is_better is None or not label:
        return label
    if not higher_is_better:
        return f"(← better) {label}"
    return f"{label[:-1]}; better →)" if label.endswith(")") else f"{label} (better →)"


def name_rows(ax: Axes, names: Sequence[str], *, top: float = 0.6) -> None:
    """Write the names of rows beside axes, the first on top with `top` rows of room above it."""
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.tick_params(axis="y", labelcolor=INK, labelsize=SIZE)
    ax.set_ylim(max(len(names), 1) - 0.4, -top)


def write_in_row(ax: Axes, row: float, text: str = "not estimable") -> None:
    """Write a text in the middle of a row, in place of a number."""
    ax.text(
        0.5, row, text, transform=ax.get_yaxis_transform(), ha="center", va="center",
        style="italic", color=MUTED, fontsize=SIZE - 1,
    )  # fmt: skip


def all_in_lines(names: Sequence[str], width: int = 26, most: int = 3) -> list[str]:
    """Return names as :func:`in_lines` does; of names that would look equal, cut the beginning.

    Examples
    --------
    >>> names = [f"a suite of many games, level {i}, sticky actions" for i in (1, 2)]
    >>> all_in_lines(names, 32, 1)
    ['…, level 1, sticky actions', '…, level 2, sticky actions']
    """
    found = [in_lines(name, width, most) for name in names]
    alike: dict[str, set[str]] = {}
    for name, shown in zip(names, found, strict=True):
        alike.setdefault(shown, set()).add(name)
    for i, name in enumerate(names):
        letters = enumerate(zip(*alike[found[i]], strict=False))
        start = next((at for at, ones in letters if len({*ones}) > 1), 0) - KEPT
        if start > 0:
            found[i] = in_lines(f"\N{HORIZONTAL ELLIPSIS}{name[start:]}", width, most)
    return found


def in_lines(name: str, width: int = 26, most: int = 3) -> str:
    """Return a name on several lines if it is long, cut in the middle if it is longer still.

    The end of a name often distinguishes it from another, so it is never cut.

    Examples
    --------
    >>> print(in_lines("dqn, learning_rate=0.03, plays_on=true"))
    dqn, learning_rate=0.03,
    plays_on=true
    >>> in_lines("a name with a number at its end, 17", 12, 1)
    'a name w… 17'
    """
    kept = len(name)
    while True:
        cut = name
        if kept < len(name):
            tail = (kept - 1) // 3
            head = name[: kept - 1 - tail]
            cut = f"{head}\N{HORIZONTAL ELLIPSIS}{name[len(name) - tail :]}"
        lines = textwrap.wrap(cut, width)
        if len(lines) <= most or kept <= 4:
            return "\n".join(lines[:most])
        kept = min(kept - 1, width * most + most)
