"""Transfer drawn: what each earlier task saves, with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from gnomon.errors import shortened
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    FULL_WIDTH,
    LONGEST,
    MUTED,
    SIZE,
    axes_for,
    drawing_of,
    mark_numbers,
    series_style,
)
from gnomon.stats.transfer import TransferEffect, TransferEffects

#: More rows than this do not fit on a page; the height of one in inches.
MOST_ROWS, ROW = 40, 0.3


def draw_transfer(found: TransferEffects, ax: Axes | None = None) -> Figure | Axes:
    """Draw what is saved: pairs on top, means and orders below."""
    if ax is not None:
        return transfer_intervals(found, ax=ax)
    more = f" The first {MOST_ROWS} of {len(found)} are drawn." if len(found) > MOST_ROWS else ""
    return Figure(
        "transfer",
        "Transfer",
        f"{found.settings['metric']} saved against starting fresh, with "
        f"{100 * found.settings['level']:.4g}\xa0% intervals: right of 0, what was met before "
        f"helps.{more}",
        "What each earlier task saves on a later one.",
        drawing_of(transfer_intervals(found)),
        tuple(found.as_records()),
        wide=True,
    )


def transfer_intervals(found: TransferEffects, *, ax: Axes | None = None) -> Axes:
    """Draw them into axes, a row an effect."""
    rows = list(found)[:MOST_ROWS]
    ax = axes_for(ax, FULL_WIDTH, 0.9 + ROW * len(rows), grid="x")
    algorithms = list(dict.fromkeys(row.algorithm for row in rows))
    y = np.arange(len(rows))[::-1]
    for i, algorithm in enumerate(algorithms):
        style = series_style(i)
        at = np.array([row.algorithm == algorithm for row in rows])
        own = [row for row in rows if row.algorithm == algorithm]
        ax.hlines(
            y[at], [row.low for row in own], [row.high for row in own], color=style.color, lw=2
        )
        filled = [row.effect == "pair" for row in own]
        for place, row, solid in zip(y[at], own, filled, strict=True):
            face = style.color if solid else "white"
            ax.plot(row.saved, place, style.marker, color=style.color, mfc=face, markersize=6)
    ax.axvline(0, color=MUTED, linewidth=0.8, zorder=0)
    ax.set_yticks(y, _names(rows, with_algorithm=len(algorithms) > 1), fontsize=SIZE - 1)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    mark_numbers(ax.xaxis)
    ax.set_xlabel(f"{found.settings['metric']} saved")
    return ax


def _names(rows: Sequence[TransferEffect], *, with_algorithm: bool) -> list[str]:
    texts = []
    for row in rows:
        arrow = f"{row.before} → {row.rule}"
        text = arrow if row.effect == "pair" else row.effect
        if row.effect == "order":
            text = f"order: {row.before} first"
        texts.append(shortened(f"{row.algorithm}: {text}" if with_algorithm else text, LONGEST))
    return texts
