"""rliable's aggregate metrics, of arrays with axes (runs, tasks, ...).

Each also takes the resamples that :mod:`gnomon.compat.rliable.library` hands to a user's function,
and then returns one value for each of them at once.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from gnomon.compat.rliable.resampled import ResampledScores
from gnomon.scores.table import FloatArray
from gnomon.stats.improvement import probability_of_improvement as _improvement
from gnomon.stats.improvement import resampled_improvement
from gnomon.stats.metrics import metric_named


def _flat(scores: npt.ArrayLike) -> FloatArray:
    """Return scores as (runs, everything else)."""
    x = np.asarray(scores, dtype=np.float64)
    return x.reshape(x.shape[0], -1)


def _task_means(scores: npt.ArrayLike) -> FloatArray:
    """Return means over runs, (tasks, ...)."""
    x = np.asarray(scores, dtype=np.float64)
    means: FloatArray = np.mean(x[:, None] if x.ndim == 1 else x, axis=0)
    return means


@overload
def aggregate_mean(scores: ResampledScores) -> FloatArray: ...
@overload
def aggregate_mean(scores: npt.ArrayLike) -> Any: ...
def aggregate_mean(scores: Any) -> Any:
    """Return the mean over tasks of the mean over runs, one for each place on further axes."""
    if isinstance(scores, ResampledScores):
        return scores.of(metric_named("mean"))
    return np.mean(_task_means(scores), axis=0)


@overload
def aggregate_median(scores: ResampledScores) -> FloatArray: ...
@overload
def aggregate_median(scores: npt.ArrayLike) -> Any: ...
def aggregate_median(scores: Any) -> Any:
    """Return the median over tasks of the mean over runs, one for each place on further axes."""
    if isinstance(scores, ResampledScores):
        return scores.of(metric_named("median"))
    return np.median(_task_means(scores), axis=0)


@overload
def aggregate_iqm(scores: ResampledScores) -> FloatArray: ...
@overload
def aggregate_iqm(scores: npt.ArrayLike) -> Any: ...
def aggregate_iqm(scores: Any) -> Any:
    """Return the mean of all scores between the floor(N/4) lowest and highest.

    Examples
    --------
    >>> float(aggregate_iqm([[0, 1], [2, 50]]))
    1.5
    """
    if isinstance(scores, ResampledScores):
        return scores.of(metric_named("iqm"))
    ordered = np.sort(_flat(scores), axis=None)
    cut = ordered.size // 4
    return np.mean(ordered[cut : ordered.size - cut])


@overload
def aggregate_optimality_gap(scores: ResampledScores, gamma: float = 1) -> FloatArray: ...
@overload
def aggregate_optimality_gap(scores: npt.ArrayLike, gamma: float = 1) -> Any: ...
def aggregate_optimality_gap(scores: Any, gamma: float = 1) -> Any:
    """Return gamma minus the mean of the scores cut at gamma."""
    if isinstance(scores, ResampledScores):
        return scores.of(metric_named("optimality_gap", gamma=float(gamma)), gamma)
    return gamma - np.mean(np.minimum(_flat(scores), gamma))


@overload
def probability_of_improvement(
    scores_x: ResampledScores, scores_y: ResampledScores
) -> FloatArray: ...
@overload
def probability_of_improvement(scores_x: npt.ArrayLike, scores_y: npt.ArrayLike) -> Any: ...
def probability_of_improvement(scores_x: Any, scores_y: Any) -> Any:
    """Return P(X > Y) averaged over tasks, ties counting one half.

    Examples
    --------
    >>> float(probability_of_improvement([[1], [3]], [[2], [1]]))
    0.625
    """
    if isinstance(scores_x, ResampledScores) and isinstance(scores_y, ResampledScores):
        return resampled_improvement(
            scores_x.strata(),
            scores_y.strata(),
            n_resamples=scores_x.n_resamples,
            keys=(scores_x.key, scores_y.key),
        )
    return np.float64(_improvement(_flat(scores_x), _flat(scores_y)))
