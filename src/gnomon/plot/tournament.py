"""The tournament drawn: arrows around a circle, and how much of them ratings explain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import FancyArrowPatch

from gnomon.errors import shortened
from gnomon.plot.style import HALF_WIDTH, INK, LONGEST, SERIES, SIZE, dress, new_drawing
from gnomon.ranking.ratings.hodge import HodgeDecomposition
from gnomon.ranking.tournament import EVEN, Tournament

__all__ = ["tournament_graph", "tournament_rows"]

#: More contestants than this do not fit around a circle.
MOST_IN_CIRCLE = 12


def tournament_graph(
    tournament: Tournament,
    decomposition: HodgeDecomposition,
    *,
    null_band: tuple[float, float] | None,
    fig: Drawing | None = None,
) -> Drawing:
    """Draw who beats whom as arrows around a circle, and how much of it ratings explain as a bar.

    An arrow goes from the better to the worse, the wider the longer its edge; one that goes against
    the ratings is dashed and in another colour. The contestants stand clockwise, best on top;
    beyond twelve only the best are drawn.

    Parameters
    ----------
    tournament : Tournament
    decomposition : HodgeDecomposition
        Of that tournament.
    null_band : tuple of float, or None
        Intransitivity of identical contestants, 5 % and 95 % quantile (of
        :class:`gnomon.ranking.audits.intransitivity.Intransitivity`): what is cyclic means nothing
        without it. None for a graph that comes without runs; the drawing says so.
    fig : matplotlib.figure.Figure, optional
        An empty one to draw on.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.ranking import Contest, Tournament, hodge_decomposition
    >>> scores = gn.ScoreTable.from_arrays({"a": [[3], [4]], "b": [[2], [2.5]], "c": [[0], [1]]})
    >>> found = Tournament.of(Contest.from_table(scores))
    >>> len(tournament_graph(found, hodge_decomposition(found), null_band=None).axes) > 0
    True
    """
    fig = new_drawing(HALF_WIDTH + 1.2, HALF_WIDTH - 0.4) if fig is None else fig
    circle, bar = fig.subplots(2, 1, height_ratios=[14, 1])
    order = np.argsort(-decomposition.ratings, kind="stable")[:MOST_IN_CIRCLE]
    _arrows(circle, tournament, decomposition, [int(i) for i in order])
    _share_bar(bar, decomposition.shares, null_band)
    if len(tournament.names) > len(order):
        drawn = f"arrows: the first {len(order)} of {len(tournament.names)}"
        bar.set_xlabel(f"{bar.get_xlabel()}\n{drawn}")
    return fig


def _arrows(
    ax: Axes, tournament: Tournament, decomposition: HodgeDecomposition, order: Sequence[int]
) -> None:
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(-1.7, 1.7)
    ax.set_ylim(-1.12, 1.12)
    angles = np.pi / 2.0 - 2.0 * np.pi * np.arange(len(order)) / max(len(order), 1)
    place = {i: (float(np.cos(a)), float(np.sin(a))) for i, a in zip(order, angles, strict=True)}
    longest = float(np.abs(tournament.log_odds).max()) or 1.0
    for i in order:
        for j in order:
            edge = float(tournament.log_odds[i, j])
            if edge > EVEN:
                against = decomposition.ratings[i] < decomposition.ratings[j]
                ax.add_patch(
                    FancyArrowPatch(
                        place[i], place[j],
                        arrowstyle="-|>", mutation_scale=9, shrinkA=6, shrinkB=6,
                        linewidth=0.5 + 2.2 * edge / longest,
                        linestyle="--" if against else "-",
                        color=SERIES[1] if against else SERIES[0],
                        alpha=1.0 if against else 0.25 + 0.6 * edge / longest,
                        zorder=2 if against else 1,
                    )
                )  # fmt: skip
    for i, (x, y) in place.items():
        ax.plot([x], [y], "o", markersize=6, color=INK, zorder=3)
        ax.text(
            1.09 * x, 1.09 * y, shortened(tournament.names[i], LONGEST),
            fontsize=SIZE - 1, color=INK, parse_math=False,
            ha="left" if x > 0.2 else "right" if x < -0.2 else "center",
            va="bottom" if y > 0.3 else "top" if y < -0.3 else "center",
        )  # fmt: skip


def _share_bar(ax: Axes, shares: Sequence[float], null_band: tuple[float, float] | None) -> None:
    """Draw the squared shares of gradient, curl and harmonic part, side by side."""
    dress(ax)
    ax.set_yticks([])
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(-0.5, 0.5)
    ax.set_xticks([0.0, 0.5, 1.0], ["0", "50 %", "100 %"])
    left, words = 0.0, []
    names = ("ratings", "cycles of three", "longer cycles")
    for share, name, color in zip(shares, names, (SERIES[0], SERIES[1], SERIES[3]), strict=True):
        if not math.isnan(share) and share >= 5e-4:
            ax.barh(0.0, share, left=left, height=0.8, color=color)
            left += share
            words.append(f"{name} {100.0 * share:.1f} %")
    explained = "explained by: " + (", ".join(words) or "nothing, all edges are 0")
    ax.set_xlabel(f"{explained}\n{_chance(ax, null_band)}")


def _chance(ax: Axes, null_band: tuple[float, float] | None) -> str:
    """Mark what identical contestants leave to cycles, and say it."""
    if null_band is None or math.isnan(sum(null_band)):
        return "cycles of identical competitors: not known"
    low, high = (end**2 for end in null_band)
    ax.plot([1.0 - high, 1.0 - low], [0.62, 0.62], color=INK, linewidth=3, clip_on=False)
    return f"cycles of identical competitors (bar above): {100 * low:.1f} to {100 * high:.1f} %"


def tournament_rows(
    tournament: Tournament, decomposition: HodgeDecomposition
) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`tournament_graph`: a row for each edge, from the better one."""
    f = tournament.log_odds
    return tuple(
        {
            "better": tournament.names[i],
            "worse": tournament.names[j],
            "log_odds": float(f[i, j]),
            "gradient": float(decomposition.gradient[i, j]),
            "curl": float(decomposition.curl[i, j]),
            "harmonic": float(decomposition.harmonic[i, j]),
        }
        for i, j in zip(*np.nonzero(f > EVEN), strict=True)
    )
