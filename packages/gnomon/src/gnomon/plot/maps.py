"""Maps: probabilities of all pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from gnomon.plot.figure import Figure, Panel, drawn, frame
from gnomon.plot.labels import all_in_lines
from gnomon.plot.style import INK, LEVELS, MUTED, PAPER, SIZE, dress

if TYPE_CHECKING:
    from gnomon.results import Results

#: Most rows that fit on a page, and most columns with room for numbers.
MOST_NAMES, MOST_WITH_NUMBERS = 40, 20
#: Longer names of columns are upright.
LONGEST_COLUMN = 11
#: What marks a significant cell without a number.
DOT = "\N{BLACK CIRCLE}"
#: P(better) from which a cell is darker.
CHANCES = (0.55, 0.75, 0.9)


def draw_map(
    ax: Axes,
    rows: Sequence[str],
    columns: Sequence[str],
    levels: npt.NDArray[np.int_],
    texts: Sequence[Sequence[str]] | None = None,
    bold: npt.NDArray[np.bool_] | None = None,
) -> None:
    """Draw a matrix as cells in four steps of one colour, with numbers in them.

    Long names of columns stand upright.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    rows, columns : sequence of str
        Names, from top to bottom and from left to right.
    levels : ndarray of int, shape (rows, columns)
        0 to 3 from light to dark; -1 leaves a cell empty.
    texts : sequence of sequences of str, optional
        Text of each cell.
    bold : ndarray of bool, shape (rows, columns), optional
        Cells whose text is bold.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.plot import draw_map, style
    >>> ax = style.new_drawing(3, 3).subplots()
    >>> draw_map(ax, ["a", "b"], ["a", "b"], np.array([[-1, 3], [0, -1]]))
    >>> len(ax.patches)
    2
    """
    dress(ax)
    for (i, j), level in np.ndenumerate(levels):
        if level < 0:
            continue
        ax.add_patch(
            Rectangle((j - 0.47, i - 0.47), 0.94, 0.94, facecolor=LEVELS[level], linewidth=0)
        )
        if texts is not None and texts[i][j]:
            # On the darkest cell the colour of the background contrasts, on light and dark pages.
            ax.text(
                j, i, texts[i][j], ha="center", va="center", fontsize=SIZE - 1.5,
                color=PAPER if level == 3 else INK,
                fontweight="bold" if bold is not None and bold[i, j] else "normal",
            )  # fmt: skip
    ax.set_xlim(-0.5, max(len(columns), 1) - 0.5)
    ax.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    upright = max(map(len, columns), default=0) > LONGEST_COLUMN or len(columns) > 8
    ax.set_yticks(range(len(rows)), all_in_lines(rows, 34, 2), parse_math=False)
    heads = all_in_lines(columns, 34, 1)
    ax.set_xticks(range(len(columns)), heads, rotation=90 if upright else 0, parse_math=False)
    ax.tick_params(labelcolor=INK, labelsize=SIZE - 1, length=0)
    ax.tick_params(axis="x", labeltop=True, labelbottom=False)
    ax.spines["bottom"].set_visible(False)


# All pairs


def improvement_figure(found: Results[Any], ax: Axes | None = None) -> Figure | Axes:
    """Return the map of P(row better than column) of comparisons of all pairs."""
    names = list(dict.fromkeys(name for c in found for name in (c.a, c.b)))
    place = {name: i for i, name in enumerate(names)}
    p, significant = np.full((len(names),) * 2, np.nan), np.zeros((len(names),) * 2, dtype=bool)
    for c in found:
        i, j = place[c.a], place[c.b]
        p[i, j], p[j, i] = c.value, 1.0 - c.value
        significant[i, j] = significant[j, i] = c.p_adjusted <= 1.0 - c.level
    means = [float(np.nanmean(row)) if np.isfinite(row).any() else -1.0 for row in p]
    order, some = drawn(sorted(range(len(names)), key=lambda i: -means[i]), MOST_NAMES)
    n, shown = len(order), [names[i] for i in order]
    p, significant = p[np.ix_(order, order)], significant[np.ix_(order, order)]
    levels = np.where(np.isnan(p), -1, np.searchsorted(CHANCES, p, side="right"))
    numbered = n <= MOST_WITH_NUMBERS
    size = 0.46 if numbered else 0.24

    def draw(ax: Axes) -> None:
        texts = [[_two_digits(x) for x in row] for row in p]
        if not numbered:
            texts = [[DOT * bool(is_sure) for is_sure in row] for row in significant]
        draw_map(ax, shown, shown, levels, texts, significant)
        # Anchored at the left, so that the layout reserves enough room for the names.
        ax.set_aspect("equal", anchor="W")
        words = ("below .55", ".55 to .75", ".75 to .9", "from .9")
        steps = zip(LEVELS, words, strict=True)
        legend = ax.legend(
            handles=[Patch(color=color, label=word) for color, word in steps],
            title="P(row better than column)", loc="upper center",
            bbox_to_anchor=(0.5, -0.01), ncols=4, frameon=False, fontsize=SIZE - 1.5,
            title_fontsize=SIZE - 0.5, labelcolor=INK, handlelength=1.2, columnspacing=1.1,
        )  # fmt: skip
        legend.get_title().set_color(MUTED)

    longest = min(max(map(len, shown), default=0), 36)
    heads = 0.0 if longest <= LONGEST_COLUMN and n <= 8 else 0.07 * longest
    return frame(
        [Panel(draw, "", max(2.6, 1.2 + size * n) + heads)],
        ax,
        name="improvement",
        title="Probability of improvement",
        caption="The probability that a run of the row is better than one of the column on the "
        f"same task, averaged over tasks. {'Bold' if numbered else 'A dot'}: significant.{some}",
        alt="Map of the probability of improvement between all pairs.",
        rows=found.as_records(),
        width=max(4.4, 0.8 + size * n + 0.085 * longest),
        wide=n > 8,
    )


def _two_digits(p: float) -> str:
    """Return a probability in few characters, such as .73."""
    if math.isnan(p):
        return ""
    if p in (0.0, 1.0):
        return f"{p:.0f}"
    return "< .01" if p < 0.005 else f"{p:.2f}"[1:] if p < 0.995 else "> .99"
