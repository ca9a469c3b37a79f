"""The page of a table of scores: what it holds, estimates, profiles, improvement, ranks, audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from gnomon._version import __version__
from gnomon.errors import GnomonError, ScoreDataError, joined, listed
from gnomon.plot.style import default_settings
from gnomon.ranking import Audit, audit
from gnomon.ranking.audits import TITLES
from gnomon.reports.audit_page import audit_report
from gnomon.reports.evaluation_page import evaluation_report
from gnomon.reports.page import Answer, Report, Section
from gnomon.results import Results, noted
from gnomon.scores import at_common_step
from gnomon.stats import compare, curves, profile
from gnomon.stats.items import expect_items

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

#: More curves, or rows and columns of a map, than so many are no picture.
_MOST_DRAWN = 30
#: So many are readable at half the width of the page.
_MOST_HALF = 6
#: Of each part that is drawn: its heading, and how it is to be read.
_WORDS = {
    "profile": (
        "Performance profile",
        "The share of runs beyond each score: where one curve lies above another everywhere, its "
        "algorithm is better whatever the summary.",
    ),
    "improvement": (
        "Probability of improvement",
        "How likely a run of the one is better than a run of the other on the same task, averaged "
        "over tasks.",
    ),
    "curves": ("Learning curves", "The summary after each step."),
}


def scores_report(
    table: ScoreTable,
    title: str,
    *,
    pair: tuple[str, str] | None = None,
    by: Sequence[str] = (),
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Report:
    """Return the page of a table of scores as data.

    Parameters
    ----------
    table : ScoreTable
        With steps, the last one of each run counts, and curves are drawn.
    title : str
        What was measured.
    pair, by
        Of items, as in :func:`gnomon.reports.report`.
    level : float
        Confidence level of all intervals and decisions, between 0 and 1.
    n_resamples : int
        Number of resamples.
    seed : int
        Of all draws.

    Raises
    ------
    ScoreDataError
        A pair or groups are asked for, and the table is not of items.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.scores.table import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> table = ScoreTable.from_arrays({a: rng.normal(size=(5, 3)) for a in ("dqn", "sac")})
    >>> page = scores_report(table, "scores.csv", n_resamples=100)
    >>> [section.name for section in page.sections]
    ['table', 'estimates', 'profile', 'improvement', 'ranks', 'metrics', 'agreement', 'runs']
    """
    last = at_common_step(table)
    if last.units == "items":
        return evaluation_report(last, title, pair=pair, by=by, level=level, seed=seed)
    expect_items(pair=None if pair is None else joined(pair), by=listed(by) or None)
    how: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "rng": seed}
    with noted() as notes:
        page = _audited(last, title, level, n_resamples, seed)
        made = [
            _section("profile", lambda: profile(last, **how)),
            _section("improvement", lambda: compare(last, **how)),
        ]
        if table.n_steps > 1:
            made.append(_section("curves", lambda: curves(table, **how)))
    sections = [*page.sections]
    sections[2:2] = made
    notices = tuple(dict.fromkeys([*page.notices, *notes]))
    return replace(page, sections=tuple(sections), notices=notices)


def _audited(table: ScoreTable, title: str, level: float, n_resamples: int, seed: int) -> Report:
    """Return the page of the audit; of a table that cannot be ranked, what it holds and why not."""
    try:
        found = cast(Audit, audit(table, level=level, n_resamples=n_resamples, rng=seed))
    except ScoreDataError as error:
        held, *gaps = table.describe().splitlines()
        return Report(
            title,
            held,
            (Answer("Who is on top?", (f"The table cannot be ranked: {error}.",)),),
            (Section("table", TITLES["table"], (f"{held}.", *(f"{gap}." for gap in gaps))),),
            card=(("seed", str(seed)), ("gnomon", __version__)),
            source="the table of scores",
        )
    return _with_figure(audit_report(found, title), found)


def _with_figure(page: Report, found: Audit) -> Report:
    """Return the page of an audit with a figure of the summary scores that it prints."""
    if not found.estimates or len(found.ranking.names) > _MOST_DRAWN:
        return page
    from gnomon.stats import Estimates

    table = found.table
    settings = {"scale": table.scale, "higher_is_better": table.higher_is_better}
    figure = Estimates(tuple(found.estimates), settings).figure()
    sections = [
        replace(section, figures=(figure,)) if section.name == "estimates" else section
        for section in page.sections
    ]
    return replace(page, sections=tuple(sections))


def _section(name: str, compute: Callable[[], Results[Any]]) -> Section:
    """Return one part of the page: a figure of results, or why there is none."""
    title, text = _WORDS[name]
    try:
        found = compute()
    except GnomonError as error:
        return Section(name, title, (f"Not estimable: {error}.",))
    names = {record.get("algorithm", record.get("a")) for record in found.as_records()}
    if not names or len(names) > _MOST_DRAWN:
        return Section(name, title, (f"Not drawn: more than {_MOST_DRAWN} algorithms.",))
    with default_settings():
        figure = replace(found.figure(), wide=len(names) > _MOST_HALF)
    return Section(name, title, (text,), figures=(figure,))
