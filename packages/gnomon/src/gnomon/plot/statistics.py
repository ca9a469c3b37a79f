"""Figures of what the statistics return: each with its caption and its numbers.

The functions ``draw_...`` take the results of a verb, and axes for a panel of a figure of one's
own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from gnomon.plot.curves import efficiency_rows, sample_efficiency_curves
from gnomon.plot.heat_maps import improvement_heat_map
from gnomon.plot.intervals import (
    MOST_ROWS,
    difference_bars,
    improvement_bars,
    interval_panels,
    interval_rows,
)
from gnomon.plot.items import item_plan_curves, item_plan_figure
from gnomon.plot.labels import better_end, in_lines
from gnomon.plot.planning import power_curves, width_curves
from gnomon.plot.profiles import profile_curves
from gnomon.plot.record import Figure
from gnomon.plot.style import (
    FULL_WIDTH,
    MOST_STYLES,
    default_settings,
    drawing_of,
    new_drawing,
    size_for,
)
from gnomon.results import Results
from gnomon.stats.comparisons.comparison_records import Comparison, Comparisons
from gnomon.stats.estimate_records import Estimate, Estimates
from gnomon.stats.items.item_plans import ItemPlan
from gnomon.stats.learning_curves.curves_by_step import Curve, Curves
from gnomon.stats.planning.plans import Plan
from gnomon.stats.planning.power import IntervalWidth, PowerPoint
from gnomon.stats.planning.sequential import SequentialResult
from gnomon.stats.profiles.kinds import Profiles, beyond_thresholds
from gnomon.stats.profiles.performance import Profile

IMPROVEMENT = "probability_of_improvement"


def estimate_figure(
    estimates: Sequence[Estimate], scale: str, *, higher_is_better: bool = True
) -> Figure:
    """Return the interval panels of estimates, the best algorithm on top."""
    with default_settings():
        drawing = interval_panels(estimates, xlabel=scale, higher_is_better=higher_is_better)
    return Figure(
        "estimates",
        "Estimates",
        f"Dots are estimates, bars their {estimates[0].level:.0%} intervals; "
        f"{_panels(estimates, drawing)}",
        f"{len(estimates)} estimates of {scale} with intervals",
        drawing,
        interval_rows(estimates),
        wide=True,
    )


def _panels(estimates: Sequence[Estimate], drawing: Drawing) -> str:
    """Say what each panel of a drawing is of, and how many there would have been."""
    panels = {(one.task, one.metric) for one in estimates}
    n_tasks, n_metrics = (len({panel[i] for panel in panels}) for i in (0, 1))
    panel = "metric" if n_tasks == 1 else "task" if n_metrics == 1 else "task and metric"
    drawn = len(drawing.axes)
    some = f" The first {drawn} of {len(panels)} are drawn." if drawn < len(panels) else ""
    return f"one panel a {panel}.{some}"


def draw_estimates(found: Estimates, ax: Axes | None = None) -> Figure | Axes:
    """Draw estimates: a panel a metric or a task, or, of one metric and task, into given axes."""
    scale, higher = _scale_of(found)
    if ax is None:
        return estimate_figure(found, scale, higher_is_better=higher)
    _expect_one_metric(found)
    tasks = {one.task for one in found}
    if len(tasks) > 1:
        raise ValueError(f"expected one task for given axes, found {len(tasks)}; where(task=...)")
    interval_panels(found, xlabel=scale, higher_is_better=higher, ax=ax)
    return ax


def _scale_of(found: Results[Any]) -> tuple[str, bool]:
    """Return what was measured, and whether more of it is better."""
    return found.settings.get("scale", ""), found.settings.get("higher_is_better", True)


def draw_comparisons(found: Comparisons, ax: Axes | None = None) -> Figure | Axes:
    """Draw comparisons: differences above probabilities, or one of the two into given axes."""
    scale, higher = _scale_of(found)
    if ax is None:
        return comparison_figure(found, scale, higher_is_better=higher)
    pairs = {(c.a, c.b) for c in found}
    chances = {c.metric == IMPROVEMENT for c in found}
    if len(chances) > 1:
        raise ValueError(f"expected differences or {IMPROVEMENT}, found both; where(metric=...)")
    if chances == {True} and len(pairs) > 2:
        return improvement_heat_map(found, ax=ax)
    _comparison_panel(ax, found, pairs, scale, higher)
    return ax


def draw_profiles(found: Profiles, ax: Axes | None = None) -> Figure | Axes:
    """Draw profiles with their bands."""
    scale, higher = _scale_of(found)
    if ax is None:
        return profile_figure(found, scale, higher_is_better=higher)
    return _profile_panel(found, scale, higher, ax)


def draw_curves(found: Curves, ax: Axes | None = None) -> Figure | Axes:
    """Draw sample-efficiency curves: a panel a metric, or, of one metric, into given axes."""
    (scale, higher), step = _scale_of(found), found.settings.get("step", "step")
    if ax is None:
        return curve_figure(found, scale, step, higher_is_better=higher)
    _expect_one_metric(found)
    ylabel = _curve_label(found[0].metric, scale, higher)
    return sample_efficiency_curves(found, xlabel=step, ylabel=ylabel, ax=ax)


def _curve_label(metric: str, scale: str, higher_is_better: bool) -> str:
    return better_end(scale, higher_is_better and metric != "optimality_gap")


def draw_plan(found: Plan, ax: Axes | None = None) -> Figure | Axes:
    """Draw what is known of numbers of runs: power, widths or looks."""
    points = [one for one in found if isinstance(one, PowerPoint)]
    if points:
        power = found.settings.get("power", 0.8)
        return (
            power_figure(points, power) if ax is None else power_curves(points, wanted=power, ax=ax)
        )
    plans = [one for one in found if isinstance(one, ItemPlan)]
    if plans:
        wanted = found.settings.get("power", 0.8)
        if ax is None:
            return item_plan_figure(plans, wanted)
        return item_plan_curves(plans, wanted=wanted, ax=ax)
    widths = [one for one in found if isinstance(one, IntervalWidth)]
    if widths:
        return width_figure(widths) if ax is None else width_curves(widths, ax=ax)
    looks = tuple(one.comparison for one in found if isinstance(one, SequentialResult))
    return draw_comparisons(Comparisons(looks, {**found.settings, **_LOOKS}), ax)


def _expect_one_metric(found: Sequence[Estimate] | Sequence[Curve]) -> None:
    metrics = list(dict.fromkeys(one.metric for one in found))
    if len(metrics) > 1:
        raise ValueError(
            f"expected one metric for given axes, found {', '.join(metrics)}; where(metric=...)"
        )


#: Over what the p-values of looks are corrected.
_LOOKS = {"family": "not corrected, each look has its own level; all looks of a metric keep theirs"}


def comparison_figure(
    comparisons: Comparisons, scale: str, *, higher_is_better: bool | None = None
) -> Figure:
    """Return a heat map of all pairs, or differences and improvement in two panels."""
    pairs = {(c.a, c.b) for c in comparisons}
    chances = [c for c in comparisons if c.metric == IMPROVEMENT]
    differences = [c for c in comparisons if c.metric != IMPROVEMENT]
    n = len({name for pair in pairs for name in pair})
    # Of some pairs alone most of a map would be empty.
    mapped = bool(chances) and not differences and 2 * len(pairs) == n * (n - 1) > 2
    with default_settings():
        if mapped:
            drawing = drawing_of(improvement_heat_map(chances))
        else:
            parts = [part for part in (differences, chances) if part]
            heights = [min(len(part), MOST_ROWS) + 1.8 for part in parts]
            drawing = new_drawing(FULL_WIDTH * 0.7, 0.36 * sum(heights) + 0.3)
            axes = drawing.subplots(len(parts), 1, height_ratios=heights, squeeze=False)[:, 0]
            for ax, part in zip(axes, parts, strict=True):
                _comparison_panel(ax, part, pairs, scale, higher_is_better)
    level, most = comparisons[0].level, max(len(differences), len(chances))
    some = f" The first {MOST_ROWS} of {most} are drawn." if most > MOST_ROWS else ""
    return Figure(
        "comparison",
        "Comparison",
        f"Dots with {level:.0%} intervals; filled, or bold in a map: separated by the test. "
        f"p-values: {comparisons.settings['family']}.{'' if mapped else some}",
        f"{len(comparisons)} comparisons of {len(pairs)} pairs of algorithms",
        drawing,
        tuple(one.as_record() for one in comparisons),
    )


def _comparison_panel(
    ax: Axes,
    part: Sequence[Comparison],
    pairs: Collection[tuple[str, str]],
    scale: str,
    higher_is_better: bool | None,
) -> None:
    """Draw comparisons of one kind; a single pair is named by the axis."""
    ((a, b),) = pairs if len(pairs) == 1 else (("first", "second"),)
    a, b = in_lines(a, 30, 1), in_lines(b, 30, 1)
    if part[0].metric == IMPROVEMENT:
        whose = a if len(pairs) == 1 else "the first"
        improvement_bars(part, xlabel=f"probability that a run of {whose} is better", ax=ax)
        return
    xlabel = f"{a} minus {b} ({scale})"
    # Of gaps to a target the smaller one is better, whatever the scores.
    if any(one.metric == "optimality_gap" for one in part):
        higher_is_better = None
    if higher_is_better is not None:
        xlabel += f"\n{a} better →" if higher_is_better else f"\n← {a} better"
    difference_bars(part, xlabel=xlabel, ax=ax)


def profile_figure(profiles: Sequence[Profile], scale: str, *, higher_is_better: bool) -> Figure:
    """Return profiles; the words of the axes say which side of a threshold is good."""
    kind = profiles[0].kind
    with default_settings():
        drawing = drawing_of(_profile_panel(profiles, scale, higher_is_better, None))
    band = profiles[0].band
    how = "" if band == "none" else f" Bands: {profiles[0].level:.0%}, {band}."
    beyond = "".join(f" {note}" for note in beyond_thresholds(profiles))
    return Figure(
        f"profiles-{kind.replace('_', '-')}",
        "Profiles",
        f"The higher curve is the better one.{how}{beyond}",
        f"Profiles of {len(profiles)} algorithms ({kind.replace('_', ' ')})",
        drawing,
        tuple(record for profile in profiles for record in profile.as_records()),
    )


def _profile_panel(
    profiles: Sequence[Profile], scale: str, higher_is_better: bool, ax: Axes | None
) -> Axes:
    """Draw profiles with the words of their axes."""
    kind = profiles[0].kind
    xlabel = ylabel = None
    if kind in ("run_score", "average_score"):
        side = "above" if higher_is_better else "below"
        who = "runs" if kind == "run_score" else "tasks with a mean"
        xlabel, ylabel = f"threshold ({scale})", f"share of {who} {side} it (better →)"
    return profile_curves(profiles, xlabel=xlabel, ylabel=ylabel, ax=ax)


def curve_figure(
    curves: Sequence[Curve], scale: str, step: str = "step", *, higher_is_better: bool = True
) -> Figure:
    """Return sample-efficiency curves, one panel a metric, side by side on one scale."""
    metrics = list(dict.fromkeys(curve.metric for curve in curves))
    with default_settings():
        width, height = size_for(len(curves) // len(metrics))
        drawing = new_drawing(width if len(metrics) == 1 else FULL_WIDTH, height)
        axes = drawing.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
        for ax, metric in zip(axes, metrics, strict=True):
            own = [curve for curve in curves if curve.metric == metric]
            label = _curve_label(metric, scale, higher_is_better)
            ylabel = label if metric == metrics[0] else ""
            sample_efficiency_curves(own, xlabel=step, ylabel=ylabel, ax=ax)
            legend = ax.get_legend()
            if metric != metrics[-1] and legend is not None:
                legend.remove()
    return Figure(
        "curves",
        "Sample efficiency",
        f"Each metric by {step}, with pointwise {curves[0].level:.0%} bands.",
        f"{', '.join(metrics)} of {len(curves) // len(metrics)} algorithms by {step}",
        drawing,
        efficiency_rows(curves),
        wide=len(metrics) > 1,
    )


def power_figure(points: Sequence[PowerPoint], wanted: float) -> Figure:
    """Return the power to separate each pair, against the number of runs."""
    with default_settings():
        drawing = drawing_of(power_curves(points, wanted=wanted))
    n_pairs = len({(p.a, p.b) for p in points})
    some = f" The {MOST_STYLES} hardest of {n_pairs} pairs are drawn."
    some = some if n_pairs > MOST_STYLES else ""
    return Figure(
        "power",
        "How many runs",
        f"How often studies of each size separate a pair ({points[0].metric}).{some}",
        f"Power curves of {n_pairs} pairs",
        drawing,
        tuple(point.as_record() for point in points),
    )


def width_figure(widths: Sequence[IntervalWidth]) -> Figure:
    """Return how wide intervals are, against the number of runs."""
    with default_settings():
        drawing = drawing_of(width_curves(widths))
    return Figure(
        "widths",
        "How wide intervals are",
        "Mean width of the intervals of simulated studies, as a share of the pilot's own.",
        f"Widths of intervals of {len({one.algorithm for one in widths})} algorithms by runs",
        drawing,
        tuple(one.as_record() for one in widths),
    )
