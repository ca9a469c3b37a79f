"""The figures of `gohr.elements`: how many times the errors, by rule and by tag."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter

from gnomon.plot import Dot, Figure, Panel, draw_dots, frame
from gnomon.plot.style import FULL_WIDTH
from gnomon.tables import number
from gohr.experiments.rule_elements import Element, Elements, bracketed
from gohr.experiments.rule_tags import TagEffect, TagEffects

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
    baseline, level = found.settings["baseline"], found.settings["level"]
    return frame(
        _panels(found, level), ax,
        name="elements",
        title=f"How many times the errors on {baseline}",
        caption=f"Ratio of the median errors on a rule to those on {baseline}, on a logarithmic "
        f"axis, with {100 * level:g} % intervals. Filled: significantly harder (one-sided "
        "Mann-Whitney test, Holm's correction). An interval that leaves the panel has no upper, or "
        "no lower, end: most trials did not learn the rule, or the baseline.",
        alt=" ".join(found.sentences()),
        rows=found.as_records(),
        columns=_COLUMNS,
        width=FULL_WIDTH,
        share_x=True,
        wide=True,
    )  # fmt: skip


def tag_figure(found: TagEffects, ax: Axes | None = None) -> Figure | Axes:
    """Draw the factor of each tag, on a logarithmic axis, a panel for each learner.

    Parameters
    ----------
    found : TagEffects
    ax : matplotlib.axes.Axes, optional
        Axes for a single learner.
    """
    level = found.settings["level"]
    alone = found.where(versus="")
    return frame(
        _panels(alone, level), ax,
        name="tags",
        title="How many times the errors, by tag",
        caption="Factor by which a tag of a rule multiplies the median errors, other tags equal, "
        f"on a logarithmic axis, with {100 * level:g} % intervals. Filled: significantly different "
        "from 1 (Holm's correction).",
        alt="Dots with intervals: the factor of each tag for each learner.",
        rows=alone.as_records(),
        columns=_COLUMNS,
        width=FULL_WIDTH,
        share_x=True,
        wide=True,
    )  # fmt: skip


def _panels(found: Iterable[Element | TagEffect], level: float) -> list[Panel]:
    """Return a panel of ratios for each learner, all on one axis."""
    rows = list(found)
    values = [x for e in rows for x in (e.ratio, e.low, e.high)]
    ends = [0.0, *(math.log10(x) for x in values if 0.0 < x < math.inf)]
    air = 0.1 * (max(ends) - min(ends)) or 0.3
    limits = min(ends) - air, max(ends) + air
    by_learner = {e.learner: [f for f in rows if f.learner == e.learner] for e in rows}
    height = 1.1 + _ROW * max(map(len, by_learner.values()))
    return [
        Panel(partial(_draw, own, limits, 1.0 - level), name, height)
        for name, own in by_learner.items()
    ]


def _draw(
    rows: Sequence[Element | TagEffect], limits: tuple[float, float], alpha: float, ax: Axes
) -> None:
    def log(value: float) -> float:
        return value if math.isnan(value) else math.log10(min(max(value, least), most))

    least, most = (10.0**end for end in limits)
    dots = [
        Dot(
            e.rule if isinstance(e, Element) else e.tag,
            log(e.ratio), log(e.low), log(e.high),
            filled=e.p_adjusted <= alpha,
            beside=bracketed(
                e.ratio, e.low, e.high, "", e.bound if isinstance(e, Element) else ""
            ),
        )
        for e in rows
    ]  # fmt: skip
    draw_dots(ax, dots, neutral=0.0)
    ax.set_xlim(*limits)
    span = limits[1] - limits[0]
    steps = (1, 2, 5) if span < 1.5 else (1, 3) if span < 3.0 else (1,)
    marks = [math.log10(m) + k for k in range(-12, 13, math.ceil(span / 4.0)) for m in steps]
    ax.xaxis.set_major_locator(FixedLocator([x for x in marks if limits[0] <= x <= limits[1]]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{number(round(10**x, 9))} ×"))
    ax.set_xlabel("times the errors (log scale)")
