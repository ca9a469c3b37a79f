"""The page of a run: the report as a whole, its sections, and how the run was played."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from types import NoneType

import numpy as np

from gnomon import __version__
from gnomon.errors import check_count, check_level, check_type, counted, joined
from gnomon.plot.style import default_settings
from gnomon.printing import p_value, percent
from gnomon.reports import Answer, Report, Section, Table, try_place
from gohr.experiments import Run
from gohr.experiments.config import ExperimentConfig
from gohr.experiments.metrics import STREAK
from gohr.experiments.rule_elements import Elements
from gohr.experiments.rule_tags import TagEffects
from gohr.induction import Induction
from gohr.induction.diagnosis_page import losses_section
from gohr.rules.catalogue import info_of
from gohr.run_page.figures import board_figure, box_figure, curve_figure, trial_figure
from gohr.run_page.findings import Findings, findings_of


def report(
    run: str | os.PathLike[str] | Run,
    out: str | os.PathLike[str] | None = None,
    *,
    level: float = 0.95,
    seed: int = 0,
    baseline: str | None = None,
    conclude_after: int | None = None,
) -> Path:
    """Write the report of a run: one page to open in a browser.

    The page begins with the main results: which rule is hardest for which learner, which learner is
    better, and with what certainty. Style and drawings are inside it.

    Parameters
    ----------
    run : path or Run
        A run folder, finished or not, or the return value of :func:`gohr.run`.
    out : path, optional
        A folder for ``report.html``, ``figures/`` and ``tables/``; or a name that ends in
        ``.html``, for the page alone, or in ``.md``, for a short page in Markdown. By default
        ``report`` in the run folder.
    level : float
        Confidence level of intervals and decisions, between 0 and 1.
    seed : int
        Seed of bootstrap resamples. The same run, seed and version give the same bytes.
    baseline : str, optional
        The rule to compare the others with (:func:`gohr.elements`); by default that of the
        experiment, if it has one.
    conclude_after : int, optional
        Let the learners conclude after this number of boards of each trial, and show whether their
        tests or their inference cost test boards (:func:`gohr.induction.outcomes_of_run`). This
        takes up to half a second for each trial.

    Returns
    -------
    Path
        The path of the page.

    Raises
    ------
    GnomonError
        The run does not exist, or is damaged.
    OSError
        The report cannot be written; nothing is written then.
    ValueError
        `level` is not between 0 and 1.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = gohr.report(gohr.run(config, folder))
    ...     page.name, "Which rule is hardest?" in page.read_text()
    ('report.html', True)
    """
    check_level(level)
    check_count("seed", seed, 0)
    check_type("out", out, (str, os.PathLike, NoneType), "the path of a folder or a page")
    folder = run if isinstance(run, Run) else Run.open(run)
    place = Path(out or folder.path / "report")
    try_place(place)
    findings = findings_of(folder, seed=seed, level=level, baseline=baseline)
    concluded = None
    if conclude_after is not None:
        from gohr.induction import outcomes_of_run  # loads Numba, which nothing else here needs

        concluded = outcomes_of_run(folder, conclude_after)
    with default_settings():
        return report_of(findings, concluded).save(place)


def report_of(findings: Findings, concluded: Induction | None = None) -> Report:
    """Return the report of the findings of a run, and of what its learners concluded."""
    config = findings.config
    sections = [_difficulty(findings)] if findings.performances else []
    if findings.elements:
        sections.append(_elements(findings.elements))
    if findings.tags:
        sections.append(_tags(findings.tags))
    if len(findings.learners) > 1:
        sections.append(_learners(findings))
    if concluded:
        own = concluded.where(tester="own")
        sections.append(losses_section(own.losses(), concluded.cells()))
    if findings.performances:
        figures = tuple(trial_figure(findings, x) for x in findings.performances.values())
        text = "Each thin line is a trial, the dark one their median."
        sections.append(Section("trials", "Every trial", (text,), (), figures))
    at_most = "at most " if config.recorded is not None else ""
    return Report(
        title=config.name,
        subtitle=(
            f"{counted(len(config.rules), 'hidden rule')}, "
            f"{counted(len(config.learners), 'learner')}, "
            f"{at_most}{counted(config.trials, 'trial')} each of "
            f"{at_most}{counted(config.episodes, 'episode')}"
        ),
        answers=(*_answers(findings), *_conclusions(concluded)),
        notices=findings.caveats(),
        sections=(*sections, _game(config)),
        card=_card(findings),
    )


def _answers(findings: Findings) -> tuple[Answer, ...]:
    """Return the answers at the top of the page."""
    if not findings.performances:
        return (Answer("What was found?", ("No trial is done yet.",)),)
    hardest = tuple(map(findings.difficulty, findings.learners))
    answers = [Answer("Which rule is hardest?", hardest)]
    if findings.elements:
        answers.append(Answer("What makes a rule harder?", findings.elements.sentences()))
    if len(findings.learners) > 1:
        pairs = combinations(findings.learners, 2)
        answers.append(
            Answer("Which learner is better?", tuple(findings.comparison(a, b) for a, b in pairs))
        )
    answers.append(Answer("How certain is that?", _certainty(findings)))
    return tuple(answers)


def _conclusions(concluded: Induction | None) -> tuple[Answer, ...]:
    if not concluded:
        return ()
    n_boards = concluded[0].n_boards
    title = f"What did they conclude after {counted(n_boards, 'board')}, and where did they fail?"
    return (Answer(title, concluded.where(tester="own").sentences()),)


def _certainty(findings: Findings) -> tuple[str, ...]:
    sizes = [x.n_trials for x in findings.performances.values()]
    least, most = min(sizes), max(sizes)
    trials = counted(most, "trial") if least == most else f"{least} to {most} trials"
    sure = (
        f"Each statement is based on {trials} of each learner on each rule. Brackets show "
        f"{percent(findings.level)} bootstrap intervals of medians."
    )
    tests = (
        "Differences between rules and between learners are tested by Mann-Whitney tests, or "
        "between rules by Gehan's test where some trials did not learn a rule, with Holm's "
        f"correction at an error rate of {percent(1 - findings.level)} for each family."
    )
    if least < 5:
        tests += " Fewer than five trials can rarely show a difference."
    return sure, tests


def _difficulty(findings: Findings) -> Section:
    """Describe how hard each rule is for each learner."""
    names = findings.learners
    order = Table(
        "Order of difficulty",
        ("learner", "from hardest to easiest"),
        tuple((learner, findings.order_of(learner)) for learner in names),
        "> where two neighbours differ significantly (Mann-Whitney test, or Gehan's where some "
        "trials did not learn a rule; Holm's correction); ≈ where they do not, or no trial learned "
        "either.",
    )
    rows = tuple(
        (rule, learner, x.median, f"{x.n_learned} of {x.n_trials}")
        for rule in findings.rules
        for learner in names
        if (x := findings.performances.get((learner, rule)))
    )
    return Section(
        "difficulty",
        "Which rule is hardest?",
        (
            "A rule is harder if a learner makes more errors on it. The terminal cumulated error "
            "(TCE) of a trial is the total number of its errors, over "
            f"{counted(findings.config.episodes, 'episode')} of at most "
            f"{counted(findings.config.horizon, 'attempt')}. An attempt on an empty cell is an "
            "error too.",
        ),
        (
            *(order,) * (len(findings.rules) > 1),
            Table(
                "Median terminal cumulated error",
                ("rule", "learner", "median", "trials that learned it"),
                rows,
                f"Brackets show the {percent(findings.level)} bootstrap interval of the median. A "
                f"rule is learned with {STREAK} finished episodes in a row without an error.",
            ),
        ),
        # One kind of figure after another, so that the learners are side by side.
        tuple(make(findings, name) for make in (curve_figure, box_figure) for name in names),
    )


def _elements(found: Elements) -> Section:
    """Compare every rule with the baseline."""
    text = (
        f"Each rule is compared with the baseline {found.settings['baseline']} by the errors of "
        "the trials. The errors of a trial that never learned its rule are a lower bound.",
        *found.warnings,
    )
    tables = (_table(found, found.notes),)
    return Section("elements", "What makes a rule harder?", text, tables, (found.figure(),))


def _tags(found: TagEffects) -> Section:
    """Show what each tag of the rules costs each learner."""
    text = ("The rules are the sample: with few rules the intervals are wide.", *found.warnings)
    tables = (_table(found.where(versus=""), found.notes[:1]),)
    return Section("tags", "Elements over all rules", text, tables, (found.figure(),))


def _table(found: Elements | TagEffects, notes: Sequence[str]) -> Table:
    rows = tuple(tuple(str(row[name]) for name in found.columns) for row in found.rows())
    return Table(found.title, found.columns, rows, f"{'. '.join(notes)}.")


def _learners(findings: Findings) -> Section:
    """Compare the learners, rule by rule."""
    rows = []
    for duel in findings.duels:
        winner = findings.winner(duel)
        share = f"{100 * max(duel.value, 1.0 - duel.value):.0f}\xa0%" if winner else ""
        between, p = f"{duel.a} and {duel.b}", p_value(duel.p_adjusted)
        rows.append((str(duel.task), between, winner or "undecided", share, p))
    table = Table(
        "Learner against learner",
        ("rule", "between", "fewer errors", "pairs of trials won", "p (Holm)"),
        tuple(rows),
        "Every trial of one learner is compared with every trial of the other on the same rule; "
        "a tie counts one half. The p-value is that of the two-sided Mann-Whitney test, corrected "
        "for the number of rows.",
    )
    return Section("learners", "Which learner is better?", (), (table,))


def _game(config: ExperimentConfig) -> Section:
    """Show a board and the rules, which are not secret here."""
    listings = []
    for rule in config.rules:
        about = info_of(rule.name, rule.rule_set)
        heading = f"{rule.name}: {about.sentence}" if about.sentence else rule.name
        lines = [line for line in rule.text.splitlines() if not line.lstrip().startswith("#")]
        listings.append((heading, "\n".join(lines).strip()))
    figures = (board_figure(config),)
    return Section("game", "The game and its rules", (), (), figures, tuple(listings))


def _card(findings: Findings) -> tuple[tuple[str, str], ...]:
    """Return names and values: all that decided the numbers of the report."""
    config = findings.config
    at_most = "at most " if config.recorded is not None else ""
    learners = []
    for x in config.learners:
        settings = ", ".join(f"{name} = {value}" for name, value in x.params.items())
        learners.append((f"learner {x.name}", f"{x.kind}: {settings}" if settings else x.kind))
    return (
        ("experiment", config.name),
        ("rules", joined([rule.name for rule in config.rules])),
        *learners,
        ("shown the rule (reveal)", joined(config.revealed_to) or "no learner"),
        ("trials", f"{at_most}{config.trials} of each learner on each rule"),
        ("episodes", f"{at_most}{config.episodes} in a trial"),
        ("horizon", f"{config.horizon} attempts in an episode"),
        ("boards", _boards(config)),
        ("errors", "denied attempts, and attempts on empty cells or on pieces that cannot move"),
        ("finished", "a board that is cleared or stuck (a stalemate)"),
        ("seed of the run", str(config.seed)),
        ("intervals", f"bootstrap, seed {findings.seed}"),
        ("confidence level", percent(findings.level)),
        ("hash of the experiment", config.hash[:16]),
        ("played by", f"gohr {findings.run.version}, {findings.run.software}"),
        ("reported by", f"gnomon {__version__}, numpy {np.__version__}"),
    )


def _boards(config: ExperimentConfig) -> str:
    """Describe how boards are drawn, or that they are recorded."""
    if config.recorded is not None:
        return "recorded, those of each trial"
    board = config.board
    ranges = {"pieces": board.pieces, "shapes": board.shapes, "colours": board.colors}
    return "drawn: " + ", ".join(
        f"{low} {name}" if low == high else f"{low} to {high} {name}"
        for name, (low, high) in ranges.items()
    )
