"""Figures of a run: errors of trials as in Pulick et al. (2022), a board, effects of elements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    NullLocator,
    SymmetricalLogLocator,
)

from gnomon.errors import counted, joined
from gnomon.plot import Dot, Figure, Line, Panel, draw_dots, draw_lines, frame
from gnomon.plot.labels import in_lines, name_rows, name_series
from gnomon.plot.style import (
    FULL_WIDTH,
    HALF_WIDTH,
    HEIGHT,
    INK,
    PAPER,
    drawing_of,
    dress,
    mark_numbers,
    new_drawing,
    series_style,
)
from gnomon.printing import number, percent
from gnomon.stats import median_interval
from gohr.board import N_CELLS, draw_boards
from gohr.experiments.config import ExperimentConfig
from gohr.experiments.rule_elements import Element, Elements, bracketed
from gohr.experiments.rule_tags import TagEffect, TagEffects
from gohr.run_page.board_drawing import board_rows, draw_board
from gohr.run_page.findings import Findings, Performance

FloatArray = npt.NDArray[np.float64]
#: Trials drawn as curves, as many as in figure 3 of the paper; more would hide each other. Points
#: of a curve: more are closer than the width of a line.
_MOST_CURVES, _MOST_POINTS = 100, 200


# -- drawings --------------------------------------------------------------------------------------


def _error_axis(ax: Axes, which: Literal["x", "y"], values: npt.ArrayLike) -> str:
    """Scale an axis by the errors that it shows, and return a note for its label.

    Errors that differ by less than a factor of five need no logarithm; zeros need one that is
    linear below 1.
    """
    shown = np.asarray(values, dtype=np.float64).ravel()
    shown = shown[np.isfinite(shown)]
    least, most = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
    axis, scale = (ax.xaxis, ax.set_xscale) if which == "x" else (ax.yaxis, ax.set_yscale)
    if most <= max(5.0 * least, 5.0):
        mark_numbers(axis, most=5)
        return ""
    decades = np.log10(most / max(least, 1.0))
    subs = (1.0, 2.0, 5.0) if decades < 1.7 else (1.0, 3.0) if decades < 2.6 else (1.0,)
    if least > 0:
        scale("log")
        axis.set_major_locator(LogLocator(subs=subs))
    else:
        scale("symlog", linthresh=1.0, linscale=0.5)
        axis.set_major_locator(SymmetricalLogLocator(base=10.0, linthresh=1.0, subs=subs))
    axis.set_minor_locator(NullLocator())
    mark_numbers(axis)
    return ", log scale"


def median_curves(curves: Sequence[Line]) -> Axes:
    """Draw median learning curves of cumulated errors with their bands.

    Parameters
    ----------
    curves : sequence of gnomon.plot.Line
        At least one: ``x`` are episodes, from 1.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.plot import Line
    >>> x = np.array([3.0, 5.0])
    >>> median_curves([Line("clockwise", np.arange(1, 3), x, x - 1, x + 1)]).get_xlabel()
    'episode'
    """
    ax = new_drawing(FULL_WIDTH * 0.7, max(HEIGHT, 0.21 * len(curves))).subplots()
    draw_lines(ax, curves, marked=True)
    ends = [np.r_[line.y, *(x for x in (line.low, line.high) if x is not None)] for line in curves]
    note = _error_axis(ax, "y", np.concatenate(ends))
    _episode_axis(ax, max(line.x.size for line in curves))
    ax.set_ylabel(f"median cumulated errors{note}")
    by_end = sorted(curves, key=lambda line: -line.y[-1])
    name_series(ax, [line.label for line in by_end])
    return ax


def box_plots(runs: Mapping[str, npt.ArrayLike], styles: Mapping[str, int] | None = None) -> Axes:
    """Draw the terminal errors of trials: a dot for each and a box, in horizontal rows.

    A single trial has no box.

    Parameters
    ----------
    runs : mapping from label to array of float, shape (trials,)
        By the name of a rule or a learner.
    styles : mapping from label to int, optional
        Number of each one's style; its place in `runs` if not given.

    Examples
    --------
    >>> box_plots({"clockwise": [9, 12, 15], "color-match": [3, 4, 8]}).get_xlabel()
    'terminal cumulated errors'
    """
    n_rows = len(runs)
    height = max(HEIGHT, 0.95 + 0.5 * min(n_rows, 8) + 0.3 * max(n_rows - 8, 0))
    ax = dress(new_drawing(HALF_WIDTH, height).subplots(), grid="x")
    for row, (label, values) in enumerate(runs.items()):
        color = series_style(styles[label] if styles else row).color
        if np.size(values) == 1:  # a box of one trial would be a line that hides the dot
            ax.scatter(values, [row], s=28, color=color, linewidth=0)
            continue
        low, q1, median, q3, high = (_box(values)[name] for name in _ENDS.values())
        ax.hlines([row, row], [low, q3], [q1, high], color=color, linewidth=1.2)
        ax.vlines([low, high], row - 0.12, row + 0.12, color=color, linewidth=1.2)
        ax.barh(row, q3 - q1, left=q1, height=0.56, color=color, alpha=0.25, linewidth=0)
        ax.vlines(median, row - 0.28, row + 0.28, color=INK, linewidth=2.0)
        dots = np.sort(np.asarray(values, dtype=np.float64))
        # Neighbours in value go to distant places in height: turns of the golden ratio.
        turns = (np.arange(dots.size) * 0.6180339887) % 1.0
        ax.scatter(dots, row + (turns - 0.5) * 0.4, s=7, color=color, alpha=0.65, linewidth=0)
    note = _error_axis(ax, "x", np.concatenate([np.asarray(x, float) for x in runs.values()]))
    ax.set_xlabel(f"terminal cumulated errors{note}")
    # Few rows keep the height of a row, with space around them.
    name_rows(ax, [in_lines(label) for label in runs], top=0.5 + max(0.0, (4 - n_rows) / 2))
    return ax


#: Columns of the numbers of a box, and what Matplotlib calls them.
_ENDS = {
    "whisker_low": "whislo", "q1": "q1", "median": "med", "q3": "q3", "whisker_high": "whishi",
}  # fmt: skip


def _box(runs: npt.ArrayLike) -> dict[str, Any]:
    [found] = boxplot_stats(np.asarray(runs, dtype=np.float64))
    return dict(found)


def _trial_curves(errors: npt.NDArray[np.int32], color: str) -> Drawing:
    """Draw the cumulated errors of every trial, shape (trials, episodes), and their median."""
    # Fixed margins: the layout of a hundred such figures takes as long as drawing them.
    drawing = Drawing(figsize=(HALF_WIDTH, HEIGHT), facecolor=PAPER)
    ax = dress(drawing.add_axes((0.17, 0.16, 0.8, 0.8)), grid="y")
    chosen = _evenly(errors.shape[1], _MOST_POINTS)
    shown = errors[np.argsort(errors[:, -1], kind="stable")[_evenly(len(errors), _MOST_CURVES)]]
    shown = shown[:, chosen]
    lines = [*np.stack([np.broadcast_to(chosen + 1, shown.shape), shown], axis=-1)]
    alpha = float(np.clip(1.4 / np.sqrt(len(lines)), 0.12, 0.6))
    # One collection draws in half the time of as many lines, and half of the points is enough.
    collection = LineCollection(lines, colors=color, alpha=alpha, linewidths=0.9)
    for path in collection.get_paths():
        path.simplify_threshold = 0.5
    ax.add_collection(collection)
    ax.autoscale_view()
    if len(errors) > 1:
        middle = np.median(errors[:, chosen], axis=0)
        ax.plot(chosen + 1, middle, color=PAPER, linewidth=3.4)
        ax.plot(chosen + 1, middle, color=INK, linewidth=1.6)
    note = _error_axis(ax, "y", errors)
    _episode_axis(ax, errors.shape[1])
    ax.set_ylabel(f"cumulated errors{note}")
    ax.xaxis.set_label_coords(0.5, -0.12)
    ax.yaxis.set_label_coords(-0.13, 0.5)
    return drawing


def _evenly(n: int, most: int) -> npt.NDArray[np.int64]:
    """Return evenly spaced places among `n`, the first and the last among them."""
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)


def _episode_axis(ax: Axes, n_episodes: int) -> None:
    margin = 0.02 * max(n_episodes - 1, 1)
    ax.set_xlim(1 - margin, n_episodes + margin)
    mark_numbers(ax.xaxis, most=5, whole=True)
    ax.set_xlabel("episode")


# -- figures of the page ---------------------------------------------------------------------------


def _stem(findings: Findings, learner: str, *rules: str) -> str:
    """Return places in the experiment, and names, as a stem that no others share."""
    places = [([x.name for x in findings.config.learners], learner)]
    places += [([x.name for x in findings.config.rules], rule) for rule in rules]
    return "-".join(
        f"{names.index(name) + 1}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') or 'x'}"
        for names, name in places
    )


def _rule_styles(findings: Findings) -> dict[str, int]:
    """Return the number of the style of each rule, the same in all figures."""
    return {rule.name: i for i, rule in enumerate(findings.config.rules)}


def curve_figure(findings: Findings, learner: str) -> Figure:
    """Return the median curves of one learner, the hardest rule first."""
    played, styles = findings.of_learner(learner), _rule_styles(findings)
    curves = []
    for rule, x in played.items():
        middle, low, high = median_interval(x.errors, level=findings.level)
        episodes = np.arange(1.0, 1 + middle.size)
        curves.append(Line(rule, episodes, middle, low, high, series_style(styles[rule])))
    ends = joined([f"{rule} {x.median}" for rule, x in played.items()])
    rows: list[dict[str, Any]] = [
        {"label": c.label, "episode": int(x), "median": y, "low": low, "high": high}
        for c in curves
        for x, y, low, high in np.array([c.x, c.y, c.low, c.high], np.float64).T.tolist()
    ]
    return Figure(
        f"median-curves-{_stem(findings, learner)}",
        f"{learner}: cumulated errors",
        f"Median over trials of the errors so far, with {percent(findings.level)} bootstrap bands "
        "for each episode. Where a curve is flat, the learner makes no more errors.",
        f"Median cumulated errors by episode: {joined([*played])}. At the end: {ends}.",
        lambda: drawing_of(median_curves(curves)),
        rows,
    )


def box_figure(findings: Findings, learner: str) -> Figure:
    """Return the terminal errors of each trial of one learner, the hardest rule on top."""
    ends = {rule: x.ends for rule, x in findings.of_learner(learner).items()}
    rows: list[dict[str, Any]] = [
        {"learner": learner, "rule": rule, "n": np.size(values)}
        | {name: float(_box(values)[theirs]) for name, theirs in _ENDS.items()}
        for rule, values in ends.items()
    ]
    return Figure(
        f"boxes-{_stem(findings, learner)}",
        f"{learner}: every trial's errors",
        "Terminal cumulated errors: one dot per trial, the box from the first to the third "
        "quartile, the bar at the median, whiskers to the last trial within 1.5 "
        "interquartile ranges. Hardest rule on top.",
        f"Box plots of the terminal cumulated errors of {learner}, one row per rule.",
        lambda: drawing_of(box_plots(ends, _rule_styles(findings))),
        rows,
    )


def trial_figure(findings: Findings, x: Performance) -> Figure:
    """Return every trial of a learner on a rule."""
    color = series_style(_rule_styles(findings)[x.rule]).color
    worst = float(x.ends.max())
    some = f" Drawn: {_MOST_CURVES} of them, evenly spaced." if x.n_trials > _MOST_CURVES else ""
    episodes = np.arange(1, x.errors.shape[1] + 1)
    return Figure(
        f"trials-{_stem(findings, x.learner, x.rule)}",
        f"{x.learner} on {x.rule}",
        f"{counted(x.n_trials, 'trial')}; median TCE {x.median}, least "
        f"{x.ends.min():,.0f}, most {worst:,.0f}.{some}",
        f"Cumulated errors by episode of {counted(x.n_trials, 'trial')} of {x.learner} on "
        f"{x.rule}; they end between {x.ends.min():,.0f} and {worst:,.0f}.",
        partial(_trial_curves, x.errors, color),
        # A column a trial: views of the errors, which are held once.
        {"episode": episodes} | {f"trial {n}": errors for n, errors in enumerate(x.errors, 1)},
    )


def board_figure(config: ExperimentConfig) -> Figure:
    """Return a board drawn as in this experiment, or the first recorded board."""
    spec = config.board
    if config.recorded is not None:
        dealt = next(boards for trials in config.recorded.values() for boards in trials if boards)
        board, title = np.frombuffer(dealt[:N_CELLS], dtype=np.uint8), "The first board"
    else:
        board, title = draw_boards(1, spec, rng=np.random.default_rng(config.seed))[0], "A board"
    return Figure(
        "board",
        title,
        "The player picks a piece and a bucket at a corner, and learns only whether the rule "
        "accepts it. An accepted piece leaves the board.",
        "A board of six by six numbered cells with pieces of several shapes and colours, and four "
        "buckets, numbered clockwise from 0 at the top left.",
        drawing_of(draw_board(board, spec=spec)),
        board_rows(board, spec=spec),
    )


# -- figures of `gohr elements` --------------------------------------------------------------------

_ROW = 0.34
#: Two panels side by side; more learners begin another line of panels.
_PANELS: Mapping[str, Any] = {"columns": 2, "width": FULL_WIDTH, "share_x": True, "wide": True}


def element_figure(found: Elements, ax: Axes | None = None) -> Figure | Axes:
    """Draw the ratio of each rule to the baseline on a log axis, a panel for each learner."""
    baseline, level = found.settings["baseline"], found.settings["level"]
    return frame(
        _panels(found, level), ax,
        name="elements",
        title=f"How many times the errors on {baseline}",
        caption=f"Ratio of the median errors on a rule to those on {baseline}, on a logarithmic "
        f"axis, with {100 * level:g} % intervals. Filled: significantly harder (one-sided "
        "Mann-Whitney test, or Gehan's where some trials did not learn a rule; Holm's correction). "
        "An interval that leaves the panel has no upper, or "
        "no lower, end: most trials did not learn the rule, or the baseline.",
        alt=" ".join(found.sentences()),
        rows=found.as_records(),
        **_PANELS,
    )  # fmt: skip


def tag_figure(found: TagEffects, ax: Axes | None = None) -> Figure | Axes:
    """Draw the factor of each tag on a logarithmic axis, a panel for each learner."""
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
        **_PANELS,
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
