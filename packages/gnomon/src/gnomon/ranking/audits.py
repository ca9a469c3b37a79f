"""Audits of score tables: what a table contains, and how reliable its ranks are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, TypeVar

import numpy as np

from gnomon.errors import GnomonError, check_resamples, counted, joined, listed
from gnomon.ranking.item_audit import ITEM_TITLES, Statement, item_statements
from gnomon.ranking.ranks import Ranking, rank, rank_range
from gnomon.results import Results, generator, made_by, noted
from gnomon.scores.normalization import with_left_out
from gnomon.scores.plausibility import wild_scores
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.steps import at_common_step
from gnomon.scores.table import ScoreTable
from gnomon.stats.comparison import Comparisons, compare
from gnomon.stats.difference import IMPROVEMENT
from gnomon.stats.estimates import Estimate, estimate
from gnomon.stats.planning import plan
from gnomon.tables import p_value

#: Headings of the sections.
TITLES = {
    "table": "What the table contains",
    "estimates": "Summary scores",
    "ranks": "Ranks",
    "metrics": "Does the order depend on the metric?",
    "agreement": "Do means and ranks agree?",
    "runs": "How many runs would separate the first two?",
}
#: Summaries whose orders are compared.
METRICS = {"mean": "Mean", "median": "Median", "iqm": "IQM"}
#: Tasks that are named, to show if one is no task, such as a number of parameters.
MOST_TASKS = 12
#: Pairs that are named, contradictions first.
MOST_PAIRS = 12
#: A few tasks are at most one in this number, and at least one.
FEW_OF = 8


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit(Results[Statement]):
    """Statements of an audit, section by section, and the results behind them.

    Its `warnings` are notes at the end of the text.

    Parameters
    ----------
    table : ScoreTable
    estimates : sequence of Estimate
        What :func:`gnomon.estimate` returns; empty if it refuses (no task is shared, or tasks have
        unlike scales), and for items.
    ranking : Ranking or None
        What :func:`gnomon.rank` returns; None for items.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = {"a": [[1.0, 1.0, 0.0]], "b": [[1.0, 0.0, 0.0]]}
    >>> found = gn.audit(gn.ScoreTable.from_arrays(scores, units="items"))
    >>> [one.finding for one in found if one.name == "solved by all"]
    ['Solved by all models: 1 of 3 items (task_0)']
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

    def figure(self) -> Any:
        """Return the figure of the rank intervals."""
        return super().figure() if self.ranking is None else self.ranking.figure()

    def plot(self, ax: Any = None) -> Any:
        """Draw the rank intervals: a new Matplotlib figure, or into axes that are given."""
        return super().plot(ax) if self.ranking is None else self.ranking.plot(ax)


def audit(
    scores: Scores,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> Audit:
    """Audit a table of scores: what it contains, and how reliable its order is.

    The numbers are those of :func:`gnomon.estimate`, :func:`gnomon.compare` and
    :func:`gnomon.rank` for the same table; nothing is rescaled. For a table of items the audit
    reports missing scores and their effect, and which items distinguish the models.

    Parameters
    ----------
    scores : ScoreTable
        Any table: of a paper, a leaderboard or one's own runs. One score per run; a table with
        steps is audited at the last step that all runs on a task reach.
    level : float
        Confidence level of all intervals and decisions.
    n_resamples : int
        Number of resamples of the summaries.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or its seed; 0 if none is given.

    Returns
    -------
    Audit
        A sequence of :class:`gnomon.ranking.Statement`. Warnings are in its `warnings` and are not
        raised as well.

    Raises
    ------
    ScoreDataError
        The table cannot be ranked: see :func:`gnomon.ranking.rank`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = {name: rng.normal(mean, 1, (8, 5)) for name, mean in
    ...           {"dqn": 0.0, "rainbow": 3.0, "iqn": 3.0}.items()}
    >>> found = audit(ScoreTable.from_arrays(scores), n_resamples=200, rng=rng)
    >>> next(one.finding for one in found if one.section == "runs")[:44]
    'rainbow and iqn: not significantly different'
    """
    check_resamples(n_resamples)
    scores = table_of(scores)
    table, draws = at_common_step(scores), generator(rng)
    if table.units == "items":
        return Audit(item_statements(table, draws), made_by(rng), table=table)
    how: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "rng": rng}
    with noted() as notes:
        ranking = rank(table, level=level)
        kept = table.select(algorithms=[n for n in table.algorithms if n in ranking.names])
        estimates = _tried(lambda: estimate(kept, [*METRICS], **how))
    full = with_left_out(table)
    # Warnings of single pairs repeat what the sections above report for each algorithm.
    with noted():
        means = _tried(lambda: compare(kept, metrics="mean", **how))
        runs = _on_runs(ranking, full)
    statements = (
        *_on_table(full),
        *_on_estimates(estimates, kept),
        *_on_ranks(ranking, len(full.tasks) - len(table.tasks)),
        *_on_metrics(estimates, ranking, kept),
        *_on_agreement(means, ranking, kept),
        runs,
    )
    return Audit(
        statements,
        made_by(rng, level=level, resampling=ranking.resampling, n_resamples=n_resamples),
        tuple(notes),
        table=table,
        estimates=() if isinstance(estimates, GnomonError) else estimates,
        ranking=ranking,
    )


_T = TypeVar("_T")


def _tried(compute: Callable[[], _T]) -> _T | GnomonError:
    """Return results, or the error that prevents them."""
    try:
        return compute()
    except GnomonError as error:
        return error


def _on_table(table: ScoreTable) -> list[Statement]:
    """Report what the table contains and lacks, and how many tasks all algorithms share."""
    head, *gaps = table.describe().splitlines()
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
            known = f"{e.value:.3f}{_ends(e.low, e.high)}"
            text = f"{title} of {e.algorithm}: {known if math.isfinite(e.value) else _CENSORED}"
            found.append(Statement("estimates", f"{metric} of {e.algorithm}", text, e.value))
    return found


_CENSORED = "not estimable, some runs are censored"
#: Where the estimates are refused, so are comparisons of means.
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


def _ends(low: float, high: float) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        return " (interval not estimable)"
    return f" [{low:.3f}, {high:.3f}]"


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
        known = f"win probability {one.value:.3f}{_ends(one.low, one.high)}"
        shown = "not estimable" if math.isnan(one.value) else known
        text = f"{one.name}: rank {rank_range(one.rank_low, one.rank_high)}, {shown}"
        found.append(Statement("ranks", one.name, text, one.value))
    for i, (a, b) in enumerate(zip(ranking.names, ranking.names[1:], strict=False)):
        chance, p = float(ranking.probability[i, i + 1]), float(ranking.p_adjusted[i, i + 1])
        name = f"{a} over {b}"
        if math.isnan(p):
            found.append(Statement("ranks", name, f"{a} and {b}: not comparable"))
            continue
        word = _DIFFERENT if ranking.separated[i, i + 1] else f"not {_DIFFERENT}"
        text = f"{a} and {b}: {word}, {a} wins {chance:.3f} (adjusted p {p_value(p, '= ')})"
        found.append(Statement("ranks", name, text, chance))
    n = int(np.triu(np.isin(ranking.probability, (0.0, 1.0)), 1).sum())
    if n:
        of = counted(len(ranking) * (len(ranking) - 1) // 2, "pair")
        text = f"In {n} of {of} one algorithm wins against every run of the other on every task"
        found.append(Statement("ranks", "won outright", text, float(n)))
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
    return [_on_metric(metric, values[metric], ranking) for metric in METRICS]


def _on_metric(metric: str, values: dict[str, float], ranking: Ranking) -> Statement:
    known = [name for name in ranking.names if math.isfinite(values[name])]
    if len(known) < 2:
        return Statement("metrics", metric, f"{METRICS[metric]}: {_CENSORED}")
    text = f"{METRICS[metric]}: {' > '.join(sorted(known, key=lambda name: -values[name]))}"
    place = {name: i for i, name in enumerate(ranking.names)}
    turned = [(b, a) for a, b in combinations(known, 2) if values[b] - values[a] > 1e-9]
    sure = [(b, a) for b, a in turned if ranking.separated[place[b], place[a]]]
    if turned:
        named = listed((f"{a} over {b}" for a, b in dict.fromkeys([*sure, *turned])), 4)
        text += f"; reverses {counted(len(turned), 'pair')} of the ranks ({named})"
        text += f", {len(sure)} of them significantly different in rank" if sure else ""
    else:
        text += "; same order as the ranks"
    if len(known) < len(ranking.names):
        missing = [name for name in ranking.names if name not in known]
        text += f"; not estimable for {listed(missing)} (censored runs)"
    return Statement("metrics", metric, text, float(len(turned)))


def _on_agreement(
    means: Comparisons | GnomonError, ranking: Ranking, scores: ScoreTable
) -> list[Statement]:
    """Report the pairs on which comparing means and the ranks disagree, each with the reason."""
    if isinstance(means, GnomonError):
        return [Statement("agreement", "none", _SEE)]
    place = {name: i for i, name in enumerate(ranking.names)}
    sign = 1.0 if scores.higher_is_better else -1.0
    apart: dict[str, list[tuple[float, int, int, float]]] = {kind: [] for kind in _KINDS}
    pairs = 0
    for one in means:
        if math.isnan(one.p_adjusted):
            continue
        pairs += 1
        i, j = sorted((place[one.a], place[one.b]))
        lead = sign * (one.value if place[one.a] == i else -one.value)
        by_mean, by_ranks = one.p_adjusted <= 1.0 - one.level, bool(ranking.separated[i, j])
        if by_mean != by_ranks or (by_mean and lead < 0.0):
            kind = _KINDS[0] if by_mean and by_ranks else _KINDS[1] if by_mean else _KINDS[2]
            apart[kind].append((one.p_adjusted, i, j, lead))
    if not pairs:
        text = "Not estimable: no pair has both a test of means and a rank"
        return [Statement("agreement", "none", text)]
    n = sum(map(len, apart.values()))
    text = f"Means and ranks agree on {counted(pairs, 'pair')}"
    if n:
        kinds = ", ".join(f"{len(found)} {kind}" for kind, found in apart.items() if found)
        text = f"Means and ranks disagree on {n} of {counted(pairs, 'pair')}: significant {kinds}"
    text += ". Means measure the size of differences; ranks count wins on each task"
    statements = [Statement("agreement", "pairs", text, float(n))]
    named = [(kind, *pair) for kind, found in apart.items() for pair in sorted(found)]
    for kind, p, i, j, lead in named[:MOST_PAIRS]:
        a, b = ranking.names[i], ranking.names[j]
        text = f"{_contradiction(kind, a, b, lead, p)}. {_reason(a, b, scores, kind == _KINDS[2])}"
        statements.append(Statement("agreement", f"{a} and {b}", text, lead))
    if n > MOST_PAIRS:
        text = f"And {counted(n - MOST_PAIRS, 'further pair')}"
        statements.append(Statement("agreement", "further", text, n - MOST_PAIRS))
    return statements


#: How means and ranks may disagree, contradictions first.
_KINDS = ("in opposite directions", "by the mean only", "by the ranks only")


def _contradiction(kind: str, a: str, b: str, lead: float, p_adjusted: float) -> str:
    """Return what the ranks and what the mean show for a pair, `a` having the better rank."""
    p = f"p {p_value(p_adjusted, '= ')}"
    if kind == _KINDS[2]:
        return f"{a} ranks significantly above {b}; the difference of means is not ({p})"
    first, second = (b, a) if lead < 0.0 else (a, b)
    size = f"the mean of {first} is significantly better, by {abs(lead):.3g} ({p})"
    if kind == _KINDS[0]:
        return f"{a} ranks significantly above {b}, but {size}"
    return f"{first} and {second} are not significantly different in rank, but {size}"


def _reason(a: str, b: str, scores: ScoreTable, by_ranks: bool) -> str:
    """Return on how many tasks the first is ahead, and which few tasks decide mean or variance."""
    tasks = scores.shared_tasks((a, b))
    sign = 1.0 if scores.higher_is_better else -1.0
    runs = [[sign * scores.runs(name, task) for task in tasks] for name in (a, b)]
    lead = np.array([x.mean() - y.mean() for x, y in zip(*runs, strict=True)])
    ahead, behind = lead[lead > 0.0], -lead[lead < 0.0]
    text = f"{a} is ahead on {ahead.size} of {counted(len(tasks), 'task')}"
    text += f" by {ahead.mean():.2g} on average" if ahead.size else ""
    text += f", behind by {behind.mean():.2g} on {behind.size}" if behind.size else ""
    parts, of_what = np.abs(lead), "differences"
    if by_ranks:
        noise = [[x.var(ddof=1) / x.size if x.size > 1 else 0.0 for x in of] for of in runs]
        parts, of_what = np.sum(noise, axis=0), "variance of the mean"
    order = np.argsort(-parts, kind="stable")
    share = np.cumsum(parts[order]) / max(float(parts.sum()), 1e-300)
    few = order[: int(np.searchsorted(share, 0.5)) + 1]
    if len(few) <= max(1, len(tasks) // FEW_OF):
        named = joined([tasks[k] for k in few])
        text += f"; more than half of the {of_what} comes from {named}"
    return text


def _on_runs(ranking: Ranking, scores: ScoreTable) -> Statement:
    """Report whether the first two are separated, and if not how many runs are planned for them."""
    a, b = ranking.names[:2]
    of_runs = ranking.resampling == "runs"
    pair, units = f"{a} and {b}", "runs per task" if of_runs else "tasks"
    # Numbers of runs are harmonic means.
    present = float(min(ranking.n_sampled[:2]))
    if math.isnan(ranking.p_adjusted[0, 1]):
        return Statement("runs", "first and second", f"{pair}: not comparable", math.nan)
    if ranking.separated[0, 1]:
        numbers = f"{present:.0f}"
        if of_runs:
            counts = scores.select(algorithms=[a, b]).run_counts
            numbers = rank_range(counts[counts > 0].min(), counts.max())
        text = f"{pair}: {_DIFFERENT} with the present {numbers} {units}"
        return Statement("runs", "first and second", text, 0.0)
    text, needed = f"{pair}: not {_DIFFERENT}", math.nan
    if of_runs:
        planned = _tried(lambda: plan(scores, a, b, IMPROVEMENT, level=ranking.level))
        if isinstance(planned, GnomonError):
            text += f"; runs are not planned: {planned}"
        else:
            text += f". In a test of this pair alone, {planned.notes[0].removesuffix('.')}"
            runs = planned.as_records()[0]["needed"]
            needed = math.nan if runs is None else float(max(runs - math.floor(present), 0))
    return Statement("runs", "first and second", text, needed)
