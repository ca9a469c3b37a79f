"""Sentences about the numbers of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from gnomon.errors import counted, joined
from gnomon.plot import number
from gnomon.tables import p_value
from gohr.run_page.findings import Duel, Findings, Interval

#: Maximum number of names listed in a sentence; beyond it the sentence gives the count.
_FEW = 4
#: Maximum number of gaps in a run that are named.
_MOST_GAPS = 6


def interval(x: Interval) -> str:
    r"""Return a number with its interval, as far as they exist, on one line.

    Examples
    --------
    >>> interval(Interval(224.0, 138.0, float("inf"))), interval(Interval(5.0, *[float("nan")] * 2))
    ('224\xa0[138\xa0to\xa0∞]', '5 [not estimable]')
    """
    if not math.isfinite(x.value):
        return number(x.value)
    if math.isnan(x.low) or math.isnan(x.high):
        return f"{number(x.value)} [not estimable]"
    low, high = ("∞" if math.isinf(end) else number(end) for end in (x.low, x.high))
    return f"{number(x.value)} [{low} to {high}]".replace(" ", "\xa0")


def order_of(findings: Findings, learner: str) -> str:
    """Return a learner's rules from hardest to easiest, with ``≈`` between neighbours in a tie.

    Neighbours are in a tie if the data do not separate them.
    """
    order = findings.orders[learner]
    text = order[0]
    for before, name in pairwise(order):
        apart = frozenset((before, name)) in findings.separated[learner]
        text += f" {'>' if apart else '≈'} {name}"
    return text


def difficulty_sentence(findings: Findings, learner: str) -> str:
    """State which rule is hardest for a learner, and with what certainty."""
    order, played = findings.orders[learner], findings.of_learner(learner)
    hardest, easiest = order[0], order[-1]
    errors = f"median {interval(played[hardest].tce)}"
    if len(order) == 1:
        return f"{learner} played {hardest} alone: {errors} errors."
    apart = findings.separated[learner]
    tied = [name for name in order[1:] if frozenset((hardest, name)) not in apart]
    if len(tied) == len(order) - 1:
        return (
            f"For {learner} no rule stands out: the trials do not separate {hardest} ({errors} "
            f"errors) from {_some(tied)}."
        )
    text = f"For {learner} the hardest rule is {hardest} ({errors} errors)"
    text += f", though not separated from {_some(tied)}" if tied else ""
    return f"{text}; the easiest is {easiest} ({interval(played[easiest].tce)})."


def _some(names: Sequence[str]) -> str:
    """Return a few names, or the number of many."""
    return joined(names, "or") if len(names) <= _FEW else f"{len(names)} others"


def _rules(duels: Sequence[Duel]) -> str:
    """Return the rules of some duels: a few names, or the number of many."""
    return joined([d.rule for d in duels]) if len(duels) <= _FEW else f"{len(duels)} rules"


def duel_sentence(findings: Findings, a: str, b: str) -> str:
    """State which of two learners makes fewer errors, on how many rules, with what certainty."""
    duels = [d for d in findings.duels if (d.a, d.b) == (a, b)]
    if not duels:
        return f"{a} and {b} share no rule."
    won = {who: [d for d in duels if d.winner(findings.level) == who] for who in (a, b)}
    better, other = (a, b) if len(won[a]) >= len(won[b]) else (b, a)
    if not won[better]:
        where = duels[0].rule if len(duels) == 1 else f"any of {len(duels)} rules"
        return f"The trials do not separate {a} from {b} on {where}."
    text = f"{better} makes fewer errors than {other} on {_how_many(won[better], duels)}"
    if won[other]:
        text += f", {other} fewer on {_rules(won[other])}"
    undecided = [d for d in duels if d.winner(findings.level) is None]
    text += f"; undecided on {_rules(undecided)}" if undecided else ""
    return f"{text}."


def _how_many(won: Sequence[Duel], duels: Sequence[Duel]) -> str:
    """State the number of rules, with the largest p-value."""
    bound = f"p {p_value(max(d.p_value for d in won), '≤ ')}"
    if len(duels) == 1:
        return f"{won[0].rule} ({bound})"
    each = f"{bound} each" if len(won) > 1 else bound
    if len(won) == len(duels):
        return f"all {len(duels)} rules ({each})"
    return f"{_rules(won)} ({each})"


def trouble(findings: Findings) -> tuple[str, ...]:
    """State the caveats of the report: failures, gaps, learners that are shown the rule."""
    lines = []
    for name in findings.revealed:
        lines.append(
            f"{name} was shown what the rule permits (reveal): it is a yardstick, not a learner."
        )
    if findings.failed:
        lines.append(
            f"{counted(len(findings.failed), 'trial')} failed and "
            f"{'is' if len(findings.failed) == 1 else 'are'} left out: "
            + "; ".join(findings.failed[:5])
            + ("; and others, see below." if len(findings.failed) > 5 else ".")
        )
    if findings.missing:
        gaps = [f"{n} of {learner} on {rule}" for (learner, rule), n in findings.missing.items()]
        total = sum(findings.missing.values())
        more = len(gaps) - _MOST_GAPS
        named = [*gaps[:_MOST_GAPS], f"some of {counted(more, 'other pair')}"] if more > 0 else gaps
        lines.append(f"{counted(total, 'trial')} not played yet: {joined(named)}.")
    if findings.stopped:
        lines.append(
            f"Trials that stopped before others: {'; '.join(findings.stopped)}. Their errors count "
            "as they stood."
        )
    return tuple(lines)
