"""The difficulty ladder: rungs at the height of a rating."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from gnomon.errors import shortened
from gnomon.plot.labels import spread
from gnomon.plot.style import GRID, HEIGHT, INK, LONGEST, SERIES, SIZE, dress, new_drawing
from gnomon.ranking.ranks.ranking import Ranking

__all__ = ["difficulty_ladder"]

#: Width of a lane, as a share of the drawing, and how many there are at most.
LANE, MOST_LANES = 0.05, 9


def difficulty_ladder(ranking: Ranking, *, ax: Axes | None = None) -> Axes:
    """Draw contestants as rungs at the height of their rating, with intervals: hardest on top.

    Rungs whose intervals overlap stand side by side.

    Parameters
    ----------
    ranking : Ranking
        Of tasks, by difficulty; one of algorithms gives a ladder of strength.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import gnomon as gn
    >>> errors = {"dqn": [[9, 90], [12, 95], [11, 99]], "uniform": [[30, 80], [10, 85], [20, 88]]}
    >>> scores = gn.ScoreTable.from_arrays(errors, tasks=["easy", "hard"], higher_is_better=False)
    >>> difficulty_ladder(gn.rank(scores, by="task", n_resamples=50)).get_ylabel()
    'difficulty'
    """
    rows = np.flatnonzero(~np.isnan(ranking.ratings))
    height = max(HEIGHT, 0.8 + 0.24 * len(rows))
    if ax is None:
        longest = min(max((len(ranking.names[row]) for row in rows), default=0), LONGEST)
        ax = new_drawing(2.8 + 0.08 * longest, height).subplots()
    dress(ax)
    ends = np.concatenate([x[rows] for x in (ranking.ratings, ranking.low, ranking.high)])
    ends = ends[np.isfinite(ends)]
    low, high = (float(ends.min()), float(ends.max())) if ends.size else (0.0, 1.0)
    air = 0.06 * (high - low) or 1.0
    ax.set_ylim(low - air, high + air)
    ax.set_xlim(0.0, 1.0)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    gap = (high - low + 2 * air) / (height * 0.82) * 0.19
    labels = spread(ranking.ratings[rows], gap=gap)
    lanes = _lanes(ranking, [int(row) for row in rows], gap / 4.0)
    right = 0.1 + LANE * max(lanes, default=0)
    for row, lane, at in zip(rows, lanes, labels, strict=True):
        x, rating = 0.05 + LANE * lane, float(ranking.ratings[row])
        if np.isfinite(ranking.low[row]):
            ax.vlines(
                x, ranking.low[row], ranking.high[row], color=SERIES[0], linewidth=5, alpha=0.3
            )
        ax.plot([x - 0.02, x + 0.02], [rating, rating], color=SERIES[0], linewidth=2.2)
        ax.plot([x + 0.025, right, right + 0.05], [rating, rating, at], color=GRID, linewidth=1.0)
        ax.text(
            right + 0.06, at, f"{shortened(ranking.names[row], LONGEST)}  {rating:.2f}",
            va="center", color=INK, fontsize=SIZE - (0.5 if len(rows) <= 24 else 2.0),
            parse_math=False,
        )  # fmt: skip
    ax.set_ylabel("difficulty" if ranking.by == "task" else "rating")
    return ax


def _lanes(ranking: Ranking, rows: Sequence[int], gap: float) -> list[int]:
    """Return for each rung, from the top, the first lane in which its interval is free."""
    reached: list[float] = []
    lanes = []
    for row in rows:
        ends = [ranking.ratings[row] + gap, ranking.ratings[row] - gap]
        if np.isfinite(ranking.low[row]):
            ends += [ranking.low[row], ranking.high[row]]
        free = [lane for lane, low in enumerate(reached) if low > max(ends)]
        lane = free[0] if free else len(reached)
        if lane >= MOST_LANES:
            lane = int(np.argmax(reached))
        reached[lane : lane + 1] = [float(min(ends))]
        lanes.append(lane)
    return lanes
