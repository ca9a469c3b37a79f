"""The figure of `gohr.elements`: ratio of the errors on each rule to the baseline's."""

from __future__ import annotations

import math
from functools import partial

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter

from gnomon.plot import FULL_WIDTH, Dot, Figure, Panel, draw_dots, frame, number
from gohr.experiments.rule_elements import Elements, ratio_text

_ROW = 0.34
#: Panels side by side; more learners begin another line of panels.
_COLUMNS = 2


def element_figure(found: Elements, ax: Axes | None = None) -> Figure | Axes:
    """Draw the ratio of each rule to the baseline, on a logarithmic axis, a panel for each learner.

    Parameters
    ----------
    found : Elements
    ax : matplotlib.axes.Axes, optional
        Axes for a single learner.
    """
    learners = list(dict.fromkeys(e.learner for e in found))
    baseline, level = found.settings["baseline"], found.settings["level"]
    most = max(sum(e.learner == name for e in found) for name in learners)
    limits = _limits(found)
    panels = [
        Panel(partial(_draw, found.where(learner=name), limits), name, 1.1 + _ROW * most)
        for name in learners
    ]
    return frame(
        panels, ax,
        name="elements",
        title=f"How many times the errors on {baseline}",
        caption=f"Ratio of the median errors on a rule to those on {baseline}, on a logarithmic "
        f"axis, with {100 * level:g} % intervals. Filled: significantly harder (one-sided "
        "Mann-Whitney test, Holm's correction). An interval that leaves the panel has no upper, or "
        "no lower, end: most trials did not learn the rule, or the baseline.",
        alt=" ".join(found.sentences()),
        rows=found.as_records(),
        columns=min(len(learners), _COLUMNS),
        width=FULL_WIDTH,
        share_x=True,
        wide=True,
    )  # fmt: skip


def _limits(found: Elements) -> tuple[float, float]:
    """Return decimal logarithms between which all finite numbers lie, and 1, with air."""
    values = [x for e in found for x in (e.ratio, e.low, e.high)]
    ends = [0.0, *(math.log10(x) for x in values if 0.0 < x < math.inf)]
    air = 0.1 * (max(ends) - min(ends)) or 0.3
    return min(ends) - air, max(ends) + air


def _draw(found: Elements, limits: tuple[float, float], ax: Axes) -> None:
    def log(value: float) -> float:
        return value if math.isnan(value) else math.log10(min(max(value, least), most))

    least, most = (10.0**end for end in limits)
    harder = 1.0 - found.settings["level"]
    dots = [
        Dot(
            e.rule, log(e.ratio), log(e.low), log(e.high),
            filled=e.p_adjusted <= harder, beside=ratio_text(e),
        )
        for e in found
    ]  # fmt: skip
    draw_dots(ax, dots, neutral=0.0)
    ax.set_xlim(*limits)
    span = limits[1] - limits[0]
    steps = (1, 2, 5) if span < 1.5 else (1, 3) if span < 3.0 else (1,)
    marks = [math.log10(m) + k for k in range(-9, 10) for m in steps]
    ax.xaxis.set_major_locator(FixedLocator([x for x in marks if limits[0] <= x <= limits[1]]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{number(round(10**x, 9))} ×"))
    ax.set_xlabel("times the errors (log scale)")
