"""An audit of anybody's table of scores: what it holds, and which of its ranks can be believed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gnomon.errors import DegenerateScoresWarning, GnomonError
from gnomon.ranking.critical_difference import CriticalDifference, critical_difference
from gnomon.ranking.hodge import worst_triangles
from gnomon.ranking.intransitivity import Intransitivity, measure_intransitivity
from gnomon.ranking.methods import METHODS, MethodOrder, orders_by_method
from gnomon.ranking.pairwise import Contest
from gnomon.ranking.rank_intervals import Ranking, rank, separation
from gnomon.ranking.tournament import Tournament
from gnomon.scores.table import ScoreTable
from gnomon.stats.estimate import Estimate, estimate_aggregates, finite_or_none

__all__ = ["Audit", "Finding", "PoolEffect", "audit", "pool_effects", "scaled_by_task"]

#: Aggregates of scaled scores, whose orders are compared.
METRICS = ("mean", "median", "iqm")
#: Beyond this number an audit leaves out Kemeny's order.
KEMENY_AT_MOST = 20
#: Methods whose order is a full one; Nash averaging and alpha-Rank order the top alone.
FULL_ORDERS = (
    "hodge",
    "gohr-ev",
    "bradley-terry",
    "elo",
    "borda",
    "mean-rank",
    "copeland",
    "kemeny",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that an audit found.

    Parameters
    ----------
    section : str
        ``table``, ``estimates``, ``ranks``, ``methods``, ``metrics``, ``pool``, ``runs`` or
        ``cycles``.
    name : str
        What it is about.
    finding : str
        It, in words.
    value : float or None
        The number behind it, if there is one.
    """

    section: str
    name: str
    finding: str
    value: float | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON, None for what is not a finite number."""
        return {name: finite_or_none(value) for name, value in asdict(self).items()}


@dataclass(frozen=True)
class PoolEffect:
    """What becomes of the others' order if one contestant leaves.

    Parameters
    ----------
    left_out : str
    method : str
    reversed_pairs : tuple of (str, str)
        Pairs of others that change places.
    """

    left_out: str
    method: str
    reversed_pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found, in sentences and as the records they are made of.

    Parameters
    ----------
    table : ScoreTable
    findings : tuple of Finding
    estimates : tuple of Estimate
        Of scores scaled task by task; empty where not estimable.
    ranking : Ranking
    tournament : Tournament
    orders : tuple of MethodOrder
    pool : tuple of PoolEffect
    intransitivity : Intransitivity
    critical_difference : CriticalDifference or None
        None where fewer than two tasks are shared by all.
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
        """Return the findings as a page of text, section by section."""
        lines: list[str] = []
        for section in dict.fromkeys(f.section for f in self.findings):
            lines += ["", TITLES[section], "-" * len(TITLES[section])]
            lines += [f"{f.finding}" for f in self.findings if f.section == section]
        return "\n".join(lines[1:])


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
        run; a table with steps is audited at each run's last step.
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
        The table cannot be ranked at all: see :func:`gnomon.ranking.rank_intervals.rank`.

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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DegenerateScoresWarning)
        contest = Contest.from_table(table)
        ranking = rank(contest, level=level, n_resamples=n_resamples, rng=rng)
        tournament = Tournament.of(contest)
        connected = len(tournament.components) == 1
        # Kemeny's order of many may take minutes where margins are noise.
        methods = [m for m in METHODS if m != "kemeny" or len(contest.names) <= KEMENY_AT_MOST]
        orders = orders_by_method(contest, tournament, methods) if connected else []
        pool = pool_effects(contest) if connected else []
        cyclic = measure_intransitivity(contest, level=level, n_resamples=n_resamples, rng=rng)
        estimates = _estimates(table, level, n_resamples, rng)
        diagram = _critical_difference(contest, level)
    notes = tuple(
        dict.fromkeys(
            str(w.message) for w in caught if issubclass(w.category, DegenerateScoresWarning)
        )
    )
    findings = [
        *_on_table(table, contest),
        *_on_estimates(estimates),
        *_on_ranks(ranking),
        *_on_methods(orders),
        *_on_metrics(estimates, ranking),
        *_on_pool(pool),
        *_on_runs(ranking),
        *_on_cycles(cyclic, tournament),
    ]
    return Audit(
        table,
        tuple(findings),
        tuple(estimates),
        ranking,
        tournament,
        tuple(orders),
        tuple(pool),
        cyclic,
        diagram,
        notes,
    )


def scaled_by_task(table: ScoreTable) -> ScoreTable:
    """Return scores from 0 (the worst run of anybody on the task) to 1 (the best).

    Censored runs are 0, as is the worst that is not; where all runs are equal, all are 1/2. The
    scale depends on who is in the table: it serves to compare orders, not to publish.

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
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
        for name, runs in cells.items():
            scaled = (
                (np.clip(runs, low, high) - low) / (high - low) if high > low else runs * 0 + 0.5
            )
            records += [
                {"algorithm": name, "task": task, "run": run, "score": float(score)}
                for run, score in zip(table.run_labels(name, task), scaled, strict=True)
            ]
    note = "scaled task by task to the range of all runs"
    return ScoreTable.from_records(
        records, metric=table.metric, provenance=(*table.provenance, note)
    )


def _estimates(
    table: ScoreTable, level: float, n_resamples: int, rng: np.random.Generator
) -> list[Estimate]:
    """Return the summaries of scaled scores; none where no task is shared by all."""
    try:
        return estimate_aggregates(
            scaled_by_task(table), METRICS, level=level, n_resamples=n_resamples, rng=rng
        )
    except GnomonError as error:
        warnings.warn(f"summary scores: {error}", DegenerateScoresWarning, stacklevel=2)
        return []


def _critical_difference(contest: Contest, level: float) -> CriticalDifference | None:
    several = int(contest.sizes.max()) > 1
    try:
        return critical_difference(
            contest, differences="wins" if several else "scores", level=level
        )
    except GnomonError:
        return None


def pool_effects(contest: Contest, methods: Sequence[str] = ("hodge", "borda")) -> list[PoolEffect]:
    """Return who changes places when a contestant leaves the pool, for each and each method."""
    if len(contest.names) < 3:
        return []
    before = {
        order.method: order.names
        for order in orders_by_method(contest, Tournament.of(contest), methods)
    }
    found = []
    for name in contest.names:
        others = contest.without(name)
        graph = Tournament.of(others)
        if len(graph.components) > 1:
            continue
        for order in orders_by_method(others, graph, methods):
            old = [other for other in before[order.method] if other != name]
            place = {other: i for i, other in enumerate(order.names)}
            pairs = [(a, b) for i, a in enumerate(old) for b in old[i + 1 :]]
            turned = tuple((a, b) for a, b in pairs if place[a] > place[b])
            found.append(PoolEffect(name, order.method, turned))
    return found


def _on_table(table: ScoreTable, contest: Contest) -> list[Finding]:
    head, *gaps = table.describe().splitlines()
    sizes = contest.sizes[contest.sizes > 0]
    found = [Finding("table", "contents", head, float(len(table)))]
    found += [Finding("table", "gap", gap) for gap in gaps]
    shared = len(table.shared_tasks(contest.names))
    found.append(
        Finding(
            "table",
            "shared tasks",
            f"{shared} of {_counted(len(table.tasks), 'task')} have scores of every algorithm",
            float(shared),
        )
    )
    if sizes.size and sizes.min() < 5:
        text = "of the cells (an algorithm on a task) have fewer than five runs"
        share = float((sizes < 5).mean())
        found.append(Finding("table", "few runs", f"{share:.0%} {text}", share))
    return found


def _on_estimates(estimates: Sequence[Estimate]) -> list[Finding]:
    if not estimates:
        return [Finding("estimates", "none", "not estimable: no task is shared by all")]
    note = "Scores are scaled task by task, from the worst to the best run in the table."
    found = [Finding("estimates", "scale", note)]
    for e in sorted(estimates, key=lambda e: (METRICS.index(e.metric), -e.value)):
        text = f"{e.metric} of {e.algorithm}: {e.value:.3f}{_ends(e.low, e.high)}"
        found.append(Finding("estimates", f"{e.metric} of {e.algorithm}", text, e.value))
    return found


def _ends(low: float, high: float, digits: int = 3) -> str:
    """Return an interval in brackets; nothing if there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return " (interval not estimable)"
    return f" [{low:.{digits}f}, {high:.{digits}f}]"


def _on_ranks(ranking: Ranking) -> list[Finding]:
    found = []
    for i, name in enumerate(ranking.names):
        ranks = _ranks(int(ranking.rank_low[i]), int(ranking.rank_high[i]))
        rating = float(ranking.ratings[i])
        shown = f"{rating:.2f}{_ends(float(ranking.low[i]), float(ranking.high[i]), 2)}"
        shown = "not estimable" if math.isnan(rating) else shown
        found.append(Finding("ranks", name, f"{name}: {ranks}; rating {shown}", rating))
    for i, (a, b) in enumerate(zip(ranking.names, ranking.names[1:], strict=False)):
        above = float(ranking.above[i, i + 1])
        if _together(ranking, a, b):
            text = f"{a} over {b}: {_verdict(ranking, i)}"
            found.append(Finding("ranks", f"{a} over {b}", text, above))
        else:
            found.append(Finding("ranks", f"{a} and {b}", f"{a} and {b}: cannot be ordered"))
    return found


def _verdict(ranking: Ranking, i: int) -> str:
    """Say whether one is separated from the next."""
    if not np.isfinite(ranking.noise.difference_errors[i, i + 1]):
        return "not estimable from so few runs"
    word = "separated" if ranking.separated[i, i + 1] else "not separated"
    return f"{word}, above in {_percent(float(ranking.above[i, i + 1]))} of resamples"


def _together(ranking: Ranking, a: str, b: str) -> bool:
    return any(a in part and b in part for part in ranking.components)


def _ranks(low: int, high: int) -> str:
    return f"rank {low}" if low == high else f"rank {low} to {high}"


def _percent(share: float) -> str:
    if 0.995 <= share < 1.0:
        return "over 99 %"
    return f"{100.0 * share:.0f} %"


def _on_methods(orders: Sequence[MethodOrder]) -> list[Finding]:
    if not orders:
        return [Finding("methods", "none", "not asked: some cannot be ordered against others")]
    reference, *others = [order for order in orders if order.method in FULL_ORDERS]
    same = [order.method for order in others if not order.reversed_pairs]
    found = [Finding("methods", "hodge", f"hodge: {' > '.join(reference.names)}")]
    if same:
        found.append(
            Finding("methods", "same order", f"the same order: {', '.join(same)}", float(len(same)))
        )
    for order in others:
        if order.reversed_pairs:
            n = len(order.reversed_pairs)
            turned = _pairs(order.reversed_pairs)
            text = f"{order.method}: {_counted(n, 'pair')} the other way round ({turned})"
            found.append(Finding("methods", order.method, text, float(n)))
    for order in orders:
        if order.method in ("nash", "alpha-rank"):
            text = f"{order.method}: on top {_top(order)}"
            found.append(Finding("methods", order.method, text))
    return found


def _top(order: MethodOrder) -> str:
    """Return who shares the top in the equilibrium, or lasts longest."""
    if order.method == "nash":
        best = [n for n, r in zip(order.names, order.ratings, strict=True) if r > -1e-6]
        return ", ".join(best)
    shares = [(n, r) for n, r in zip(order.names, order.ratings, strict=True) if r >= 0.01]
    return ", ".join(f"{name} ({_percent(share)} of the time)" for name, share in shares)


def _pairs(pairs: Sequence[tuple[str, str]], most: int = 4) -> str:
    shown = ", ".join(f"{b} over {a}" for a, b in pairs[:most])
    return shown + (", ..." if len(pairs) > most else "")


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _on_metrics(estimates: Sequence[Estimate], ranking: Ranking) -> list[Finding]:
    found, orders = [], {}
    for metric in METRICS:
        of_metric = [e for e in estimates if e.metric == metric and math.isfinite(e.value)]
        orders[metric] = [e.algorithm for e in sorted(of_metric, key=lambda e: -e.value)]
    place = {name: i for i, name in enumerate(ranking.names)}
    for metric, order in orders.items():
        if not order:
            continue
        pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
        turned = [(b, a) for a, b in pairs if place[a] > place[b] and _together(ranking, a, b)]
        sure = [(a, b) for a, b in turned if ranking.separated[place[a], place[b]]]
        text = f"{metric}: {' > '.join(order)}"
        text += f"; {_counted(len(turned), 'pair')} unlike the ranking" if turned else "; as ranked"
        text += f", {len(sure)} of them separated there" if sure else ""
        found.append(Finding("metrics", metric, text, float(len(turned))))
    return found or [Finding("metrics", "none", "not estimable: no task is shared by all")]


def _on_pool(pool: Sequence[PoolEffect]) -> list[Finding]:
    found = []
    said: dict[tuple[str, str], list[str]] = {}
    for effect in pool:
        if effect.reversed_pairs:
            said.setdefault((effect.left_out, _pairs(effect.reversed_pairs)), []).append(
                effect.method
            )
    for (left_out, turned), methods in said.items():
        text = f"without {left_out}: {turned} ({', '.join(methods)})"
        found.append(Finding("pool", f"without {left_out}", text, float(turned.count(" over "))))
    if not pool:
        return [Finding("pool", "none", "not asked: nobody can leave so that two can be ordered")]
    if not found:
        text = "no: whoever leaves, the others keep their order (hodge and borda)"
        return [Finding("pool", "stable", text, 0.0)]
    return found


def _on_runs(ranking: Ranking) -> list[Finding]:
    a, b = ranking.names[:2]
    if not _together(ranking, a, b):
        return [Finding("runs", "first and second", f"{a} and {b} cannot be ordered")]
    found = separation(ranking, a, b)
    if found.separated:
        text = f"{a} and {b}: separated with the {found.present:.3g} {found.unit} there are"
        return [Finding("runs", "first and second", text, 0.0)]
    text = f"{a} and {b}: not separated"
    if math.isnan(found.needed):
        text += f"; not estimable how many {found.unit} it would take"
    elif math.isinf(found.needed):
        text += "; their ratings are equal"
    else:
        each = "of either on each task" if found.unit == "runs" else "in all"
        text += (
            f"; about {found.needed:,.0f} {found.unit} {each} would do it in four of five cases, "
            f"if the difference is as it looks (there are {found.present:.3g})"
        )
    return [Finding("runs", "first and second", text, found.further)]


def _on_cycles(cyclic: Intransitivity, tournament: Tournament) -> list[Finding]:
    if math.isnan(cyclic.value):
        return [
            Finding("cycles", "intransitivity", "intransitivity: not estimable, no differences")
        ]
    word = "above" if cyclic.value > cyclic.null_high else "within or below"
    text = (
        f"intransitivity {cyclic.value:.2f}{_ends(cyclic.low, cyclic.high, 2)}, {word} what "
        f"identical competitors show ({cyclic.null_low:.2f} to {cyclic.null_high:.2f})"
    )
    found = [Finding("cycles", "intransitivity", text, cyclic.value)]
    n = len(worst_triangles(tournament, 10**9, cycles_only=True))
    if not n:
        found.append(Finding("cycles", "number", "no three beat one another in a circle", 0.0))
    else:
        verb = "beats" if n == 1 else "beat"
        text = f"{_counted(n, 'three').replace('three', 'triple')} {verb} one another in a circle"
        found.append(Finding("cycles", "number", text, float(n)))
    for cycle in cyclic.cycles[:3]:
        name = " > ".join((*cycle.names, cycle.names[0]))
        text = (
            f"{name}: off by {cycle.curl:.2f}, this way round in {_percent(cycle.sign_frequency)}"
        )
        found.append(Finding("cycles", name, f"{text} of resamples", cycle.curl))
    return found
