"""Performance profiles drawn, with their bands and the axis that each kind needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from gnomon.plot.labels import Corner, name_series
from gnomon.plot.style import (
    GRID,
    MUTED,
    SIZE,
    axes_for,
    band_alpha,
    draw_series,
    mark_numbers,
    series_style,
    size_for,
    sparse_markers,
)
from gnomon.scores.table import FloatArray
from gnomon.stats.profiles.performance import Profile

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
    profiles bears p-values. Thresholds that are logarithms or quantiles of the scores
    (``spacing="log"`` or ``"data"``) stand evenly; in the second case the axis is stretched where
    many scores are, and depends on the algorithms shown. After Agarwal et al. (2021), Dolan and
    Moré (2002) and B. Recht.

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
    ax = axes_for(ax, *size_for(len(profiles)), grid="both")
    kind = profiles[0].kind
    distance = kind in ("ratio", *TESTED)
    height: dict[str, float] = {}
    for i, profile in enumerate(profiles):
        number = series[profile.algorithm] if series else i
        style = series_style(number)
        # Where a curve lies as drawn, not what is under it: the axis may be stretched.
        height[style.named(profile.algorithm)] = float(profile.value.mean())
        draw_series(
            ax, profile.tau, profile.value, style, (profile.low, profile.high),
            alpha=band_alpha(len(profiles)), linewidth=1.8, label=profile.algorithm,
            drawstyle=_DRAWN.get(kind, "default"),
            **sparse_markers(style, number, profile.tau.size, len(profiles)),
        )  # fmt: skip
    _axes_of(ax, kind, profiles)
    known = _LABELS.get(kind, ("", ""))
    xlabel, note = known[0] if xlabel is None else xlabel, scale_note(profiles)
    ax.set_xlabel(f"{xlabel}, {note}" if note else xlabel)
    ax.set_ylabel(known[1] if ylabel is None else ylabel)
    corner: Corner = "lower right" if distance else "upper right"
    name_series(ax, corner, sorted(height, key=lambda name: -height[name]))
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
        ax.xaxis.set_major_locator(FixedLocator([0.0, 1.301, 2.0, 3.0, 4.0, 5.0]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda t, _: f"{10.0**-t:.2g}"))
        ax.axvline(2.0, color=MUTED, linewidth=0.8, linestyle=":")
    elif kind != "ratio" and profiles[0].spacing in _SCALES:
        _stretch(ax, tau, _round_marks(tau, profiles[0].spacing))
    else:
        mark_numbers(ax.xaxis, most=8)
    ax.axhline(0.5, color=GRID, linewidth=1.2, zorder=0.5)
    ax.tick_params(labelsize=SIZE - 1)


def _ratio_steps(spread: float) -> tuple[float, ...]:
    """Return which factors of each decade are marked, on an axis of so many decades."""
    if spread < 0.35:
        return (1, 1.1, 1.2, 1.4, 1.6, 1.8, 2)
    if spread < 1.2:
        return (1, 1.5, 2, 3, 5, 7)
    return (1, 3) if spread < 3 else (1,)


#: Spacings of thresholds that stand evenly on the axis, and what it is called then.
_SCALES = {"log": "log scale", "data": "scaled by quantiles"}


def scale_note(profiles: Sequence[Profile]) -> str:
    """Return what an axis of thresholds is where it is not linear."""
    one = profiles[0]
    note = _SCALES.get(one.spacing, "")
    return f"symmetric {note}" if one.spacing == "log" and one.tau[0] <= 0.0 else note


def _stretch(ax: Axes, tau: FloatArray, marks: Sequence[float]) -> None:
    """Let the thresholds stand evenly, with those of the marks as ticks that do not crowd."""
    places = np.arange(tau.size, dtype=np.float64)
    ax.set_xscale(
        "function",
        functions=(lambda x: np.interp(x, tau, places), lambda x: np.interp(x, places, tau)),
    )
    ax.set_xlim(float(tau[0]), float(tau[-1]))
    ticks: list[float] = []
    for value in (mark for mark in marks if tau[0] <= mark <= tau[-1]):
        near = [abs(np.interp(value, tau, places) - np.interp(t, tau, places)) for t in ticks]
        if min(near, default=tau.size) > 0.06 * tau.size:
            ticks.append(value)
    ax.xaxis.set_major_locator(FixedLocator(sorted(ticks)))
    ax.xaxis.set_minor_locator(NullLocator())
    mark_numbers(ax.xaxis)


def _round_marks(tau: FloatArray, spacing: str) -> list[float]:
    """Return round values to mark, the more important ones first."""
    if spacing == "log":
        most = max(abs(float(tau[0])), abs(float(tau[-1])))
        top = math.floor(math.log10(most))
        decades = [10.0**k for k in range(top, top - 12, -1)]
        steps = [d * m for m in (1, 3, 2, 5) for d in decades]
        return [0.0, *(sign * step for step in steps for sign in (1.0, -1.0))]
    evenly = np.interp(np.linspace(0, tau.size - 1, 9), np.arange(tau.size), tau)
    return [float(f"{value:.1g}") for value in evenly]
