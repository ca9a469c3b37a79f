"""Performance profiles drawn, with their bands and the axis that each kind needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from gnomon.plot.labels import name_series
from gnomon.plot.style import (
    FULL_WIDTH,
    GRID,
    HEIGHT,
    MUTED,
    SIZE,
    axes_for,
    band_alpha,
    draw_series,
    mark_numbers,
    series_style,
)
from gnomon.scores.table import FloatArray
from gnomon.stats.profiles.performance import Profile

__all__ = ["profile_curves", "profile_rows"]

#: Kinds of profiles whose thresholds are p-values.
TESTED = ("likelihood", "permutation")
_EVIDENCE = ("evidence not to be the best, as a p-value", "share of tasks with less of it")
#: Kind of profile -> the labels of its axes.
_LABELS: Mapping[str, tuple[str, str]] = {
    "run_score": ("threshold", "share of runs past it"),
    "average_score": ("threshold", "share of tasks whose mean is past it"),
    "ratio": ("factor to the best (log scale)", "share of tasks within it"),
    "likelihood": _EVIDENCE,
    "permutation": _EVIDENCE,
}
#: Profiles of distance are exact between their thresholds: within a ratio, below a likelihood.
_DRAWN: Mapping[str, Literal["steps-post", "steps-pre"]] = {
    "ratio": "steps-post",
    "likelihood": "steps-pre",
    "permutation": "steps-pre",
}


def profile_curves(
    profiles: Sequence[Profile],
    *,
    xlabel: str | None = None,
    ylabel: str | None = None,
    series: Mapping[str, int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw profiles with their bands, as steps where only the values at the thresholds are known.

    A profile that lies above another everywhere is the better one by any summary; profiles that
    cross are ordered by none. Ratio profiles stand on a logarithmic axis; the axis of likelihood
    profiles bears p-values. Thresholds that are quantiles of the scores (``spacing="data"``) stand
    evenly, so that the axis is stretched where many scores are; it then depends on the algorithms
    shown. After Agarwal et al. (2021), Dolan and Moré (2002) and B. Recht.

    Parameters
    ----------
    profiles : sequence of Profile
        All of one kind: of scores
        (:func:`~gnomon.stats.profiles.performance.performance_profiles`), ratios or likelihoods
        (:mod:`gnomon.stats.profiles.distance`).
    xlabel, ylabel : str, optional
        What the axes measure; by the kind of profile if not given.
    series : mapping from algorithm to int, optional
        Number of each one's style; its place among the profiles if not given.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import profile
    >>> runs = {"a": [[1, 2], [2, 4], [3, 3]], "b": [[3, 4], [5, 5], [4, 6]]}
    >>> scores = ScoreTable.from_arrays(runs)
    >>> profile_curves(profile(scores, band="none")).get_xlabel()
    'threshold'
    """
    ax = axes_for(ax, FULL_WIDTH * 0.65, HEIGHT * 1.25, grid="both")
    kind = profiles[0].kind
    distance = kind in ("ratio", *TESTED)
    for i, profile in enumerate(profiles):
        style = series_style(series[profile.algorithm] if series else i)
        draw_series(
            ax, profile.tau, profile.value, style, (profile.low, profile.high),
            alpha=band_alpha(len(profiles)), linewidth=1.8, label=profile.algorithm,
            drawstyle=_DRAWN.get(kind, "default"),
        )  # fmt: skip
    _axes_of(ax, kind, profiles)
    known = _LABELS.get(kind, ("", ""))
    ax.set_xlabel(known[0] if xlabel is None else xlabel)
    ax.set_ylabel(known[1] if ylabel is None else ylabel)
    name_series(ax, "lower right" if distance else "upper right")
    return ax


def _axes_of(ax: Axes, kind: str, profiles: Sequence[Profile]) -> None:
    """Give the axes the scale of that kind of profile."""
    ax.set_ylim(-0.02, 1.02)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    tau = profiles[0].tau
    if kind == "ratio":
        # Beyond what nine tenths of the ratios are, profiles only say who solves the rest.
        most = max(float(np.quantile(tau, 0.9)), 1.5)
        ax.set_xscale("log")
        ax.set_xlim(1.0, min(most, float(tau[-1]) * 1.02))
        steps = _ratio_steps(math.log10(ax.get_xlim()[1]))
        ax.xaxis.set_major_locator(FixedLocator([s * 10.0**k for k in range(12) for s in steps]))
        ax.xaxis.set_minor_locator(NullLocator())
    else:
        ax.set_xlim(float(tau[0]), float(tau[-1]))
    if kind in TESTED:
        ax.xaxis.set_major_locator(FixedLocator([0.0, 1.0, 1.301, 2.0, 3.0, 4.0, 5.0]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda t, _: f"{10.0**-t:.2g}"))
        ax.axvline(2.0, color=MUTED, linewidth=0.8, linestyle=":")
    elif kind != "ratio" and _uneven(tau):
        _stretch(ax, tau)
    else:
        mark_numbers(ax.xaxis)
    ax.axhline(0.5, color=GRID, linewidth=1.2, zorder=0.5)
    ax.tick_params(labelsize=SIZE - 1)


def _ratio_steps(spread: float) -> tuple[float, ...]:
    """Return which factors of each decade are marked, on an axis of so many decades."""
    if spread < 0.35:
        return (1, 1.1, 1.2, 1.4, 1.6, 1.8, 2)
    if spread < 1.2:
        return (1, 1.5, 2, 3, 5, 7)
    return (1, 3) if spread < 3 else (1,)


def _uneven(tau: FloatArray) -> bool:
    """Return whether thresholds follow the data: steps that differ, in number and in ratio."""
    steps = np.diff(tau)
    if tau.size < 10 or np.allclose(steps, steps[0]):
        return False
    return bool(tau[0] <= 0.0) or not np.allclose(tau[1:] / tau[:-1], tau[1] / tau[0])


def _stretch(ax: Axes, tau: FloatArray) -> None:
    """Let the thresholds stand evenly, with round values as ticks that do not crowd."""
    places = np.arange(tau.size, dtype=np.float64)
    ax.set_xscale(
        "function",
        functions=(lambda x: np.interp(x, tau, places), lambda x: np.interp(x, places, tau)),
    )
    ax.set_xlim(float(tau[0]), float(tau[-1]))
    ticks: list[float] = []
    for place in np.linspace(0, tau.size - 1, 9):
        value = float(f"{np.interp(place, places, tau):.1g}")
        if tau[0] <= value <= tau[-1]:
            near = [abs(np.interp(value, tau, places) - np.interp(t, tau, places)) for t in ticks]
            if min(near, default=tau.size) > 0.06 * tau.size:
                ticks.append(value)
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    mark_numbers(ax.xaxis)


def profile_rows(profiles: Sequence[Profile]) -> tuple[Mapping[str, Any], ...]:
    """Return the numbers of :func:`profile_curves`: a row a profile and threshold."""
    return tuple(record for profile in profiles for record in profile.as_records())
