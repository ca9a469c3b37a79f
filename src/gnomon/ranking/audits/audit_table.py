"""An audit of anybody's table of scores: what it holds, and which of its ranks can be believed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.errors import DegenerateScoresWarning, GnomonError
from gnomon.ranking.audits import statements as findings
from gnomon.ranking.audits.intransitivity import Intransitivity, measure_intransitivity
from gnomon.ranking.audits.pool import PoolEffect, pool_effects
from gnomon.ranking.audits.statements import METRICS, MOST_IN_DIAGRAM, Finding
from gnomon.ranking.audits.task_scale import scaled_by_task
from gnomon.ranking.contest import Contest
from gnomon.ranking.critical_difference import CriticalDifference, critical_difference
from gnomon.ranking.ranks.rank_intervals import Ranking, rank
from gnomon.ranking.ratings.method_orders import MethodOrder, orders_by_method
from gnomon.ranking.tournament import Tournament
from gnomon.results import noted
from gnomon.scores.table import ScoreTable
from gnomon.stats.estimates import Estimate, estimate

__all__ = ["TITLES", "Audit", "audit"]

#: Of more contestants only so many, the first ones, are asked to leave the pool.
LEAVERS = 40
#: What each section is called on a page.
TITLES = {
    "table": "What the table holds",
    "estimates": "Summary scores",
    "ranks": "Ranks and what separates them",
    "methods": "Does the order depend on the method?",
    "metrics": "Does the order depend on the metric?",
    "pool": "Does the order depend on the pool of competitors?",
    "runs": "What would settle the top",
    "cycles": "Cycles",
}


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found, in sentences and as the records they are made of.

    Parameters
    ----------
    table : ScoreTable
    findings : tuple of Finding
    estimates : tuple of Estimate
        Of normalised scores, or else of scores scaled task by task; empty if no task is shared.
    ranking : Ranking
    tournament : Tournament
    orders : tuple of MethodOrder
    pool : tuple of PoolEffect
    intransitivity : Intransitivity
    critical_difference : CriticalDifference or None
        None where fewer than two tasks are shared by all, and of more than sixty contestants.
    notes : tuple of str
        Warnings that were met on the way.
    """

    table: ScoreTable
    findings: tuple[Finding, ...]
    estimates: tuple[Estimate, ...]
    ranking: Ranking
    tournament: Tournament
    orders: tuple[MethodOrder, ...]
    pool: tuple[PoolEffect, ...]
    intransitivity: Intransitivity
    critical_difference: CriticalDifference | None
    notes: tuple[str, ...]

    def text(self) -> str:
        """Return the findings as a page of text, section by section, and then the notes."""
        sections = dict.fromkeys(f.section for f in self.findings)
        parts = [
            _part(TITLES[section], [f.finding for f in self.findings if f.section == section])
            for section in sections
        ]
        return "\n\n".join([*parts, _part("Notes", self.notes)] if self.notes else parts)


def _part(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, "-" * len(title), *lines])


def audit(
    table: ScoreTable,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    rng: np.random.Generator,
) -> Audit:
    """Audit a table of scores: what it holds, and how far its order can be believed.

    Parameters
    ----------
    table : ScoreTable
        From anywhere: a paper's table, a leaderboard's dump, runs of one's own. One score for each
        run; a table with steps is audited at each run's last step. If its scores are normalised,
        summaries are of these.
    level : float
        Confidence level of all intervals and decisions.
    n_resamples : int
        Number of resamples.
    rng : numpy.random.Generator
        Source of all draws.

    Returns
    -------
    Audit

    Raises
    ------
    ScoreDataError
        The table cannot be ranked at all: see :func:`gnomon.ranking.ranks.rank_intervals.rank`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = {name: rng.normal(mean, 1, (8, 5)) for name, mean in
    ...           {"dqn": 0.0, "rainbow": 3.0, "iqn": 3.0}.items()}
    >>> found = audit(ScoreTable.from_arrays(scores), n_resamples=200, rng=rng)
    >>> next(f.finding for f in found.findings if f.section == "runs")[:42]
    'rainbow and iqn: not separated; about 56 r'
    """
    table = table.last_step()
    with noted() as notes:
        contest = Contest.from_table(table)
        ranking = rank(contest, level=level, n_resamples=n_resamples, rng=rng)
        tournament = Tournament.of(contest)
        connected = len(tournament.components) == 1
        orders = orders_by_method(contest, tournament) if connected else []
        leavers = ranking.names[:LEAVERS]
        pool = pool_effects(tournament, leavers=leavers) if connected else []
        cyclic = measure_intransitivity(
            contest,
            level=level,
            n_resamples=n_resamples,
            draw_grounds=ranking.resampling == "runs_and_tasks",
            rng=rng,
        )
        estimates = _estimates(
            table.select(algorithms=contest.names),
            level=level,
            n_resamples=n_resamples,
            resampling=ranking.resampling,
            rng=rng,
        )
        diagram = _critical_difference(contest, level)
    found = (
        *findings.on_table(table, contest),
        *findings.on_estimates(estimates, table, contest),
        *findings.on_ranks(ranking),
        *findings.on_bounds(tournament),
        *findings.on_methods(orders),
        *findings.on_diagram(diagram, len(contest.names)),
        *findings.on_metrics(estimates, ranking),
        *findings.on_pool(pool, len(contest.names)),
        *findings.on_runs(ranking),
        *findings.on_cycles(cyclic, tournament),
    )
    return Audit(
        table,
        found,
        tuple(estimates),
        ranking,
        tournament,
        tuple(orders),
        tuple(pool),
        cyclic,
        diagram,
        tuple(notes),
    )


def _estimates(table: ScoreTable, **options: Any) -> list[Estimate]:
    """Return the summaries of scores on one scale; none where no task is shared by all."""
    scores = scaled_by_task(table) if table.normalization is None else table
    try:
        return [*estimate(scores, METRICS, **options)]
    except GnomonError as error:
        warnings.warn(f"summary scores: {error}", DegenerateScoresWarning, stacklevel=2)
        return []


def _critical_difference(contest: Contest, level: float) -> CriticalDifference | None:
    if len(contest.names) > MOST_IN_DIAGRAM:
        return None
    try:
        return critical_difference(contest, differences=None, level=level)
    except GnomonError:
        return None
