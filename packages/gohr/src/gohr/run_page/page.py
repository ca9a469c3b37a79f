"""From findings to the report: its parts and their contents."""

from __future__ import annotations

from itertools import combinations, zip_longest

from gnomon.errors import counted
from gnomon.reports import Answer, Report, Section, Table, percent
from gnomon.tables import p_value
from gohr.experiments.config.predefined_boards import RecordedBoards
from gohr.experiments.rule_elements import Elements
from gohr.experiments.scoring.trial_scores import STREAK
from gohr.rules.catalogue import info_of
from gohr.run_page.card import card_of
from gohr.run_page.figures import (
    board_figure,
    difficulty_figures,
    rule_figures,
    summary_figures,
    trial_figure,
)
from gohr.run_page.findings import Duel, Findings
from gohr.run_page.sentences import difficulty_sentence, duel_sentence, interval, order_of, trouble


def report_of(findings: Findings) -> Report:
    """Return the report of the findings of a run."""
    config = findings.config
    played = bool(findings.performances)
    sections = [
        *([_difficulty(findings)] if played else []),
        *([_elements(findings.elements)] if findings.elements else []),
        *([_learners(findings)] if len(findings.learners) > 1 else []),
        *([_learning(findings), _trials(findings)] if played else []),
        _game(findings),
        _failures(findings),
    ]
    at_most = "at most " if isinstance(config.predefined, RecordedBoards) else ""
    return Report(
        title=config.name,
        subtitle=(
            f"{counted(len(config.rules), 'hidden rule')}, "
            f"{counted(len(config.learners), 'learner')}, "
            f"{at_most}{counted(config.trials, 'trial')} each of "
            f"{at_most}{counted(config.episodes, 'episode')}"
        ),
        answers=_answers(findings),
        notices=trouble(findings),
        sections=tuple(section for section in sections if section is not None),
        card=card_of(findings),
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
    if findings.elements:
        answers.append(Answer("What makes a rule harder?", findings.elements.sentences()))
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
    return sure, tests


def _difficulty(findings: Findings) -> Section:
    """Describe how hard each rule is for each learner."""
    names = findings.learners
    by_learner = [difficulty_figures(findings, learner) for learner in names]
    # One kind of figure after another, so that the learners are side by side.
    figures = [f for kind in zip_longest(*by_learner) for f in kind if f is not None]
    rows = tuple(
        (rule, *(_median_cell(findings, learner, rule) for learner in names))
        for rule in findings.rules
    )
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
            *(_order_table(findings),) * (len(findings.rules) > 1),
            Table(
                "Median terminal cumulated error",
                ("rule", *names),
                rows,
                f"In brackets the {percent(findings.level)} bootstrap interval of the median.",
            ),
        ),
        tuple(figures),
    )


def _order_table(findings: Findings) -> Table:
    return Table(
        "Order of difficulty",
        ("learner", "from hardest to easiest"),
        tuple((learner, order_of(findings, learner)) for learner in findings.learners),
        "> where the trials separate two neighbours, ≈ where they do not decide.",
    )


def _elements(found: Elements) -> Section:
    """Compare every rule with the baseline."""
    rows = [tuple(str(row[name]) for name in found.columns) for row in found.rows()]
    table = Table(found.title, found.columns, tuple(rows), f"{'. '.join(found.notes)}.")
    text = (
        f"Each rule is compared with {found.settings['baseline']}, the baseline of the experiment, "
        "by the errors of the trials. The errors of a trial that never learned its rule are a "
        "lower bound.",
        *found.warnings,
    )
    return Section("elements", "What makes a rule harder?", text, (table,), (found.figure(),))


def _median_cell(findings: Findings, learner: str, rule: str) -> str:
    found = findings.performances.get((learner, rule))
    return interval(found.tce) if found else "not played"


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
    figures = [f for rule in findings.rules for f in rule_figures(findings, rule)]
    figures += summary_figures(findings)
    text = (f"To be read with care: {'; '.join(findings.warnings)}.",) if findings.warnings else ()
    return Section("learners", "Which learner is better?", text, (table,), tuple(figures))


def _duel_cells(duel: Duel, level: float) -> tuple[str, ...]:
    """Return the row of a table for a comparison."""
    share = max(duel.share, 1.0 - duel.share)
    winner = duel.winner(level)
    return (
        duel.rule,
        f"{duel.a} and {duel.b}",
        winner or "undecided",
        f"{100 * share:.0f}\xa0%" if winner else "",
        p_value(duel.p_value),
    )


def _learning(findings: Findings) -> Section:
    """Describe in how many trials a rule was learned, and after how many errors."""
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
    figures = tuple(trial_figure(findings, x) for x in findings.performances.values())
    text = (
        "Each thin line is a trial, the dark one their median. At the right of each figure: where "
        "the trials ended, and the density of that on the same scale."
    )
    return Section("trials", "Every trial", (text,), (), figures)


def _game(findings: Findings) -> Section:
    """Show a board and the rules, which are not secret here."""
    config = findings.config
    figure = board_figure(config)
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
