"""rliable's aggregate metrics, of arrays with axes (runs, tasks, ...).

Each also takes the resamples that :mod:`gnomon.compat.rliable.library` hands to a user's function,
and then returns one value for each of them at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap import Resamples
from gnomon.stats.improvement import probability_of_improvement as improvement_of_strata
from gnomon.stats.improvement import resampled_improvement
from gnomon.stats.metrics import metric_named
from gnomon.stats.profiles import ScoreKind, resampled_profiles
from gnomon.stats.samples import Strata


class NotBatchedError(TypeError):
    """A user's function does something that cannot be done for all resamples at once.

    It never reaches the user: the function is then called for each resample.
    """


class ResampledScores:
    """All resamples of an array (runs, tasks, ...) at once, in its place in a user's function.

    It can be cut along axes after the second, as ``scores[..., frame]``, since whole runs are drawn
    for all of them, and handed to the metrics of this module. Everything else is refused.
    """

    def __init__(self, scores: FloatArray, **draws: Any) -> None:
        self._scores, self.draws = scores, draws
        self.shape, self.ndim = scores.shape, scores.ndim

    def __getitem__(self, where: Any) -> ResampledScores:
        parts = where if isinstance(where, tuple) else (where,)
        ahead = parts[: len(parts) - max(self.ndim - 2, 0)]
        if self.ndim < 3 or not ahead:
            raise NotBatchedError
        if not all(part is Ellipsis or part == slice(None) for part in ahead):
            raise NotBatchedError
        cut = self._scores[where]
        if cut.ndim < 2 or cut.shape[:2] != self.shape[:2]:
            raise NotBatchedError
        return ResampledScores(cut, **self.draws)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotBatchedError

    def strata(self) -> Strata:
        """Return the data that the resamples are drawn from."""
        if self.ndim != 2 or np.isnan(self._scores).any():
            raise NotBatchedError
        return Strata.from_matrix(self._scores)

    def of(self, metric: str, **options: Any) -> FloatArray:
        """Return a metric of every resample."""
        return Resamples(self.strata(), **self.draws).of(metric_named(metric, **options))

    def profiles(self, tau: FloatArray, kind: ScoreKind) -> FloatArray:
        """Return the profile of every resample, shape (thresholds, resamples)."""
        if np.any(np.diff(tau) < 0.0):
            raise NotBatchedError
        return resampled_profiles(self.strata(), tau, kind=kind, **self.draws).T


def flat(scores: npt.ArrayLike) -> FloatArray:
    """Return scores as (runs, everything else)."""
    x = np.asarray(scores, dtype=np.float64)
    return x.reshape(x.shape[0], -1)


def _task_means(scores: npt.ArrayLike) -> Any:
    """Return means over runs, (tasks, ...)."""
    x = np.asarray(scores, dtype=np.float64)
    return np.mean(x[:, None] if x.ndim == 1 else x, axis=0)


def aggregate_mean(scores: Any) -> Any:
    """Return the mean over tasks of the mean over runs, one for each place on further axes."""
    if isinstance(scores, ResampledScores):
        return scores.of("mean")
    return np.mean(_task_means(scores), axis=0)


def aggregate_median(scores: Any) -> Any:
    """Return the median over tasks of the mean over runs, one for each place on further axes."""
    if isinstance(scores, ResampledScores):
        return scores.of("median")
    return np.median(_task_means(scores), axis=0)


def aggregate_iqm(scores: Any) -> Any:
    """Return the mean of all scores between the floor(N/4) lowest and highest.

    Examples
    --------
    >>> float(aggregate_iqm([[0, 1], [2, 50]]))
    1.5
    """
    if isinstance(scores, ResampledScores):
        return scores.of("iqm")
    ordered = np.sort(flat(scores), axis=None)
    cut = ordered.size // 4
    return np.mean(ordered[cut : ordered.size - cut])


def aggregate_optimality_gap(scores: Any, gamma: float = 1) -> Any:
    """Return gamma minus the mean of the scores cut at gamma."""
    if isinstance(scores, ResampledScores):
        return scores.of("optimality_gap", gamma=float(gamma))
    return gamma - np.mean(np.minimum(flat(scores), gamma))


def probability_of_improvement(scores_x: Any, scores_y: Any) -> Any:
    """Return P(X > Y) averaged over tasks, ties counting one half.

    Examples
    --------
    >>> float(probability_of_improvement([[1], [3]], [[2], [1]]))
    0.625
    """
    if isinstance(scores_x, ResampledScores) and isinstance(scores_y, ResampledScores):
        both = scores_x.strata(), scores_y.strata()
        keys = scores_x.draws["key"], scores_y.draws["key"]
        return resampled_improvement(*both, n_resamples=scores_x.draws["n_resamples"], keys=keys)
    return np.float64(improvement_of_strata(flat(scores_x), flat(scores_y)))
