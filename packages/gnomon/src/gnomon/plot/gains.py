"""Gains of a loop: its candidates, what was kept, and its gain over the first baseline."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from matplotlib.axes import Axes

from gnomon.errors import shortened
from gnomon.plot.figure import Figure, Panel, frame
from gnomon.plot.style import FULL_WIDTH, INK, MUTED, SERIES, SIZE, dress, mark_numbers
from gnomon.printing import percent

#: Names of the first kept candidates; more would overlap.
MOST_NAMES = 12


def loop_figure(found: Any, ax: Axes | None = None) -> Figure | Axes:
    """Return the figure of a loop: first runs as dots, kept candidates with their gains."""
    n_kept, of = len(found.kept) - 1, found.settings
    bound = "probability of any" if of["familywise"] else "expected share of"
    return frame(
        [Panel(partial(_draw, found), "", 4.2)],
        ax,
        name="loop-gains",
        title="Gain of a loop",
        caption="Small dots: the first run of each candidate, as the gain of the baseline plus "
        "its distance from recent runs of the baseline. Single runs often look better than they "
        f"are. Large dots: the {n_kept} that were kept ({bound} false keeps: at most "
        f"{percent(of['error'])}), with their gains over {found[0].candidate} on fresh runs and "
        f"{percent(of['level'])} intervals. Above 0 is better.",
        alt=f"Gain over {found[0].candidate} by candidate: {len(found) - 1} candidates, {n_kept} "
        "kept.",
        rows=found.as_records(),
        width=FULL_WIDTH,
        wide=True,
    )


def _draw(found: Any, ax: Axes) -> None:
    dress(ax, grid="y")
    base = 0.0
    first: dict[str, list[tuple[int, float]]] = {"discard": [], "again": [], "keep": []}
    kept = []
    for i, one in enumerate(found):
        if not math.isnan(one.ahead):
            first[one.decision].append((i, base + one.ahead))
        if one.decision == "keep" and not math.isnan(one.value):
            base = one.value
            kept.append((i, one.value, one.value - one.low, one.high - one.value, one.candidate))
    for decision, label, marker, color in (
        ("discard", "discarded, first run", ".", MUTED),
        ("again", "undecided, first run", "D", SERIES[1]),
        ("keep", "kept, first run", "^", SERIES[2]),
    ):
        if first[decision]:
            places, values = zip(*first[decision], strict=True)
            ax.plot(places, values, marker, color=color, markersize=4, label=label)
    places, values, below, above, names = zip(*kept, strict=True)
    steps = [*places, len(found) - 1], [*values, base]
    ax.step(*steps, where="post", color=INK, linewidth=1.0, label="gain of the baseline")
    ax.errorbar(
        places, values, [below, above], fmt="o", color=SERIES[0], markersize=6, elinewidth=2.5,
        label="gain with interval",
    )  # fmt: skip
    tops = [y if math.isnan(up) else y + up for y, up in zip(values, above, strict=True)]
    for x, y, name in [*zip(places, tops, names, strict=True)][1 : MOST_NAMES + 1]:
        ax.annotate(
            shortened(name, 16), (x, y), (0, 3), textcoords="offset points", ha="center",
            color=INK, fontsize=SIZE - 2, parse_math=False,
        )  # fmt: skip
    mark_numbers(ax.yaxis, most=6)
    mark_numbers(ax.xaxis, most=8, whole=True)
    ax.set_xlabel("candidates in the order of their first runs")
    ax.set_ylabel(f"gain over {shortened(found[0].candidate, 24)}")
    ax.legend(frameon=False, fontsize=SIZE - 1, labelcolor=INK, loc="upper left")
