"""The page of an evaluation: which model is better, where, on which items, and at what cost."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from gnomon._version import __version__
from gnomon.errors import counted, joined, shortened
from gnomon.plot.figure import Figure
from gnomon.plot.style import default_settings, number
from gnomon.ranking.item_audit import ITEM_TITLES
from gnomon.ranking.ranks import Ranked, rank_range, tier_text
from gnomon.reports.evaluation_findings import EvaluationFindings, evaluation_findings
from gnomon.reports.page import (
    MOST_NAMED,
    MOST_NOTES,
    Answer,
    Report,
    Section,
    Table,
    percent,
    sentence,
)
from gnomon.scores.table import ScoreTable
from gnomon.stats import CostFront, ItemComparison, ItemComparisons
from gnomon.tables import p_value

#: Groups of items that a table and a figure show: those that carry most, and those that carry least
#: or go against the rest.
MOST_GROUPS, LAST_GROUPS = 15, 5
#: Letters of an item's text in a table.
_LONGEST = 300
#: Statements of the audit in a card.
_MOST_SAID = 3
#: Names of a front in a sentence.
_MOST_ON_FRONT = 4
#: Models that lack items, each with a note of its own.
_MOST_LACKING = 4
_LACKS = re.compile(r".* lacks [\d,]+ of [\d,]+ items? \(")


def evaluation_report(
    table: ScoreTable,
    title: str,
    *,
    pair: tuple[str, str] | None = None,
    by: Sequence[str] = (),
    level: float = 0.95,
    seed: int = 0,
) -> Report:
    """Return the page of an evaluation as data.

    Parameters
    ----------
    table : ScoreTable
        Of items, without steps.
    title : str
        What was evaluated.
    pair : (str, str), optional
        Two models to look at closely; the first two of the ranking, if not given.
    by : sequence of str
        Columns whose groups of items are compared; subtasks and clusters, if there are none.
    level : float
        Confidence level of all intervals and decisions, between 0 and 1.
    seed : int
        Of what the audit draws.

    Raises
    ------
    UnknownNameError
        There is no such model or column.

    Examples
    --------
    >>> scores = {"a": [[1, 1, 0, 1] * 8], "b": [[1, 0, 0, 1] * 8]}
    >>> table = ScoreTable.from_arrays(scores, units="items")
    >>> page = evaluation_report(table, "answers.csv")
    >>> page.answers[0].question, [section.name for section in page.sections][:3]
    ('Which model is better?', ['ranks', 'pairs', 'items'])
    """
    found = evaluation_findings(table, pair=pair, by=by, level=level, seed=seed)
    whole = found.closest
    sections = [
        _ranks(found),
        *([_pairs(found)] if found.comparisons else []),
        *(_group_section(found, column, one) for column, one in found.groups.items()),
        *([_items(found)] if found.items else []),
        *([_costs(found)] if found.costs else []),
        *_audit_sections(found),
    ]
    answers = [
        Answer("Which model is better?" if found.ranking else "How good is it?", _better(found)),
        *([Answer("Where do they differ?", _where(found, whole))] if whole is not None else []),
        *([Answer("What does it cost?", tuple(map(_cost, found.costs)))] if found.costs else []),
        Answer("Is the evaluation sound?", _believed(found)),
    ]
    notes = _notices(found)
    more = len(notes) - MOST_NOTES
    rest = (f"{counted(more, 'more note')}: gnomon estimate and audit print them.",) * (more > 0)
    return Report(
        title=title,
        subtitle=found.audit[0].finding,
        answers=tuple(answers),
        sections=tuple(sections),
        notices=(*notes[:MOST_NOTES], *rest),
        card=(
            ("provenance", joined(table.provenance) or "not recorded"),
            ("score", table.scale),
            ("confidence level", percent(level)),
            ("clusters", table.cluster or "none"),
            ("seed", str(seed)),
            ("gnomon", __version__),
        ),
        source="the table of scores",
    )


def _audit_sections(found: EvaluationFindings) -> list[Section]:
    """Return what the audit found, section by section."""
    said = {
        name: tuple(sentence(one.finding) for one in found.audit if one.section == name)
        for name in ITEM_TITLES
    }
    return [Section(name, ITEM_TITLES[name], texts) for name, texts in said.items() if texts]


def _notices(found: EvaluationFindings) -> tuple[str, ...]:
    """Return the notes; of many models that lack items one note, since a section names them."""
    lacking = [note for note in found.warnings if _LACKS.match(note)]
    if len(lacking) < _MOST_LACKING:
        return found.warnings
    text = (
        f"{counted(len(lacking), 'model')} lack items that another has, and are compared on those "
        "that both have: see what is missing, below"
    )
    return (text, *(note for note in found.warnings if note not in lacking))


def _better(found: EvaluationFindings) -> tuple[str, ...]:
    """Say who is first, by how much, and how sure that is."""
    if found.ranking is None:
        one = found.estimates[0]
        return (f"{one.algorithm}: {_value(one.value, one.low, one.high)}.",)
    whole = found.closest
    said = [] if whole is None else [_difference(found, whole)]
    if len(found.ranking.names) == 2:
        return tuple(said)
    ranked = found.ranking
    first = [one.name for one in ranked if one.rank_low == 1]
    shown = first if len(first) <= MOST_NAMED else [*first[:MOST_NAMED], "another"]
    top = f"{first[0]} is first of {len(ranked.names)} models, separated from all others."
    if len(first) > 1:
        top = f"{joined(shown, 'or')} may be first of {len(ranked.names)} models: they are not "
        top += "significantly different."
    return top, *said


def _difference(found: EvaluationFindings, one: ItemComparison) -> str:
    """Say by how much the better of two is better, or that the items do not say which is."""
    seen = f"{one.a} minus {one.b} is {_value(one.value, one.low, one.high)}"
    a_wins = (one.value > 0.0) == found.table.higher_is_better
    on = f"on {counted(one.n_items, 'item')}"
    if one.n_clusters is not None:
        on += f" in {counted(one.n_clusters, 'cluster')}"
    if math.isnan(one.low):
        return f"{seen} {on}."
    p = f"p {p_value(one.p_value, '= ')}"
    if len(found.table.algorithms) > 2 and not found.is_planned:
        p += f" by itself, {p_value(one.p_adjusted)} after Holm's correction over all pairs"
    if found.is_separated(one):
        winner, other = (one.a, one.b) if a_wins else (one.b, one.a)
        ends = (one.low, one.high) if one.value > 0.0 else (-one.high, -one.low)
        by = _value(abs(one.value), *ends)
        return f"{winner} is better than {other} by {by} {on} ({p})."
    told = f"this many items detect a difference of {one.detectable:.3g} with power 0.8"
    return f"{one.a} and {one.b} are not significantly different: {seen} {on} ({p}); {told}."


def _value(value: float, low: float, high: float) -> str:
    """Return a number with its interval, as far as they exist."""
    if math.isnan(value):
        return "not estimable"
    if math.isnan(low):
        return f"{value:.3g} (interval not estimable)"
    return f"{value:.3g} [{low:.3g} to {high:.3g}]".replace(" ", "\xa0")


def _where(found: EvaluationFindings, whole: ItemComparison) -> tuple[str, ...]:
    """Say on how many items two models differ, and which groups carry the difference."""
    said = [
        f"{whole.a} and {whole.b} differ on {found.n_differing:,} of "
        f"{counted(whole.n_items, 'item')}."
    ]
    if whole.only_a is not None and whole.only_b is not None:
        alone = f"{whole.a} alone solves {whole.only_a:,}, {whole.b} alone {whole.only_b:,}"
        said[0] = f"{said[0][:-1]}: {alone}."
    for column, groups in found.groups.items():
        parts = _by_size(groups)
        separated = [one.task or "" for one in parts if one.p_adjusted <= 1.0 - found.level]
        if not math.isnan(parts[0].share):
            most = [f"{one.task} carries {one.share:.0%}" for one in parts[:3]]
            said.append(f"By {column}, of the difference {joined(most)}.")
        told = joined(separated[:MOST_NAMED]) + (" and others" * (len(separated) > MOST_NAMED))
        said.append(
            f"By {column}, each by itself, they are separated on "
            f"{told or 'none'} ({counted(len(parts), 'group')}, Holm's correction)."
        )
    return tuple(said)


def _by_size(groups: ItemComparisons) -> list[ItemComparison]:
    """Return the groups, those that carry most of the difference first."""
    own = [one for one in groups if isinstance(one, ItemComparison) and one.task is not None]
    whole = sum(one.contribution for one in own)
    return sorted(own, key=lambda one: -math.copysign(1.0, whole) * one.contribution)


def _cost(front: CostFront) -> str:
    """Say which models are on the front of cost and score."""
    off = [one for one in front if not one.on_front]
    verb = "is" if len(front.front) == 1 else "are"
    text = f"Of {front.settings['cost']} and score, {_front(front)} {verb} on the Pareto front"
    text += ", the cheapest first" if len(front.front) > 1 else ""
    if len(off) == 1:
        text += f"; {off[0].algorithm} is not: {off[0].dominated_by} costs no more and is no worse"
    elif off:
        text += f"; of the other {len(off)} each is beaten by one that costs no more"
    return f"{text}."


def _front(front: CostFront) -> str:
    """Return the names on a front as a phrase, the middle of many left out."""
    names = front.front
    if len(names) > _MOST_ON_FRONT:
        names = (*names[:2], f"{len(names) - 3} more", names[-1])
    return joined(names)


def _believed(found: EvaluationFindings) -> tuple[str, ...]:
    """Return what the audit says first of what lacks, is there twice, or tells none apart."""
    said = []
    for section in ("missing", "duplicates", "discrimination", "range"):
        texts = [one.finding for one in found.audit if one.section == section]
        n = _MOST_SAID if section == "discrimination" else 1
        said += texts[:n]
        if section == "missing" and len(texts) > n:
            n_more = len(texts) - n
            verb = "shows" if n_more == 1 else "show"
            said.append(f"{counted(n_more, 'other model')} {verb} the same problem")
    return tuple(map(sentence, said))


def _ranks(found: EvaluationFindings) -> Section:
    """Return ranks, means and costs of all models."""
    of = {one.algorithm: one for one in found.estimates}
    costs = [{one.algorithm: one.cost for one in front} for front in found.costs]
    names = found.table.algorithms if found.ranking is None else found.ranking.names
    ranked = {one.name: one for one in found.ranking or ()}
    rows = tuple(
        (
            name,
            _value(of[name].value, of[name].low, of[name].high),
            *(_rank_cells(ranked[name]) if name in ranked else ()),
            f"{of[name].n_tasks:,}",
            *(number(cost[name]) if name in cost else "unknown" for cost in costs),
        )
        for name in names
    )
    columns = (
        *("model", found.table.metric),
        *(("rank", "tier") if ranked else ()),
        "items",
        *(f"{front.settings['cost']} a sample" for front in found.costs),
    )
    text = (
        "Means over items with {} intervals; the intervals of ranks are simultaneous. Models in "
        "the same tier are not significantly different."
    )
    caption = text.format(percent(found.level)) if ranked else ""
    numbers = found.estimates.as_records()
    table = Table("Models", columns, rows, caption, name="models", numbers=numbers)
    figures: tuple[Figure, ...] = ()
    if found.ranking is not None:
        with default_settings():
            figures = (found.ranking.figure(),)
    return Section("ranks", "Ranks", (), (table,), figures)


def _rank_cells(one: Ranked) -> tuple[str, ...]:
    ranks = rank_range(one.rank_low, one.rank_high)
    return ranks.replace(" ", "\xa0"), tier_text(one.tiers)


def _pairs(found: EvaluationFindings) -> Section:
    """Return the first model against each other one, or the only pair."""
    every = [one for one in found.comparisons or () if isinstance(one, ItemComparison)]
    first = found.table.algorithms[0]
    shown = [one for one in every if one.a == first or one is found.closest]
    rows = tuple(
        (
            one.b if one.a == first and len(shown) > 1 else f"{one.a} minus {one.b}",
            _value(one.value, one.low, one.high),
            _p(one),
            f"{one.n_items:,}",
            "not estimable" if math.isnan(one.detectable) else f"{one.detectable:.3g}",
            _unpaired(one),
        )
        for one in shown
    )
    columns = (
        "compared with" if len(shown) > 1 else "pair",
        "difference",
        "p",
        "items",
        "detectable",
        "unpaired",
    )
    corrected = f"p after Holm's correction over {len(every):,} pairs. " if len(every) > 1 else ""
    more = " The numbers hold every pair." if len(every) > len(shown) else ""
    which = f"{first} minus each other, on" if len(shown) > 1 else "On"
    caption = (
        f"{which} the items that both have. {corrected}Detectable: the smallest difference "
        "that this many items detect with power 0.8. Unpaired: the interval if each model had been "
        f"given items of its own.{more}"
    )
    numbers = [one.as_record() for one in every]
    table = Table("Differences", columns, rows, caption, name="pairs", numbers=numbers)
    # A single pair is drawn with its groups, if it has some.
    drawn = found.comparisons if len(shown) > 1 or not found.groups else None
    figures = _drawn(drawn, tuple(shown), "pair-differences", "Differences")
    return Section("pairs", "By how much?", (), (table,), figures)


def _p(one: ItemComparison) -> str:
    return p_value(one.p_adjusted).replace(" ", "\xa0")


def _unpaired(one: ItemComparison) -> str:
    if math.isnan(one.unpaired_low):
        return "not estimable"
    return f"{one.unpaired_low:.3g} to {one.unpaired_high:.3g}".replace(" ", "\xa0")


def _drawn(
    found: ItemComparisons | None, shown: tuple[ItemComparison, ...], name: str, title: str
) -> tuple[Figure, ...]:
    """Return the figure of some comparisons under a name of its own."""
    if found is None or not shown:
        return ()
    with default_settings():
        figure: Figure = replace(found, records=shown).figure()
    return (replace(figure, name=name, title=title, wide=len(shown) > 1),)


def _group_section(found: EvaluationFindings, column: str, groups: ItemComparisons) -> Section:
    """Return the pair on each group of items, with the share of the difference that it carries."""
    every = _by_size(groups)
    shown = every
    if len(every) > MOST_GROUPS + LAST_GROUPS:
        shown = [*every[:MOST_GROUPS], *every[-LAST_GROUPS:]]
    rows = tuple(
        (
            one.task or "",
            _value(one.value, one.low, one.high),
            _p(one),
            f"{one.n_items:,}",
            f"{one.contribution:.3g}",
            "-" if math.isnan(one.share) else f"{one.share:.0%}",
        )
        for one in shown
    )
    a, b = found.pair or ("", "")
    more = len(every) - len(shown)
    some = (
        f" {counted(more, 'group')} before the last {LAST_GROUPS}: in the numbers." if more else ""
    )
    caption = (
        f"{a} minus {b}, the groups that carry most first. p after Holm's correction over "
        f"{counted(len(every), 'group')}. Part: what a group adds to the whole difference; its "
        f"share is left out where the whole may be none.{some}"
    )
    columns = (column, "difference", "p", "items", "part", "share")
    numbers = [one.as_record() for one in groups]
    name = f"groups-{[*found.groups].index(column) + 1}"
    table = Table(f"By {column}", columns, rows, caption, name=name, numbers=numbers)
    whole = [one for one in groups if isinstance(one, ItemComparison) and one.task is None]
    figures = _drawn(groups, (*whole, *shown), f"{name}-differences", f"By {column}")
    return Section(name, f"Where: by {column}", (), (table,), figures)


def _items(found: EvaluationFindings) -> Section:
    """Return the items on which the pair differs most, with their texts."""
    a, b = found.pair or ("", "")
    has_text = any(one.text for one in found.items)
    has_others = len(found.table.algorithms) > 2
    rows = tuple(
        (
            one.item,
            *((shortened(" ".join(one.text.split()), _LONGEST),) if has_text else ()),
            f"{one.a:.3g}",
            f"{one.b:.3g}",
            *(("-" if math.isnan(one.others) else f"{one.others:.3g}",) if has_others else ()),
        )
        for one in found.items
    )
    others, text = ("others",) * has_others, ("text",) * has_text
    n = len(found.items)
    caption = f"Means over epochs; first those on which {a} scores more."
    if has_others:
        caption += " Others: the mean of all other models."
    if found.n_differing > n:
        caption += (
            f" {counted(n, 'item')} of {found.n_differing:,} on which they differ: those on which "
            "they differ most; of many that differ as much, some evenly spaced."
        )
    columns = ("item", *text, a, b, *others)
    numbers = [one.as_record() for one in found.items]
    table = Table("Deciding items", columns, rows, caption, name="items", numbers=numbers)
    return Section("items", "The items that decide", (), (table,))


def _costs(found: EvaluationFindings) -> Section:
    """Return what models cost against what they score."""
    with default_settings():
        figures = tuple(front.figure() for front in found.costs)
    text = (
        "On the Pareto front: no model is both cheaper and better. Points are compared, not their "
        "intervals: a model may be off the front by chance."
    )
    return Section("cost", "Cost against score", (text,), figures=figures)
