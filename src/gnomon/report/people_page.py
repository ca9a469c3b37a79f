"""The page of people against learners: who is better, who masters what, who is like whom."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import partial

from matplotlib.figure import Figure as Drawing

from gnomon._version import __version__
from gnomon.errors import counted, joined, listed, shortened
from gnomon.plot import Figure, median_curves, median_rows
from gnomon.plot.curves import MedianCurve
from gnomon.plot.mastery import mastery_curves, mastery_rows
from gnomon.plot.style import HALF_WIDTH, HEIGHT, axes_for, drawing_of, number
from gnomon.ranking import TaskMastery
from gnomon.report.page import Answer, Report, Section, Table
from gnomon.report.people_findings import BOUNDS, PEOPLE, PeopleFindings, RuleFindings

#: More people than this are no table that anybody reads; longer guesses are cut.
_MOST_PEOPLE, _LONGEST_GUESS = 60, 160


def people_report(findings: PeopleFindings, title: str) -> Report:
    """Return the page as data.

    Parameters
    ----------
    findings : PeopleFindings
    title : str
        What was studied.
    """
    n_people = len(findings.players)
    named = listed(one.rule for one in findings.rules)
    players = dict.fromkeys(name for one in findings.rules for name in one.errors)
    series = {name: i for i, name in enumerate(players)}
    return Report(
        title,
        f"{counted(n_people, 'person', 'people')} on {counted(len(findings.rules), 'rule')}",
        (
            Answer("Do people make fewer errors than learners?", _against_sentences(findings)),
            Answer("Which rules do people master?", _mastery_sentences(findings)),
            Answer("Are there kinds of participants?", (_cluster_sentence(findings),)),
        ),
        (
            _against_section(findings),
            *(
                _rule_section(i, one, findings.level, series)
                for i, one in enumerate(findings.rules, 1)
            ),
            _people_section(findings),
            *([_guess_section(findings)] if findings.guesses else []),
        ),
        findings.notices,
        (("rules", named), ("seed", str(findings.seed)), ("gnomon", __version__)),
        "the transcripts and the run folders",
    )


def _against_sentences(findings: PeopleFindings) -> tuple[str, ...]:
    """Say against which learners people are better, worse, or not told apart."""
    sentences = []
    names = dict.fromkeys(one.learner for one in findings.against)
    for name in names:
        own = [one for one in findings.against if one.learner == name]
        sure = [one for one in own if one.p_adjusted <= 1 - findings.level]
        better = [one.rule for one in sure if one.share > 0.5]
        worse = [one.rule for one in sure if one.share < 0.5]
        parts = [f"fewer on {listed(better)}"] if better else []
        parts += [f"more on {listed(worse)}"] if worse else []
        rest = len(own) - len(sure)
        parts += [f"not told apart on {counted(rest, 'rule')}"] if rest else []
        sentences.append(f"Errors of people beside those of {name}: {'; '.join(parts)}.")
    return tuple(sentences) or ("There is no learner on these rules to compare with.",)


def _mastery_sentences(findings: PeopleFindings) -> tuple[str, ...]:
    found = []
    for one in findings.rules:
        of_people = one.masteries.where(task=PEOPLE)[0]
        found.append(
            f"{one.rule}: {of_people.n_learned} of {of_people.n} "
            f"({of_people.success_low:.0%} to {of_people.success_high:.0%}) within "
            f"{counted(one.n_boards, 'board')}."
        )
    return tuple(found)


def _cluster_sentence(findings: PeopleFindings) -> str:
    clusters = findings.clusters
    if not clusters.group_of:
        return "Not estimable: at least six participants with two rules each are needed."
    n_groups = max(clusters.group_of.values())
    clear = f"silhouette {clusters.silhouette:.2f}, p = {clusters.p_value:.3g}"
    if clusters.p_value > 1 - findings.level:
        return (
            f"Not that the data show: {n_groups} groups are no clearer than in data whose rules "
            f"have nothing to do with each other ({clear})."
        )
    sizes = [list(clusters.group_of.values()).count(k) for k in range(1, n_groups + 1)]
    return f"{n_groups} groups, of {joined([*map(str, sizes)])} people ({clear})."


def _against_section(findings: PeopleFindings) -> Section:
    rows = tuple(
        (
            one.rule,
            one.learner,
            str(one.n_people),
            str(one.n_trials),
            f"{one.share:.2f}",
            _unbroken(_p_text(one.p_value)),
            _unbroken(_p_text(one.p_adjusted)),
        )
        for one in findings.against
    )
    columns = ("rule", "learner", "people", "trials", "P(person makes fewer)", "p", "p adjusted")
    numbers = tuple(vars(one) for one in findings.against)
    table = Table(
        "People against each learner",
        columns,
        rows,
        "Mann and Whitney's test of errors after equally many boards; adjusted by Holm over all "
        "rows.",
        "against",
        numbers,
    )
    text = (
        f"{BOUNDS[0].capitalize()} eliminates rules by Bayes' theorem, and {BOUNDS[1]} tries "
        "anything at random: between these two, everybody should lie, but where a rule is none of "
        "those that the first thinks possible.",
        "Who mastered a rule and stopped is taken to make no error on the boards that are left. "
        "Attempts of learners on empty cells, which nobody can make on the page, do not count.",
    )
    return Section("against", "People and learners", text, tables=(table,) if rows else ())


def _p_text(p: float) -> str:
    return "-" if math.isnan(p) else "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def _rule_section(
    index: int, one: RuleFindings, level: float, series: Mapping[str, int]
) -> Section:
    stem = f"{index}-{re.sub('[^a-z0-9]+', '-', one.rule.lower()).strip('-') or 'rule'}"
    curves = one.curves(level)
    names = listed(one.errors)
    left = f" {counted(one.n_left_out, 'person', 'people')} stopped before and are left out."
    again = f" {one.n_again} later series of people who had met the rule before are left out."
    figures = (
        Figure(
            f"{stem}-curves",
            "Errors by board",
            f"Median cumulated errors with {level:.0%} intervals.",
            f"Median cumulated errors of {names} on {one.rule}, board by board.",
            partial(_drawn_curves, curves, series),
            median_rows(curves),
        ),
        Figure(
            f"{stem}-mastery",
            "Who had mastered it",
            "Share of people, and of trials of each learner, after so many attempts; the dot is "
            "the median.",
            f"Share of {names} that had mastered {one.rule}.",
            partial(_drawn_mastery, one, series),
            mastery_rows(one.masteries),
        ),
    )
    rows = tuple(
        (
            each.task,
            str(each.n),
            str(each.n_learned),
            _unbroken(
                f"{each.success_rate:.0%} ({each.success_low:.0%} to {each.success_high:.0%})"
            ),
            _unbroken(_median_text(each)),
        )
        for each in one.masteries
    )
    table = Table(
        "Mastery",
        ("player", "n", "mastered", "share", "median attempts"),
        rows,
        "Within these boards; medians are of all, who did not master the rule included.",
        f"{stem}-mastery",
        tuple(one.masteries.as_records()),
    )
    text = f"The first {counted(one.n_boards, 'board')}.{left if one.n_left_out else ''}"
    text += again if one.n_again else ""
    return Section(f"rule-{stem}", one.rule, (text,), tables=(table,), figures=figures)


def _unbroken(text: str) -> str:
    """Return a number with its interval on one line, for a table scrolls on a narrow screen."""
    return text.replace(" ", "\xa0")


def _median_text(one: TaskMastery) -> str:
    if math.isinf(one.median_low):
        return number(math.inf)
    return f"{number(one.median)} ({number(one.median_low)} to {number(one.median_high)})"


def _drawn_curves(curves: Sequence[MedianCurve], series: Mapping[str, int]) -> Drawing:
    return drawing_of(median_curves(curves, series=series))


def _drawn_mastery(one: RuleFindings, series: Mapping[str, int]) -> Drawing:
    ax = axes_for(None, HALF_WIDTH, HEIGHT, grid="both")
    return drawing_of(mastery_curves(one.masteries, series=series, ax=ax))


def _people_section(findings: PeopleFindings) -> Section:
    rules = [one.rule for one in findings.rules]
    best: dict[tuple[str, str], float] = {}
    for one in findings.measured:
        key = one.series.player, one.series.rule
        best[key] = min(best.get(key, math.inf), one.m_star)
    shown = findings.players[:_MOST_PEOPLE]
    rows = tuple(
        (
            who,
            str(findings.clusters.group_of.get(who, "-")),
            *(_attempts_text(best.get((who, rule))) for rule in rules),
        )
        for who in shown
    )
    more = len(findings.players) - len(shown)
    caption = "Attempts before mastery; -- where it was not reached, empty where not played."
    if more:
        caption += f" {counted(more, 'other person', 'other people')} stand in the file."
    numbers = tuple(
        {
            "player": who,
            "group": findings.clusters.group_of.get(who),
            **{rule: best.get((who, rule)) for rule in rules},
        }
        for who in findings.players
    )
    table = Table("Who masters what", ("player", "group", *rules), rows, caption, "people", numbers)
    return Section("people", "People one by one", (_cluster_sentence(findings),), tables=(table,))


def _attempts_text(m_star: float | None) -> str:
    return "" if m_star is None else "--" if math.isinf(m_star) else f"{m_star:.0f}"


def _guess_section(findings: PeopleFindings) -> Section:
    errors: dict[tuple[str, str, int], list[str]] = {}
    for one in findings.measured:
        key = one.series.player, one.series.rule, one.series.number
        errors[key] = [str(int((~one.accepted).sum())), "yes" if one.is_learned else "no"]
    rows = tuple(
        (
            guess.rule,
            guess.player,
            *errors.get((guess.player, guess.rule, guess.series), ["", ""]),
            "" if guess.confidence is None else str(guess.confidence),
            shortened(guess.text, _LONGEST_GUESS),
        )
        for guess in sorted(
            findings.guesses, key=lambda each: (each.rule, each.player, each.series, each.episode)
        )
    )
    columns = ("rule", "player", "errors", "mastered", "confidence", "guess")
    numbers = tuple(dict(zip(columns, row, strict=True)) for row in rows)
    caption = "Beside the errors of the series in which it was said."
    table = Table("Guesses", columns, rows, caption, "guesses", numbers)
    return Section("guesses", "What people thought", (), tables=(table,))
