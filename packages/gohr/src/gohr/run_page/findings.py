"""Computation of the numbers in the report of a run, each computed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import ScoreTable, estimate
from gnomon.errors import counted
from gnomon.results import noted
from gnomon.stats import (
    Estimates,
    PairwiseTest,
    holm,
    mann_whitney,
    mann_whitney_table,
    median_curve,
    median_interval,
)
from gohr.experiments.card import read_card
from gohr.experiments.config.experiment_config import ExperimentConfig
from gohr.experiments.rule_elements import Elements, elements_of, trials_by_rule
from gohr.experiments.run_folder import RunFolder
from gohr.experiments.scoring.run_episodes import RunEpisodes, run_episodes
from gohr.experiments.scoring.run_scores import cumulated_errors, score_table
from gohr.run_page.error_plots import MedianCurve

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with the ends of its confidence interval; NaN where there is none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Performance:
    """Outcome of the trials of one learner on one rule.

    Parameters
    ----------
    learner, rule : str
        Their names in the experiment.
    errors : ndarray of float, shape (trials, episodes)
        Cumulated errors of the trials that are done.
    curve : MedianCurve
        Their median after each episode; labelled with the rule.
    tce : Interval
        The median terminal cumulated error.
    to_learn : Interval
        The median of the errors before the first streak without one; infinite if most trials have
        no such streak.
    n_learned : int
        Number of trials with such a streak.
    """

    learner: str
    rule: str
    errors: FloatArray
    curve: MedianCurve
    tce: Interval
    to_learn: Interval
    n_learned: int

    @property
    def ends(self) -> FloatArray:
        """The terminal cumulated errors, shape (trials,)."""
        return self.errors[:, -1]

    @property
    def n_trials(self) -> int:
        """Number of completed trials."""
        return len(self.errors)


@dataclass(frozen=True, slots=True)
class Duel:
    """Two learners on one rule.

    Parameters
    ----------
    rule, a, b : str
        Which ones.
    share : float
        Share of the pairs of trials in which `a` made fewer errors than `b`; ties count one half.
    p_value : float
        p-value of the two-sided Mann-Whitney test, after Holm's correction over all comparisons of
        the report.

    Examples
    --------
    >>> Duel("clockwise", "uniform", "frugal", share=0.1, p_value=0.002).winner(0.95)
    'frugal'
    """

    rule: str
    a: str
    b: str
    share: float
    p_value: float

    def winner(self, level: float) -> str | None:
        """Return the learner that makes significantly fewer errors, or None if neither does."""
        if not self.p_value <= 1.0 - level:
            return None
        return self.a if self.share > 0.5 else self.b


@dataclass(frozen=True, eq=False)
class Findings:
    """All numbers of a report.

    Parameters
    ----------
    config : ExperimentConfig
        The experiment that was played.
    version : str
        The version of Gnomon that played it.
    level : float
        Confidence level of all intervals and decisions.
    n_resamples : int
        Number of bootstrap resamples behind each interval.
    seed : int
        Seed of the resamples.
    performances : mapping from (learner, rule) to Performance
        In the order of the experiment; pairs without a trial that is done are left out.
    orders : mapping from learner to tuple of str
        The rules by their median terminal cumulated error, hardest first.
    tests : mapping from learner to tuple of PairwiseTest
        One-sided, between rules.
    separated : mapping from learner to frozenset of pairs of rules
        Pairs that differ significantly: two-sided tests, Holm's correction over all pairs.
    duels : tuple of Duel
        Between learners, on each rule that both played.
    estimates : Estimates or None
        Summaries of each learner over the rules that all learners played; none if there is only
        one learner.
    failed : tuple of str
        The error of each failed trial, on one line.
    missing : mapping from (learner, rule) to int
        Number of trials that have not been played.
    revealed : tuple of str
        Learners that were shown what the rule permits.
    warnings : tuple of str
        Estimates that are not available.
    card : mapping
        How the run was played, from the run folder; see :mod:`gohr.experiments.card`.
    elements : Elements, optional
        Every rule compared with the baseline of the experiment, if it has one.
    stopped : tuple of str
        Pairs with trials of fewer episodes than others, such as of people who leave.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=3, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = gohr.run(config, folder)
    ...     found = findings_of(run.folder, n_resamples=50)
    >>> found.config.name, found.n_resamples
    ('tiny', 50)
    """

    config: ExperimentConfig
    version: str
    level: float
    n_resamples: int
    seed: int
    performances: Mapping[tuple[str, str], Performance]
    orders: Mapping[str, tuple[str, ...]]
    tests: Mapping[str, tuple[PairwiseTest, ...]]
    separated: Mapping[str, frozenset[frozenset[str]]]
    duels: tuple[Duel, ...]
    estimates: Estimates | None
    failed: tuple[str, ...]
    missing: Mapping[tuple[str, str], int]
    revealed: tuple[str, ...]
    warnings: tuple[str, ...]
    card: Mapping[str, Any]
    elements: Elements | None = None
    stopped: tuple[str, ...] = ()

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
        """Return what became of a learner's trials, by rule."""
        return {r: x for (who, r), x in self.performances.items() if who == learner}


def findings_of(
    run_folder: RunFolder,
    *,
    seed: int = 0,
    level: float = 0.95,
    n_resamples: int = 50_000,
    baseline: str | None = None,
) -> Findings:
    """Compute all numbers of the report of a run.

    Parameters
    ----------
    run_folder : RunFolder
        The run, finished or not.
    seed : int
        Seed of the resamples.
    level : float
        Confidence level, between 0 and 1.
    n_resamples : int
        Number of bootstrap resamples.
    baseline : str, optional
        The rule to compare the others with; by default that of the experiment, if it has one.

    Raises
    ------
    RunFolderError
        If the attempts of a trial cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("tiny", ["color-match"], ["uniform"], trials=3, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = gohr.run(config, folder)
    ...     found = findings_of(run.folder, n_resamples=50)
    >>> [(rule, learner) for rule, learner in found.performances]
    [('uniform', 'color-match')]
    """
    config = run_folder.config
    rng = np.random.default_rng(seed)
    with noted() as notes:
        episodes = run_episodes(run_folder)
        performances = _performances(run_folder, episodes, level)
        ends: dict[str, dict[str, FloatArray]] = {}
        for (learner, rule), x in performances.items():
            ends.setdefault(learner, {})[rule] = x.ends
        table = score_table(run_folder, "tce", episodes=episodes)
        estimates = _estimates(table, level, n_resamples, rng) if len(ends) > 1 else None
    return Findings(
        config=config,
        version=run_folder.version,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        performances=performances,
        orders={
            name: tuple(sorted(own, key=lambda rule: -performances[name, rule].tce.value))
            for name, own in ends.items()
        },
        tests={name: tuple(mann_whitney_table(own)) for name, own in ends.items()},
        separated={name: _separated(own, level) for name, own in ends.items()},
        duels=_duels(ends),
        estimates=estimates,
        failed=_failed(run_folder),
        missing=_missing(run_folder),
        revealed=tuple(x.name for x in config.learners if x.is_shown_the_rule),
        warnings=tuple(notes),
        card=read_card(run_folder.path) or {},
        elements=_elements(run_folder, baseline, episodes, level, seed),
        stopped=tuple(_stopped_early(episodes)),
    )


def _elements(
    run_folder: RunFolder, baseline: str | None, episodes: RunEpisodes, level: float, seed: int
) -> Elements | None:
    """Return the comparison with the baseline, if trials on it are done."""
    played, own = trials_by_rule(episodes), run_folder.config.baseline
    if baseline is None and (own is None or not any(own in rules for rules in played.values())):
        return None
    return elements_of(run_folder.config, baseline, played, level=level, rng=seed)


def _performances(
    run_folder: RunFolder,
    episodes: RunEpisodes,
    level: float,
) -> dict[tuple[str, str], Performance]:
    to_learn = score_table(run_folder, "errors_to_learn", episodes=episodes)
    made = {}
    played, config = cumulated_errors(episodes), run_folder.config
    for learner, rule in product([x.name for x in config.learners], [x.name for x in config.rules]):
        if (learner, rule) not in played:
            continue
        errors = played[learner, rule]
        middle, low, high = median_curve(errors, level=level)
        streaks = to_learn.runs(learner, rule)
        learned = median_interval(streaks, level=level)
        made[learner, rule] = Performance(
            learner,
            rule,
            errors,
            MedianCurve(rule, middle, low, high, errors.shape[0]),
            Interval(float(middle[-1]), float(low[-1]), float(high[-1])),
            Interval(*learned),
            int(np.isfinite(streaks).sum()),
        )
    return made


def _estimates(
    table: ScoreTable, level: float, n_resamples: int, rng: np.random.Generator
) -> Estimates | None:
    """Return summaries over rules; None if no rule has trials of every learner that played."""
    played = [a for a in table.algorithms if table.tasks_of(a)]
    table = table.select(algorithms=played)
    if not played or not table.shared_tasks():
        return None
    metrics = ("mean", "median", "iqm")
    return estimate(table, metrics, level=level, n_resamples=n_resamples, rng=rng)


def _duels(ends: Mapping[str, Mapping[str, FloatArray]]) -> tuple[Duel, ...]:
    """Return every pair of learners on every rule that both played."""
    sides = [(rule, a, b) for a, b in combinations(ends, 2) for rule in ends[a] if rule in ends[b]]
    tests = [mann_whitney(ends[a][rule], ends[b][rule]) for rule, a, b in sides]
    shares = [
        1.0 - u / (ends[a][rule].size * ends[b][rule].size)
        for (rule, a, b), (u, _) in zip(sides, tests, strict=True)
    ]
    adjusted = holm([p for _, p in tests])
    return tuple(
        Duel(*side, share, float(p)) for side, share, p in zip(sides, shares, adjusted, strict=True)
    )


def _separated(samples: Mapping[str, FloatArray], level: float) -> frozenset[frozenset[str]]:
    """Return the pairs that differ significantly in the tests of the order of difficulty."""
    tests = mann_whitney_table(samples, alternative="two-sided")
    return frozenset(frozenset((t.a, t.b)) for t in tests if t.p_adjusted <= 1.0 - level)


def _failed(run_folder: RunFolder) -> tuple[str, ...]:
    return tuple(
        f"trial {t.trial} of {t.learner} on {t.rule}: {t.error}"
        for t in run_folder.trials()
        if t.status == "failed"
    )


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


def _missing(run_folder: RunFolder) -> dict[tuple[str, str], int]:
    """Return the number of trials of each pair that are missing in the journal, if any."""
    config = run_folder.config
    left = {
        (learner.name, rule.name): config.n_trials_on(rule.name)
        for learner in config.learners
        for rule in config.rules
    }
    for trial in run_folder.trials():
        left[trial.learner, trial.rule] -= 1
    return {pair: n for pair, n in left.items() if n}
