"""All resamples of one array at once, in the place of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.scores.table import FloatArray
from gnomon.stats.bootstrap import Resamples
from gnomon.stats.metrics import Metric
from gnomon.stats.profiles import ScoreKind, resampled_profiles
from gnomon.stats.samples import Strata


class NotBatchedError(TypeError):
    """A user's function does something with scores that cannot be done for all resamples at once.

    It never reaches the user: the function is then called for each resample.
    """


class ResampledScores:
    """Stands for the resampled arrays (runs, tasks, ...) while a user's function is called once.

    It can be cut along axes after the second, as ``scores[..., frame]``, since whole runs are drawn
    for all of them, and handed to the metrics of this package. Everything else is refused.
    """

    def __init__(
        self, scores: FloatArray, n_resamples: int, key: np.uint64, draw_tasks: bool
    ) -> None:
        self._scores = scores
        self.n_resamples = n_resamples
        self.key = key
        self.draw_tasks = draw_tasks
        self.shape = scores.shape
        self.ndim = scores.ndim
        self._resamples: Resamples | None = None

    def __getitem__(self, where: Any) -> ResampledScores:
        parts = where if isinstance(where, tuple) else (where,)
        ahead = parts[: len(parts) - max(self.ndim - 2, 0)]
        whole = all(part is Ellipsis or part == slice(None) for part in ahead)
        if self.ndim < 3 or not ahead or not whole:
            raise NotBatchedError
        cut = self._scores[where]
        if cut.ndim < 2 or cut.shape[:2] != self.shape[:2]:
            raise NotBatchedError
        return ResampledScores(cut, self.n_resamples, self.key, self.draw_tasks)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotBatchedError

    def strata(self) -> Strata:
        """Return the data that the resamples are drawn from."""
        if self.ndim != 2 or np.isnan(self._scores).any():
            raise NotBatchedError
        return Strata.from_matrix(self._scores)

    def profiles(self, tau: FloatArray, kind: ScoreKind) -> FloatArray:
        """Return the profile of every resample, shape (thresholds, resamples)."""
        if self.ndim != 2 or np.any(np.diff(tau) < 0.0):
            raise NotBatchedError
        return resampled_profiles(
            self.strata(),
            tau,
            kind=kind,
            n_resamples=self.n_resamples,
            key=self.key,
            draw_tasks=self.draw_tasks,
        ).T

    def of(self, metric: Metric, variant: float | None = None) -> FloatArray:
        """Return the metric of every resample; metrics of one name differ in `variant`."""
        if self._resamples is None or variant is not None:
            self._resamples = Resamples(
                self.strata(),
                n_resamples=self.n_resamples,
                key=self.key,
                draw_tasks=self.draw_tasks,
            )
        return self._resamples.of(metric)
