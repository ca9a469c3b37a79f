"""Audits of score tables: what a table contains, and how reliable its ranks are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np

from gnomon.errors import GnomonError, ScoreDataError, check_resamples, counted, listed, option
from gnomon.printing import four_digits, p_value
from gnomon.ranking.item_audit import ITEM_TITLES, Statement, item_statements
from gnomon.ranking.ranks import Ranked, Ranking, rank, rank_range
from gnomon.ranking.simulation import simulated_studies
from gnomon.results import Results, generator, made_by, noted
from gnomon.scores.checks import wild_scores
from gnomon.scores.normalization import with_left_out
from gnomon.scores.readers.summaries import of_standard_errors
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import ScoreTable
from gnomon.stats.difference import IMPROVEMENT
from gnomon.stats.estimates import Estimate, estimate
from gnomon.stats.item_results import POWER
from gnomon.stats.items import refuse_options
from gnomon.stats.planning import plan, runs_in_words
from gnomon.stats.strata import Strata
from gnomon.stats.summary_statistics import SUMMARY_METRICS

#: Headings of the sections.
TITLES = {
    "table": "What the table contains",
    "estimates": "Summary scores",
    "ranks": "Ranks",
    "metrics": "Does the order depend on the metric?",
    "runs": "What would separate the first two?",
    "simulation": "Simulated studies",
}
#: Summaries whose orders are compared.
METRICS = {"mean": "Mean", "median": "Median", "iqm": "IQM"}
#: Number of tasks that are named: a reader sees a column that is not one (such as parameters).
MOST_TASKS = 12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit(Results[Statement]):
    """Statements of an audit, section by section, and the results behind them.

    `estimates` is what :func:`gnomon.estimate` returns, empty if it refuses and for items;
    `ranking` what :func:`gnomon.rank` returns, None for items. Warnings end the text.
    """

    table: ScoreTable
    estimates: Sequence[Estimate] = ()
    ranking: Ranking | None = None

    columns: ClassVar[tuple[str, ...]] = ("section", "finding")

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings."""
        return self.warnings

    def to_text(self, width: int = 200) -> str:
        """Return the statements as text, section by section, and then the notes."""
        titles = ITEM_TITLES if self.table.units == "items" else TITLES
        parts: dict[str, list[str]] = {}
        for one in self:
            parts.setdefault(titles[one.section], []).append(one.finding)
        if self.notes:
            parts["Notes"] = [*self.notes]
        texts = ("\n".join([title, "-" * len(title), *lines]) for title, lines in parts.items())
        return "\n\n".join(texts)


def audit(
    scores: Scores,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    simulate: int | None = None,
    n_studies: int | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Audit:
    """Audit a table of scores: what it contains, and how reliable its order is.

    The numbers are those of :func:`gnomon.estimate` and :func:`gnomon.rank` for the same table;
    nothing is rescaled. For a table of items the audit reports missing scores and their effect, and
    which items distinguish the models.

    Parameters
    ----------
    scores : ScoreTable
        Scores of two algorithms or more; one is enough for items. One score per run; a table with
        steps is audited at the last step that all runs on a task reach.
    level : float
        Confidence level of all intervals and decisions.
    n_resamples : int
        Number of resamples of the summaries.
    simulate : int, optional
        Number of runs per algorithm and task in each simulated study, 2 or more. The table is the
        population and needs 2 runs or more in each cell. Studies are drawn from it with
        replacement; the section ``simulation`` reports how often intervals and rank intervals
        contain the true values, and how often tests detect true differences and report false ones.
    n_studies : int, optional
        Number of simulated studies, 2 or more; 200 by default.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or its seed; 0 if none is given.
    progress : function of (done, all), optional
        Called after each simulated study.

    Returns
    -------
    Audit
        A sequence of statements with the fields ``section``, ``name``, ``finding`` (a sentence) and
        ``value`` (the number behind it, or None). Its `ranking` and `estimates` are the results of
        the verbs. Warnings are in its `warnings` and are not raised as well.

    Raises
    ------
    ScoreDataError
        The table cannot be ranked: see :func:`gnomon.ranking.rank`. Or `simulate` is given for
        items, or for a table that has a single run in a cell.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = {name: rng.normal(mean, 1, (8, 5)) for name, mean in
    ...           {"dqn": 0.0, "rainbow": 3.0, "iqn": 3.0}.items()}
    >>> found = audit(ScoreTable.from_arrays(scores), n_resamples=200, rng=rng)
    >>> next(one.finding for one in found if one.section == "runs")[:44]
    'rainbow and iqn: not significantly different'
    >>> items = {"a": [[1.0, 1.0, 0.0]], "b": [[1.0, 0.0, 0.0]]}
    >>> found = audit(ScoreTable.from_arrays(items, units="items"))
    >>> [one.finding for one in found if one.name == "solved by all"]
    ['Solved by all models: 1 of 3 items (task_0)']
    """
    check_resamples(n_resamples)
    table, draws = table_of(scores), generator(rng)
    if table.units == "items":
        refuse_options("items", simulate=simulate, n_studies=n_studies)  # of votes, too
        return Audit(item_statements(table, draws), made_by(rng), table=table)
    if simulate is None and n_studies is not None:
        raise ScoreDataError(
            f"{option(n_studies=n_studies)}: no study is simulated; give the number of runs of a "
            f"study, such as {option(simulate=5)}"
        )
    how: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "rng": rng}
    with noted() as notes:
        ranking = rank(table, level=level)
        kept = table.select(algorithms=[n for n in table.algorithms if n in ranking.names])
        summaries = METRICS if of_standard_errors(kept) is None else SUMMARY_METRICS
        estimates = tried(lambda: estimate(kept, [*summaries], **how))
    full = with_left_out(table)
    with noted():  # These warnings repeat what the sections above report for each algorithm.
        runs = on_first_two(ranking, full)
    simulated: list[Statement] = []
    if simulate is not None:
        metrics = [] if isinstance(estimates, GnomonError) else [*summaries]
        n_studies = 200 if n_studies is None else n_studies
        work: dict[str, Any] = {"n_studies": n_studies, "progress": progress}
        simulated = simulated_studies(kept, simulate, metrics, **work, **how | {"rng": draws})
    statements = (
        *_on_table(full),
        *_on_estimates(estimates, kept),
        *_on_ranks(ranking, len(full.tasks) - len(table.tasks)),
        *_on_metrics(estimates, ranking, kept),
        runs,
        *simulated,
    )
    return Audit(
        statements,
        made_by(
            rng,
            level=level,
            resampling=ranking.settings["resampling"],
            n_resamples=n_resamples,
            simulate=simulate,
            n_studies=n_studies,
        ),
        tuple(dict.fromkeys(notes)),
        table=table,
        estimates=() if isinstance(estimates, GnomonError) else estimates,
        ranking=ranking,
    )


_T = TypeVar("_T")


def tried(compute: Callable[[], _T]) -> _T | GnomonError:
    """Return results, or the error that prevents them."""
    try:
        return compute()
    except GnomonError as error:
        return error


def _on_table(table: ScoreTable) -> list[Statement]:
    """Report what the table contains and lacks, and how many tasks all algorithms share."""
    head, *gaps = str(table).splitlines()
    counts = table.run_counts[table.run_counts > 0]
    found = [Statement("table", "contents", head, float(len(table)))]
    shown = f"Tasks: {listed(table.tasks, MOST_TASKS)}"
    found.append(Statement("table", "tasks", shown, float(len(table.tasks))))
    found += [Statement("table", "gap", gap) for gap in gaps]
    found += [Statement("table", "wild score", text, x) for text, x in wild_scores(table)]
    shared = len(table.shared_tasks())
    text = f"{shared} of {counted(len(table.tasks), 'task')} have scores for every algorithm"
    found.append(Statement("table", "shared tasks", text, float(shared)))
    if counts.size and counts.min() < 5:
        share = float((counts < 5).mean())
        text = f"{100 * share:.0f} % of the cells (an algorithm on a task) have fewer than 5 runs"
        found.append(Statement("table", "few runs", text, share))
    return found


def _on_estimates(
    estimates: Sequence[Estimate] | GnomonError, table: ScoreTable
) -> list[Statement]:
    """Give the summaries of all algorithms, best first, and their scale."""
    if isinstance(estimates, GnomonError):
        return [Statement("estimates", "none", f"Not reported: {estimates}")]
    found = [Statement("estimates", "scale", _scale_in_words(table))]
    sign = 1.0 if table.higher_is_better else -1.0
    for metric, title in METRICS.items():
        own = [e for e in estimates if e.metric == metric]
        # Values that are not estimable come last.
        own.sort(key=lambda e: -sign * e.value if math.isfinite(e.value) else math.inf)
        for e in own:
            shown = _with_ends(e) if math.isfinite(e.value) else _CENSORED
            text = f"{title} of {e.algorithm}: {shown}"
            found.append(Statement("estimates", f"{metric} of {e.algorithm}", text, e.value))
    return found


_CENSORED = "not estimable, some runs are censored"
_SEE = "Not reported: see the summary scores"


def _scale_in_words(table: ScoreTable) -> str:
    """Return the scale of summaries, and the tasks over which they are."""
    there, shared = len(table.tasks), len(table.shared_tasks())
    tasks = f"the {shared} of {counted(there, 'task')} that all algorithms have"
    tasks = counted(there, "task") if shared == there else tasks
    if table.normalization is None:
        return f"Raw scores over {tasks}"
    unscaled = len(with_left_out(table).tasks) - there
    rest = f", without {counted(unscaled, 'task')} that have no anchors" if unscaled else ""
    return f"Scores normalised by {table.normalization.name} over {tasks}{rest}"


def _with_ends(one: Estimate | Ranked) -> str:
    value, low, high = map(four_digits, (one.value, one.low, one.high))
    is_known = math.isfinite(one.low) and math.isfinite(one.high)
    return f"{value} [{low}, {high}]" if is_known else f"{value} (interval not estimable)"


def _on_ranks(ranking: Ranking, n_unscaled: int) -> list[Statement]:
    """Give value and rank of every algorithm, and compare neighbours.

    `n_unscaled` tasks were left out by normalising, and count here.
    """
    title = ranking.title[0].upper() + ranking.title[1:]
    found = [Statement("ranks", "how", " ".join((f"{title}.", *ranking.notes)))]
    if n_unscaled:
        text = f"Includes {counted(n_unscaled, 'task')} without anchors, since wins need no scale"
        found.append(Statement("ranks", "unscaled", text, float(n_unscaled)))
    for one in ranking:
        known = f"win probability {_with_ends(one)}"
        shown = "not estimable" if math.isnan(one.value) else known
        text = f"{one.name}: rank {rank_range(one.rank_low, one.rank_high)}, {shown}"
        found.append(Statement("ranks", one.name, text, one.value))
    for i, (a, b) in enumerate(zip(ranking.names, ranking.names[1:], strict=False)):
        chance, p = float(ranking.probability[i, i + 1]), float(ranking.p_adjusted[i, i + 1])
        name = f"{a} over {b}"
        if math.isnan(p):
            found.append(Statement("ranks", name, f"{a} and {b}: not tested"))
            continue
        word = _DIFFERENT if ranking.separated[i, i + 1] else f"not {_DIFFERENT}"
        wins = f"{a} wins {four_digits(chance)}"
        text = f"{a} and {b}: {word}, {wins} (adjusted p {p_value(p, '= ')})"
        found.append(Statement("ranks", name, text, chance))
    return found


_DIFFERENT = "significantly different"


def _on_metrics(
    estimates: Sequence[Estimate] | GnomonError, ranking: Ranking, table: ScoreTable
) -> list[Statement]:
    """Report which summaries give another order."""
    if isinstance(estimates, GnomonError):
        return [Statement("metrics", "none", _SEE)]
    sign = 1.0 if table.higher_is_better else -1.0
    values = {m: {e.algorithm: sign * e.value for e in estimates if e.metric == m} for m in METRICS}
    return [_on_metric(metric, own, ranking) for metric, own in values.items() if own]


def _on_metric(metric: str, values: dict[str, float], ranking: Ranking) -> Statement:
    known = [name for name in ranking.names if math.isfinite(values[name])]
    if len(known) < 2:
        return Statement("metrics", metric, f"{METRICS[metric]}: {_CENSORED}")
    order = sorted(known, key=lambda name: -values[name])
    rounding = 1e-9 * max(abs(values[name]) for name in known)
    text = f"{METRICS[metric]}: {order[0]}"
    for one, next_one in pairwise(order):
        text += f" {'>' if values[one] - values[next_one] > rounding else '='} {next_one}"
    place = {name: i for i, name in enumerate(ranking.names)}
    turned = [(b, a) for a, b in combinations(known, 2) if values[b] - values[a] > rounding]
    sure = [(b, a) for b, a in turned if ranking.separated[place[b], place[a]]]
    if turned:
        named = listed((f"{a} over {b}" for a, b in dict.fromkeys([*sure, *turned])), 4)
        text += f"; reverses {counted(len(turned), 'pair')} of the ranking ({named})"
        text += f", {len(sure)} of them significantly different in rank" if sure else ""
    else:
        text += "; same order as the ranks"
    if len(known) < len(ranking.names):
        missing = [name for name in ranking.names if name not in known]
        text += f"; not estimable for {listed(missing)} (censored runs)"
    return Statement("metrics", metric, text, float(len(turned)))


def on_first_two(ranking: Ranking, scores: ScoreTable) -> Statement:
    """Report whether the first two are separated, and if not what would separate them.

    Where runs are the sample their number is planned; the number of tasks, items or votes is
    `needed` of the ranking. Of a table with gaps, the next score to add is named, too. The value
    is how many more are needed.
    """
    a, b = ranking.names[:2]
    pair, units, of_runs = f"{a} and {b}", ranking.sample, ranking.needed is None
    present = len(scores.tasks if units == "votes" else scores.shared_tasks([a, b]))
    more = math.nan
    if math.isnan(ranking.p_adjusted[0, 1]):
        text = f"{pair}: not tested"
    elif ranking.separated[0, 1]:
        numbers = f"{present:,}"
        if of_runs:
            counts = scores.select(algorithms=[a, b]).run_counts
            numbers = rank_range(counts[counts > 0].min(), counts.max())
        text = f"{pair}: {_DIFFERENT} with the present {numbers} {units}"
        return Statement("runs", "first and second", text, 0.0)
    elif of_runs:
        text = f"{pair}: not {_DIFFERENT}"
        planned = tried(lambda: plan(scores, a, b, IMPROVEMENT, level=ranking.level))
        if isinstance(planned, GnomonError):
            text += f"; runs are not planned: {planned}"
        else:
            needs = runs_in_words(planned, planned.settings["power"], ranking.level)
            text += f". In a test of this pair alone, {needs}"
            runs = planned[0].needed
            now = math.floor(min(Strata.from_table(scores, name).mean_runs for name in (a, b)))
            more = math.nan if runs is None else float(max(runs - now, 0))
    else:
        text = f"{pair}: not {_DIFFERENT} with the present {present:,} {units}"
        if math.isfinite(needed := ranking.needed or math.inf):
            more = float(max(math.ceil(needed) - present, 1))
            text += f"; {present + more:,.0f} would separate them among all pairs with power "
            text += f"{POWER:g}, if the true difference is the observed one"
        elif ranking.probability[0, 1] in (0.0, 0.5):
            text += ", where they are equal"
        else:
            text += f", too few {units} for any difference to be significant"
    return Statement("runs", "first and second", text + _next_score(scores, a, b), more)


def _next_score(scores: ScoreTable, a: str, b: str) -> str:
    """Name the score to add next, of the tasks that only one of the two has.

    It is that of the task with the most distinct scores, since tied scores do not separate.
    """
    one_has = {*scores.tasks_of(a)} ^ {*scores.tasks_of(b)}
    if scores.units == "items" or not one_has:
        return ""
    task = scores.rows["task"]
    different = np.unique(np.stack([task.codes, scores.rows["score"]]), axis=1)[0].astype(np.int64)
    n = dict(zip(task.names, np.bincount(different, minlength=len(task.names)), strict=True))
    best = max((x for x in scores.tasks if x in one_has), key=lambda x: int(n[x]))
    name = b if best in scores.tasks_of(a) else a
    tasks = counted(len(one_has), "task")
    return f". Next score to add: {name} on {best} (only one of the two has scores on {tasks})"
