"""Audits of score tables: what a table holds, and how reliable its ranks are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, TypeVar

import numpy as np

from gnomon.errors import GnomonError, counted, joined, listed
from gnomon.ranking.critical_differences import CriticalDifference, critical_difference
from gnomon.ranking.item_audit import ItemAudit, Statement, item_statements
from gnomon.ranking.ranks import Ranking, rank, rank_range, separation
from gnomon.results import Results, generator, made_by, noted
from gnomon.scores.normalization import with_left_out
from gnomon.scores.plausibility import wild_scores
from gnomon.scores.readers.registry import Scores, table_of
from gnomon.scores.steps import at_common_step
from gnomon.scores.table import ScoreTable
from gnomon.stats.comparison import Comparisons, compare
from gnomon.stats.estimates import Estimate, estimate
from gnomon.tables import p_value

#: Headings of the sections.
TITLES = {
    "table": "What the table holds",
    "estimates": "Summary scores",
    "ranks": "Ranks",
    "metrics": "Does the order depend on the metric?",
    "agreement": "Do means and ranks separate the same pairs?",
    "runs": "How many runs would separate the first two?",
}
#: Summaries whose orders are compared.
METRICS = ("mean", "median", "iqm")
#: Tasks that are named, to show if one is no task, such as a number of parameters.
MOST_TASKS = 12
#: The largest number of algorithms with critical differences.
MOST_IN_DIAGRAM = 60
#: A number of runs this many times the present one is out of reach.
HOPELESS = 100
#: Pairs that are named, those that contradict one another first.
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
        What :func:`gnomon.estimate` returns; empty if it refuses: no task is shared, or tasks have
        unlike scales.
    ranking : Ranking
        What :func:`gnomon.rank` returns.
    critical_difference : CriticalDifference or None
        None where fewer than two tasks are shared by all, and for more than sixty algorithms.
    """

    table: ScoreTable
    estimates: Sequence[Estimate]
    ranking: Ranking
    critical_difference: CriticalDifference | None

    columns: ClassVar[tuple[str, ...]] = ("section", "finding")

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings."""
        return self.warnings

    def to_text(self, width: int = 200) -> str:
        """Return the statements as text, section by section, and then the notes."""
        sections = dict.fromkeys(one.section for one in self)
        parts = [
            _part(TITLES[section], [one.finding for one in self if one.section == section])
            for section in sections
        ]
        return "\n\n".join([*parts, _part("Notes", self.notes)] if self.notes else parts)

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
    scores: Scores,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> Audit | ItemAudit:
    """Audit a table of scores: what it holds, and how reliable its order is.

    The numbers are those of :func:`gnomon.estimate`, :func:`gnomon.compare` and
    :func:`gnomon.rank` for the same table; nothing is rescaled. For a table of items the audit
    reports what the items hold and lack, and which of them distinguish the models.

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
    Audit, or ItemAudit of a table of items
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
    >>> next(one.finding for one in found if one.section == "runs")[:35]
    'rainbow and iqn: not separated; abo'
    """
    scores = table_of(scores)
    table, draws = at_common_step(scores), generator(rng)
    if table.units == "items":
        return ItemAudit(item_statements(table, draws), made_by(rng), table=table)
    how: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "rng": rng}
    with noted() as notes:
        ranking = rank(table, level=level)
        kept = table.select(algorithms=[n for n in table.algorithms if n in ranking.names])
        estimates = _tried(lambda: estimate(kept, METRICS, **how))
        diagram = _critical_difference(table, level) if len(ranking) <= MOST_IN_DIAGRAM else None
    # Warnings of single pairs repeat what the sections above report for each algorithm.
    with noted():
        means = _tried(lambda: compare(kept, metrics="mean", **how))
    full = with_left_out(table)
    statements = (
        *_on_table(full),
        *_on_estimates(estimates, kept),
        *_on_ranks(ranking, len(full.tasks) - len(table.tasks)),
        *_on_diagram(diagram, len(ranking)),
        *_on_metrics(estimates, ranking, kept),
        *_on_agreement(means, ranking, kept),
        *_on_runs(ranking),
    )
    return Audit(
        statements,
        made_by(rng, level=level, resampling=ranking.resampling, n_resamples=n_resamples),
        tuple(notes),
        table=table,
        estimates=() if isinstance(estimates, GnomonError) else estimates,
        ranking=ranking,
        critical_difference=diagram,
    )


_T = TypeVar("_T")


def _tried(compute: Callable[[], _T]) -> _T | GnomonError:
    """Return results, or the error that prevents them."""
    try:
        return compute()
    except GnomonError as error:
        return error


def _critical_difference(table: ScoreTable, level: float) -> CriticalDifference | None:
    found = _tried(lambda: critical_difference(table, level=level))
    return None if isinstance(found, GnomonError) else found


def _on_table(table: ScoreTable) -> list[Statement]:
    """Report what the table holds and lacks, and how many tasks all algorithms share."""
    head, *gaps = table.describe().splitlines()
    counts = table.run_counts[table.run_counts > 0]
    found = [Statement("table", "contents", head, float(len(table)))]
    shown = f"tasks: {listed(table.tasks, MOST_TASKS)}"
    found.append(Statement("table", "tasks", shown, float(len(table.tasks))))
    found += [Statement("table", "gap", gap) for gap in gaps]
    found += [Statement("table", "wild score", text, x) for text, x in wild_scores(table)]
    shared = len(table.shared_tasks())
    text = f"{shared} of {counted(len(table.tasks), 'task')} have scores of every algorithm"
    found.append(Statement("table", "shared tasks", text, float(shared)))
    if counts.size and counts.min() < 5:
        share = float((counts < 5).mean())
        text = f"{share:.0%} of the cells (an algorithm on a task) have fewer than five runs"
        found.append(Statement("table", "few runs", text, share))
    return found


def _on_estimates(
    estimates: Sequence[Estimate] | GnomonError, table: ScoreTable
) -> list[Statement]:
    """Give the summaries of all algorithms, best first, and their scale."""
    if isinstance(estimates, GnomonError):
        return [Statement("estimates", "none", f"not reported: {estimates}")]
    found = [Statement("estimates", "scale", scale_in_words(table))]
    sign = 1.0 if table.higher_is_better else -1.0
    for e in sorted(estimates, key=lambda e: (METRICS.index(e.metric), _place(sign * e.value))):
        known = f"{e.value:.3f}{_ends(e.low, e.high)}"
        text = f"{e.metric} of {e.algorithm}: {known if math.isfinite(e.value) else _CENSORED}"
        found.append(Statement("estimates", f"{e.metric} of {e.algorithm}", text, e.value))
    return found


_CENSORED = "not estimable, some runs are censored"


def _place(value: float) -> float:
    """Return what sorts values from the best; those that are not estimable are last."""
    return -value if math.isfinite(value) else math.inf


def scale_in_words(table: ScoreTable) -> str:
    """Return over which tasks summaries of a table are, and on what scale."""
    there, shared = len(table.tasks), len(table.shared_tasks())
    tasks = f"Over the {shared} of {counted(there, 'task')} that all share"
    tasks = f"Over {counted(there, 'task')}" if shared == there else tasks
    if table.normalization is None:
        return f"{tasks}: raw scores"
    unscaled = len(with_left_out(table).tasks) - there
    rest = f", without {counted(unscaled, 'task')} that have no anchors" if unscaled else ""
    return f"{tasks}: scores normalised by {table.normalization.name}{rest}"


def _ends(low: float, high: float) -> str:
    """Return an interval in brackets; nothing if there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return " (interval not estimable)"
    return f" [{low:.3f}, {high:.3f}]"


def _on_ranks(ranking: Ranking, n_unscaled: int) -> list[Statement]:
    """Give value and rank of every algorithm, and report which neighbours are separated.

    `n_unscaled` tasks were left out by normalising, and count here.
    """
    how = " ".join((f"{ranking.title.capitalize()}.", *ranking.notes))
    found = [Statement("ranks", "how", how)]
    if n_unscaled:
        without = counted(n_unscaled, "task")
        counts = "counts" if n_unscaled == 1 else "count"
        text = f"The {without} without anchors {counts} here, since wins need no scale"
        found.append(Statement("ranks", "unscaled", text, float(n_unscaled)))
    for one in ranking:
        ranks = f"rank {rank_range(one.rank_low, one.rank_high)}"
        known = f"wins {one.value:.3f}{_ends(one.low, one.high)}"
        shown = "not estimable" if math.isnan(one.value) else known
        found.append(Statement("ranks", one.name, f"{one.name}: {ranks}; {shown}", one.value))
    for i, (a, b) in enumerate(zip(ranking.names, ranking.names[1:], strict=False)):
        chance, p = float(ranking.probability[i, i + 1]), float(ranking.p_adjusted[i, i + 1])
        name = f"{a} over {b}"
        if math.isnan(p):
            found.append(Statement("ranks", name, f"{a} and {b}: not comparable"))
            continue
        word = "separated" if ranking.separated[i, i + 1] else "not separated"
        text = f"{name}: {word}, wins {chance:.3f} (adjusted p {p_value(p, '= ')})"
        found.append(Statement("ranks", name, text, chance))
    outright = np.triu(np.isin(ranking.probability, (0.0, 1.0)), 1)
    if outright.any():
        n, of = int(outright.sum()), counted(len(ranking) * (len(ranking) - 1) // 2, "pair")
        text = f"in {n} of {of} one algorithm wins every pair of runs on every shared task"
        found.append(Statement("ranks", "won outright", text, float(n)))
    return found


def _on_diagram(diagram: CriticalDifference | None, n: int) -> list[Statement]:
    """Report why there is no diagram of critical differences, if there is none."""
    if diagram is not None:
        return []
    if n > MOST_IN_DIAGRAM:
        why = f"critical differences: not computed for more than {MOST_IN_DIAGRAM} algorithms"
        return [Statement("ranks", "not asked", why)]
    why = "critical differences: not estimable: fewer than two tasks are shared by all"
    return [Statement("ranks", "not estimable", why)]


def _on_metrics(
    estimates: Sequence[Estimate] | GnomonError, ranking: Ranking, table: ScoreTable
) -> list[Statement]:
    """Report which summaries give another order."""
    if isinstance(estimates, GnomonError):
        return [Statement("metrics", "none", f"not reported: {estimates}")]
    sign = 1.0 if table.higher_is_better else -1.0
    values = {m: {e.algorithm: sign * e.value for e in estimates if e.metric == m} for m in METRICS}
    return [_on_metric(metric, values[metric], ranking) for metric in METRICS]


def _on_metric(metric: str, values: dict[str, float], ranking: Ranking) -> Statement:
    known = {name: value for name, value in values.items() if math.isfinite(value)}
    if len(known) < 2:
        return Statement("metrics", metric, f"{metric}: {_CENSORED}")
    order = sorted((n for n in ranking.names if n in known), key=lambda name: -known[name])
    text = f"{metric}: {' > '.join(order)}"
    place = {name: i for i, name in enumerate(ranking.names)}
    turned = [
        (b, a)
        for a, b in combinations([n for n in ranking.names if n in known], 2)
        if known[b] - known[a] > 1e-9
    ]
    sure = [pair for pair in turned if ranking.separated[place[pair[0]], place[pair[1]]]]
    if turned:
        named = listed((f"{a} over {b}" for a, b in dict.fromkeys([*sure, *turned])), 4)
        text += f"; {counted(len(turned), 'pair')} in another order than the ranks ({named})"
        text += f", {len(sure)} of which the ranks separate" if sure else ""
    else:
        text += "; same order as the ranks"
    if len(known) < len(ranking.names):
        missing = [name for name in ranking.names if name not in known]
        text += f"; not estimable for {listed(missing)}, some of whose runs are censored"
    return Statement("metrics", metric, text, float(len(turned)))


def _on_runs(ranking: Ranking) -> list[Statement]:
    """Report whether the first two are separated, and if not how many runs it would take."""
    found = separation(ranking, *ranking.names[:2])
    pair = f"{found.a} and {found.b}"
    unit = found.unit if found.unit == "tasks" else "runs per task"
    if found.separated:
        text = f"{pair}: separated with the present {found.present:.4g} {unit}"
        return [Statement("runs", "first and second", text, 0.0)]
    needed = math.nan
    if math.isnan(found.needed):
        text = "not estimable how many more would separate them"
    elif math.isinf(found.needed):
        text = "the observed difference is 0"
    elif found.needed > HOPELESS * found.present:
        text = f"more than {HOPELESS} times as many {found.unit} would be needed"
    else:
        needed = max(found.needed - math.floor(found.present), 1.0)
        text = (
            f"about {found.present + needed:,.0f} {unit} ({needed:,.0f} more) would separate them "
            "with power 0.8, if the true difference equals the observed one"
        )
    return [Statement("runs", "first and second", f"{pair}: not separated; {text}", needed)]


def _on_agreement(
    means: Comparisons | GnomonError, ranking: Ranking, scores: ScoreTable
) -> list[Statement]:
    """Report the pairs on which comparing means and the ranks disagree, each with the reason."""
    if isinstance(means, GnomonError):
        return [Statement("agreement", "none", f"not reported: {means}")]
    place = {name: i for i, name in enumerate(ranking.names)}
    sign = 1.0 if scores.higher_is_better else -1.0
    pairs, apart = 0, []
    for one in means:
        if one.a not in place or one.b not in place or math.isnan(one.p_adjusted):
            continue
        pairs += 1
        i, j = sorted((place[one.a], place[one.b]))
        lead = sign * (one.value if place[one.a] == i else -one.value)
        by_mean = one.p_adjusted <= 1.0 - one.level
        by_ranks = bool(ranking.separated[i, j])
        kind = _KINDS.get((by_mean, by_ranks, lead < 0.0))
        if kind is not None:
            apart.append((_ORDER.index(kind), one.p_adjusted, i, j, lead))
    if not pairs:
        text = "not estimable: no pair has both a test of means and a rank"
        return [Statement("agreement", "none", text)]
    claims = "means measure the size of differences, ranks count wins between runs on the same task"
    of_kind = [sum(one[0] == k for one in apart) for k in range(len(_ORDER))]
    shown = ", ".join(f"{kind} {n}" for kind, n in zip(_ORDER, of_kind, strict=True) if n)
    text = f"mean and ranks agree on {counted(pairs, 'pair')}; {claims}"
    if apart:
        text = f"of {counted(pairs, 'pair')}, separated {shown}; {claims}"
    found = [Statement("agreement", "pairs", text, float(len(apart)))]
    for k, p, i, j, lead in sorted(apart)[:MOST_PAIRS]:
        a, b = ranking.names[i], ranking.names[j]
        reason = _reason(a, b, scores, noisy=_ORDER[k] == _ORDER[2])
        text = f"{_contradiction(_ORDER[k], a, b, lead, p)}: {reason}"
        found.append(Statement("agreement", f"{a} and {b}", text, lead))
    if len(apart) > MOST_PAIRS:
        more = len(apart) - MOST_PAIRS
        text = f"and {counted(more, 'further pair')}"
        found.append(Statement("agreement", "further", text, more))
    return found


_ORDER = ("in opposite directions", "by the mean alone", "by the ranks alone")
#: By whether the mean and the ranks separate a pair, and whether the mean has the other order.
_KINDS = {
    (True, True, True): _ORDER[0],
    (True, False, False): _ORDER[1],
    (True, False, True): _ORDER[1],
    (False, True, False): _ORDER[2],
    (False, True, True): _ORDER[2],
}


def _contradiction(kind: str, a: str, b: str, lead: float, p_adjusted: float) -> str:
    """Return what the ranks and what the mean show for a pair, `a` having the better rank."""
    p = f"p {p_value(p_adjusted, '= ')}"
    first, second = (b, a) if lead < 0.0 else (a, b)
    size = f"the mean of {first} is better by {abs(lead):.3g} ({p})"
    if kind == _ORDER[0]:
        return f"{a} ranks above {b}, but {size}, both separated"
    if kind == _ORDER[2]:
        return f"{a} ranks above {b}, separated, but the means are not separated ({p})"
    return f"{size}, separated, but the ranks of {first} and {second} are not"


def _reason(a: str, b: str, scores: ScoreTable, *, noisy: bool) -> str:
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
    if noisy:
        noise = [[x.var(ddof=1) / x.size if x.size > 1 else 0.0 for x in of] for of in runs]
        parts, of_what = np.sum(noise, axis=0), "variance of the mean"
    order = np.argsort(-parts, kind="stable")
    share = np.cumsum(parts[order]) / max(float(parts.sum()), 1e-300)
    few = order[: int(np.searchsorted(share, 0.5)) + 1]
    if len(few) <= max(1, len(tasks) // FEW_OF):
        named = joined([tasks[k] for k in few])
        text += f"; more than half of the {of_what} comes from {named}"
    return text
