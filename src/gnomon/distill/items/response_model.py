"""Two-parameter logistic item response model, by marginal expectation-maximisation.

An item is solved with probability 1 / (1 + exp(-(a theta + d))); abilities theta are integrated
over a grid (Bock and Aitkin 1981). The share of all items that a model solves is estimated from a
few of them: what was seen counts as it is, the rest by its expectation (p-IRT); gp-IRT mixes that
with the weighted mean of anchor items by their errors (Maia Polo and others 2024).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

__all__ = ["ItemModel", "fit_items"]

I64 = npt.NDArray[np.int64]

#: The grid of abilities, and the priors: log a ~ N(0, .5), d ~ N(0, 3).
_NODES = np.linspace(-4.0, 5.0, 46)
_LOG_SLOPE_VARIANCE, _INTERCEPT_VARIANCE = 0.25, 9.0
_N_ITERATIONS, _N_NEWTON = 14, 3
_LOW, _HIGH = 0.05, 5.0


@dataclass(frozen=True, eq=False)
class ItemModel:
    """Slopes and intercepts of items.

    Parameters
    ----------
    slope, intercept : ndarray of float, shape (items,)

    Examples
    --------
    >>> model = ItemModel(np.ones(4), np.array([2.0, 0.0, 0.0, -2.0]))
    >>> model.shares(np.array([0, 3]), np.array([[0.0, 0.0], [1.0, 1.0]]))[0].round(1)
    array([0.2, 0.8])
    """

    slope: FloatArray
    intercept: FloatArray

    def probabilities(self) -> FloatArray:
        """Return the probability of each item at each node, shape (items, nodes)."""
        return _logistic(np.outer(self.slope, _NODES) + self.intercept[:, np.newaxis])

    def shares(
        self, items: I64, x: FloatArray, p: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the share of all items solved by each model, and its variance: p-IRT.

        Parameters
        ----------
        items : ndarray of int
            Those seen.
        x : ndarray of float, shape (models, items seen)
            The answers, from 0 to 1, NaN where missing.
        p : ndarray of float, optional
            :meth:`probabilities`, if they are at hand.
        """
        p = self.probabilities() if p is None else p
        seen = ~np.isnan(x)
        right, wrong = np.where(seen, x, 0.0), np.where(seen, 1.0 - x, 0.0)
        log = right @ np.log(p[items]) + wrong @ np.log1p(-p[items]) - 0.5 * _NODES**2
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        rest = p.sum(axis=0) - p[items].sum(axis=0)
        own = (p * (1 - p)).sum(axis=0) - (p[items] * (1 - p[items])).sum(axis=0)
        mean, m = weight @ rest, len(p)
        variance = (weight @ rest**2 - mean**2 + weight @ own) / m**2
        known = len(items) * right.sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
        return (known + mean) / m, variance

    def adaptive(self, answers: FloatArray, n: int) -> tuple[I64, FloatArray]:
        """Return n items chosen one by one by Fisher information, and the answers to them.

        Parameters
        ----------
        answers : ndarray of float, shape (items,)
            Of one model, from 0 to 1; only those of the items that are chosen are looked at.
        """
        p = self.probabilities()
        information = self.slope[:, np.newaxis] ** 2 * p * (1 - p)
        log = -0.5 * _NODES**2
        log_p, log_q = np.log(p), np.log1p(-p)
        free = np.ones(len(p), dtype=bool)
        chosen = []
        for _ in range(min(n, len(p))):
            weight = np.exp(log - log.max())
            worth = np.where(free, information @ (weight / weight.sum()), -np.inf)
            j = int(np.argmax(worth))
            free[j] = False
            chosen.append(j)
            log = log + answers[j] * log_p[j] + (1.0 - answers[j]) * log_q[j]
        items = np.array(chosen, dtype=np.int64)
        return items, answers[items]


def fit_items(x: FloatArray) -> ItemModel:
    """Fit slopes and intercepts to answers by marginal expectation-maximisation.

    Parameters
    ----------
    x : ndarray of float, shape (models, items)
        0 or 1, NaN where missing. Shares between 0 and 1 are taken as expected answers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> theta, d = rng.normal(size=(400, 1)), np.array([-1.0, 0.0, 1.0])
    >>> x = (rng.random((400, 3)) < 1 / (1 + np.exp(-(1.5 * theta + d)))).astype(float)
    >>> [bool(abs(v) < 0.5) for v in fit_items(x).intercept - d]
    [True, True, True]
    """
    seen = ~np.isnan(x)
    right, wrong = np.where(seen, x, 0.0), np.where(seen, 1.0 - x, 0.0)
    share = np.clip(right.sum(axis=0) / np.maximum(seen.sum(axis=0), 1), 0.02, 0.98)
    slope, intercept = np.ones(x.shape[1]), np.log(share / (1 - share))
    for _ in range(_N_ITERATIONS):
        p = _logistic(np.outer(slope, _NODES) + intercept[:, np.newaxis])
        log = right @ np.log(p) + wrong @ np.log1p(-p) - 0.5 * _NODES**2
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        hits, n = right.T @ weight, (right + wrong).T @ weight
        slope, intercept = _newton(slope, intercept, hits, n)
    return ItemModel(slope, intercept)


def _newton(
    slope: FloatArray, intercept: FloatArray, hits: FloatArray, n: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return slopes and intercepts after some Newton steps on each item's own likelihood."""
    for _ in range(_N_NEWTON):
        p = _logistic(np.outer(slope, _NODES) + intercept[:, np.newaxis])
        miss, curve = hits - n * p, n * p * (1 - p)
        grad_a = miss @ _NODES - np.log(slope) / (_LOG_SLOPE_VARIANCE * slope)
        grad_d = miss.sum(axis=1) - intercept / _INTERCEPT_VARIANCE
        h_aa = curve @ _NODES**2 + 1.0 / (_LOG_SLOPE_VARIANCE * slope**2)
        h_ad, h_dd = curve @ _NODES, curve.sum(axis=1) + 1.0 / _INTERCEPT_VARIANCE
        det = np.maximum(h_aa * h_dd - h_ad**2, 1e-9)
        step_a = (h_dd * grad_a - h_ad * grad_d) / det
        step_d = (h_aa * grad_d - h_ad * grad_a) / det
        slope = np.clip(slope + np.clip(step_a, -0.5, 0.5), _LOW, _HIGH)
        intercept = intercept + np.clip(step_d, -1.0, 1.0)
    return slope, intercept


def _logistic(u: FloatArray) -> FloatArray:
    return np.clip(1.0 / (1.0 + np.exp(-u)), 1e-9, 1.0 - 1e-9)
