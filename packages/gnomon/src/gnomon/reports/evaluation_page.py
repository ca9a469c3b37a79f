"""The page of an evaluation: which model is better, and where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from gnomon.errors import ScoreDataError, counted, joined
from gnomon.plot.figure import Figure
from gnomon.printing import p_value, percent
from gnomon.ranking import audit, rank
from gnomon.ranking.audits import on_first_two
from gnomon.ranking.item_audit import ITEM_TITLES
from gnomon.ranking.ranks import rank_range, tier_text
from gnomon.reports.page import (
    Answer,
    Report,
    Section,
    Table,
    ahead,
    best_text,
    cell,
    order_answers,
    p_text,
    report_of,
    sentence,
)
from gnomon.results import noted
from gnomon.scores.table import ScoreTable
from gnomon.stats import Comparisons, compare, estimate
from gnomon.stats.comparison import chosen_pair
from gnomon.stats.items import Items
from gnomon.stats.vote_ratings import METRIC as VOTES

#: Groups of items that are shown.
MOST_GROUPS = 20
#: Findings of the audit in a card.
_MOST_SAID = 3
#: Groups in a sentence.
_MOST_GROUPS_NAMED = 8


def evaluation_report(
    table: ScoreTable,
    title: str,
    *,
    pair: tuple[str, str] | None = None,
    by: Sequence[str] = (),
    level: float = 0.95,
    seed: int = 0,
) -> Report:
    """Return the page of an evaluation as data; the options are those of :func:`report`."""
    found = _Findings(table, pair, by, level, seed)
    answers = [
        Answer("Which model is better?" if found.ranking else "How good is it?", _better(found)),
        *([Answer("Where do they differ?", _where(found))] if found.on_items else []),
        *(
            order_answers(found.ranking, on_first_two(found.ranking, found.table).finding)
            if found.ranking
            else ()
        ),
        Answer("Is the evaluation sound?", _sound(found)),
    ]
    sections = [
        _ranks(found),
        *([_pairs(found)] if found.every else []),
        *(_group_section(found, column, one) for column, one in found.groups.items()),
        *(
            Section(name, ITEM_TITLES[name], found.said(name))
            for name in ITEM_TITLES
            if found.said(name)
        ),
    ]
    return report_of(
        table, title, found.audit[0].finding, answers, sections, found.warnings,
        level=level, seed=seed, card={"score": table.scale, "clusters": table.cluster or "none"},
    )  # fmt: skip


class _Findings:
    """What the verbs return for a table of items, its models in the order of their means."""

    def __init__(
        self,
        table: ScoreTable,
        pair: tuple[str, str] | None,
        by: Sequence[str],
        level: float,
        seed: int,
    ) -> None:
        asked = None if pair is None else chosen_pair(table, *pair)
        self.level, self.is_planned = level, asked is not None
        with noted() as notes:
            self.estimates = estimate(table, level=level)
            sign = -1.0 if table.higher_is_better else 1.0
            value = {one.algorithm: sign * one.value for one in self.estimates}
            names = sorted(table.algorithms, key=lambda name: (np.isnan(value[name]), value[name]))
            self.table = table = _with_order(table, names)
            several = len(names) > 1
            self.ranking = rank(table, level=level) if several else None
            pairs = compare(table, level=level) if several else None
            self.comparisons = pairs
            #: Comparisons, whose fields of items are known.
            self.every: list[Any] = [*(pairs or ())]
            chosen = asked or (self.ranking.names[:2] if self.ranking else ())
            self.pair = cast(tuple[str, str], tuple(chosen))
            self.groups = self._compared_by(by)
        #: The comparison of the pair on all items that both have.
        self.closest = next((one for one in self.every if {one.a, one.b} == {*self.pair}), None)
        of_votes = self.closest is not None and self.closest.metric == VOTES
        self.on_items, self.unit = self.closest is not None and not of_votes, "item"
        if of_votes:
            self.unit = "vote"
        self.audit = audit(table, rng=seed)
        made: list[Any] = [self.estimates, pairs, *self.groups.values(), self.audit]
        self.warnings = [*notes, *(w for one in made if one is not None for w in one.warnings)]

    def _compared_by(self, by: Sequence[str]) -> dict[str, Comparisons]:
        """Compare the pair in groups of items: of the columns given, or subtasks and clusters."""
        usual = [c for c in ("subtask", self.table.cluster) if c in self.table.attributes]
        found: dict[str, Comparisons] = {}
        for column in dict.fromkeys([*by] or map(str, usual)):
            if not self.pair or (not by and len(self.table.rows.texts(column).names) < 2):
                continue
            try:
                found[column] = compare(self.table, *self.pair, "mean", by=column, level=self.level)
            except ScoreDataError:  # by default: no shared item, or items of one group alone
                if by:
                    raise
        return found

    def said(self, section: str) -> tuple[str, ...]:
        return tuple(sentence(one.finding) for one in self.audit if one.section == section)


def _with_order(table: ScoreTable, names: Sequence[str]) -> ScoreTable:
    places = [names.index(name) for name in table.algorithms]
    order = np.argsort(table.rows["algorithm"].mapped(places, 0), kind="stable")
    return replace(table, rows=table.rows.take(order))


# Answers


def _better(found: _Findings) -> tuple[str, ...]:
    if found.ranking is None:
        one = found.estimates[0]
        return (f"{one.algorithm}: {cell(one.value, one.low, one.high)}.",)
    said = () if found.closest is None else (_difference(found, found.closest),)
    return said if len(found.ranking.names) == 2 else (best_text(found.ranking, "model"), *said)


def _difference(found: _Findings, one: Any) -> str:
    """Return by how much the better of two models is better, if that is significant."""
    seen = f"{one.a} minus {one.b} is {cell(one.value, one.low, one.high)}"
    on = f"on {counted(one.n_items, found.unit)}"
    if one.n_clusters is not None:
        on += f" in {counted(one.n_clusters, 'cluster')}"
    if math.isnan(one.low):
        return f"{seen} {on}."
    p = p_text(one, 1 if found.is_planned else len(found.every))
    if (one.p_value if found.is_planned else one.p_adjusted) > 1.0 - found.level:
        items = counted(one.n_items, "item") if found.unit == "item" else "these votes"
        detectable = f"{items} detect {one.detectable:.3g} with power 0.8"
        return (
            f"{one.a} and {one.b} are not significantly different: {seen} {on} ({p}); {detectable}."
        )
    winner, other, by = ahead(one, found.table.higher_is_better)
    return f"{winner} is better than {other} by {cell(*by)} {on} ({p})."


def _where(found: _Findings) -> tuple[str, ...]:
    whole = cast(Any, found.closest)
    items = Items(found.table)
    a, b = (items.values[items.models.index(name)] for name in found.pair)
    n_differing = np.count_nonzero(np.nan_to_num(a - b))
    text = f"{whole.a} and {whole.b} differ on {n_differing:,} of {counted(whole.n_items, 'item')}"
    if whole.only_a is not None and whole.only_b is not None:
        text += f": only {whole.a} solves {whole.only_a:,}, only {whole.b} solves {whole.only_b:,}"
    said = [f"{text}."]
    for column, groups in found.groups.items():
        parts = _by_contribution(groups)
        if not math.isnan(parts[0].share):
            most = [f"{one.task} contributes {100 * one.share:.0f}\u00a0%" for one in parts[:3]]
            said.append(f"By {column}: {joined(most)} of the difference.")
        names = [one.task or "" for one in parts if one.p_adjusted <= 1.0 - found.level]
        shown = joined(names[:_MOST_GROUPS_NAMED]) + " and others" * (
            len(names) > _MOST_GROUPS_NAMED
        )
        over = f"Holm's correction over {counted(len(parts), 'group')}"
        said.append(f"By {column}: significant in {shown or 'no group'} ({over}).")
    return tuple(said)


def _by_contribution(groups: Comparisons) -> list[Any]:
    """Return the groups, the largest contributions to the difference first."""
    own: list[Any] = [one for one in groups if one.task is not None]
    sign = math.copysign(1.0, sum(one.contribution for one in own))
    return sorted(own, key=lambda one: -sign * one.contribution)


def _sound(found: _Findings) -> tuple[str, ...]:
    if found.unit == "vote":
        return found.said("missing")
    said: list[str] = []
    for section in ("missing", "order", "duplicates", "discrimination", "range"):
        texts = found.said(section)
        n = _MOST_SAID if section == "discrimination" else 1
        said += texts[:n]
        if section == "missing" and len(texts) > n:
            verb = "shows" if len(texts) == 2 else "show"
            said.append(f"{counted(len(texts) - n, 'other model')} {verb} the same problem.")
    return tuple(said)


# Sections


def _ranks(found: _Findings) -> Section:
    """Return ranks and means of all models."""
    of = {one.algorithm: one for one in found.estimates}
    names = found.ranking.names if found.ranking else found.table.algorithms
    ranks = {
        one.name: (
            rank_range(one.rank_low, one.rank_high).replace(" ", "\xa0"),
            tier_text(one.tiers),
        )
        for one in found.ranking or ()
    }
    rows = tuple(
        (
            name,
            cell(of[name].value, of[name].low, of[name].high),
            *ranks.get(name, ()),
            f"{of[name].n_tasks:,}",
        )
        for name in names
    )
    columns = (
        *("model", found.table.metric if found.unit == "item" else "rating"),
        *(("rank", "tier") if ranks else ()),
        f"{found.unit}s",
    )
    what = "Means over items" if found.unit == "item" else "Ratings by the Bradley-Terry model"
    text = f"{what} with {percent(found.level)} intervals."
    if ranks:
        text += " Intervals of ranks are simultaneous. Models in the same tier are not "
        text += "significantly different."
    numbers = found.estimates.as_records()
    latex = (found.ranking or found.estimates).to_latex()
    table = Table("Models", columns, rows, text, name="models", numbers=numbers, latex=latex)
    figures = () if found.ranking is None else (found.ranking.figure(),)
    return Section("ranks", "Ranks", (), (table,), figures)


def _pairs(found: _Findings) -> Section:
    """Return the first model against each other one, or the only pair."""
    first = found.table.algorithms[0]
    shown = tuple(one for one in found.every if one.a == first or one is found.closest)
    rows = tuple(
        (
            one.b if one.a == first and len(shown) > 1 else f"{one.a} minus {one.b}",
            cell(one.value, one.low, one.high),
            p_value(one.p_adjusted).replace(" ", "\xa0"),
            f"{one.n_items:,}",
            "not estimable" if math.isnan(one.detectable) else f"{one.detectable:.3g}",
        )
        for one in shown
    )
    columns = (
        "compared with" if len(shown) > 1 else "pair",
        *("difference", "p", f"{found.unit}s", "detectable"),
    )
    n = len(found.every)
    which = f"{first} minus each other model, on" if len(shown) > 1 else "On"
    caption = f"{which} the items that both have. "
    if found.unit == "vote":
        caption = "Leads in points, from all votes; votes: those between the two. "
    caption += f"p after Holm's correction over {n:,} pairs. " if n > 1 else ""
    caption += f"Detectable: the difference that these {found.unit}s detect with power 0.8."
    caption += " The numbers contain every pair." if n > len(shown) else ""
    numbers = [one.as_record() for one in found.every]
    table = Table("Differences", columns, rows, caption, name="pairs", numbers=numbers)
    # A single pair is drawn with its groups, if it has some.
    drawn = found.comparisons if len(shown) > 1 or not found.groups else None
    figures = _drawn(drawn, shown, "pair-differences", "Differences")
    return Section("pairs", "By how much?", (), (table,), figures)


def _drawn(
    found: Comparisons | None, shown: Sequence[Any], name: str, title: str
) -> tuple[Figure, ...]:
    """Return the figure of some comparisons under a name of its own."""
    if found is None or not shown:
        return ()
    figure: Figure = replace(found, records=tuple(shown)).figure()
    return (replace(figure, name=name, title=title, wide=len(shown) > 1),)


def _group_section(found: _Findings, column: str, groups: Comparisons) -> Section:
    """Return the pair in each group of items, with the group's share of the difference."""
    every = _by_contribution(groups)
    shown = every[:MOST_GROUPS]
    some = f" The first {MOST_GROUPS} of {len(every)} are shown." * (len(every) > MOST_GROUPS)
    rows = tuple(
        (
            one.task or "",
            cell(one.value, one.low, one.high),
            p_value(one.p_adjusted).replace(" ", "\xa0"),
            f"{one.n_items:,}",
            f"{one.contribution:.3g}",
            "-" if math.isnan(one.share) else f"{100 * one.share:.0f}\u00a0%",
        )
        for one in shown
    )
    caption = (
        f"{' minus '.join(found.pair)}, largest contributions first. p after Holm's correction "
        f"over {counted(len(every), 'group')}. Contributions add up to the whole difference; "
        f"shares are omitted where the whole difference may be 0.{some}"
    )
    columns = (column, "difference", "p", "items", "contribution", "share")
    numbers = [one.as_record() for one in groups]
    name = f"groups-{[*found.groups].index(column) + 1}"
    table = Table(f"By {column}", columns, rows, caption, name=name, numbers=numbers)
    whole = [one for one in groups if one.task is None]
    figures = _drawn(groups, (*whole, *shown), f"{name}-differences", f"By {column}")
    return Section(name, f"Where: by {column}", (), (table,), figures)
