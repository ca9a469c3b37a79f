"""Pairs on which a comparison of means and the ranks disagree, and why.

A mean says by how much one is better, over the tasks that have a scale; a place says who wins, run
against run, against everybody in the table. Both may be right, and both be sure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon._io.tables import p_value
from gnomon.errors import counted, joined
from gnomon.ranking.audits.statements import HOPELESS, Statement
from gnomon.ranking.ranks.ranking import Ranking, separation
from gnomon.ranking.tournament import Tournament
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.comparison_records import Comparison, Comparisons

SECTION = "agreement"
#: So many pairs are named, those that contradict one another first.
MOST_PAIRS = 12
#: One of so many tasks, and at least one of them, are few.
FEW_OF = 8


@dataclass(frozen=True)
class _Pair:
    """A pair in the order of the ranking: places in it, the mean's lead, and who separates it."""

    i: int
    j: int
    compared: Comparison
    lead: float
    by_mean: bool
    by_ranks: bool

    @property
    def turned(self) -> bool:
        """Whether the mean has them the other way round."""
        return self.lead < 0.0

    @property
    def disagree(self) -> bool:
        """Whether one of the two separates them in a direction that the other does not."""
        return self.by_mean != self.by_ranks or (self.by_mean and self.turned)

    @property
    def weight(self) -> tuple[int, float]:
        """What sorts by how plainly the two contradict one another."""
        kind = 0 if self.by_mean and self.by_ranks else 1 if self.turned else 2
        return kind, self.compared.p_adjusted


def on_agreement(
    means: Comparisons | None, ranking: Ranking, tournament: Tournament, scores: ScoreTable
) -> list[Statement]:
    """Say on which pairs comparing means and the ranks disagree, each with the reason.

    Parameters
    ----------
    means : Comparisons or None
        All pairs, in the mean of `scores`; None where they share no task.
    ranking : Ranking
    tournament : Tournament
        Of the ranking.
    scores : ScoreTable
        On one scale.
    """
    pairs = [] if means is None else _pairs(means, ranking)
    if not pairs:
        text = "not estimable: no pair has both a test of means and a place"
        return [Statement(SECTION, "none", text)]
    apart = sorted((pair for pair in pairs if pair.disagree), key=lambda pair: pair.weight)
    found = [_counts(pairs, apart)]
    for pair in apart[:MOST_PAIRS]:
        name = f"{ranking.names[pair.i]} and {ranking.names[pair.j]}"
        text = f"{_contradiction(pair, ranking)}: {_reason(pair, ranking, tournament, scores)}"
        found.append(Statement(SECTION, name, text, pair.lead))
    if len(apart) > MOST_PAIRS:
        more = len(apart) - MOST_PAIRS
        found.append(Statement(SECTION, "further", f"and {counted(more, 'further pair')}", more))
    return found


def _pairs(means: Comparisons, ranking: Ranking) -> list[_Pair]:
    """Return the pairs of which both can be asked, in the order of the ranking."""
    place = {name: i for i, name in enumerate(ranking.names)}
    part = {name: k for k, names in enumerate(ranking.components) for name in names}
    pairs = []
    for one in means:
        known = one.a in place and one.b in place and part[one.a] == part[one.b]
        if not known or math.isnan(one.p_adjusted):
            continue
        i, j = sorted((place[one.a], place[one.b]))
        lead = one.value if place[one.a] == i else -one.value
        by_mean = one.p_adjusted <= 1.0 - one.level
        pairs.append(_Pair(i, j, one, lead, by_mean, bool(ranking.separated[i, j])))
    return pairs


def _counts(pairs: Sequence[_Pair], apart: Sequence[_Pair]) -> Statement:
    """Say what each of the two claims, and of how many pairs they claim different things."""
    claims = (
        "a mean says by how much, over tasks that have a scale, a place who wins, run against run, "
        "against everybody"
    )
    if not apart:
        text = f"mean and ranks agree on {counted(len(pairs), 'pair')}; {claims}"
        return Statement(SECTION, "pairs", text, 0.0)
    kinds = {
        "in opposite directions": [p for p in apart if p.by_mean and p.by_ranks],
        "by the mean alone": [p for p in apart if p.by_mean and not p.by_ranks],
        "by the ranks alone": [p for p in apart if p.by_ranks and not p.by_mean],
    }
    shown = ", ".join(f"{kind} {len(of)}" for kind, of in kinds.items() if of)
    text = f"of {counted(len(pairs), 'pair')} separated {shown}; {claims}: both may be right"
    return Statement(SECTION, "pairs", text, float(len(apart)))


def _contradiction(pair: _Pair, ranking: Ranking) -> str:
    """Say what the ranks and what the mean claim of a pair."""
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


def _reason(pair: _Pair, ranking: Ranking, tournament: Tournament, scores: ScoreTable) -> str:
    """Say why, as far as it can be told."""
    names = ranking.names[pair.i], ranking.names[pair.j]
    tasks = scores.shared_tasks(names)
    x, y = ([scores.runs(name, task) for task in tasks] for name in names)
    lead = np.array([u.mean() - v.mean() for u, v in zip(x, y, strict=True)])
    if pair.by_mean and (pair.by_ranks or pair.turned):
        return _why_turned(-lead, names, tasks, tournament)
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


def _why_turned(
    lead: FloatArray, names: tuple[str, str], tasks: Sequence[str], tournament: Tournament
) -> str:
    """Say why the mean has the second of two above; `lead` is the second's, task by task."""
    most = _most(lead, 0.0)
    if _few(most, tasks):
        return f"a few tasks carry the mean, without {_named(most, tasks)} it would not be higher"
    i, j = (tournament.names.index(name) for name in names)
    if tournament.probability[i, j] <= 0.5:
        return (
            f"run against run {names[0]} does not win more often (P = "
            f"{tournament.probability[i, j]:.2f}), it ranks above by its wins against the others"
        )
    return f"wins of {names[0]} are many but small: {_wins(-lead, tasks)}"


def _wins(lead: FloatArray, tasks: Sequence[str]) -> str:
    """Say on how many tasks one is ahead and by how much, and how far behind on the others."""
    ahead, behind = lead[lead > 0.0], -lead[lead < 0.0]
    text = f"ahead on {ahead.size} of {counted(len(tasks), 'task')}"
    text += f" by {ahead.mean():.2g} on average" if ahead.size else ""
    return text + (f", behind by {behind.mean():.2g} on {behind.size}" if behind.size else "")


def _why_ranks_do_not(
    lead: FloatArray, names: tuple[str, str], tasks: Sequence[str], ranking: Ranking
) -> str:
    """Say why ranks do not separate two of which the first has the higher mean for certain."""
    most = _most(lead, float(lead.sum()) / 2.0)
    if _few(most, tasks):
        return f"a few tasks carry the mean, {_named(most, tasks)} more than half of it"
    found = separation(ranking, *names)
    if math.isfinite(found.needed) and found.present < found.needed <= HOPELESS * found.present:
        each = " of either on each task" if found.unit == "runs" else ""
        return f"not enough {found.unit} for the ranks, which take about {found.needed:,.0f}{each}"
    return f"who wins is nearly even: {_wins(lead, tasks)}"


def _why_mean_does_not(lead: FloatArray, noise: FloatArray, tasks: Sequence[str]) -> str:
    """Say why the mean does not separate two that the ranks do."""
    most = _most(noise, float(noise.sum()) / 2.0)
    if noise.any() and _few(most, tasks):
        are = "has" if len(most) == 1 else "have"
        return (
            f"a few tasks carry the mean's noise, {_named(most, tasks)} {are} more than half of "
            "its variance"
        )
    if np.count_nonzero(lead > 0.0) > np.count_nonzero(lead < 0.0):
        return f"wins are many but small: {_wins(lead, tasks)}"
    error = math.sqrt(float(noise.sum()))
    size = f"{abs(float(lead.sum())) / error:.1f} standard errors" if error else "none"
    return f"not enough runs for a difference of this size ({size})"
