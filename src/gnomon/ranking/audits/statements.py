"""Statements of an audit, in sentences: one function for each section of its page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.errors import counted, listed
from gnomon.ranking.audits.intransitivity import Intransitivity, n_cycles
from gnomon.ranking.contest import Contest
from gnomon.ranking.critical_differences import CriticalDifference
from gnomon.ranking.kemeny.kemeny_order import MOST as MOST_BY_KEMENY
from gnomon.ranking.ranks.ranking import Ranking, Separation, rank_range, separation
from gnomon.ranking.ratings.method_orders import (
    MethodOrder,
    PoolEffect,
    in_words,
    reversed_pairs,
    rounded,
)
from gnomon.ranking.tournament import Tournament
from gnomon.results import FieldRecord
from gnomon.scores.normalization import with_left_out
from gnomon.scores.plausibility import wild_scores
from gnomon.scores.table import ScoreTable
from gnomon.stats.estimate_records import Estimate

#: Aggregates of scaled scores, whose orders are compared.
METRICS = ("mean", "median", "iqm")
#: So many tasks are named, so that one sees if a column is none, such as a number of parameters.
MOST_TASKS = 12
#: More have no critical differences: too many pairs to test, and none to read.
MOST_IN_DIAGRAM = 60
#: What takes so many times as many runs as there are will not be tried: it is said first.
HOPELESS = 100
#: Names of statements that no table of a page holds.
NOT_ASKED, NOT_ESTIMABLE, AT_BOUND = "not asked", "not estimable", "edges at their bound"
NOT_IN_TABLES = (NOT_ASKED, NOT_ESTIMABLE, AT_BOUND)
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


@dataclass(frozen=True)
class Statement(FieldRecord):
    """One statement of an audit.

    Parameters
    ----------
    section : str
        ``table``, ``estimates``, ``ranks``, ``methods``, ``metrics``, ``agreement``, ``pool``,
        ``runs`` or ``cycles``; of an evaluation ``table``, ``missing``, ``epochs``,
        ``duplicates``, ``discrimination``, ``range`` or ``scorers``.
    name : str
        What it is about.
    finding : str
        It, in words.
    value : float or None
        The number behind it, if there is one.

    Examples
    --------
    >>> Statement("ranks", "a", "rank 1 to 2").finding
    'rank 1 to 2'
    """

    section: str
    name: str
    finding: str
    value: float | None = None


def on_table(table: ScoreTable, contest: Contest) -> list[Statement]:
    """Say what the table holds, what it lacks, and how many tasks all share."""
    head, *gaps = table.describe().splitlines()
    sizes = contest.sizes[contest.sizes > 0]
    found = [Statement("table", "contents", head, float(len(table)))]
    shown = f"tasks: {listed(table.tasks, MOST_TASKS)}"
    found.append(Statement("table", "tasks", shown, float(len(table.tasks))))
    found += [Statement("table", "gap", gap) for gap in gaps]
    found += [Statement("table", "wild score", str(one), one.score) for one in wild_scores(table)]
    shared = len(table.shared_tasks(contest.names))
    found.append(
        Statement(
            "table",
            "shared tasks",
            f"{shared} of {counted(len(table.tasks), 'task')} have scores of every algorithm",
            float(shared),
        )
    )
    if sizes.size and sizes.min() < 5:
        text = "of the cells (an algorithm on a task) have fewer than five runs"
        share = float((sizes < 5).mean())
        found.append(Statement("table", "few runs", f"{share:.0%} {text}", share))
    return found


def on_estimates(
    estimates: Sequence[Estimate], table: ScoreTable, contest: Contest
) -> list[Statement]:
    """Give the summaries of everybody, best first, and the scale that they are on."""
    if not estimates:
        return [Statement("estimates", "none", "not estimable: no task is shared by all")]
    found = [Statement("estimates", "scale", scale_in_words(table, contest.names))]
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


def scale_in_words(table: ScoreTable, names: Sequence[str]) -> str:
    """Say over which tasks summaries of these algorithms are, and on what scale.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1.0, 2.0]], "b": [[3.0, np.nan]]})
    >>> scale_in_words(table, ["a", "b"])[:41]
    'Over the 1 of 2 tasks that all share: sco'
    """
    there, shared = len(table.tasks), len(table.shared_tasks(names))
    unscaled = len(with_left_out(table).tasks) - there
    tasks = f"Over the {shared} of {counted(there, 'task')} that all share"
    tasks = f"Over {counted(there, 'task')}" if shared == there else tasks
    if table.normalization is not None:
        rest = f", without {counted(unscaled, 'task')} that it has no scale for" if unscaled else ""
        return f"{tasks}: scores normalised by {table.normalization.name}{rest}"
    return (
        f"{tasks}: scores scaled task by task, from the worst to the best run in the table; on "
        "another scale the order may be another (--normalize)"
    )


def _ends(low: float, high: float, digits: int = 3) -> str:
    """Return an interval in brackets; nothing if there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return " (interval not estimable)"
    return f" [{low:.{digits}f}, {high:.{digits}f}]"


def on_ranks(ranking: Ranking, n_unscaled: int = 0) -> list[Statement]:
    """Give rating and ranks of everybody, and say of neighbours whether they are separated.

    `n_unscaled` tasks have no scale, and take part all the same.
    """
    n, drawn = ranking.settings["n_resamples"], ranking.resampling.replace("_", " ")
    how = (
        f"{100.0 * ranking.level:.4g} % intervals from {n:,} resamples of {drawn}; ranks hold "
        "together; a rating is the mean log-odds, run against run, against everybody in the table"
    )
    if n_unscaled:
        without = counted(n_unscaled, "task")
        how += f"; the {without} that normalising left out count, as who wins needs no scale"
    found = [Statement("ranks", "how", how)]
    for i, name in enumerate(ranking.names):
        ranks = f"rank {rank_range(int(ranking.rank_low[i]), int(ranking.rank_high[i]))}"
        rating = float(ranking.ratings[i])
        shown = f"{rating:.2f}{_ends(float(ranking.low[i]), float(ranking.high[i]), 2)}"
        shown = "not estimable" if math.isnan(rating) else shown
        found.append(Statement("ranks", name, f"{name}: {ranks}; rating {shown}", rating))
    for i, (a, b) in enumerate(zip(ranking.names, ranking.names[1:], strict=False)):
        above = float(ranking.above[i, i + 1])
        if _together(ranking, a, b):
            text = f"{a} over {b}: {_verdict(ranking, i)}"
            found.append(Statement("ranks", f"{a} over {b}", text, above))
        else:
            found.append(Statement("ranks", f"{a} and {b}", f"{a} and {b}: cannot be ordered"))
    return found


def _verdict(ranking: Ranking, i: int) -> str:
    """Say whether one is separated from the next."""
    if ranking.noise.torn[i, i + 1]:
        return "not estimable, too few common tasks connect them"
    if not np.isfinite(ranking.noise.difference_errors[i, i + 1]):
        unit = "runs" if ranking.resampling == "runs" else "tasks"
        return f"not estimable from so few {unit}"
    word = "separated" if ranking.separated[i, i + 1] else "not separated"
    return f"{word}, above in {_percent(float(ranking.above[i, i + 1]))} of resamples"


def on_bounds(tournament: Tournament) -> list[Statement]:
    """Say of how many pairs one wins every pair of runs: more than that no edge can say."""
    met = np.triu(tournament.weights, 1) > 0.0
    lead = np.abs(np.where(met, tournament.probability, 0.5) - 0.5)
    n = int(np.count_nonzero(lead >= 0.5 - 1e-12))
    if not n:
        return []
    text = (
        f"of {n} of {counted(tournament.n_edges, 'pair')} one wins every pair of runs on every "
        f"common task: ratings understate such leads, as no number of runs here gives more than "
        f"log-odds of {tournament.largest_edge:.2f}"
    )
    return [Statement("ranks", AT_BOUND, text, float(n))]


def _together(ranking: Ranking, a: str, b: str) -> bool:
    return any(a in part and b in part for part in ranking.components)


def _percent(share: float) -> str:
    if 0.995 <= share < 1.0:
        return "over 99 %"
    return f"{100.0 * share:.0f} %"


def on_methods(orders: Sequence[MethodOrder]) -> list[Statement]:
    """Say which methods give the same order, and which pairs others have the other way round."""
    if not orders:
        return [Statement("methods", "none", "not asked: some cannot be ordered against others")]
    reference, *others = [order for order in orders if order.method in FULL_ORDERS]
    same = [order.method for order in others if not order.reversed_pairs]
    text = f"hodge: {in_words(reference.names, reference.ratings)}"
    found = [Statement("methods", "hodge", text)]
    if same:
        text = f"the same order: {', '.join(same)}"
        found.append(Statement("methods", "same order", text, float(len(same))))
    for order in others:
        if order.reversed_pairs:
            n = len(order.reversed_pairs)
            turned = _pairs(order.reversed_pairs)
            text = f"{order.method}: {counted(n, 'pair')} the other way round ({turned})"
            found.append(Statement("methods", order.method, text, float(n)))
    for order in orders:
        if order.method in ("nash", "alpha-rank"):
            text = f"{order.method}: on top {_top(order)}"
            found.append(Statement("methods", order.method, text))
    if len(reference.names) > MOST_BY_KEMENY:
        text = f"kemeny: not asked of more than {MOST_BY_KEMENY} competitors"
        found.append(Statement("methods", NOT_ASKED, text))
    return found


def on_diagram(diagram: CriticalDifference | None, n_contestants: int) -> list[Statement]:
    """Say why there is no diagram of critical differences, if there is none."""
    if diagram is not None:
        return []
    if n_contestants > MOST_IN_DIAGRAM:
        why = f"critical differences: not asked of more than {MOST_IN_DIAGRAM} competitors"
        return [Statement("methods", NOT_ASKED, why)]
    why = "critical differences: not estimable: fewer than two tasks are shared by all"
    return [Statement("methods", NOT_ESTIMABLE, why)]


def _top(order: MethodOrder) -> str:
    """Return who shares the top in the equilibrium, or lasts longest."""
    if order.method == "nash":
        best = [n for n, r in zip(order.names, order.ratings, strict=True) if r > -1e-6]
        return ", ".join(best)
    shares = [(n, r) for n, r in zip(order.names, order.ratings, strict=True) if r >= 0.01]
    return ", ".join(f"{name} ({_percent(share)} of the time)" for name, share in shares)


def _pairs(pairs: Sequence[tuple[str, str]], most: int = 4) -> str:
    return listed((f"{b} over {a}" for a, b in pairs), most)


def on_metrics(estimates: Sequence[Estimate], ranking: Ranking) -> list[Statement]:
    """Say by which summaries the order is another."""
    if not estimates:
        return [Statement("metrics", "none", "not estimable: no task is shared by all")]
    return [_on_metric(m, [e for e in estimates if e.metric == m], ranking) for m in METRICS]


def _on_metric(metric: str, estimates: Sequence[Estimate], ranking: Ranking) -> Statement:
    known = {e.algorithm: e.value for e in estimates if math.isfinite(e.value)}
    if len(known) < 2:
        return Statement("metrics", metric, f"{metric}: {_CENSORED}")
    values = np.array([known.get(name, math.nan) for name in ranking.names])
    order = sorted((n for n in ranking.names if n in known), key=lambda name: -known[name])
    text = f"{metric}: {in_words(order, [known[name] for name in order])}"
    everybody = range(len(ranking.names))
    pairs = reversed_pairs(ranking.names, everybody, rounded(ranking.ratings), rounded(values))
    text += f"; {_unlike(pairs, ranking)}" if pairs else "; as ranked"
    if len(known) < len(ranking.names):
        missing = [name for name in ranking.names if name not in known]
        text += f"; not estimable for {listed(missing)}, some of whose runs are censored"
    return Statement("metrics", metric, text, float(len(pairs)))


def _unlike(pairs: Sequence[tuple[str, str]], ranking: Ranking) -> str:
    """Name the pairs that are unlike the ranking, those that it separates first."""
    place = {name: i for i, name in enumerate(ranking.names)}
    sure = [(a, b) for a, b in pairs if ranking.separated[place[a], place[b]]]
    named = _pairs([*sure, *(pair for pair in pairs if pair not in sure)])
    text = f"{counted(len(pairs), 'pair')} unlike the ranking ({named})"
    if not sure:
        return text
    if len(sure) == len(pairs):
        return f"{text}, {'which' if len(sure) == 1 else 'all of which'} the ranking separates"
    return f"{text}, {len(sure)} of which the ranking separates ({_pairs(sure)})"


def on_pool(pool: Sequence[PoolEffect], n_contestants: int) -> list[Statement]:
    """Say who changes places if somebody leaves."""
    if not pool:
        return [Statement("pool", "none", "not asked: nobody can leave so that two can be ordered")]
    found = []
    n_leavers = len({effect.left_out for effect in pool})
    if n_leavers < n_contestants:
        text = f"asked of {n_leavers} of the {n_contestants}, the first that can leave"
        found.append(Statement("pool", "asked", text))
    said: dict[tuple[str, frozenset[tuple[str, str]]], list[PoolEffect]] = {}
    for effect in pool:
        if effect.reversed_pairs:
            alike = effect.left_out, frozenset(effect.reversed_pairs)
            said.setdefault(alike, []).append(effect)
    for (left_out, pairs), effects in said.items():
        methods = ", ".join(effect.method for effect in effects)
        text = f"without {left_out}: {_pairs(effects[0].reversed_pairs)} ({methods})"
        found.append(Statement("pool", f"without {left_out}", text, float(len(pairs))))
    if not said:
        text = "no: whoever leaves, the others keep their order (hodge and borda)"
        found.append(Statement("pool", "stable", text, 0.0))
    return found


def on_runs(ranking: Ranking) -> list[Statement]:
    """Say whether the first two are separated, and else how many runs it would take."""
    a, b = ranking.names[:2]
    if not _together(ranking, a, b):
        return [Statement("runs", "first and second", f"{a} and {b} cannot be ordered")]
    found = separation(ranking, a, b)
    if found.separated:
        text = f"{a} and {b}: separated with the {_present(found)} there are"
        return [Statement("runs", "first and second", text, 0.0)]
    text = f"{a} and {b}: not separated; {_needed(found)}"
    further = found.further if found.needed > found.present else math.nan
    return [Statement("runs", "first and second", text, further)]


def _needed(found: Separation) -> str:
    """Say how many runs or tasks it would take, in all and beside those that there are."""
    if math.isnan(found.needed):
        return f"not estimable how many {found.unit} it would take"
    if math.isinf(found.needed):
        return "their ratings are equal"
    if found.needed <= found.present:
        # Their difference alone would do, but nobody is separated where all may be alike.
        return "the ratings of all spread no more than those of identical competitors"
    each = (
        f"{found.unit} of either on each task" if found.unit == "runs" else f"{found.unit} in all"
    )
    further = f"{found.further:,.0f} more than the {_present(found)} there are"
    about = f"about {found.needed:,.0f} {each}, {further}, "
    if found.needed > HOPELESS * found.present:
        about = f"it would take more than a hundred times as many {found.unit}: {about}"
    return f"{about}would do it in four of five cases, if the difference is as it looks"


def _present(found: Separation) -> str:
    """Return how many there are; where that differs between tasks, it is a mean."""
    n, whole = found.present, round(found.present)
    if math.isclose(n, whole, abs_tol=1e-6):
        return counted(whole, found.unit.removesuffix("s"))
    return f"{n:,.2f} {found.unit} (harmonic mean)"


def on_cycles(cyclic: Intransitivity, tournament: Tournament) -> list[Statement]:
    """Say how much no rating explains, beside what chance gives, and who beats whom in a circle."""
    if cyclic.decomposition.cycle_dimension == 0:
        text = "none possible: no three competitors have all met, nor any longer ring of them"
        return [Statement("cycles", "none", text)]
    if math.isnan(cyclic.value):
        return [
            Statement("cycles", "intransitivity", "intransitivity: not estimable, no differences")
        ]
    word = "above" if cyclic.value > cyclic.null_high else "within"
    word = "below" if cyclic.value < cyclic.null_low else word
    drawn = f"{cyclic.low:.2f} to {cyclic.high:.2f} in resamples, whose noise adds some"
    text = (
        f"intransitivity {cyclic.value:.2f} ({drawn}), {word} what identical competitors show "
        f"({cyclic.null_low:.2f} to {cyclic.null_high:.2f})"
    )
    found = [Statement("cycles", "intransitivity", text, cyclic.value)]
    n = n_cycles(tournament)
    if not n:
        found.append(Statement("cycles", "number", "no three beat one another in a circle", 0.0))
    else:
        verb = "beats" if n == 1 else "beat"
        text = f"{counted(n, 'three').replace('three', 'triple')} {verb} one another in a circle"
        found.append(Statement("cycles", "number", text, float(n)))
    for cycle in cyclic.cycles[:3]:
        name = " > ".join((*cycle.names, cycle.names[0]))
        text = (
            f"{name}: off by {cycle.curl:.2f}, this way round in {_percent(cycle.sign_frequency)}"
        )
        found.append(Statement("cycles", name, f"{text} of resamples", cycle.curl))
    return found
