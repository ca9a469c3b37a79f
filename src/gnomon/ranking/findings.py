"""What an audit finds, in sentences: one group of them for each section of its page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gnomon.ranking.intransitivity import Intransitivity
from gnomon.ranking.method_orders import MethodOrder, in_words
from gnomon.ranking.pairwise import Contest
from gnomon.ranking.pool import PoolEffect
from gnomon.ranking.rank_intervals import Ranking, rank_range
from gnomon.ranking.separation import separation
from gnomon.ranking.tournament import Tournament
from gnomon.ranking.triangles import n_cycles
from gnomon.scores.table import ScoreTable
from gnomon.stats.estimate import Estimate, finite_or_none

__all__ = ["METRICS", "Finding"]

#: Aggregates of scaled scores, whose orders are compared.
METRICS = ("mean", "median", "iqm")
#: So many tasks are named, so that one sees if a column is none, such as a number of parameters.
MOST_TASKS = 12
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


def on_table(table: ScoreTable, contest: Contest) -> list[Finding]:
    head, *gaps = table.describe().splitlines()
    sizes = contest.sizes[contest.sizes > 0]
    found = [Finding("table", "contents", head, float(len(table)))]
    shown = ", ".join(table.tasks[:MOST_TASKS]) + (", ..." if len(table.tasks) > MOST_TASKS else "")
    found.append(Finding("table", "tasks", f"tasks: {shown}", float(len(table.tasks))))
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


def on_estimates(estimates: Sequence[Estimate]) -> list[Finding]:
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


def on_ranks(ranking: Ranking) -> list[Finding]:
    found = []
    for i, name in enumerate(ranking.names):
        ranks = f"rank {rank_range(int(ranking.rank_low[i]), int(ranking.rank_high[i]))}"
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
    return _part(ranking, a) == _part(ranking, b)


def _percent(share: float) -> str:
    if 0.995 <= share < 1.0:
        return "over 99 %"
    return f"{100.0 * share:.0f} %"


def on_methods(orders: Sequence[MethodOrder]) -> list[Finding]:
    if not orders:
        return [Finding("methods", "none", "not asked: some cannot be ordered against others")]
    reference, *others = [order for order in orders if order.method in FULL_ORDERS]
    same = [order.method for order in others if not order.reversed_pairs]
    found = [Finding("methods", "hodge", f"hodge: {in_words(reference.names, reference.ratings)}")]
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


def on_metrics(estimates: Sequence[Estimate], ranking: Ranking) -> list[Finding]:
    """Say by which summaries the order is another."""
    found = []
    for metric in METRICS:
        of_metric = [e for e in estimates if e.metric == metric and math.isfinite(e.value)]
        order = sorted(of_metric, key=lambda e: (-e.value, ranking.names.index(e.algorithm)))
        if order:
            found.append(_on_metric(metric, order, ranking))
    return found or [Finding("metrics", "none", "not estimable: no task is shared by all")]


def _on_metric(metric: str, order: Sequence[Estimate], ranking: Ranking) -> Finding:
    at = np.array([ranking.names.index(e.algorithm) for e in order])
    values, ratings = np.array([e.value for e in order]), ranking.ratings[at]
    part = np.array([_part(ranking, e.algorithm) for e in order])
    comparable = part[:, None] == part
    turned = comparable & (values[:, None] > values + 1e-12) & (ratings[:, None] < ratings - 1e-9)
    n, sure = int(turned.sum()), int((turned & ranking.separated[np.ix_(at, at)]).sum())
    text = f"{metric}: {in_words([e.algorithm for e in order], values.tolist())}"
    text += f"; {_counted(n, 'pair')} unlike the ranking" if n else "; as ranked"
    text += f", {sure} of them separated there" if sure else ""
    return Finding("metrics", metric, text, float(n))


def _part(ranking: Ranking, name: str) -> int:
    """Return the number of the group in which one can be ordered."""
    return next(i for i, part in enumerate(ranking.components) if name in part)


def on_pool(pool: Sequence[PoolEffect], n_contestants: int) -> list[Finding]:
    """Say who changes places if somebody leaves."""
    if not pool:
        return [Finding("pool", "none", "not asked: nobody can leave so that two can be ordered")]
    found = []
    n_leavers = len({effect.left_out for effect in pool})
    if n_leavers < n_contestants:
        text = f"asked of {n_leavers} of the {n_contestants}, the first that can leave"
        found.append(Finding("pool", "asked", text))
    said: dict[tuple[str, str], list[str]] = {}
    for effect in pool:
        if effect.reversed_pairs:
            turned = _pairs(effect.reversed_pairs)
            said.setdefault((effect.left_out, turned), []).append(effect.method)
    for (left_out, turned), methods in said.items():
        n = max(len(e.reversed_pairs) for e in pool if e.left_out == left_out)
        text = f"without {left_out}: {turned} ({', '.join(methods)})"
        found.append(Finding("pool", f"without {left_out}", text, float(n)))
    if not said:
        text = "no: whoever leaves, the others keep their order (hodge and borda)"
        found.append(Finding("pool", "stable", text, 0.0))
    return found


def on_runs(ranking: Ranking) -> list[Finding]:
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


def on_cycles(cyclic: Intransitivity, tournament: Tournament) -> list[Finding]:
    if cyclic.decomposition.cycle_dimension == 0:
        text = "none possible: no three competitors have all met, nor any longer ring of them"
        return [Finding("cycles", "none", text)]
    if math.isnan(cyclic.value):
        return [
            Finding("cycles", "intransitivity", "intransitivity: not estimable, no differences")
        ]
    word = "above" if cyclic.value > cyclic.null_high else "within or below"
    drawn = f"{cyclic.low:.2f} to {cyclic.high:.2f} in resamples, whose noise adds some"
    text = (
        f"intransitivity {cyclic.value:.2f} ({drawn}), {word} what identical competitors show "
        f"({cyclic.null_low:.2f} to {cyclic.null_high:.2f})"
    )
    found = [Finding("cycles", "intransitivity", text, cyclic.value)]
    n = n_cycles(tournament)
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
