"""Permutation of runs between algorithms inside each task, to test that all are the same.

Exact if they are, whatever the shape of the scores; no test of equal means where spreads differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.comparisons.comparison import ComparisonSettings
from gnomon.stats.metrics import Metric
from gnomon.stats.small_samples.moderated_variances import moderated_variances
from gnomon.stats.small_samples.small_sample import task_variances
from gnomon.stats.strata import Strata


def largest_of_permuted(
    scores: ScoreTable, metric: Metric, tasks: Sequence[str], how: ComparisonSettings
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return studentized differences of all pairs: those seen, the permuted ones' largest, and all.

    Parameters
    ----------
    scores : ScoreTable
    metric : Metric
        One with an influence.
    tasks : sequence of str
        Those that all algorithms have.
    how : ComparisonSettings
        Its number of resamples is that of permutations.

    Returns
    -------
    seen : ndarray of float, shape (pairs,)
    largest : ndarray of float, shape (permutations,)
    permuted : ndarray of float, shape (permutations, pairs)
    """
    parts = [Strata.from_table(scores, name, tasks) for name in scores.algorithms]
    seen = _studentized(parts, metric)
    permuted = np.array(
        [_studentized(_dealt(parts, how.rng), metric) for _ in range(how.n_resamples)]
    )
    return seen, permuted.max(axis=1), permuted


def _dealt(parts: Sequence[Strata], rng: np.random.Generator) -> list[Strata]:
    """Return the algorithms with the runs of each task dealt anew among them."""
    values = np.concatenate([part.values for part in parts])
    algorithm_starts = np.cumsum([0] + [part.values.size for part in parts])
    task_of = np.concatenate([np.repeat(np.arange(part.n_tasks), part.counts) for part in parts])
    places = np.argsort(task_of, kind="stable")
    # Sorted by task, then by chance: each task's runs in a new order.
    shuffled = np.lexsort((rng.random(values.size), task_of))
    dealt = np.empty_like(values)
    dealt[places] = values[shuffled]
    return [
        Strata(dealt[begin:end], part.starts)
        for part, begin, end in zip(parts, algorithm_starts[:-1], algorithm_starts[1:], strict=True)
    ]


def _studentized(parts: Sequence[Strata], metric: Metric) -> FloatArray:
    """Return every pair's absolute difference over its standard error, variances moderated.

    Without the noise floor, which permuting does not need.
    """
    assert metric.influence is not None, "checked before"
    values = np.array([metric.value(part) for part in parts])
    own = np.array([task_variances(part, metric.influence(part)) for part in parts])
    counts = np.array([part.counts for part in parts])
    variances = np.nan_to_num(moderated_variances(own, counts - 1.0))
    errors = (variances / counts).sum(axis=1) / counts.shape[1] ** 2
    a, b = np.array(list(combinations(range(len(parts)), 2))).T
    with np.errstate(invalid="ignore", divide="ignore"):
        studentized = np.abs(values[a] - values[b]) / np.sqrt(errors[a] + errors[b])
    return np.asarray(np.nan_to_num(studentized))
