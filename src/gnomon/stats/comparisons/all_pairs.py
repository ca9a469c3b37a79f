"""Comparisons of every two algorithms of a table, corrected for the number of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.results import generator, recorded
from gnomon.scores.plausibility import warn_of_unlike_scales
from gnomon.scores.table import ScoreTable
from gnomon.stats.bootstrap.resamples import Resamples, draw_key
from gnomon.stats.comparisons.comparison import (
    IMPROVEMENT,
    Comparison,
    Comparisons,
    ComparisonSettings,
    Correction,
    SmallMethod,
    compared_pair,
    corrected,
)
from gnomon.stats.estimates import shared_tasks
from gnomon.stats.intervals import ROUNDING, percentile
from gnomon.stats.metrics import Metric, Metrics, metric_list, metrics_for
from gnomon.stats.strata import Strata

__all__ = ["compare_all"]


def compare_all(
    scores: ScoreTable,
    metrics: Metrics = IMPROVEMENT,
    *,
    correction: Correction = "holm",
    paired: bool = False,
    level: float = 0.95,
    method: SmallMethod = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator | int | None = None,
) -> Comparisons:
    """Compare every two algorithms, each metric corrected for the number of pairs.

    Parameters
    ----------
    scores, metrics, paired, level, method, n_resamples, gamma, rng
        As in :func:`~gnomon.stats.comparisons.comparison.compare`.
    correction : str
        ``holm``: p-values by Holm's steps, each interval at `level` by itself; ``max_t``: intervals
        that hold together at `level`, and their p-values, from the distribution of the largest
        studentized difference in common resamples (Westfall and Young 1993).

    Returns
    -------
    Comparisons
        For each metric the pairs in the table's order.

    Raises
    ------
    ScoreDataError
        There are fewer than two algorithms, or as in :func:`compare`; or ``max_t`` has no spread to
        go by.

    Examples
    --------
    >>> from gnomon.stats import compare_all
    >>> scores = {"a": [[1, 4], [2, 6]], "b": [[5, 7], [6, 9]], "c": [[5, 6], [7, 9]]}
    >>> found = compare_all(ScoreTable.from_arrays(scores), "mean")
    >>> [(c.a, c.b, round(c.p_adjusted, 2)) for c in found]
    [('a', 'b', 0.07), ('a', 'c', 0.1), ('b', 'c', 1.0)]
    """
    if len(scores.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    how = ComparisonSettings(paired, level, method, n_resamples, gamma, generator(rng))
    found: list[Comparison] = []
    with recorded() as notes:
        warn_of_unlike_scales(scores, metric_list(metrics))
        for metric in metric_list(metrics):
            if correction == "max_t":
                found += _max_t(scores, metric, how)
                continue
            pairs = combinations(scores.algorithms, 2)
            found += corrected(
                [c for a, b in pairs for c in compared_pair(scores, a, b, [metric], False, how)]
            )
    return Comparisons(tuple(found), how.settings(rng, scores, correction), tuple(notes))


def _max_t(table: ScoreTable, metric: str | Metric, how: ComparisonSettings) -> list[Comparison]:
    """Return simultaneous intervals and p-values from the largest studentized difference."""
    if metric == IMPROVEMENT:
        raise ScoreDataError(f"{IMPROVEMENT}: max_t takes differences of a metric; correct by holm")
    pairs = list(combinations(table.algorithms, 2))
    (one,) = metrics_for([metric], gamma=how.gamma, higher_is_better=table.higher_is_better)
    tasks = shared_tasks(table)
    common = draw_key(how.rng)
    values, replicates, stretch = {}, {}, {}
    for algorithm in table.algorithms:
        strata = Strata.from_table(table, algorithm, tasks)
        if how.paired:
            strata = _like_the_first(table, algorithm, tasks)
        key = common if how.paired else draw_key(how.rng)
        values[algorithm] = one.value(strata)
        replicates[algorithm] = Resamples(strata, n_resamples=how.n_resamples, key=key).of(one)
        runs = 1.0 / float(np.mean(1.0 / strata.counts))
        stretch[algorithm] = math.sqrt(runs / (runs - 1.0)) if runs > 1.0 else math.nan
    for name, drawn in replicates.items():
        if not (np.isfinite(drawn).all() and math.isfinite(values[name])):
            raise ScoreDataError(
                f"{one.name}: max_t needs finite resamples; some runs of {name} are censored"
            )
    differences = np.array([values[a] - values[b] for a, b in pairs])
    centred = {name: (drawn - drawn.mean()) * stretch[name] for name, drawn in replicates.items()}
    noise = np.stack([centred[a] - centred[b] for a, b in pairs], axis=1)
    errors = noise.std(axis=0, ddof=1)
    size = max(map(abs, values.values()))
    if not (errors > ROUNDING * size).all():
        raise ScoreDataError(f"{one.name}: max_t needs scores that vary in every algorithm")
    largest = np.abs(noise / errors).max(axis=1)
    critical = percentile(largest, 2.0 * how.level - 1.0).high
    found = []
    for (a, b), value, error, own in zip(pairs, differences, errors, noise.T, strict=True):
        t = abs(value) / error
        p_value = (1 + int(np.sum(np.abs(own) / error >= t))) / (how.n_resamples + 1)
        p_adjusted = (1 + int(np.sum(largest >= t))) / (how.n_resamples + 1)
        ends = (float(value - critical * error), float(value + critical * error))
        found.append(
            Comparison(
                a, b, one.name, None, float(value), *ends, p_value, p_adjusted, how.level,
                "max_t", how.n_resamples, math.nan,
            )
        )  # fmt: skip
    return found


def _like_the_first(table: ScoreTable, algorithm: str, tasks: Sequence[str]) -> Strata:
    """Return the scores of an algorithm, its runs in the order of the first one's labels.

    Raises
    ------
    ScoreDataError
        It has other runs than the first, and so not a partner for each.
    """
    parts = []
    for task in tasks:
        scores = table.runs(algorithm, task)
        own = dict(zip(table.run_labels(algorithm, task), scores, strict=True))
        labels = table.run_labels(table.algorithms[0], task)
        if set(labels) != set(own):
            raise ScoreDataError(
                f"max_t of pairs: expected the same run labels of all algorithms, found others of "
                f"{algorithm} than of {table.algorithms[0]} on task {task}"
            )
        parts.append([own[label] for label in labels])
    return Strata.from_runs(parts)
