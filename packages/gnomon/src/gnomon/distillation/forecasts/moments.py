"""Means and covariance of some tasks and the summary, and the linear prediction that they give."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray


@dataclass(frozen=True)
class Moments:
    """Means and covariance of the transformed scores of some tasks, and of the target.

    From them follows the best linear prediction by *any* of the tasks, so that an algorithm that
    lacks a score is predicted from those that it has.

    Parameters
    ----------
    mean : tuple of float
        Of each task, then of the target.
    covariance : tuple of tuples of float
        Symmetric and positive definite, in the same order.
    positive : bool
        Whether weights must not be negative.

    Examples
    --------
    >>> moments = Moments((1.0, 2.0, 3.0), ((1.0, 0.0, 0.8), (0.0, 1.0, 0.5), (0.8, 0.5, 1.0)))
    >>> moments.weights(np.array([True, False]))
    (array([0.8]), 2.2)
    >>> moments.predict([1.5, np.nan])
    3.4000000000000004
    """

    mean: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    positive: bool = True

    @cached_property
    def arrays(self) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance as arrays."""
        return np.array(self.mean, dtype=np.float64), np.array(self.covariance, dtype=np.float64)

    def weights(self, seen: npt.NDArray[np.bool_]) -> tuple[FloatArray, float]:
        """Return the weights of some tasks, and the intercept.

        Parameters
        ----------
        seen : ndarray of bool, shape (tasks,)
            Which ones; at least one.
        """
        key = seen.tobytes()
        if key not in self._solved:
            self._solved[key] = self._weights(np.flatnonzero(seen))
        return self._solved[key]

    @cached_property
    def _solved(self) -> dict[bytes, tuple[FloatArray, float]]:
        """Weights by the tasks that are seen: most algorithms of a table have the same ones."""
        return {}

    def _weights(self, index: npt.NDArray[np.intp]) -> tuple[FloatArray, float]:
        mean, covariance = self.arrays
        inside, cross = covariance[np.ix_(index, index)], covariance[index, -1]
        w: FloatArray = np.linalg.solve(inside, cross)
        if self.positive and (w < 0).any():
            root = np.linalg.cholesky(inside)
            y: FloatArray = np.asarray(np.linalg.solve(root, cross), dtype=np.float64)
            w = non_negative(np.asarray(root.T, dtype=np.float64), y, w)
        w.flags.writeable = False
        return w, float(mean[-1] - w @ mean[index])

    def predict(self, scores: npt.ArrayLike) -> float:
        """Return the prediction from the scores that there are; NaN if there is none."""
        x = np.asarray(scores, dtype=np.float64)
        seen = ~np.isnan(x)
        if not seen.any():
            return float("nan")
        w, intercept = self.weights(seen)
        return float(x[seen] @ w + intercept)

    def spread(self, seen: npt.NDArray[np.bool_]) -> float:
        """Return the standard deviation of the target that some tasks leave."""
        _, covariance = self.arrays
        w, _ = self.weights(seen)
        index = np.flatnonzero(seen)
        inside, cross = covariance[np.ix_(index, index)], covariance[index, -1]
        return float(np.sqrt(covariance[-1, -1] - 2 * w @ cross + w @ inside @ w))


def non_negative(x: FloatArray, y: FloatArray, free: FloatArray) -> FloatArray:
    """Return the non-negative least squares weights, which are the free ones if these are."""
    if (free >= 0).all():
        return free
    from scipy.optimize import nnls

    return np.asarray(nnls(x, y)[0], dtype=np.float64)
