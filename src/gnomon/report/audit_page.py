"""Pages of audits: what a table of scores holds, and how far its order can be believed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from gnomon.errors import counted, joined
from gnomon.plot.graphs import tournament_graph, tournament_rows
from gnomon.plot.heat_maps import ease_figure
from gnomon.plot.record import Figure
from gnomon.ranking import Audit, CriticalDifference, ItemAudit, Ranking, Statement
from gnomon.ranking.audits.audit_table import TITLES
from gnomon.ranking.audits.item_audit import ITEM_TITLES
from gnomon.ranking.audits.statements import NOT_IN_TABLES, scale_in_words
from gnomon.ranking.ranks.ranking import rank_range
from gnomon.ranking.ranks.tie_groups import group_letters
from gnomon.report.page import Answer, Report, Section, Table
from gnomon.report.sentences import percent
from gnomon.stats.estimate_records import Estimate

#: A sentence names so many at most.
MOST_NAMED = 8
#: The top of the page tells so many notes at most.
MOST_NOTES = 12


def audit_report(audit: Audit, title: str) -> Report:
    """Return the page of an audit as data.

    Parameters
    ----------
    audit : Audit
        From :func:`gnomon.ranking.audit`.
    title : str
        What was audited.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.ranking import audit
    >>> from gnomon.scores.table import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> table = ScoreTable.from_arrays({a: rng.normal(size=(5, 3)) for a in ("dqn", "sac")})
    >>> page = audit_report(audit(table, n_resamples=100), "scores.csv")
    >>> page.answers[0].question
    'Who is on top?'
    """
    table, settings = audit.table, audit.settings
    drawn = settings["resampling"].replace("_", " ")
    return Report(
        title=title,
        subtitle=audit[0].finding,
        answers=(
            Answer("Who is on top?", _top(audit)),
            Answer("What does the order depend on?", _depends(audit)),
            Answer("What would settle it?", _said(audit, "runs")),
        ),
        sections=tuple(_section(audit, name, heading) for name, heading in TITLES.items()),
        notices=_notices(audit),
        card=(
            ("provenance", joined(table.provenance) or "not recorded"),
            ("confidence level", percent(audit.ranking.level)),
            ("resamples", f"{settings['n_resamples']:,} of {drawn}"),
            ("seed", "not recorded" if settings["seed"] is None else str(settings["seed"])),
            ("gnomon", settings["version"]),
        ),
        source="the table of scores",
    )


def item_audit_report(audit: ItemAudit, title: str) -> Report:
    """Return the page of the audit of an evaluation as data.

    Parameters
    ----------
    audit : ItemAudit
        From :func:`gnomon.ranking.audit`.
    title : str
        What was audited.
    """
    asked = {
        "What is missing?": "missing",
        "Do the items tell models apart?": "discrimination",
        "Are items there twice?": "duplicates",
    }
    answers = [Answer(question, _said(audit, name)) for question, name in asked.items()]
    sections = [Section(name, heading, _said(audit, name)) for name, heading in ITEM_TITLES.items()]
    settings = audit.settings
    return Report(
        title=title,
        subtitle=audit[0].finding,
        answers=tuple(one for one in answers if one.sentences),
        sections=tuple(one for one in sections if one.text),
        notices=_notices(audit),
        card=(
            ("provenance", joined(audit.table.provenance) or "not recorded"),
            ("score", audit.table.scale),
            ("seed", "not recorded" if settings["seed"] is None else str(settings["seed"])),
            ("gnomon", settings["version"]),
        ),
        source="the table of scores",
    )


def _notices(audit: Audit | ItemAudit) -> tuple[str, ...]:
    """Return the first notes, and how many more there are."""
    more = len(audit.warnings) - MOST_NOTES
    rest = (f"{counted(more, 'more note')}: gnomon audit prints them.",) if more > 0 else ()
    return audit.warnings[:MOST_NOTES] + rest


def _said(audit: Audit | ItemAudit, section: str) -> tuple[str, ...]:
    return tuple(sentence(f.finding) for f in audit if f.section == section)


def sentence(text: str) -> str:
    """Return a text with a full stop at its end, unless it ends in some."""
    return text if text.endswith(".") else f"{text}."


def _top(audit: Audit) -> tuple[str, ...]:
    """Return who may be first, and how many of the neighbours in the order are separated."""
    ranking = audit.ranking
    first = [n for n, low in zip(ranking.names, ranking.rank_low, strict=True) if low == 1]
    if len(ranking.components) > 1:
        return ("Some cannot be ordered against others: see the notice.",)
    n = len(ranking.names) - 1
    apart = sum(bool(ranking.separated[i, i + 1]) for i in range(n))
    shown = first if len(first) <= MOST_NAMED else [*first[:MOST_NAMED], "another"]
    sentence = f"{first[0]}." if len(first) == 1 else f"{joined(shown, 'or')}"
    if len(first) > 1:
        sentence += f" ({len(first)} in all)" if len(first) > MOST_NAMED else ""
        sentence += ": the data do not say which."
    return sentence, f"Of {counted(n, 'pair')} of neighbours in the order, {apart} are separated."


def _depends(audit: Audit) -> tuple[str, ...]:
    """Return in one sentence each whether method, metric and pool move anybody, if asked."""
    asked = {"methods": "Method", "metrics": "Metric", "pool": "Pool of competitors"}
    return tuple(f"{word}: {_moved(audit, section)}." for section, word in asked.items())


def _moved(audit: Audit, section: str) -> str:
    """Return who moves somebody, or why that is not known."""
    found = [f for f in audit if f.section == section]
    if found[0].name == "none":
        return found[0].finding
    movers = list(dict.fromkeys(f.name for f in found if f.value and f.name != "same order"))
    if section == "pool":
        asked = any(f.name == "asked" for f in found)
        return _left(movers, "whoever of the first ones leaves" if asked else "whoever leaves")
    verb = "orders" if len(movers) == 1 else "order"
    text = f"{joined(movers)} {verb} some pair otherwise" if movers else "no, all order alike"
    return _with_unknown(text, found) if section == "metrics" else text


def _with_unknown(text: str, found: Sequence[Statement]) -> str:
    """Return the text with those metrics that have nothing to say, since some runs are censored."""
    unknown = [f.name for f in found if f.value is None]
    if len(unknown) == len(found):
        return "not estimable, some runs are censored"
    return f"{text}; {joined(unknown)} not estimable" if unknown else text


def _left(movers: list[str], tried: str) -> str:
    """Return without whom the others' order changes; if nobody, who was tried."""
    if not movers:
        return f"no, {tried}"
    names = [name.removeprefix("without ") for name in movers[:MOST_NAMED]]
    more = len(movers) - len(names)
    names += [counted(more, "other")] if more else []
    return f"some pair changes places if {joined(names, 'or')} leaves"


def _section(audit: Audit, name: str, heading: str) -> Section:
    tables = {"estimates": _estimates, "ranks": _ranks, "methods": _methods}
    made = tables[name](audit) if name in tables else ()
    text = tuple(
        sentence(f.finding)
        for f in audit
        if f.section == name and not (made and f.name not in NOT_IN_TABLES)
    )
    return Section(name, heading, text, made, _figures(audit, name))


def _estimates(audit: Audit) -> tuple[Table, ...]:
    """Return one row for each algorithm, in the order of the ranking, and a column a metric."""
    if not audit.estimates:
        return ()
    found = {(e.algorithm, e.metric): e for e in audit.estimates}
    metrics = tuple(dict.fromkeys(e.metric for e in audit.estimates))
    rows = tuple(
        (name, *(_estimate(found[name, metric]) for metric in metrics))
        for name in audit.ranking.names
        if (name, metrics[0]) in found
    )
    caption = sentence(scale_in_words(audit.table, audit.ranking.names))
    return (Table("Summary scores", ("algorithm", *metrics), rows, caption),)


def _estimate(estimate: Estimate) -> str:
    """Return a value with its interval, as far as they exist."""
    low, high = estimate.low, estimate.high
    if math.isnan(estimate.value):
        return "not estimable"
    ends = "" if low != low or high != high else f" [{low:.3f}, {high:.3f}]"
    return f"{estimate.value:.3f}{ends}"


def _ranks(audit: Audit) -> tuple[Table, ...]:
    ranking = audit.ranking
    rows = tuple(
        (
            str(r["name"]),
            "not estimable" if r["rating"] is None else f"{r['rating']:.2f}",
            _interval(r["low"], r["high"], 2),
            rank_range(r["rank_low"], r["rank_high"]),
            group_letters(r["groups"]),
        )
        for r in ranking.as_records()
    )
    columns = ("algorithm", "rating", "interval", "rank", "tie group")
    caption = (
        "Ratings are mean log-odds, run against run, against everybody in the table (hodge). Ranks "
        f"hold together, at {percent(ranking.level)}. {LETTERS}"
    )
    return (Table("Ranks", columns, rows, caption),)


LETTERS = "Whoever shares a letter is not separated; whoever shares none may be: the ranks tell."


def _interval(low: float | None, high: float | None, digits: int) -> str:
    if low is None or high is None or low != low or high != high:
        return "not estimable"
    return f"{low:.{digits}f} to {high:.{digits}f}"


def _methods(audit: Audit) -> tuple[Table, ...]:
    if not audit.orders:
        return ()
    places = [dict(zip(order.names, order.places, strict=True)) for order in audit.orders]
    rows = tuple((name, *(str(place[name]) for place in places)) for name in audit.ranking.names)
    caption = (
        "Place of each by each method; what a method rates equal shares a place. Nash averaging "
        "and alpha-Rank are made to find the top, not to order the rest."
    )
    columns = ("algorithm", *(order.method for order in audit.orders))
    return (Table("Places by method", columns, rows, caption),)


def _figures(audit: Audit, name: str) -> tuple[Figure, ...]:
    match name:
        case "ranks":
            return (audit.ranking.figure(), ease_figure(audit.tournament, audit.ranking.names))
        case "methods" if audit.critical_difference is not None:
            return (_diagram(audit.critical_difference, audit.ranking),)
        case "cycles" if audit.intransitivity.decomposition.cycle_dimension > 0:
            return (_tournament_figure(audit),)
        case _:
            return ()


def _diagram(found: CriticalDifference, ranking: Ranking) -> Figure:
    """Return the diagram, with a word on why it may part others than the ranks do."""
    figure: Figure = found.figure()
    if ranking.resampling != "runs":
        return figure
    sample = (
        " Here the tasks are the sample, in the ranks above the runs: the two may separate "
        "different pairs."
    )
    return replace(figure, caption=figure.caption + sample)


def _tournament_figure(audit: Audit) -> Figure:
    cyclic = audit.intransitivity
    return Figure(
        "tournament",
        "The tournament",
        "Arrows from the better to the worse, the wider the clearer; dashed where they go against "
        "the ratings. Below: how much of the squared edges ratings explain, what is cyclic, and "
        "what would be of identical competitors (5 to 95 %).",
        "Graph of who beats whom.",
        tournament_graph(
            audit.tournament,
            cyclic.decomposition,
            null_band=(cyclic.null_low, cyclic.null_high),
        ),
        tournament_rows(audit.tournament, cyclic.decomposition),
    )
