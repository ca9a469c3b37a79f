"""Pages of audits: what a table of scores holds, and how reliable its order is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from gnomon.errors import counted, joined
from gnomon.plot.figure import Figure
from gnomon.plot.maps import win_figure
from gnomon.ranking import Audit, ItemAudit, Statement
from gnomon.ranking.audits import NOT_IN_TABLES, TITLES, scale_in_words
from gnomon.ranking.item_audit import ITEM_TITLES
from gnomon.ranking.ranks import rank_range, tier_text
from gnomon.reports.page import Answer, Report, Section, Table, percent
from gnomon.stats.estimates import Estimate

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
    first = [one.name for one in ranking if one.rank_low == 1]
    n = len(ranking.names) - 1
    apart = sum(bool(ranking.separated[i, i + 1]) for i in range(n))
    shown = first if len(first) <= MOST_NAMED else [*first[:MOST_NAMED], "another"]
    sentence = f"{first[0]}." if len(first) == 1 else f"{joined(shown, 'or')}"
    if len(first) > 1:
        sentence += f" ({len(first)} in all)" if len(first) > MOST_NAMED else ""
        sentence += ": the data do not say which."
    return sentence, f"Of {counted(n, 'pair')} of neighbours in the order, {apart} are separated."


def _depends(audit: Audit) -> tuple[str, ...]:
    """Return in one sentence whether the metric changes the order."""
    return (f"Metric: {_moved(audit)}.",)


def _moved(audit: Audit) -> str:
    """Return which metrics give another order, or why that is not known."""
    found = [f for f in audit if f.section == "metrics"]
    if found[0].name == "none":
        return found[0].finding
    movers = list(dict.fromkeys(f.name for f in found if f.value))
    verb = "gives" if len(movers) == 1 else "give"
    text = f"{joined(movers)} {verb} another order" if movers else "no, all give the same order"
    return _with_unknown(text, found)


def _with_unknown(text: str, found: Sequence[Statement]) -> str:
    """Return the text with those metrics that have nothing to say, since some runs are censored."""
    unknown = [f.name for f in found if f.value is None]
    if len(unknown) == len(found):
        return "not estimable, some runs are censored"
    return f"{text}; {joined(unknown)} not estimable" if unknown else text


def _section(audit: Audit, name: str, heading: str) -> Section:
    tables = {"estimates": _estimates, "ranks": _ranks}
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
    caption = sentence(scale_in_words(audit.table))
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
            one.name,
            "not estimable" if math.isnan(one.value) else f"{one.value:.3f}",
            _interval(one.low, one.high, 3),
            rank_range(one.rank_low, one.rank_high),
            tier_text(one.tiers),
        )
        for one in ranking
    )
    columns = ("algorithm", "mean win probability", "interval", "rank", "tier")
    caption = " ".join((f"Simultaneous intervals at {percent(ranking.level)}.", *ranking.notes))
    return (Table("Ranks", columns, rows, caption),)


def _interval(low: float, high: float, digits: int) -> str:
    if math.isnan(low) or math.isnan(high):
        return "not estimable"
    return f"{low:.{digits}f} to {high:.{digits}f}"


def _figures(audit: Audit, name: str) -> tuple[Figure, ...]:
    if name != "ranks":
        return ()
    figures = (audit.ranking.figure(), cast(Figure, win_figure(audit.ranking)))
    if audit.critical_difference is None:
        return figures
    return (*figures, audit.critical_difference.figure())
