"""Audits of score tables: what a table holds, and how reliable its ranks are."""

from __future__ import annotations

import math
import pkgutil
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gnomon.errors import DegenerateScoresWarning, GnomonError, counted, joined, listed
from gnomon.ranking.critical_differences import CriticalDifference, critical_difference
from gnomon.ranking.item_audit import ItemAudit, Statement, item_statements
from gnomon.ranking.ranks import Ranking, rank, rank_range, separation
from gnomon.results import Results, generator, made_by, noted
from gnomon.scores.normalization import with_left_out
from gnomon.scores.plausibility import wild_scores
from gnomon.scores.steps import at_common_step
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.all_pairs import compare_all
from gnomon.stats.comparisons.comparison_records import Comparison, Comparisons
from gnomon.stats.estimate_records import Estimate
from gnomon.stats.estimates import estimate
from gnomon.tables import p_value

#: What each section is called on a page.
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
#: Critical differences are computed for at most so many algorithms.
MOST_IN_DIAGRAM = 60
#: A number of runs this many times the present one is out of reach.
HOPELESS = 100
#: Pairs that are named, those that contradict one another first.
MOST_PAIRS = 12
#: At most one in so many tasks, and at least one, are a few.
FEW_OF = 8
#: Statements that no table of a page holds.
NOT_IN_TABLES = ("unscaled", "not asked", "not estimable", "won outright")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit(Results[Statement]):
    """Statements of an audit, section by section, and the results behind them.

    Its `warnings` are notes at the end of the text.

    Parameters
    ----------
    table : ScoreTable
    estimates : sequence of Estimate
        Of normalised scores, otherwise of scores scaled task by task; empty if no task is shared.
    ranking : Ranking
    critical_difference : CriticalDifference or None
        None where fewer than two tasks are shared by all, and for more than sixty algorithms.

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

    def page(self, title: str = "Audit") -> Any:
        """Return the page of the audit; its ``save(folder)`` writes it with figures and tables."""
        made: Any = pkgutil.resolve_name("gnomon.reports.audit_page:audit_report")(self, title)
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
    """Audit a table of scores: what it holds, and how reliable its order is.

    For a table of items it reports what the items hold and lack, and which of them distinguish the
    models.

    Parameters
    ----------
    scores : ScoreTable
        Any table: of a paper, a leaderboard or one's own runs. One score per run; a table with
        steps is audited at the last step that all runs on a task reach. If its scores are
        normalised, so are the summaries.
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
    table, draws = at_common_step(scores), generator(rng)
    if table.units == "items":
        return ItemAudit(item_statements(table, draws), made_by(rng), table=table)
    with noted() as notes:
        ranking = rank(table, level=level)
        kept = table.select(algorithms=[n for n in table.algorithms if n in ranking.names])
        scaled = scaled_by_task(kept) if kept.normalization is None else kept
        how: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "rng": draws}
        estimates = _estimates(scaled, resampling=ranking.resampling, **how)
        diagram = _critical_difference(table, ranking, level)
    # Warnings of single pairs repeat what the sections above report for each algorithm.
    with noted():
        means = _compared(scaled, **how)
    statements = (
        *_on_table(with_left_out(table)),
        *_on_estimates(estimates, kept),
        *_on_ranks(ranking, len(with_left_out(table).tasks) - len(table.tasks)),
        *_on_diagram(diagram, len(ranking)),
        *_on_metrics(estimates, ranking),
        *_on_agreement(means, ranking, scaled),
        *_on_runs(ranking),
    )
    return Audit(
        statements,
        made_by(rng, level=level, resampling=ranking.resampling, n_resamples=n_resamples),
        tuple(notes),
        table=table,
        estimates=estimates,
        ranking=ranking,
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
    table: ScoreTable, ranking: Ranking, level: float
) -> CriticalDifference | None:
    if len(ranking) > MOST_IN_DIAGRAM:
        return None
    try:
        return critical_difference(table, level=level)
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


def _on_table(table: ScoreTable) -> list[Statement]:
    """Report what the table holds and lacks, and how many tasks all algorithms share."""
    head, *gaps = table.describe().splitlines()
    counts = table.run_counts[table.run_counts > 0]
    found = [Statement("table", "contents", head, float(len(table)))]
    shown = f"tasks: {listed(table.tasks, MOST_TASKS)}"
    found.append(Statement("table", "tasks", shown, float(len(table.tasks))))
    found += [Statement("table", "gap", gap) for gap in gaps]
    found += [Statement("table", "wild score", str(one), one.score) for one in wild_scores(table)]
    shared = len(table.shared_tasks())
    text = f"{shared} of {counted(len(table.tasks), 'task')} have scores of every algorithm"
    found.append(Statement("table", "shared tasks", text, float(shared)))
    if counts.size and counts.min() < 5:
        share = float((counts < 5).mean())
        text = f"{share:.0%} of the cells (an algorithm on a task) have fewer than five runs"
        found.append(Statement("table", "few runs", text, share))
    return found


def _on_estimates(estimates: Sequence[Estimate], table: ScoreTable) -> list[Statement]:
    """Give the summaries of all algorithms, best first, and their scale."""
    if not estimates:
        return [Statement("estimates", "none", "not estimable: no task is shared by all")]
    found = [Statement("estimates", "scale", scale_in_words(table))]
    for e in sorted(estimates, key=_place):
        known = f"{e.value:.3f}{_ends(e.low, e.high)}"
        text = f"{e.metric} of {e.algorithm}: {known if math.isfinite(e.value) else _CENSORED}"
        found.append(Statement("estimates", f"{e.metric} of {e.algorithm}", text, e.value))
    return found


_CENSORED = "not estimable, some runs are censored"


def _place(estimate: Estimate) -> tuple[int, float]:
    """Return what sorts by metric, then from the best to the worst; what is not estimable last."""
    value = estimate.value
    return METRICS.index(estimate.metric), -value if math.isfinite(value) else math.inf


def scale_in_words(table: ScoreTable) -> str:
    """Return over which tasks summaries of a table are, and on what scale.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1.0, 2.0]], "b": [[3.0, np.nan]]})
    >>> scale_in_words(table)[:41]
    'Over the 1 of 2 tasks that all share: sco'
    """
    there, shared = len(table.tasks), len(table.shared_tasks())
    tasks = f"Over the {shared} of {counted(there, 'task')} that all share"
    tasks = f"Over {counted(there, 'task')}" if shared == there else tasks
    if table.normalization is not None:
        unscaled = len(with_left_out(table).tasks) - there
        rest = f", without {counted(unscaled, 'task')} that have no anchors" if unscaled else ""
        return f"{tasks}: scores normalised by {table.normalization.name}{rest}"
    return (
        f"{tasks}: scores scaled task by task, from the worst to the best run in the table; "
        "another scale may give another order (--normalize)"
    )


def _ends(low: float, high: float, digits: int = 3) -> str:
    """Return an interval in brackets; nothing if there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return " (interval not estimable)"
    return f" [{low:.{digits}f}, {high:.{digits}f}]"


def _on_ranks(ranking: Ranking, n_unscaled: int) -> list[Statement]:
    """Give value and rank of every algorithm, and report which neighbours are separated.

    `n_unscaled` tasks were left out by normalising, and count here.
    """
    found = [
        Statement("ranks", "how", " ".join((f"{ranking.title.capitalize()}.", *ranking.notes)))
    ]
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


def _on_metrics(estimates: Sequence[Estimate], ranking: Ranking) -> list[Statement]:
    """Report which summaries give another order."""
    if not estimates:
        return [Statement("metrics", "none", "not estimable: no task is shared by all")]
    return [_on_metric(m, [e for e in estimates if e.metric == m], ranking) for m in METRICS]


def _on_metric(metric: str, estimates: Sequence[Estimate], ranking: Ranking) -> Statement:
    known = {e.algorithm: e.value for e in estimates if math.isfinite(e.value)}
    if len(known) < 2:
        return Statement("metrics", metric, f"{metric}: {_CENSORED}")
    order = sorted((n for n in ranking.names if n in known), key=lambda name: -known[name])
    text = f"{metric}: {' > '.join(order)}"
    place = {name: i for i, name in enumerate(ranking.names)}
    pairs = [
        (b, a)
        for i, a in enumerate(ranking.names)
        for b in ranking.names[i + 1 :]
        if a in known and b in known and known[b] - known[a] > 1e-9
    ]
    sure = [pair for pair in pairs if ranking.separated[place[pair[0]], place[pair[1]]]]
    if pairs:
        named = listed((f"{a} over {b}" for a, b in [*sure, *pairs][: len(pairs)]), 4)
        text += f"; {counted(len(pairs), 'pair')} in another order than the ranks ({named})"
        text += f", {len(sure)} of which the ranks separate" if sure else ""
    else:
        text += "; same order as the ranks"
    if len(known) < len(ranking.names):
        missing = [name for name in ranking.names if name not in known]
        text += f"; not estimable for {listed(missing)}, some of whose runs are censored"
    return Statement("metrics", metric, text, float(len(pairs)))


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


@dataclass(frozen=True)
class _Pair:
    """A pair in the order of the ranking: places, lead of the mean, and what separates it."""

    i: int
    j: int
    compared: Comparison
    lead: float
    by_mean: bool
    by_ranks: bool

    @property
    def turned(self) -> bool:
        """Whether the means have the opposite order."""
        return self.lead < 0.0

    @property
    def disagree(self) -> bool:
        """Whether means and ranks separate the pair differently."""
        return self.by_mean != self.by_ranks or (self.by_mean and self.turned)

    @property
    def weight(self) -> tuple[int, float]:
        """Sort key: plain contradictions first."""
        kind = 0 if self.by_mean and self.by_ranks else 1 if self.turned else 2
        return kind, self.compared.p_adjusted


def _on_agreement(
    means: Comparisons | None, ranking: Ranking, scores: ScoreTable
) -> list[Statement]:
    """Report the pairs on which comparing means and the ranks disagree, each with the reason."""
    pairs = [] if means is None else _pairs(means, ranking)
    if not pairs:
        text = "not estimable: no pair has both a test of means and a rank"
        return [Statement("agreement", "none", text)]
    apart = sorted((pair for pair in pairs if pair.disagree), key=lambda pair: pair.weight)
    found = [_counts(pairs, apart)]
    for pair in apart[:MOST_PAIRS]:
        name = f"{ranking.names[pair.i]} and {ranking.names[pair.j]}"
        text = f"{_contradiction(pair, ranking)}: {_reason(pair, ranking, scores)}"
        found.append(Statement("agreement", name, text, pair.lead))
    if len(apart) > MOST_PAIRS:
        more = len(apart) - MOST_PAIRS
        found.append(
            Statement("agreement", "further", f"and {counted(more, 'further pair')}", more)
        )
    return found


def _pairs(means: Comparisons, ranking: Ranking) -> list[_Pair]:
    """Return the pairs that both compare, in the order of the ranking."""
    place = {name: i for i, name in enumerate(ranking.names)}
    pairs = []
    for one in means:
        known = one.a in place and one.b in place
        if not known or math.isnan(one.p_adjusted):
            continue
        i, j = sorted((place[one.a], place[one.b]))
        lead = one.value if place[one.a] == i else -one.value
        by_mean = one.p_adjusted <= 1.0 - one.level
        pairs.append(_Pair(i, j, one, lead, by_mean, bool(ranking.separated[i, j])))
    return pairs


def _counts(pairs: Sequence[_Pair], apart: Sequence[_Pair]) -> Statement:
    """Report on how many pairs means and ranks disagree."""
    claims = "means measure the size of differences, ranks count wins between runs on the same task"
    if not apart:
        text = f"mean and ranks agree on {counted(len(pairs), 'pair')}; {claims}"
        return Statement("agreement", "pairs", text, 0.0)
    kinds = {
        "in opposite directions": [p for p in apart if p.by_mean and p.by_ranks],
        "by the mean alone": [p for p in apart if p.by_mean and not p.by_ranks],
        "by the ranks alone": [p for p in apart if p.by_ranks and not p.by_mean],
    }
    shown = ", ".join(f"{kind} {len(of)}" for kind, of in kinds.items() if of)
    text = f"of {counted(len(pairs), 'pair')}, separated {shown}; {claims}"
    return Statement("agreement", "pairs", text, float(len(apart)))


def _contradiction(pair: _Pair, ranking: Ranking) -> str:
    """Return what the ranks and what the mean show for a pair."""
    a, b = ranking.names[pair.i], ranking.names[pair.j]
    p = f"p {p_value(pair.compared.p_adjusted, '= ')}"
    first, second = (b, a) if pair.turned else (a, b)
    size = f"mean {abs(pair.lead):.3g} higher"
    if pair.by_ranks and pair.by_mean:
        return f"{a} ranks above {b}, and {b} has the {size} ({p}), each separated"
    if pair.by_ranks:
        other = f"the mean of {b} is higher" if pair.turned else "the mean does not separate them"
        return f"{a} ranks above {b}, separated, and {other} ({p})"
    ranked = f"ranks put {a} above, not separated" if pair.turned else "ranks do not separate them"
    return f"{first} has a {size} than {second} ({p}), and {ranked}"


def _reason(pair: _Pair, ranking: Ranking, scores: ScoreTable) -> str:
    """Return why they disagree, as far as the data show it."""
    names = ranking.names[pair.i], ranking.names[pair.j]
    tasks = scores.shared_tasks(names)
    x, y = ([scores.runs(name, task) for task in tasks] for name in names)
    lead = np.array([u.mean() - v.mean() for u, v in zip(x, y, strict=True)])
    if pair.by_mean and (pair.by_ranks or pair.turned):
        return _why_turned(-lead, pair, ranking, tasks)
    if pair.by_mean:
        return _why_ranks_do_not(lead, names, tasks, ranking)
    noise = np.array([_error(u) + _error(v) for u, v in zip(x, y, strict=True)])
    return _why_mean_does_not(lead, noise, tasks)


def _error(runs: FloatArray) -> float:
    """Return the squared standard error of a mean; 0 where a single run shows none."""
    return float(runs.var(ddof=1) / runs.size) if runs.size > 1 else 0.0


def _most(parts: FloatArray, rest: float) -> list[int]:
    """Return the largest parts without which at most `rest` is left of their sum."""
    order = [int(i) for i in np.argsort(-parts, kind="stable")]
    left = float(parts.sum()) - np.cumsum(parts[order])
    enough = np.flatnonzero(left <= rest + 1e-12)
    return order[: int(enough[0]) + 1] if enough.size else order


def _few(places: Sequence[int], tasks: Sequence[str]) -> bool:
    return len(places) <= max(1, len(tasks) // FEW_OF)


def _named(places: Sequence[int], tasks: Sequence[str]) -> str:
    return joined([tasks[i] for i in places])


def _why_turned(lead: FloatArray, pair: _Pair, ranking: Ranking, tasks: Sequence[str]) -> str:
    """Return why the second of two has the higher mean; `lead` is the second's on each task."""
    most = _most(lead, 0.0)
    if _few(most, tasks):
        return f"a few tasks decide the mean; without {_named(most, tasks)} it would not be higher"
    name, chance = ranking.names[pair.i], ranking.probability[pair.i, pair.j]
    if chance <= 0.5:
        return (
            f"{name} does not win more often against the other (P = {chance:.2f}); it ranks above "
            "by its wins against the rest"
        )
    return f"wins of {name} are many but small: {_wins(-lead, tasks)}"


def _wins(lead: FloatArray, tasks: Sequence[str]) -> str:
    """Return on how many tasks one is ahead, by how much, and how far behind on the others."""
    ahead, behind = lead[lead > 0.0], -lead[lead < 0.0]
    text = f"ahead on {ahead.size} of {counted(len(tasks), 'task')}"
    text += f" by {ahead.mean():.2g} on average" if ahead.size else ""
    return text + (f", behind by {behind.mean():.2g} on {behind.size}" if behind.size else "")


def _why_ranks_do_not(
    lead: FloatArray, names: tuple[str, str], tasks: Sequence[str], ranking: Ranking
) -> str:
    """Return why ranks do not separate two with significantly different means."""
    most = _most(lead, float(lead.sum()) / 2.0)
    if _few(most, tasks):
        make = "makes" if len(most) == 1 else "make"
        return f"a few tasks decide the mean: {_named(most, tasks)} {make} more than half of it"
    found = separation(ranking, *names)
    if math.isfinite(found.needed) and found.present < found.needed <= HOPELESS * found.present:
        unit = "runs per task" if found.unit == "runs" else "tasks"
        return f"too few {found.unit}: the ranks would need about {found.needed:,.0f} {unit}"
    return f"wins are nearly even: {_wins(lead, tasks)}"


def _why_mean_does_not(lead: FloatArray, noise: FloatArray, tasks: Sequence[str]) -> str:
    """Return why the mean does not separate two that the ranks separate."""
    most = _most(noise, float(noise.sum()) / 2.0)
    if noise.any() and _few(most, tasks):
        are = "has" if len(most) == 1 else "have"
        return (
            f"a few tasks dominate the noise of the mean: {_named(most, tasks)} {are} more than "
            "half of its variance"
        )
    if np.count_nonzero(lead > 0.0) > np.count_nonzero(lead < 0.0):
        return f"wins are many but small: {_wins(lead, tasks)}"
    error = math.sqrt(float(noise.sum()))
    size = f"{abs(float(lead.sum())) / error:.1f} standard errors" if error else "none"
    return f"too few runs for a difference of this size ({size})"
