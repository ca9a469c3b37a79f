"""Simulated studies: coverage of intervals and ranks, and power of tests, on a table of runs.

Studies of few runs are drawn from the table, and each is analysed as any table. The table is the
population, so its values, order and ranks are the true ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np

from gnomon.errors import ScoreDataError, counted, listed, option
from gnomon.ranking.item_audit import Statement
from gnomon.ranking.ranks import Ranking, rank, rank_range
from gnomon.results import noted
from gnomon.scores.normalization import normalize
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparison import Comparison, compare
from gnomon.stats.difference import IMPROVEMENT
from gnomon.stats.estimates import Estimate, estimate
from gnomon.stats.intervals import Method, shared_effects
from gnomon.stats.strata import Strata

#: Intervals by the default rule, and those of Agarwal et al. (2021).
METHODS: tuple[Method, ...] = ("auto", "percentile")
#: Resamples of the table itself, of which only the values are needed: as few as verbs accept.
FEW_RESAMPLES = 25
#: With fewer runs in a cell, the table is a poor stand-in for new runs (docs: five seeds).
ENOUGH_RUNS = 20


@dataclass(frozen=True, eq=False)
class _Population:
    """The runs of an algorithm on its tasks, and whether studies draw whole runs."""

    tasks: tuple[str, ...]
    strata: Strata
    whole: bool

    def drawn(self, n_runs: int, rng: np.random.Generator) -> FloatArray:
        """Return the scores of a study, task by task."""
        counts = self.strata.counts[:, None]
        n_tasks = 1 if self.whole else counts.size
        places = rng.integers(0, counts[:n_tasks], (n_tasks, n_runs))
        found: FloatArray = self.strata.values[self.strata.starts[:-1, None] + places]
        return found.ravel()


class _Studies:
    """Tables of few runs, drawn from a population for each algorithm."""

    def __init__(self, populations: Mapping[str, _Population], n_runs: int, like: ScoreTable):
        rows = [
            (name, task, f"{run}" if one.strata.same_runs else f"{task} {run}", 0.0)
            for name, one in populations.items()
            for task in one.tasks
            for run in range(n_runs)
        ]
        columns = zip(("algorithm", "task", "run", "score"), zip(*rows, strict=True), strict=True)
        table = ScoreTable(dict(columns), like.metric, higher_is_better=like.higher_is_better)
        self._table = replace(table, normalization=like.normalization)
        self._populations, self._n_runs = [*populations.values()], n_runs

    def drawn(self, rng: np.random.Generator) -> ScoreTable:
        """Return the next study."""
        scores = np.concatenate([one.drawn(self._n_runs, rng) for one in self._populations])
        return replace(self._table, rows=self._table.rows.with_columns({"score": scores}))


@dataclass(frozen=True, eq=False)
class _Answers:
    """Estimates, comparisons of all pairs, and ranks of one table."""

    estimates: Mapping[Method, Sequence[Estimate]]
    pairs: Sequence[Comparison]
    ranking: Ranking

    @classmethod
    def of(cls, table: ScoreTable, metrics: Sequence[str], **how: Any) -> Self:
        """Return the estimates of some metrics by each method, all pairs, and the ranks."""
        estimates = {m: estimate(table, metrics, method=m, **how) for m in METHODS if metrics}
        pairs = compare(table, metrics=[*metrics, IMPROVEMENT], **how)
        return cls(estimates, pairs, rank(table, level=how["level"]))


def simulated_studies(
    scores: ScoreTable,
    n_runs: int,
    metrics: Sequence[str],
    *,
    n_studies: int,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
    progress: Callable[[int, int], object] | None = None,
) -> list[Statement]:
    """Report coverage, power and false findings in studies drawn from a table.

    A study has `n_runs` runs of each algorithm on each of its tasks, drawn with replacement: whole
    runs of an algorithm whose runs share an effect over tasks (:func:`shared_effects`), otherwise
    runs of each task separately. Each study is paired with one of equal algorithms: all have the
    population of one algorithm, each in turn, so every significant difference is false. An interval
    that is not estimable counts as one that does not contain the true value.

    `metrics` are summaries; if empty, only P(X > Y) and ranks are checked.

    Raises
    ------
    ScoreDataError
        Fewer than two runs or studies are asked for, or an algorithm has a single run on a task.
    """
    _check_sizes(scores, n_runs, n_studies)
    # Every study has the scale of the table; its few runs must not change it.
    scale = scores.normalization or (normalize(scores, "none").normalization if metrics else None)
    table = replace(scores, normalization=scale and replace(scale, left_out=None))
    samples = {name: Strata.from_table(table, name) for name in table.algorithms}
    effects = shared_effects(samples, "moderated")
    populations = {
        name: _Population(table.tasks_of(name), strata, name in effects)
        for name, strata in samples.items()
    }
    studies = _Studies(populations, n_runs, table)
    of_copies = [
        _Studies(dict.fromkeys(populations, one), n_runs, table) for one in populations.values()
    ]
    how: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "rng": rng}
    shares: dict[str, list[float]] = {}
    with noted():  # Warnings about studies do not concern the table.
        truth = _Answers.of(table, metrics, level=level, n_resamples=FEW_RESAMPLES, rng=0)
        for i in range(n_studies):
            study = _Answers.of(studies.drawn(rng), metrics, **how)
            copies = of_copies[i % len(of_copies)].drawn(rng)
            found = compare(copies, metrics=[*metrics, IMPROVEMENT], **how)
            for name, share in _checked(study, truth, found):
                shares.setdefault(name, []).append(share)
            if progress is not None:
                progress(i + 1, n_studies)
    whole = [name for name, one in populations.items() if one.whole]
    found_shares = map(_on_share, shares, shares.values())
    return [*_on_draws(table, n_runs, n_studies, whole), *found_shares]


def _check_sizes(scores: ScoreTable, n_runs: int, n_studies: int) -> None:
    """Refuse studies of one run, a single study, and cells with a single run."""
    if n_runs < 2:
        raise ScoreDataError(f"{option(simulate=n_runs)}: expected 2 runs or more in each study")
    if n_studies < 2:
        raise ScoreDataError(f"{option(n_studies=n_studies)}: expected 2 studies or more")
    single = np.argwhere(scores.run_counts == 1)
    if len(single):
        a, t = single[0]
        raise ScoreDataError(
            f"{option(simulate=n_runs)}: expected 2 runs or more of each algorithm on each task, "
            f"to draw from; found 1 of {scores.algorithms[a]} on {scores.tasks[t]} "
            f"({counted(len(single), 'such cell')}); select algorithms and tasks with several runs"
        )


def _checked(
    study: _Answers, truth: _Answers, copies: Sequence[Comparison]
) -> Iterator[tuple[str, float]]:
    """Yield each statement with the share of results of one study for which it is true."""
    alpha, covers = 1.0 - truth.ranking.level, "that contain the true value"
    for method, estimates in study.estimates.items():
        kind = "intervals" if method == "auto" else f"{method} intervals"
        for metric, both in _by_metric(estimates, truth.estimates[method]).items():
            yield f"{kind} of {metric} {covers}", _share_held(both)
    pairs = _by_metric(study.pairs, truth.pairs)
    for metric, of_metric in pairs.items():
        yield f"intervals of differences in {metric} {covers}", _share_held(of_metric)
    yield "studies whose rank intervals all contain the true ranks", _holds_ranks(study, truth)
    for metric, of_metric in pairs.items():
        true = [(one, known.better) for one, known in of_metric if known.better is not None]
        found = [one.better == better for one, better in true if one.p_adjusted <= alpha]
        if true:
            yield f"true differences in {metric} that are detected", sum(found) / len(true)
            name = f"true differences in {metric} that are significant in the wrong direction"
            yield name, found.count(False) / len(true)
        false = any(one.p_adjusted <= alpha for one in copies if one.metric == metric)
        yield f"studies of equal algorithms with a significant difference in {metric}", float(false)
    place = {name: i for i, name in enumerate(study.ranking.names)}
    for i, (a, b) in enumerate(pairwise(truth.ranking.names)):
        chance = float(truth.ranking.probability[i, i + 1])
        if chance > 0.5:
            x, y = place[a], place[b]
            found_better = study.ranking.separated[x, y] and study.ranking.probability[x, y] > 0.5
            name = f"studies that find {a} significantly better than {b}"
            yield f"{name} (win probability {chance:.3f})", float(found_better)


_Record = TypeVar("_Record", Estimate, Comparison)


def _by_metric(
    found: Sequence[_Record], true: Sequence[_Record]
) -> dict[str, list[tuple[_Record, _Record]]]:
    """Return each record of a study with the true one, by metric."""
    both: dict[str, list[tuple[_Record, _Record]]] = {}
    for one, known in zip(found, true, strict=True):
        both.setdefault(one.metric, []).append((one, known))
    return both


def _share_held(both: Sequence[tuple[_Record, _Record]]) -> float:
    return float(np.mean([one.low <= known.value <= one.high for one, known in both]))


def _holds_ranks(study: _Answers, truth: _Answers) -> float:
    """Return 1 if each rank interval contains all true ranks (several if tied), else 0."""
    better = truth.ranking.probability > 0.5
    best, worst = 1 + better.sum(axis=0), len(better) - better.sum(axis=1)
    ends = {one.name: (one.rank_low, one.rank_high) for one in study.ranking}
    low, high = np.array([ends[name] for name in truth.ranking.names]).T
    return float(((low <= best) & (worst <= high)).all())


def _on_draws(
    table: ScoreTable, n_runs: int, n_studies: int, whole: Sequence[str]
) -> Iterator[Statement]:
    """Describe the studies, and warn if the table is too small to be their population."""
    counts = table.run_counts[table.run_counts > 0]
    least = int(counts.min())
    size = rank_range(least, int(counts.max()))
    text = f"{n_studies} studies of {n_runs} runs in each cell, drawn with replacement from {size} "
    text += "runs. The table is the population; standard errors of the simulation in parentheses"
    yield Statement("simulation", "studies", text, float(n_studies))
    if whole:
        text = f"Runs of {listed(whole)} share an effect over tasks, so whole runs were drawn"
        yield Statement("simulation", "whole runs", text, float(len(whole)))
    if least < ENOUGH_RUNS:
        text = f"Some cells have {least} runs: with fewer than {ENOUGH_RUNS} to draw from, shares "
        text += "may differ by several points from those of new runs"
        yield Statement("simulation", "few runs", text, float(least))


def _on_share(name: str, shares: Sequence[float]) -> Statement:
    """Report the mean of the shares of all studies, with its standard error."""
    share = float(np.mean(shares))
    # If all studies agree, add one that does not: the standard error is never 0.
    varied = [*shares, float(shares[0] <= 0.5)] if len({*shares}) == 1 else shares
    error = float(np.std(varied, ddof=1)) / math.sqrt(len(varied))
    finding = f"{name[0].upper()}{name[1:]}: {100.0 * share:.1f} % ({100.0 * error:.1f})"
    return Statement("simulation", name, finding, share)
