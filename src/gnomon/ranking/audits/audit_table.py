"""Audits of score tables: what a table holds, and which of its ranks can be believed."""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gnomon.errors import DegenerateScoresWarning, GnomonError
from gnomon.ranking.audits import statements
from gnomon.ranking.audits.intransitivity import Intransitivity, measure_intransitivity
from gnomon.ranking.audits.item_audit import ItemAudit, item_statements
from gnomon.ranking.audits.mean_and_ranks import on_agreement
from gnomon.ranking.audits.statements import METRICS, MOST_IN_DIAGRAM, Statement
from gnomon.ranking.contest import Contest
from gnomon.ranking.critical_differences import CriticalDifference, critical_difference
from gnomon.ranking.ranks.rank_intervals import rank
from gnomon.ranking.ranks.ranking import Ranking
from gnomon.ranking.ratings.method_orders import MethodOrder, PoolEffect, orders_of, pool_effects
from gnomon.ranking.tournament import Tournament
from gnomon.results import Results, generator, made_by, noted
from gnomon.scores.common_steps import at_common_step
from gnomon.scores.normalization import with_left_out
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.all_pairs import compare_all
from gnomon.stats.comparisons.comparison_records import Comparisons
from gnomon.stats.estimate_records import Estimate
from gnomon.stats.estimates import estimate

#: Of more contestants only so many, the first ones, are asked to leave the pool.
LEAVERS = 40
#: What each section is called on a page.
TITLES = {
    "table": "What the table holds",
    "estimates": "Summary scores",
    "ranks": "Ranks and what separates them",
    "methods": "Does the order depend on the method?",
    "metrics": "Does the order depend on the metric?",
    "agreement": "Do means and ranks separate the same pairs?",
    "pool": "Does the order depend on the pool of competitors?",
    "runs": "What would settle the top",
    "cycles": "Cycles",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit(Results[Statement]):
    """Statements of an audit, section by section, and the records that they are made of.

    Its `warnings` stand as notes at the end of the text.

    Parameters
    ----------
    table : ScoreTable
    estimates : sequence of Estimate
        Of normalised scores, or else of scores scaled task by task; empty if no task is shared.
    ranking : Ranking
    tournament : Tournament
    orders : tuple of MethodOrder
    pool : tuple of PoolEffect
    intransitivity : Intransitivity
    critical_difference : CriticalDifference or None
        None where fewer than two tasks are shared by all, and of more than sixty contestants.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = {"a": [[5.0, 4.0], [6.0, 5.0]], "b": [[1.0, 2.0], [2.0, 1.0]]}
    >>> found = gn.audit(gn.ScoreTable.from_arrays(scores), n_resamples=50)
    >>> found[0].section, found.ranking.names
    ('table', ('a', 'b'))
    """

    table: ScoreTable
    estimates: Sequence[Estimate]
    ranking: Ranking
    tournament: Tournament
    orders: tuple[MethodOrder, ...]
    pool: tuple[PoolEffect, ...]
    intransitivity: Intransitivity
    critical_difference: CriticalDifference | None

    columns: ClassVar[tuple[str, ...]] = ("section", "finding")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the data did not allow."""
        return self.warnings

    def to_text(self, width: int = 200) -> str:
        """Return the statements as text, section by section, and then the notes."""
        sections = dict.fromkeys(one.section for one in self)
        parts = [
            _part(TITLES[section], [one.finding for one in self if one.section == section])
            for section in sections
        ]
        return "\n\n".join([*parts, _part("Notes", self.notes)] if self.notes else parts)

    def page(self, title: str = "Audit") -> Any:
        """Return the page of the audit; its ``save(folder)`` writes it with figures and tables."""
        made: Any = pkgutil.resolve_name("gnomon.report.audit_page:audit_report")(self, title)
        return made

    @property
    def figures(self) -> tuple[Any, ...]:
        """The figures of the page, with their captions and numbers."""
        return tuple(self.page().figures)

    def figure(self) -> Any:
        """Return the first of the figures: rank intervals."""
        drawn: Any = self.ranking.figure()
        return drawn

    def plot(self, ax: Any = None) -> Any:
        """Draw the rank intervals: a new Matplotlib figure, or into axes that are given."""
        return self.ranking.plot(ax)


def _part(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, "-" * len(title), *lines])


def audit(
    scores: ScoreTable,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> Audit | ItemAudit:
    """Audit a table of scores: what it holds, and how far its order can be believed.

    Of a table of items it says what the items hold and lack, and which of them tell models apart.

    Parameters
    ----------
    scores : ScoreTable
        From anywhere: a paper's table, a leaderboard's dump, runs of one's own. One score for each
        run; a table with steps is audited at the last one that all runs on a task reach. If its
        scores are normalised, summaries are of these.
    level : float
        Confidence level of all intervals and decisions.
    n_resamples : int
        Number of resamples.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or its seed; 0 if none is given.

    Returns
    -------
    Audit, or ItemAudit of a table of items
        A sequence of :class:`gnomon.ranking.Statement`. What it was warned of is in its `warnings`,
        and not raised as well.

    Raises
    ------
    ScoreDataError
        The table cannot be ranked at all: see :func:`gnomon.ranking.rank`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = {name: rng.normal(mean, 1, (8, 5)) for name, mean in
    ...           {"dqn": 0.0, "rainbow": 3.0, "iqn": 3.0}.items()}
    >>> found = audit(ScoreTable.from_arrays(scores), n_resamples=200, rng=rng)
    >>> next(one.finding for one in found if one.section == "runs")[:42]
    'rainbow and iqn: not separated; about 56 r'
    """
    table, draws = at_common_step(scores), generator(rng)
    if table.units == "items":
        return ItemAudit(item_statements(table, draws), made_by(rng), table=table)
    with noted() as notes:
        contest = Contest.from_table(table)
        ranking = rank(contest, level=level, n_resamples=n_resamples, rng=draws)
        tournament = Tournament.of(contest)
        connected = len(tournament.components) == 1
        orders = orders_of(contest, tournament) if connected else []
        leavers = ranking.names[:LEAVERS]
        pool = pool_effects(tournament, leavers=leavers) if connected else []
        cyclic = measure_intransitivity(
            contest,
            level=level,
            n_resamples=n_resamples,
            draw_grounds=ranking.resampling == "runs_and_tasks",
            rng=draws,
        )
        kept = table.select(algorithms=contest.names)
        scaled = scaled_by_task(kept) if kept.normalization is None else kept
        estimates = _estimates(
            scaled,
            level=level,
            n_resamples=n_resamples,
            resampling=ranking.resampling,
            rng=draws,
        )
        diagram = _critical_difference(table, contest, level)
    # What it warns of would be of each pair; the sections above say it of each algorithm.
    with noted():
        means = _compared(scaled, level=level, n_resamples=n_resamples, rng=draws)
    said = (
        *statements.on_table(with_left_out(table), contest),
        *statements.on_estimates(estimates, table, contest),
        *statements.on_ranks(ranking, n_unscaled=len(contest.grounds) - len(table.tasks)),
        *statements.on_bounds(tournament),
        *statements.on_methods(orders),
        *statements.on_diagram(diagram, len(contest.names)),
        *statements.on_metrics(estimates, ranking),
        *on_agreement(means, ranking, tournament, scaled),
        *statements.on_pool(pool, len(contest.names)),
        *statements.on_runs(ranking),
        *statements.on_cycles(cyclic, tournament),
    )
    return Audit(
        said,
        made_by(rng, level=level, resampling=ranking.resampling, n_resamples=n_resamples),
        tuple(notes),
        table=table,
        estimates=estimates,
        ranking=ranking,
        tournament=tournament,
        orders=tuple(orders),
        pool=tuple(pool),
        intransitivity=cyclic,
        critical_difference=diagram,
    )


def _estimates(scores: ScoreTable, **options: Any) -> Sequence[Estimate]:
    """Return the summaries of scores on one scale; none where no task is shared by all."""
    try:
        return estimate(scores, METRICS, **options)
    except GnomonError as error:
        warnings.warn(f"summary scores: {error}", DegenerateScoresWarning, stacklevel=2)
        return []


def _compared(scores: ScoreTable, **options: Any) -> Comparisons | None:
    """Return the comparisons of all pairs in the mean; None where two share no task."""
    try:
        return compare_all(scores, "mean", **options)
    except GnomonError:
        return None


def _critical_difference(
    table: ScoreTable, contest: Contest, level: float
) -> CriticalDifference | None:
    if len(contest.names) > MOST_IN_DIAGRAM:
        return None
    try:
        # Single runs are compared by their scores, which must have a scale.
        single = contest.sizes.max() == 1
        met = Contest.from_table(table, scaled=True) if single else contest
        return critical_difference(met, level=level)
    except GnomonError:
        return None


def scaled_by_task(table: ScoreTable) -> ScoreTable:
    """Scale scores task by task (min-max), from 0 for the worst run on the task to 1 for the best.

    Where all are equal, all are 1/2. Censored runs stay infinite: there is no number for them, so
    the mean of some is not estimable, while quantiles may be. The scale depends on who is in the
    table: it serves to compare orders, not to publish.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1.0]], "b": [[3.0]]}, higher_is_better=False)
    >>> [row["score"] for row in scaled_by_task(table).to_records()]
    [1.0, 0.0]
    """
    sign = 1.0 if table.higher_is_better else -1.0
    records = []
    for task in table.tasks:
        cells = {name: sign * table.runs(name, task) for name in table.algorithms}
        every = np.concatenate(list(cells.values()))
        finite = every[np.isfinite(every)]
        for name, runs in cells.items():
            scaled = _scaled(runs, finite)
            records += [
                {
                    "algorithm": name,
                    "task": task,
                    "run": run,
                    "score": float(score),
                    "censored": bool(np.isinf(score)),
                }
                for run, score in zip(table.run_labels(name, task), scaled, strict=True)
            ]
    note = "scaled task by task to the range of all runs"
    return ScoreTable.from_records(
        records, metric=table.metric, provenance=(*table.provenance, note)
    )


def _scaled(runs: FloatArray, finite: FloatArray) -> FloatArray:
    """Return runs on the scale of all finite ones, which may be one and the same, or none."""
    low, high = finite.min(initial=np.inf), finite.max(initial=-np.inf)
    if high > low:
        return np.asarray((runs - low) / (high - low))
    return np.where(np.isfinite(runs), 0.5, runs)
