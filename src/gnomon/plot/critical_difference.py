"""Critical-difference diagrams: mean ranks on a line, and bars over those not separated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from gnomon.errors import shortened
from gnomon.plot.record import Figure
from gnomon.plot.style import FULL_WIDTH, INK, LONGEST, MUTED, SERIES, SIZE, drawing_of, new_drawing
from gnomon.ranking.critical_differences import CriticalDifference

__all__ = [
    "critical_difference_diagram",
    "critical_difference_rows",
    "draw_critical_difference",
]

#: Room for one line of text, in inches.
LINE = 0.3
#: Length of the line of ranks at least, in inches.
LEAST_LINE = 4.5
#: Distances of its ticks; of all but the last there are at most eight.
STEPS = (1, 2, 5, 10, 20, 50)


def draw_critical_difference(found: CriticalDifference, ax: Axes | None = None) -> Figure | Axes:
    """Draw critical differences, with their words and numbers, or into given axes."""
    if ax is not None:
        return critical_difference_diagram(found, ax=ax)
    test = "Wilcoxon's signed-rank test, with Holm's correction, does not tell apart."
    if found[0].test == "nemenyi":
        test = (
            f"Nemenyi's test (critical difference {found[0].critical_difference:.2f}) does not "
            "tell apart; it depends on who else is there."
        )
    return Figure(
        "critical-difference",
        "Critical differences",
        f"Mean ranks over {found.over}. A bar joins those that {test}",
        f"Mean ranks: {', '.join(f'{one.name} {one.mean_rank:.2f}' for one in found)}.",
        drawing_of(critical_difference_diagram(found)),
        critical_difference_rows(found),
        wide=True,
    )


def critical_difference_diagram(found: CriticalDifference, *, ax: Axes | None = None) -> Axes:
    """Draw mean ranks on a line, the best on the left, and a bar over those that tests do not part.

    Parameters
    ----------
    found : CriticalDifference
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.ranking import critical_difference
    >>> scores = {"a": [[1, 2, 1, 2]], "b": [[2, 1, 2, 1]], "c": [[9, 8, 9, 8]]}
    >>> ax = critical_difference_diagram(critical_difference(gn.ScoreTable.from_arrays(scores)))
    >>> any("c" in text.get_text() for text in ax.texts)
    True
    """
    k = len(found.names)
    names = [shortened(name, LONGEST) for name in found.names]
    half = (k + 1) // 2
    top = 0.7 + 0.35 * len(found.groups)
    # Room for the names on both sides, at about 0.08 inches a letter.
    side = 0.08 * (max(map(len, names)) + 6)
    if ax is None:
        width = max(FULL_WIDTH * 0.85, 2.0 * side + LEAST_LINE)
        ax = new_drawing(width, 0.8 + LINE * (half + top)).subplots()
    ax.set_axis_off()
    ax.set_facecolor("none")
    low, high = math.floor(found.mean_ranks.min()), math.ceil(found.mean_ranks.max())
    high = max(high, low + 1)
    width = ax.get_position().width * drawing_of(ax).get_size_inches()[0]
    share = min(side / width, 0.42)
    air = (high - low) * share / (1.0 - 2.0 * share)
    ax.set_xlim(low - air, high + air)
    ax.set_ylim(-half - 0.6, top + 1.6)
    ax.plot([low, high], [top, top], color=INK, linewidth=1.2)
    step = next(step for step in STEPS if (high - low) / step <= 8 or step == STEPS[-1])
    for tick in range(-(-low // step) * step, high + 1, step):
        ax.plot([tick, tick], [top, top + 0.15], color=INK, linewidth=1.2)
        ax.text(tick, top + 0.25, str(tick), ha="center", color=MUTED, fontsize=SIZE - 1)
    for i, (name, rank) in enumerate(zip(names, found.mean_ranks, strict=True)):
        left = i < half
        y, x = -(i if left else k - 1 - i) - 0.5, low if left else high
        ax.plot([rank, rank, x], [top, y, y], color=MUTED, linewidth=0.9)
        text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
        shift = -0.02 * (high - low) if left else 0.02 * (high - low)
        ax.text(
            x + shift, y, text, ha="right" if left else "left", va="center", color=INK,
            fontsize=SIZE, parse_math=False,
        )  # fmt: skip
    place = dict(zip(found.names, found.mean_ranks, strict=True))
    for g, group in enumerate(found.groups):
        ends = [place[group[0]], place[group[-1]]]
        pad = 0.01 * (high - low)
        y = top - 0.3 - 0.35 * g
        ax.plot(
            [ends[0] - pad, ends[1] + pad], [y, y], color=SERIES[0], linewidth=4,
            solid_capstyle="round",
        )  # fmt: skip
    notes = (
        f"mean rank over {found.over}; bars: not separated ({found[0].test})",
        f"compared by {found.compared}",
    )
    for height, note in zip((1.4, 0.8), notes, strict=True):
        ax.text(
            (low + high) / 2.0, top + height, note, ha="center", color=MUTED, fontsize=SIZE - 1
        )  # fmt: skip
    return ax


def critical_difference_rows(found: CriticalDifference) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`critical_difference_diagram`."""
    return tuple(
        {"name": one.name, "mean_rank": one.mean_rank, "groups": " ".join(map(str, one.groups))}
        for one in found
    )
