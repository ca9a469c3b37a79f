"""The page of a table of scores: what it holds, estimates, profiles, improvement, ranks, audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gnomon import __version__
from gnomon.errors import GnomonError, ScoreDataError
from gnomon.plot.record import Figure
from gnomon.plot.style import house_settings
from gnomon.ranking import audit, scaled_by_task
from gnomon.ranking.audits.audit_table import TITLES
from gnomon.report.audit_page import MOST_NOTES, audit_report
from gnomon.report.page import Answer, Report, Section, Table
from gnomon.results import Results, noted
from gnomon.stats import compare_all, curves, estimate, profile

if TYPE_CHECKING:
    from gnomon.scores.table import ScoreTable

__all__ = ["scores_report"]

#: More curves, or rows and columns of a map, than so many are no picture.
_MOST_DRAWN = 30
#: A longer table is left to the numbers beside the picture.
_MOST_ROWS = 60
_METRICS = ("median", "iqm", "mean", "optimality_gap")
#: Of each part that is drawn: its heading, and how it is to be read.
_WORDS = {
    "estimates": (
        "Summary scores",
        "Summaries over all tasks that everybody has. The interquartile mean (iqm) is less moved "
        "by single runs than the mean, and tells more apart than the median.",
    ),
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
    table: ScoreTable, title: str, *, level: float = 0.95, n_resamples: int = 2000, seed: int = 0
) -> Report:
    """Return the page of a table of scores as data.

    Scores of tasks are put on one scale, task by task, unless they are normalised already.

    Parameters
    ----------
    table : ScoreTable
        With steps, the last one of each run counts, and curves are drawn.
    title : str
        What was measured.
    level : float
        Confidence level of all intervals and decisions, between 0 and 1.
    n_resamples : int
        Number of resamples.
    seed : int
        Of all draws.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.scores.table import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> table = ScoreTable.from_arrays({a: rng.normal(size=(5, 3)) for a in ("dqn", "sac")})
    >>> [section.name for section in scores_report(table, "scores.csv", n_resamples=100).sections]
    ['table', 'estimates', 'profile', 'improvement', 'ranks', 'methods', 'metrics', 'pool', 'runs', 'cycles']
    """  # noqa: E501
    last = table.last_step()
    scaled = last if last.normalization is not None else scaled_by_task(last)
    how: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "rng": seed}
    with noted() as notes:
        made = [
            _section("estimates", lambda: estimate(scaled, _METRICS, **how)),
            _section("profile", lambda: profile(scaled, **how)),
            _section("improvement", lambda: compare_all(scaled, **how)),
        ]
        if table.n_steps > 1:
            made.append(_section("curves", lambda: curves(table, **how)))
        page = _audited(last, title, level, n_resamples, seed)
    own = {section.name: section for section in made}
    sections = [own.pop(section.name, section) for section in page.sections]
    after = 1 + next((i for i, section in enumerate(sections) if section.name == "estimates"), 0)
    sections[after:after] = own.values()
    notices = tuple(dict.fromkeys([*page.notices, *notes]))[:MOST_NOTES]
    return replace(page, sections=tuple(sections), notices=notices)


def _audited(table: ScoreTable, title: str, level: float, n_resamples: int, seed: int) -> Report:
    """Return the page of the audit; of a table that cannot be ranked, what it holds and why not."""
    try:
        found = audit(table, level=level, n_resamples=n_resamples, rng=seed)
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
    return audit_report(found, title)


def _section(name: str, compute: Callable[[], Results[Any]]) -> Section:
    """Return one part of the page: the results as a table and a figure, or why there are none."""
    title, text = _WORDS[name]
    try:
        found = compute()
    except GnomonError as error:
        return Section(name, title, (f"Not estimable: {error}.",))
    n_names = len({record.get("algorithm", record.get("a")) for record in found.as_records()})
    if not found or n_names > _MOST_DRAWN:
        text = f"{text} {n_names} algorithms are too many for a picture; gnomon prints the numbers."
        return Section(name, title, (text,))
    with house_settings():
        figure: Figure = replace(found.figure(), name=name, wide=True)
    return Section(name, title, (text,), _tables(name, found), (figure,))


def _tables(name: str, found: Results[Any]) -> tuple[Table, ...]:
    """Return the results as a table, unless they are points of curves."""
    rows = [{k: str(v) for k, v in row.items()} for row in found.rows()]
    if name in ("profile", "curves") or len(rows) > _MOST_ROWS:
        return ()
    columns = found.columns or tuple(rows[0])
    cells = tuple(tuple(row[column] for column in columns) for row in rows)
    return (Table(_WORDS[name][0], tuple(columns), cells),)
