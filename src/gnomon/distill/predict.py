"""Predictions of algorithms that a model had not seen, and how far off they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.distill.order import OrderAgreement, kendall_tau, order_agreement
from gnomon.distill.prepared import PreparedScores
from gnomon.distill.transforms import Transform
from gnomon.scores.table import FloatArray

__all__ = ["HeldOut", "held_out"]

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of algorithms that the model had not seen.

    Parameters
    ----------
    residuals : ndarray of float, shape (repeats, algorithms)
        Predicted minus true, transformed; NaN where an algorithm lacks a score that was needed.
    relative : ndarray of float, shape (repeats, algorithms)
        The same as relative errors.
    target : ndarray of float, shape (algorithms,)
    folds : ndarray of int, shape (repeats, algorithms)
    chosen : tuple of tuples of str
        The tasks of each fold's model.
    """

    residuals: FloatArray
    relative: FloatArray
    target: FloatArray
    folds: I64
    chosen: tuple[tuple[str, ...], ...]

    @property
    def relative_error(self) -> float:
        """Mean size of the relative error, for example 0.12; NaN if nothing was predicted."""
        return _mean(np.abs(self.relative))

    @property
    def mse(self) -> float:
        """Mean over repeats and folds of a fold's mean squared residual."""
        return self._mean_of_folds(self.residuals**2)

    @property
    def fold_relative_error(self) -> float:
        """Mean over repeats and folds of a fold's mean relative error, as the paper takes it."""
        return self._mean_of_folds(np.abs(self.relative))

    @property
    def fold_r2(self) -> float:
        """One minus the mean squared residual of the folds over the variance, as the paper has it.

        The variance is that of the algorithms predicted.
        """
        y = np.broadcast_to(self.target, self.residuals.shape)[~np.isnan(self.residuals)]
        return float(1.0 - self.mse / y.var()) if y.size > 1 and np.ptp(y) else float("nan")

    def _mean_of_folds(self, values: FloatArray) -> float:
        means = [
            _mean(v[f == k])
            for v, f in zip(values, self.folds, strict=True)
            for k in np.unique(f[f >= 0])
        ]
        return _mean(np.array(means))

    @property
    def r2(self) -> float:
        """One minus the squared residuals over the variation of the predicted algorithms."""
        whole = ~np.isnan(self.residuals)
        y = np.broadcast_to(self.target, self.residuals.shape)[whole]
        if y.size < 2 or not np.ptp(y):
            return float("nan")
        return float(1.0 - (self.residuals[whole] ** 2).sum() / ((y - y.mean()) ** 2).sum())

    @property
    def n_predicted(self) -> int:
        """Algorithms predicted at least once."""
        return int((~np.isnan(self.residuals)).any(axis=0).sum())

    @property
    def standard_error(self) -> float:
        """Standard error of the relative error over algorithms, repeats averaged."""
        whole = ~np.isnan(self.relative)
        counts = whole.sum(axis=0)
        sums = np.where(whole, np.abs(self.relative), 0.0).sum(axis=0)
        means = sums[counts > 0] / counts[counts > 0]
        return float(means.std(ddof=1) / np.sqrt(means.size)) if means.size > 1 else float("nan")

    @property
    def tau(self) -> float:
        """Kendall's tau of predicted and true order, averaged over repeats."""
        taus = [kendall_tau(self.target + r, self.target) for r in self.residuals]
        return _mean(np.array(taus))

    def order(self, transform: Transform) -> OrderAgreement:
        """Return how well the order is predicted: pairs of all repeats, the mean of their taus."""
        true = transform.inverse(self.target)
        found = [order_agreement(transform.inverse(self.target + r), true) for r in self.residuals]
        return OrderAgreement(
            n_pairs=sum(one.n_pairs for one in found),
            n_concordant=sum(one.n_concordant for one in found),
            tau=self.tau,
            n_clear=sum(one.n_clear for one in found),
            n_clear_right=sum(one.n_clear_right for one in found),
        )

    def frequencies(self) -> dict[str, float]:
        """Return in which share of the models each task was, most frequent first."""
        counts = Counter(task for tasks in self.chosen for task in tasks)
        return {task: n / len(self.chosen) for task, n in counts.most_common()}


def held_out(
    data: PreparedScores, residuals: FloatArray, folds: I64, chosen: tuple[tuple[str, ...], ...]
) -> HeldOut:
    """Return the record of residuals: predicted minus true, (repeats, algorithms)."""
    true = np.broadcast_to(data.target, residuals.shape)
    relative = data.transform.relative_errors(true + residuals, true)
    return HeldOut(residuals, relative, data.target, folds, chosen)


def _mean(values: FloatArray) -> float:
    finite = values[~np.isnan(values)]
    return float(finite.mean()) if finite.size else float("nan")
