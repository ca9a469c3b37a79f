"""Two-parameter logistic item response model, by marginal expectation-maximisation.

An item is solved with probability 1 / (1 + exp(-(a theta + d))); abilities theta are integrated
over a grid (Bock and Aitkin 1981). The share of all items that a model solves is estimated from a
few of them: what was seen counts as it is, the rest by its expectation (p-IRT, Maia Polo and others
2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

I64 = npt.NDArray[np.int64]

#: The level of intervals, and the quantile of a normal distribution at its upper end.
LEVEL, NORMAL = 0.9, NormalDist().inv_cdf(0.95)

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

    @cached_property
    def _p(self) -> FloatArray:
        return _logistic(np.outer(self.slope, _NODES) + self.intercept[:, np.newaxis])

    @cached_property
    def _information(self) -> FloatArray:
        return np.asarray(self.slope[:, np.newaxis] ** 2 * self._p * (1 - self._p))

    @cached_property
    def _totals(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the number solved at each node, all items together."""
        return self._p.sum(axis=0), (self._p * (1 - self._p)).sum(axis=0)

    def probabilities(self) -> FloatArray:
        """Return the probability of each item at each node, shape (items, nodes)."""
        return self._p.copy()

    def abilities(self, items: I64, x: FloatArray) -> FloatArray:
        """Return the posterior weight of each node of ability, shape (models, nodes).

        Parameters
        ----------
        items : ndarray of int, shape (items seen,) or (models, items seen)
            Those seen, the same for all models or each model's own.
        x : ndarray of float, shape (models, items seen)
            The answers, from 0 to 1, NaN where missing.
        """
        return _posterior(self._likelihood(items, x))

    def _likelihood(self, items: I64, x: FloatArray) -> FloatArray:
        log_q = np.log1p(-self._p)
        logit = np.log(self._p) - log_q
        right = np.where(np.isnan(x), 0.0, x)
        return _summed(right, logit, items) + _summed(~np.isnan(x), log_q, items)

    def shares(
        self, items: I64, x: FloatArray, *, prior: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Return the share of all items solved by each model, and its variance: p-IRT.

        Parameters are those of :meth:`abilities`, and

        Parameters
        ----------
        prior : bool
            Whether abilities are normal, as those of the training; else all are alike beforehand.
        """
        weight = _posterior(self._likelihood(items, x), prior=prior)
        seen, p = ~np.isnan(x), self._p
        total, own = self._totals
        rest = total - _summed(seen, p, items)
        left = own - _summed(seen, p * (1 - p), items)
        mean, m = (weight * rest).sum(axis=1), len(p)
        variance = ((weight * rest**2).sum(axis=1) - mean**2 + (weight * left).sum(axis=1)) / m**2
        return (np.nansum(x, axis=1) + mean) / m, np.maximum(variance, 0.0)

    def reaches_the_top(self, items: I64, x: FloatArray) -> npt.NDArray[np.bool_]:
        """Return whether answers leave every greater ability possible, shape (models,).

        The likelihood ratio of the greatest ability of the grid does not reject it (one-sided, 5 %)
        where nearly all that was seen is solved: such answers are a lower bound alone.

        Parameters are those of :meth:`abilities`.

        Examples
        --------
        >>> model, items = ItemModel(np.ones(4), np.zeros(4)), np.arange(4)
        >>> model.reaches_the_top(items, np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 0.0]]))
        array([ True, False])
        """
        log = self._likelihood(items, x)
        return np.asarray(2 * (log.max(axis=1) - log[:, -1]) <= NORMAL**2)

    def adaptive(self, answers: FloatArray, n: int) -> tuple[I64, FloatArray]:
        """Return n items chosen one by one by Fisher information, and the answers to them.

        Parameters
        ----------
        answers : ndarray of float, shape (items,)
            Of one model, from 0 to 1; only those of the items that are chosen are looked at, and
            an item without an answer (NaN) is not chosen.
        """
        items = self.chosen_adaptively(answers[np.newaxis], n)[0]
        return items, answers[items]

    def chosen_adaptively(self, x: FloatArray, n: int) -> I64:
        """Return for each model the items that :meth:`adaptive` chooses, shape (models, n)."""
        logit, log_q = np.log(self._p) - np.log1p(-self._p), np.log1p(-self._p)
        log = np.zeros((len(x), _NODES.size))
        free, rows = ~np.isnan(x), np.arange(len(x))
        n = min(n, int(free.sum(axis=1).min()))
        chosen = np.empty((len(x), n), dtype=np.int64)
        for step in range(n):
            worth = _posterior(log) @ self._information.T
            worth[~free] = -np.inf
            j = worth.argmax(axis=1)
            chosen[:, step] = j
            free[rows, j] = False
            log += x[rows, j, np.newaxis] * logit[j] + log_q[j]
        return chosen

    def information_now(self, items: I64, answers: FloatArray) -> FloatArray:
        """Return the Fisher information that each item is expected to give, shape (items,)."""
        return np.asarray(self._information @ self.abilities(items, answers[np.newaxis])[0])


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
    # Of a complete table, what was seen needs no product of matrices.
    there = None if seen.all() else seen.astype(np.float64)
    right = np.where(seen, x, 0.0)
    share = np.clip(right.sum(axis=0) / np.maximum(seen.sum(axis=0), 1), 0.02, 0.98)
    slope, intercept = np.ones(x.shape[1]), np.log(share / (1 - share))
    for _ in range(_N_ITERATIONS):
        u = np.outer(slope, _NODES) + intercept[:, np.newaxis]
        log_q = np.log1p(-_logistic(u))
        weight = _posterior(right @ u + (log_q.sum(axis=0) if there is None else there @ log_q))
        n = np.tile(weight.sum(axis=0), (x.shape[1], 1)) if there is None else there.T @ weight
        slope, intercept = _newton(slope, intercept, right.T @ weight, n)
    return ItemModel(slope, intercept)


def _summed(weights: FloatArray, values: FloatArray, items: I64) -> FloatArray:
    """Return sums over items of weights (models, items) times values (all items, nodes)."""
    if items.ndim == 1:
        return np.asarray(weights @ values[items])
    return np.array([w @ values[i] for w, i in zip(weights, items, strict=True)])


def _posterior(log: FloatArray, *, prior: bool = True) -> FloatArray:
    """Return the weights of the nodes, from log-likelihoods of shape (models, nodes)."""
    log = log - 0.5 * _NODES**2 if prior else log
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


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
