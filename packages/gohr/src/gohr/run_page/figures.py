"""The figures of a report: its drawings, and the text of each."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np

from gnomon.errors import counted, joined
from gnomon.plot import Figure
from gnomon.plot.style import drawing_of, series_style
from gnomon.tables import percent
from gohr.experiments.config import ExperimentConfig
from gohr.game.board import N_CELLS, draw_boards
from gohr.run_page.board_drawing import board_rows, draw_board
from gohr.run_page.error_plots import (
    MOST_AT_HALF_WIDTH,
    box_plots,
    box_rows,
    drawn_trials,
    median_curves,
    median_rows,
    pairwise_rows,
    pairwise_table,
    trial_curves,
)
from gohr.run_page.findings import Findings, Performance


def _stem(findings: Findings, learner: str = "", rule: str = "") -> str:
    """Return places in the experiment, and names, as a stem that no others share."""
    series = (_learner_series(findings), learner), (_rule_series(findings), rule)
    return "-".join(
        f"{places[name] + 1}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') or 'x'}"
        for places, name in series
        if name
    )


def _rule_series(findings: Findings) -> dict[str, int]:
    """Return the style number of each rule, the same in all figures."""
    return {rule.name: i for i, rule in enumerate(findings.config.rules)}


def _learner_series(findings: Findings) -> dict[str, int]:
    """Return the style number of each learner, the same in all figures."""
    return {learner.name: i for i, learner in enumerate(findings.config.learners)}


def difficulty_figures(findings: Findings, learner: str) -> list[Figure]:
    """Return curves, boxes and tests of one learner."""
    played = findings.of_learner(learner)
    stem, series = _stem(findings, learner), _rule_series(findings)
    curves = [x.curve for x in played.values()]
    ends = {rule: x.ends for rule, x in played.items()}
    figures = [
        Figure(
            f"median-curves-{stem}",
            f"{learner}: cumulated errors",
            f"Median over trials of the errors so far, with {percent(findings.level)} bootstrap "
            "bands for each episode. Where a curve is flat, the learner makes no more errors; "
            "at its end stands the median TCE.",
            f"Median cumulated errors of {learner} by episode, one curve per rule. At the end: "
            + joined([f"{rule} {x.tce}" for rule, x in played.items()])
            + ".",
            lambda: drawing_of(median_curves(curves, series=series)),
            median_rows(curves),
        ),
        Figure(
            f"boxes-{stem}",
            f"{learner}: every trial's errors",
            "Terminal cumulated errors: one dot per trial, the box from the first to the third "
            "quartile, the bar at the median, whiskers to the last trial within 1.5 "
            "interquartile ranges. Hardest rule on top.",
            f"Box plots of the terminal cumulated errors of {learner}, one row per rule.",
            lambda: drawing_of(box_plots(ends, series=series)),
            box_rows(ends, {"learner": learner}),
        ),
    ]
    if len(played) > 1:
        tests, decided = findings.tests[learner], findings.separated[learner]
        figures.append(
            Figure(
                f"tests-{stem}",
                f"{learner}: which rule is harder than which",
                "One-sided Mann-Whitney tests between the trials of two rules. The stronger the "
                "colour, the surer that the row's rule is harder than the column's (steps at "
                "0.05, 0.01 and 0.001). Bold: significant also after Holm's correction over all "
                "pairs.",
                f"Table of p-values of {learner}. Order of difficulty: "
                f"{findings.order_of(learner)}.",
                partial(pairwise_table, tests, [*played], decided=decided),
                pairwise_rows(tests),
                wide=len(played) > MOST_AT_HALF_WIDTH,
            )
        )
    return figures


def rule_figures(findings: Findings, rule: str) -> list[Figure]:
    """Return the learners' median curves on one rule, if more than one played it."""
    played = [x for (_, r), x in findings.performances.items() if r == rule]
    if len(played) < 2:
        return []
    curves = [replace(x.curve, label=x.learner) for x in played]
    series = _learner_series(findings)
    return [
        Figure(
            f"learners-{_stem(findings, rule=rule)}",
            f"{rule}: comparison of learners",
            f"Median cumulated errors with {percent(findings.level)} bootstrap bands.",
            f"Median cumulated errors on {rule} by episode, one curve per learner. At the end: "
            + joined([f"{x.learner} {x.tce}" for x in played])
            + ".",
            lambda: drawing_of(median_curves(curves, series=series)),
            median_rows(curves),
        )
    ]


def summary_figures(findings: Findings) -> list[Figure]:
    """Return the summaries over all rules, if there is more than one rule to sum up."""
    estimates = findings.estimates
    if estimates is None or estimates[0].n_tasks < 2:
        return []
    methods = joined(list(dict.fromkeys(e.method.replace("_", " ") for e in estimates)))
    figure = replace(
        estimates.figure(),
        name="summaries",
        title="Over all rules",
        caption=f"Summaries of the TCE over {counted(estimates[0].n_tasks, 'rule')} that all "
        f"learners played, with {percent(findings.level)} intervals ({methods}). Fewer is better. "
        "The median is that of the rules' means. Errors are not normalized, so rules on which many "
        "are made weigh more.",
        alt="Mean, median and interquartile mean of the errors of each learner: "
        + joined([f"{e.algorithm} {e.metric} {e.value:,.0f}" for e in estimates])
        + ".",
    )
    return [figure]


def trial_figure(findings: Findings, x: Performance) -> Figure:
    """Return every trial of a learner on a rule."""
    color = series_style(_rule_series(findings)[x.rule]).color
    worst, n_drawn = float(x.ends.max()), drawn_trials(x.ends).size
    of_all = f" Drawn: {n_drawn} of them, evenly spaced." if n_drawn < x.n_trials else ""
    episodes = np.arange(1, x.errors.shape[1] + 1)
    return Figure(
        f"trials-{_stem(findings, x.learner, x.rule)}",
        f"{x.learner} on {x.rule}",
        f"{counted(x.n_trials, 'trial')}; median TCE {x.tce}, least "
        f"{x.ends.min():,.0f}, most {worst:,.0f}.{of_all}",
        f"Cumulated errors by episode of {counted(x.n_trials, 'trial')} of {x.learner} on "
        f"{x.rule}; they end between {x.ends.min():,.0f} and {worst:,.0f}.",
        partial(trial_curves, x.errors, color=color),
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
        "buckets, 0 at the top left and on clockwise.",
        drawing_of(draw_board(board, spec=spec)),
        board_rows(board, spec=spec),
    )
