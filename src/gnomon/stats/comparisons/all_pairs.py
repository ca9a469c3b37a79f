"""Every two algorithms of a table compared, corrected for the number of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.scores.table import ScoreTable
from gnomon.stats.bootstrap.resamples import Resamples, draw_key
from gnomon.stats.comparisons.comparison import (
    IMPROVEMENT,
    Comparison,
    compare,
    corrected,
)
from gnomon.stats.estimates import shared_tasks
from gnomon.stats.intervals.methods import ROUNDING, percentile
from gnomon.stats.metrics import Metric, metrics_for
from gnomon.stats.strata import Strata

__all__ = ["compare_all"]


def compare_all(
    table: ScoreTable,
    metric: str | Metric = "iqm",
    *,
    correction: Literal["holm", "max_t"] = "holm",
    paired: bool = False,
    level: float = 0.95,
    method: Literal["auto", "small_sample", "percentile"] = "auto",
    n_resamples: int = 2000,
    gamma: float | None = None,
    rng: np.random.Generator,
) -> list[Comparison]:
    """Compare every two algorithms in one metric, corrected for the number of pairs.

    Parameters
    ----------
    table, paired, level, method, n_resamples, gamma, rng
        As in :func:`~gnomon.stats.comparisons.comparison.compare`.
    metric : str or Metric
        One metric.
    correction : str
        ``holm``: p-values by Holm's steps, each interval at `level` by itself; ``max_t``: intervals
        that hold together at `level`, and their p-values, from the distribution of the largest
        studentized difference in common resamples (Westfall and Young 1993).

    Returns
    -------
    list of Comparison
        Pairs in the table's order.

    Examples
    --------
    >>> scores = {"a": [[1, 4], [2, 6]], "b": [[5, 7], [6, 9]], "c": [[5, 6], [7, 9]]}
    >>> table = ScoreTable.from_arrays(scores)
    >>> pairs = compare_all(table, "mean", rng=np.random.default_rng(0))
    >>> [(c.a, c.b, round(c.p_adjusted, 2)) for c in pairs]
    [('a', 'b', 0.07), ('a', 'c', 0.1), ('b', 'c', 1.0)]
    """
    pairs = list(combinations(table.algorithms, 2))
    if correction == "max_t":
        return _max_t(table, metric, pairs, level, n_resamples, gamma, paired, rng)
    found = []
    for a, b in pairs:
        found += compare(
            table,
            a,
            b,
            [metric],
            paired=paired,
            level=level,
            method=method,
            n_resamples=n_resamples,
            gamma=gamma,
            rng=rng,
        )
    return corrected(found)


def _max_t(
    table: ScoreTable,
    metric: str | Metric,
    pairs: Sequence[tuple[str, str]],
    level: float,
    n_resamples: int,
    gamma: float | None,
    paired: bool,
    rng: np.random.Generator,
) -> list[Comparison]:
    """Return simultaneous intervals and p-values from the largest studentized difference."""
    if metric == IMPROVEMENT:
        raise ScoreDataError(f"{IMPROVEMENT}: max_t takes differences of a metric; correct by holm")
    (one,) = metrics_for([metric], gamma=gamma, higher_is_better=table.higher_is_better)
    tasks = shared_tasks(table)
    common = draw_key(rng)
    values, replicates, stretch = {}, {}, {}
    for algorithm in table.algorithms:
        strata = Strata.from_table(table, algorithm, tasks)
        if paired:
            strata = _like_the_first(table, algorithm, tasks)
        key = common if paired else draw_key(rng)
        values[algorithm] = one.value(strata)
        replicates[algorithm] = Resamples(strata, n_resamples=n_resamples, key=key).of(one)
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
    critical = percentile(largest, 2.0 * level - 1.0).high
    found = []
    for (a, b), value, error, own in zip(pairs, differences, errors, noise.T, strict=True):
        t = abs(value) / error
        p_value = (1 + int(np.sum(np.abs(own) / error >= t))) / (n_resamples + 1)
        p_adjusted = (1 + int(np.sum(largest >= t))) / (n_resamples + 1)
        ends = (float(value - critical * error), float(value + critical * error))
        found.append(
            Comparison(
                a, b, one.name, None, float(value), *ends, p_value, p_adjusted, level,
                "max_t", n_resamples, math.nan,
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
