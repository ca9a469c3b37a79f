"""The numbers in the report of a run, each computed once, and sentences about them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product

import numpy as np
import numpy.typing as npt

from gnomon import ScoreTable, compare, estimate
from gnomon.errors import counted, joined
from gnomon.printing import number, p_value
from gnomon.results import recorded
from gnomon.stats import Comparison, Estimate, holm
from gohr.experiments.config import ExperimentConfig
from gohr.experiments.rule_elements import Elements, Trials, elements_of, rank_test, trials_by_rule
from gohr.experiments.rule_tags import TagEffects, tag_effects_of, tags_of_rules
from gohr.experiments.runs import Run
from gohr.experiments.scores import (
    RunEpisodes,
    cumulated_errors,
    run_episodes,
    score_episodes,
    stuck_rules,
)

FloatArray = npt.NDArray[np.float64]
#: Names listed in a sentence before it gives the count instead; gaps that are named.
_FEW, _MOST_GAPS = 4, 6


@dataclass(frozen=True, eq=False)
class Performance:
    """The trials of one learner on one rule that are done."""

    learner: str
    rule: str
    #: Cumulated errors, shape (trials, episodes).
    errors: npt.NDArray[np.int32]
    #: The median terminal cumulated error.
    tce: Estimate
    #: Number of trials that learned the rule.
    n_learned: int

    @property
    def ends(self) -> FloatArray:
        """The terminal cumulated errors, shape (trials,)."""
        return self.errors[:, -1].astype(np.float64)

    @property
    def n_trials(self) -> int:
        """Number of completed trials."""
        return len(self.errors)

    @property
    def median(self) -> str:
        """The median terminal cumulated error, with its interval in brackets."""
        if math.isnan(self.tce.low):
            return f"{number(self.tce.value)} [not estimable]"
        value, low, high = map(number, (self.tce.value, self.tce.low, self.tce.high))
        return f"{value} [{low}, {high}]".replace(" ", "\xa0")


@dataclass(frozen=True, eq=False)
class Findings:
    """All numbers of a report, as :func:`findings_of` returns them."""

    run: Run
    level: float
    seed: int
    #: By learner and rule, in the order of the experiment; pairs without a trial are left out.
    performances: Mapping[tuple[str, str], Performance]
    #: The rules of each learner by their median terminal cumulated error, hardest first.
    orders: Mapping[str, tuple[str, ...]]
    #: Pairs of rules that differ significantly for each learner: two-sided, Holm's correction.
    separated: Mapping[str, frozenset[frozenset[str]]]
    #: Pairs of learners on each rule that both played: the probability that the first is better.
    duels: Sequence[Comparison]
    #: The error of each failed trial, on one line.
    failed: tuple[str, ...]
    #: Number of trials of each pair that have not been played.
    missing: Mapping[tuple[str, str], int]
    #: What each tag of the rules costs each learner; empty if there are too few rules.
    tags: TagEffects
    #: Every rule compared with the baseline, if there is one.
    elements: Elements | None = None
    #: Pairs with trials of fewer episodes than others, such as of people who leave.
    stopped: tuple[str, ...] = ()
    #: A warning for each rule that lets no piece move on most boards as they are dealt.
    stuck: tuple[str, ...] = ()

    @property
    def config(self) -> ExperimentConfig:
        """The experiment that was played."""
        return self.run.config

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners with at least one trial that is done, in the order of the experiment."""
        return tuple(dict.fromkeys(learner for learner, _ in self.performances))

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules with at least one trial that is done, in the order of the experiment."""
        played = {rule for _, rule in self.performances}
        return tuple(rule.name for rule in self.config.rules if rule.name in played)

    def of_learner(self, learner: str) -> dict[str, Performance]:
        """Return the performance of a learner on each rule, the hardest first."""
        return {rule: self.performances[learner, rule] for rule in self.orders[learner]}

    def order_of(self, learner: str) -> str:
        """Return a learner's rules from hardest to easiest, with ``≈`` between ties.

        Neighbours are in a tie if they do not differ significantly.
        """
        order = self.orders[learner]
        text = order[0]
        for before, name in pairwise(order):
            apart = frozenset((before, name)) in self.separated[learner]
            text += f" {'>' if apart else '≈'} {name}"
        return text

    def difficulty(self, learner: str) -> str:
        """State which rule is hardest for a learner, and with what certainty."""
        order, played = self.orders[learner], self.of_learner(learner)
        hardest, easiest = order[0], order[-1]
        errors = f"median {played[hardest].median}"
        if len(order) == 1:
            return f"{learner} played {hardest} alone: {errors} errors."
        if not any(x.n_learned for x in played.values()):
            return (
                f"{learner} made most errors on {hardest} ({errors}) and fewest on {easiest} "
                f"({played[easiest].median}), but no trial learned its rule: more episodes may "
                "change the order."
            )
        apart = self.separated[learner]
        tied = [name for name in order[1:] if frozenset((hardest, name)) not in apart]
        if len(tied) == len(order) - 1:
            return (
                f"For {learner} no rule stands out: {hardest} ({errors} errors) is not "
                f"significantly harder than {_some(tied)}."
            )
        text = f"For {learner} the hardest rule is {hardest} ({errors} errors)"
        text += f", though not significantly harder than {_some(tied)}" if tied else ""
        return f"{text}; the easiest is {easiest} ({played[easiest].median})."

    def winner(self, duel: Comparison) -> str | None:
        """Return the learner that makes significantly fewer errors, or None if neither does."""
        return duel.better if duel.p_adjusted <= 1.0 - self.level else None

    def comparison(self, a: str, b: str) -> str:
        """State which of two learners makes fewer errors, on which rules, with what certainty."""
        duels = [d for d in self.duels if (d.a, d.b) == (a, b)]
        if not duels:
            return f"{a} and {b} share no rule."
        won = {who: [d for d in duels if self.winner(d) == who] for who in (a, b)}
        better, other = (a, b) if len(won[a]) >= len(won[b]) else (b, a)
        if not won[better]:
            where = duels[0].task if len(duels) == 1 else f"any of {len(duels)} rules"
            return f"{a} and {b} do not differ significantly on {where}."
        where = _rules(won[better])
        if len(won[better]) == len(duels) > 1:
            where = f"all {len(duels)} rules"
        largest = p_value(max(d.p_adjusted for d in won[better]), "≤ ")
        each = " each" if len(won[better]) > 1 else ""
        text = f"{better} makes fewer errors than {other} on {where}"
        text += f" (p {largest}{each})"
        text += f", {other} fewer on {_rules(won[other])}" if won[other] else ""
        undecided = [d for d in duels if self.winner(d) is None]
        text += f"; undecided on {_rules(undecided)}" if undecided else ""
        return f"{text}."

    def caveats(self) -> tuple[str, ...]:
        """State what limits the report: failures, gaps, learners that are shown the rule."""
        lines = [
            f"{name} was shown what the rule permits (reveal): it is a reference, not a learner."
            for name in self.config.revealed_to
        ]
        lines += [f"{warning[0].upper()}{warning[1:]}." for warning in self.stuck]
        if self.failed:
            lines.append(
                f"{counted(len(self.failed), 'trial')} failed and "
                f"{'is' if len(self.failed) == 1 else 'are'} left out: "
                + "; ".join(self.failed[:5])
                + (f"; and {len(self.failed) - 5} more." if len(self.failed) > 5 else ".")
            )
        if self.missing:
            gaps = [f"{n} of {learner} on {rule}" for (learner, rule), n in self.missing.items()]
            more = len(gaps) - _MOST_GAPS
            if more > 0:
                gaps[_MOST_GAPS:] = [f"some of {counted(more, 'other pair')}"]
            total = counted(sum(self.missing.values()), "trial")
            lines.append(f"{total} not played yet: {joined(gaps)}.")
        if self.stopped:
            lines.append(
                f"Trials that ended early: {'; '.join(self.stopped)}. Their errors up to "
                "that point count."
            )
        return tuple(lines)


def _some(names: Sequence[str]) -> str:
    """Return a few names, or the number of many."""
    return joined(names, "or") if len(names) <= _FEW else f"{len(names)} others"


def _rules(duels: Sequence[Comparison]) -> str:
    """Return the rules of some duels: a few names, or the number of many."""
    return joined([str(d.task) for d in duels]) if len(duels) <= _FEW else f"{len(duels)} rules"


def findings_of(
    run: Run, *, seed: int = 0, level: float = 0.95, baseline: str | None = None
) -> Findings:
    """Compute all numbers of the report of a run.

    Parameters
    ----------
    run : Run
        The run, finished or not.
    seed : int
        Seed of the resamples.
    level : float
        Confidence level, between 0 and 1.
    baseline : str, optional
        The rule to compare the others with; by default that of the experiment, if it has one.

    Raises
    ------
    RunError
        If the run is damaged.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=3, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = findings_of(gohr.run(config, folder))
    >>> list(found.performances)
    [('uniform', 'color-match')]
    """
    trials, episodes, own = run.trials(), run_episodes(run), run.config.baseline
    table, played = score_episodes(run, "tce", episodes), trials_by_rule(episodes)
    with recorded(silently=True):  # about intervals, which the page marks as not estimable
        medians = estimate(table, per_task=True, level=level) if episodes else ()
    tce, errors = {(x.algorithm, str(x.task)): x for x in medians}, cumulated_errors(episodes)
    made = Counter((x.learner, x.rule) for x in trials)
    owed = {
        (learner.name, rule.name): run.config.n_trials_on(rule.name) - made[learner.name, rule.name]
        for learner, rule in product(run.config.learners, run.config.rules)
    }
    performances = {
        (learner, rule): Performance(
            learner,
            rule,
            errors[learner, rule],
            tce[learner, rule],
            int(played[learner][rule].learned.sum()),
        )
        for learner, rule in owed
        if (learner, rule) in errors
    }
    ends: dict[str, dict[str, FloatArray]] = {}
    for (learner, rule), x in performances.items():
        ends.setdefault(learner, {})[rule] = x.ends
    elements = None
    if baseline is not None or (
        len(run.config.rules) > 1 and any(own in rules for rules in played.values())
    ):
        elements = elements_of(run.config, baseline, played, level=level, rng=seed)
    return Findings(
        run=run,
        level=level,
        seed=seed,
        performances=performances,
        orders={
            name: tuple(sorted(own, key=lambda rule: -performances[name, rule].tce.value))
            for name, own in ends.items()
        },
        separated={name: _separated(own, level) for name, own in played.items()},
        duels=_duels(table, ends),
        failed=tuple(
            f"trial {t.trial} of {t.learner} on {t.rule}: {t.error}"
            for t in trials
            if t.status == "failed"
        ),
        missing={pair: n for pair, n in owed.items() if n},
        tags=tag_effects_of(ends, tags_of_rules(run.config), level=level),
        elements=elements,
        stopped=tuple(_stopped_early(episodes)),
        stuck=stuck_rules(run.config, episodes),
    )


def _duels(table: ScoreTable, ends: Mapping[str, Mapping[str, FloatArray]]) -> list[Comparison]:
    """Return every pair of learners on every rule that both played, corrected for all of them."""
    found: list[Comparison] = []
    for rule in dict.fromkeys(rule for own in ends.values() for rule in own):
        names = [name for name in ends if rule in ends[name]]
        if len(names) > 1:
            with recorded(silently=True):  # about intervals, which are not shown
                alone = table.select(algorithms=names, tasks=[rule])
                pairs = compare(alone, metrics="probability_of_improvement")
            found += [replace(one, task=rule) for one in pairs]
    adjusted = holm([one.p_value for one in found])
    return [replace(one, p_adjusted=float(p)) for one, p in zip(found, adjusted, strict=True)]


def _separated(rules: Mapping[str, Trials], level: float) -> frozenset[frozenset[str]]:
    """Return the pairs of rules that differ significantly in the tests of :func:`elements`."""
    pairs = [*combinations(rules, 2)]
    p_values = holm([rank_test(rules[a], rules[b]) for a, b in pairs])
    separated = zip(pairs, p_values, strict=True)
    return frozenset(frozenset(pair) for pair, p in separated if p <= 1.0 - level)


def _stopped_early(episodes: RunEpisodes) -> Iterator[str]:
    """List the learners with trials of fewer episodes than others."""
    lengths: dict[tuple[str, str], list[int]] = {}
    for record, (errors, _) in episodes.items():
        lengths.setdefault((record.learner, record.rule), []).append(len(errors))
    for (learner, rule), played in lengths.items():
        n_short = sum(n < max(played) for n in played)
        if n_short:
            after = f"{min(played)} of {counted(max(played), 'episode')}"
            yield f"{n_short} of {len(played)} of {learner} on {rule}, the first after {after}"
