"""From findings to the report: which parts it has, and what stands in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from gnomon import __version__
from gnomon.experiments.scoring import STREAK
from gnomon.game.board import draw_boards
from gnomon.report.figures import (
    Figure,
    board_rows,
    box_plots,
    box_rows,
    cumulated_error_curves,
    cumulated_error_rows,
    draw_board,
    interval_panels,
    interval_rows,
    median_curves,
    median_rows,
    pairwise_rows,
    pairwise_table,
)
from gnomon.report.figures.curves import MedianCurve
from gnomon.report.figures.style import drawing_of, p_value, series_style
from gnomon.report.findings import Duel, Findings, Performance
from gnomon.report.page import Answer, Report, Section, Table
from gnomon.report.words import (
    counted,
    difficulty_sentence,
    duel_sentence,
    interval,
    joined,
    order_of,
    percent,
    trouble,
)
from gnomon.rules.catalogue import info_of

__all__ = ["report_of"]


def report_of(findings: Findings) -> Report:
    """Return the report that tells of some findings."""
    config = findings.config
    played = bool(findings.performances)
    sections = [
        *([_difficulty(findings)] if played else []),
        *([_learners(findings)] if len(findings.learners) > 1 else []),
        *([_learning(findings), _trials(findings)] if played else []),
        _game(findings),
        _failures(findings),
    ]
    return Report(
        title=config.name,
        subtitle=(
            f"{counted(len(config.rules), 'hidden rule')}, "
            f"{counted(len(config.learners), 'learner')}, "
            f"{counted(config.trials, 'trial')} each of {counted(config.episodes, 'episode')}"
        ),
        answers=_answers(findings),
        notices=trouble(findings),
        sections=tuple(section for section in sections if section is not None),
        card=_card(findings),
    )


def _answers(findings: Findings) -> tuple[Answer, ...]:
    """Return the first thing on the page."""
    if not findings.performances:
        return (Answer("What was found?", ("No trial is done yet: there is nothing to tell.",)),)
    answers = [
        Answer(
            "Which rule is hardest?",
            tuple(difficulty_sentence(findings, learner) for learner in findings.learners),
        )
    ]
    if len(findings.learners) > 1:
        pairs = combinations(findings.learners, 2)
        answers.append(
            Answer(
                "Which learner is better?", tuple(duel_sentence(findings, a, b) for a, b in pairs)
            )
        )
    answers.append(Answer("How certain is that?", _certainty(findings)))
    return tuple(answers)


def _certainty(findings: Findings) -> tuple[str, ...]:
    sizes = [x.n_trials for x in findings.performances.values()]
    least, most = min(sizes), max(sizes)
    trials = counted(most, "trial") if least == most else f"{least} to {most} trials"
    sure = (
        f"Each statement rests on {trials} of a learner on a rule. In brackets stand "
        f"{percent(findings.level)} bootstrap intervals of medians."
    )
    tests = (
        "Order and advantage are decided by Mann-Whitney tests with Holm's correction, at an error "
        f"rate of {percent(1 - findings.level)} for each family of tests."
    )
    if least < 5:
        tests += " With fewer than five trials little can be decided."
    return (sure, tests, *findings.warnings)


def _slug(*names: str) -> str:
    """Return names as one word for files and ids."""
    return "-".join(re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "x" for name in names)


def _rule_series(findings: Findings) -> dict[str, int]:
    """Return the style number of each rule, the same in all figures."""
    return {rule.name: i for i, rule in enumerate(findings.config.rules)}


def _learner_series(findings: Findings) -> dict[str, int]:
    """Return the style number of each learner, the same in all figures."""
    return {learner.name: i for i, learner in enumerate(findings.config.learners)}


def _number_of(findings: Findings, learner: str, rule: str = "") -> str:
    """Return places in the experiment as a stem that no two pairs share, whatever their names."""
    stem = f"{_learner_series(findings)[learner] + 1}-{_slug(learner)}"
    return f"{stem}-{_rule_series(findings)[rule] + 1}-{_slug(rule)}" if rule else stem


def _difficulty(findings: Findings) -> Section:
    """Tell how hard each rule is for each learner."""
    figures = [f for learner in findings.learners for f in _difficulty_figures(findings, learner)]
    names = findings.learners
    rows = tuple(
        (rule, *(_median_cell(findings, learner, rule) for learner in names))
        for rule in findings.rules
    )
    orders = tuple((learner, order_of(findings, learner)) for learner in names)
    return Section(
        "difficulty",
        "Which rule is hardest?",
        (
            "The more errors a learner makes before it knows a rule, the harder the rule. The "
            "terminal cumulated error (TCE) of a trial is the number of all its errors, over "
            f"{counted(findings.config.episodes, 'episode')} of at most "
            f"{counted(findings.config.horizon, 'attempt')}. An attempt on an empty cell is an "
            "error too.",
        ),
        (
            Table(
                "Order of difficulty",
                ("learner", "from hardest to easiest"),
                orders,
                "> where the trials separate two neighbours, ≈ where they do not decide.",
            ),
            Table(
                "Median terminal cumulated error",
                ("rule", *names),
                rows,
                f"In brackets the {percent(findings.level)} bootstrap interval of the median.",
            ),
        ),
        tuple(figures),
    )


def _median_cell(findings: Findings, learner: str, rule: str) -> str:
    found = findings.performances.get((learner, rule))
    return interval(found.tce) if found else "not played"


def _difficulty_figures(findings: Findings, learner: str) -> list[Figure]:
    """Return curves, boxes and tests of one learner."""
    played, order = findings.of_learner(learner), findings.orders[learner].names
    stem, series = _number_of(findings, learner), _rule_series(findings)
    curves = [played[rule].curve for rule in order]
    runs = {learner: {rule: played[rule].ends for rule in order}}
    axes = median_curves(curves, series=series)
    figures = [
        Figure(
            f"median-curves-{stem}",
            f"{learner}: how errors add up",
            f"Median over trials of the errors so far, with {percent(findings.level)} bootstrap "
            "bands for each episode. Where a curve goes flat, no more errors are made; at its end "
            "stands the median TCE.",
            f"Median cumulated errors of {learner} by episode, one curve a rule. At the end: "
            + joined([f"{rule} {interval(played[rule].tce)}" for rule in order])
            + ".",
            drawing_of(axes),
            median_rows(curves),
        ),
        Figure(
            f"boxes-{stem}",
            f"{learner}: every trial's errors",
            "Terminal cumulated errors: a dot a trial, the box from the first to the third "
            "quartile, the bar at the median, whiskers to the last trial within 1.5 "
            "interquartile ranges. Hardest rule on top.",
            f"Box plots of the terminal cumulated errors of {learner}, one row a rule.",
            box_plots(runs, order, series=series),
            box_rows(runs, order),
        ),
    ]
    if len(order) > 1:
        tests = findings.tests[learner]
        figures.append(
            Figure(
                f"tests-{stem}",
                f"{learner}: which rule is harder than which",
                "One-sided Mann-Whitney tests between the trials of two rules. The darker, the "
                "surer that the row's rule is harder than the column's (steps at 0.05, 0.01 and "
                "0.001). Bold: separated also after Holm's correction over all pairs.",
                f"Table of p-values of {learner}. Order of difficulty: "
                f"{order_of(findings, learner)}.",
                drawing_of(pairwise_table(tests, order, decided=findings.separated[learner])),
                pairwise_rows(tests),
            )
        )
    return figures


def _learners(findings: Findings) -> Section:
    """Compare the learners, rule by rule and over all rules."""
    rows = tuple(_duel_cells(d, findings.level) for d in findings.duels)
    table = Table(
        "Learner against learner",
        ("rule", "between", "fewer errors", "pairs of trials won by it", "p (Holm)"),
        rows,
        "Every trial of the one learner is set against every trial of the other on the same rule; "
        "a tie counts one half. The p-value is that of the two-sided Mann-Whitney test, corrected "
        "for the number of rows.",
    )
    figures = [f for rule in findings.rules for f in _rule_figures(findings, rule)]
    figures += _summary_figures(findings)
    return Section("learners", "Which learner is better?", (), (table,), tuple(figures))


def _duel_cells(duel: Duel, level: float) -> tuple[str, ...]:
    """Return the row of a table that tells who won."""
    share = max(duel.share, 1.0 - duel.share)
    winner = duel.winner(level)
    return (
        duel.rule,
        f"{duel.a} and {duel.b}",
        winner or "undecided",
        f"{100 * share:.0f}\xa0%" if winner else "",
        p_value(duel.p_value),
    )


def _rule_figures(findings: Findings, rule: str) -> list[Figure]:
    """Return the learners' median curves on one rule, if more than one played it."""
    played = [x for (_, r), x in findings.performances.items() if r == rule]
    if len(played) < 2:
        return []
    curves = [
        MedianCurve(x.learner, x.curve.values, x.curve.low, x.curve.high, x.n_trials)
        for x in played
    ]
    axes = median_curves(curves, series=_learner_series(findings))
    return [
        Figure(
            f"learners-{_rule_series(findings)[rule] + 1}-{_slug(rule)}",
            f"{rule}: learner by learner",
            f"Median cumulated errors with {percent(findings.level)} bootstrap bands.",
            f"Median cumulated errors on {rule} by episode, one curve a learner. At the end: "
            + joined([f"{x.learner} {interval(x.tce)}" for x in played])
            + ".",
            drawing_of(axes),
            median_rows(curves),
        )
    ]


def _summary_figures(findings: Findings) -> list[Figure]:
    """Return the summaries over all rules, if there is more than one rule to sum up."""
    estimates = findings.estimates
    if not estimates or estimates[0].n_tasks < 2:
        return []
    methods = joined(list(dict.fromkeys(e.method.replace("_", " ") for e in estimates)))
    figure = Figure(
        "summaries",
        "Over all rules",
        f"Summaries of the TCE over {counted(estimates[0].n_tasks, 'rule')} that all learners "
        f"played, with {percent(findings.level)} intervals ({methods}). Fewer is better. Errors "
        "are not normalized, so rules on which many are made weigh more.",
        "Mean, median and interquartile mean of the errors of each learner: "
        + joined([f"{e.algorithm} {e.metric} {e.value:,.0f}" for e in estimates])
        + ".",
        interval_panels(
            estimates, xlabel="terminal cumulated errors", series=_learner_series(findings)
        ),
        interval_rows(estimates),
        wide=True,
    )
    return [figure]


def _learning(findings: Findings) -> Section:
    """Tell in how many trials a rule was learned, and after how many errors."""
    rows = tuple(
        (
            x.rule,
            x.learner,
            f"{x.n_learned} of {x.n_trials}",
            interval(x.to_learn),
        )
        for rule in findings.rules
        for x in findings.performances.values()
        if x.rule == rule
    )
    table = Table(
        "Learned",
        ("rule", "learner", "trials that learned it", "median errors to learn"),
        rows,
        "A trial that never learned the rule counts as infinitely many errors, and is not left "
        f"out. In brackets: {percent(findings.level)} bootstrap interval of the median.",
    )
    text = (
        "This is another score than the TCE. A rule counts as learned with the first "
        f"{STREAK} finished episodes in a row without an error; the errors to learn are those "
        "before that streak."
    )
    return Section("learned", "Was it learned?", (text,), (table,))


def _trials(findings: Findings) -> Section:
    """Show every trial."""
    figures = tuple(_trial_figure(findings, x) for x in findings.performances.values())
    text = (
        "Each thin line is a trial, the dark one their median. At the right of each figure: where "
        "the trials ended, and the density of that on the same scale."
    )
    return Section("trials", "Every trial", (text,), (), figures)


def _trial_figure(findings: Findings, x: Performance) -> Figure:
    name = f"trials-{_number_of(findings, x.learner, x.rule)}"
    color = series_style(_rule_series(findings)[x.rule]).color
    worst = float(x.ends.max())
    return Figure(
        name,
        f"{x.learner} on {x.rule}",
        f"{counted(x.n_trials, 'trial')}; median TCE {interval(x.tce)}, least "
        f"{x.ends.min():,.0f}, most {worst:,.0f}.",
        f"Cumulated errors by episode of {counted(x.n_trials, 'trial')} of {x.learner} on "
        f"{x.rule}; they end between {x.ends.min():,.0f} and {worst:,.0f}.",
        cumulated_error_curves(x.errors, color=color),
        cumulated_error_rows(x.errors),
    )


def _game(findings: Findings) -> Section:
    """Show a board and the rules, which are no secret here."""
    config = findings.config
    board = draw_boards(1, config.board, rng=np.random.default_rng(config.seed))[0]
    figure = Figure(
        "board",
        "A board",
        "The player picks a piece and a bucket at a corner, and learns only whether the rule "
        "accepts it. An accepted piece leaves the board.",
        "A board of six by six numbered cells with pieces of several shapes and colours, and four "
        "buckets, 0 at the top left and on clockwise.",
        drawing_of(draw_board(board, spec=config.board)),
        board_rows(board, spec=config.board),
    )
    listings = []
    for rule in config.rules:
        about = info_of(rule.name, rule.rule_set)
        heading = f"{rule.name}: {about.sentence}" if about.sentence else rule.name
        lines = [line for line in rule.text.splitlines() if not line.lstrip().startswith("#")]
        listings.append((heading, "\n".join(lines).strip()))
    return Section("game", "The game and its rules", (), (), (figure,), tuple(listings))


def _failures(findings: Findings) -> Section | None:
    """List all failed trials, if there are more than the notice at the top holds."""
    if len(findings.failed) <= 5:
        return None
    rows = tuple(tuple(line.split(": ", 1)) for line in findings.failed)
    return Section("failed", "Failed trials", (), (Table("Failed", ("trial", "error"), rows),))


def _card(findings: Findings) -> tuple[tuple[str, str], ...]:
    """Return how the run and the report were made."""
    config = findings.config
    board = config.board
    learners = [
        (f"learner {x.name}", _settings(x.kind, list(x.params.items()))) for x in config.learners
    ]
    return (
        ("experiment", config.name),
        ("rules", joined([rule.name for rule in config.rules])),
        *learners,
        ("shown the rule (reveal)", joined(findings.revealed) or "no learner"),
        ("trials", f"{config.trials} of each learner on each rule"),
        ("episodes", f"{config.episodes} in a trial"),
        ("horizon", f"{config.horizon} attempts in an episode"),
        (
            "boards",
            f"{_range(board.pieces)} pieces, {_range(board.shapes)} shapes, "
            f"{_range(board.colors)} colours",
        ),
        ("errors", "denied attempts, and attempts on empty cells or on pieces that cannot move"),
        ("finished", "a board that is cleared or stuck (a stalemate)"),
        ("seed of the run", str(config.seed)),
        ("intervals", f"bootstrap, {findings.n_resamples:,} resamples, seed {findings.seed}"),
        ("confidence level", percent(findings.level)),
        ("hash of the experiment", config.hash[:16]),
        ("played by", f"gnomon {findings.version}"),
        ("reported by", f"gnomon {__version__}, numpy {np.__version__}"),
    )


def _settings(kind: str, settings: Sequence[tuple[str, object]]) -> str:
    words = [f"{name} = {value}" for name, value in settings]
    return f"{kind}: {', '.join(words)}" if words else kind


def _range(ends: tuple[int, int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
